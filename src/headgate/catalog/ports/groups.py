"""What a catalog offers to those who use several tables at once: ports, and the values they take."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, NewType, Protocol, runtime_checkable

from headgate.catalog.ports.commits import Open, Proposal, RatifiedCommit, TableId, Tail, Unknown, Winner_co
from headgate.catalog.ports.directory import StagingTable, TableEntry, TableName, TableRenaming
from headgate.errors import TableNotFound
from headgate.protocol.actions import TxnId, Version

GroupId = NewType("GroupId", str)


@dataclass(frozen=True, slots=True)
class StagedCreation:
    """A staged table, its version 0 written, that shall have this name."""

    staging: StagingTable
    name: TableName


@dataclass(frozen=True, slots=True)
class GroupProposal:
    """Commits to several tables that are ratified together or not at all.

    ``read_only`` are tables that are not written, by the version that was read: the group stands only
    if that is still the latest. Tables are dropped before others get their names, and a table that is
    created may have a proposal too, for version 1.
    """

    group_id: GroupId
    proposals: tuple[Proposal, ...] = ()
    read_only: Mapping[TableId, Version] = field(default_factory=dict)
    creations: tuple[StagedCreation, ...] = ()
    drops: tuple[TableId, ...] = ()

    @property
    def participants(self) -> frozenset[TableId]:
        """The tables it changes, makes or drops; the same at every attempt."""
        written = {proposal.table_id for proposal in self.proposals}
        return frozenset({*written, *self.drops, *(creation.staging.table_id for creation in self.creations)})


@dataclass(frozen=True, slots=True)
class GroupRatified:
    """Everything happened at once, now or when it was first proposed; the version of each table written.

    A table that was created and not written besides is at version 0.
    """

    versions: Mapping[TableId, Version]


@dataclass(frozen=True, slots=True)
class GroupLost(Generic[Winner_co]):
    """Nothing happened: these tables moved, each by these commits, contiguous, up to its latest.

    They begin at the version that was proposed, or after the one that was read.
    """

    winners: Mapping[TableId, tuple[Winner_co, ...]]


@dataclass(frozen=True, slots=True)
class RatifiedMember:
    """A table that took part in a group: with which version, unless it was only dropped."""

    table_id: TableId
    version: Version | None
    txn_id: TxnId | None


@dataclass(frozen=True, slots=True)
class RatifiedGroup:
    """A group as the catalog remembers it."""

    group_id: GroupId
    members: tuple[RatifiedMember, ...]


@runtime_checkable
class GroupRecords(Protocol):
    """A catalog that tells which commits were ratified together."""

    def groups_with(self, commits: Iterable[tuple[TableId, Version]]) -> tuple[RatifiedGroup, ...]:
        """The groups, of more than one table, that these commits were part of.

        All their members are named, by id, to whoever sees one of them. Commits to tables that the caller may
        not see are as if they had not been named.
        """
        ...


GroupOutcome = GroupRatified | GroupLost[Winner_co] | Open | Unknown


class GroupCatalog(Protocol):
    """Ratifies commits to several tables as one; safe to share between threads.

    All that happens to tables has one order in which groups and single commits take their turns. A method
    that cannot reach the catalog raises ``CatalogUnavailable`` if nothing can have changed.
    """

    def propose_group(self, group: GroupProposal) -> GroupRatified | GroupLost[RatifiedCommit] | Unknown:
        """Ratify all proposals, each by the rules of a single one, and make and drop tables; or nothing.

        Idempotent for ever by the group's id: a repeated group gets ``GroupRatified`` with the versions
        of the first. What can never be ratified raises an error that names the table, having changed
        nothing.
        """
        ...

    def outcome_of_group(self, group: GroupProposal) -> GroupOutcome[RatifiedCommit]:
        """What became of a group whose answer was lost.

        ``Open`` if it could still be ratified, should it be on its way; ``GroupLost`` proves that it
        never will.
        """
        ...

    def tails(self, table_ids: Iterable[TableId]) -> Mapping[TableId, Tail]:
        """The tails of several tables as they were at one moment: of each group either all or nothing."""
        ...


@dataclass(frozen=True, slots=True)
class PinnedTables:
    """Tables as they were at one moment: of each group either all or nothing."""

    entries: tuple[TableEntry, ...]
    """Those that were asked for by their names, in that order."""
    tails: Mapping[TableId, Tail]
    """How far these reached, and those that were asked for by their ids."""


class TablePinning(Protocol):
    """Tells all that a transaction needs to begin, in one question."""

    def pin(self, names: Iterable[TableName], table_ids: Iterable[TableId] = ()) -> PinnedTables:
        """The tables of these names, and how far they and those with these ids reached, all at one moment.

        ``TableNotFound`` if one is missing.
        """
        ...


class NamesTables(GroupCatalog, TableRenaming, Protocol):
    """A catalog that finds tables by their names, and tells in another question how far they reach."""


_RESOLUTIONS = 3


@dataclass(frozen=True, slots=True)
class PinningByTails:
    """``TablePinning`` by two questions, of a catalog without it: who has the names, how far it reached."""

    catalog: NamesTables

    def pin(self, names: Iterable[TableName], table_ids: Iterable[TableId] = ()) -> PinnedTables:
        wanted, beside, attempt = tuple(names), tuple(table_ids), 1
        while True:
            entries = self.catalog.resolve_all(wanted)
            try:
                return PinnedTables(
                    entries, self.catalog.tails((*beside, *(entry.table_id for entry in entries)))
                )
            except TableNotFound:
                if attempt == _RESOLUTIONS:
                    raise
                attempt += 1  # another table may have the name by now
