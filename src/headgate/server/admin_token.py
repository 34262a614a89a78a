"""How does the owner get in first? By a token in a file that only the owner of the server can read.

The file is made with the first start, by one process alone, and never shown: whoever may read it, may do all.
Or it is mounted, as Kubernetes mounts a Secret: behind links, and to be read by the group of the pod. That is
taken from where nobody can put another in its place:

    /secret                    mounted read-only
      admin-token → ..data/admin-token
      ..data → ..2026_11_19    exchanged as a whole when the Secret changes
      ..2026_11_19/admin-token root, the pod's group, mode 0440
"""

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from headgate.errors import InvalidRequest

FILE_NAME = "admin-token"
_BYTES = 32
_MARK = "hgt_"
"""By which it is masked wherever it turns up."""
_MODE = 0o600
_OTHERS = 0o077
_LONGEST = 4_096


def ensure_token(path: Path) -> str:
    """The token in this file, made if there is none; refused if others could have read it."""
    if not os.path.lexists(path):
        try:
            _make_token(path)
        except OSError as exc:
            raise InvalidRequest(
                f"the owner's token cannot be kept in {str(path)!r}: {exc.strerror}. Name another file with "
                "--admin-token-file"
            ) from exc
    return _read_token(path)


def _make_token(path: Path) -> None:
    """Write a token beside the file and give it the name, which only one can: nobody sees half of it."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    file = os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, _MODE)
    try:
        with os.fdopen(file, "w") as made:
            made.write(_MARK + secrets.token_urlsafe(_BYTES) + "\n")
            made.flush()
            os.fsync(file)
        with suppress(FileExistsError):  # another process was faster, and its token counts
            os.link(beside, path)
    finally:
        beside.unlink()


def _read_token(path: Path) -> str:
    follow = 0 if _is_mounted_read_only(path) else os.O_NOFOLLOW
    try:
        file = os.open(path, os.O_RDONLY | follow)
    except OSError as exc:
        why = "it is a link, and not on a mount that is read-only" if path.is_symlink() else exc.strerror
        raise InvalidRequest(f"the owner's token in {str(path)!r} cannot be read: {why}") from exc
    with os.fdopen(file) as opened:
        found = os.fstat(file)
        token = opened.read(_LONGEST + 1).strip()
    _require_private(path, found, mounted=not follow)
    if not _BYTES <= len(token) <= _LONGEST:
        raise InvalidRequest(f"there is no token in {str(path)!r}: delete the file, and the server makes one")
    return token


def _is_mounted_read_only(path: Path) -> bool:
    """Whether the file, and every link to it, is where nothing can be written, whoever tries."""
    try:
        place, real = os.stat(path.parent), os.stat(path)
        # One file system may be mounted twice, and read-only at one of the places.
        flags = os.statvfs(path.parent).f_flag & os.statvfs(path).f_flag
        return place.st_dev == real.st_dev and bool(flags & os.ST_RDONLY)
    except OSError:
        return False


def _require_private(path: Path, found: os.stat_result, *, mounted: bool) -> None:
    """Refuse a token that others could have read, or put there."""
    mode = stat.S_IMODE(found.st_mode)
    others = _OTHERS
    if mounted and found.st_gid in (os.getegid(), *os.getgroups()):
        others &= ~stat.S_IRGRP  # the group of the pod, to which Kubernetes gives what it mounts
    if mode & others:
        raise _unsafe_error(
            path, f"others can read or write it (mode {mode:03o})", "make it mode 0600, or a Secret's 0400"
        )
    if found.st_uid not in (0, os.geteuid()):
        raise _unsafe_error(
            path, f"it is of another user (uid {found.st_uid})", "let the server's user own it"
        )


def _unsafe_error(path: Path, why: str, advice: str) -> InvalidRequest:
    return InvalidRequest(
        f"the owner's token in {str(path)!r} is not safe: {why}. Delete the file, and the server makes "
        f"another token; or {advice}, with a token that nobody has seen",
        code="HEADGATE_UNSAFE_SERVER",
    )
