"""CHAR and VARCHAR, which are stored as strings: padded, and never longer than they say, at any depth."""

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F

from headgate.protocol.metadata import char_varchar, type_ddl
from headgate.protocol.metadata.char_varchar import TYPE_STRING_KEY
from headgate.protocol.schema.types import Array, DataType, Field, Map, Struct
from headgate.spark.parquet import logical_columns
from headgate.spark.rules import checks

_Change = Callable[[Column, DataType], Column]


def with_declared_type(column: Column, field: Field) -> Column:
    """The column under its name, so that conditions compare its texts as they do in rows of the table."""
    found = logical_columns.with_collation(column, field)
    declared = char_varchar.declared_type(field)
    if declared is None:
        return found.alias(field.name)
    return found.alias(field.name, metadata={TYPE_STRING_KEY: type_ddl.type_text(declared)})


def pad_and_check_length(column: Column, field: Field) -> Column:
    """The texts as the column stores them; one that is too long fails the job, spaces at its end apart."""
    declared = char_varchar.declared_type(field)
    return column if declared is None else _with_texts(column, declared, _stored)


def pad(column: Column, field: Field) -> Column:
    """The texts as the column shows them: whoever wrote the file may have left the padding to readers."""
    declared = char_varchar.declared_type(field)
    if declared is None or not char_varchar.has_padded_texts(declared):
        return column
    return _with_texts(column, declared, _shown)


def padded_text(text: str | None, field: Field) -> str | None:
    """The same for one value of a column."""
    sized = char_varchar.sized_text(char_varchar.declared_type(field) or field.type)
    return text if text is None or sized is None or not sized.is_padded else text.ljust(sized.length)


def _with_texts(column: Column, declared: DataType, change: _Change) -> Column:
    if not char_varchar.has_sized_texts(declared):
        return column
    match declared:
        case Struct(fields):
            parts = (
                _with_texts(column.getField(part.name), part.type, change).alias(part.name) for part in fields
            )
            return F.when(column.isNotNull(), F.struct(*parts))
        case Array(element, _):
            return F.transform(column, lambda item: _with_texts(item, element, change))
        case Map(key, value, _):
            keys = F.transform(F.map_keys(column), lambda item: _with_texts(item, key, change))
            values = F.transform(F.map_values(column), lambda item: _with_texts(item, value, change))
            return F.map_from_arrays(keys, values)
        case _:
            return change(column, declared)


def _stored(column: Column, declared: DataType) -> Column:
    sized = char_varchar.sized_text(declared)
    if sized is None:
        return column
    fits = F.length(F.rtrim(column)) <= sized.length
    cut = F.when(F.length(column) <= sized.length, column).when(fits, F.substring(column, 1, sized.length))
    checked = F.when(column.isNull(), column).when(
        F.length(F.rtrim(column)) > sized.length,
        checks.cast_failure(column, type_ddl.type_text(declared)),
    )
    whole = checked.otherwise(cut)
    return F.rpad(whole, sized.length, " ") if sized.is_padded else whole


def _shown(column: Column, declared: DataType) -> Column:
    sized = char_varchar.sized_text(declared)
    if sized is None or not sized.is_padded:
        return column
    return F.when(F.length(column) < sized.length, F.rpad(column, sized.length, " ")).otherwise(column)
