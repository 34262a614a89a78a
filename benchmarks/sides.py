"""The two sides: each makes an empty table, and opens writers that commit prepared data files to it."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Protocol

from deltalake import DeltaTable, Schema
from deltalake.exceptions import DeltaError
from deltalake.transaction import AddAction

from headgate.catalog.catalog import Catalog
from headgate.catalog.embedded import open_catalog
from headgate.errors import ConflictError
from headgate.protocol.actions import AddFile
from headgate.protocol.schema import json as schema_json
from headgate.settings import Settings
from headgate.table.opened_table import OpenedTable
from tests.support import tables

SCHEMA = Schema.from_json(schema_json.render(tables.SCHEMA))


class Writer(Protocol):
    """One handle on the table, up to date after each of its own commits."""

    def commit(self, add: AddFile) -> bool:
        """Append one file that is there already; whether it landed."""
        ...

    def settle(self) -> None:
        """Finish what goes on in the background."""
        ...

    def close(self) -> None:
        """Finish everything: nothing is committed after this."""
        ...


class Side(Protocol):
    """A way to commit."""

    name: str

    def create(self, folder: Path) -> str:
        """Make an empty table in the folder; where its data files go."""
        ...

    def open(self, folder: Path) -> Writer:
        """A writer with a handle of its own."""
        ...


class Headgate:
    """A catalog-managed table, with the default settings: background publishing included."""

    name = "headgate"

    def create(self, folder: Path) -> str:
        catalog = open_catalog(folder)
        staging = tables.create_managed(catalog)
        catalog.close()
        return staging.location

    def open(self, folder: Path) -> Writer:
        catalog = _catalog(folder)
        entry = catalog.resolve(tables.NAME)
        table = tables.open_managed(catalog, entry.table_id, entry.location, settings=Settings())
        table.snapshot()
        return _HeadgateWriter(table)


@cache
def _catalog(folder: Path) -> Catalog:
    """One for all threads of a process, as a lake has."""
    return open_catalog(folder)


class _HeadgateWriter:
    def __init__(self, table: OpenedTable) -> None:
        self._table = table

    def commit(self, add: AddFile) -> bool:
        try:
            self._table.commit(tables.append_change(add), base=self._table.newest_known())
        except ConflictError:
            return False
        return True

    def settle(self) -> None:
        self._table.publish()

    def close(self) -> None:
        self._table.close()


class Deltalake:
    """An ordinary Delta table, with the defaults of deltalake."""

    name = "deltalake"

    def create(self, folder: Path) -> str:
        DeltaTable.create(str(folder), schema=SCHEMA)
        return str(folder)

    def open(self, folder: Path) -> Writer:
        return _DeltalakeWriter(DeltaTable(str(folder)))


class _DeltalakeWriter:
    def __init__(self, table: DeltaTable) -> None:
        self._table = table

    def commit(self, add: AddFile) -> bool:
        action = AddAction(
            path=add.path,
            size=add.size,
            partition_values={},
            modification_time=add.modification_time,
            data_change=True,
            stats=add.stats or "",
        )
        try:
            self._table.create_write_transaction([action], mode="append", schema=SCHEMA, partition_by=[])
        except DeltaError:
            return False
        # The handle does not see its own commit; left behind, each commit would check all since.
        self._table.update_incremental()
        return True

    def settle(self) -> None:
        pass

    def close(self) -> None:
        pass


def data_files(location: str, writer: str, count: int) -> Sequence[AddFile]:
    """Real parquet files of one row each, ready to be committed."""
    return [
        tables.parquet_file(location, f"{writer}-{number}.parquet", [number], writer)
        for number in range(count)
    ]
