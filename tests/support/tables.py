"""Real tables without Spark: created, opened and appended to through the table layer."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from headgate.catalog.ports.catalog import LakeCatalog
from headgate.catalog.ports.commits import CommitCatalog, TableId
from headgate.catalog.ports.directory import StagingTable, TableName
from headgate.clock import SystemWorld, World
from headgate.protocol.actions import AddFile, EpochMillis
from headgate.protocol.domains.rules import Handlers
from headgate.protocol.schema.types import Field, Primitive, Struct
from headgate.settings import Publish, Settings
from headgate.storage.locate import locate
from headgate.storage.store import Store
from headgate.table.alter import create
from headgate.table.alter.create import TableDefinition
from headgate.table.commit.background import PostCommitScheduler
from headgate.table.commit.catalog_managed import ManagedCommitter
from headgate.table.commit.filesystem import FilesystemCommitter
from headgate.table.opened_table import OpenedTable
from headgate.table.transaction import Change, Operation

SCHEMA = Struct((Field("id", Primitive("long")), Field("writer", Primitive("string"))))
ON_DEMAND = Settings(publish=Publish.ON_DEMAND)
NAME = TableName("test", "t")


def create_managed(
    catalog: LakeCatalog, name: TableName = NAME, *, world: World | None = None
) -> StagingTable:
    """A new empty catalog-managed table of SCHEMA: its id and location."""
    catalog.create_schema(name.schema)
    staging = catalog.stage(name)
    create.write_version_0(
        locate(staging.location), TableDefinition(SCHEMA), managed=True, world=world or SystemWorld()
    )
    catalog.register(staging, name)
    return staging


def open_managed(
    catalog: CommitCatalog,
    table_id: TableId,
    location: str,
    *,
    store: Store | None = None,
    settings: Settings = ON_DEMAND,
    world: World | None = None,
    handlers: Callable[[], Handlers] = dict,
) -> OpenedTable:
    """A catalog-managed table, opened; with a store of the caller's choice."""
    world, store = world or SystemWorld(), store or locate(location)
    committer = ManagedCommitter(
        store, catalog, table_id, world=world, inline_limit_bytes=settings.inline_limit_bytes
    )
    return OpenedTable(
        location,
        store,
        committer,
        after_commit=PostCommitScheduler(settings),
        settings=settings,
        world=world,
        handlers=handlers,
    )


def create_filesystem(store: Store, *, world: World | None = None) -> None:
    """A new empty ordinary Delta table of SCHEMA."""
    create.write_version_0(store, TableDefinition(SCHEMA), managed=False, world=world or SystemWorld())


def open_filesystem(
    location: str,
    *,
    store: Store | None = None,
    settings: Settings = ON_DEMAND,
    world: World | None = None,
    handlers: Callable[[], Handlers] = dict,
) -> OpenedTable:
    """An ordinary Delta table, opened."""
    store = store or locate(location)
    return OpenedTable(
        location,
        store,
        FilesystemCommitter(store),
        after_commit=PostCommitScheduler(settings),
        settings=settings,
        world=world or SystemWorld(),
        handlers=handlers,
    )


def append_change(*adds: AddFile) -> Change:
    """A blind append of these files."""
    return Change(Operation("WRITE", {"mode": "Append", "partitionBy": "[]"}), adds)


def named_file(path: str) -> AddFile:
    """An add of one row; there is no such file, so only the log can be read."""
    return AddFile(
        path=path,
        partition_values={},
        size=1,
        modification_time=EpochMillis(1),
        data_change=True,
        stats='{"numRecords":1}',
    )


def parquet_file(location: str, name: str, ids: list[int], writer: str = "test") -> AddFile:
    """A real data file with these rows, ready to be committed."""
    path = Path(location) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    columns = {"id": pa.array(ids, pa.int64()), "writer": pa.array([writer] * len(ids), pa.string())}
    pq.write_table(pa.table(columns), path)
    return AddFile(
        path=name,
        partition_values={},
        size=path.stat().st_size,
        modification_time=EpochMillis(int(path.stat().st_mtime * 1000)),
        data_change=True,
        stats=f'{{"numRecords":{len(ids)}}}',
    )
