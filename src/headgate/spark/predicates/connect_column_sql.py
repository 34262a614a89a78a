"""A Column of Spark Connect as SQL: its tree is Python's, and is sent to the server only with a query.

Its classes are known here by their names, since importing them takes gRPC.
"""

import re
from datetime import UTC, date, datetime, timedelta
from typing import Any

from pyspark.sql.types import (
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    TimestampType,
)

from headgate.spark.predicates import sql_forms

_EPOCH_DAY, _EPOCH = date(1970, 1, 1), datetime(1970, 1, 1, tzinfo=UTC)
# Types whose literals are kept as the Python values they are; an interval, say, is kept as a number too.
_PLAIN = (
    BooleanType, ByteType, ShortType, IntegerType, LongType, FloatType, DoubleType, DecimalType, StringType,
)  # fmt: skip
_NAME = re.compile(r"(?:`((?:[^`]|``)+)`|([^`.]+))(?:\.(?!$)|$)")


def to_sql(tree: Any) -> str:
    """An expression as SQL, with ``sql_forms.UNKNOWN`` for every part without a form."""
    match type(tree).__name__:
        case "UnresolvedFunction" if not tree._is_distinct:
            return sql_forms.function_call(tree._name, [to_sql(arg) for arg in tree._args])
        case "ColumnReference" if not tree._is_metadata_column:
            return _reference(tree._unparsed_identifier)
        case "LiteralExpression":
            return _literal(tree._value, tree._dataType)
        case "SQLExpression":
            return f"({tree._expr}\n)"
        case "ColumnAlias":
            return to_sql(tree._child)
        case "CastExpression" if tree._eval_mode is None:
            return f"CAST({to_sql(tree._expr)} AS {_type_name(tree._data_type)})"
        case "UnresolvedExtractValue":
            return _extraction(tree)
        case _:
            return sql_forms.UNKNOWN


def _extraction(tree: Any) -> str:
    key = tree._extraction
    field = key._value if type(key).__name__ == "LiteralExpression" else None
    return sql_forms.struct_field(to_sql(tree._child), field)


def _reference(identifier: str) -> str:
    """A column by its name as the user wrote it: dots part it, except between backticks."""
    parts, position = [], 0
    while position < len(identifier):
        found = _NAME.match(identifier, position)
        if found is None:
            return sql_forms.UNKNOWN
        parts.append(found[2] if found[1] is None else found[1].replace("``", "`"))
        position = found.end()
    return sql_forms.column_name(parts) if parts else sql_forms.UNKNOWN


def _literal(value: Any, data_type: DataType) -> str:
    if value is None:
        return sql_forms.literal(None)
    try:
        match data_type:
            case DateType():
                return sql_forms.date_literal((_EPOCH_DAY + timedelta(days=value)).isoformat())
            case TimestampType():
                found = _EPOCH + timedelta(microseconds=value)
                return sql_forms.timestamp_literal(found.isoformat().replace("+00:00", "Z"))
            case _:
                return sql_forms.literal(value) if isinstance(data_type, _PLAIN) else sql_forms.UNKNOWN
    except OverflowError:
        return sql_forms.UNKNOWN


def _type_name(data_type: DataType | str) -> str:
    return data_type if isinstance(data_type, str) else data_type.simpleString()
