"""Reading and deleting files of this machine without following any symbolic link on the way to them.

Each name is opened in the folder that was opened before it, so nobody can slip a link in meanwhile.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

from headgate.errors import AccessDenied, InvalidRequest, ObjectNotFound, StorageUnavailable


def read_nofollow(root: str, path: str, *, most: int) -> bytes:
    """The content of the file at ``path`` below ``root``, which has at most so many bytes.

    ``AccessDenied`` if the file, or a folder between it and the root, is a link: whoever made that could
    have the caller read what is not theirs.
    """
    try:
        with _open_folder(root, path) as (place, name):
            file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=place)
        with os.fdopen(file, "rb") as opened:
            size = os.fstat(file).st_size
            if size > most:
                raise InvalidRequest(f"{path!r} has {size} bytes, more than the {most} that are read")
            return opened.read(most)
    except OSError as exc:
        raise _translate_nofollow(exc, path, "read") from exc


def delete_nofollow(root: str, path: str) -> None:
    """Remove the file at ``path`` below ``root``, if it is there; of a link only the link itself.

    ``AccessDenied`` if a folder between it and the root is a link: what is behind it is not the caller's.
    """
    try:
        if os.unlink in os.supports_dir_fd:
            with _open_folder(root, path) as (place, name):
                os.unlink(name, dir_fd=place)
        elif is_below_link(root, path):
            raise OSError(errno.ELOOP, "a link")
        else:
            os.unlink(os.path.join(root, path))
    except FileNotFoundError:
        return
    except OSError as exc:
        raise _translate_nofollow(exc, path, "delete") from exc


def is_below_link(root: str, path: str) -> bool:
    """Whether a folder between the file at ``path`` and the root is a link."""
    folder = root
    for part in path.split("/")[:-1]:
        folder = os.path.join(folder, part)
        if os.path.islink(folder):
            return True
    return False


@contextmanager
def _open_folder(root: str, path: str) -> Iterator[tuple[int, str]]:
    """The folder of a file, opened, and the file's name in it."""
    *folders, name = path.split("/")
    place = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for folder in filter(None, folders):
            inner = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=place)
            os.close(place)
            place = inner
        yield place, name
    finally:
        os.close(place)


def _translate_nofollow(
    exc: OSError, path: str, operation: str
) -> AccessDenied | ObjectNotFound | StorageUnavailable:
    if exc.errno in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK):
        return AccessDenied(
            f"{path!r} is not a file of its table, but a link or below one: nothing is read or deleted "
            "through links",
            path=path, operation=operation,
        )  # fmt: skip
    if isinstance(exc, FileNotFoundError | IsADirectoryError):
        return ObjectNotFound(f"{path!r} does not exist", path=path, operation=operation)
    if isinstance(exc, PermissionError):
        return AccessDenied(f"{operation} {path!r}: {exc.strerror}", path=path, operation=operation)
    return StorageUnavailable(f"{operation} {path!r}: {exc.strerror}", path=path, operation=operation)
