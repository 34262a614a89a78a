"""The pages of a table: what it is, some of its rows, its files, and its versions."""

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath

from headgate.arrow.read import scan
from headgate.arrow.read.scan import RowRequest
from headgate.catalog.figures import table_lines
from headgate.catalog.ports.commits import TableState
from headgate.protocol.actions import Version
from headgate.server.console import commit_reader
from headgate.server.console.address_numbers import AskedVersion, Before, PageNumber
from headgate.server.console.open_tables import VisitedTable
from headgate.server.console.rendering import page
from headgate.server.console.views import rows_view, schema_view, versions_view
from headgate.server.console.views.schema_view import DefinitionView
from headgate.server.console.visit import Visit
from headgate.storage.credentials import StorageOperation

VERSIONS_ON_A_PAGE = 25
_READ_UNASKED = 200_000
"""Of a table with more files the list is read only if somebody asks for it."""

TABLE = "/console/lakes/{lake:str}/tables/{table:str}"


@get(TABLE, sync_to_thread=True)
def show_table(visit: NamedDependency[Visit], lake: FromPath[str], table: FromPath[str]) -> Response[str]:
    """What a table is: columns, properties, features, domains."""
    found = visit.lake(lake)
    opened = found.table(table)
    line = table_lines.table_line(opened.loaded)
    return page(
        visit, "table.html", found, table=line, tab="definition", entry=opened.entry,
        definition=_definition(opened),
    )  # fmt: skip


@get(f"{TABLE}/rows", sync_to_thread=True)
def show_rows(visit: NamedDependency[Visit], lake: FromPath[str], table: FromPath[str]) -> Response[str]:
    """Some rows of a table, read without Spark; alone, for whoever has the page already."""
    found = visit.lake(lake)
    opened = found.table(table)
    line = table_lines.table_line(opened.loaded)
    if not visit.is_fragment:
        return page(visit, "rows.html", found, table=line, tab="rows", columns=_definition(opened).columns)
    found.catalog.credentials(opened.entry.table_id, StorageOperation.READ)  # as for its files
    snapshot = opened.opened.snapshot()
    rows = scan.to_arrow(opened.opened, snapshot, RowRequest(limit=rows_view.MOST_ROWS))
    view = rows_view.rows_view(snapshot.version, rows)
    return page(visit, "parts/rows.html", found, rows=view)


@get(f"{TABLE}/files", sync_to_thread=True)
def show_files(
    visit: NamedDependency[Visit],
    lake: FromPath[str],
    table: FromPath[str],
    number: PageNumber = 1,
    version: AskedVersion = None,
) -> Response[str]:
    """How the files of a table are; the plots and a page of the list alone, for whoever has the page already.

    Whoever came too early for the figures of a version asks for that ``version`` once more.
    """
    found = visit.lake(lake)
    opened = found.table(table)
    figures = visit.parts.file_figures
    if not visit.is_fragment:
        line = table_lines.table_line(opened.loaded)
        at_once = line.size is None or line.size.files <= _READ_UNASKED
        at_once = at_once or figures.is_ready(opened.entry.table_id, opened.loaded.tail.latest)
        return page(
            visit, "files.html", found, table=line, tab="files", reads_at_once=at_once, number=number
        )  # fmt: skip
    found.catalog.credentials(opened.entry.table_id, StorageOperation.READ)
    told = figures.figures(opened.entry.table_id, opened.opened.snapshot(), version)
    values = {"version": told.version, "table_name": opened.name, "number": number}
    if told.files is None:
        return page(visit, "parts/files_coming.html", found, **values)
    return page(
        visit, "parts/files.html", found, files=told.files, largest=told.files.listed.page(number), **values
    )  # fmt: skip


@get(f"{TABLE}/versions", sync_to_thread=True)
def show_versions(
    visit: NamedDependency[Visit],
    lake: FromPath[str],
    table: FromPath[str],
    before: Before = None,
) -> Response[str]:
    """The versions of a table, the latest first."""
    found = visit.lake(lake)
    opened = found.table(table)
    limit = None if before is None else Version(before)
    records = found.catalog.commits(opened.entry.table_id, before=limit, limit=VERSIONS_ON_A_PAGE + 1)
    infos = commit_reader.read_infos(opened, records[:VERSIONS_ON_A_PAGE])
    versions = versions_view.versions_page(records, infos, opened.loaded.tail, VERSIONS_ON_A_PAGE)
    line = table_lines.table_line(opened.loaded)
    return page(visit, "versions.html", found, table=line, tab="versions", versions=versions)


def _definition(table: VisitedTable) -> DefinitionView:
    """What a table says of itself, by the catalog's word if it tells all of it."""
    told = table.loaded.tail.description
    if told is None or told.domains is None:
        state = table.opened.snapshot().state
        told = TableState(state.protocol, state.metadata, state.domains)
    return schema_view.definition_view(told.protocol, told.metadata, told.domains or {})
