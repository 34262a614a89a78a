"""Copying objects, whole and durable, from one store to another.

In one bucket the store is told to copy, and the bytes do not come here. Elsewhere they pass through in
parts, never a whole object. So it is this process that orders copies, some at a time, and not a job of
executors: these would need credentials and a client of every store only to say the same words.
"""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from headgate.progress import reporting
from headgate.storage.store import Store

PART_BYTES = 8 * 1024 * 1024
_AT_ONCE = 8


@runtime_checkable
class ServerSideCopy(Protocol):
    """A store that can take in an object of another one without its bytes coming here."""

    def copy_from(self, source: Store, path: str, to: str, size: int) -> bool:
        """Create or replace the object ``to``, as ``put`` does; False, having done nothing, if it cannot."""
        ...


@runtime_checkable
class MultipartPut(Protocol):
    """A store that can take in an object part by part."""

    def put_parts(self, path: str, parts: Iterable[bytes]) -> None:
        """Create or replace the object, as ``put`` does; nothing is there if a part cannot be had."""
        ...


@dataclass(frozen=True, slots=True)
class ObjectCopy:
    """One object to be copied."""

    source: Store
    path: str
    to: str
    size: int
    """In bytes."""


def copy_objects(target: Store, wanted: Iterable[ObjectCopy]) -> None:
    """Copy these objects, some at once; the first failure ends it, with some of them copied."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        under_way = [pool.submit(_copy, target, each) for each in wanted]
        try:
            with reporting.tracked("copy files", under_way) as copied:
                for each in copied:
                    each.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _copy(target: Store, wanted: ObjectCopy) -> None:
    if isinstance(target, ServerSideCopy) and target.copy_from(
        wanted.source, wanted.path, wanted.to, wanted.size
    ):
        return
    if isinstance(target, MultipartPut):
        target.put_parts(wanted.to, _parts(wanted))
    else:
        target.put(wanted.to, b"".join(_parts(wanted)))


def _parts(wanted: ObjectCopy) -> Iterator[bytes]:
    if wanted.size == 0:
        wanted.source.head(wanted.path)
    for start in range(0, wanted.size, PART_BYTES):
        at = range(start, min(start + PART_BYTES, wanted.size))
        yield wanted.source.read(wanted.path, at=at)
