"""The entry: a lake of tables behind one catalog, or one table by its path."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from headgate.catalog.api import TableEntry, TableName
from headgate.catalog.embedded import open_catalog
from headgate.catalog.service import Catalog
from headgate.clock import SystemWorld, World
from headgate.errors import InvalidRequest
from headgate.handle import Table
from headgate.settings import Publish, Settings
from headgate.spark import schema
from headgate.storage.locate import is_local, local_path, locate
from headgate.table import create
from headgate.table.after_commit import AfterCommit
from headgate.table.create import Definition
from headgate.table.filesystem import FilesystemCommitter
from headgate.table.managed import ManagedCommitter
from headgate.table.opened import OpenedTable

Columns = DataFrame | StructType | str
"""The columns of a new table: a DataFrame's, a Spark schema, or DDL such as ``id BIGINT, name STRING``."""


class Lake:
    """Tables by name, owned by a catalog that ratifies their commits; safe to share between threads."""

    def __init__(self, catalog: Catalog, *, settings: Settings, world: World) -> None:
        self._catalog = catalog
        self._settings = settings
        self._world = world
        self._after_commit = AfterCommit(settings)

    def create_schema(self, name: str) -> None:
        """Make a schema to put tables in; nothing happens if it exists."""
        self._catalog.create_schema(name)

    def create_table(
        self,
        name: str,
        columns: Columns,
        *,
        comment: str | None = None,
        properties: Mapping[str, str] | None = None,
    ) -> Table:
        """Make an empty catalog-managed table.

        Three steps: the catalog reserves a place, version 0 is written there, and the catalog
        gives it its name. Until the last one nobody can see it.
        """
        table_name = parse_name(name)
        definition = Definition(schema.definition(columns), comment, properties or {})
        staging = self._catalog.stage(table_name)
        create.write_version_0(locate(staging.location), definition, managed=True, world=self._world)
        return self._open(self._catalog.register(staging, table_name))

    def table(self, name: str) -> Table:
        """The table of that name, ``schema.table``."""
        return self._open(self._catalog.resolve(parse_name(name)))

    def tables(self, schema_name: str | None = None) -> tuple[TableEntry, ...]:
        """What tables there are, in the lake or in one schema."""
        return self._catalog.tables(schema_name)

    def drop_table(self, name: str) -> None:
        """Take the table's name away; its log and its data stay on disk."""
        self._catalog.drop(parse_name(name))

    def close(self) -> None:
        """Publish what still waits and let go of the catalog."""
        self._after_commit.close()
        self._catalog.close()

    def __enter__(self) -> "Lake":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self, entry: TableEntry) -> Table:
        store = locate(entry.location)
        committer = ManagedCommitter(
            store,
            self._catalog,
            entry.table_id,
            world=self._world,
            inline_limit_bytes=self._settings.inline_limit_bytes,
        )
        opened = OpenedTable(
            entry.location,
            store,
            committer,
            after_commit=self._after_commit,
            settings=self._settings,
            world=self._world,
        )
        return Table(str(entry.name), opened)


def connect(target: str | Path, *, settings: Settings | None = None) -> Lake:
    """Open the lake in a folder, made if it does not exist: one SQLite file and a warehouse."""
    if not is_local(str(target)):
        raise InvalidRequest(
            f"{target!s} is not a folder; this version of Headgate opens lakes in folders only"
        )
    catalog = open_catalog(local_path(str(target)))
    return Lake(catalog, settings=settings or Settings(), world=SystemWorld())


def at_path(
    location: str | Path, *, columns: Columns | None = None, settings: Settings | None = None
) -> Table:
    """Open an ordinary Delta table by its path, without a catalog.

    With ``columns`` the table is made if there is none. A table that a catalog manages is
    refused here: only its catalog knows which versions it has.
    """
    place = str(location)
    place = local_path(place) if is_local(place) else place
    store = locate(place)
    settings, world = settings or Settings(), SystemWorld()
    committer = FilesystemCommitter(store)
    # What is committed by path is published by the same act, so nothing follows a commit.
    after_commit = AfterCommit(replace(settings, publish=Publish.ON_DEMAND))
    opened = OpenedTable(place, store, committer, after_commit=after_commit, settings=settings, world=world)
    if columns is not None and not opened.exists():
        create.write_version_0(store, Definition(schema.definition(columns)), managed=False, world=world)
    opened.snapshot()
    return Table(f"delta.`{place}`", opened)


def parse_name(name: str) -> TableName:
    """``schema.table`` as its two parts."""
    parts = name.split(".")
    if len(parts) != 2 or not all(parts):
        raise InvalidRequest(f"{name!r} is not a table's name: write it as schema.table")
    return TableName(parts[0], parts[1])
