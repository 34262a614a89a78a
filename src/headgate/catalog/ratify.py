"""What becomes of proposals that share a database transaction: decided one by one, written down together.

The decisions are made on paper, each on the head that the ones before it leave behind. So a proposal
that is refused or lost leaves no trace, and the transaction has only to write down the others.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from headgate.catalog import rules, store, validate
from headgate.catalog.api import Inline, Lost, Proposal, Ratified, RatifiedCommit, TableId, Unknown
from headgate.catalog.database import Database
from headgate.catalog.rules import Decision, Head
from headgate.catalog.store import Record
from headgate.catalog.validate import Checked
from headgate.errors import CatalogUnavailable, CommitUnknown, HeadgateError, InvalidRequest, TableNotFound
from headgate.protocol.actions import Commit, EpochMillis, TxnId, Version
from headgate.protocol.timestamps import next_in_commit_timestamp

Answer = Ratified | Lost[RatifiedCommit] | Unknown | HeadgateError
"""An error is an answer too, for one proposal: it is raised to whoever made that one."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A proposal with its content, which was found to be well-formed."""

    proposal: Proposal
    content: bytes
    checked: Checked


@dataclass(frozen=True, slots=True)
class _Losing:
    """The version is taken; by whom is told when all is written down."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a table's candidates come to: an answer each, and what is to be written down."""

    answers: tuple[Ratified | HeadgateError | _Losing, ...]
    records: tuple[Record, ...]
    changes: tuple[Commit, ...]
    head: Head


def ratify(database: Database, candidates: Sequence[Candidate]) -> list[Answer]:
    """Decide the candidates in their order, in one transaction; an answer for each.

    If one of them is more than the database can take, each gets a transaction of its own.
    """
    try:
        with database.writing() as db:
            return _ratify(db, candidates)
    except CommitUnknown as exc:
        # Even who lost is not told so: the winner may be one of this group, and not be ratified.
        return [Unknown(exc.message) for _ in candidates]
    except CatalogUnavailable as exc:
        return [_again(exc) for _ in candidates]
    except Exception as exc:
        if len(candidates) == 1:
            if isinstance(exc, HeadgateError):
                return [exc]
            raise
    return [answer for candidate in candidates for answer in ratify(database, [candidate])]


def plan(head: Head, known: Mapping[TxnId, Version], candidates: Sequence[Candidate]) -> Plan:
    """The decisions on one table's candidates; ``known`` are the versions that some of them already are."""
    ratified = dict(known)
    answers: list[Ratified | HeadgateError | _Losing] = []
    records: list[Record] = []
    changes: list[Commit] = []
    for candidate in candidates:
        answer = _decide(head, ratified, candidate)
        if not isinstance(answer, Record):
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
        )
        ratified[candidate.proposal.txn_id] = version
        records.append(answer)
        answers.append(Ratified(version))
    return Plan(tuple(answers), tuple(records), tuple(changes), head)


def _decide(
    head: Head, known: Mapping[TxnId, Version], candidate: Candidate
) -> Record | Ratified | HeadgateError | _Losing:
    proposal, checked = candidate.proposal, candidate.checked
    first = known.get(proposal.txn_id)
    match rules.decide(head, proposal.target, first, any_version=proposal.any_version):
        case Decision.REPLAY:
            return Ratified(Version(first or 0))
        case Decision.LOST:
            return _Losing()
        case Decision.GAP:
            return InvalidRequest(
                f"version {proposal.target} cannot be ratified: the latest is {head.latest}, "
                f"so the next is {head.latest + 1}",
                asked=proposal.target, latest=head.latest,
            )  # fmt: skip
        case Decision.RATIFY:
            try:
                validate.check_timestamp(checked.timestamp, head.latest_timestamp)
            except InvalidRequest as exc:
                return exc
            return _record(proposal, proposal.target, checked.timestamp, candidate.content)
        case Decision.ASSIGN:
            timestamp = next_in_commit_timestamp(checked.timestamp, head.latest_timestamp)
            content = validate.with_timestamp(candidate.content, timestamp)
            return _record(proposal, Version(head.latest + 1), timestamp, content)


def _ratify(db: Connection, candidates: Sequence[Candidate]) -> list[Answer]:
    by_table: dict[TableId, list[Candidate]] = {}
    for candidate in candidates:
        by_table.setdefault(candidate.proposal.table_id, []).append(candidate)
    answers = {table_id: _ratify_table(db, table_id, mine) for table_id, mine in by_table.items()}
    return [next(answers[candidate.proposal.table_id]) for candidate in candidates]


def _ratify_table(db: Connection, table_id: TableId, candidates: Sequence[Candidate]) -> Iterator[Answer]:
    store.hold(db, table_id)
    txn_ids = [candidate.proposal.txn_id for candidate in candidates]
    found = store.find_head(db, table_id, txn_ids[0])
    if found is None:
        return iter([no_table(table_id) for _ in candidates])
    known = store.versions_of(db, table_id, txn_ids[1:]) if txn_ids[1:] else {}
    if found.first_ratified_as is not None:
        known[txn_ids[0]] = found.first_ratified_as
    made = plan(found.head, known, candidates)
    if made.records:
        store.insert_commits(db, table_id, made.records, latest_change=made.head.latest_change)
    before = found.head.latest_change
    for change in made.changes:
        store.describe(db, table_id, change, before=before)
        before = change.version
    return iter(
        [
            Lost(store.commits_from(db, table_id, candidate.proposal.target, made.head.published))
            if isinstance(answer, _Losing)
            else answer
            for answer, candidate in zip(made.answers, candidates, strict=True)
        ]
    )


def _record(proposal: Proposal, version: Version, timestamp: EpochMillis, content: bytes) -> Record:
    where = Inline(content) if isinstance(proposal.content, Inline) else proposal.content
    commit = RatifiedCommit(version, proposal.txn_id, timestamp, where)
    return Record(commit, len(content), fingerprint(content))


def fingerprint(content: bytes) -> str:
    """By what a commit's content is known again."""
    return hashlib.sha256(content).hexdigest()


def no_table(table_id: TableId) -> TableNotFound:
    """The error for an id that no live table has."""
    return TableNotFound(f"the catalog has no live table with the id {table_id}", name=table_id)


def _again(exc: CatalogUnavailable) -> CatalogUnavailable:
    again = CatalogUnavailable(exc.message)
    again.__cause__ = exc
    return again
