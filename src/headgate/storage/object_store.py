"""A store in S3, GCS, Azure or memory, through obstore."""

from collections.abc import Iterator

import obstore
from obstore import exceptions
from obstore.store import ObjectStore as Client

from headgate.errors import AccessDenied, ObjectExists, ObjectNotFound, StorageError, StorageUnavailable
from headgate.storage.api import ObjectMeta

# obstore raises Python's own FileNotFoundError, and OSError for some failures of the network.
_FAILURES = (exceptions.BaseError, OSError)


class ObjectStore:
    """Objects are the keys below the client's own prefix; writes are durable when acknowledged."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def read(self, path: str, *, last: int | None = None, at: range | None = None) -> bytes:
        try:
            if last is None and at is None:
                return obstore.get(self._client, path).bytes().to_bytes()
            if at is None:
                size = self.head(path).size
                at = range(max(0, size - (last or 0)), size)
            if not at:  # obstore refuses to read nothing
                return b""
            return obstore.get_range(self._client, path, start=at.start, end=at.stop).to_bytes()
        except _FAILURES as exc:
            raise _translate(exc, path, "read") from exc

    def put(self, path: str, data: bytes) -> None:
        try:
            obstore.put(self._client, path, data, mode="overwrite")
        except _FAILURES as exc:
            raise _translate(exc, path, "put") from exc

    def put_if_absent(self, path: str, data: bytes) -> None:
        try:
            obstore.put(self._client, path, data, mode="create")
        except _FAILURES as exc:
            raise _translate(exc, path, "put_if_absent") from exc

    def list_from(self, prefix: str, *, after: str | None = None) -> Iterator[ObjectMeta]:
        try:
            found = [
                item for page in obstore.list(self._client, prefix=prefix, offset=after) for item in page
            ]
        except _FAILURES as exc:
            raise _translate(exc, prefix, "list") from exc
        for item in sorted(found, key=lambda item: item["path"]):
            modified_ms = int(item["last_modified"].timestamp() * 1000)
            yield ObjectMeta(item["path"], item["size"], modified_ms)

    def head(self, path: str) -> ObjectMeta:
        try:
            found = obstore.head(self._client, path)
        except _FAILURES as exc:
            raise _translate(exc, path, "head") from exc
        return ObjectMeta(path, found["size"], int(found["last_modified"].timestamp() * 1000))

    def delete(self, path: str) -> None:
        try:
            obstore.delete(self._client, path)
        except (FileNotFoundError, exceptions.NotFoundError):
            return
        except _FAILURES as exc:
            raise _translate(exc, path, "delete") from exc


def _translate(exc: Exception, path: str, operation: str) -> StorageError:
    match exc:
        case FileNotFoundError() | exceptions.NotFoundError():
            return ObjectNotFound(f"{path!r} does not exist", path=path, operation=operation)
        case exceptions.AlreadyExistsError() | exceptions.PreconditionError():
            return ObjectExists(f"{path!r} exists already", path=path, operation=operation)
        case exceptions.PermissionDeniedError() | exceptions.UnauthenticatedError():
            return AccessDenied(
                f"{operation} {path!r} was refused: {exc}; check the store's credentials",
                path=path, operation=operation,
            )  # fmt: skip
        case _:
            return StorageUnavailable(f"{operation} {path!r}: {exc}", path=path, operation=operation)
