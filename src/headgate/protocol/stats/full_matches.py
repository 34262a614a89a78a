"""Which files have only rows that a predicate selects, so that none of them need be opened to know.

The counterpart of ``data_skipping``: a file is named only if its partition values or its statistics
prove that the predicate is true for every one of its rows. That as many values are null as there are
rows proves nothing: other writers' statistics may count too few rows.
"""

from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from headgate.protocol.predicates.tree import Always, And, Compare, In, IsNull, NotNull, Op, Or, Predicate
from headgate.protocol.stats.column_bounds import ColumnBounds
from headgate.protocol.stats.file_bounds import FileBounds


def full_match_mask(bounds: FileBounds, predicate: Predicate) -> pa.BooleanArray:
    """For each of the files whether every row of it is selected."""
    match predicate:
        case Always():
            return pa.repeat(value=True, size=bounds.files.num_rows)
        case And(parts):
            return reduce(pc.and_, (full_match_mask(bounds, part) for part in parts))
        case Or(parts):
            return reduce(pc.or_, (full_match_mask(bounds, part) for part in parts))
        case Compare(column, op, value):
            found = bounds.of(column)
            return _sure(pc.and_kleene(_no_nulls(found), _always_compares(found, op, value)))
        case In(column, values):
            found = bounds.of(column)
            one = reduce(pc.or_kleene, (_always_compares(found, Op.EQ, value) for value in values))
            return _sure(pc.and_kleene(_no_nulls(found), one))
        case NotNull(column):
            return _no_nulls(bounds.of(column))
        case IsNull(column) if bounds.is_partition(column):
            return _sure(pc.invert(bounds.of(column).may_have_value))
        case _:
            return pa.repeat(value=False, size=bounds.files.num_rows)


def _always_compares(found: ColumnBounds, op: Op, value: object) -> pa.BooleanArray:
    low, high = found.low, found.high
    # A NaN is above every number, and not every writer's bounds say that there is one.
    if pa.types.is_floating(low.type):
        return pa.repeat(value=False, size=len(low))
    beside = pa.scalar(int(value) if isinstance(value, bool) else value, low.type)
    match op:
        case Op.LT:
            return pc.less(high, beside)
        case Op.LE:
            return pc.less_equal(high, beside)
        case Op.GT:
            return pc.greater(low, beside)
        case Op.GE:
            return pc.greater_equal(low, beside)
        case Op.EQ:
            return pc.and_kleene(pc.equal(low, beside), pc.equal(high, beside))
        case Op.NE:
            return pc.or_kleene(pc.less(high, beside), pc.greater(low, beside))


def _no_nulls(found: ColumnBounds) -> pa.BooleanArray:
    return _sure(pc.invert(found.may_be_null))


def _sure(known: pa.BooleanArray) -> pa.BooleanArray:
    return pc.fill_null(known, fill_value=False)
