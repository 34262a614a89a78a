"""What columns become: SET clauses and inserted values, as a column for each of the table's.

Names may be paths into structs. A generated column that nobody sets is left out, so that whoever
writes the rows computes it from the others.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import NullType

from headgate.errors import InvalidRequest
from headgate.protocol.features import identity_columns
from headgate.protocol.metadata.stored_expressions import DEFAULT, GENERATED
from headgate.protocol.predicates import tree
from headgate.protocol.schema.types import Field, Struct
from headgate.spark.parquet import logical_columns
from headgate.spark.rules import identity_columns as spark_identity
from headgate.spark.rules import stored_sql

Assignments = Mapping[str, Column | str]
_PART = re.compile(r"`((?:[^`]|``)+)`|([^.`]+)")


@dataclass(frozen=True, slots=True)
class _Assignment:
    """One assignment, to a column or to a part of one."""

    path: tuple[str, ...]
    value: Column


def updated_columns(schema: Struct, values: Assignments, *, alias: str = "") -> Mapping[str, Column]:
    """The columns of an updated row, from those of the row as it was, perhaps called ``alias``."""
    given = _resolve_assignments(schema, values, alias)
    for field in schema.fields:
        if _assignments_within(given, field):
            identity_columns.check_not_updated(field)
    return {
        field.name: _updated_column(field, _column(alias, field.name), _assignments_within(given, field))
        for field in schema.fields
        if GENERATED not in field.metadata or _assignments_within(given, field)
    }


def inserted_columns(
    schema: Struct, values: Assignments, *, alias: str = "", number: str
) -> Mapping[str, Column]:
    """The columns of a new row: given ones, and those that have a default; the others are left out.

    Rows for a table with identity columns must be numbered, in the column ``number``.
    """
    given = _resolve_assignments(schema, values, alias)
    new: dict[str, Column] = {}
    for field in schema.fields:
        if own := _assignments_within(given, field):
            identity_columns.check_no_explicit_insert(field)
            new[field.name] = _updated_column(
                field, F.lit(None).cast(logical_columns.spark_type(field.type)), own
            )
        elif identity_columns.is_identity(field):
            new[field.name] = spark_identity.identity_value(
                field.name, identity_columns.identity_spec(field), number
            )
        elif DEFAULT in field.metadata:
            new[field.name] = stored_sql.default_expression(field)
    return new


def with_types_for_nulls(rows: DataFrame, schema: Struct) -> DataFrame:
    """``rows`` with the table's types for columns that are null in every one of them."""
    bare = [field.name for field in rows.schema.fields if isinstance(field.dataType, NullType)]
    known = {field.name: field.type for field in schema.fields}
    nulls = {
        name: F.lit(None).cast(logical_columns.spark_type(known[name])) for name in bare if name in known
    }
    return rows.withColumns(nulls) if nulls else rows


def to_column(value: Column | str) -> Column:
    """A value as Spark computes it; text is SQL."""
    return F.expr(value) if isinstance(value, str) else value


def split_name(name: str) -> tuple[str, ...]:
    """The parts of a name, which may be quoted with backticks."""
    found = [(quoted or plain).replace("``", "`").strip() for quoted, plain in _PART.findall(name)]
    return tuple(found) or (name,)


def _resolve_assignments(schema: Struct, values: Assignments, alias: str) -> Sequence[_Assignment]:
    given = [
        _Assignment(_resolve_path(schema, name, alias), to_column(value)) for name, value in values.items()
    ]
    for place, one in enumerate(given):
        for other in given[place + 1 :]:
            shorter = min(len(one.path), len(other.path))
            if one.path[:shorter] == other.path[:shorter]:
                raise InvalidRequest(
                    f"{'.'.join(one.path)!r} and {'.'.join(other.path)!r} are the same column or part of it, "
                    "and only one value can be meant: set it once",
                    code="DELTA_CONFLICT_SET_COLUMN",
                )
    return given


def _resolve_path(schema: Struct, name: str, alias: str) -> tuple[str, ...]:
    """The path of a column or field, as the schema spells it."""
    parts = split_name(name)
    if len(parts) > 1 and alias and parts[0].lower() == alias.lower() and schema.find(parts[1]) is not None:
        parts = parts[1:]
    found, inside = [], schema
    for depth, part in enumerate(parts):
        field = inside.find(part)
        if field is None:
            tree.resolve_column(schema, parts)  # says which columns there are
            raise InvalidRequest(f"there is no column {name!r}", code="DELTA_COLUMN_NOT_FOUND_IN_SCHEMA")
        found.append(field.name)
        if depth + 1 < len(parts):
            if not isinstance(field.type, Struct):
                raise InvalidRequest(
                    f"{name!r} cannot be set: {'.'.join(found)!r} is no struct, and only fields of structs "
                    "can be set alone; set the whole column",
                    code="DELTA_UNSUPPORTED_FIELD_UPDATE_NON_STRUCT",
                )
            inside = field.type
    return tuple(found)


def _assignments_within(given: Iterable[_Assignment], field: Field) -> list[_Assignment]:
    return [_Assignment(one.path[1:], one.value) for one in given if one.path[0] == field.name]


def _updated_column(field: Field, column: Column, given: Sequence[_Assignment]) -> Column:
    if not given:
        return column
    whole = next((one for one in given if not one.path), None)
    if whole is not None:
        return whole.value
    if not isinstance(field.type, Struct):
        raise AssertionError(field.name)
    # A struct that is null becomes one, with nulls for its other fields.
    return F.struct(
        *(
            _updated_column(part, column.getField(part.name), _assignments_within(given, part)).alias(
                part.name
            )
            for part in field.type.fields
        )
    )


def _column(alias: str, name: str) -> Column:
    quoted = name.replace("`", "``")
    return F.col(f"{alias}.`{quoted}`" if alias else f"`{quoted}`")
