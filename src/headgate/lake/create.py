"""What a lake offers to those who make tables: empty ones, ones with rows, and others in their place."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery
from typing_extensions import Unpack

from headgate.catalog.ports.directory import StagingTable, TableName, parse_name
from headgate.deferred import deferred
from headgate.errors import InvalidRequest, TableExists, TableNotFound
from headgate.lake.context import LakeContext
from headgate.lake.table import Table
from headgate.protocol.metadata import alter_properties
from headgate.spark.data_files import write_options
from headgate.spark.data_files.write_options import WriteKwargs, WriteOptions
from headgate.spark.session.schema import SchemaLike
from headgate.spark.streaming import stream_write_options
from headgate.spark.streaming.micro_batch import Destination
from headgate.spark.streaming.stream_write_options import StreamKwargs, StreamMode
from headgate.spark.write.save import SaveMode, SaveRequest, create_with_rows, save
from headgate.table.alter import create
from headgate.table.alter.create import TableDefinition
from headgate.table.location import NewTableLocation
from headgate.table.opened_table import OpenedTable

if TYPE_CHECKING:
    from headgate.spark.session import new_table
    from headgate.spark.streaming import sink
    from headgate.spark.write import replace_table as replacing
    from headgate.spark.write.replace_table import TableReplacement
else:
    new_table = deferred("headgate.spark.session", "new_table")
    sink = deferred("headgate.spark.streaming", "sink")
    replacing = deferred("headgate.spark.write", "replace_table")
    TableReplacement = deferred("headgate.spark.write.replace_table", "TableReplacement")

_FEATURE = "delta.feature."


@dataclass(frozen=True, slots=True)
class TableCreation:
    """The part of a lake that makes tables."""

    context: LakeContext

    def create_table(  # noqa: PLR0913 — what a new table is, each by its name
        self,
        name: str,
        columns: SchemaLike,
        *,
        comment: str | None = None,
        properties: Mapping[str, str] | None = None,
        partition_by: Iterable[str] = (),
        cluster_by: Iterable[str] = (),
        domains: Mapping[str, str] | None = None,
    ) -> Table:
        """Make an empty catalog-managed table.

        ``properties`` may be Delta's (``delta.appendOnly``, …), which bring the features they need. It has
        these metadata ``domains`` from its first version on.
        A table is partitioned, or clustered (by up to four columns, nested ones with dots), or neither.
        Three steps: the catalog reserves a place, version 0 is written there, and the catalog
        gives it its name. Until the last one nobody can see it.

            lake.create_table("sales.items", "sku STRING NOT NULL, price DECIMAL(10, 2)", cluster_by=["sku"])
        """
        table_name = parse_name(name)
        definition = new_table.define(
            columns,
            comment=comment,
            properties=properties,
            partition_by=partition_by,
            cluster_by=cluster_by,
            domains=domains,
        )
        return self.create(table_name, definition)

    def write(
        self,
        df: DataFrame,
        name: str,
        *,
        mode: SaveMode = "error",
        properties: Mapping[str, str] | None = None,
        **options: Unpack[WriteKwargs],
    ) -> Table:
        """Write rows to the table of that name, which is made with their columns if there is none.

        If there is one, the ``mode`` tells: ``error`` refuses, ``ignore`` does nothing, ``append`` and
        ``overwrite`` are those of the table. ``properties`` are for a new table; ``options`` are those of
        ``Table.append`` and ``Table.overwrite``, with ``partition_by`` and ``cluster_by``. A new table and
        its rows appear in one commit.

            lake.write(df, "sales.orders", mode="append")
        """
        asked = SaveRequest(df, name, mode, write_options.from_kwargs(options), properties or {})
        save(
            asked,
            lambda: self.context.open_table(self.context.resolve(name)),
            lambda definition: self._create_with_rows(parse_name(name), definition, df, asked.first).log,
        )
        return self.context.handle(self.context.resolve(name))

    def write_stream(
        self,
        df: DataFrame,
        name: str,
        *,
        checkpoint: str | Path,
        mode: StreamMode = "append",
        properties: Mapping[str, str] | None = None,
        **options: Unpack[StreamKwargs],
    ) -> StreamingQuery:
        """Start a query that writes the stream ``df`` to the table of that name, as ``Table.write_stream``.

        If there is no such table, the first batch makes it, with its columns, these ``properties`` and in
        one commit with its rows.

            lake.write_stream(stream, "sales.orders", checkpoint="checkpoints/orders", available_now=True)
        """
        asked = stream_write_options.from_kwargs(mode, options, checkpoint)
        return sink.start(df, self.destination(name, properties or {}), asked)

    def replace_table(
        self,
        name: str,
        columns: SchemaLike | None = None,
        *,
        rows: DataFrame | None = None,
        or_create: bool = False,
        comment: str | None = None,
        properties: Mapping[str, str] | None = None,
        **options: Unpack[WriteKwargs],
    ) -> Table:
        """Put another table in place of one, in one commit; it keeps its name, its id and its past.

        The new table has these ``columns``, or those of ``rows``, which it then has too. Columns,
        partitioning, clustering, properties and comment are what is said here and nothing of what they
        were; metadata domains of users stay. With ``or_create`` the table need not exist.

            lake.replace_table("sales.orders", "id BIGINT, note STRING")
        """
        if columns is None and rows is None:
            raise InvalidRequest("a table is replaced by columns, or by rows: give one of the two")
        write = write_options.from_kwargs(options)
        definition = new_table.define(
            rows if columns is None else columns,  # type: ignore[arg-type]  # one is given
            comment=comment,
            properties=properties,
            partition_by=write.partition_by,
            cluster_by=write.cluster_by,
            domains=write.domains,
            spark=None if rows is None else rows.sparkSession,
        )
        table_name = parse_name(name)
        try:
            table = self.context.handle(self.context.catalog.resolve(table_name))
        except TableNotFound:
            if not or_create:
                raise
            try:
                if rows is None:
                    return self.create(table_name, definition)
                return self._create_with_rows(table_name, definition, rows, write)
            except TableExists:  # somebody made it meanwhile
                table = self.context.handle(self.context.catalog.resolve(table_name))
        new = TableReplacement(definition, rows, or_create=or_create, options=write)
        replacing.replace_table(table.log, new)
        return table

    def create(self, name: TableName, definition: TableDefinition) -> Table:
        """Make an empty table of this definition."""
        context = self.context
        return context.handle(context.catalog.register(self.stage(name, definition), name))

    def stage(self, name: TableName, definition: TableDefinition) -> StagingTable:
        """Reserve a place for a table and write its version 0 there."""
        create.initial_state(
            definition, managed=True, world=self.context.world
        )  # refused before a place is reserved
        staging = self.context.reserve(name)
        content = create.version_0(
            _with_catalog_properties(definition, staging, name), managed=True, world=self.context.world
        )
        create.write_first_commit(self.context.staging_store(staging), content, managed=True)
        return staging

    def _create_with_rows(
        self, name: TableName, definition: TableDefinition, df: DataFrame, asked: WriteOptions
    ) -> Table:
        staging = self.context.reserve(name)
        site = NewTableLocation(staging.location, self.context.staging_store(staging), self.context.world)
        entry = create_with_rows(
            site,
            _with_catalog_properties(definition, staging, name),
            df,
            asked,
            register=lambda: self.context.catalog.register(staging, name),
        )
        return self.context.handle(self.context.catalog.resolve(name) if entry is None else entry)

    def destination(self, name: str, properties: Mapping[str, str] | None) -> Destination:
        """Where streams go to by this name; the table is made if there are properties for it."""
        wanted = parse_name(name)

        def make(definition: TableDefinition, df: DataFrame, asked: WriteOptions) -> OpenedTable:
            return self._create_with_rows(wanted, definition, df, asked).log

        return Destination(
            name,
            lambda: self.context.open_table(self.context.catalog.resolve(wanted)),
            None if properties is None else make,
            properties or {},
            self.context.destination_again(name, properties),
        )


def _with_catalog_properties(
    definition: TableDefinition, staging: StagingTable, name: TableName
) -> TableDefinition:
    """The definition with what the table has to say of its catalog; a transaction names it otherwise."""
    identity = alter_properties.catalog_identity(staging.table_id, str(name))
    asked = {key: value for key, value in staging.properties.items() if not key.startswith(_FEATURE)}
    features = {key: value for key, value in staging.properties.items() if key.startswith(_FEATURE)}
    return replace(
        definition,
        properties={**definition.properties, **features},
        required={**asked, **identity, **definition.required},
    )
