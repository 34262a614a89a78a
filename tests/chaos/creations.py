"""A kill round of one who makes a table: the table is there and whole, or it is not and can be made."""

from dataclasses import dataclass

from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.directory import TableName
from headgate.clock import SystemWorld
from headgate.errors import TableNotFound
from headgate.storage.locate import locate
from headgate.table.alter import create
from headgate.table.alter.create import TableDefinition
from tests.support import tables
from tests.support.crashing import Crash, CrashingCatalog, CrashingStore


@dataclass(frozen=True, slots=True)
class Creation:
    """The table that shall be made."""

    name: TableName

    def run(self, inner: Catalog, crash: Crash) -> None:
        """Make it, up to one's death."""
        catalog = CrashingCatalog(inner, crash)
        staging = catalog.stage(self.name)
        store = CrashingStore(locate(staging.location), crash)
        create.write_version_0(store, TableDefinition(tables.SCHEMA), managed=True, world=SystemWorld())
        catalog.register(staging, self.name)

    def judge(self, catalog: Catalog, *, lands: bool) -> None:
        """There if it must be; afterwards, in any case, a table like all others."""
        if not lands:
            assert self.name not in [entry.name for entry in catalog.tables()]
            try:
                catalog.resolve(self.name)
            except TableNotFound:
                tables.create_managed(catalog, self.name)
        entry = catalog.resolve(self.name)
        table = tables.open_managed(catalog, entry.table_id, entry.location)
        add = tables.parquet_file(entry.location, "after.parquet", [1])
        assert table.commit(tables.append_change(add), base=table.newest_known()) == 1
        assert table.publish() == 1
        report = table.check(str(self.name), keeper=catalog.books(entry.table_id))
        assert report.is_clean, report.findings
        catalog.drop(self.name)
