"""What does a statement answer? A DataFrame with the columns that Delta and Spark have, in order."""

from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from headgate.spark.session import local_frame

Columns = Sequence[tuple[str, pa.DataType]]

TEXT, COUNT, FLAG = pa.string(), pa.int64(), pa.bool_()

AFFECTED: Columns = (("num_affected_rows", COUNT),)
VACUUMED: Columns = (("path", TEXT),)
CLONED: Columns = (
    ("source_table_size", COUNT),
    ("source_num_of_files", COUNT),
    ("num_removed_files", COUNT),
    ("num_copied_files", COUNT),
    ("removed_files_size", COUNT),
    ("copied_files_size", COUNT),
)
COPIED: Columns = (
    ("num_affected_rows", COUNT),
    ("num_inserted_rows", COUNT),
    ("num_skipped_corrupt_files", COUNT),
)
DESCRIBED: Columns = (("col_name", TEXT), ("data_type", TEXT), ("comment", TEXT))
DESCRIBED_COLUMN: Columns = (("info_name", TEXT), ("info_value", TEXT))
DESCRIBED_SCHEMA: Columns = (("info_name", TEXT), ("info_value", TEXT))
TABLES: Columns = (("namespace", TEXT), ("tableName", TEXT), ("isTemporary", FLAG))
DROPPED_TABLES: Columns = (
    ("catalogName", TEXT),
    ("schemaName", TEXT),
    ("tableName", TEXT),
    ("tableId", TEXT),
    ("deletedAt", pa.timestamp("us", tz="UTC")),
)
SCHEMAS: Columns = (("namespace", TEXT),)
COLUMN_NAMES: Columns = (("col_name", TEXT),)
PROPERTIES: Columns = (("key", TEXT), ("value", TEXT))
CREATE_STATEMENT: Columns = (("createtab_stmt", TEXT),)
GRANTS: Columns = (("Principal", TEXT), ("ActionType", TEXT), ("ObjectType", TEXT), ("ObjectKey", TEXT))
DOMAINS: Columns = (("domain", TEXT), ("configuration", TEXT))
CATALOGS: Columns = (("catalog", TEXT),)
VERSIONS: Columns = (("table", TEXT), ("version", COUNT))


def frame(spark: SparkSession, columns: Columns, rows: Iterable[Sequence[object]]) -> DataFrame:
    """Rows in these columns."""
    names = [name for name, _ in columns]
    values = [dict(zip(names, row, strict=True)) for row in rows]
    schema = pa.schema(list(columns))
    if not values:  # of an empty table Spark Connect does not take the types
        return local_frame.local_frame(spark, [], from_arrow_schema(schema))
    return local_frame.local_frame(spark, pa.Table.from_pylist(values, schema))


def counts(spark: SparkSession, columns: Columns, metrics: Mapping[str, int]) -> DataFrame:
    """One row of numbers by the names of its columns."""
    return frame(spark, columns, [[metrics.get(name, 0) for name, _ in columns]])


def nothing(spark: SparkSession) -> DataFrame:
    """No column and no row, as Spark answers to CREATE, ALTER and DROP."""
    return spark.range(0).select()
