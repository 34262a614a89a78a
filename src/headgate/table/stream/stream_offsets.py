"""How far did a stream of a table come? Its offset tells, and is all that a checkpoint has to remember.

An offset is the place of the next file to read: those before it are read, those from it on are not.

    {"tableId":"5f0a…","version":7,"index":0,"isInitialSnapshot":true,"since":{…}}   the first file of 7
    {"tableId":"5f0a…","version":8,"index":2,"isInitialSnapshot":false,"since":{…}}  two files of 8 are read

A stream without a starting version reads all files of the version it finds first, its initial snapshot, and
then what each later commit adds. ``since`` is where it began, so that the first batch has the same files
however late it is asked for again.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from headgate.errors import InvalidRequest


class StreamStart(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Where a stream began."""

    version: int
    is_initial_snapshot: bool


class StreamOffset(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The place of the next file."""

    table_id: str
    version: int
    index: int
    is_initial_snapshot: bool
    since: StreamStart

    @property
    def first(self) -> "StreamOffset":
        """The offset with which the same stream began."""
        return msgspec.structs.replace(
            self, version=self.since.version, index=0, is_initial_snapshot=self.since.is_initial_snapshot
        )

    @property
    def next_version(self) -> "StreamOffset":
        """The first file of the commit that follows."""
        return msgspec.structs.replace(self, version=self.version + 1, index=0, is_initial_snapshot=False)

    def at_index(self, index: int) -> "StreamOffset":
        """Another file of the same version."""
        return msgspec.structs.replace(self, index=index)


@dataclass(frozen=True, slots=True)
class VersionSlice:
    """Files of one version that a batch has, by their places."""

    version: int
    is_initial_snapshot: bool
    start: int = 0
    stop: int | None = None
    """None for all that are left."""


def first_offset(table_id: str, version: int, *, is_initial_snapshot: bool) -> StreamOffset:
    """The offset with which a stream begins."""
    since = StreamStart(version=version, is_initial_snapshot=is_initial_snapshot)
    return StreamOffset(
        table_id=table_id, version=version, index=0, is_initial_snapshot=is_initial_snapshot, since=since
    )


def slices_between(start: StreamOffset, end: StreamOffset) -> Iterator[VersionSlice]:
    """What a batch from ``start`` up to ``end`` has of each version, in the order of the stream."""
    here = start
    while here.version < end.version:
        yield VersionSlice(here.version, here.is_initial_snapshot, here.index)
        here = here.next_version
    if here.version == end.version and here.index < end.index:
        yield VersionSlice(here.version, here.is_initial_snapshot, here.index, end.index)


def to_json(offset: StreamOffset) -> str:
    """The text of an offset; the same for the same place."""
    return msgspec.json.encode(offset).decode()


def from_json(text: str) -> StreamOffset:
    """The offset that a text stands for."""
    try:
        return msgspec.json.decode(text, type=StreamOffset)
    except msgspec.DecodeError as exc:
        raise _no_offset(text, exc) from exc


def to_plain(offset: StreamOffset) -> dict[str, Any]:
    """An offset as a dict."""
    plain: dict[str, Any] = msgspec.to_builtins(offset)
    return plain


def from_plain(plain: Any) -> StreamOffset:
    """The offset that a dict stands for."""
    try:
        return msgspec.convert(plain, StreamOffset)
    except msgspec.ValidationError as exc:
        raise _no_offset(plain, exc) from exc


def _no_offset(found: object, why: Exception) -> InvalidRequest:
    return InvalidRequest(
        f"the checkpoint of the query says {found!r}, which is no offset of a stream of a Headgate table "
        f"({why}): start the query with its own checkpoint, or with a new one",
        code="DELTA_INVALID_SOURCE_OFFSET_FORMAT",
    )
