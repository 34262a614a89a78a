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

from collections.abc import Callable, Iterable, Mapping, Sequence
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
from headgate.catalog.decision import Decision
from headgate.catalog.ports.commits import Open, Proposal, Ratified, RatifiedCommit, TableId, Tail, Unknown
from headgate.catalog.ports.directory import StagingTable, TableName
from headgate.catalog.ports.groups import Creation, Group, GroupLost, GroupOutcome, GroupRatified
from headgate.catalog.ports.recovery import Record
from headgate.catalog.ratification import ratify
from headgate.catalog.ratification.ratify import Candidate, Losing, Plan, Terms
from headgate.catalog.store import commit_store, loading, table_not_found
from headgate.errors import (
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

_MEMBERS = select(group_members).where(group_members.c.group_id == bindparam("id"))
_HOLD = (
    select(commit_store.tables.c.table_id)
    .where(commit_store.tables.c.table_id.in_(bindparam("ids", expanding=True)))
    .order_by(commit_store.tables.c.table_id)
)

_LONGEST_ID = 256

FirstCommit = tuple[Record, Commit]
Winners = dict[TableId, tuple[RatifiedCommit, ...]]


@dataclass(frozen=True, slots=True)
class Directory:
    """What the directory of tables does in a transaction that is not its own."""

    register: Callable[[Connection, StagingTable, TableName, FirstCommit], None]
    drop: Callable[[Connection, TableId], None]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A group with the content of its proposals and of new tables, read and found to be well-formed."""

    group: Group
    candidates: Sequence[Candidate]
    first_commits: Sequence[tuple[Creation, FirstCommit]]
    terms: Terms


def prepare(
    group: Group,
    candidate: Callable[[Proposal], Candidate],
    first_commit: Callable[[StagingTable], FirstCommit],
    terms: Terms,
) -> Prepared:
    """Read what was proposed, before any table is held for it."""
    _check_shape(group)
    candidates = []
    for proposal in group.proposals:
        try:
            candidates.append(candidate(proposal))
        except UserError as exc:
            raise _naming(exc, proposal.table_id) from exc
    first_commits = [(creation, first_commit(creation.staging)) for creation in group.creations]
    return Prepared(group, candidates, first_commits, terms)


def ratify_group(
    database: Database, prepared: Prepared, directory: Directory
) -> GroupRatified | GroupLost[RatifiedCommit] | Unknown:
    """Ratify everything at once, or nothing; raises what can never be ratified, naming the table."""
    try:
        with database.writing() as db:
            return _ratify(db, prepared, directory)
    except CommitUnknown as exc:
        return Unknown(exc.message)


def first_answer(database: Database, group: Group) -> GroupRatified | None:
    """What a group of this id was told when it was ratified, if it was."""
    with database.reading() as db:
        return _first_answer(db, group)


def outcome_of(database: Database, group: Group) -> GroupOutcome[RatifiedCommit]:
    """Whether it happened, can no longer happen, or still may."""
    with database.reading() as db:
        if known := _first_answer(db, group):
            return known
        moved = _moved(db, group)
    return GroupLost(moved) if moved else Open()


def tails(database: Database, table_ids: Iterable[TableId]) -> Mapping[TableId, Tail]:
    """The tails of several tables, from one transaction that sees one state of the database."""
    with database.reading() as db:
        return {table_id: _tail(db, table_id) for table_id in dict.fromkeys(table_ids)}


def _ratify(
    db: Connection, prepared: Prepared, directory: Directory
) -> GroupRatified | GroupLost[RatifiedCommit]:
    group = prepared.group
    if group.creations or group.drops:
        commit_store.lock_names(db)  # before any row, as all do who want both
    _hold(db, group)
    # Asked once everything is held: a copy of this group that was ratified meanwhile is seen by now.
    if known := _first_answer(db, group):
        return known
    new = {creation.staging.table_id for creation in group.creations}
    planned = [
        _planned(db, each, prepared.terms)
        for each in prepared.candidates
        if each.proposal.table_id not in new
    ]
    lost = any(isinstance(made.answers[0], Losing) for _, made in planned)
    if (lost or group.read_only) and (moved := _moved(db, group)):
        return GroupLost(moved)
    for table_id in group.drops:
        if commit_store.find_head(db, table_id) is None:
            raise table_not_found.no_table(table_id)
        directory.drop(db, table_id)
    for creation, first in prepared.first_commits:
        directory.register(db, creation.staging, creation.name, first)
    planned += [
        _planned(db, each, prepared.terms) for each in prepared.candidates if each.proposal.table_id in new
    ]
    for candidate, made in planned:
        ratify.write_down(db, candidate.proposal.table_id, made)
    return _write_members(db, group, {each.proposal.table_id: made.head.latest for each, made in planned})


def _hold(db: Connection, group: Group) -> None:
    """Let nobody else decide on these tables, nor write those that are only read, until the end."""
    if db.dialect.name == "sqlite":  # nobody else can
        return
    written = {*(proposal.table_id for proposal in group.proposals), *group.drops}
    for is_written, table_ids in groupby(sorted({*written, *group.read_only}), written.__contains__):
        held = _HOLD.with_for_update(read=not is_written)
        db.execute(held, {"ids": list(table_ids)})


def _planned(db: Connection, candidate: Candidate, terms: Terms) -> tuple[Candidate, Plan]:
    proposal = candidate.proposal
    made = ratify.decided(db, proposal.table_id, [candidate], terms)
    if made is None:
        raise table_not_found.no_table(proposal.table_id)
    answer = made.answers[0]
    if isinstance(answer, HeadgateError):
        raise _naming(answer, proposal.table_id)
    if isinstance(answer, Ratified) and not made.records:
        # No refusal: who is refused deletes what it wrote, and that version may have it.
        raise CorruptLog(
            f"transaction {proposal.txn_id} of table {proposal.table_id} was ratified as version "
            f"{answer.version} without this group, so nothing of the group is ratified: keep its files, look "
            "who committed that version, and give each attempt at something new a txnId of its own",
            code="DELTA_TXN_LOG_FAILED_INTEGRITY", txn_id=proposal.txn_id, version=answer.version,
        )  # fmt: skip
    return candidate, made


def _moved(db: Connection, group: Group) -> Winners:
    """The tables that are no longer where the group needs them, and what moved them."""
    wanted = {proposal.table_id: (proposal.target, proposal.any_version) for proposal in group.proposals}
    wanted |= {table_id: (Version(read + 1), False) for table_id, read in group.read_only.items()}
    found: Winners = {}
    for table_id, (target, any_version) in wanted.items():
        known = commit_store.find_head(db, table_id)
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


def _is_new(group: Group, table_id: TableId) -> bool:
    return any(creation.staging.table_id == table_id for creation in group.creations)


def _first_answer(db: Connection, group: Group) -> GroupRatified | None:
    rows = db.execute(_MEMBERS, {"id": group.group_id}).all()
    if not rows:
        return None
    first = {TableId(row.table_id): row.txn_id for row in rows}
    if first != _transactions(group):
        raise InvalidRequest(
            f"the group {group.group_id} was ratified with other tables or transactions: its id can be used "
            "for nothing else"
        )
    return GroupRatified({TableId(row.table_id): row.version for row in rows if row.version is not None})


def _transactions(group: Group) -> dict[TableId, TxnId | None]:
    """Which transaction of each table it is; None where there is nothing to commit."""
    known: dict[TableId, TxnId | None] = dict.fromkeys(group.participants)
    known.update((proposal.table_id, proposal.txn_id) for proposal in group.proposals)
    return known


def _write_members(db: Connection, group: Group, written: Mapping[TableId, Version]) -> GroupRatified:
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
    db.execute(insert(group_members), rows)
    return GroupRatified(versions)


def _tail(db: Connection, table_id: TableId) -> Tail:
    known = commit_store.find_head(db, table_id)
    if known is None:
        raise table_not_found.no_table(table_id)
    return loading.tail(db, table_id, known.head)


def _check_shape(group: Group) -> None:
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


def _naming(exc: HeadgateError, table_id: TableId) -> HeadgateError:
    """The error, with the table for which nothing of the group was ratified."""
    named = type(exc)(
        f"table {table_id}: {exc.message}", code=exc.code, **{**exc.fields, "table_id": table_id}
    )
    named.__cause__ = exc
    return named
