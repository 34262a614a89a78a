"""Between which values one column lies, file by file, as typed Arrow columns.

Bounds are widened wherever a writer may have cut or rounded them, so they hold for every row:
see ``_lower`` and ``_upper``. A bound that is missing or cannot be read is null.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

import pyarrow as pa
import pyarrow.compute as pc

from headgate.protocol.predicates.comparisons import MAX_CHARACTER, precision_and_scale
from headgate.protocol.predicates.tree import Column
from headgate.protocol.schema import partition_values
from headgate.protocol.schema.types import Primitive
from headgate.protocol.stats import file_stats, stats_leaves
from headgate.protocol.stats.stats_json import StatsLeaf
from headgate.protocol.stats.stats_leaves import PARSED

SLICE_ROWS = 8 * 1024
"""How many files are looked at together: more would only take more memory."""

_FEW = SLICE_ROWS // 2
_RECORDS = StatsLeaf("numRecords", ())
_MICROS = pa.timestamp("us")
_MAYBE_CUT = 32
_ASCII_SURE, _OTHERS_SURE = 31, 15
_SUB_MILLI = 999
_EARLIEST, _LATEST = 999 - (1 << 63), (1 << 63) - 1_000
"""Microseconds; scalars are made where they are used, because the first that pyarrow makes imports pandas."""
_INSTANT = r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:?\d\d)$"
_WALL = r"^\d{4}-\d\d-\d\d([T ]\d\d:\d\d:\d\d(\.\d{1,6})?Z?)?$"
_EXACT_DIGITS = 15
_FLOAT_SLACK, _TINY = 1.2e-7, 1e-44


@dataclass(frozen=True, slots=True)
class ColumnBounds:
    """What is known of one column in every file; ``low`` and ``high`` are null where unknown.

    ``may_be_null`` is null where nobody has looked.
    """

    low: pa.Array
    high: pa.Array
    may_be_null: pa.BooleanArray
    may_have_value: pa.BooleanArray

    def __len__(self) -> int:
        return len(self.low)

    def take(self, rows: pa.Array) -> "ColumnBounds":
        """Those of some files, in the order asked for."""
        return ColumnBounds(*(getattr(self, part.name).take(rows) for part in fields(self)))

    def filter(self, keep: pa.BooleanArray) -> "ColumnBounds":
        """Those of some files."""
        return ColumnBounds(*(getattr(self, part.name).filter(keep) for part in fields(self)))

    def answers(self, asked: "BoundsRequest") -> bool:
        """Whether this is enough for somebody who asks so."""
        return not (asked.nulls and self.may_be_null.null_count)


def concat_bounds(parts: Sequence[ColumnBounds]) -> ColumnBounds:
    """One after the other, as if the files had been one table."""
    if len(parts) == 1:
        return parts[0]
    return ColumnBounds(
        *(pa.concat_arrays([getattr(part, field.name) for part in parts]) for field in fields(ColumnBounds))
    )


@dataclass(frozen=True, slots=True)
class BoundsRequest:
    """A column that somebody asks about, by its path in the files."""

    column: Column
    nulls: bool = True
    """Whether it matters if it may be null; where it does not, nulls need not be counted."""


class BoundsReader:
    """Reads the bounds of some columns out of statistics.

    What is counted is not read where only values matter and every file has bounds: one that has
    both has a value. Of few files everything is read, to save whoever asks for nulls later another look.
    """

    __slots__ = ("_asked", "_ends", "_leaves", "leaves")

    def __init__(self, asked: Iterable[BoundsRequest]) -> None:
        self._asked = tuple(asked)
        columns = [one.column for one in self._asked]
        ends = {leaf: _json_type(column) for column in columns for leaf in _min_max_leaves(column)}
        counts = {_RECORDS: pa.int64(), **{_null_count(column): pa.int64() for column in columns}}
        self.leaves = (*counts, *ends)
        self._leaves = stats_leaves.StatsLeafReader({**counts, **ends})
        enough = ends and all(not one.nulls and _has_bounds(one.column) for one in self._asked)
        self._ends = stats_leaves.StatsLeafReader(ends) if enough else None

    def read(self, batches: Iterable[pa.Table]) -> tuple[ColumnBounds, ...]:
        """For each column what is known of it in the files of all batches, in their order.

        Of a batch nothing is kept but the bounds.
        """
        found, ends = [], self._ends
        for batch in batches:
            if batch.num_rows < _FEW:
                found.append(self._bounds(batch))
                continue
            known = _bounds_from_min_max(ends.read(batch), self._asked) if ends is not None else None
            if known is None:  # where one file has no bounds, others are likely to have none
                known, ends = self._bounds(batch), None
            found.append(known)
        if not found:
            none = pa.table({"stats": pa.nulls(0, pa.string())})
            found.append(self._bounds(none))
        return tuple(concat_bounds(parts) for parts in zip(*found, strict=True))

    def _bounds(self, batch: pa.Table) -> tuple[ColumnBounds, ...]:
        found = self._leaves.read(batch)
        records = _known_counts(found[_RECORDS])
        known = []
        for asked in self._asked:
            low, high = _min_and_max(found, asked.column)
            nulls = _known_counts(found[_null_count(asked.column)])
            known.append(ColumnBounds(low, high, *_null_presence(nulls, records)))
        return tuple(known)


def _bounds_from_min_max(
    found: Mapping[StatsLeaf, pa.Array], asked: Iterable[BoundsRequest]
) -> tuple[ColumnBounds, ...] | None:
    """What the bounds alone say of columns; None if some file has none."""
    known = []
    for column in (one.column for one in asked):
        low, high = _min_and_max(found, column)
        if low.null_count or high.null_count:
            return None
        sure = pa.repeat(value=True, size=len(low))
        known.append(ColumnBounds(low, high, pa.nulls(len(low), pa.bool_()), may_have_value=sure))
    return tuple(known)


def _min_and_max(found: Mapping[StatsLeaf, pa.Array], column: Column) -> tuple[pa.Array, pa.Array]:
    if not _has_bounds(column):
        none = pa.nulls(len(found[_null_count(column)]), _comparable_type(column))
        return none, none
    low, high = (_to_comparable_type(found[leaf], column) for leaf in _min_max_leaves(column))
    return _lower(low, column), _upper(high, column)


def bounds_from_stats(files: pa.Table, asked: Iterable[BoundsRequest]) -> tuple[ColumnBounds, ...]:
    """What the statistics of a table of files say of some columns."""
    statistics = files.select([name for name in ("stats", PARSED) if name in files.column_names])
    starts = range(0, files.num_rows, SLICE_ROWS)
    return BoundsReader(asked).read(statistics.slice(start, SLICE_ROWS) for start in starts)


def bounds_from_partition_values(texts: pa.Array, column: Column) -> ColumnBounds:
    """What the values of a partition column say of it, which is all."""
    found = texts.dictionary_encode()
    canonical = [partition_values.canonical_text(text, column.type) for text in found.dictionary.to_pylist()]
    absent = pc.is_null(pa.array(canonical, pa.string()).take(found.indices))
    distinct = _exact_partition_values(pa.array(canonical, pa.string()), column)
    values = distinct.take(found.indices)
    # NaN is above all numbers, and Arrow would say it is above none.
    high = _without_nan(values)
    return ColumnBounds(values, high, may_be_null=absent, may_have_value=pc.invert(absent))


def _min_max_leaves(column: Column) -> tuple[StatsLeaf, ...]:
    sections = ("minValues", "maxValues") if _has_bounds(column) else ()
    return tuple(StatsLeaf(section, column.path) for section in sections)


def _null_count(column: Column) -> StatsLeaf:
    return StatsLeaf("nullCount", column.path)


def _null_presence(nulls: pa.Array, records: pa.Array) -> tuple[pa.BooleanArray, pa.BooleanArray]:
    # Under a deletion vector only "none" and "all" can be relied on, and only these are asked for
    # (spec: per-file-statistics).
    return (
        pc.fill_null(pc.not_equal(nulls, 0), fill_value=True),
        pc.fill_null(pc.not_equal(nulls, records), fill_value=True),
    )


def _known_counts(values: pa.Array) -> pa.Array:
    """How many; null where nobody knows, which some say with a number below zero."""
    numbers = _try_cast(values, pa.int64())
    return pc.if_else(pc.less(numbers, 0), pa.scalar(None, pa.int64()), numbers)


def _has_bounds(column: Column) -> bool:
    return file_stats.has_bounds(column.type) or column.type == Primitive("boolean")


def _comparable_type(column: Column) -> pa.DataType:
    """The Arrow type in which values of the column are compared."""
    match column.type:
        case Primitive("boolean"):
            return pa.int8()
        case Primitive("byte" | "short" | "integer" | "long"):
            return pa.int64()
        case Primitive("date"):
            return pa.date32()
        case Primitive("timestamp" | "timestamp_ntz"):
            return _MICROS
        case Primitive("string"):
            return pa.string()
        case _:
            # Decimals too: some writers print them as doubles, and all the rest have slack.
            return pa.float64()


def _json_type(column: Column) -> pa.DataType:
    match column.type:
        case Primitive("boolean"):
            return pa.bool_()
        case Primitive("float"):
            return pa.float32()
        case Primitive("date" | "timestamp" | "timestamp_ntz"):
            return pa.string()
        case _:
            return _comparable_type(column)


def _exact_partition_values(texts: pa.Array, column: Column) -> pa.Array:
    """Partition values, in a type that has all of their digits."""
    if _is_decimal(column):
        return _try_cast(texts, pa.decimal128(*precision_and_scale(column)))
    return _to_comparable_type(texts, column)


def _is_decimal(column: Column) -> bool:
    return isinstance(column.type, Primitive) and column.type.name.startswith("decimal")


def _to_comparable_type(raw: pa.Array, column: Column) -> pa.Array:
    """Values as JSON or a checkpoint has them, in the type they are compared in."""
    if pa.types.is_decimal(raw.type):
        raw = raw.cast(pa.string())  # the next double is found by way of the digits only
    if not pa.types.is_string(raw.type):
        return _try_cast(raw, _comparable_type(column))
    match column.type:
        case Primitive("boolean"):
            return _try_cast(_try_cast(raw, pa.bool_()), pa.int8())
        case Primitive("float"):
            return _try_cast(_try_cast(raw, pa.float32()), pa.float64())
        case Primitive("timestamp"):
            return _parse_texts(raw, _INSTANT, pa.timestamp("us", "UTC")).cast(_MICROS)
        case Primitive("timestamp_ntz"):
            return _parse_texts(pc.utf8_rtrim(raw, "Z"), _WALL, _MICROS)
        case _:
            return _try_cast(raw, _comparable_type(column))


def _parse_texts(texts: pa.Array, pattern: str, target: pa.DataType) -> pa.Array:
    try:
        return texts.cast(target)
    except pa.ArrowInvalid:
        legible = pc.if_else(pc.match_substring_regex(texts, pattern), texts, pa.scalar(None, pa.string()))
        return _try_cast(legible, target)


def _try_cast(values: pa.Array, target: pa.DataType) -> pa.Array:
    try:
        return values.cast(target)
    except pa.ArrowNotImplementedError:
        return pa.nulls(len(values), target)
    except pa.ArrowInvalid:  # some of them
        return pa.array([_cast_alone(value, target) for value in values], target)


def _cast_alone(value: pa.Scalar, target: pa.DataType) -> pa.Scalar | None:
    try:
        return value.cast(target)
    except pa.ArrowInvalid:
        return None


def _lower(values: pa.Array, column: Column) -> pa.Array:
    match column.type:
        case Primitive("timestamp" | "timestamp_ntz"):
            # Before 1970 a writer that cuts towards zero cuts upwards, at most to 1970 itself.
            epoch = pa.scalar(0, _MICROS)
            near = pc.max_element_wise(values, pa.scalar(_EARLIEST, _MICROS))
            return pc.if_else(pc.less_equal(values, epoch), pc.subtract(near, _sub_milli()), values)
        case Primitive("float" | "double"):
            # Infinity with slack is no number either.
            return _without_nan(pc.subtract(values, _float_slack(values)) if column.was_float else values)
        case _:
            return pc.subtract(values, _decimal_slack(values, column)) if _is_decimal(column) else values


def _upper(values: pa.Array, column: Column) -> pa.Array:
    match column.type:
        case Primitive("string"):
            return _upper_text(values)
        case Primitive("timestamp" | "timestamp_ntz"):
            # Cut down to milliseconds (spec: per-file-statistics).
            near = pc.min_element_wise(values, pa.scalar(_LATEST, _MICROS), skip_nulls=False)
            return pc.add(near, _sub_milli())
        case Primitive("float" | "double"):
            return _without_nan(pc.add(values, _float_slack(values)) if column.was_float else values)
        case _:
            return pc.add(values, _decimal_slack(values, column)) if _is_decimal(column) else values


def _upper_text(values: pa.Array) -> pa.Array:
    """A long text may be cut, with a mark at its end that is not above every character, or none.

    Java counts surrogates, so the cut may be after 16 characters and even inside one. What is
    sure is that no value begins with more than the first characters of the bound.
    """
    long = pc.greater_equal(pc.binary_length(values), _MAYBE_CUT)
    if not pc.any(long).as_py():
        return values
    head = pc.utf8_slice_codeunits(values, 0, _ASCII_SURE)
    sure = pc.if_else(pc.string_is_ascii(head), head, pc.utf8_slice_codeunits(values, 0, _OTHERS_SURE))
    return pc.if_else(long, pc.binary_join_element_wise(sure, MAX_CHARACTER, ""), values)


def _without_nan(values: pa.Array) -> pa.Array:
    if not pa.types.is_floating(values.type):
        return values
    return pc.if_else(pc.is_nan(values), pa.scalar(None, values.type), values)


def _float_slack(values: pa.Array) -> pa.Array:
    return pc.add(pc.multiply(pc.abs(values), _FLOAT_SLACK), _TINY)


def _decimal_slack(values: pa.Array, column: Column) -> pa.Array:
    """A double is good for 15 digits of a decimal, and tells any two such decimals apart."""
    _, scale = precision_and_scale(column)
    size = pc.abs(values)
    return pc.if_else(pc.less(size, 10.0 ** (_EXACT_DIGITS - scale)), 0.0, pc.multiply(size, 1e-15))


def _sub_milli() -> pa.Scalar:
    return pa.scalar(_SUB_MILLI, pa.duration("us"))
