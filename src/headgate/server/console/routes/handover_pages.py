"""The pages by which a table comes into the catalog, and leaves it: each step in order, and what it means."""

from functools import partial
from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from headgate.catalog.figures import table_lines
from headgate.catalog.ports.access import OWNER
from headgate.catalog.ports.directory import parse_name
from headgate.errors import InvalidRequest, NotAllowed
from headgate.server.console.open_tables import VisitedTable
from headgate.server.console.rendering import page
from headgate.server.console.routes.confirmation import Deed, confirm_or_do
from headgate.server.console.routes.table_pages import TABLE
from headgate.server.console.visit import Form, Visit, VisitedLake
from headgate.storage import locations
from headgate.storage.credentials import StorageOperation
from headgate.storage.locate import locate
from headgate.table.alter import adoption
from headgate.table.alter.adoption import TransferServices


@get("/console/lakes/{lake:str}/adopt", sync_to_thread=True)
def show_adoption(visit: NamedDependency[Visit], lake: FromPath[str]) -> Response[str]:
    """How a table comes into the catalog, and which are on their way."""
    found = visit.lake(lake)
    transfers = found.catalog.adoptions.under_way()
    return page(visit, "adopt.html", found, transfers=transfers, is_owner=found.principal == OWNER)


@post("/console/lakes/{lake:str}/adopt", status_code=200, sync_to_thread=True)
def adopt_table(
    visit: NamedDependency[Visit], lake: FromPath[str], form: NamedDependency[Form]
) -> Response[Any]:
    """Take a table into the catalog, once that is confirmed; for the owner alone."""
    found = visit.lake(lake)
    if found.principal != OWNER:
        raise NotAllowed(
            "tables are adopted from here by the lake's owner alone: use lake.adopt", operation="adopt"
        )
    name, location = parse_name(form.get("name", "").strip()), form.get("location", "").strip()
    if not location:
        raise InvalidRequest("a table to adopt is somewhere: name its folder or its URL")
    place = locations.canonical(location)
    back = f"/console/lakes/{found.name}"
    sentence = (
        f"The catalog then decides every commit of the table at {place}, by the name {name}. Its files stay "
        "where they are; whoever commits by creating files is refused from then on."
    )
    do = partial(adoption.adopt, _services(found), locate(place), place, name)
    return confirm_or_do(visit, found, form, Deed("Adopt a table", sentence, "Adopt it", back, do))


@get(f"{TABLE}/release", sync_to_thread=True)
def show_release(visit: NamedDependency[Visit], lake: FromPath[str], table: FromPath[str]) -> Response[str]:
    """How a table leaves the catalog."""
    found = visit.lake(lake)
    opened = found.table(table)
    line = table_lines.table_line(opened.loaded)
    return page(visit, "release.html", found, table=line, tab="release", entry=opened.entry)


@post(f"{TABLE}/release", status_code=200, sync_to_thread=True)
def release_table(
    visit: NamedDependency[Visit], lake: FromPath[str], table: FromPath[str], form: NamedDependency[Form]
) -> Response[Any]:
    """Give a table back, once that is confirmed."""
    found = visit.lake(lake)
    opened = found.table(table)
    sentence = (
        f"{opened.name} is then an ordinary Delta table at {opened.entry.location}, and the name is free. "
        "Everything is published first; commits wait meanwhile."
    )
    back = f"/console/lakes/{found.name}"
    deed = Deed("Release the table", sentence, "Release it", back, partial(_release, found, opened))
    return confirm_or_do(visit, found, form, deed)


def _release(lake: VisitedLake, table: VisitedTable) -> None:
    lake.catalog.check_may_purge(table.entry.table_id)
    lake.catalog.credentials(table.entry.table_id, StorageOperation.READ_WRITE)
    opened = lake.served.tables_for(lake.principal).open(table.entry)[1]
    adoption.release(_services(lake), opened, table.entry.table_id, keep_timestamps=True)


def _services(lake: VisitedLake) -> TransferServices:
    catalog = lake.catalog
    return TransferServices(catalog.adoptions, catalog.releases, catalog.principal, lake.served.world)
