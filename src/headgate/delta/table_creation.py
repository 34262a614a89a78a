"""How is the table made that a ``DeltaTableBuilder`` describes: in a lake, at a path, or both?

With a name it is a table of the lake that has this name; with a location an ordinary one at that path; with
both it is made at the path, and the lake adopts it from there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from pyspark.sql import SparkSession
from pyspark.sql.types import DataType, StructField, StructType

from headgate.delta import identifiers
from headgate.delta.identifiers import HeldTable
from headgate.errors import InvalidRequest, SchemaNotFound, TableExists, TableNotFound
from headgate.lake import path_table
from headgate.lake.lake import Lake
from headgate.lake.table import Table
from headgate.protocol.features.identity_columns import IdentitySpec
from headgate.protocol.metadata.stored_expressions import GENERATED
from headgate.registration.registered_lakes import LakeTable
from headgate.spark.rules.identity_columns import IdentityGenerator
from headgate.spark.session import new_table
from headgate.spark.session import schema as spark_schema
from headgate.table.alter.create import TableDefinition
from headgate.table.read import file_paths

_COMMENT = "comment"


class CreationMode(Enum):
    """Which statement a builder is, and what it does with a table that is there."""

    CREATE = "CREATE TABLE"
    CREATE_IF_NOT_EXISTS = "CREATE TABLE IF NOT EXISTS"
    REPLACE = "REPLACE TABLE"
    CREATE_OR_REPLACE = "CREATE OR REPLACE TABLE"

    @property
    def creates(self) -> bool:
        """Whether there need be no table."""
        return self is not CreationMode.REPLACE

    @property
    def replaces(self) -> bool:
        """Whether a table that is there becomes another."""
        return self in (CreationMode.REPLACE, CreationMode.CREATE_OR_REPLACE)


@dataclass(frozen=True, slots=True)
class TableSpecification:
    """What a builder was told of the table."""

    mode: CreationMode
    name: str | None = None
    location: str | None = None
    comment: str | None = None
    columns: tuple[StructField, ...] = ()
    partition_by: tuple[str, ...] = ()
    cluster_by: tuple[str, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)

    def definition(self, spark: SparkSession) -> TableDefinition:
        """The same as tables are defined, with what the session gives to new ones."""
        return new_table.define(
            StructType(list(self.columns)),
            comment=self.comment,
            properties=self.properties,
            partition_by=self.partition_by,
            cluster_by=self.cluster_by,
            spark=spark,
        )


def new_column(
    name: str,
    data_type: str | DataType,
    *,
    nullable: bool = True,
    generated: str | IdentityGenerator | None = None,
    by_default: bool = False,
    comment: str | None = None,
) -> StructField:
    """A column as a schema has it, with what generates its values in its metadata."""
    metadata: dict[str, object] = {} if comment is None else {_COMMENT: comment}
    if isinstance(generated, IdentityGenerator):
        metadata |= IdentitySpec(generated.start, generated.step, allows_explicit=by_default).written()
    elif generated is not None:
        metadata[GENERATED] = generated
    found = _spark_field(data_type) if isinstance(data_type, str) else StructField(name, data_type)
    return StructField(name, found.dataType, nullable, {**found.metadata, **metadata})


def _spark_field(ddl: str) -> StructField:
    return spark_schema.to_spark(spark_schema.table_schema(f"`c` {ddl}")).fields[0]


def make_table(spark: SparkSession, wanted: TableSpecification) -> HeldTable:
    """Make or replace the table; which one it is."""
    path = None if wanted.name is None else identifiers.path_in(wanted.name)
    location = wanted.location or path
    if wanted.name is None or path is not None:
        if location is None:
            raise InvalidRequest(
                "a table has a name or a place: say tableName('schema.table') or location('/path')",
                code="DELTA_CREATE_TABLE_MISSING_TABLE_NAME_OR_LOCATION",
            )
        return HeldTable(_make_at_path(spark, wanted, location))
    found = identifiers.lake_table(spark, wanted.name)
    if found is None:
        raise _no_schema_error(wanted.name)
    return HeldTable(_make_in_lake(spark, wanted, found), found.lake)


def _make_at_path(spark: SparkSession, wanted: TableSpecification, location: str) -> Table:
    definition = wanted.definition(spark)
    if not wanted.mode.replaces:
        keep = wanted.mode is CreationMode.CREATE_IF_NOT_EXISTS
        return path_table.create_at_path(location, definition, if_not_exists=keep)
    try:
        return path_table.replace_at_path(location, definition, or_create=wanted.mode.creates)
    except TableNotFound as exc:
        raise _nothing_to_replace(location) from exc


def _make_in_lake(spark: SparkSession, wanted: TableSpecification, found: LakeTable) -> Table:
    lake, name = found.lake, str(found.name)
    exists = lake.table_exists(name)
    if exists and not wanted.mode.replaces:
        if wanted.mode is CreationMode.CREATE_IF_NOT_EXISTS:
            return lake.table(name)
        raise TableExists(f"the table {name} exists already: choose another name, or replace it", name=name)
    if not exists and not wanted.mode.creates:
        raise _nothing_to_replace(name)
    if wanted.location is not None:
        return _make_external(spark, wanted, lake, name)
    return _make_managed(wanted, lake, name)


def _make_managed(wanted: TableSpecification, lake: Lake, name: str) -> Table:
    columns = StructType(list(wanted.columns))
    if wanted.mode.replaces:
        return lake.replace_table(
            name,
            columns,
            or_create=wanted.mode.creates,
            comment=wanted.comment,
            properties=wanted.properties,
            partition_by=wanted.partition_by,
            cluster_by=wanted.cluster_by,
        )
    try:
        return lake.create_table(
            name,
            columns,
            comment=wanted.comment,
            properties=wanted.properties,
            partition_by=wanted.partition_by,
            cluster_by=wanted.cluster_by,
        )
    except TableExists:  # somebody made it meanwhile
        if wanted.mode is CreationMode.CREATE:
            raise
        return lake.table(name)


def _make_external(spark: SparkSession, wanted: TableSpecification, lake: Lake, name: str) -> Table:
    """A table of the lake at a place of the user's choice, which is one already if it is replaced."""
    location = str(wanted.location)
    if lake.table_exists(name):
        if not file_paths.is_same_location(lake.table(name).location, location):
            raise InvalidRequest(
                f"the table {name} is at {lake.table(name).location!r}, and stays there when it is replaced: "
                "leave the location out",
                code="DELTA_TABLE_LOCATION_MISMATCH",
            )
        return _make_managed(wanted, lake, name)
    path_table.create_at_path(location, wanted.definition(spark), if_not_exists=True)
    return lake.adopt(location, name)


def _nothing_to_replace(name: str) -> TableNotFound:
    return TableNotFound(
        f"there is no table {name} to be replaced: create it, or say createOrReplace",
        code="TABLE_OR_VIEW_NOT_FOUND", name=name,
    )  # fmt: skip


def _no_schema_error(name: str) -> SchemaNotFound:
    return SchemaNotFound(
        f"no lake that the session knows has the schema of {name}: make it with lake.create_schema(…), or "
        "have the session know the lake, lake.register(spark)",
        name=name,
    )
