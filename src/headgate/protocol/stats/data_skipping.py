"""Which files can hold rows that a predicate selects.

A file is left out only if its partition values or its statistics prove that the predicate is
true for none of its rows.

Of three files, the first two with statistics of ``id`` and the third with none,

    a   {"numRecords":3,"minValues":{"id":1},"maxValues":{"id":9},"nullCount":{"id":0}}
    b   {"numRecords":3,"minValues":{"id":10},"maxValues":{"id":19},"nullCount":{"id":0}}

``id < 10`` leaves a and c, ``id = 15`` b and c, ``id IS NULL`` only c, and ``id <> 5`` all three.
"""

from collections.abc import Iterator
from decimal import Decimal
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from headgate.protocol.predicates import tree
from headgate.protocol.predicates.tree import (
    Always,
    And,
    Compare,
    In,
    IsNull,
    Never,
    NotNull,
    NotStartsWith,
    Op,
    Opaque,
    Or,
    Predicate,
    StartsWith,
    Value,
)
from headgate.protocol.stats.column_bounds import BoundsRequest, ColumnBounds
from headgate.protocol.stats.file_bounds import FileBounds

_FEW = 16


def keep_mask(bounds: FileBounds, predicate: Predicate) -> pa.BooleanArray:
    """For each of the files whether to read it."""
    bounds.load(_bounds_requests(predicate))
    return _may_match(predicate, bounds)


def _bounds_requests(predicate: Predicate) -> Iterator[BoundsRequest]:
    match predicate:
        case And(parts) | Or(parts):
            for part in parts:
                yield from _bounds_requests(part)
        case IsNull(column):
            yield BoundsRequest(column)
        case _:
            yield from (BoundsRequest(column, nulls=False) for column in tree.referenced_columns(predicate))


def _may_match(predicate: Predicate, bounds: FileBounds) -> pa.BooleanArray:
    match predicate:
        case Always() | Opaque():
            return pa.repeat(value=True, size=bounds.files.num_rows)
        case Never():
            return pa.repeat(value=False, size=bounds.files.num_rows)
        case And(parts):
            return reduce(pc.and_, (_may_match(part, bounds) for part in parts))
        case Or(parts):
            return reduce(pc.or_, (_may_match(part, bounds) for part in parts))
        case IsNull(column):
            return bounds.of(column).may_be_null
        case NotNull(column):
            return bounds.of(column, nulls=False).may_have_value
        case Compare(column, op, value):
            found = bounds.of(column, nulls=False)
            return pc.and_(found.may_have_value, _may_compare(found, op, value))
        case In(column, values):
            found = bounds.of(column, nulls=False)
            few = len(values) <= _FEW
            return pc.and_(found.may_have_value, _is_one_of(found, values) if few else _hits(found, values))
        case StartsWith(column, prefix):
            found = bounds.of(column, nulls=False)
            begins = pc.less_equal(pc.utf8_slice_codeunits(found.low, 0, len(prefix)), prefix)
            reaches = pc.greater_equal(found.high, prefix)
            return pc.and_(found.may_have_value, pc.and_(_unless_false(begins), _unless_false(reaches)))
        case NotStartsWith(column, prefix):
            found = bounds.of(column, nulls=False)
            ends = (pc.starts_with(end, prefix) for end in (found.low, found.high))
            return pc.and_(found.may_have_value, _unless_true(reduce(pc.and_kleene, ends)))


def _may_compare(found: ColumnBounds, op: Op, value: Value) -> pa.BooleanArray:
    low, high = found.low, found.high
    match op:
        case Op.LT:
            return _unless_false(pc.less(low, _scalar(value, low)))
        case Op.LE:
            return _unless_false(pc.less_equal(low, _scalar(value, low)))
        case Op.GT:
            return _unless_false(pc.greater(high, _scalar(value, high)))
        case Op.GE:
            return _unless_false(pc.greater_equal(high, _scalar(value, high)))
        case Op.EQ:
            return pc.and_(_may_compare(found, Op.LE, value), _may_compare(found, Op.GE, value))
        case Op.NE:
            ends = (pc.equal(end, _scalar(value, end)) for end in (low, high))
            return _unless_true(reduce(pc.and_kleene, ends))


def _scalar(value: Value, beside: pa.Array) -> pa.Scalar:
    if pa.types.is_floating(beside.type) and isinstance(value, Decimal):
        return pa.scalar(float(value), beside.type)
    return pa.scalar(int(value) if isinstance(value, bool) else value, beside.type)


def _unless_false(known: pa.BooleanArray) -> pa.BooleanArray:
    return pc.fill_null(known, fill_value=True)


def _unless_true(known: pa.BooleanArray) -> pa.BooleanArray:
    return pc.fill_null(pc.invert(known), fill_value=True)


def _is_one_of(found: ColumnBounds, values: tuple[Value, ...]) -> pa.BooleanArray:
    return reduce(pc.or_, (_may_compare(found, Op.EQ, value) for value in values))


def _hits(found: ColumnBounds, values: tuple[Value, ...]) -> pa.BooleanArray:
    """Whether the first value that is not below a file is not above it either.

    One sort of the lower bounds among the values finds that value for all files at once.
    """
    count = len(found.low)
    wanted = pa.array([_scalar(value, found.low).as_py() for value in values], found.low.type)
    mixed = pa.concat_arrays([found.low, wanted])
    order = pc.sort_indices(mixed)  # stable: a bound stands before the value that equals it
    is_value = pc.greater_equal(order, count)
    following = pc.fill_null_backward(pc.if_else(is_value, mixed.take(order), pa.scalar(None, mixed.type)))
    nearest = following.take(pc.sort_indices(order).slice(0, count))
    reached = pc.and_kleene(pc.is_valid(nearest), pc.less_equal(nearest, found.high))
    below = _may_compare(found, Op.GE, values[0])
    return pc.if_else(pc.is_null(found.low), below, _unless_false(reached))
