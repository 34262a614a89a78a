"""Which rows does a table refuse? By NOT NULL, invariants, generated columns and CHECK constraints.

The rules are those that Spark enforces while it writes. One that cannot be evaluated exactly without it is
refused when the write is planned.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from headgate.arrow import row_filter
from headgate.arrow.arrow_types import NEEDS_SPARK
from headgate.arrow.expressions import ExactExpression, RowContext
from headgate.errors import ConstraintViolated, UnsupportedFeature
from headgate.protocol.actions import Metadata
from headgate.protocol.metadata import stored_expressions
from headgate.protocol.metadata.sql_functions import ExpressionPlace
from headgate.protocol.metadata.stored_expressions import GENERATED, INVARIANT
from headgate.protocol.metadata.table_properties import CONSTRAINT_PREFIX
from headgate.protocol.predicates import from_sql
from headgate.protocol.schema import schema_contents
from headgate.protocol.schema.schema_contents import FieldStep, Items, RequiredPlace
from headgate.protocol.schema.types import Field, Struct

_SHOWN_COLUMNS, _SHOWN_CHARACTERS = 8, 80
_NOT_SHOWN = (pa.types.is_nested, pa.types.is_null, pa.types.is_binary)

BrokenRows = Callable[[RowContext], pa.ChunkedArray | None]
"""For each row whether it breaks a rule; None if no row does."""


@dataclass(frozen=True, slots=True)
class RowRule:
    """What every row must be, and what is said of one that is not."""

    constraint: str
    says: str
    broken: BrokenRows
    code: str = "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES"


def plan_rules(
    schema: Struct, metadata: Metadata, computed: Mapping[str, ExactExpression], zone: Callable[[], str]
) -> tuple[RowRule, ...]:
    """The rules of a table; ``computed`` are the generated columns for which rows bring values."""
    return (
        *(rule for field in schema.fields for rule in _not_null(field)),
        *(_invariant(field, schema, zone) for field in schema.fields if INVARIANT in field.metadata),
        *(_generated(field, computed[field.name]) for field in schema.fields if field.name in computed),
        *_constraints(schema, metadata, zone),
    )


def check_rows(rules: Sequence[RowRule], rows: RowContext) -> None:
    """Refuse rows of which one breaks a rule."""
    for rule in rules:
        broken = rule.broken(rows)
        if broken is not None and pc.any(broken).as_py():
            shown = _row_text(rows, pc.index(broken, value=True).as_py(), rule.constraint)
            raise ConstraintViolated(
                f"{rule.says}; nothing was committed: fix or filter such rows. The first one found has "
                f"{shown}",
                code=rule.code,
                constraint=rule.constraint,
                row=shown,
            )


def _constraints(schema: Struct, metadata: Metadata, zone: Callable[[], str]) -> Iterator[RowRule]:
    for key, text in sorted(metadata.configuration.items()):
        if key.lower().startswith(CONSTRAINT_PREFIX):
            name = key[len(CONSTRAINT_PREFIX) :]
            stored_expressions.check_expression(text, ExpressionPlace.CONSTRAINT, name)
            yield RowRule(
                f"CHECK {name} ({text})",
                f"the CHECK constraint {name!r} of the table, {text}, is not true for a row",
                _not_met(text, schema, zone, f"the CHECK constraint {name!r}"),
            )


def _invariant(field: Field, schema: Struct, zone: Callable[[], str]) -> RowRule:
    text = stored_expressions.check_invariant(field.metadata[INVARIANT], field.name)
    return RowRule(
        f"INVARIANT {field.name} ({text})",
        f"the invariant of column {field.name!r}, {text}, is not true for a row",
        _not_met(text, schema, zone, f"the invariant of column {field.name!r}"),
    )


def _not_met(text: str, schema: Struct, zone: Callable[[], str], what: str) -> BrokenRows:
    """The rows for which a condition is not true, NULL being no truth."""
    predicate = from_sql.parse(text, schema, time_zone="")
    if row_filter.first_opaque(predicate) is not None:
        predicate = from_sql.parse(text, schema, time_zone=zone())
    if row_filter.first_opaque(predicate) is not None:
        raise UnsupportedFeature(
            f"{what} ({text}) cannot be evaluated exactly without Spark: append a DataFrame of Spark, "
            "table.append(spark.createDataFrame(…))",
            code=NEEDS_SPARK, features=("checkConstraints",), operation="write",
        )  # fmt: skip

    def broken(rows: RowContext) -> pa.ChunkedArray | None:
        found = row_filter.true_for(predicate, rows.columns, rows.count)
        return None if found is None else pc.invert(found)

    return broken


def _generated(field: Field, computed: ExactExpression) -> RowRule:
    def broken(rows: RowContext) -> pa.ChunkedArray:
        values, meant = rows.columns[field.name], computed.evaluate(rows)
        same = pc.fill_null(pc.equal(values, meant), pa.scalar(value=False))
        if pa.types.is_floating(values.type):
            same = pc.or_kleene(same, pc.and_(pc.is_nan(values), pc.is_nan(meant)))
        return pc.invert(pc.or_kleene(same, pc.and_(pc.is_null(values), pc.is_null(meant))))

    expression = field.metadata[GENERATED]
    return RowRule(
        f"Generated Column ({field.name} <=> {expression})",
        f"column {field.name!r} is generated as {expression}, and a row has another value for it",
        broken,
    )


def _not_null(field: Field) -> Iterator[RowRule]:
    for place in schema_contents.required_places(field):
        yield RowRule(
            f"{place.path} IS NOT NULL",
            f"column {place.path!r} is NOT NULL in the table and a row has no value for it",
            partial(_if_any, _breaks(place), field.name),
            "DELTA_NOT_NULL_CONSTRAINT_VIOLATED",
        )


RowBreaks = Callable[[pa.Array], pa.Array]
"""For each value whether it has a null where none may be."""


def _if_any(breaks: RowBreaks, name: str, rows: RowContext) -> pa.ChunkedArray | None:
    values, count = rows.columns.get(name), rows.count
    if values is None:  # of type void: all are null
        return pa.chunked_array([pa.repeat(pa.scalar(value=True), count)], pa.bool_())
    if not pa.types.is_nested(values.type) and not values.null_count:
        return None
    return pa.chunked_array([breaks(chunk) for chunk in values.chunks], pa.bool_())


def _breaks(place: RequiredPlace) -> RowBreaks:
    """Which values of a column have a null at a place."""
    breaks: RowBreaks = pc.is_null
    for step in reversed(place.steps):
        breaks = _in_field(step.at, breaks) if isinstance(step, FieldStep) else _in_any(_LISTS[step], breaks)
    return breaks


def _in_field(at: int, breaks: RowBreaks) -> RowBreaks:
    return lambda struct: pc.and_(pc.is_valid(struct), breaks(struct.field(at)))


def _in_any(items: Callable[[pa.Array], pa.Array], breaks: RowBreaks) -> RowBreaks:
    def broken(values: pa.Array) -> pa.Array:
        lists = items(values)
        bad = pa.array(set(lists_with(lists, breaks)), pa.int64())
        return pc.is_in(pa.array(range(len(values)), pa.int64()), value_set=bad)

    return broken


def lists_with(lists: pa.ListArray, breaks: RowBreaks) -> list[int]:
    """The places of lists with an element that breaks a rule."""
    found: list[int] = pc.list_parent_indices(lists).filter(breaks(lists.flatten())).to_pylist()
    return found


def _entries(values: pa.MapArray, at: int) -> pa.ListArray:
    kinds = (values.type.key_type, values.type.item_type)
    listed = values.cast(pa.list_(pa.struct([pa.field("key", kinds[0]), pa.field("value", kinds[1])])))
    lengths = pc.fill_null(pc.list_value_length(listed), 0).cast(pa.int32())
    offsets = pa.concat_arrays([pa.array([0], pa.int32()), pc.cumulative_sum(lengths)])
    return pa.ListArray.from_arrays(offsets, listed.flatten().field(at))


_LISTS: Mapping[Items, Callable[[pa.Array], pa.ListArray]] = {
    Items.ELEMENTS: lambda values: values,
    Items.KEYS: partial(_entries, at=0),
    Items.VALUES: partial(_entries, at=1),
}
"""The items of arrays or maps as lists."""


def _row_text(rows: RowContext, at: int, about: str) -> str:
    """The values of a row as text: of columns that a rule is about first, of others while there is room."""
    plain = [
        name
        for name, values in rows.columns.items()
        if not any(is_kind(values.type) for is_kind in _NOT_SHOWN)
    ]
    words = set(re.findall(r"\w+", about.lower()))
    plain.sort(key=lambda name: name.lower() not in words)
    shown = ((name, rows.columns[name][at].as_py()) for name in plain[:_SHOWN_COLUMNS])
    return ", ".join(
        f"{name} = {'null' if value is None else str(value)[:_SHOWN_CHARACTERS]}" for name, value in shown
    )
