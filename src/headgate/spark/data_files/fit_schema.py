"""From the columns of a DataFrame to those of a table: by name at every level, absent parts null."""

from collections.abc import Iterator, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from headgate.protocol.schema.types import Array, DataType, Field, Map, Primitive, Struct, as_nullable
from headgate.spark.parquet import logical_columns
from headgate.spark.rules import checks
from headgate.spark.session import schema as spark_schema

_WIDER = {
    "byte": ("short", "integer", "long", "float", "double"),
    "short": ("integer", "long", "float", "double"),
    "integer": ("long", "double"),
    "float": ("double",),
    "date": ("timestamp_ntz",),
}


def fit_column(column: Column, found: DataType, wanted: DataType) -> Column:
    """A column of type ``found`` as one of type ``wanted``.

    Fields of structs are matched by name ignoring case. A value that the wanted type cannot hold fails
    the job, whatever the session says of casts.
    """
    match found, wanted:
        case _ if is_same_type(found, wanted):
            return column
        case Primitive("void"), _:
            return F.lit(None).cast(logical_columns.spark_type(wanted))
        case Struct(), Struct(fields):
            return F.when(column.isNotNull(), F.struct(*_parts(column, found, fields)))
        case Array(part, _), Array(element, _):
            return F.transform(column, lambda item: fit_column(item, part, element))
        case Map(old_key, old_value, _), Map(key, value, _):
            keys = F.transform(F.map_keys(column), lambda item: fit_column(item, old_key, key))
            values = F.transform(F.map_values(column), lambda item: fit_column(item, old_value, value))
            return F.map_from_arrays(keys, values)
        case Primitive(old), Primitive(new) if new not in _WIDER.get(old, ()):
            cast = column.try_cast(logical_columns.spark_type(wanted))
            failure = checks.cast_failure(column, new)
            return F.when(column.isNotNull() & cast.isNull(), failure).otherwise(cast)
        case _:
            return column.cast(logical_columns.spark_type(wanted))


def cast_to_table_types(rows: DataFrame, schema: Struct) -> DataFrame:
    """The rows with those of the table's columns that they have in the table's types, before a union.

    Spark makes both sides of a union one type, and rows of the other side that nobody changed would be
    rounded to it.
    """
    found = spark_schema.frame_schema(rows)
    new = {}
    for field in as_nullable(schema).fields:
        own = found.find(field.name)
        if own is not None:
            column = spark_schema.column(own.name)
            value = logical_columns.with_collation(fit_column(column, own.type, field.type), field)
            if value is not column:
                new[own.name] = value
    return rows.withColumns(new) if new else rows


def is_same_type(found: DataType, wanted: DataType) -> bool:
    """Whether values of the one type are values of the other, names and order of fields included."""
    match found, wanted:
        case Primitive(one), Primitive(other):
            return one.replace(" ", "") == other.replace(" ", "")
        case Array(one, _), Array(other, _):
            return is_same_type(one, other)
        case Map(key, value, _), Map(other_key, other_value, _):
            return is_same_type(key, other_key) and is_same_type(value, other_value)
        case Struct(fields), Struct(others):
            return len(fields) == len(others) and all(
                part.name == other.name and is_same_type(part.type, other.type)
                for part, other in zip(fields, others, strict=True)
            )
        case _:
            return False


def _parts(column: Column, found: Struct, fields: Sequence[Field]) -> Iterator[Column]:
    for field in fields:
        part = found.find(field.name)
        yield (
            F.lit(None).cast(logical_columns.spark_type(field.type))
            if part is None
            else fit_column(column.getField(part.name), part.type, field.type)
        ).alias(field.name)
