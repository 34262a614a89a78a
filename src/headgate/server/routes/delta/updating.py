"""How is a table updated? Its commit is proposed to the catalog, after all else in the request was compared.

The order matters to whoever repeats a request, or lost:

1.  Is it this table? Another one of its name is a conflict.
2.  Was this very file ratified before? Then all is done, whatever else the request says.
3.  Is the version taken? Then nothing else counts: the catalog says by whom.
4.  Does the etag, what was published, and what is said of the table agree?
5.  All that could fail is done before the proposal: what is answered after it needs no store and no catalog,
    so that a ratified commit is never answered as if it had failed.
"""

import logging
from dataclasses import replace

from headgate.catalog.ports.commits import Lost, Proposal, Ratified, RatifiedCommit, Unknown
from headgate.catalog.ports.directory import TableEntry, TableName
from headgate.catalog.ports.serving import LoadedTable
from headgate.catalog.wire.delta_api import TableAnswer, UpdateTableRequest
from headgate.errors import CommitUnknown, HeadgateError, InvalidRequest
from headgate.protocol.actions import EpochMillis, Version
from headgate.server.routes.delta import agreement, conflicts, description, proposals, visible_table
from headgate.server.routes.delta.conflicts import RequirementNotMet
from headgate.server.routes.delta.description import LastChange
from headgate.server.routes.delta.proposals import ReadProposal
from headgate.server.routes.delta.session import DeltaSession
from headgate.server.routes.delta.table_changes import RequestedChange, parse_update
from headgate.server.routes.delta.visible_table import VisibleTable
from headgate.table.commit.catalog_managed import publish_and_retry

_LOG = logging.getLogger(__name__)


def update_table(
    session: DeltaSession, name: TableName, request: UpdateTableRequest, *, inline: bool
) -> TableAnswer:
    """Make an update, or say why not; the table as the update leaves it."""
    change = parse_update(request.requirements, request.updates, session.settings)
    loaded = session.catalog.load(name)
    change.require_uuid(loaded.entry)
    if change.added is None:
        _update_without_commit(session, loaded, change)
        return visible_table.load_answer(session, name, inline=inline)
    if proposals.find_ratified(session, loaded.entry, change.added):
        return visible_table.load_answer(session, name, inline=inline)
    inline = inline or change.added.commit.content is not None
    read = proposals.read_proposal(loaded.entry, change.added)
    if read.proposal.target <= loaded.tail.latest and not read.proposal.any_version:
        _propose(session, loaded.entry, read.proposal, inline=inline)  # a replay, or it has lost
        return visible_table.load_answer(session, name, inline=inline)
    table = visible_table.make_visible(session, loaded, inline=inline)
    check_change(table, change, read)
    table = table.published_up_to(_report_published(session, table, change))
    session.check_room(table.latest, table.published)
    version = _propose(session, loaded.entry, read.proposal, inline=inline)
    if version != table.latest + 1 or read.proposal.any_version:
        return visible_table.load_answer(session, name, inline=inline)
    return table_after(table, read).answer(extended=not session.settings.strict)


def check_change(table: VisibleTable, change: RequestedChange, read: ReadProposal | None) -> None:
    """Refuse a change that requires, reports or says what is not so."""
    require_etag(table, change)
    _check_reported(table, change)
    after = table.state if read is None else agreement.state_after(table.state, read.commit)
    agreement.check_updates_match(change.metadata, after, committed=read is not None)


def require_etag(table: VisibleTable, change: RequestedChange) -> None:
    """Refuse a change of a table whose metadata is not what the caller saw."""
    if change.etag not in (None, description.metadata_etag(table.entry.table_id, table.state)):
        raise RequirementNotMet(
            f"the metadata of {table.entry.name} was changed since it had the etag {change.etag!r}; nothing "
            "was changed: load the table anew"
        )


def table_after(table: VisibleTable, read: ReadProposal) -> VisibleTable:
    """The table once its next version is ratified; nobody is asked for it."""
    state = agreement.state_after(table.state, read.commit)
    changed = table.changed
    if state.since == read.proposal.target:
        changed = LastChange(read.proposal.target, EpochMillis(read.body.timestamp))
    return replace(
        table,
        state=state,
        latest=read.proposal.target,
        commits=(*table.commits, read.body),
        changed=changed,
    )


def _update_without_commit(session: DeltaSession, loaded: LoadedTable, change: RequestedChange) -> None:
    if change.etag is not None or change.metadata:
        table = visible_table.make_visible(session, loaded, inline=True)
        require_etag(table, change)
        agreement.check_updates_match(change.metadata, table.state, committed=False)
    if change.backfilled is not None:
        session.catalog.mark_published(loaded.entry.table_id, Version(change.backfilled))


def _check_reported(table: VisibleTable, change: RequestedChange) -> None:
    if change.backfilled is not None and change.backfilled > table.latest:
        raise InvalidRequest(
            f"version {change.backfilled} cannot be published: the latest ratified version is {table.latest}"
        )


def _report_published(session: DeltaSession, table: VisibleTable, change: RequestedChange) -> Version:
    """Note what the caller published, as far as it is there: its commit does not depend on it."""
    if change.backfilled is None or change.backfilled <= table.published:
        return table.published
    try:
        session.catalog.mark_published(table.entry.table_id, Version(change.backfilled))
    except HeadgateError as exc:
        _LOG.warning("a report of what is published is not believed: %s", exc)
        return session.catalog.tail(table.entry.table_id).published
    return Version(change.backfilled)


def _propose(session: DeltaSession, entry: TableEntry, proposal: Proposal, *, inline: bool) -> Version:
    outcome: Ratified | Lost[RatifiedCommit] | Unknown
    if session.settings.strict:
        outcome = session.catalog.propose(proposal)
    else:
        outcome = publish_and_retry(lambda: session.catalog.propose(proposal), lambda: session.publish(entry))
    match outcome:
        case Ratified(version):
            return version
        case Lost(winners):
            raise conflicts.version_taken(session, entry, proposal.target, winners, inline=inline)
        case Unknown(reason):
            raise CommitUnknown(
                f"nobody can say yet whether version {proposal.target} was ratified: {reason}; send the same "
                "request again, and delete nothing"
            )
