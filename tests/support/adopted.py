"""Ordinary tables to take into a catalog, and the means to do so without Spark."""

from pathlib import Path

from headgate.catalog.catalog import Catalog
from headgate.catalog.handover.context import CLAIM_TTL_MS
from headgate.catalog.ports.access import LAKE, OWNER, Principal, Privilege
from headgate.catalog.ports.directory import TableEntry, TableName
from headgate.catalog.store import grant_store
from headgate.clock import SystemWorld, World
from headgate.storage import locations
from headgate.storage.locate import locate
from headgate.storage.store import Store
from headgate.table.alter import adoption
from headgate.table.alter.adoption import TransferServices
from headgate.table.opened_table import OpenedTable
from tests.support import tables

NAME = TableName("test", "t")


def registry(catalog: Catalog, proposer: str = "ann", *, world: World | None = None) -> TransferServices:
    """The catalog, asked by somebody."""
    return TransferServices(catalog.adoptions, catalog.releases, proposer, world or SystemWorld())


def welcome(catalog: Catalog) -> None:
    """Let some strangers take tables in by this catalog, and give them back."""
    strangers = ("ann", "bob", "mallory", *(f"claimant-{number}" for number in range(4)))
    with catalog._database.writing() as db:
        for stranger in map(Principal, strangers):
            for privilege in (Privilege.CREATE, Privilege.DROP):
                grant_store.grant(db, (privilege, LAKE, stranger), by=OWNER, now_ms=1)


def ready(catalog: Catalog) -> Catalog:
    """The catalog, with the schema of the table to come, and open to these strangers."""
    catalog.create_schema(NAME.schema)
    welcome(catalog)
    return catalog


def ordinary(folder: Path | str, *, appends: int = 2) -> OpenedTable:
    """An ordinary Delta table with a real file of one row for each append."""
    tables.create_filesystem(locate(str(folder)))
    table = tables.open_filesystem(str(folder))
    for row in range(appends):
        append(table, f"before-{row}.parquet", row)
    return table


def append(table: OpenedTable, file: str, row: int = 7) -> int:
    """Append a file of one row; the version it became."""
    add = tables.parquet_file(table.location, file, [row])
    return table.commit(tables.append_change(add), base=table.newest_known())


def adopt(
    catalog: Catalog,
    folder: Path | str,
    name: TableName = NAME,
    *,
    proposer: str = "ann",
    store: Store | None = None,
) -> TableEntry:
    """Take the table in, by a schema that is made if need be."""
    catalog.create_schema(name.schema)
    place = locations.canonical(str(folder))
    return adoption.adopt(registry(catalog, proposer), store or locate(place), place, name)


def managed(catalog: Catalog, entry: TableEntry) -> OpenedTable:
    """The table, opened through its catalog."""
    return tables.open_managed(catalog, entry.table_id, entry.location)


def release(
    catalog: Catalog, entry: TableEntry, *, proposer: str = "ann", keep_timestamps: bool = True
) -> int:
    """Give the table back; the version from which on it is an ordinary one."""
    return adoption.release(
        registry(catalog, proposer), managed(catalog, entry), entry.table_id, keep_timestamps=keep_timestamps
    )


def files(table: OpenedTable) -> list[str]:
    """The paths of the live files."""
    return sorted(table.snapshot().files.columns["path"].to_pylist())


def later(catalog: Catalog, milliseconds: int = CLAIM_TTL_MS) -> Catalog:
    """The same catalog, seen by somebody whose clock shows a later time."""

    class Later(SystemWorld):
        def now_ms(self) -> int:
            return super().now_ms() + milliseconds

    return Catalog(
        catalog._database, warehouse=catalog.warehouse, locate=catalog._directory.locate, world=Later()
    )
