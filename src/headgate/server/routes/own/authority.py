"""Who may ask for what the catalog itself leaves to its callers? Rows, by operation.

Inside one process a proposer is who it says it is, and whoever holds a lease gives it back. A stranger at the
far end of a wire says whatever helps. What the catalog asks for privileges is not here; see ``Access``.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from headgate.catalog.ports.access import OWNER
from headgate.catalog.ports.catalog import LakeCatalog
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import TableEntry
from headgate.catalog.ports.handover import AdoptionStatus, ReleaseStatus, Transfer
from headgate.catalog.wire.operations import Access, PortOperation
from headgate.errors import InvalidRequest, NotAllowed, TableExists, TableNotFound

MOST_AT_ONCE = 100_000
"""How many commits or events one answer may hold."""


@dataclass(frozen=True, slots=True)
class OperationRequest:
    """An operation that somebody asks for."""

    operation: PortOperation
    catalog: LakeCatalog
    """On behalf of the caller."""
    arguments: Mapping[str, Any]

    @property
    def is_owner(self) -> bool:
        return self.catalog.principal == OWNER

    def answer(self) -> Any:
        """What the catalog answers."""
        return self.operation.call(self.catalog, self.arguments)


Guard = Callable[[OperationRequest], Any]
"""Answers in place of the catalog, or refuses; or has the catalog answer."""


def answer(request: OperationRequest) -> Any:
    """What the catalog answers to whoever may ask."""
    if request.operation.access is Access.OWNER and not request.is_owner:
        raise NotAllowed(
            f"{request.operation.path} is for the owner of the lake alone: ask whoever that is",
            operation=request.operation.path,
        )
    guard = GUARDS.get(request.operation.path)
    return (
        request.answer() if guard is None or (request.is_owner and guard is not _bounded) else guard(request)
    )


def _bounded(request: OperationRequest) -> Any:
    if request.arguments["limit"] > MOST_AT_ONCE:
        raise InvalidRequest(
            f"limit={request.arguments['limit']} is more than one answer holds: ask for at most "
            f"{MOST_AT_ONCE}, and for the rest after that"
        )
    return request.answer()


def _without_ids(request: OperationRequest) -> Any:
    """Who holds what, but not by which id: whoever knows it can end the lease."""
    return tuple(replace(held, lease_id="") for held in request.answer())


def _for_oneself(request: OperationRequest) -> Any:
    proposer = request.arguments["proposer"]
    if proposer != request.catalog.principal:
        raise NotAllowed(
            f"{request.catalog.principal!r} asks on behalf of {proposer!r}, which only the owner of the lake "
            "may: ask for yourself",
            operation=request.operation.path,
        )
    return request.answer()


def _found_for_oneself(request: OperationRequest) -> Any:
    try:
        return _visible(request.catalog, _for_oneself(request))
    except TableExists as exc:
        name = exc.fields.get("name")
        if name in {str(entry.name) for entry in request.catalog.tables()}:
            raise
        raise TableExists(
            f"the table at {request.arguments['place']!r} is one of this lake already, or was dropped: ask "
            "its owner"
        ) from None


def _if_visible(request: OperationRequest) -> Any:
    return _visible(request.catalog, request.answer())


def _visible(catalog: LakeCatalog, entry: TableEntry | None) -> TableEntry | None:
    return entry if entry is not None and _sees(catalog, entry.table_id) else None


def _sees(catalog: LakeCatalog, table_id: TableId) -> bool:
    with suppress(NotAllowed, TableNotFound):
        catalog.permissions.permitted_kinds(table_id)  # refused to whoever may not see the table
        return True
    return False


def _only_own(request: OperationRequest) -> Any:
    return tuple(found for found in request.answer() if found.proposer == request.catalog.principal)


def _under_way(catalog: LakeCatalog, table_id: TableId) -> Transfer | None:
    found = (each for each in catalog.adoptions.under_way() if each.table_id == table_id)
    return next(found, None)


def _settled(nothing: AdoptionStatus | ReleaseStatus) -> Guard:
    """To whoever neither brings a table, takes it away nor sees it, it is as if there were none."""

    def guard(request: OperationRequest) -> Any:
        table_id = request.arguments["table_id"]
        transfer = _under_way(request.catalog, table_id)
        if transfer is not None and transfer.proposer == request.catalog.principal:
            return request.answer()
        return request.answer() if _sees(request.catalog, table_id) else nothing

    return guard


def _own_release(request: OperationRequest) -> Any:
    table_id = request.arguments["transfer"].table_id
    known = _under_way(request.catalog, table_id) or request.catalog.releases.find_departure(table_id)
    if known is not None and known.proposer != request.catalog.principal:
        raise NotAllowed(
            "somebody else is giving that table back: only they, or the owner of the lake, can go on",
            operation=request.operation.path,
        )
    return request.answer()


def _gone_by_oneself(request: OperationRequest) -> Any:
    found: Transfer | None = request.answer()
    return found if found is not None and found.proposer == request.catalog.principal else None


GUARDS: Mapping[str, Guard] = {
    "readers/commits": _bounded,
    "events/after": _bounded,
    "events/window": _bounded,
    "leases/live": _without_ids,
    "adoptions/claim": _for_oneself,
    "adoptions/check": _for_oneself,
    "adoptions/find": _found_for_oneself,
    "adoptions/find_adopted": _if_visible,
    "adoptions/under_way": _only_own,
    "adoptions/settle": _settled(AdoptionStatus.OPEN),
    "releases/freeze": _for_oneself,
    "releases/begin_release": _own_release,
    "releases/stay": _own_release,
    "releases/find_departure": _gone_by_oneself,
    "releases/settle": _settled(ReleaseStatus.OPEN),
}
"""What is asked of all but the owner of the lake; only the length of an answer is asked of everybody."""
