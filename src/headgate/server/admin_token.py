"""How does the owner get in first? By a token in a file that only the owner of the server can read.

The file is made with the first start, by one process alone, and never shown: who may read it, may do all.
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
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError as exc:
        raise InvalidRequest(f"the owner's token in {str(path)!r} cannot be read: {exc.strerror}") from exc
    with os.fdopen(file) as opened:
        mode = stat.S_IMODE(os.fstat(file).st_mode)
        token = opened.read().strip()
    if mode & _OTHERS:
        raise InvalidRequest(
            f"others can read the owner's token in {str(path)!r} (mode {mode:03o}): delete the "
            "file, and the server "
            "makes another token",
            code="HEADGATE_UNSAFE_SERVER",
        )
    if len(token) < _BYTES:
        raise InvalidRequest(f"there is no token in {str(path)!r}: delete the file, and the server makes one")
    return token
