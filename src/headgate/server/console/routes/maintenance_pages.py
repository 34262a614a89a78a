"""The pages of upkeep: what is due for a table and allowed, its leases, whether it is whole; and doing it."""

from functools import partial
from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response import Redirect

from headgate.catalog.figures import table_lines
from headgate.catalog.ports import maintenance
from headgate.catalog.ports.access import Privilege
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import TableEntry
from headgate.catalog.ports.maintenance import Maintenance, MaintenancePermissions
from headgate.errors import InvalidRequest
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
from headgate.server.console.views import maintenance_view
from headgate.server.console.visit import AskedForm, Form, Visit, VisitedLake
from headgate.storage.credentials import StorageOperation
from headgate.table.catalog_table import CatalogTables
from headgate.table.maintenance.maintenance_tasks import WorkerPolicy
from headgate.table.maintenance.worker import TaskOutcome, Worker
from headgate.table.opened_table import OpenedTable


@get("/console/lakes/{lake:str}/maintenance", sync_to_thread=True)
def show_lake_maintenance(visit: NamedDependency[Visit], lake: FromPath[str]) -> Response[str]:
    """The leases of a lake, and tables that are on their way in or out."""
    found = visit.lake(lake)
    leases = found.catalog.leases.live()
    subjects = found.visible_names(TableId(held.subject.rpartition("/")[2]) for held in leases)
    names = {str(table_id): name for table_id, name in subjects.items()}
    lines = maintenance_view.lease_lines(leases, names, found.catalog.leases.now_ms())
    return page(
        visit, "lake_maintenance.html", found, leases=lines, transfers=found.catalog.adoptions.under_way()
    )


@get(f"{TABLE}/maintenance", sync_to_thread=True)
def show_maintenance(
    visit: NamedDependency[Visit], lake: FromPath[str], table: FromPath[str]
) -> Response[str]:
    """What is allowed for a table, who needs it, and, asked for by itself, what is due."""
    found = visit.lake(lake)
    opened = found.table(table)
    if visit.is_fragment:
        due = _worker(found, opened).run_once(tables=[opened.name], dry_run=True)
        return page(visit, "parts/tasks.html", found, tasks=maintenance_view.task_lines(due))
    table_id, leases = opened.entry.table_id, found.catalog.leases
    names = {str(table_id): opened.name}
    values: dict[str, Any] = {
        "permissions": maintenance_view.permission_lines(found.catalog.permissions.permitted_kinds(table_id)),
        "leases": maintenance_view.lease_lines(leases.live(str(table_id)), names, leases.now_ms()),
        "may_tend": found.may(Privilege.MAINTAIN, table_id),
        "may_permit": found.may(Privilege.MANAGE_GRANTS, table_id),
    }
    line = table_lines.table_line(opened.loaded)
    return page(visit, "maintenance.html", found, table=line, tab="maintenance", **values)


@post(f"{TABLE}/maintenance", status_code=303, sync_to_thread=True)
def change_maintenance(
    visit: NamedDependency[Visit], lake: FromPath[str], table: FromPath[str], form: NamedDependency[Form]
) -> Redirect:
    """Permit or forbid a kind of maintenance, or do what is due, once that is confirmed."""
    found = visit.lake(lake)
    return ask_or_do(visit, form, _maintenance_action(found, found.table(table), form))


@get(f"{TABLE}/maintenance{QUESTION}", sync_to_thread=True)
def confirm_maintenance(
    visit: NamedDependency[Visit],
    lake: FromPath[str],
    table: FromPath[str],
    asked: NamedDependency[AskedForm],
) -> Response[str]:
    """The question whether a kind is to be permitted or forbidden, or what is due to be done."""
    found = visit.lake(lake)
    action = _maintenance_action(found, found.table(table), asked)
    return confirmation_page(visit, found, action, asked)


def _maintenance_action(lake: VisitedLake, table: VisitedTable, form: Form) -> ConfirmableAction:
    back = f"{lake.table_address(table.name)}/maintenance"
    if form.get("operation") == "run":
        sentence = (
            f"What is due for {table.name} and needs no Spark is done now: publishing, checkpoints, "
            "checksums, and the clean-up that is permitted."
        )
        return ConfirmableAction("Do what is due", sentence, "Do it now", back, partial(_run, lake, table))
    kind, permissions = maintenance.parse_kind(form.get("kind", "")), lake.catalog.permissions
    if form.get("operation") == "permit":
        sentence = f"Workers then do {kind.value} of {table.name} whenever it is due."
        do = partial(_permit, permissions, table, kind)
        return ConfirmableAction(f"Permit {kind.value}", sentence, "Permit it", back, do)
    if form.get("operation") == "forbid":
        sentence = f"Only the owner of {table.name} can then ask for {kind.value}."
        do = partial(_forbid, permissions, table, kind)
        return ConfirmableAction(f"Forbid {kind.value}", sentence, "Forbid it", back, do)
    raise InvalidRequest("a form of maintenance says permit, forbid or run: send it from its page")


def _permit(permissions: MaintenancePermissions, table: VisitedTable, kind: Maintenance) -> CompletedAction:
    permissions.permit(table.entry.table_id, kind)
    return CompletedAction.PERMITTED


def _forbid(permissions: MaintenancePermissions, table: VisitedTable, kind: Maintenance) -> CompletedAction:
    permissions.forbid(table.entry.table_id, kind)
    return CompletedAction.FORBIDDEN


def _run(lake: VisitedLake, table: VisitedTable) -> CompletedAction:
    """Do what is due; the first failure is told as an error."""
    lake.catalog.credentials(table.entry.table_id, StorageOperation.READ_WRITE)
    done = _worker(lake, table).run_once(tables=[table.name])
    failed = next((each for each in done if each.outcome is TaskOutcome.FAILED), None)
    if failed is not None:
        raise InvalidRequest(f"{failed.task} of {failed.subject} failed: {failed.detail}")
    is_done = any(each.outcome is TaskOutcome.DONE for each in done)
    return CompletedAction.TENDED if is_done else CompletedAction.NOTHING_DUE


def _worker(lake: VisitedLake, table: VisitedTable) -> Worker:
    """Somebody who does what is due for a table on behalf of the caller, without Spark."""
    tables = lake.served.tables_for(lake.principal)
    world = lake.served.world
    holder = f"console {lake.principal}"
    return Worker(lake.catalog, partial(_opened_anew, tables, table), world, holder, WorkerPolicy())


def _opened_anew(tables: CatalogTables, table: VisitedTable, entry: TableEntry) -> OpenedTable:
    """The table with a guard of its own, and with what pages have read of it."""
    opened = tables.open(entry)[1]
    if table.opened.loaded_snapshot is not None:
        opened.seed_snapshot(table.opened.loaded_snapshot)
    return opened


@get(f"{TABLE}/check", sync_to_thread=True)
def show_check(visit: NamedDependency[Visit], lake: FromPath[str], table: FromPath[str]) -> Response[str]:
    """Whether a table is whole; looked at only when the part with the findings is asked for."""
    found = visit.lake(lake)
    opened = found.table(table)
    if not visit.is_fragment:
        line = table_lines.table_line(opened.loaded)
        return page(visit, "check.html", found, table=line, tab="check")
    found.catalog.credentials(opened.entry.table_id, StorageOperation.READ)
    books = found.catalog.books(opened.entry.table_id)
    report = opened.opened.check(opened.name, keeper=books, data=False)
    line = table_lines.table_line(opened.loaded)
    may_repair = found.may(Privilege.MAINTAIN, opened.entry.table_id)
    return page(visit, "parts/findings.html", found, report=report, table=line, may_repair=may_repair)


@post(f"{TABLE}/check", status_code=303, sync_to_thread=True)
def repair_table(
    visit: NamedDependency[Visit], lake: FromPath[str], table: FromPath[str], form: NamedDependency[Form]
) -> Redirect:
    """Write anew what can be derived from the rest, once that is confirmed."""
    found = visit.lake(lake)
    return ask_or_do(visit, form, _repair_action(found, found.table(table)))


@get(f"{TABLE}/check{QUESTION}", sync_to_thread=True)
def confirm_repair(
    visit: NamedDependency[Visit],
    lake: FromPath[str],
    table: FromPath[str],
    asked: NamedDependency[AskedForm],
) -> Response[str]:
    """The question whether a table is to be repaired."""
    found = visit.lake(lake)
    return confirmation_page(visit, found, _repair_action(found, found.table(table)), asked)


def _repair_action(lake: VisitedLake, table: VisitedTable) -> ConfirmableAction:
    sentence = (
        f"What is damaged in {table.name} and follows from the rest is written anew. Nothing is deleted."
    )
    back = f"{lake.table_address(table.name)}/check"
    return ConfirmableAction("Repair the table", sentence, "Repair it", back, partial(_repair, lake, table))


def _repair(lake: VisitedLake, table: VisitedTable) -> CompletedAction:
    lake.catalog.credentials(table.entry.table_id, StorageOperation.READ_WRITE)
    books = lake.catalog.books(table.entry.table_id)
    table.opened.check(table.name, keeper=books, data=False, repair=True)
    return CompletedAction.REPAIRED
