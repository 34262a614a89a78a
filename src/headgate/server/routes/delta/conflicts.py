"""What is a client told when it lost? That it lost, and, if it can use that, to which commits."""

from collections.abc import Mapping, Sequence
from typing import Any

from litestar import Request, Response

from headgate.catalog.ports.commits import InlineCommit, RatifiedCommit
from headgate.catalog.ports.directory import TableEntry
from headgate.catalog.wire.delta_api import CommitBody, TableConflict, TableIdentifier
from headgate.errors import ConflictError, HeadgateError
from headgate.redaction import redact
from headgate.server.error_answers import Answers
from headgate.server.routes.delta import visible_table
from headgate.server.routes.delta.session import DeltaSession


class CommitVersionTaken(ConflictError):
    """Other commits hold the version that was proposed, or tables of a transaction moved."""

    code = "DELTA_CONCURRENT_WRITE"

    def __init__(self, message: str, details: Mapping[str, object] | None = None) -> None:
        super().__init__(message)
        self.members = details or {}
        """Members of the answer that only our own clients look for."""


class RequirementNotMet(ConflictError):
    """The table is not what the update requires; nothing was changed."""

    code = "DELTA_METADATA_CHANGED"


def version_taken(
    session: DeltaSession, entry: TableEntry, target: int, winners: Sequence[RatifiedCommit], *, inline: bool
) -> CommitVersionTaken:
    """The error for whoever proposed a version that these commits made impossible."""
    latest = winners[-1].version if winners else target
    message = (
        f"version {target} of {entry.name} is taken by another commit, and the latest is {latest}; nothing "
        "was committed: load the table, see whether the commit still makes sense, and stage it for the next "
        "version"
    )
    if session.settings.strict:
        return CommitVersionTaken(message, {})
    told = _told_winners(session, entry, winners, inline=inline)
    details: dict[str, object] = {"winning-commits": told} if told is not None else {}
    return CommitVersionTaken(message, {"latest-table-version": latest, **details})


def tables_moved(
    session: DeltaSession,
    moved: Sequence[tuple[TableEntry, Sequence[RatifiedCommit]]],
    *,
    inline: bool,
) -> CommitVersionTaken:
    """The error for a transaction of which these tables were changed by others."""
    names = ", ".join(str(entry.name) for entry, _ in moved)
    conflicts = tuple(
        TableConflict(
            identifier=TableIdentifier(schema=entry.name.schema, name=entry.name.table),
            latest_table_version=winners[-1].version,
            winning_commits=_told_winners(session, entry, winners, inline=inline) or (),
        )
        for entry, winners in moved
        if winners
    )
    message = (
        f"others committed to {names}, so nothing of the transaction was committed: load these tables, see "
        "whether it still makes sense, and stage its commits anew"
    )
    return CommitVersionTaken(message, {"conflicts": conflicts})


def _told_winners(
    session: DeltaSession, entry: TableEntry, winners: Sequence[RatifiedCommit], *, inline: bool
) -> tuple[CommitBody, ...] | None:
    """The winners, each in a file that can be read; None if that cannot be had: the conflict stands."""
    try:
        if not inline and any(isinstance(winner.where, InlineCommit) for winner in winners):
            session.publish(entry)
            return tuple(
                CommitBody(version=winner.version, timestamp=winner.in_commit_timestamp) for winner in winners
            )
        return visible_table.commit_bodies(entry, winners, inline=inline)
    except HeadgateError:
        return None


def _answer_taken(_: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    members = error.members if isinstance(error, CommitVersionTaken) else {}
    return _conflict(error, "CommitVersionConflictException", members)


def _answer_not_met(_: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    return _conflict(error, "UpdateRequirementConflictException", {})


def _conflict(error: Exception, kind: str, details: Mapping[str, object]) -> Response[Any]:
    body = {"message": redact(str(error)), "type": kind, "code": 409, **details}
    return Response({"error": body}, status_code=409)


ANSWER_CONFLICTS: Answers = {CommitVersionTaken: _answer_taken, RequirementNotMet: _answer_not_met}
