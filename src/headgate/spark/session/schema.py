"""Between Spark's schemas and the log's."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkValueError
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from headgate.deferred import deferred
from headgate.errors import InvalidRequest, UnsupportedFeature
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Field, Primitive, Struct, as_nullable, with_structs

if TYPE_CHECKING:
    from headgate.protocol.metadata import column_ddl
    from headgate.protocol.metadata.column_ddl import DeclaredColumns
else:
    column_ddl = deferred("headgate.protocol.metadata", "column_ddl")
    DeclaredColumns = deferred("headgate.protocol.metadata.column_ddl", "DeclaredColumns")

SchemaLike = DataFrame | StructType | str
"""Columns as a user says them: a DataFrame's, a Spark schema, or DDL such as ``id BIGINT, name STRING``."""

_COLLATIONS = "__COLLATIONS"
"""How texts compare, which is part of a column's type in Spark."""
_TIMESTAMP_TYPE = "spark.sql.timestampType"
_OF_WRITERS = ("delta.", "parquet.field.", "CURRENT_DEFAULT", "EXISTS_DEFAULT", "__")


def frame_schema(df: DataFrame) -> Struct:
    """The columns of a DataFrame, all nullable: what a frame says about nulls is not trusted."""
    try:
        columns = df.schema
    except RecursionError as exc:  # PySpark's own walk through its types
        raise schema_json.too_deep_error() from exc
    return as_nullable(_parsed(columns))


def schema_without_void(df: DataFrame) -> Struct:
    """The columns of a DataFrame that can hold a value; one of type void is as good as absent."""
    return Struct(tuple(field for field in frame_schema(df).fields if field.type != Primitive("void")))


def without_writer_metadata(schema: Struct) -> Struct:
    """The same columns without what their metadata says to writers of the table they come from."""
    return Struct(
        tuple(
            Field(
                field.name,
                with_structs(field.type, without_writer_metadata),
                field.nullable,
                _unbound(field.metadata),
            )
            for field in schema.fields
        )
    )


def _unbound(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        key: value for key, value in metadata.items() if key == _COLLATIONS or not key.startswith(_OF_WRITERS)
    }


def column(name: str) -> Column:
    """The column of exactly this name, whatever characters it has."""
    quoted = name.replace("`", "``")
    return F.col(f"`{quoted}`")


def table_schema(columns: SchemaLike) -> Struct:
    """The columns of a table to be made; NOT NULL is taken from an explicit schema only."""
    found = declared_columns(columns)
    if found.constraints:
        raise InvalidRequest(
            f"{next(iter(found.constraints))!r} is a constraint, and columns are wanted here: add it by "
            "table.add_constraint(name, expression)"
        )
    return found.schema


def declared_columns(columns: SchemaLike) -> DeclaredColumns:
    """The same, with the CHECK constraints that a text may name among them. No session is started for it."""
    if isinstance(columns, StructType):
        return DeclaredColumns(_parsed(columns))
    if not isinstance(columns, str):
        return DeclaredColumns(without_writer_metadata(frame_schema(columns)))
    return column_ddl.parse_columns(columns, is_ntz=_timestamps_are_ntz(columns))


def _timestamps_are_ntz(ddl: str) -> bool:
    """Whether the session, if there is one, means by TIMESTAMP the type without a time zone."""
    if "timestamp" not in ddl.lower() or (session := SparkSession.getActiveSession()) is None:
        return False
    return session.conf.get(_TIMESTAMP_TYPE, None) == "TIMESTAMP_NTZ"


def _parsed(columns: StructType) -> Struct:
    try:
        return schema_json.parse(columns.json())
    except RecursionError as exc:
        raise schema_json.too_deep_error() from exc


def to_spark(schema: Struct) -> StructType:
    """The same columns, as Spark wants them."""
    try:
        # PySpark changes what it is given where a column has a collation.
        return StructType.fromJson(deepcopy(schema_json.to_json_value(_holdable(schema))))
    except PySparkValueError as exc:
        raise UnsupportedFeature(
            f"a column has a type that Spark does not know: {exc}; have the writer of the table correct its "
            "schema, or use a newer Spark if the type is newer",
            code="DELTA_UNSUPPORTED_DATA_TYPES", operation="read",
        ) from exc  # fmt: skip


def _holdable(schema: Struct) -> Struct:
    """The same columns without what metadata of Spark cannot hold, which is not any JSON."""
    return Struct(
        tuple(
            replace(
                field,
                type=with_structs(field.type, _holdable),
                metadata={key: value for key, value in field.metadata.items() if _can_hold(value)},
            )
            for field in schema.fields
        )
    )


def _can_hold(value: Any) -> bool:
    match value:
        case dict():
            return all(map(_can_hold, value.values()))
        case list():
            return len({type(part) for part in value}) <= 1 and not any(
                part is None or isinstance(part, list) or not _can_hold(part) for part in value
            )
        case int():
            return -(2**63) <= value < 2**63
        case _:
            return True
