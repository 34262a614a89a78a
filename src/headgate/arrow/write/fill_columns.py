"""What are the values of every column of the table, for rows that bring some of them?

A column that the rows have is fitted to its type. One that they lack gets its default, the next values of an
identity column, what its expression says, or null; in this order, because expressions look at the others.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field

import numpy as np
import pyarrow as pa

from headgate.arrow import arrow_types, char_varchar, column_fit, expressions
from headgate.arrow.arrow_types import NEEDS_SPARK
from headgate.arrow.expressions import ExactExpression, RowContext
from headgate.errors import ConstraintViolated, UnsupportedFeature
from headgate.protocol.features import identity_columns
from headgate.protocol.features.identity_columns import IdentitySpec
from headgate.protocol.metadata import stored_expressions
from headgate.protocol.metadata.sql_functions import ExpressionPlace
from headgate.protocol.metadata.stored_expressions import DEFAULT, GENERATED
from headgate.protocol.schema.types import Field, Primitive, Struct, describe_type


@dataclass(frozen=True, slots=True)
class FillInput:
    """What columns are filled from: the rows as they came, the marks of identity columns, and the moment."""

    rows: pa.Table
    identities: Mapping[str, IdentitySpec]
    now_micros: int
    columns: dict[str, pa.ChunkedArray] = dataclass_field(default_factory=dict)
    """Those that are filled already."""

    @property
    def context(self) -> RowContext:
        return RowContext(self.columns, self.rows.num_rows, self.now_micros)


@dataclass(frozen=True, slots=True)
class ColumnFill:
    """Where the values of one column come from."""

    name: str
    fill: Callable[[FillInput], pa.ChunkedArray]
    is_late: bool = False
    """Whether it looks at other columns, and so comes after these."""


def plan_fills(
    schema: Struct, incoming: pa.Schema, zone: Callable[[], str]
) -> tuple[tuple[ColumnFill, ...], Mapping[str, ExactExpression]]:
    """How each column of the table, void ones apart, is filled; and the generated ones that rows bring.

    Of the latter it must be checked that they are what their expressions say.
    """
    fills, checked = [], {}
    brought = {
        field.name.lower(): at for at, field in enumerate(incoming) if not pa.types.is_null(field.type)
    }
    for field in schema.fields:
        if field.type == Primitive("void"):
            continue
        place = brought.get(field.name.lower())
        if place is not None and GENERATED in field.metadata:
            checked[field.name] = generation_expression(field, schema, zone)
        fills.append(_fill(field, schema, place, zone))
    return tuple(sorted(fills, key=lambda fill: fill.is_late)), checked


def generation_expression(field: Field, schema: Struct, zone: Callable[[], str]) -> ExactExpression:
    """What a generated column is computed as; refused if only Spark can."""
    text = stored_expressions.check_expression(
        field.metadata[GENERATED], ExpressionPlace.GENERATED, field.name
    )
    return _exact(text, field, schema, zone, "is generated as")


def fill_columns(fills: Sequence[ColumnFill], given: FillInput) -> Mapping[str, pa.ChunkedArray]:
    """The columns of the table for these rows."""
    for fill in fills:
        given.columns[fill.name] = fill.fill(given)
    return given.columns


def fit_given(values: pa.ChunkedArray, field: Field) -> pa.ChunkedArray:
    """Values that rows bring, in the type of the column; ``ConstraintViolated`` if one does not fit."""
    try:
        fitted = column_fit.fit_column(values, field, _place_by_name)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as exc:
        raise ConstraintViolated(
            f"a value of column {field.name!r} does not fit into its type, {describe_type(field.type)} "
            f"({exc}); nothing was committed: cast or filter such rows, or widen the column",
            code="DELTA_CAST_OVERFLOW_IN_TABLE_WRITE",
            constraint=describe_type(field.type),
        ) from exc
    return char_varchar.pad_and_check_length(fitted, field)


def _place_by_name(field: Field, there: Sequence[pa.Field]) -> int | None:
    names = [part.name for part in there]
    if field.name in names:
        return names.index(field.name)
    lower = [name.lower() for name in names]
    return lower.index(field.name.lower()) if field.name.lower() in lower else None


def _fill(field: Field, schema: Struct, place: int | None, zone: Callable[[], str]) -> ColumnFill:
    if place is not None:
        return ColumnFill(field.name, lambda given: fit_given(given.rows.column(place), field))
    if identity_columns.is_identity(field):
        return ColumnFill(field.name, lambda given: _next_values(field.name, given))
    if GENERATED in field.metadata:
        computed = generation_expression(field, schema, zone)
        return ColumnFill(field.name, lambda given: _evaluated(computed, field, given.context), is_late=True)
    if DEFAULT in field.metadata:
        text = stored_expressions.check_expression(
            field.metadata[DEFAULT], ExpressionPlace.DEFAULT, field.name
        )
        default = _exact(text, field, Struct(()), zone, "has the default")
        return ColumnFill(field.name, lambda given: _evaluated(default, field, given.context))
    wanted = arrow_types.arrow_type(field.type, field.name)
    return ColumnFill(
        field.name, lambda given: pa.chunked_array([pa.nulls(given.rows.num_rows, wanted)], wanted)
    )


def _evaluated(expression: ExactExpression, field: Field, rows: RowContext) -> pa.ChunkedArray:
    try:
        return char_varchar.pad_and_check_length(expression.evaluate(rows), field)
    except pa.ArrowInvalid as exc:
        raise ConstraintViolated(
            f"the expression of column {field.name!r} has no value of type {describe_type(field.type)} for a "
            f"row ({exc}); nothing was committed: correct such rows",
            code="DELTA_CAST_OVERFLOW_IN_TABLE_WRITE",
            constraint=describe_type(field.type),
        ) from exc


def _next_values(name: str, given: FillInput) -> pa.ChunkedArray:
    spec, count = given.identities[name], given.rows.num_rows
    if count > spec.left:
        raise identity_columns.exhausted_error(spec, name)
    values = np.arange(count, dtype=np.int64) * np.int64(spec.step) + np.int64(spec.following if count else 0)
    return pa.chunked_array([pa.array(values, pa.int64())], pa.int64())


def _exact(text: str, field: Field, schema: Struct, zone: Callable[[], str], what: str) -> ExactExpression:
    found = expressions.compile_expression(text, schema, field.type, zone())
    if found is None:
        raise UnsupportedFeature(
            f"column {field.name!r} {what} {text}, which cannot be evaluated exactly without Spark: append a "
            "DataFrame of Spark, table.append(spark.createDataFrame(…))",
            code=NEEDS_SPARK, features=(field.name,), operation="write",
        )  # fmt: skip
    return found
