"""Generated columns of rows that a statement changes: those that it does not set follow the others.

They are computed with the edits. Beside rows that are only copied, and in the change data feed, a column
that is absent would be null.
"""

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from headgate.protocol.metadata.stored_expressions import GENERATED
from headgate.protocol.schema.types import Field, Struct, as_nullable
from headgate.spark.data_files import physical_columns
from headgate.spark.dml.edits import UPDATES, EditKind
from headgate.spark.parquet import logical_columns
from headgate.spark.rules import stored_sql
from headgate.spark.session import schema as spark_schema


def has_generated_columns(schema: Struct) -> bool:
    """Whether a table has such columns."""
    return any(GENERATED in field.metadata for field in schema.fields)


def recompute_generated(
    rows: DataFrame, schema: Struct, own: Mapping[str, Column], kind: Column
) -> DataFrame:
    """Edited rows with every generated column, computed from the other columns as they will be stored.

    ``own`` has, by name, in which rows the statement itself sets such a column, ``kind`` the kind of edit.
    """
    fields = physical_columns.without_void(as_nullable(schema)).fields
    computed = [field for field in fields if GENERATED in field.metadata]
    if not computed:
        return rows
    found = spark_schema.schema_without_void(rows)
    settled = {field.name: physical_columns.incoming_or_default(field, found) for field in fields}
    new = kind.isin(*map(int, (*UPDATES, EditKind.INSERTED)))
    values = {field.name: F.when(new, _own_or_generated(field, own.get(field.name))) for field in computed}
    return rows.withColumns(settled).withColumns(values)


def _own_or_generated(field: Field, own: Column | None) -> Column:
    value = stored_sql.generation_expression(field).cast(logical_columns.spark_type(field.type))
    return value if own is None else F.when(own, spark_schema.column(field.name)).otherwise(value)
