"""May several tables change at once? Decided for each by the rules of one, in one database transaction.

The rows of all tables are held in the order of their ids, so that two groups never wait for each
other. What was decided is written down only when nothing speaks against any of it, together with the
group itself, by which a repeated one is known again for ever.

A group writes ``orders`` as version 8 and ``stock`` as version 4, from what it read of ``prices`` at
version 12. If all three are where it saw them, one transaction inserts the commits 8 and 4 and two rows of
``group_members``:

    GroupRatified({orders: 8, stock: 4})

If ``prices`` is at 13 by then, nothing is inserted: ``GroupLost({prices: (commit 13,)})``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Index,
    String,
    Table,
    bindparam,
    insert,
    select,
)

from headgate.catalog import decision
from headgate.catalog.database.engine import Database
from headgate.catalog.database.prepared_statements import PreparedStatement
from headgate.catalog.decision import Decision
from headgate.catalog.ports.access import OWNER, Principal, Privilege
from headgate.catalog.ports.commits import Open, Proposal, Ratified, RatifiedCommit, TableId, Unknown
from headgate.catalog.ports.directory import StagingTable, TableName
from headgate.catalog.ports.groups import (
    GroupLost,
    GroupOutcome,
    GroupProposal,
    GroupRatified,
    StagedCreation,
)
from headgate.catalog.ports.recovery import StoredCommit
from headgate.catalog.ratification import ratify
from headgate.catalog.ratification.ratify import Candidate, RatificationPlan, RatificationTerms, VersionTaken
from headgate.catalog.store import commit_store, grant_store, name_store, table_not_found
from headgate.catalog.store.commit_store import KnownTable
from headgate.errors import (
    CommitRefused,
    CommitUnknown,
    CorruptLog,
    HeadgateError,
    InvalidRequest,
    SharedLog,
    UserError,
)
from headgate.protocol.actions import Commit, TxnId, Version

group_members = Table(
    "group_members",
    commit_store.metadata,
    Column("group_id", String, primary_key=True),
    Column("table_id", String, primary_key=True),
    Column("version", BigInteger),
    Column("txn_id", String),
    Index("groups_of_a_table", "table_id"),
)
"""Who took part in a group; a table that was only dropped has no version."""

_MEMBERS = PreparedStatement(
    select(group_members.c.table_id, group_members.c.version, group_members.c.txn_id).where(
        group_members.c.group_id == bindparam("id")
    )
)
_INSERT_MEMBER = PreparedStatement(insert(group_members))
_LOCK_TABLES = (
    select(commit_store.tables.c.table_id)
    .where(commit_store.tables.c.table_id.in_(bindparam("ids", expanding=True)))
    .order_by(commit_store.tables.c.table_id)
)

_LONGEST_ID = 256

FirstCommit = tuple[StoredCommit, Commit]
Winners = dict[TableId, tuple[RatifiedCommit, ...]]


@dataclass(frozen=True, slots=True)
class DirectoryChanges:
    """What the directory of tables does in a transaction that is not its own."""

    register: Callable[[Connection, StagingTable, TableName, FirstCommit], None]
    drop: Callable[[Connection, TableId], None]


@dataclass(frozen=True, slots=True)
class PreparedGroup:
    """A group with the content of its proposals and of new tables, read and found to be well-formed."""

    group: GroupProposal
    candidates: Sequence[Candidate]
    first_commits: Sequence[tuple[StagedCreation, FirstCommit]]
    terms: RatificationTerms
    principal: Principal = OWNER


def prepare_group(
    group: GroupProposal,
    candidate: Callable[[Proposal], Candidate],
    first_commit: Callable[[StagingTable], FirstCommit],
    terms: RatificationTerms,
    principal: Principal = OWNER,
) -> PreparedGroup:
    """Read what was proposed, before any table is held for it."""
    _check_shape(group)
    candidates = []
    for proposal in group.proposals:
        try:
            candidates.append(candidate(proposal))
        except UserError as exc:
            raise _error_naming_table(exc, proposal.table_id) from exc
    first_commits = [(creation, first_commit(creation.staging)) for creation in group.creations]
    return PreparedGroup(group, candidates, first_commits, terms, principal)


def ratify_group(
    database: Database, prepared: PreparedGroup, directory: DirectoryChanges
) -> GroupRatified | GroupLost[RatifiedCommit] | Unknown:
    """Ratify everything at once, or nothing; raises what can never be ratified, naming the table."""
    try:
        with database.writing() as db:
            return _ratify(db, prepared, directory)
    except CommitUnknown as exc:
        return Unknown(exc.message)


def find_ratified_group(
    database: Database, group: GroupProposal, principal: Principal = OWNER
) -> GroupRatified | None:
    """What a group of this id was told when it was ratified, if it was, and for this principal."""
    try:
        with database.reading() as db:
            return _ratified_group(db, group, principal)
    except CommitRefused:
        return None


def group_outcome(
    database: Database, group: GroupProposal, principal: Principal = OWNER
) -> GroupOutcome[RatifiedCommit]:
    """Whether it happened, can no longer happen, or still may."""
    with database.reading() as db:
        if known := _ratified_group(db, group, principal):
            return known
        moved = _moved_tables(db, group)
    return GroupLost(moved) if moved else Open()


def _ratify(
    db: Connection, prepared: PreparedGroup, directory: DirectoryChanges
) -> GroupRatified | GroupLost[RatifiedCommit]:
    group = prepared.group
    if group.creations or group.drops:
        commit_store.lock_names(db)  # before any row, as all do who want both
    _lock_tables(db, group)
    # Asked once everything is held: a copy of this group that was ratified meanwhile is seen by now.
    if known := _ratified_group(db, group, prepared.principal):
        return known
    new = {creation.staging.table_id for creation in group.creations}
    existing = [each for each in prepared.candidates if each.proposal.table_id not in new]
    made = _plan_candidates(db, existing, prepared.terms)
    lost = any(isinstance(plan.answers[0], VersionTaken) for plan in made.values())
    if (lost or group.read_only) and (moved := _moved_tables(db, group)):
        return GroupLost(moved)
    for table_id in group.drops:
        if commit_store.find_head(db, table_id) is None:
            raise table_not_found.no_table(table_id)
        directory.drop(db, table_id)
    for creation, first in prepared.first_commits:
        directory.register(db, creation.staging, creation.name, first)
    created = [each for each in prepared.candidates if each.proposal.table_id in new]
    made |= _plan_candidates(db, created, prepared.terms)
    ratify.persist(db, made)
    return _write_members(db, group, {table_id: plan.head.latest for table_id, plan in made.items()})


def _lock_tables(db: Connection, group: GroupProposal) -> None:
    """Let nobody else decide on these tables, nor write those that are only read, until the end."""
    if db.dialect.name == "sqlite":  # nobody else can
        return
    written = {*(proposal.table_id for proposal in group.proposals), *group.drops}
    for is_written, table_ids in groupby(sorted({*written, *group.read_only}), written.__contains__):
        held = _LOCK_TABLES.with_for_update(read=not is_written)
        db.execute(held, {"ids": list(table_ids)})


def _plan_candidates(
    db: Connection, candidates: Sequence[Candidate], terms: RatificationTerms
) -> dict[TableId, RatificationPlan]:
    """What becomes of each table's candidate; raises what forbids the whole group."""
    heads = commit_store.find_heads(db, {each.proposal.table_id: each.proposal.txn_id for each in candidates})
    return {
        each.proposal.table_id: _plan_candidate(db, each, heads.get(each.proposal.table_id), terms)
        for each in candidates
    }


def _plan_candidate(
    db: Connection, candidate: Candidate, found: KnownTable | None, terms: RatificationTerms
) -> RatificationPlan:
    proposal = candidate.proposal
    if found is None:
        raise table_not_found.no_table(proposal.table_id)
    made = ratify.plan_table(db, proposal.table_id, found, [candidate], terms)
    answer = made.answers[0]
    if isinstance(answer, HeadgateError):
        raise _error_naming_table(answer, proposal.table_id)
    if isinstance(answer, Ratified) and not made.records:
        # No refusal: whoever is refused deletes what it wrote, and that version may have it.
        raise CorruptLog(
            f"transaction {proposal.txn_id} of table {proposal.table_id} was ratified as version "
            f"{answer.version} without this group, so nothing of the group is ratified: keep its files, look "
            "who committed that version, and give each attempt at something new a txnId of its own",
            code="DELTA_TXN_LOG_FAILED_INTEGRITY", txn_id=proposal.txn_id, version=answer.version,
        )  # fmt: skip
    return made


def _moved_tables(db: Connection, group: GroupProposal) -> Winners:
    """The tables that are no longer where the group needs them, and what moved them."""
    wanted = {proposal.table_id: (proposal.target, proposal.any_version) for proposal in group.proposals}
    wanted |= {table_id: (Version(read + 1), False) for table_id, read in group.read_only.items()}
    found: Winners = {}
    heads = commit_store.find_heads(db, dict.fromkeys(wanted))
    for table_id, (target, any_version) in wanted.items():
        known = heads.get(table_id)
        if known is None:
            if _is_new(group, table_id):
                continue
            raise table_not_found.no_table(table_id)
        match decision.decide(known.head, target, None, any_version=any_version):
            case Decision.LOST:
                found[table_id] = commit_store.commits_from(db, table_id, target, known.head.published)
            case Decision.PUT_IF_ABSENT if table_id in group.read_only:
                raise SharedLog(
                    f"others may publish versions of table {table_id} themselves, at any moment, so nobody "
                    "can vouch that what was read of it is still true when others are committed: read it "
                    "with isolation='snapshot', or outside of the transaction",
                    table_id=table_id,
                )
            case Decision.GAP if table_id in group.read_only:
                raise InvalidRequest(
                    f"version {target - 1} of table {table_id} cannot have been read: its latest is "
                    f"{known.head.latest}",
                    asked=target - 1, latest=known.head.latest,
                )  # fmt: skip
            case _:
                pass
    return found


def _is_new(group: GroupProposal, table_id: TableId) -> bool:
    return any(creation.staging.table_id == table_id for creation in group.creations)


def _ratified_group(db: Connection, group: GroupProposal, principal: Principal) -> GroupRatified | None:
    rows = _MEMBERS.rows(db, {"id": group.group_id})
    if not rows:
        return None
    for table_id, version, _ in rows:
        _check_own_member(db, principal, group, TableId(table_id), version)
    first = {TableId(table_id): txn_id for table_id, _, txn_id in rows}
    if first != _transactions(group):
        raise InvalidRequest(
            f"the group {group.group_id} was ratified with other tables or transactions: its id can be used "
            "for nothing else"
        )
    return GroupRatified(
        {TableId(table_id): Version(version) for table_id, version, _ in rows if version is not None}
    )


def _check_own_member(
    db: Connection, principal: Principal, group: GroupProposal, table_id: TableId, version: Version | None
) -> None:
    """Refuse a group that was ratified for somebody else, as a single transaction is (T8)."""
    if principal == OWNER or name_store.find_row(db, table_id) is None:
        return
    if version:
        is_own = grant_store.proposer_of(db, table_id, version) == principal
    else:  # made or dropped, of which no commit says by whom
        is_own = Privilege.DROP in grant_store.table_privileges(db, principal, table_id)
    if not is_own:
        raise CommitRefused(
            f"the group {group.group_id} was ratified for another principal: give each group an id of its "
            "own; nothing was committed",
            policy="replay", reason="another principal's group",
        )  # fmt: skip


def _transactions(group: GroupProposal) -> dict[TableId, TxnId | None]:
    """Which transaction of each table it is; None where there is nothing to commit."""
    known: dict[TableId, TxnId | None] = dict.fromkeys(group.participants)
    known.update((proposal.table_id, proposal.txn_id) for proposal in group.proposals)
    return known


def _write_members(db: Connection, group: GroupProposal, written: Mapping[TableId, Version]) -> GroupRatified:
    created = {creation.staging.table_id: Version(0) for creation in group.creations}
    versions = {**created, **written}
    rows = [
        {
            "group_id": group.group_id,
            "table_id": table_id,
            "version": versions.get(table_id),
            "txn_id": txn_id,
        }
        for table_id, txn_id in _transactions(group).items()
    ]
    _INSERT_MEMBER.run_many(db, rows)
    return GroupRatified(versions)


def _check_shape(group: GroupProposal) -> None:
    written = [proposal.table_id for proposal in group.proposals]
    if not group.participants:
        raise InvalidRequest("a group must change something: to read several tables, ask for their tails")
    if not 0 < len(group.group_id) <= _LONGEST_ID or not group.group_id.isprintable():
        raise InvalidRequest(f"the id of a group must be 1 to {_LONGEST_ID} printable characters")
    if len(set(written)) < len(written):
        raise InvalidRequest("a group has at most one commit for each table")
    if len({proposal.txn_id for proposal in group.proposals}) < len(written):
        raise InvalidRequest(
            "each commit of a group has a txnId of its own, which is used for one table only"
        )
    if both := {*written} & {*group.read_only, *group.drops}:
        raise InvalidRequest(f"table {min(both)} cannot be written and also only read or dropped in a group")


def _error_naming_table(exc: HeadgateError, table_id: TableId) -> HeadgateError:
    """The error, with the table for which nothing of the group was ratified."""
    named = type(exc)(
        f"table {table_id}: {exc.message}", code=exc.code, **{**exc.fields, "table_id": table_id}
    )
    named.__cause__ = exc
    return named
