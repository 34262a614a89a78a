"""How is a table doing, by what its catalog tells at once? Version, size, and what waits to be published."""

from dataclasses import dataclass

from headgate.catalog.ports.serving import LoadedTable
from headgate.protocol.log import version_checksum


@dataclass(frozen=True, slots=True)
class TableSize:
    """How many files a table has and how large they are, by its newest checksum that the catalog knows."""

    files: int
    size_bytes: int
    version: int


@dataclass(frozen=True, slots=True)
class TableLine:
    """A table in the list of a lake."""

    name: str
    version: int
    unpublished: int
    changed_ms: int | None
    size: TableSize | None
    waiting_since_ms: int | None = None
    """When the oldest commit that is not published was committed, if one waits."""


def table_size(loaded: LoadedTable) -> TableSize | None:
    """How large a table is, if the catalog knows a checksum of it."""
    known = loaded.hints.content
    checksum = None if known is None else version_checksum.parse(known.content)
    if known is None or checksum is None:
        return None
    return TableSize(checksum.num_files, checksum.table_size_bytes, known.version)


def table_line(loaded: LoadedTable) -> TableLine:
    """A table as a line of the list."""
    tail = loaded.tail
    waiting = max(0, tail.latest - tail.published)
    since = min(
        (each.in_commit_timestamp for each in tail.commits if each.version > tail.published), default=None
    )
    return TableLine(
        str(loaded.entry.name), tail.latest, waiting, tail.latest_timestamp, table_size(loaded), since
    )
