"""Lakes whose database is lost, or put back from a backup, on both databases, without Spark."""

import shutil
import sqlite3
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import headgate
from headgate import Lake, Settings
from headgate.catalog.ports.catalog import LakeCatalog
from headgate.catalog.ports.directory import TableEntry, TableName
from headgate.catalog.targets import DATABASE_FILE, WAREHOUSE_FOLDER
from headgate.clock import SystemWorld
from headgate.protocol.actions import Commit, Version
from headgate.protocol.log import codec
from headgate.protocol.log import file_names as protocol_names
from headgate.protocol.metadata import alter_properties
from headgate.settings import DatabaseSettings, Publish
from headgate.storage.locate import locate
from headgate.table.alter import create
from headgate.table.alter.create import TableDefinition
from headgate.table.maintenance.recovery import RecoveryReport
from headgate.table.opened_table import OpenedTable
from tests.support import postgresql, tables

QUIET = Settings(publish=Publish.ON_DEMAND, database=DatabaseSettings(connections=2))
KINDS = ("sqlite", "postgresql")


@dataclass(frozen=True, slots=True)
class LosableLake:
    """A lake, and the means to lose its database and to have it back."""

    folder: Path
    database: str | None = None
    """The name of its PostgreSQL database; None for a lake in a folder."""
    url: str | None = None

    @property
    def target(self) -> str:
        return self.url or str(self.folder)

    @property
    def warehouse(self) -> Path:
        return self.folder / WAREHOUSE_FOLDER

    def connect(self, settings: Settings = QUIET) -> Lake:
        named = None if self.database is None else self.warehouse
        return headgate.connect(self.target, warehouse=named, settings=settings)

    def recover(self, *, tables: Iterable[Path] = (), dry_run: bool = False) -> RecoveryReport:
        named = None if self.database is None else self.warehouse
        return headgate.recover(self.target, warehouse=named, tables=tables, dry_run=dry_run)

    def lose(self) -> None:
        """The database is gone; on PostgreSQL there is an empty one of the same name."""
        if self.database is None:
            for path in self.folder.glob(f"{DATABASE_FILE}*"):
                path.unlink()
        else:
            server = postgresql.server()
            server.execute(f"DROP DATABASE {self.database} WITH (FORCE)")
            server.execute(f"CREATE DATABASE {self.database}")

    def back_up(self, to: Path) -> None:
        """A copy of the database, made while it is in use; as the page on backups does it."""
        if self.database is None:
            with (
                closing(sqlite3.connect(self.folder / DATABASE_FILE)) as source,
                closing(sqlite3.connect(to)) as copy,
            ):
                source.backup(copy)
        else:
            _run("pg_dump", "--format=custom", f"--file={to}", self.target)

    def restore(self, copy: Path) -> None:
        """Put a backup in the place of whatever is there."""
        self.lose()
        if self.database is None:
            shutil.copy(copy, self.folder / DATABASE_FILE)
        else:
            _run("pg_restore", "--exit-on-error", f"--dbname={self.target}", str(copy))


@contextmanager
def a_lake(kind: str, folder: Path) -> Iterator[LosableLake]:
    """A lake that is not there yet, over ``sqlite`` or ``postgresql``."""
    if kind == "sqlite":
        yield LosableLake(folder)
        return
    server = postgresql.server()
    with server.database() as name:
        yield LosableLake(folder, name, server.url(name))


def create_table(catalog: LakeCatalog, name: str) -> TableEntry:
    """An empty table that says its id and its name, as every table does that a lake makes."""
    schema, _, table = name.partition(".")
    wanted = TableName(schema, table)
    catalog.create_schema(schema)
    staging = catalog.stage(wanted)
    required = alter_properties.catalog_identity(staging.table_id, name)
    definition = TableDefinition(tables.SCHEMA, required=required)
    create.write_version_0(locate(staging.location), definition, managed=True, world=SystemWorld())
    return catalog.register(staging, wanted)


def opened(lake: Lake, name: str, settings: Settings | None = None) -> OpenedTable:
    """A table of the lake, to be written to without Spark; with other settings than the lake's."""
    schema, _, table = name.partition(".")
    catalog = lake._catalog
    entry = catalog.resolve(TableName(schema, table))
    if settings is None:
        return lake._context.open_table(entry)
    return tables.open_managed(catalog, entry.table_id, entry.location, settings=settings)


def append(table: OpenedTable, *names: str) -> int:
    """Append files of one row, a commit each; the last version."""
    version = 0
    for name in names:
        add = tables.parquet_file(table.location, f"{name}.parquet", [1])
        version = table.commit(tables.append_change(add), base=table.newest_known())
    return version


def files(table: OpenedTable) -> list[str]:
    """The live files, without their endings."""
    paths = table.snapshot().files.columns["path"].to_pylist()
    return sorted(path.removesuffix(".parquet") for path in paths)


def _run(program: str, *arguments: str) -> None:
    subprocess.run([postgresql._programs() / program, *arguments], check=True, capture_output=True)


def published_commit(table: OpenedTable, version: Version) -> Commit:
    """What a published version says."""
    return codec.decode(version, table.store.read(protocol_names.published_path(version)))
