"""How are several tables updated at once, and read at one moment? Two operations that Unity Catalog lacks.

Each commit is staged for its table as always, and then all are ratified by one request or none is. Who
repeats the request, with the same ``Idempotency-Key`` or the same commits, is answered what became of it.
"""

import hashlib
from dataclasses import dataclass

from headgate.catalog.ports.commits import TableId, Unknown
from headgate.catalog.ports.directory import TableEntry, TableName
from headgate.catalog.ports.groups import GroupId, GroupLost, GroupProposal, GroupRatified
from headgate.catalog.wire.delta_api import (
    BatchLoadRequest,
    IdentifiedTable,
    TableChange,
    TableIdentifier,
    TablesAnswer,
    TransactionRequest,
)
from headgate.errors import CommitUnknown, HeadgateError, InvalidRequest
from headgate.protocol.actions import Version
from headgate.server.routes.delta import conflicts, proposals, updating, visible_table
from headgate.server.routes.delta.session import DeltaSession
from headgate.server.routes.delta.table_changes import RequestedChange, parse_change
from headgate.table.commit.catalog_managed import publish_and_retry

_MOST_TABLES = 1_000


@dataclass(frozen=True, slots=True)
class _Member:
    """A table of a transaction, and what shall become of it."""

    entry: TableEntry
    change: RequestedChange


def commit_transaction(
    session: DeltaSession, request: TransactionRequest, key: str | None, *, inline: bool
) -> TablesAnswer:
    """Make all changes, or none; all tables afterwards."""
    members = _members(session, request)
    group = _group(session, members, key)
    if not isinstance(session.catalog.outcome_of_group(group), GroupRatified):
        _check_members(session, members)
        _ratify(session, group, members, inline=inline)
    names = [member.entry.name for member in members]
    try:
        return _answer(session, names, inline=inline)
    except HeadgateError as exc:
        raise CommitUnknown(
            f"the transaction is ratified, but its tables cannot be told: {exc.message}; delete nothing, and "
            "send the same request again"
        ) from exc


def load_tables(session: DeltaSession, request: BatchLoadRequest, *, inline: bool) -> TablesAnswer:
    """Tables as they are at one moment: of each transaction all, or nothing."""
    _check_count(len(request.tables))
    return _answer(session, [TableName(each.schema, each.name) for each in request.tables], inline=inline)


def _members(session: DeltaSession, request: TransactionRequest) -> list[_Member]:
    _check_count(len(request.table_changes))
    names = [TableName(each.identifier.schema, each.identifier.name) for each in request.table_changes]
    entries = session.catalog.resolve_all(names)
    if len({entry.table_id for entry in entries}) < len(entries):
        raise InvalidRequest("a transaction names each table once")
    members = [
        _Member(entry, _parse(session, change))
        for entry, change in zip(entries, request.table_changes, strict=True)
    ]
    for member in members:
        member.change.require_uuid(member.entry)
    return members


def _parse(session: DeltaSession, wanted: TableChange) -> RequestedChange:
    change = parse_change(wanted.requirements, wanted.updates, session.settings)
    if (change.read_version is None) is (change.added is None):
        raise InvalidRequest(
            "of each table a transaction either adds a commit, or says with assert-latest-version which "
            "version it read"
        )
    return change


def _group(session: DeltaSession, members: list[_Member], key: str | None) -> GroupProposal:
    proposed = tuple(
        proposals.proposal_of(session, member.entry, member.change.added)
        for member in members
        if member.change.added is not None
    )
    read: dict[TableId, Version] = {
        member.entry.table_id: Version(member.change.read_version)
        for member in members
        if member.change.read_version is not None
    }
    what = key or ",".join(sorted(f"{each.table_id}/{each.txn_id}" for each in proposed))
    named = hashlib.sha256(f"{session.caller.principal}\0{what}".encode()).hexdigest()
    return GroupProposal(GroupId(f"{'key' if key else 'commits'}-{named}"), proposed, read)


def _check_members(session: DeltaSession, members: list[_Member]) -> None:
    """Refuse what the log of a table contradicts; a table that moved is left for the catalog to tell."""
    for member in members:
        if member.change.added is None:
            continue
        read = proposals.read_proposal(member.entry, member.change.added)
        table = visible_table.load_visible(session, member.entry.name, inline=True)
        if read.proposal.target == table.latest + 1:
            updating.check_change(table, member.change, read)


def _ratify(session: DeltaSession, group: GroupProposal, members: list[_Member], *, inline: bool) -> None:
    def publish() -> None:
        for member in members:
            session.publish(member.entry)

    outcome = publish_and_retry(lambda: session.catalog.propose_group(group), publish)
    match outcome:
        case GroupRatified():
            return
        case GroupLost(winners):
            lost = [
                (each.entry, winners[each.entry.table_id])
                for each in members
                if each.entry.table_id in winners
            ]
            raise conflicts.tables_moved(session, lost, inline=inline)
        case Unknown(reason):
            raise CommitUnknown(
                f"nobody can say yet whether the transaction was ratified: {reason}; send the same request "
                "again, and delete nothing"
            )


def _answer(session: DeltaSession, names: list[TableName], *, inline: bool) -> TablesAnswer:
    found = visible_table.load_all_visible(session, names, inline=inline)
    return TablesAnswer(
        tables=tuple(
            IdentifiedTable(
                identifier=TableIdentifier(schema=table.entry.name.schema, name=table.entry.name.table),
                table=table.answer(extended=True),
            )
            for table in found
        )
    )


def _check_count(count: int) -> None:
    if not 0 < count <= _MOST_TABLES:
        raise InvalidRequest(f"name 1 to {_MOST_TABLES} tables, not {count}")
