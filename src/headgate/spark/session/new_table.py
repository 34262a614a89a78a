"""What shall a new table be? What the user says of it, and what the session gives to every new table."""

from collections.abc import Iterable, Mapping

from pyspark.sql import SparkSession

from headgate.protocol.metadata.column_ddl import DeclaredColumns
from headgate.protocol.schema.types import Struct
from headgate.spark.session import schema, table_defaults
from headgate.spark.session.schema import SchemaLike
from headgate.table.alter.create import TableDefinition


def define(  # noqa: PLR0913 — what a new table is, each by its name
    columns: SchemaLike | Struct,
    *,
    comment: str | None = None,
    properties: Mapping[str, str] | None = None,
    partition_by: Iterable[str] = (),
    cluster_by: Iterable[str] | None = (),
    domains: Mapping[str, str] | None = None,
    spark: SparkSession | None = None,
) -> TableDefinition:
    """The definition of a table with these columns; ``spark`` is the session, else the active one."""
    declared = DeclaredColumns(columns) if isinstance(columns, Struct) else schema.declared_columns(columns)
    return TableDefinition(
        declared.schema,
        comment,
        properties or {},
        partition_by=tuple(partition_by),
        cluster_by=tuple(cluster_by or ()),
        defaults=table_defaults.default_properties(spark),
        domains=domains or {},
        constraints=declared.constraints,
    )
