"""The loop for commits to several tables: propose all at once, and on a lost race rebase those that moved.

Like the loop of a single commit it ends in exactly one of three ways: the versions the tables got, an
error that proves that nothing happened, or ``CommitUnknown``.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial

from headgate.catalog.ports.commits import Open, RatifiedCommit, TableId, Unknown
from headgate.catalog.ports.groups import (
    GroupCatalog,
    GroupId,
    GroupLost,
    GroupOutcome,
    GroupProposal,
    GroupRatified,
    StagedCreation,
)
from headgate.clock import World
from headgate.errors import ConflictError, GroupConflict, HeadgateError, TableNotFound, UserError
from headgate.protocol.actions import Commit, Version
from headgate.protocol.conflicts import read_validation
from headgate.protocol.transaction import txn_ids
from headgate.protocol.transaction.attempt import Attempt
from headgate.settings import Settings
from headgate.table.commit import loop
from headgate.table.commit.catalog_managed import ManagedCommitter, publish_and_retry
from headgate.table.commit.loop import NOTHING_UNRESOLVED, CommitResult, RetryBudget, Unresolved
from headgate.table.transaction import GroupMembership, Transaction


@dataclass(frozen=True, slots=True)
class GroupMember:
    """One table of a group: what shall be written to it, or what was only read of it."""

    name: str
    table_id: TableId
    route: ManagedCommitter
    part: Transaction | Attempt
    winners: tuple[Commit, ...] = ()
    """What it follows by now, beyond the version that was read."""

    def after(self, winners: tuple[Commit, ...]) -> "GroupMember":
        """The same behind these commits; raises the conflict that forbids it."""
        match self.part:
            case Transaction() as txn:
                if (known := txn.proposed.version(winners)) is not None:
                    raise txn_ids.txn_without_group_error(txn.txn_id, known)
                return replace(self, part=txn.rebased_onto(winners), winners=self.winners + winners)
            case Attempt() as reader:
                return replace(
                    self, part=read_validation.validate_reads(reader, winners), winners=self.winners + winners
                )


@dataclass(frozen=True)  # without slots: what is proposed is worked out once
class GroupTransaction:
    """One attempt to commit to several tables at once."""

    group_id: GroupId
    members: tuple[GroupMember, ...]
    creations: tuple[StagedCreation, ...] = ()
    drops: tuple[TableId, ...] = ()

    @cached_property
    def written(self) -> Mapping[TableId, Transaction]:
        """What is written to each table, as a part of the group."""
        parts = [(member.table_id, member.part) for member in self.members]
        written = [(table_id, part) for table_id, part in parts if isinstance(part, Transaction)]
        ids = {*(table_id for table_id, _ in written), *self.drops}
        ids |= {creation.staging.table_id for creation in self.creations}
        together = GroupMembership(self.group_id, tuple(sorted(ids)))
        return {table_id: replace(txn, together=together) for table_id, txn in written}

    @cached_property
    def proposed(self) -> GroupProposal:
        """The group as the catalog sees it; large commits are staged when this is first asked for."""
        written = self.written
        return GroupProposal(
            self.group_id,
            tuple(
                member.route.proposal(written[member.table_id])
                for member in self.members
                if member.table_id in written
            ),
            {
                member.table_id: member.part.follows.version
                for member in self.members
                if isinstance(member.part, Attempt)
            },
            self.creations,
            self.drops,
        )

    def after(self, lost: Mapping[TableId, tuple[RatifiedCommit, ...]]) -> "GroupTransaction":
        """The same behind the commits that tables moved by; ``GroupConflict`` names all who cannot follow."""
        members: list[GroupMember] = []
        conflicts: dict[str, HeadgateError] = {}
        for member in self.members:
            winners = lost.get(member.table_id)
            try:
                members.append(member if winners is None else member.after(member.route.read(winners)))
            except (ConflictError, UserError) as exc:
                conflicts[member.name] = exc
        if conflicts:
            raise group_conflict_error(conflicts)
        return replace(self, members=tuple(members))


def group_conflict_error(conflicts: Mapping[str, HeadgateError]) -> GroupConflict:
    """The error of a group that could not follow what happened to these tables."""
    is_one = len(conflicts) == 1
    reasons = "; ".join(
        exc.message if is_one else f"{name}: {exc.message}" for name, exc in conflicts.items()
    )
    return GroupConflict(
        f"nothing of the transaction was committed, because others changed {', '.join(conflicts)}: {reasons}",
        conflicts=dict(conflicts),
    )


def commit_group(
    group: GroupTransaction, catalog: GroupCatalog, settings: Settings, *, world: World
) -> Mapping[TableId, CommitResult]:
    """Ratify the group; what each table that it writes or makes became.

    Raises ``GroupConflict`` or another refusal if it was proven that nothing happened, and
    ``CommitUnknown`` if nobody can say; in that last case no data file may be deleted.
    """
    patience, doubt = RetryBudget(settings, world), NOTHING_UNRESOLVED
    while patience.has_attempts_left:
        outcome, doubt = _propose(group, catalog, doubt)
        match outcome:
            case GroupRatified(versions):
                return _commit_results(group, versions)
            case GroupLost(winners):
                group, doubt = group.after(winners), NOTHING_UNRESOLVED
                latest = max((commits[-1].version for commits in winners.values() if commits), default=0)
                patience.lost(f"the last one on {_names(group, winners)}", winner=latest)
            case Open() | Unknown():
                # The proposal may still be on its way, so only the same one again is safe.
                patience.unanswered()
    raise _unresolved_error(group, doubt)


def _propose(
    group: GroupTransaction, catalog: GroupCatalog, doubt: Unresolved
) -> tuple[GroupOutcome[RatifiedCommit], Unresolved]:
    def propose() -> GroupOutcome[RatifiedCommit]:
        try:
            return publish_and_retry(lambda: catalog.propose_group(group.proposed), publish)
        except HeadgateError as exc:
            if (named := _error_naming_table(group, exc)) is not None:
                raise named from exc
            raise

    def publish() -> None:
        for member in group.members:
            with suppress(TableNotFound):  # one that the group makes
                member.route.publish()

    def outcome_of() -> GroupOutcome[RatifiedCommit]:
        return catalog.outcome_of_group(group.proposed)

    return loop.propose_once(propose, outcome_of, doubt, partial(_unresolved_error, group))


def _error_naming_table(group: GroupTransaction, exc: HeadgateError) -> HeadgateError | None:
    """The same error, with the name by which its table is known here, if it is about one."""
    names = {member.table_id: member.name for member in group.members}
    table_id = exc.fields.get("table_id")
    if not isinstance(table_id, str) or TableId(table_id) not in names:
        return None
    name = names[TableId(table_id)]
    fields = {**exc.fields, "table": name}
    return type(exc)(exc.message.replace(table_id, name), code=exc.code, **fields)


def _unresolved_error(group: GroupTransaction, doubt: Unresolved) -> HeadgateError:
    targets = {
        member.name: member.part.target for member in group.members if isinstance(member.part, Transaction)
    }
    shown = ", ".join(f"{name} version {target}" for name, target in targets.items())
    what = f"group {group.group_id} was proposed ({shown})"
    return loop.gave_up_error(doubt, what, txn_id=group.group_id, target=targets)


def _names(group: GroupTransaction, tables: Mapping[TableId, object]) -> str:
    return ", ".join(member.name for member in group.members if member.table_id in tables)


def _commit_results(
    group: GroupTransaction, versions: Mapping[TableId, Version]
) -> dict[TableId, CommitResult]:
    known = {member.table_id: member for member in group.members}
    done: dict[TableId, CommitResult] = {}
    for table_id, version in versions.items():
        member, txn = known.get(table_id), group.written.get(table_id)
        if member is not None and txn is not None and txn.target == version:
            done[table_id] = CommitResult(version, (*member.winners, txn.commit))
        else:
            done[table_id] = CommitResult(version, ())
    return done
