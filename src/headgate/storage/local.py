"""A store in a folder of this machine, written so that a power cut loses nothing acknowledged.

Not obstore: its local store neither syncs files nor folders, and reading many small commits
through it takes several times as long as plain system calls.
"""

import errno
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial

from typing_extensions import Buffer

from headgate.errors import AccessDenied, ObjectExists, ObjectNotFound, StorageError, StorageUnavailable
from headgate.storage import nofollow, parallel_reads
from headgate.storage.store import ObjectMeta

_TEMPORARY = ".headgate-"
_SYNCS_AT_ONCE = 8


class LocalStore:
    """Objects are files below ``root``; hidden temporary files are not objects."""

    def __init__(self, root: str) -> None:
        self._root = os.path.abspath(root)
        self._inside = os.path.join(self._root, "")

    @property
    def root(self) -> str:
        """The folder, as an absolute path."""
        return self._root

    def read(self, path: str, *, last: int | None = None, at: range | None = None) -> bytes:
        try:
            file = os.open(self._full(path), os.O_RDONLY)
            try:
                size = os.fstat(file).st_size
                if last is not None:
                    at = range(max(0, size - last), size)
                if at is not None:
                    os.lseek(file, at.start, os.SEEK_SET)
                    size = len(at)
                return _read_all(file, size)
            finally:
                os.close(file)
        except OSError as exc:
            raise _translate(exc, path, "read") from exc

    def put(self, path: str, data: Buffer) -> None:
        self._write(path, data, os.replace)

    def put_new(self, path: str, data: Buffer) -> None:
        """See ``store.NewObjectPut``: no name changes after the first sync, so the second has less to do."""
        full = self._full(path)
        try:
            try:
                _write_synced(full, data)
            except FileExistsError:
                raise
            except OSError:
                _remove(full)
                raise
            sync_folder(os.path.dirname(full))
        except OSError as exc:
            raise _translate(exc, path, "put") from exc

    def put_if_absent(self, path: str, data: Buffer) -> None:
        try:
            if os.path.lexists(self._full(path)):  # spares a write and a sync in vain
                raise _translate(FileExistsError(), path, "put")
            self._write(path, data, _link)
        except ObjectExists:
            # Callers rely on what exists, and whoever made it may not have synced its name yet.
            self._sync_name(path)
            raise

    def put_losable(self, path: str, data: Buffer) -> None:
        """See ``store.LosablePut``: the content is synced before it has its name, and its folder is not."""
        if os.path.lexists(self._full(path)):
            raise _translate(FileExistsError(), path, "put")
        self._place(path, lambda hidden: _write_synced(hidden, data), _link, sync_name=False)

    def put_in_order(self, objects: Sequence[tuple[str, Buffer]]) -> None:
        """See ``parallel_reads.OrderedPuts``: the contents are synced side by side, and each folder once."""
        places = {path: self._full(path) for path, _ in objects}
        hidden = {path: _temporary_name(full) for path, full in places.items() if not os.path.lexists(full)}
        with ThreadPoolExecutor(_SYNCS_AT_ONCE) as pool:
            written = {
                path: parallel_reads.submit(pool, partial(_write_synced, hidden[path], data))
                for path, data in objects
                if path in hidden
            }
        try:
            for path, data in objects:
                if path in hidden and _link_if_absent(written[path], hidden[path], places[path], path):
                    del hidden[path]
                elif self.read(path) != data:
                    raise _translate(FileExistsError(), path, "put")
        finally:
            for temporary in hidden.values():
                _remove(temporary)
        for folder in sorted({os.path.dirname(path) for path, _ in objects}):
            self._sync_name(f"{folder}/")

    def put_parts(self, path: str, parts: Iterable[bytes]) -> None:
        """See ``copy.MultipartPut``."""
        self._place(path, lambda hidden: _write_parts(hidden, parts), os.replace)

    def list_from(self, prefix: str, *, after: str | None = None) -> Iterator[ObjectMeta]:
        for path in sorted(path for path in self._walk(prefix) if after is None or path > after):
            try:
                status = os.stat(self._inside + path)
            except FileNotFoundError:
                continue
            yield ObjectMeta(path, status.st_size, status.st_mtime_ns // 1_000_000)

    def folders(self) -> list[str]:
        try:
            with os.scandir(self._root) as found:
                return sorted(entry.name for entry in found if entry.is_dir(follow_symlinks=False))
        except FileNotFoundError:
            return []
        except OSError as exc:
            raise _translate(exc, "", "list") from exc

    def head(self, path: str) -> ObjectMeta:
        try:
            status = os.stat(self._full(path))
        except OSError as exc:
            raise _translate(exc, path, "head") from exc
        return ObjectMeta(path, status.st_size, status.st_mtime_ns // 1_000_000)

    def exists(self, path: str) -> bool:
        """Whether there is such an object; a look that costs next to nothing."""
        return os.path.lexists(self._full(path))

    def delete(self, path: str) -> None:
        # A link may lead anywhere, and a listing does not follow it either.
        nofollow.delete_nofollow(self._root, self._full(path).removeprefix(self._inside))

    def delete_empty_folders(self) -> None:
        """See ``make_folder.DeletesFolders``. What is not empty, or a link, stays."""
        for folder, _, _ in os.walk(self._root, topdown=False):
            with suppress(OSError):
                os.rmdir(folder)

    def is_below_link(self, path: str) -> bool:
        """Whether the object is not one of this folder, but of another to which a link leads."""
        return nofollow.is_below_link(self._root, self._full(path).removeprefix(self._inside))

    def _full(self, path: str) -> str:
        if path[:1] not in ("", "/", ".") and "/." not in path:
            return self._inside + path  # nothing to resolve
        full = os.path.normpath(os.path.join(self._root, path))
        if not full.startswith(self._inside):
            raise AccessDenied(
                f"{path!r} leads out of {self._root!r}; objects must stay below their root",
                path=path, operation="resolve",
            )  # fmt: skip
        return full

    def _write(self, path: str, data: Buffer, place: Callable[[str, str], None]) -> None:
        self._place(path, lambda hidden: _write_synced(hidden, data), place)

    def _place(
        self,
        path: str,
        write: Callable[[str], None],
        place: Callable[[str, str], None],
        *,
        sync_name: bool = True,
    ) -> None:
        """Have an object written under a hidden name, and give it its own once it is whole."""
        full = self._full(path)
        folder = os.path.dirname(full)
        temporary = _temporary_name(full)
        try:
            try:
                write(temporary)
                place(temporary, full)
            except (OSError, StorageError):
                _remove(temporary)
                raise
            if sync_name:
                sync_folder(folder)
        except OSError as exc:
            raise _translate(exc, path, "put") from exc

    def _sync_name(self, path: str) -> None:
        try:
            sync_folder(os.path.dirname(self._full(path)))
        except OSError as exc:
            raise _translate(exc, path, "put") from exc

    def _walk(self, prefix: str) -> Iterator[str]:
        folders = [prefix]
        while folders:
            folder = folders.pop()
            try:
                with os.scandir(self._full(folder) if folder else self._root) as entries:
                    for entry in entries:
                        if not entry.is_dir():
                            if not entry.name.startswith(_TEMPORARY):
                                yield folder + entry.name
                        elif not entry.is_symlink():
                            folders.append(f"{folder}{entry.name}/")
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as exc:
                raise _translate(exc, prefix, "list") from exc


def _read_all(file: int, size: int) -> bytes:
    data = os.read(file, size)
    while len(data) < size and (more := os.read(file, size - len(data))):
        data += more
    return data


def _write_synced(full: str, data: Buffer) -> None:
    _write_parts(full, (data,))


def _write_parts(full: str, parts: Iterable[Buffer]) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        file = os.open(full, flags, 0o644)
    except FileNotFoundError:
        make_folders(os.path.dirname(full))
        file = os.open(full, flags, 0o644)
    try:
        for part in parts:
            view = memoryview(part)
            while view:
                view = view[os.write(file, view) :]
        os.fsync(file)
    finally:
        os.close(file)


def make_folders(folder: str) -> None:
    """Make a folder and those it is in, so that their names survive a power cut."""
    if not os.path.isdir(folder):
        make_folders(os.path.dirname(folder))
        os.makedirs(folder, exist_ok=True)
        sync_folder(os.path.dirname(folder))


def _temporary_name(full: str) -> str:
    """A name beside the object's; random, because what a crash left must not look like the object."""
    folder, name = os.path.split(full)
    return os.path.join(folder, f"{_TEMPORARY}{secrets.token_hex(8)}-{name}")


def _link_if_absent(written: Future[None], temporary: str, full: str, path: str) -> bool:
    """Give a hidden file its name; False if there is one of that name."""
    try:
        written.result()
        _link(temporary, full)
    except FileExistsError:
        return False
    except OSError as exc:
        raise _translate(exc, path, "put") from exc
    return True


def _link(temporary: str, full: str) -> None:
    os.link(temporary, full)
    _remove(temporary)


def _remove(temporary: str) -> None:
    with suppress(OSError):  # a hidden file left behind costs space, not correctness
        os.unlink(temporary)


def sync_folder(folder: str) -> None:
    """Make the names in a folder durable."""
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _translate(exc: OSError, path: str, operation: str) -> StorageError:
    if isinstance(exc, FileNotFoundError | NotADirectoryError | IsADirectoryError):
        return ObjectNotFound(f"{path!r} does not exist", path=path, operation=operation)
    if isinstance(exc, FileExistsError):
        return ObjectExists(f"{path!r} exists already", path=path, operation=operation)
    if isinstance(exc, PermissionError):
        return AccessDenied(
            f"{operation} {path!r}: {exc.strerror}; check the folder's owner and mode",
            path=path, operation=operation,
        )  # fmt: skip
    hint = "; free some space" if exc.errno == errno.ENOSPC else ""
    return StorageUnavailable(f"{operation} {path!r}: {exc.strerror}{hint}", path=path, operation=operation)
