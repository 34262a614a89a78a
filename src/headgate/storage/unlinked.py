"""Reading a file of this machine without following any symbolic link on the way to it."""

import errno
import os

from headgate.errors import AccessDenied, InvalidRequest, ObjectNotFound, StorageUnavailable


def read(root: str, path: str, *, most: int) -> bytes:
    """The content of the file at ``path`` below ``root``, which has at most so many bytes.

    ``AccessDenied`` if the file, or a folder between it and the root, is a link: whoever made that could
    have the caller read what is not theirs. Each name is opened in the folder that was opened before it,
    so nobody can slip a link in meanwhile.
    """
    *folders, name = path.split("/")
    try:
        place = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for folder in folders:
                inner = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=place)
                os.close(place)
                place = inner
            file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=place)
        finally:
            os.close(place)
        with os.fdopen(file, "rb") as opened:
            size = os.fstat(file).st_size
            if size > most:
                raise InvalidRequest(f"{path!r} has {size} bytes, more than the {most} that are read")
            return opened.read(most)
    except OSError as exc:
        raise _translate(exc, path) from exc


def _translate(exc: OSError, path: str) -> AccessDenied | ObjectNotFound | StorageUnavailable:
    if exc.errno in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK):
        return AccessDenied(
            f"{path!r} is not a file of its table, but a link or below one: nothing is read through links",
            path=path, operation="read",
        )  # fmt: skip
    if isinstance(exc, FileNotFoundError | IsADirectoryError):
        return ObjectNotFound(f"{path!r} does not exist", path=path, operation="read")
    if isinstance(exc, PermissionError):
        return AccessDenied(f"read {path!r}: {exc.strerror}", path=path, operation="read")
    return StorageUnavailable(f"read {path!r}: {exc.strerror}", path=path, operation="read")
