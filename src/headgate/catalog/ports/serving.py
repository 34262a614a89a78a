"""What a catalog offers to readers: all they need of a table, so that they need not look at its log."""

from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from headgate.catalog.ports.commits import TableId, Tail
from headgate.catalog.ports.directory import TableEntry, TableName
from headgate.protocol.actions import EpochMillis, TxnId, Version
from headgate.protocol.log import file_names
from headgate.storage.credentials import StorageOperation, VendedCredential


@dataclass(frozen=True, slots=True)
class ChecksumContent:
    """What is in the checksum file of a version."""

    version: Version
    content: bytes


@dataclass(frozen=True, slots=True)
class LogHints:
    """What the catalog has heard of a log besides commits: hints, which may be out of date."""

    checkpoint: tuple[file_names.LogFile, ...] = ()
    """All files of the newest checkpoint that was made known."""
    checksum: Version | None = None
    """The newest version of which a checksum was made known."""
    content: ChecksumContent | None = None
    """The newest checksum whose content was made known and agrees with the catalog's books."""


@dataclass(frozen=True, slots=True)
class LoadedTable:
    """Everything with which a client opens a table, without asking again and without listing its log."""

    entry: TableEntry
    tail: Tail
    hints: LogHints
    as_of: int = field(default=0, compare=False)
    """How often the catalog had been written through when asked, as ``ReaderCatalog.writes`` counts."""


@dataclass(frozen=True, slots=True)
class CommitRecord:
    """What the catalog remembers of a commit for as long as there is the table."""

    version: Version
    txn_id: TxnId
    in_commit_timestamp: EpochMillis
    size: int
    sha256: str
    principal: str | None = None
    """For whom it was ratified: None for the lake's owner, ``external`` if nobody knows who published it."""


@runtime_checkable
class CountsConnections(Protocol):
    """A catalog with a database of its own, whose connections can be counted."""

    def connections_in_use(self) -> float:
        """How many are in use at the moment."""
        ...


class VendingCatalog(Protocol):
    """Opens the files of tables to those who may read or write them."""

    def credentials(self, table_id: TableId, operation: StorageOperation) -> tuple[VendedCredential, ...]:
        """What opens the files of a table, or of a staged one, for a while; none: the caller uses its own.

        ``NotAllowed`` to whoever may not do so much with the table. It may be asked at every use: whoever has
        to go far for it keeps it until it is about to end.
        """
        ...


class ReaderCatalog(VendingCatalog, Protocol):
    """Answers readers from what the catalog knows, so that they need not look at the log."""

    @property
    def writes(self) -> int:
        """Greater whenever something was written through this object; others may write without it."""
        ...

    def load(self, name: TableName) -> LoadedTable:
        """The table of that name with all a reader needs, in one call; or ``TableNotFound``."""
        ...

    def note_log(self, table_id: TableId, known: LogHints) -> None:
        """Hear of a checkpoint or a checksum that was written; nobody relies on it.

        It is kept, and served by ``load``, only if whoever tells may write to the table, its files are named
        as those of a checkpoint are, and its versions exist; the content of a checksum, only if it is of
        reasonable size, and everything in it that the catalog knows too is as it knows it. Else it is as if
        it had not been told.
        """
        ...

    def version_at(self, table_id: TableId, moment: EpochMillis) -> Version | None:
        """The last version committed at or before ``moment``; None if the catalog cannot tell."""
        ...

    def commits(
        self, table_id: TableId, *, before: Version | None = None, limit: int = 1_000
    ) -> tuple[CommitRecord, ...]:
        """What was ratified, the latest first."""
        ...

    def import_external_versions(self, table_id: TableId) -> Version:
        """Look in the log for versions that others published themselves (K8); the latest version now."""
        ...
