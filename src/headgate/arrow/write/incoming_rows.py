"""Which rows does a user bring, as Arrow columns? An Arrow table, pandas, or plain dicts.

Values of dicts take the types of the table, and only values that are of such a type are taken: an ``int`` is
no text, a ``float`` is no whole number, and a moment says its zone. Arrow and pandas have types of their own.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from math import isinf
from numbers import Integral, Real
from typing import Any

import pyarrow as pa

from headgate.arrow import arrow_types
from headgate.errors import ConstraintViolated, InvalidRequest, SchemaMismatch
from headgate.protocol.features.identity_columns import START
from headgate.protocol.metadata.stored_expressions import DEFAULT, GENERATED
from headgate.protocol.schema.types import Array, DataType, Map, Primitive, Struct, describe_type
from headgate.spelling import did_you_mean

_LARGEST_FLOAT = 3.4028234663852886e38
_SHOWN = 80
_COMPUTED = frozenset({GENERATED, START})
_FILLED_IN = _COMPUTED | {DEFAULT}


def as_arrow(rows: Any, schema: Struct) -> pa.Table:
    """The rows as a table of Arrow; ``schema`` is that of the table they are for."""
    if isinstance(rows, pa.Table):
        return rows
    if isinstance(rows, pa.RecordBatch):
        return pa.Table.from_batches([rows])
    if is_pandas(rows):
        return _from_pandas(rows)
    return _from_dicts(rows, schema)


def is_pandas(rows: object) -> bool:
    """Whether it is a DataFrame of pandas, which need not be installed."""
    kind = type(rows)
    return kind.__module__.partition(".")[0] == "pandas" and kind.__name__ == "DataFrame"


def _from_pandas(rows: Any) -> pa.Table:
    try:
        return pa.Table.from_pandas(rows, preserve_index=False).replace_schema_metadata(None)
    except (pa.ArrowException, ValueError) as exc:
        raise InvalidRequest(
            f"the DataFrame cannot be taken as columns of one type each: {exc}; give such columns a type, as "
            "in df.astype({'name': 'string'}), or their values one"
        ) from exc


def _from_dicts(rows: Sequence[Mapping[str, Any]], schema: Struct) -> pa.Table:
    if not rows:
        return _no_rows(schema)
    names = list(rows[0] if len(rows) == 1 else dict.fromkeys(name for row in rows for name in row))
    columns = []
    for name in names:
        field = schema.find(name)
        if field is not None and not field.metadata.keys().isdisjoint(_FILLED_IN):
            _check_in_all(rows, name)
        values = [row.get(name) for row in rows]
        columns.append(_inferred(values, name) if field is None else _typed(values, field.type, name))
    if not columns:
        return _nulls(len(rows), schema)
    return pa.table(columns, names=names)


def _check_in_all(rows: Sequence[Mapping[str, Any]], name: str) -> None:
    """Refuse dicts of which only some have a column that the table fills in: it is unclear what is meant."""
    if any(name not in row for row in rows):
        raise InvalidRequest(
            f"some of the dicts have {name!r} and others do not, and the table fills this column in itself: "
            "give it in all of them, null included, or in none, or append them in two batches"
        )


def _no_rows(schema: Struct) -> pa.Table:
    """No rows of the columns that rows bring, and of none that the table fills in itself."""
    plain = [field for field in schema.fields if field.metadata.keys().isdisjoint(_COMPUTED)]
    return pa.schema([arrow_types.arrow_field(field) for field in plain]).empty_table()


def _nulls(count: int, schema: Struct) -> pa.Table:
    """Rows that say nothing: of a column without a type, so that all are as absent."""
    return pa.table([pa.nulls(count)], names=[schema.fields[0].name])


def _inferred(values: Sequence[Any], name: str) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError) as exc:
        raise InvalidRequest(
            f"the values of column {name!r} have no one type ({exc}): give them one, or bring an Arrow table"
        ) from exc


def _typed(values: Sequence[Any], data_type: DataType, name: str) -> pa.Array:
    for value in values:
        if value is not None:
            _check_value(value, data_type, name)
    try:
        return pa.array(values, arrow_types.arrow_type(data_type, name))
    except (pa.ArrowException, OverflowError, ValueError, TypeError) as exc:
        raise ConstraintViolated(
            f"a value for column {name!r} does not fit into its type, {describe_type(data_type)} ({exc}); "
            "nothing was committed: correct or leave out such rows, or widen the column",
            code="DELTA_CAST_OVERFLOW_IN_TABLE_WRITE",
            constraint=describe_type(data_type),
        ) from exc


def _check_value(value: Any, data_type: DataType, name: str) -> None:
    """Refuse a value that is not of the type, though Arrow would make one of it."""
    match data_type:
        case Primitive(kind):
            takes = _TAKES.get(kind) or _is_decimal
            if not takes(value):
                raise _type_error(value, data_type, name)
        case Struct() if isinstance(value, Mapping):
            _check_struct(value, data_type, name)
        case Array(element, _) if isinstance(value, list | tuple):
            _check_all(value, element, f"{name}.element")
        case Map(key, item, _) if isinstance(value, Mapping):
            _check_all(value, key, f"{name}.key")
            _check_all(value.values(), item, f"{name}.value")
        case Map(key, item, _) if isinstance(value, list | tuple):
            _check_all((pair[0] for pair in value), key, f"{name}.key")
            _check_all((pair[1] for pair in value), item, f"{name}.value")
        case _:
            raise _type_error(value, data_type, name)


def _check_struct(value: Mapping[str, Any], data_type: Struct, name: str) -> None:
    fields = {field.name: field for field in data_type.fields}
    for key, part in value.items():
        if key not in fields:  # Arrow would leave it out without a word
            raise SchemaMismatch(
                f"column {name!r} has no field {key!r}:{did_you_mean(str(key), fields)} it has "
                f"{', '.join(fields)}; nothing was committed: correct the name, or add the field first",
                expected=data_type,
            )
        if part is not None:
            _check_value(part, fields[key].type, f"{name}.{key}")


def _check_all(values: Iterable[Any], data_type: DataType, name: str) -> None:
    for value in values:
        if value is not None:
            _check_value(value, data_type, name)


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _is_single(value: Any) -> bool:
    return _is_number(value) and (abs(value) <= _LARGEST_FLOAT or isinf(value) or value != value)  # noqa: PLR0124


def _is_decimal(value: Any) -> bool:
    return isinstance(value, Decimal) or _is_whole(value)


def _is_day(value: Any) -> bool:
    return isinstance(value, date) and not isinstance(value, datetime)


def _is_instant(value: Any) -> bool:
    return isinstance(value, datetime) and value.tzinfo is not None


def _is_wall_time(value: Any) -> bool:
    return isinstance(value, datetime) and value.tzinfo is None


_TAKES: Mapping[str, Callable[[Any], bool]] = {
    "boolean": lambda value: isinstance(value, bool),
    **dict.fromkeys(("byte", "short", "integer", "long"), _is_whole),
    "float": _is_single,
    "double": _is_number,
    "string": lambda value: isinstance(value, str),
    "binary": lambda value: isinstance(value, bytes | bytearray | memoryview),
    "date": _is_day,
    "timestamp": _is_instant,
    "timestamp_ntz": _is_wall_time,
}


def _type_error(value: Any, data_type: DataType, name: str) -> SchemaMismatch:
    hint = ""
    if isinstance(value, datetime) and value.tzinfo is None:
        hint = ", because it says no time zone: give it one, as in datetime.now(UTC)"
    return SchemaMismatch(
        f"the value {repr(value)[:_SHOWN]} of type {type(value).__name__} is none of column {name!r}, which "
        f"is {describe_type(data_type)}{hint}; nothing was committed: bring values of the column's type",
        expected=data_type,
    )
