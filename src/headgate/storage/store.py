"""What Headgate asks of an object store: six verbs, one of them conditional."""

from collections.abc import Iterator
from typing import Protocol, TypeGuard, runtime_checkable

import msgspec
from typing_extensions import Buffer


class ObjectMeta(msgspec.Struct, frozen=True, gc=False):  # a struct, because a listing makes thousands
    """What a store knows of an object without reading it."""

    path: str
    size: int
    modified_ms: int


class Store(Protocol):
    """A flat namespace of immutable objects under one root, safe to share between threads.

    Paths are relative to the root and use ``/``. Failures are ``StorageError``s; when a write
    raises ``StorageUnavailable`` it may or may not have taken effect.
    """

    def read(self, path: str, *, last: int | None = None, at: range | None = None) -> bytes:
        """The object's content; ``ObjectNotFound`` if it does not exist.

        Or only its ``last`` bytes, or those ``at`` positions that lie within it.
        """
        ...

    def put(self, path: str, data: Buffer) -> None:
        """Create or replace the object; durable and whole once this returns, never seen half written."""
        ...

    def put_if_absent(self, path: str, data: Buffer) -> None:
        """Create the object, or raise ``ObjectExists`` if there is one, which stays; durable like ``put``.

        A store that asks again when it got no answer may find the very object it created, so
        ``ObjectExists`` says nothing about whose it is: whoever needs to know reads it.
        """
        ...

    def list_from(self, prefix: str, *, after: str | None = None) -> Iterator[ObjectMeta]:
        """The objects under the folder ``prefix`` (ending in ``/``), nested ones too, sorted by path.

        ``after`` leaves out every path up to and including it.
        """
        ...

    def head(self, path: str) -> ObjectMeta:
        """Size and time of the object; ``ObjectNotFound`` if it does not exist."""
        ...

    def delete(self, path: str) -> None:
        """Remove the object; no error if it does not exist."""
        ...


@runtime_checkable
class NewObjectPut(Protocol):
    """A store in which an object that nobody can know yet is made durable with less work than others."""

    def put_new(self, path: str, data: Buffer) -> None:
        """Create the object, or raise ``ObjectExists``; durable and whole once this returns.

        Until then whoever lists the folder may see a part of it, and a crash may leave one: so it is for
        names that are made up anew and told to nobody before, as those of data files are.
        """
        ...


def put_new(store: Store, path: str, data: Buffer) -> None:
    """Create an object of a name that is made up anew and told to nobody before this returns."""
    if isinstance(store, NewObjectPut):
        store.put_new(path, data)
    else:
        store.put(path, data)


@runtime_checkable
class LosablePut(Protocol):
    """A store that creates an object with less work if nobody would miss it."""

    def put_losable(self, path: str, data: Buffer) -> None:
        """Create the object, or raise ``ObjectExists``; never seen half written.

        A power cut may take it away, until something else in its folder is made durable.
        """
        ...


def put_losable(store: Store, path: str, data: Buffer) -> None:
    """Create an object that nothing depends on, such as a checksum; or raise ``ObjectExists``."""
    if _puts_losable(store):
        store.put_losable(path, data)
    else:
        store.put_if_absent(path, data)


def _puts_losable(store: object) -> TypeGuard[LosablePut]:
    # Of a class Python remembers it; of an object it looks at each method of the protocol anew.
    return issubclass(type(store), LosablePut)
