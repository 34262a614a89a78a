"""The entry: a lake of tables behind one catalog, or one table by its path."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from urllib.parse import urlsplit

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from headgate import domains, owners
from headgate.catalog.api import TableEntry, TableName
from headgate.catalog.embedded import open_catalog, open_shared_catalog
from headgate.catalog.postgresql import is_postgresql
from headgate.catalog.service import Catalog
from headgate.clock import SystemWorld, World
from headgate.errors import InvalidRequest, UnsupportedFeature
from headgate.handle import Table
from headgate.settings import Settings
from headgate.spark import schema
from headgate.storage.locate import is_local, local_path, locate
from headgate.table import create, ownership
from headgate.table.after_commit import AfterCommit
from headgate.table.create import Definition
from headgate.table.managed import ManagedCommitter
from headgate.table.opened import OpenedTable
from headgate.table.routed import RoutedCommitter

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

        ``properties`` may be Delta's (``delta.appendOnly``, …), which bring the features they need.
        Three steps: the catalog reserves a place, version 0 is written there, and the catalog
        gives it its name. Until the last one nobody can see it.
        """
        table_name = parse_name(name)
        definition = Definition(schema.definition(columns), comment, properties or {})
        content = create.version_0(definition, managed=True, world=self._world)
        staging = self._catalog.stage(table_name)
        create.place(locate(staging.location), content, managed=True)
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
            handlers=domains.registered,
        )
        return Table(str(entry.name), opened)


def connect(
    target: str | Path, *, warehouse: str | Path | None = None, settings: Settings | None = None
) -> Lake:
    """Open a lake, made if it does not exist: in a folder, or in a PostgreSQL database for many machines.

    A folder has one SQLite file and a warehouse. The tables of a database, ``postgresql://…``, are in
    the ``warehouse``, a folder or bucket URL that the first to connect must name.
    """
    settings = settings or Settings()
    place = str(target)
    if is_postgresql(place):
        named = None if warehouse is None else str(warehouse)
        catalog = open_shared_catalog(place, warehouse=named, settings=settings.database)
    elif not is_local(place):
        raise InvalidRequest(
            f"a lake is a folder or a PostgreSQL database, postgresql://…, not {urlsplit(place).scheme}://…"
        )
    elif warehouse is not None:
        raise InvalidRequest("a lake in a folder has its warehouse there too: leave warehouse out")
    else:
        catalog = open_catalog(local_path(place))
    return Lake(catalog, settings=settings, world=SystemWorld())


def at_path(
    location: str | Path,
    *,
    columns: Columns | None = None,
    properties: Mapping[str, str] | None = None,
    owner: tuple[str, Mapping[str, str]] | None = None,
    settings: Settings | None = None,
) -> Table:
    """Open an ordinary Delta table by its path, without a catalog.

    With ``columns`` the table is made if there is none, with these ``properties``; with ``owner``, the
    name and conf of a commit owner, so that this one decides its commits from version 1 on. A table
    that a catalog manages is refused here: only its catalog knows which versions it has.
    """
    if owner is not None and columns is None:
        raise InvalidRequest(
            "owner says who decides about a table that is made here, so give its columns too; an existing "
            "table is given to an owner by table.coordinate(…)"
        )
    place = str(location)
    place = local_path(place) if is_local(place) else place
    store = locate(place)
    settings, world = settings or Settings(), SystemWorld()
    committer = RoutedCommitter(place, store, owners.find, world=world, strict=settings.require_owner)
    after_commit = AfterCommit(settings)
    opened = OpenedTable(
        place,
        store,
        committer,
        after_commit=after_commit,
        settings=settings,
        world=world,
        handlers=domains.registered,
    )
    if columns is not None and not opened.exists():
        definition = Definition(schema.definition(columns), properties=properties or {})
        if owner is None:
            create.write_version_0(store, definition, managed=False, world=world)
        else:
            ownership.create_coordinated(opened, definition, owners.find, *owner)
    with suppress(UnsupportedFeature):  # an older version may be readable, and reading tells by name
        opened.snapshot()
    return Table(f"delta.`{place}`", opened)


def parse_name(name: str) -> TableName:
    """``schema.table`` as its two parts."""
    parts = name.split(".")
    if len(parts) != 2 or not all(parts):
        raise InvalidRequest(f"{name!r} is not a table's name: write it as schema.table")
    return TableName(parts[0], parts[1])
