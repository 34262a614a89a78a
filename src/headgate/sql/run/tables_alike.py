"""What is a table made like, if it is made LIKE another? Its columns, layout and properties, and no rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pyspark.sql import DataFrame

from headgate.lake.table import Table
from headgate.protocol.domains import lifecycle
from headgate.protocol.features import clustering
from headgate.protocol.metadata.alter_properties import CATALOG_PROPERTIES
from headgate.protocol.schema import column_ids
from headgate.protocol.schema import json as schema_json
from headgate.spark.session import schema as spark_schema
from headgate.spark.session.schema import SchemaLike

_OF_THE_TABLE_ITSELF = (
    "delta.columnMapping.maxColumnId",
    "delta.rowTracking.",
    "delta.materialized",
    "delta.coordinatedCommits.",
    "delta.inCommitTimestamp",
    "delta.constraints.",
    "delta.requireCheckpointProtectionBeforeVersion",
)


@dataclass(frozen=True, slots=True)
class TableShape:
    """What a new table is to be."""

    columns: SchemaLike
    partition_by: tuple[str, ...] = ()
    cluster_by: tuple[str, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None


def shape_of_table(table: Table) -> TableShape:
    """That of a Delta table."""
    state = table.log.snapshot().state
    metadata = state.metadata
    columns = column_ids.without_column_ids(schema_json.parse(metadata.schema_string))
    clustered = lifecycle.clustering_columns(state.domains)
    kept = {
        key: value
        for key, value in metadata.configuration.items()
        if key not in CATALOG_PROPERTIES and not key.startswith(_OF_THE_TABLE_ITSELF)
    }
    return TableShape(
        spark_schema.to_spark(columns),
        tuple(metadata.partition_columns),
        tuple(clustering.logical_names(clustered, metadata)),
        kept,
        metadata.description,
    )


def shape_of_frame(rows: DataFrame) -> TableShape:
    """That of a table or view of Spark."""
    return TableShape(rows.schema)
