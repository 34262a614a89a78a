"""One attempt at a commit: what it was decided from, what it would follow, and what it would write.

Losing a race gives another attempt, which follows the winner. Nothing here ever changes in place.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from headgate.protocol.actions import (
    Action,
    AddCdcFile,
    Commit,
    CommitInfo,
    EpochMillis,
    Metadata,
    Protocol,
    RemoveFile,
    Version,
    commit_from_actions,
)
from headgate.protocol.domains.rules import Handlers
from headgate.protocol.log.in_commit_timestamps import has_in_commit_timestamps
from headgate.protocol.log.replay import State
from headgate.protocol.predicates.tree import Predicate
from headgate.protocol.transaction import isolation
from headgate.protocol.transaction.isolation import IsolationLevel
from headgate.protocol.transaction.row_access import TouchedRows

ROW_ID_BACKFILL = "ROW TRACKING BACKFILL"
ROW_ID_UNBACKFILL = "ROW TRACKING UNBACKFILL"
CLONE = "CLONE"
RESTORE = "RESTORE"


@dataclass(frozen=True, slots=True)
class ReadSet:
    """What a transaction looked at before deciding what to write."""

    predicates: tuple[Predicate, ...] = ()
    """Which rows it asked for, one predicate a scan; only what they say of partitions counts."""
    files: frozenset[str] = frozenset()
    """The paths of the files it read, as the log has them."""
    whole_table: bool = False
    """Whether it may have seen any row, so that every other commit concerns it."""
    app_ids: frozenset[str] = frozenset()
    """The applications whose last transaction it looked up."""
    domains: bool = False
    """Whether it looked up metadata domains."""

    def union(self, other: "ReadSet") -> "ReadSet":
        """Both together."""
        return ReadSet(
            tuple(dict.fromkeys((*self.predicates, *other.predicates))),
            self.files | other.files,
            self.whole_table or other.whole_table,
            self.app_ids | other.app_ids,
            self.domains or other.domains,
        )

    @property
    def is_blind(self) -> bool:
        """Whether it saw no row."""
        return not (self.whole_table or self.predicates or self.files)


BLIND = ReadSet()


@dataclass(frozen=True)  # without slots: what is derived is worked out once
class Attempt:
    """A change that would become the version after ``follows``."""

    read: State
    """The table as the operation read it, which later attempts keep."""
    follows: State
    """The table just before this version."""
    operation: str
    reads: ReadSet
    actions: tuple[Action, ...]
    timestamp: EpochMillis
    """The moment of the commit; before any in-commit timestamp is due, that of the writer's clock."""
    changes_data: bool = True
    """Whether this kind of operation changes rows."""
    is_strict: bool = False
    """Whether what it read must still be true when it commits, whatever the table or its actions ask for.

    Other tables may be written from what was read here.
    """
    tags: Mapping[str, str] = field(default_factory=dict)
    handlers: Callable[[], Handlers] = field(default=dict, compare=False)
    """What merges a metadata domain that both sides of a race wrote."""
    rows: TouchedRows | None = field(default=None, compare=False)
    """Which rows it is about, if it can say so."""

    @property
    def target(self) -> Version:
        """The version it would be."""
        return Version(self.follows.version + 1)

    @cached_property
    def writes(self) -> Commit:
        """Its actions, sorted by kind; without a commitInfo."""
        return commit_from_actions(self.target, self.actions)

    @property
    def protocol(self) -> Protocol:
        """The protocol of the table once this is committed."""
        return self.writes.protocol or self.follows.protocol

    @property
    def metadata(self) -> Metadata:
        """The metadata of the table once this is committed."""
        return self.writes.metadata or self.follows.metadata

    @cached_property
    def is_blind_append(self) -> bool:
        """Whether it saw no row and touches files by adding them at most."""
        return self.reads.is_blind and not any(
            isinstance(action, (RemoveFile, AddCdcFile)) for action in self.actions
        )

    @cached_property
    def isolation(self) -> IsolationLevel:
        """Its isolation level."""
        if self.is_strict:
            return IsolationLevel.SERIALIZABLE
        return isolation.choose_level(self.metadata, self.actions, changes_data=self.changes_data)

    @cached_property
    def has_in_commit_timestamp(self) -> bool:
        """Whether it has an in-commit timestamp."""
        return has_in_commit_timestamps(self.metadata)

    @property
    def enables_in_commit_timestamps(self) -> bool:
        """Whether it is the commit that switches in-commit timestamps on."""
        return self.has_in_commit_timestamp and not has_in_commit_timestamps(self.follows.metadata)

    @property
    def is_no_op(self) -> bool:
        """Whether committing it would tell nobody anything."""
        return not self.actions and self.isolation is not IsolationLevel.WRITE_SERIALIZABLE

    def with_actions(self, actions: tuple[Action, ...]) -> "Attempt":
        """The same with other actions; itself if they are the same."""
        return self if actions == self.actions else replace(self, actions=actions)

    def with_metadata(self, metadata: Metadata) -> "Attempt":
        """The same with other metadata in place of that which it writes."""
        return self.with_actions(
            tuple(metadata if isinstance(action, Metadata) else action for action in self.actions)
        )


def is_row_id_backfill(info: CommitInfo | None) -> bool:
    """Whether a commit gives or takes row ids of files that have rows already."""
    return info is not None and info.operation in (ROW_ID_BACKFILL, ROW_ID_UNBACKFILL)
