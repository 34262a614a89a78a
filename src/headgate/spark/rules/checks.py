"""Which rows a table refuses, decided by Spark while it writes them.

Every rule becomes a condition on the rows. The first that is met fails the job, with the number of the
rule and the values of the row in the message, from which the error is made.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyspark.errors import AnalysisException
from pyspark.sql import Column
from pyspark.sql import functions as F

from headgate.errors import ConstraintViolated
from headgate.protocol.actions import Metadata
from headgate.protocol.metadata.stored_expressions import GENERATED, INVARIANT
from headgate.protocol.metadata.table_properties import CONSTRAINT_PREFIX
from headgate.protocol.schema import schema_contents
from headgate.protocol.schema.schema_contents import FieldStep, Items, Step
from headgate.protocol.schema.types import DataType, Field, Primitive, Struct
from headgate.spark.calls import errors
from headgate.spark.parquet import logical_columns
from headgate.spark.rules import stored_sql
from headgate.spark.session import schema as spark_schema

_SHOWN_COLUMNS, _SHOWN_CHARACTERS = 8, 80
_RULE = re.compile(r"HEADGATE_RULE\((\d+)\)\[(.*?)\]HEADGATE", re.DOTALL)
_CAST = re.compile(r"HEADGATE_CAST\(([^)]*(?:\([^)]*\))?)\)\[(.*?)\]HEADGATE", re.DOTALL)


@dataclass(frozen=True, slots=True)
class RowConstraint:
    """What every row must be, and what is said of one that is not."""

    constraint: str
    says: str
    broken: Column
    code: str = "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES"


def row_constraints(schema: Struct, metadata: Metadata) -> tuple[RowConstraint, ...]:
    """The rules of a table for rows with its columns under their own names."""
    return (
        *(rule for field in schema.fields for rule in _not_null(field)),
        *(rule for field in schema.fields for rule in _invariants(field)),
        *(rule for field in schema.fields for rule in _generated(field)),
        *_constraints(metadata),
    )


def enforce(column: Column, given: Sequence[RowConstraint], schema: Struct) -> Column:
    """``column``, failing the job at the first row that breaks a rule."""
    checked: Column | None = None
    for number, rule in enumerate(given):
        told = F.concat(
            F.lit(f"HEADGATE_RULE({number})["), _row_text(schema, rule.constraint), F.lit("]HEADGATE")
        )
        failure = F.raise_error(told)
        checked = F.when(rule.broken, failure) if checked is None else checked.when(rule.broken, failure)
    return column if checked is None else checked.otherwise(column)


def cast_failure(column: Column, type_name: str) -> Column:
    """What fails the job at a value that a column of that type cannot hold."""
    shown = F.substring(column.cast("string"), 1, _SHOWN_CHARACTERS)
    return F.raise_error(F.concat(F.lit(f"HEADGATE_CAST({type_name})["), shown, F.lit("]HEADGATE")))


def constraint_violation(
    failure: Exception, given: Sequence[RowConstraint] = ()
) -> ConstraintViolated | None:
    """The broken rule behind a failed job, or None if it failed for another reason."""
    if isinstance(failure, AnalysisException):  # no row was looked at, and the plan that it quotes has rules
        return None
    told = errors.failure_text(failure)
    if (found := _CAST.search(told)) is not None:
        return ConstraintViolated(
            f"the value {found[2]!r} does not fit into a column of type {found[1]}; nothing was committed: "
            "cast or filter such rows, or widen the column",
            code="DELTA_EXCEED_CHAR_VARCHAR_LIMIT"
            if "char" in found[1]
            else "DELTA_CAST_OVERFLOW_IN_TABLE_WRITE",
            constraint=found[1],
            value=found[2],
        )
    if (found := _RULE.search(told)) is None:
        return None
    rule = given[int(found[1])]
    return ConstraintViolated(
        f"{rule.says}; nothing was committed: fix or filter such rows. The first one found has {found[2]}",
        code=rule.code,
        constraint=rule.constraint,
        row=found[2],
    )


def _constraints(metadata: Metadata) -> Iterator[RowConstraint]:
    for key, expression in sorted(metadata.configuration.items()):
        if key.lower().startswith(CONSTRAINT_PREFIX):
            name = key[len(CONSTRAINT_PREFIX) :]
            yield RowConstraint(
                f"CHECK {name} ({expression})",
                f"the CHECK constraint {name!r} of the table, {expression}, is not true for a row",
                ~stored_sql.constraint(expression, name),
            )


def _invariants(field: Field) -> Iterator[RowConstraint]:
    if INVARIANT not in field.metadata:
        return
    expression, is_met = stored_sql.invariant(field)
    yield RowConstraint(
        f"INVARIANT {field.name} ({expression})",
        f"the invariant of column {field.name!r}, {expression}, is not true for a row",
        ~is_met,
    )


def _generated(field: Field) -> Iterator[RowConstraint]:
    if GENERATED not in field.metadata:
        return
    expression = field.metadata[GENERATED]
    computed = stored_sql.generation_expression(field).cast(logical_columns.spark_type(field.type))
    yield RowConstraint(
        f"Generated Column ({field.name} <=> {expression})",
        f"column {field.name!r} is generated as {expression}, and a row has another value for it",
        ~spark_schema.column(field.name).eqNullSafe(computed),
    )


def _not_null(field: Field) -> Iterator[RowConstraint]:
    for place in schema_contents.required_places(field):
        yield RowConstraint(
            f"{place.path} IS NOT NULL",
            f"column {place.path!r} is NOT NULL in the table and a row has no value for it",
            _is_missing(place.steps, spark_schema.column(field.name)),
            "DELTA_NOT_NULL_CONSTRAINT_VIOLATED",
        )


def _row_text(schema: Struct, about: str) -> Column:
    """The values of a row as text: of columns that a rule is about first, of others while there is room."""
    plain = [field for field in schema.fields if _is_showable(field.type)]
    words = set(re.findall(r"\w+", about.lower()))
    plain.sort(key=lambda field: field.name.lower() not in words)
    return F.concat_ws(", ", *map(_value_text, plain[:_SHOWN_COLUMNS]))


def _value_text(field: Field) -> Column:
    value = F.substring(spark_schema.column(field.name).cast("string"), 1, _SHOWN_CHARACTERS)
    return F.concat(F.lit(f"{field.name} = "), F.coalesce(value, F.lit("null")))


def _is_showable(data_type: DataType) -> bool:
    return isinstance(data_type, Primitive) and data_type.name not in ("void", "variant", "binary")


def _is_missing(steps: Sequence[Step], column: Column) -> Column:
    """Whether a value has a null where these steps lead."""
    if not steps:
        return F.isnull(column)
    first, rest = steps[0], steps[1:]
    if isinstance(first, FieldStep):
        return column.isNotNull() & _is_missing(rest, column.getField(first.name))
    return F.exists(_ARRAYS[first](column), lambda item: _is_missing(rest, item))


_ARRAYS: Mapping[Items, Callable[[Column], Column]] = {
    Items.ELEMENTS: lambda column: column,
    Items.KEYS: F.map_keys,
    Items.VALUES: F.map_values,
}
"""The items of an array or a map as an array."""
