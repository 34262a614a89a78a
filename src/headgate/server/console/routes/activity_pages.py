"""The pages of what happens in a lake: events, lost races and refusals, transactions over several tables."""

from typing import Any

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery

from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.events import EventKind
from headgate.errors import InvalidRequest
from headgate.protocol.actions import Version
from headgate.server.console.address_numbers import Before
from headgate.server.console.rendering import page
from headgate.server.console.views import (
    events_view,
    races_view,
    transactions_view,
    versions_view,
)
from headgate.server.console.views.races_view import RaceLine
from headgate.server.console.visit import Visit, VisitedLake

_TROUBLE = frozenset({EventKind.REFUSAL, EventKind.INCIDENT})
_MOST_RACES = 50
_REFUSALS_WINDOW = 1_000


@get("/console/lakes/{lake:str}/events", sync_to_thread=True)
def show_events(
    visit: NamedDependency[Visit],
    lake: FromPath[str],
    before: Before = None,
    kind: FromQuery[str] = "",
) -> Response[str]:
    """What happened, the latest first; of all kinds or one."""
    found = visit.lake(lake)
    wanted = next((each for each in EventKind if each.value == kind), None)
    if kind and wanted is None:
        raise InvalidRequest(f"{kind!r} is no kind of event: choose one of those that the page Events lists")
    window = found.catalog.events.window(before, limit=events_view.EVENTS_ON_A_PAGE)
    kinds = None if wanted is None else frozenset({wanted})
    events = events_view.events_page(window, kinds)
    names = tuple(each.value for each in EventKind)
    return page(visit, "events.html", found, events=events, kind=kind, kinds=names)


@get("/console/lakes/{lake:str}/conflicts", sync_to_thread=True)
def show_conflicts(
    visit: NamedDependency[Visit], lake: FromPath[str], before: Before = None
) -> Response[str]:
    """Who lost to whom, what was refused by which rule, and what to do about it."""
    found = visit.lake(lake)
    window = found.catalog.events.window(before, limit=_REFUSALS_WINDOW)
    events = events_view.events_page(window, _TROUBLE, _REFUSALS_WINDOW)
    incidents = [line for line in events.lines if line.kind == EventKind.INCIDENT.value]
    values: dict[str, Any] = {
        "events": events,
        "incidents": incidents,
        "refusals": events_view.refusal_lines(window.events),
        "races": _races(visit, found),
        "rules": races_view.conflict_rules(),
    }
    return page(visit, "conflicts.html", found, **values)


@get("/console/lakes/{lake:str}/transactions", sync_to_thread=True)
def show_transactions(
    visit: NamedDependency[Visit], lake: FromPath[str], before: Before = None
) -> Response[str]:
    """What was ratified together, as far as the events of a window tell."""
    found = visit.lake(lake)
    window = found.catalog.events.window(before, limit=_REFUSALS_WINDOW)
    commits = transactions_view.committed_versions(window.events)
    lines = transactions_view.transaction_lines(found.groups_with(commits), window.events)
    events = events_view.events_page(window, frozenset(), _REFUSALS_WINDOW)
    return page(visit, "transactions.html", found, lines=lines, events=events)


def _races(visit: Visit, lake: VisitedLake) -> tuple[RaceLine, ...]:
    races = visit.operations.metrics.lost_races.latest(lake.name)[:_MOST_RACES]
    names = lake.visible_names(race.table_id for race in races)

    def who(table_id: TableId, version: Version) -> str:
        records = lake.catalog.commits(table_id, before=Version(version + 1), limit=1)
        return versions_view.who_committed(records[0]) if records else ""

    return races_view.race_lines(races, names, who)
