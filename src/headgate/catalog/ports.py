"""What a catalog offers: two ports, and the values that pass through them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, NewType, Protocol, TypeVar

from typing_extensions import override

from headgate.protocol import actions
from headgate.protocol.actions import EpochMillis, TxnId, Version
from headgate.protocol.log import file_names

TableId = NewType("TableId", str)
Winner_co = TypeVar("Winner_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Inline:
    """A commit whose content travels in the proposal and is stored by the catalog."""

    content: bytes


@dataclass(frozen=True, slots=True)
class Staged:
    """A commit whose content is the file of this name in ``_delta_log/_staged_commits``.

    Only tables of a commit owner may have another folder.
    """

    file_name: str
    folder: str = file_names.STAGED

    @property
    def path(self) -> str:
        """Where the file is, from the table's root."""
        return self.folder + self.file_name


@dataclass(frozen=True, slots=True)
class Proposal:
    """A commit that a client asks the catalog to ratify as version ``target``.

    A blind append may leave the version open: with ``any_version`` every version from the target
    on will do, as long as the commits since then did nothing but add and remove files. The
    catalog then assigns the next version and moves the in-commit timestamp after the latest one.
    """

    table_id: TableId
    target: Version
    txn_id: TxnId
    content: Inline | Staged
    any_version: bool = False


@dataclass(frozen=True, slots=True)
class RatifiedCommit:
    """A commit the catalog ratified.

    ``where`` is its content, or the name of its staged file, or None once it is published and
    the catalog no longer holds it.
    """

    version: Version
    txn_id: TxnId
    in_commit_timestamp: EpochMillis
    where: Inline | Staged | None
    sha256: str | None = field(default=None, compare=False)
    """The fingerprint of what was ratified, from a catalog that keeps it."""


@dataclass(frozen=True, slots=True)
class Ratified:
    """The transaction is version ``version``, now or since an earlier identical proposal."""

    version: Version


@dataclass(frozen=True, slots=True)
class Lost(Generic[Winner_co]):
    """Other commits hold the proposed version: all of them, contiguous, up to the latest."""

    winners: tuple[Winner_co, ...]


@dataclass(frozen=True, slots=True)
class Open:
    """The transaction is not ratified, and its version is not taken either."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """No answer: the proposal may or may not have been ratified, or may yet be."""

    reason: str


Outcome = Ratified | Lost[Winner_co] | Open | Unknown


@dataclass(frozen=True, slots=True)
class Told:
    """What a table is at its latest version, by the catalog's word."""

    protocol: actions.Protocol
    metadata: actions.Metadata
    domains: Mapping[str, actions.DomainMetadata] | None = None
    """The live metadata domains; None from who cannot tell all of them, then the log does."""
    txns: Mapping[str, actions.AppTransaction] | None = None
    """The latest transaction of each application; None like the domains."""


@dataclass(frozen=True, slots=True)
class Tail:
    """The latest version, how far the log is published, and the ratified commits beyond that."""

    latest: Version
    published: Version
    commits: tuple[RatifiedCommit, ...]
    told: Told | None = field(default=None, compare=False)
    """What the log says too, for who wants nothing else of it; None from a catalog that does not keep it."""


class CommitCatalog(Protocol):
    """Ratifies the commits of tables; linearizable per table, safe to share between threads.

    Version v is ratified only after v - 1 and at most once. A method that cannot reach the
    catalog raises ``CatalogUnavailable`` if nothing can have changed.
    """

    def propose(self, proposal: Proposal) -> Ratified | Lost[RatifiedCommit] | Unknown:
        """Ratify the proposal if its version is the next one, or may be.

        Idempotent for ever by (table, txnId): a repeated proposal, whatever its target, gets
        ``Ratified`` with the version of the first. A proposal beyond the next version or of
        malformed content raises ``InvalidRequest`` and changes nothing.
        """
        ...

    def outcome_of(
        self, table_id: TableId, txn_id: TxnId, target: Version, *, any_version: bool = False
    ) -> Outcome[RatifiedCommit]:
        """What became of a proposal whose answer was lost.

        ``Open`` if it could still be ratified, should it be on its way; ``Lost`` proves that it never will.
        """
        ...

    def tail(self, table_id: TableId) -> Tail:
        """The latest version, always, and every ratified commit that is not yet published.

        If it also tells what the table is, then as of that latest version.
        """
        ...

    def mark_published(self, table_id: TableId, version: Version) -> None:
        """Record that versions up to ``version`` are published, once the catalog has seen that they are.

        Monotone and idempotent; their content may be forgotten from here on.
        """
        ...


@dataclass(frozen=True, slots=True)
class TableName:
    """A table's name within its schema."""

    schema: str
    table: str

    @override
    def __str__(self) -> str:
        return f"{self.schema}.{self.table}"


@dataclass(frozen=True, slots=True)
class TableEntry:
    """A table as the directory knows it."""

    table_id: TableId
    name: TableName
    location: str
    created_ms: EpochMillis
    etag: int = 0
    """Greater after every change that can be seen: a commit, its publication, a name, a drop."""
    dropped_ms: EpochMillis | None = None
    """When it was dropped, if it was."""


@dataclass(frozen=True, slots=True)
class StagingTable:
    """A place reserved for a table that has no name yet."""

    table_id: TableId
    location: str


class TableDirectory(Protocol):
    """Finds tables by name; names are unique ignoring case.

    What a table is called has nothing to do with what it is: its id and its location stay the same.
    """

    def create_schema(self, schema: str) -> bool:
        """Make a schema; whether it was new."""
        ...

    def stage(self, name: TableName) -> StagingTable:
        """Reserve an id and a location, for a while; ``SchemaNotFound``, or ``TableExists``."""
        ...

    def register(self, staging: StagingTable, name: TableName) -> TableEntry:
        """Name the staged table, whose version 0 was written; ``TableExists`` if the name is taken.

        Once the reservation has expired it is refused: somebody may be deleting its files.
        """
        ...

    def resolve(self, name: TableName) -> TableEntry:
        """The table of that name, or ``TableNotFound``."""
        ...

    def tables(self, schema: str | None = None) -> tuple[TableEntry, ...]:
        """Every table, or those of one schema, by name."""
        ...

    def drop(self, name: TableName) -> TableEntry:
        """Take the name away; log and data stay where they are."""
        ...


class TableNames(Protocol):
    """Other names for the same tables, and drops that are undone."""

    def rename(self, name: TableName, to: TableName) -> TableEntry:
        """Give a table another name, in another schema if need be; who has it open goes on."""
        ...

    def dropped(self, schema: str | None = None) -> tuple[TableEntry, ...]:
        """What was dropped and can be had back, the latest first."""
        ...

    def undrop(
        self, name: TableName, *, table_id: TableId | None = None, to: TableName | None = None
    ) -> TableEntry:
        """Have back the table of that name that was dropped last, or the one with that id."""
        ...


class TableDisposal(Protocol):
    """Gets rid of tables for good: first nobody can have them back, then files go, then the last trace."""

    def abandoned(self) -> tuple[StagingTable, ...]:
        """Reserved places whose time is over, and what else was condemned and is not forgotten yet."""
        ...

    def condemn(self, table_id: TableId) -> StagingTable:
        """See that nobody can ever have a dropped or abandoned table back; where its files are."""
        ...

    def forget(self, table_id: TableId) -> None:
        """Delete every trace of a condemned table, once its files are gone."""
        ...

    def strike_out(self, table_id: TableId) -> None:
        """Forget a dropped table and leave its files where they are; all its versions must be published."""
        ...


@dataclass(frozen=True, slots=True)
class KnownChecksum:
    """What is in the checksum file of a version."""

    version: Version
    content: bytes


@dataclass(frozen=True, slots=True)
class KnownLog:
    """What the catalog has heard of a log besides commits: hints, which may be out of date."""

    checkpoint: tuple[file_names.LogFile, ...] = ()
    """All files of the newest checkpoint that was made known."""
    checksum: Version | None = None
    """The newest version of which a checksum was made known."""
    content: KnownChecksum | None = None
    """The newest checksum whose content was made known and agrees with the catalog's books."""


@dataclass(frozen=True, slots=True)
class LoadedTable:
    """Everything with which a client opens a table, without asking again and without listing its log."""

    entry: TableEntry
    tail: Tail
    known: KnownLog
    as_of: int = field(default=0, compare=False)
    """How often the catalog had been written through when it was asked, as ``TableServing.writes`` counts."""


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


class TableServing(Protocol):
    """Answers readers from what the catalog knows, so that they need not look at the log."""

    @property
    def writes(self) -> int:
        """Greater whenever something was written through this object; others may write without it."""
        ...

    def load(self, name: TableName) -> LoadedTable:
        """The table of that name with all a reader needs, in one call; or ``TableNotFound``."""
        ...

    def note_log(self, table_id: TableId, known: KnownLog) -> None:
        """Hear of a checkpoint or a checksum that was written; nobody relies on it.

        The content of a checksum is kept, and served by ``load``, only if who tells may write to the table,
        it is of reasonable size, and everything in it that the catalog knows too is as it knows it. Else it
        is as if it had not been told.
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

    def take_in(self, table_id: TableId) -> Version:
        """Look in the log for versions that others published themselves (K8); the latest version now."""
        ...
