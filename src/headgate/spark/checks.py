"""Which rows a table refuses, decided by Spark while it writes them."""

import re
from collections.abc import Callable, Iterator

from pyspark.sql import Column
from pyspark.sql import functions as F

from headgate.errors import ConstraintViolated
from headgate.protocol.schema.types import Array, DataType, Field, Map, Primitive, Struct

Condition = Callable[[Column], Column]

_MARK = re.compile(r"HEADGATE_NOT_NULL\(([^()]*)\)")


def not_null(column: Column, field: Field) -> Column:
    """``column``, failing the job at the first row with a null where ``field`` allows none."""
    checked: Column | None = None
    for path, broken in _places(field.name, field.type, nullable=field.nullable):
        failure = F.raise_error(F.lit(f"HEADGATE_NOT_NULL({path})"))
        condition = broken(column)
        checked = F.when(condition, failure) if checked is None else checked.when(condition, failure)
    return column if checked is None else checked.otherwise(column)


def violation(failure: Exception) -> ConstraintViolated | None:
    """The broken rule behind a failed job, or None if it failed for another reason."""
    # Some versions of Spark tell the cause only in the stack trace.
    found = _MARK.search(f"{failure} {getattr(failure, '_stackTrace', '')}")
    if found is None:
        return None
    return ConstraintViolated(
        f"column {found[1]!r} is NOT NULL in the table and a row has no value for it; nothing was "
        "committed: fill or filter such rows",
        code="DELTA_NOT_NULL_CONSTRAINT_VIOLATED",
        constraint=f"{found[1]} IS NOT NULL",
    )


def _places(path: str, data_type: DataType, *, nullable: bool) -> Iterator[tuple[str, Condition]]:
    """Every place in a column that must not be null, with the condition that it is."""
    if not nullable:
        yield path, F.isnull
    match data_type:
        case Primitive():
            return
        case Struct(fields):
            for field in fields:
                inner = _places(f"{path}.{field.name}", field.type, nullable=field.nullable)
                yield from ((name, _in_field(field.name, broken)) for name, broken in inner)
        case Array(element, contains_null):
            inner = _places(f"{path}.element", element, nullable=contains_null)
            yield from ((name, _in_any(lambda items: items, broken)) for name, broken in inner)
        case Map(key, value, contains_null):
            inner = _places(f"{path}.key", key, nullable=True)
            yield from ((name, _in_any(F.map_keys, broken)) for name, broken in inner)
            inner = _places(f"{path}.value", value, nullable=contains_null)
            yield from ((name, _in_any(F.map_values, broken)) for name, broken in inner)


def _in_field(name: str, broken: Condition) -> Condition:
    return lambda struct: struct.isNotNull() & broken(struct.getField(name))


def _in_any(items: Condition, broken: Condition) -> Condition:
    return lambda column: F.exists(items(column), broken)
