"""The pages by which a table comes into the catalog, and leaves it: each step in order, and what it means."""

from functools import partial

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response import Redirect

from headgate.catalog.figures import table_lines
from headgate.catalog.ports.access import OWNER, Privilege
from headgate.catalog.ports.directory import parse_name
from headgate.errors import InvalidRequest, NotAllowed
from headgate.redaction import redact
from headgate.server.console.completed_actions import CompletedAction
from headgate.server.console.open_tables import VisitedTable
from headgate.server.console.rendering import page
from headgate.server.console.routes.confirmation import (
    QUESTION,
    ConfirmableAction,
    ask_or_do,
    confirmation_page,
)
from headgate.server.console.routes.table_pages import TABLE
from headgate.server.console.visit import AskedForm, Form, Visit, VisitedLake
from headgate.storage import locations
from headgate.storage.credentials import StorageOperation
from headgate.storage.locate import locate
from headgate.table.alter import adoption
from headgate.table.alter.adoption import TransferServices

ADOPT = "/console/lakes/{lake:str}/adopt"


@get(ADOPT, sync_to_thread=True)
def show_adoption(visit: NamedDependency[Visit], lake: FromPath[str]) -> Response[str]:
    """How a table comes into the catalog, and which are on their way."""
    found = visit.lake(lake)
    transfers = found.catalog.adoptions.under_way()
    return page(visit, "adopt.html", found, transfers=transfers)


@post(ADOPT, status_code=303, sync_to_thread=True)
def adopt_table(visit: NamedDependency[Visit], lake: FromPath[str], form: NamedDependency[Form]) -> Redirect:
    """Take a table into the catalog, once that is confirmed; for the owner alone."""
    return ask_or_do(visit, form, _adoption_action(visit.lake(lake), form))


@get(f"{ADOPT}{QUESTION}", sync_to_thread=True)
def confirm_adoption(
    visit: NamedDependency[Visit], lake: FromPath[str], asked: NamedDependency[AskedForm]
) -> Response[str]:
    """The question whether a table is to be adopted."""
    found = visit.lake(lake)
    return confirmation_page(visit, found, _adoption_action(found, asked), asked)


def _adoption_action(lake: VisitedLake, form: Form) -> ConfirmableAction:
    if lake.principal != OWNER:
        raise NotAllowed(
            "tables are adopted from here by the lake's owner alone: use lake.adopt", operation="adopt"
        )
    name, location = parse_name(form.get("name", "").strip()), form.get("location", "").strip()
    if not location:
        raise InvalidRequest("a table to adopt is somewhere: name its folder or its URL")
    if redact(location) != location:
        raise InvalidRequest("a place has no secrets in it: give the server credentials of its own for it")
    place = locations.canonical(location)
    sentence = (
        f"The catalog then decides every commit of the table at {place}, by the name {name}. Its files stay "
        "where they are; whoever commits by creating files is refused from then on."
    )

    def adopt() -> CompletedAction:
        adoption.adopt(_services(lake), locate(place), place, name)
        return CompletedAction.ADOPTED

    back, onward = f"{lake.address}/adopt", lake.table_address(str(name))
    return ConfirmableAction("Adopt a table", sentence, "Adopt it", back, adopt, onward)


@get(f"{TABLE}/release", sync_to_thread=True)
def show_release(visit: NamedDependency[Visit], lake: FromPath[str], table: FromPath[str]) -> Response[str]:
    """How a table leaves the catalog."""
    found = visit.lake(lake)
    opened = found.table(table)
    line = table_lines.table_line(opened.loaded)
    may_release = found.may(Privilege.DROP, opened.entry.table_id)
    return page(
        visit, "release.html", found, table=line, tab="release", entry=opened.entry, may_release=may_release
    )


@post(f"{TABLE}/release", status_code=303, sync_to_thread=True)
def release_table(
    visit: NamedDependency[Visit], lake: FromPath[str], table: FromPath[str], form: NamedDependency[Form]
) -> Redirect:
    """Give a table back, once that is confirmed."""
    found = visit.lake(lake)
    return ask_or_do(visit, form, _release_action(found, found.table(table)))


@get(f"{TABLE}/release{QUESTION}", sync_to_thread=True)
def confirm_release(
    visit: NamedDependency[Visit],
    lake: FromPath[str],
    table: FromPath[str],
    asked: NamedDependency[AskedForm],
) -> Response[str]:
    """The question whether a table is to be given back."""
    found = visit.lake(lake)
    return confirmation_page(visit, found, _release_action(found, found.table(table)), asked)


def _release_action(lake: VisitedLake, table: VisitedTable) -> ConfirmableAction:
    sentence = (
        f"{table.name} is then an ordinary Delta table at {table.entry.location}, and the name is free. "
        "Everything is published first; commits wait meanwhile."
    )
    back, do = f"{lake.table_address(table.name)}/release", partial(_release, lake, table)
    return ConfirmableAction("Release the table", sentence, "Release it", back, do, f"{lake.address}/tables")


def _release(lake: VisitedLake, table: VisitedTable) -> CompletedAction:
    lake.catalog.check_may_purge(table.entry.table_id)
    lake.catalog.credentials(table.entry.table_id, StorageOperation.READ_WRITE)
    opened = lake.served.tables_for(lake.principal).open(table.entry)[1]
    adoption.release(_services(lake), opened, table.entry.table_id, keep_timestamps=True)
    return CompletedAction.RELEASED


def _services(lake: VisitedLake) -> TransferServices:
    catalog = lake.catalog
    return TransferServices(catalog.adoptions, catalog.releases, catalog.principal, lake.served.world)
