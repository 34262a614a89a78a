"""What does a catalog that lost tables write down, of what their logs prove? The port, and its values."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from headgate.catalog.ports.commits import RatifiedCommit, TableId
from headgate.catalog.ports.directory import TableName
from headgate.catalog.ports.directory_copy import CopiedTable
from headgate.protocol.actions import Commit, EpochMillis, Version


@dataclass(frozen=True, slots=True)
class StoredCommit:
    """A commit as it is written down, with the fingerprint of its content."""

    commit: RatifiedCommit
    size: int
    sha256: str
    operation: str | None = None
    principal: str | None = None
    """For whom it was ratified; None for the lake's owner."""


@dataclass(frozen=True, slots=True)
class RegisteredTable:
    """A table as the database has it, whatever its state."""

    name: TableName
    location: str
    """As it is written down."""
    state: str
    latest: Version
    published: Version
    revision: int


@dataclass(frozen=True, slots=True)
class ProvenTable:
    """A table as its published log, and what is left of the directory, prove it."""

    table_id: TableId
    name: TableName
    location: str
    """As it is to be written down."""
    summary: Commit
    """All that its commits say besides files, as if the last one did."""
    timestamp: EpochMillis
    created_ms: EpochMillis
    records: tuple[StoredCommit, ...]
    """The last versions, as far as each is a commit of a catalog, up to the latest."""
    sources: tuple[str, ...] = ()
    """The places beside its own where it has files."""
    is_live: bool = True
    dropped_ms: int | None = None
    revision: int = 0
    shares_log: bool = False
    details: Mapping[str, object] = field(default_factory=dict)
    """What is told of it."""

    @property
    def version(self) -> Version:
        return self.summary.version


class RebuildResult(Enum):
    """What became of a table that was to be written down."""

    LIVE = "live"
    DROPPED = "dropped"
    """Its name is in use, or it was dropped before: ``undrop`` brings it back."""
    KNOWN = "known"
    """It was there already."""
    OVERLAPS = "overlaps"
    """It is where another table of the catalog has its files, so it was not written down."""


class CatalogRecovery(Protocol):
    """Writes down what was lost; safe to be done by several at once. What is there is never overwritten."""

    def known_tables(self) -> Mapping[TableId, RegisteredTable]:
        """Every table that the catalog knows."""
        ...

    def make_schemas(self, names: Iterable[str]) -> tuple[str, ...]:
        """Make the schemas that are missing; which those were."""
        ...

    def enter(self, proven: ProvenTable) -> RebuildResult:
        """Write the table down, unless it is known; its schema must exist."""
        ...

    def latest(self, table_id: TableId) -> Version | None:
        """The latest version of a live table; None if others may publish versions of it at any time."""
        ...

    def rename(self, copied: CopiedTable) -> bool:
        """Give a table the name and the state it had in a later copy of the directory; whether it has now."""
        ...
