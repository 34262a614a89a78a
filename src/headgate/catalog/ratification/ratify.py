"""What becomes of proposals that share a database transaction: decided one by one, written down together.

The decisions are made on paper, each on the head that the ones before it leave behind. So a proposal
that is refused or lost leaves no trace, and the transaction has only to write down the others.

Three proposals of one table, which is at version 8, wait at the same moment. In one transaction

    A   a blind append, 9 or any later     Ratified(9)
    B   a blind append, 9 or any later     Ratified(10), its in-commit timestamp moved behind that of 9
    C   an overwrite, 9                    Lost, with the commits 9 and 10

and two rows are inserted. C is told of 9 and 10 only because they are ratified by then.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from headgate.catalog import decision
from headgate.catalog.access.commit_policies import LAKE_OWNER, Proposer
from headgate.catalog.database.engine import Database
from headgate.catalog.decision import DEFAULT_LIMITS, Decision, TableHead, UnpublishedLimits
from headgate.catalog.ports.access import OWNER
from headgate.catalog.ports.commits import (
    InlineCommit,
    Lost,
    Proposal,
    Ratified,
    RatifiedCommit,
    TableId,
    Unknown,
    fingerprint,
)
from headgate.catalog.ports.events import operation_name
from headgate.catalog.ports.recovery import StoredCommit
from headgate.catalog.ratification.partitioning_cache import PartitioningCache
from headgate.catalog.store import commit_store, new_commits, table_state, transfer_store
from headgate.catalog.store.commit_store import KnownTable
from headgate.catalog.store.new_commits import NewCommits
from headgate.deferred import deferred
from headgate.errors import (
    CatalogUnavailable,
    CommitUnknown,
    HeadgateError,
    InvalidRequest,
    SharedLog,
    TooManyUnpublished,
)
from headgate.protocol.actions import Commit, EpochMillis, TxnId, Version
from headgate.protocol.log.timestamps import next_in_commit_timestamp

if TYPE_CHECKING:
    from headgate.catalog.ratification.gate import Gate, ratified_elsewhere
    from headgate.catalog.validation import timestamp_rules, validation
    from headgate.catalog.validation.timestamp_rules import ProposedTimestamp
    from headgate.catalog.validation.validation import CheckedContent
else:
    Gate, ratified_elsewhere = deferred("headgate.catalog.ratification.gate", "Gate", "ratified_elsewhere")
    timestamp_rules, validation = deferred("headgate.catalog.validation", "timestamp_rules", "validation")
    ProposedTimestamp = deferred("headgate.catalog.validation.timestamp_rules", "ProposedTimestamp")
    CheckedContent = deferred("headgate.catalog.validation.validation", "CheckedContent")

Answer = Ratified | Lost[RatifiedCommit] | Unknown | HeadgateError
"""An error is an answer too, for one proposal: it is raised to whoever made that one."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A proposal with its content, which was found to be well-formed."""

    proposal: Proposal
    content: bytes
    checked: CheckedContent
    standing: Proposer = LAKE_OWNER


@dataclass(frozen=True, slots=True)
class VersionTaken:
    """The version is taken; by whom is told when all is written down."""


@dataclass(frozen=True, slots=True)
class RatificationPlan:
    """What a table's candidates come to: an answer each, and what is to be written down."""

    answers: tuple[Ratified | HeadgateError | VersionTaken, ...]
    records: tuple[StoredCommit, ...]
    changes: tuple[Commit, ...]
    changed_before: Version
    """The last version that changed the table before all of these."""
    head: TableHead


@dataclass(frozen=True, slots=True)
class RatificationTerms:
    """On what terms a catalog ratifies."""

    limits: UnpublishedLimits = DEFAULT_LIMITS
    is_taken: Callable[[TableId, str, Version], bool] = lambda _table_id, _location, _version: False
    """Whether somebody published a version that the catalog does not know, by the table's location (K8)."""
    partitionings: PartitioningCache = field(default_factory=PartitioningCache)
    now_ms: Callable[[], int] | None = None
    """The catalog's time, which bounds the timestamps of commits."""


class UnknownVersionPublished(Exception):
    """Somebody published the next version of a table and told nobody; nothing was decided."""

    def __init__(self, table_id: TableId, version: Version) -> None:
        super().__init__(table_id, version)
        self.table_id = table_id
        self.version = version


def ratify(database: Database, candidates: Sequence[Candidate], terms: RatificationTerms) -> list[Answer]:
    """Decide the candidates in their order, in one transaction; an answer for each.

    If one of them is more than the database can take, each gets a transaction of its own.
    """
    try:
        with database.writing() as db:
            return _ratify(db, candidates, terms)
    except UnknownVersionPublished:
        raise
    except CommitUnknown as exc:
        # Even whoever lost is not told so: the winner may be one of this group, and not be ratified.
        return [Unknown(exc.message) for _ in candidates]
    except CatalogUnavailable as exc:
        return [_fresh_copy(exc) for _ in candidates]
    except Exception as exc:
        if len(candidates) == 1:
            if isinstance(exc, HeadgateError):
                return [exc]
            raise
    return [answer for candidate in candidates for answer in ratify(database, [candidate], terms)]


def plan_candidates(
    head: TableHead,
    known: Mapping[TxnId, Version],
    candidates: Sequence[Candidate],
    limits: UnpublishedLimits = DEFAULT_LIMITS,
    gate: Gate | None = None,
    now_ms: int | None = None,
) -> RatificationPlan:
    """The decisions on one table's candidates; ``known`` are the versions that some of them already are.

    Without a gate nobody asks whether the table and its policies allow them; ``now_ms`` is the time of the
    catalog.
    """
    ratified, changed_before = dict(known), head.latest_change
    answers: list[Ratified | HeadgateError | VersionTaken] = []
    records: list[StoredCommit] = []
    changes: list[Commit] = []
    for candidate in candidates:
        answer = _decide_one(head, ratified, candidate, limits, now_ms)
        if gate is not None and isinstance(answer, StoredCommit | Ratified):
            answer = _review(gate, candidate, answer)
        if not isinstance(answer, StoredCommit):
            answers.append(answer)
            continue
        version = answer.commit.version
        if candidate.checked.changes_table:
            changes.append(replace(candidate.checked.commit, version=version))
        head = replace(
            head,
            latest=version,
            latest_timestamp=answer.commit.in_commit_timestamp,
            latest_change=version if candidate.checked.changes_table else head.latest_change,
            unpublished_bytes=head.unpublished_bytes + answer.size,
        )
        ratified[candidate.proposal.txn_id] = version
        records.append(answer)
        answers.append(Ratified(version))
    return RatificationPlan(tuple(answers), tuple(records), tuple(changes), changed_before, head)


def _decide_one(
    head: TableHead,
    known: Mapping[TxnId, Version],
    candidate: Candidate,
    limits: UnpublishedLimits,
    now_ms: int | None,
) -> StoredCommit | Ratified | HeadgateError | VersionTaken:
    proposal, checked = candidate.proposal, candidate.checked
    first = known.get(proposal.txn_id)
    match decision.decide(head, proposal.target, first, any_version=proposal.any_version, limits=limits):
        case Decision.REPLAY:
            return Ratified(Version(first or 0))
        case Decision.LOST:
            return VersionTaken()
        case Decision.GAP:
            return InvalidRequest(
                f"version {proposal.target} cannot be ratified: the latest is {head.latest}, "
                f"so the next is {head.latest + 1}",
                asked=proposal.target, latest=head.latest,
            )  # fmt: skip
        case Decision.FROZEN:
            return transfer_store.frozen_error(proposal.table_id)
        case Decision.PUBLISH_FIRST:
            return _publish_first_error(head, limits)
        case Decision.PUT_IF_ABSENT:
            return SharedLog(
                f"others may publish versions of the table {proposal.table_id} themselves, so each of its "
                "commits is decided in its log, by itself: commit to it alone",
            )
        case Decision.RATIFY:
            content, timestamp = candidate.content, checked.timestamp
        case Decision.ASSIGN:
            timestamp = next_in_commit_timestamp(checked.timestamp, head.latest_timestamp)
            content = validation.with_timestamp(candidate.content, timestamp)
    try:
        timestamp_rules.check_timestamp(ProposedTimestamp(timestamp, head.latest_timestamp, now_ms))
    except InvalidRequest as exc:
        return exc
    return _stored_commit(candidate, Version(head.latest + 1), timestamp, content)


def _review(
    gate: Gate, candidate: Candidate, answer: StoredCommit | Ratified
) -> StoredCommit | Ratified | HeadgateError:
    proposal, standing = candidate.proposal, candidate.standing
    if isinstance(answer, Ratified):
        return gate.replay_refusal(proposal, answer.version, standing) or answer
    return gate.refusal(proposal, candidate.checked, standing, len(candidate.content)) or answer


def open_gate(
    db: Connection,
    table_id: TableId,
    found: KnownTable,
    txn_ids: Sequence[TxnId],
    partitionings: PartitioningCache,
) -> Gate:
    """What reviews these transactions of a table, of which the first is the one that was found."""
    elsewhere = [txn_ids[0]] if found.ratified_elsewhere else []
    if txn_ids[1:]:
        elsewhere += ratified_elsewhere(db, table_id, txn_ids[1:])
    return Gate(db, table_id, found, elsewhere=elsewhere, partitionings=partitionings)


def _ratify(db: Connection, candidates: Sequence[Candidate], terms: RatificationTerms) -> list[Answer]:
    by_table: dict[TableId, list[Candidate]] = {}
    for candidate in candidates:
        by_table.setdefault(candidate.proposal.table_id, []).append(candidate)
    answers: dict[TableId, Iterator[Answer]] = {}
    for together in _apart_if_alike(by_table):
        answers |= _ratify_tables(db, {table_id: by_table[table_id] for table_id in together}, terms)
    return [next(answers[candidate.proposal.table_id]) for candidate in candidates]


def _apart_if_alike(by_table: Mapping[TableId, Sequence[Candidate]]) -> Iterator[Sequence[TableId]]:
    """The tables to be decided together: one by one if a transaction is proposed for two of them (T8)."""
    txn_ids = [{each.proposal.txn_id for each in mine} for mine in by_table.values()]
    if len(set().union(*txn_ids)) == sum(map(len, txn_ids)):
        yield tuple(by_table)
    else:
        yield from ((table_id,) for table_id in by_table)


def _ratify_tables(
    db: Connection, by_table: Mapping[TableId, Sequence[Candidate]], terms: RatificationTerms
) -> dict[TableId, Iterator[Answer]]:
    for table_id in by_table:
        commit_store.lock_table(db, table_id)
    heads = commit_store.find_heads(
        db, {table_id: mine[0].proposal.txn_id for table_id, mine in by_table.items()}
    )
    made = {
        table_id: plan_table(db, table_id, heads[table_id], mine, terms)
        for table_id, mine in by_table.items()
        if table_id in heads
    }
    persist(db, made)
    return {
        table_id: iter(
            _answers(db, mine, made[table_id])
            if table_id in made
            else [transfer_store.not_live_error(db, table_id) for _ in mine]
        )
        for table_id, mine in by_table.items()
    }


def _answers(db: Connection, candidates: Sequence[Candidate], made: RatificationPlan) -> list[Answer]:
    """What is told to each, once all is written down."""
    return [
        Lost(
            commit_store.commits_from(
                db, candidate.proposal.table_id, candidate.proposal.target, made.head.published
            )
        )
        if isinstance(answer, VersionTaken)
        else answer
        for answer, candidate in zip(made.answers, candidates, strict=True)
    ]


def plan_table(
    db: Connection,
    table_id: TableId,
    found: KnownTable,
    candidates: Sequence[Candidate],
    terms: RatificationTerms,
) -> RatificationPlan:
    """What a live table's candidates come to; the caller must hold the table, and nothing is written yet.

    The table was found with what is known of the first one's transaction.
    """
    txn_ids = [candidate.proposal.txn_id for candidate in candidates]
    known = commit_store.versions_of(db, table_id, txn_ids[1:]) if txn_ids[1:] else {}
    if found.first_ratified_as is not None:
        known[txn_ids[0]] = found.first_ratified_as
    following = Version(found.head.latest + 1)
    if terms.is_taken(table_id, found.location, following):
        raise UnknownVersionPublished(table_id, following)
    gate = open_gate(db, table_id, found, txn_ids, terms.partitionings)
    now_ms = None if terms.now_ms is None else terms.now_ms()
    return plan_candidates(found.head, known, candidates, terms.limits, gate, now_ms)


def persist(db: Connection, made: Mapping[TableId, RatificationPlan]) -> None:
    """Make what was planned for tables true, in the same transaction."""
    new = [
        NewCommits(table_id, plan.records, plan.head.latest_change)
        for table_id, plan in made.items()
        if plan.records
    ]
    new_commits.insert_all(db, new)
    for table_id, plan in made.items():
        before = plan.changed_before
        for change in plan.changes:
            table_state.save_table_state(db, table_id, change, before=before)
            before = change.version


def _stored_commit(
    candidate: Candidate, version: Version, timestamp: EpochMillis, content: bytes
) -> StoredCommit:
    proposal, info = candidate.proposal, candidate.checked.commit.info
    where = InlineCommit(content) if isinstance(proposal.content, InlineCommit) else proposal.content
    commit = RatifiedCommit(version, proposal.txn_id, timestamp, where)
    principal = candidate.standing.principal
    return StoredCommit(
        commit,
        len(content),
        fingerprint(content),
        operation_name(info),
        None if principal == OWNER else principal,
    )


def _publish_first_error(head: TableHead, limits: UnpublishedLimits) -> TooManyUnpublished:
    return TooManyUnpublished(
        f"{head.latest - head.published} ratified commits, {head.unpublished_bytes} bytes, wait to be "
        f"published, and the limit is {limits.commits} commits or {limits.bytes} bytes, because each slows "
        "down every reader; nothing was committed: publish them with table.publish() or headgate table "
        "publish, and try again. Settings(unpublished_commits=…, unpublished_bytes=…) is the limit",
        latest=head.latest, published=head.published, limit=limits.commits,
    )  # fmt: skip


def _fresh_copy(exc: CatalogUnavailable) -> CatalogUnavailable:
    again = type(exc)(exc.message)
    again.__cause__ = exc
    return again
