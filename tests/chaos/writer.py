"""A writer that is killed at a chosen point.

By hand: ``python -m tests.chaos.writer staged ratified lake`` kills one in the folder ``lake``,
which is prepared if it does not exist.
"""

import sys
import uuid
from dataclasses import dataclass
from pathlib import Path

from headgate.catalog.embedded import open_catalog
from headgate.clock import SystemWorld
from headgate.protocol.actions import AddFile, AppTransaction, TxnId
from headgate.settings import Publish, Settings
from headgate.storage.locate import locate
from headgate.table.alter import create
from headgate.table.alter.create import TableDefinition
from headgate.table.opened_table import OpenedTable
from headgate.table.transaction import Change
from tests.support import tables
from tests.support.crashing import Crash, CrashingCatalog, CrashingStore, Route

ROWS_BEFORE = 2
NEW = tables.TableName("test", "new")


@dataclass(frozen=True, slots=True)
class Assignment:
    """What the writer shall do, and where it shall die."""

    route: Route
    point: str
    folder: str
    txn_id: TxnId

    @property
    def data_file(self) -> str:
        return f"killed-{self.txn_id}.parquet"


def prepare(route: Route, folder: str) -> None:
    """The table before the writer comes: two appends, not yet published where that is a step of its own."""
    if route is Route.FILESYSTEM:
        tables.create_filesystem(locate(folder))
    else:
        catalog = open_catalog(folder)
        tables.create_managed(catalog)
        catalog.close()
    table = survivor(route, folder)
    for row in range(ROWS_BEFORE):
        append(table, f"before-{row}.parquet", TxnId(str(uuid.uuid4())))


def survivor(route: Route, folder: str) -> OpenedTable:
    """The table through a connection of its own."""
    if route is Route.FILESYSTEM:
        return tables.open_filesystem(folder)
    catalog = open_catalog(folder)
    entry = catalog.resolve(tables.NAME)
    return tables.open_managed(catalog, entry.table_id, entry.location)


def append(table: OpenedTable, file: str, txn_id: TxnId) -> int:
    """Write a data file and append it; the version it became."""
    add = tables.parquet_file(table.location, file, [1])
    return table.commit(_with_id(tables.append_change(add), txn_id), base=table.newest_known())


def run(assignment: Assignment) -> None:
    """Do the work; returns only if the point was not reached."""
    crash = Crash(assignment.point)
    if assignment.route is Route.CREATE:
        _create(assignment, crash)
    else:
        _commit(assignment, crash)


def _commit(assignment: Assignment, crash: Crash) -> None:
    limit = 0 if assignment.route is Route.STAGED else Settings().inline_limit_bytes
    settings = Settings(publish=Publish.NOW, inline_limit_bytes=limit)
    if assignment.route is Route.FILESYSTEM:
        store = CrashingStore(locate(assignment.folder), crash)
        table = tables.open_filesystem(assignment.folder, store=store, settings=settings)
    else:
        inner = open_catalog(assignment.folder)
        entry = inner.resolve(tables.NAME)
        table = tables.open_managed(
            CrashingCatalog(inner, crash),
            entry.table_id,
            entry.location,
            store=CrashingStore(locate(entry.location), crash),
            settings=settings,
        )
    base = table.snapshot()
    add = tables.parquet_file(table.location, assignment.data_file, [1], writer="killed")
    crash.at("data-file-written")
    table.commit(change_of(assignment.route, add, assignment.txn_id), base=base)
    crash.at("committed")


def _create(assignment: Assignment, crash: Crash) -> None:
    catalog = CrashingCatalog(open_catalog(assignment.folder), crash)
    staging = catalog.stage(NEW)
    store = CrashingStore(locate(staging.location), crash)
    create.write_version_0(store, TableDefinition(tables.SCHEMA), managed=True, world=SystemWorld())
    catalog.register(staging, NEW)


def change_of(route: Route, add: AddFile, txn_id: TxnId) -> Change:
    """An append; one that shall not leave its version open says something besides, which nobody disputes."""
    change = tables.append_change(add)
    if route is not Route.OPEN:
        mark = AppTransaction(app_id=f"killed-{txn_id}", version=1)
        change = Change(change.operation, (*change.actions, mark))
    return _with_id(change, txn_id)


def _with_id(change: Change, txn_id: TxnId) -> Change:
    return Change(change.operation, change.actions, txn_id=txn_id)


def main(route: str, point: str, folder: str) -> None:
    """Prepare the folder if it is new, and run one writer in it."""
    if not Path(folder).exists():
        prepare(Route(route), folder)
    run(Assignment(Route(route), point, folder, TxnId(str(uuid.uuid4()))))
    print(f"{point} was not reached")


if __name__ == "__main__":
    main(*sys.argv[1:])
