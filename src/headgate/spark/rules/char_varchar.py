"""CHAR and VARCHAR columns, which are stored as strings: padded, and never longer than they say."""

import re

from pyspark.sql import Column
from pyspark.sql import functions as F

from headgate.protocol.schema.types import Field
from headgate.spark.parquet import logical_columns
from headgate.spark.rules import checks

TYPE_STRING_KEY = "__CHAR_VARCHAR_TYPE_STRING"
_TYPE = re.compile(r"(char|varchar)\((\d+)\)")


def with_declared_type(column: Column, field: Field) -> Column:
    """The column under its name, so that conditions compare its texts as they do in rows of the table."""
    found = logical_columns.with_collation(column, field)
    declared = field.metadata.get(TYPE_STRING_KEY)
    return (
        found.alias(field.name)
        if declared is None
        else found.alias(field.name, metadata={TYPE_STRING_KEY: declared})
    )


def pad_and_check_length(column: Column, field: Field) -> Column:
    """The text as the column stores it; one that is too long fails the job, spaces at its end apart."""
    declared = _TYPE.fullmatch(str(field.metadata.get(TYPE_STRING_KEY, "")))
    if declared is None:
        return column
    kind, length = declared[1], int(declared[2])
    fits = F.length(F.rtrim(column)) <= length
    cut = F.when(F.length(column) <= length, column).when(fits, F.substring(column, 1, length))
    checked = F.when(column.isNull(), column).when(
        F.length(F.rtrim(column)) > length, checks.cast_failure(column, declared[0])
    )
    whole = checked.otherwise(cut)
    return F.rpad(whole, length, " ") if kind == "char" else whole
