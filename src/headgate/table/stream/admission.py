"""How far does the next batch of a stream go? As far as its limits admit files, and always by one at least.

A stream that takes two files at most is before the first file of version 3, which has three; version 4 has
none, and version 5 one:

    batch 0    version 3, files 0 and 1
    batch 1    version 3, file 2, and version 5, file 0

Files of a change feed are taken version by version: what a commit did to a row is in one batch.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from headgate.table.stream.stream_offsets import StreamOffset


@dataclass(frozen=True, slots=True)
class FileUnit:
    """Files that a batch has together or not at all."""

    size_bytes: int
    files: int = 1
    is_whole_version: bool = False


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """How much a batch takes; None for no limit."""

    files: int | None = None
    size_bytes: int | None = None


UNLIMITED = ReadLimits()


class StreamLog(Protocol):
    """What the versions of a table give to a stream."""

    def snapshot_units(self, version: int) -> Sequence[FileUnit]:
        """All files of a version, in an order that is always the same."""
        ...

    def commit_units(self, version: int) -> Sequence[FileUnit]:
        """The files that a commit gives to the stream, in the order in which it names them."""
        ...


def advance(log: StreamLog, start: StreamOffset, limits: ReadLimits, latest: int) -> StreamOffset:
    """The end of the batch that begins at ``start``, no further than the version ``latest``."""
    here, taken_files, taken_bytes = start, 0, 0
    while here.is_initial_snapshot or here.version <= latest:
        find = log.snapshot_units if here.is_initial_snapshot else log.commit_units
        for index, unit in enumerate(find(here.version)):
            if index < here.index:
                continue
            if not _is_admitted(unit, limits, taken_files, taken_bytes):
                return here.at_index(index)
            taken_files += unit.files
            taken_bytes += unit.size_bytes
        here = here.next_version
    return here


def _is_admitted(unit: FileUnit, limits: ReadLimits, files: int, size_bytes: int) -> bool:
    """A file is admitted while there is room before it, however large it is; a version if all of it fits."""
    if not unit.files or not files:
        return True
    more_files, more_bytes = (unit.files, unit.size_bytes) if unit.is_whole_version else (1, 1)
    fits = limits.files is None or files + more_files <= limits.files
    return fits and (limits.size_bytes is None or size_bytes + more_bytes <= limits.size_bytes)
