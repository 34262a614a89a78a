"""Between Spark's schemas and the log's."""

from pyspark.sql import DataFrame
from pyspark.sql.types import DataType, StructType

from headgate.errors import InvalidRequest
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Array, Field, Map, Primitive, Struct
from headgate.protocol.schema.types import DataType as LogType


def of_frame(df: DataFrame) -> Struct:
    """The columns of a DataFrame, all nullable: what a frame says about nulls is not trusted."""
    return _nullable(schema_json.parse(df.schema.json()))


def definition(columns: DataFrame | StructType | str) -> Struct:
    """The columns of a table to be made; NOT NULL is taken from an explicit schema only."""
    if isinstance(columns, StructType):
        return schema_json.parse(columns.json())
    if not isinstance(columns, str):
        return of_frame(columns)
    try:
        parsed = DataType.fromDDL(columns)
    except Exception as exc:  # Spark's parser raises errors of many unrelated classes
        raise InvalidRequest(f"{columns!r} is not a list of columns: {exc}") from exc
    if not isinstance(parsed, StructType):
        raise InvalidRequest(f"{columns!r} is not a list of columns: write it like id BIGINT, name STRING")
    return schema_json.parse(parsed.json())


def to_spark(schema: Struct) -> StructType:
    """The same columns, as Spark wants them."""
    return StructType.fromJson(schema_json.plain(schema))


def _nullable(schema: Struct) -> Struct:
    return Struct(
        tuple(
            Field(column.name, _nullable_type(column.type), metadata=column.metadata)
            for column in schema.fields
        )
    )


def _nullable_type(data_type: LogType) -> LogType:
    match data_type:
        case Struct():
            return _nullable(data_type)
        case Array(element, _):
            return Array(_nullable_type(element), contains_null=True)
        case Map(key, value, _):
            return Map(_nullable_type(key), _nullable_type(value), value_contains_null=True)
        case Primitive():
            return data_type
