"""A store in S3, GCS, Azure or memory, through obstore.

obstore repeats requests by itself, and so hides how often a conditional one was sent: it may tell
the winner that the object exists, or that it has no access although an earlier request had. It
also takes S3's 409, which says that nothing is decided yet, for "exists". So conditional puts go
through a client that sends each once, and are repeated here, where it is known what was not answered.
"""

import time
from collections.abc import Callable, Iterable, Iterator

import obstore
from obstore import exceptions
from obstore.store import ObjectStore as Client
from typing_extensions import Buffer

from headgate.clock import SystemWorld, World
from headgate.errors import (
    AccessDenied,
    ObjectExists,
    ObjectNotFound,
    StorageError,
    StorageUnavailable,
    UnsafeStore,
)
from headgate.storage.credentials import VendedCredential
from headgate.storage.store import ObjectMeta, Store

# obstore raises some of Python's own: FileNotFoundError, OSError for failures of the network, and this.
_FAILURES = (exceptions.BaseError, OSError, NotImplementedError)

_EXISTS = (exceptions.AlreadyExistsError, exceptions.PreconditionError)
_WRITES = ("put", "put_if_absent")
_MOST_COPIED_BYTES = 5 * 1024**3
"""S3 copies no larger object in one request."""

_PAUSES = (0.1, 0.2, 0.4, 0.8, 1.6)
_PATIENCE_SECONDS = 5
"""A conditional put that took longer is not repeated here: its caller looks first what became of it."""


class ObjectStore:
    """Objects are the keys below the client's own prefix; writes are durable when acknowledged.

    ``once`` is a client of the same place that never repeats a request by itself. Stores with the
    same ``place`` are served alike; None stands for one that needs no proof of what it promises.
    ``bucket`` makes a client of the same place without a prefix.
    """

    reads_at_once = 32

    def __init__(
        self,
        client: Client,
        *,
        once: Client | None = None,
        place: str | None = None,
        world: World | None = None,
        bucket: Callable[[], Client] | None = None,
        vended: Callable[[], VendedCredential] | None = None,
    ) -> None:
        self._client = client
        self._once = once or client
        self._bucket = bucket
        self._world = world or SystemWorld()
        self.place = place
        self.vended = vended
        """What opens the place at this moment, if somebody vends it, for other programs that go there."""

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

    def put(self, path: str, data: Buffer) -> None:
        try:
            obstore.put(self._client, path, _as_bytes(data), mode="overwrite")
        except _FAILURES as exc:
            raise _translate(exc, path, "put") from exc

    def put_parts(self, path: str, parts: Iterable[bytes]) -> None:
        """See ``copy.MultipartPut``."""
        try:
            # Not put with an iterator, which must not ask obstore for anything, as reading from a store does.
            with obstore.open_writer(self._client, path) as file:  # gives up what an error breaks off
                for part in parts:
                    file.write(part)
        except _FAILURES as exc:
            raise _translate(exc, path, "put") from exc

    def copy_from(self, source: Store, path: str, to: str, size: int) -> bool:
        """See ``copy.ServerSideCopy``: within a bucket the store itself copies."""
        if not isinstance(source, ObjectStore) or size > _MOST_COPIED_BYTES:
            return False
        try:
            if source._client is self._client:
                obstore.copy(self._client, path, to)
            elif self._bucket is not None and self.place is not None and source.place == self.place:
                obstore.copy(self._bucket(), source._key(path), self._key(to))
            else:
                return False
        except _FAILURES as exc:
            raise _translate(exc, path, "copy") from exc
        return True

    def _key(self, path: str) -> str:
        """Where an object is in its bucket."""
        prefix = getattr(self._client, "prefix", None)
        return f"{prefix}/{path}" if prefix else path

    def put_if_absent(self, path: str, data: Buffer) -> None:
        unanswered: StorageUnavailable | None = None
        patient_until = time.monotonic() + _PATIENCE_SECONDS
        for pause in (*_PAUSES, None):
            try:
                self._create(path, data)
            except StorageUnavailable as exc:
                unanswered = exc
                if pause is None or time.monotonic() > patient_until:
                    raise
                self._world.sleep(pause * (0.5 + self._world.jitter() / 2))
            except ObjectExists:
                raise
            except StorageError as exc:
                if unanswered is None:
                    raise
                # An answer to this request only; the one before may have created the object.
                raise unanswered from exc
            else:
                return

    def _create(self, path: str, data: Buffer) -> None:
        try:
            obstore.put(self._once, path, _as_bytes(data), mode="create")
        except _EXISTS as exc:
            if self._is_there(path):
                raise ObjectExists(f"{path!r} exists already", path=path, operation="put_if_absent") from exc
            # S3 answers 409 while another request for the same key is under way.
            raise _unavailable(exc, path, "put_if_absent") from exc
        except _FAILURES as exc:
            raise _translate(exc, path, "put_if_absent") from exc

    def _is_there(self, path: str) -> bool:
        try:
            self.head(path)
        except ObjectNotFound:
            return False
        except StorageError as exc:
            raise StorageUnavailable(
                f"put_if_absent {path!r}: whether the object exists could not be read: {exc.message}",
                path=path, operation="put_if_absent",
            ) from exc  # fmt: skip
        return True

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

    def folders(self) -> list[str]:
        try:
            found = obstore.list_with_delimiter(self._client)["common_prefixes"]
        except _FAILURES as exc:
            raise _translate(exc, "", "list") from exc
        return sorted(path.rstrip("/").rpartition("/")[2] for path in found)

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


def _as_bytes(data: Buffer) -> Buffer:
    """The data as obstore takes it: Arrow's buffers are of signed bytes, which it refuses."""
    return data if isinstance(data, bytes) else memoryview(data).cast("B")


def _translate(exc: Exception, path: str, operation: str) -> StorageError:
    match exc:
        case FileNotFoundError() | exceptions.NotFoundError():
            if operation in _WRITES:
                return ObjectNotFound(
                    f"{operation} {path!r}: the bucket or container does not exist; make it first",
                    path=path, operation=operation,
                )  # fmt: skip
            return ObjectNotFound(f"{path!r} does not exist", path=path, operation=operation)
        case exceptions.PermissionDeniedError() | exceptions.UnauthenticatedError():
            return AccessDenied(
                f"{operation} {path!r} was refused: {_reason(exc)}; check the store's credentials",
                path=path, operation=operation,
            )  # fmt: skip
        case NotImplementedError() | exceptions.NotSupportedError():
            return UnsafeStore(
                f"{operation} {path!r} is not possible here: {_reason(exc)}; AWS_CONDITIONAL_PUT must not be "
                "disabled",
                path=path, operation=operation,
            )  # fmt: skip
        case _:
            return _unavailable(exc, path, operation)


def _unavailable(exc: Exception, path: str, operation: str) -> StorageUnavailable:
    return StorageUnavailable(f"{operation} {path!r}: {_reason(exc)}", path=path, operation=operation)


def _reason(exc: Exception) -> str:
    # obstore appends a dump of its own structures.
    return str(exc).partition("\n\nDebug source")[0].strip()
