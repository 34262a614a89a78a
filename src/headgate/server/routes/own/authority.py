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
class Asked:
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


Guard = Callable[[Asked], Any]
"""Answers in place of the catalog, or refuses; or has the catalog answer."""


def answer(asked: Asked) -> Any:
    """What the catalog answers to whoever may ask."""
    if asked.operation.access is Access.OWNER and not asked.is_owner:
        raise NotAllowed(
            f"{asked.operation.path} is for the owner of the lake alone: ask whoever that is",
            operation=asked.operation.path,
        )
    guard = GUARDS.get(asked.operation.path)
    return asked.answer() if guard is None or (asked.is_owner and guard is not _bounded) else guard(asked)


def _bounded(asked: Asked) -> Any:
    if asked.arguments["limit"] > MOST_AT_ONCE:
        raise InvalidRequest(
            f"limit={asked.arguments['limit']} is more than one answer holds: ask for at most "
            f"{MOST_AT_ONCE}, and for the rest after that"
        )
    return asked.answer()


def _without_ids(asked: Asked) -> Any:
    """Who holds what, but not by which id: whoever knows it can end the lease."""
    return tuple(replace(held, lease_id="") for held in asked.answer())


def _for_oneself(asked: Asked) -> Any:
    proposer = asked.arguments["proposer"]
    if proposer != asked.catalog.principal:
        raise NotAllowed(
            f"{asked.catalog.principal!r} asks on behalf of {proposer!r}, which only the owner of the lake "
            "may: ask for yourself",
            operation=asked.operation.path,
        )
    return asked.answer()


def _found_for_oneself(asked: Asked) -> Any:
    try:
        return _visible(asked.catalog, _for_oneself(asked))
    except TableExists as exc:
        name = exc.fields.get("name")
        if name in {str(entry.name) for entry in asked.catalog.tables()}:
            raise
        raise TableExists(
            f"the table at {asked.arguments['place']!r} is one of this lake already, or was dropped: ask "
            "its owner"
        ) from None


def _if_visible(asked: Asked) -> Any:
    return _visible(asked.catalog, asked.answer())


def _visible(catalog: LakeCatalog, entry: TableEntry | None) -> TableEntry | None:
    return entry if entry is not None and _sees(catalog, entry.table_id) else None


def _sees(catalog: LakeCatalog, table_id: TableId) -> bool:
    with suppress(NotAllowed, TableNotFound):
        catalog.permissions.of(table_id)  # refused to whoever may not see the table
        return True
    return False


def _only_own(asked: Asked) -> Any:
    return tuple(found for found in asked.answer() if found.proposer == asked.catalog.principal)


def _under_way(catalog: LakeCatalog, table_id: TableId) -> Transfer | None:
    found = (each for each in catalog.adoptions.under_way() if each.table_id == table_id)
    return next(found, None)


def _settled(nothing: AdoptionStatus | ReleaseStatus) -> Guard:
    """To whoever neither brings a table, takes it away nor sees it, it is as if there were none."""

    def guard(asked: Asked) -> Any:
        table_id = asked.arguments["table_id"]
        transfer = _under_way(asked.catalog, table_id)
        if transfer is not None and transfer.proposer == asked.catalog.principal:
            return asked.answer()
        return asked.answer() if _sees(asked.catalog, table_id) else nothing

    return guard


def _own_release(asked: Asked) -> Any:
    table_id = asked.arguments["transfer"].table_id
    known = _under_way(asked.catalog, table_id) or asked.catalog.releases.gone(table_id)
    if known is not None and known.proposer != asked.catalog.principal:
        raise NotAllowed(
            "somebody else is giving that table back: only they, or the owner of the lake, can go on",
            operation=asked.operation.path,
        )
    return asked.answer()


def _gone_by_oneself(asked: Asked) -> Any:
    found: Transfer | None = asked.answer()
    return found if found is not None and found.proposer == asked.catalog.principal else None


GUARDS: Mapping[str, Guard] = {
    "readers/commits": _bounded,
    "events/after": _bounded,
    "events/window": _bounded,
    "leases/live": _without_ids,
    "adoptions/claim": _for_oneself,
    "adoptions/check": _for_oneself,
    "adoptions/find": _found_for_oneself,
    "adoptions/entered": _if_visible,
    "adoptions/under_way": _only_own,
    "adoptions/settle": _settled(AdoptionStatus.OPEN),
    "releases/freeze": _for_oneself,
    "releases/begin_release": _own_release,
    "releases/stay": _own_release,
    "releases/gone": _gone_by_oneself,
    "releases/settle": _settled(ReleaseStatus.OPEN),
}
"""What is asked of all but the owner of the lake; only the length of an answer is asked of everybody."""
