"""Can the generated columns of a new table be computed? Spark is asked before the table is made."""

from pyspark.sql import SparkSession

from headgate.errors import InvalidRequest
from headgate.protocol.metadata import char_varchar
from headgate.protocol.metadata.stored_expressions import GENERATED
from headgate.protocol.schema.types import Struct
from headgate.spark.rules import stored_sql
from headgate.spark.session import local_frame
from headgate.spark.session import schema as spark_schema
from headgate.spark.session.schema import SchemaLike


def check_generated_columns(spark: SparkSession, columns: SchemaLike) -> None:
    """Refuse columns that are generated from others which are not there, or as another type."""
    schema = char_varchar.as_strings(spark_schema.declared_columns(columns).schema)
    generated = [field for field in schema.fields if GENERATED in field.metadata]
    if not generated:
        return
    given = Struct(tuple(field for field in schema.fields if GENERATED not in field.metadata))
    rows = local_frame.local_frame(spark, [], spark_schema.to_spark(given))
    for field in generated:
        found = rows.select(stored_sql.generation_expression(field)).schema.fields[0].dataType
        wanted = spark_schema.to_spark(Struct((field,))).fields[0].dataType
        if found != wanted:
            raise InvalidRequest(
                f"column {field.name!r} is {wanted.simpleString()}, and {field.metadata[GENERATED]} is "
                f"{found.simpleString()}: cast it, or declare the column so",
                code="DELTA_GENERATED_COLUMNS_EXPR_TYPE_MISMATCH",
            )
