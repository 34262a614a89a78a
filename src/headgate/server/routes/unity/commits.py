"""Commits by the older API: over the same log, and by the same rules, as those of the Delta API.

A request is put into the words of that API, and done as it would be. What is ratified and only inline is
staged before anybody hears of it here: clients of this API list the log first and ask then, so that what were
published in between would be missing to them.
"""

import msgspec
from litestar import Response, get, post
from litestar.datastructures import State
from litestar.di import NamedDependency
from litestar.params import JSONBody, RawBody

from headgate.catalog.ports.directory import TableEntry
from headgate.catalog.wire.delta_api import (
    AddCommit,
    AssertTableUuid,
    CommitBody,
    SetLatestBackfilledVersion,
    UpdateTableRequest,
)
from headgate.catalog.wire.unity_api import AskUnityCommits, ProposeUnityCommit, UnityCommit, UnityCommits
from headgate.errors import InvalidRequest
from headgate.protocol.actions import Version
from headgate.server.caller import Caller
from headgate.server.lakes import ServedLakes
from headgate.server.routes.delta import updating, visible_table
from headgate.server.routes.delta.session import DeltaSession, open_session
from headgate.server.routes.unity.names import find_by_id
from headgate.storage import location_spelling

PATH = "/delta/preview/commits"
_MOST_PUBLISHED = 1_000
"""So many published versions are listed too: Sail asks for them before it writes."""


@post(PATH, status_code=200, sync_to_thread=True)
def propose_commit(
    caller: NamedDependency[Caller],
    lakes: NamedDependency[ServedLakes],
    state: State,
    data: JSONBody[ProposeUnityCommit],
) -> Response[bytes]:
    """Ratify a staged commit, note how far the log is published, or both; to repeat it changes nothing."""
    session, entry = _open(lakes, caller, state, data.table_id, data.table_uri)
    updating.update_table(session, entry.name, _as_update(data), inline=False)
    return Response(b"", status_code=200)


@get(PATH, status_code=200, sync_to_thread=True)
def list_commits(
    caller: NamedDependency[Caller],
    lakes: NamedDependency[ServedLakes],
    state: State,
    body: RawBody,
) -> UnityCommits:
    """The commits that are ratified and not published; which ones, the body of the GET says."""
    asked = _parse_question(body)
    session, entry = _open(lakes, caller, state, asked.table_id, asked.table_uri)
    latest, listed = visible_table.list_staged(session, entry.name)
    end = latest if asked.end_version is None else asked.end_version
    published = Version(listed[0].version - 1 if listed else latest)
    before = _published_before(session, entry, asked.start_version, published)
    wanted = (commit for commit in (*before, *listed) if asked.start_version <= commit.version <= end)
    return UnityCommits(commits=tuple(map(_shown, wanted)), latest_table_version=latest)


def _published_before(
    session: DeltaSession, entry: TableEntry, start: int, published: Version
) -> tuple[CommitBody, ...]:
    """Published commits as if they were not, for clients that want all since their checkpoint, as Sail does.

    A strict server leaves them out, as Unity Catalog does: the caller takes what is listed for unpublished.
    """
    if session.settings.strict:
        return ()
    return visible_table.stage_published(session, entry, start, published, most=_MOST_PUBLISHED)


def _open(
    lakes: ServedLakes, caller: Caller, state: State, table_id: str, table_uri: str | None
) -> tuple[DeltaSession, TableEntry]:
    lake, entry = find_by_id(lakes, caller, table_id)
    here = location_spelling.comparable(entry.location)
    if table_uri and location_spelling.comparable(table_uri) != here:
        raise InvalidRequest(
            f"the table {table_id} is not at {table_uri!r}: load it again, and use the location it has"
        )
    return open_session(lake, caller, state), entry


def _parse_question(body: bytes) -> AskUnityCommits:
    try:
        return msgspec.json.decode(body, type=AskUnityCommits)
    except msgspec.DecodeError as exc:
        raise InvalidRequest(f"the body of this GET cannot be read: {exc}; it has a table_id") from exc


def _as_update(data: ProposeUnityCommit) -> UpdateTableRequest:
    """The same request in the Delta API. What it says of metadata, its commit says too, and that counts."""
    updates: list[AddCommit | SetLatestBackfilledVersion] = []
    if (info := data.commit_info) is not None:
        commit = CommitBody(
            version=info.version,
            timestamp=info.timestamp,
            file_name=info.file_name,
            file_size=info.file_size,
            file_modification_timestamp=info.file_modification_timestamp,
        )
        updates.append(AddCommit(commit=commit, uniform=data.uniform))
    if (published := data.latest_backfilled_version) is not None and published >= 0:
        updates.append(SetLatestBackfilledVersion(latest_published_version=published))
    return UpdateTableRequest(requirements=(AssertTableUuid(uuid=data.table_id),), updates=tuple(updates))


def _shown(commit: CommitBody) -> UnityCommit:
    return UnityCommit(
        version=commit.version,
        timestamp=commit.timestamp,
        file_name=commit.file_name or "",
        file_size=commit.file_size or 0,
        file_modification_timestamp=commit.file_modification_timestamp or 0,
    )
