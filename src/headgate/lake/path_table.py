"""Ordinary Delta tables by their path, without a catalog: open, make, write, convert, clone, check them."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from typing_extensions import Unpack

from headgate.clock import SystemWorld
from headgate.deferred import deferred
from headgate.errors import InvalidRequest, TableExists, TableNotFound, UnsupportedFeature
from headgate.lake.table import Table
from headgate.plugins import domain_handlers
from headgate.settings import Settings
from headgate.spark.calls.user_calls import user_call
from headgate.spark.data_files import write_options
from headgate.spark.data_files.write_options import WriteKwargs
from headgate.spark.session.schema import SchemaLike
from headgate.spark.streaming.micro_batch import Destination
from headgate.spark.write.save import SaveMode, SaveRequest, create_with_rows, save
from headgate.storage import location_spelling, locations
from headgate.storage.locate import locate
from headgate.table.alter.create import TableDefinition
from headgate.table.commit.background import PostCommitScheduler
from headgate.table.location import NewTableLocation
from headgate.table.opened_table import OpenedTable

if TYPE_CHECKING:
    from headgate.plugins import coordinators
    from headgate.spark.calls import moments
    from headgate.spark.commands import convert as converting
    from headgate.spark.session import new_table
    from headgate.spark.write import replace_table as replacing
    from headgate.spark.write.replace_table import TableReplacement
    from headgate.table.alter import clone as cloned
    from headgate.table.alter import coordination
    from headgate.table.alter.clone import CloneOptions, CloneSource
    from headgate.table.alter.declared import check_declaration
    from headgate.table.commit.by_path import PathCommitter
    from headgate.table.integrity.check import IntegrityReport
    from headgate.table.read import table_not_found
else:
    coordinators = deferred("headgate.plugins", "coordinators")
    moments = deferred("headgate.spark.calls", "moments")
    converting = deferred("headgate.spark.commands", "convert")
    new_table = deferred("headgate.spark.session", "new_table")
    replacing = deferred("headgate.spark.write", "replace_table")
    TableReplacement = deferred("headgate.spark.write.replace_table", "TableReplacement")
    cloned = deferred("headgate.table.alter", "clone")
    coordination = deferred("headgate.table.alter", "coordination")
    CloneOptions, CloneSource = deferred("headgate.table.alter.clone", "CloneOptions", "CloneSource")
    check_declaration = deferred("headgate.table.alter.declared", "check_declaration")
    PathCommitter = deferred("headgate.table.commit.by_path", "PathCommitter")
    IntegrityReport = deferred("headgate.table.integrity.check", "IntegrityReport")
    table_not_found = deferred("headgate.table.read", "table_not_found")


def _destination_at_path(location: str, settings: Settings) -> Destination:
    opened = open_path(location, settings)
    again = partial(_destination_at_path, location, settings)
    return Destination(f"delta.`{location}`", lambda: opened, again=again)


def table_at_path(opened: OpenedTable) -> Table:
    """What a user holds of a table that was opened by its path."""
    name, location = f"delta.`{opened.location}`", opened.location
    again = partial(_destination_at_path, location, opened.settings)
    return Table(name, opened, Destination(name, lambda: opened, again=again))


@user_call
def at_path(  # noqa: PLR0913 — all but the first are for tables that are made here
    location: str | Path,
    *,
    columns: SchemaLike | None = None,
    properties: Mapping[str, str] | None = None,
    partition_by: Iterable[str] = (),
    cluster_by: Iterable[str] = (),
    domains: Mapping[str, str] | None = None,
    owner: tuple[str, Mapping[str, str]] | None = None,
    settings: Settings | None = None,
) -> Table:
    """Open an ordinary Delta table by its path, without a catalog.

    With ``columns`` the table is made if there is none, with these ``properties`` and metadata
    ``domains``, partitioned or clustered as said, and one that is there must have these columns, and may
    have more; with ``owner``, the name and conf of a coordinator, this one decides its commits from
    version 1 on. A table that a catalog manages is refused here: only its catalog knows its versions.

        events = headgate.at_path("events", columns="id BIGINT, name STRING")
    """
    if owner is not None and columns is None:
        raise InvalidRequest(
            "owner says who decides about a table that is made here, so give its columns too; an existing "
            "table is given to a coordinator by table.coordinate(…)"
        )
    if domains and columns is None:
        raise InvalidRequest(
            "domains are those of a table that is made here, so give its columns too; an existing table gets "
            "them by table.set_domain(…)"
        )
    opened = open_path(location, settings or Settings())
    if columns is not None:
        definition = new_table.define(
            columns,
            properties=properties,
            partition_by=partition_by,
            cluster_by=cluster_by,
            domains=domains,
        )
        if opened.exists():
            _check_existing(opened, definition, owner)
        elif owner is None:
            coordination.create_table(opened, definition, coordinators.find_coordinator)
        else:
            coordination.create_coordinated(opened, definition, coordinators.find_coordinator, *owner)
    with suppress(UnsupportedFeature):  # an older version may be readable, and reading tells by name
        opened.snapshot()
    return table_at_path(opened)


def _check_existing(
    opened: OpenedTable, definition: TableDefinition, owner: tuple[str, Mapping[str, str]] | None
) -> None:
    if owner is not None:
        coordination.check_coordinator(opened, *owner)
    with suppress(UnsupportedFeature):
        check_declaration(opened, definition)


@user_call
def write_path(
    df: DataFrame,
    location: str | Path,
    *,
    mode: SaveMode = "error",
    properties: Mapping[str, str] | None = None,
    **options: Unpack[WriteKwargs],
) -> Table:
    """Write rows to the ordinary Delta table at a path, which is made with their columns if there is none.

    Modes and options are those of ``Lake.write``.

        headgate.write_path(df, "events", mode="append")
    """
    opened = open_path(location, Settings())
    asked = SaveRequest(
        df, f"delta.`{opened.location}`", mode, write_options.from_kwargs(options), properties or {}
    )

    def find() -> OpenedTable:
        if not opened.exists():
            raise TableNotFound(f"there is no Delta table at {opened.location!r}", name=asked.name)
        return opened

    def make(definition: TableDefinition) -> OpenedTable:
        site = NewTableLocation(opened.location, opened.store, opened.world, coordinators.find_coordinator)
        create_with_rows(site, definition, df, asked.first)
        return opened

    return table_at_path(save(asked, find, make))


@user_call
def check_path(location: str | Path, *, repair: bool = False, data: bool = True) -> IntegrityReport:
    """Whether the Delta table at a path is whole; see ``Lake.check``. It need not be readable for this.

    assert headgate.check_path("events").is_clean
    """
    opened = open_path(location, Settings(read_published=True))  # a silent owner is a finding
    return opened.check(f"delta.`{opened.location}`", data=data, repair=repair)


def open_path(location: str | Path, settings: Settings) -> OpenedTable:
    """The table at a path, which need not be there."""
    place = location_spelling.absolute(str(location))
    store, world = locate(place), SystemWorld()
    return OpenedTable(
        place,
        store,
        PathCommitter(place, store, coordinators.find_existing, world=world, settings=settings),
        after_commit=PostCommitScheduler(settings),
        settings=settings,
        world=world,
        handlers=domain_handlers.registered,
    )


@user_call
def convert(
    location: str | Path, *, partition_schema: SchemaLike | None = None, settings: Settings | None = None
) -> Table:
    """Make a folder of parquet files an ordinary Delta table, without writing any file anew.

    Partition columns are found in the names of folders, ``day=2026-01-31``, and are text unless
    ``partition_schema`` gives them types, in their order. Files whose columns do not go together, and
    folders with files of other formats, are refused. A folder that is a Delta table stays as it is.

        visits = headgate.convert("parquet")
    """
    place = locations.canonical(str(location))
    converting.convert(
        place, locate(place), partition_schema, world=SystemWorld(), find=coordinators.find_coordinator
    )
    return at_path(place, settings=settings)


@user_call
def create_at_path(location: str, definition: TableDefinition, *, if_not_exists: bool = False) -> Table:
    """Make an empty table at a path; one that is there is refused, or with ``if_not_exists`` stays."""
    opened = open_path(location, Settings())
    if not (if_not_exists and opened.exists()):
        if opened.exists():
            raise _exists_error(opened.location)
        coordination.create_table(opened, definition, coordinators.find_coordinator)
    return table_at_path(opened)


@user_call
def replace_at_path(location: str, definition: TableDefinition, *, or_create: bool = False) -> Table:
    """Put another table in place of the one at a path, in one commit; with ``or_create`` it need not be."""
    opened = open_path(location, Settings())
    if opened.exists():
        replacing.replace_table(opened, TableReplacement(definition, or_create=or_create))
    elif or_create:
        coordination.create_table(opened, definition, coordinators.find_coordinator)
    else:
        raise table_not_found.no_table_at(opened.location)
    return table_at_path(opened)


@user_call
def clone_to_path(  # noqa: PLR0913 — those of Delta's statement
    source: Table,
    location: str,
    *,
    shallow: bool = False,
    version: int | None = None,
    timestamp: datetime | str | None = None,
    replace: bool = False,
    properties: Mapping[str, str] | None = None,
) -> Table:
    """Make an ordinary table at a path what another table is; the arguments are those of ``Lake.clone``."""
    target = open_path(location, Settings())
    moment = None if timestamp is None else moments.to_epoch_millis(timestamp)
    snapshot = source.log.snapshot(version=version, timestamp=moment)
    cloning = CloneSource(source.name, source.log, snapshot)
    wish = CloneOptions(shallow=shallow, properties=properties or {}, required=None)
    if target.exists():
        if not replace:
            raise _exists_error(target.location)
        cloned.replace_with_clone(target, cloning, wish)
    else:
        site = NewTableLocation(target.location, target.store, target.world)
        cloned.create_clone_at_path(site, cloning, wish)
    return table_at_path(target)


def _exists_error(location: str) -> TableExists:
    return TableExists(
        f"there is a Delta table at {location!r} already: choose another place, or replace it", name=location
    )
