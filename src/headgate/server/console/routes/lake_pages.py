"""The pages of a lake: how it is doing, its tables, and what happens in it while one looks."""

from typing import Any

from litestar import Response, get
from litestar.datastructures import State
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery
from litestar.response import Redirect, Stream

from headgate.catalog.figures import table_lines
from headgate.catalog.figures.table_lines import TableLine
from headgate.errors import TableNotFound
from headgate.server.console.address_numbers import PageNumber
from headgate.server.console.rendering import page
from headgate.server.console.views import lake_view
from headgate.server.console.views.events_view import event_line
from headgate.server.console.views.lake_view import LakeActivityView, LakeFigures
from headgate.server.console.views.paging import ListPage
from headgate.server.console.visit import Visit, VisitedLake, authenticate_again
from headgate.server.request_record import current_request
from headgate.server.routes.events.stream import EventStream

_TABLES_ON_A_PAGE = 40
_LATEST_EVENTS = 2_000
_FEW_EVENTS = 6
_STREAM_TYPE = "text/event-stream"


@get("/", sync_to_thread=False)
def show_home(visit: NamedDependency[Visit]) -> Response[Any]:
    """The only lake that there is for the caller, or all of them to choose from."""
    names = [served.name for served in visit.lakes]
    if len(names) == 1:
        return Redirect(f"/console/lakes/{names[0]}", status_code=303)
    return page(visit, "home.html")


@get(["/console", "/console/lakes"], sync_to_thread=False)
def lead_home() -> Redirect:
    """What somebody types who leaves the end of an address away."""
    return Redirect("/", status_code=303)


@get("/console/lakes/{lake:str}", sync_to_thread=True)
def show_lake(
    visit: NamedDependency[Visit], lake: FromPath[str], q: FromQuery[str] = "", number: PageNumber = 1
) -> Response[str]:
    """How a lake is doing, and its tables."""
    found = visit.lake(lake)
    tables = _tables(found, q, number)
    figures, activity, latest = _activity(visit, found)
    return page(
        visit, "lake.html", found, tables=tables, q=q, figures=figures, activity=activity, latest=latest
    )  # fmt: skip


@get("/console/lakes/{lake:str}/tables", sync_to_thread=True)
def show_tables(
    visit: NamedDependency[Visit], lake: FromPath[str], q: FromQuery[str] = "", number: PageNumber = 1
) -> Response[str]:
    """The tables whose names have some words in them; alone, for whoever has the page already."""
    found = visit.lake(lake)
    template = "parts/tables.html" if visit.is_fragment else "tables.html"
    return page(visit, template, found, tables=_tables(found, q, number), q=q)


@get("/console/lakes/{lake:str}/activity", sync_to_thread=True)
def show_activity(visit: NamedDependency[Visit], lake: FromPath[str]) -> Response[str]:
    """The part of a lake's page that changes while one looks."""
    found = visit.lake(lake)
    figures, activity, latest = _activity(visit, found)
    return page(visit, "parts/activity.html", found, figures=figures, activity=activity, latest=latest)


@get("/console/lakes/{lake:str}/live", sync_to_thread=True)
def follow_lake(visit: NamedDependency[Visit], state: State, lake: FromPath[str]) -> Stream:
    """What happens in a lake from now on, as a stream of events, as far as the caller may see it."""
    catalog = visit.lake(lake).catalog
    record = current_request()
    give_back = visit.operations.streams.take(visit.caller.principal)
    if record is not None:
        record.ending.append(give_back)
    stream = EventStream(
        catalog.events,
        catalog.events.newest(),
        visit.operations,
        lambda: authenticate_again(visit.session, state),
    )
    return Stream(stream.lines(), media_type=_STREAM_TYPE)


def _tables(lake: VisitedLake, words: str, number: int) -> ListPage[TableLine]:
    entries, total = lake.search_tables(words, (number - 1) * _TABLES_ON_A_PAGE, _TABLES_ON_A_PAGE)
    pages = max(1, -(-total // _TABLES_ON_A_PAGE))
    if number > pages:
        return _tables(lake, words, pages)
    lines = []
    for entry in entries:
        try:
            lines.append(table_lines.table_line(lake.catalog.load(entry.name)))
        except TableNotFound:  # dropped in the middle of it
            continue
    return ListPage(tuple(lines), number, pages, total)


def _activity(visit: Visit, lake: VisitedLake) -> tuple[LakeFigures, LakeActivityView, tuple[Any, ...]]:
    window = lake.catalog.events.window(limit=_LATEST_EVENTS)
    return (
        lake_view.lake_figures(visit.operations.metrics.lake_samples(lake.name)),
        lake_view.lake_activity(window, lake.now_ms),
        tuple(map(event_line, reversed(window.events[-_FEW_EVENTS:]))),
    )
