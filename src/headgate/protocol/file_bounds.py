"""Between which values the columns of each file lie, as typed Arrow columns.

Bounds are widened wherever a writer may have cut or rounded them, so they hold for every row:
see ``_lower`` and ``_upper``. A bound that is missing or cannot be read is null.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from headgate.protocol import partitions, stats, stats_json
from headgate.protocol.comparisons import HIGHEST, precision_and_scale
from headgate.protocol.predicates import Column
from headgate.protocol.schema.types import Primitive
from headgate.protocol.stats_json import Leaf

Path = tuple[str, ...]
_MICROS = pa.timestamp("us")
_MAYBE_CUT = 32
_ASCII_SURE, _OTHERS_SURE = 31, 15
_SUB_MILLI = pa.scalar(999, pa.duration("us"))
_FAR = pa.scalar((1 << 63) - 1_000, pa.int64())
_DAY = r"^\d{4}-\d\d-\d\d$"
_INSTANT = r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:?\d\d)$"
_WALL = r"^\d{4}-\d\d-\d\d([T ]\d\d:\d\d:\d\d(\.\d{1,6})?Z?)?$"
_EXACT_DIGITS = 15
_FLOAT_SLACK, _TINY = 1.2e-7, 1e-44


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is known of one column in every file; ``low`` and ``high`` are null where unknown."""

    low: pa.Array
    high: pa.Array
    may_be_null: pa.BooleanArray
    may_have_value: pa.BooleanArray


class FileBounds:
    """The bounds of some files, read once for every column that is asked for.

    Keep it as long as the files: a second look at the same column costs next to nothing. ``physical``
    gives the path of a column in the files, where that differs from its path in the schema.
    """

    __slots__ = ("_known", "_partitioned", "_physical", "files")

    def __init__(
        self,
        files: pa.Table,
        *,
        partition_columns: Iterable[str] = (),
        physical: Mapping[Path, Path] | None = None,
    ) -> None:
        self.files = files
        self._partitioned = frozenset(name.lower() for name in partition_columns)
        self._physical = physical or {}
        self._known: dict[Path, Bounds] = {}

    def of(self, column: Column) -> Bounds:
        """The bounds of one column."""
        self.load((column,))
        return self._known[column.path]

    def load(self, columns: Iterable[Column]) -> None:
        """Read several columns at once, which costs about as much as one."""
        missing = {column.path: column for column in columns if column.path not in self._known}
        stored = [column for column in missing.values() if not self._is_partition(column)]
        for column in missing.values():
            if self._is_partition(column):
                self._known[column.path] = self._of_partition(column)
        if stored:
            self._known |= self._of_stats(stored)

    def _is_partition(self, column: Column) -> bool:
        return len(column.path) == 1 and column.path[0].lower() in self._partitioned

    def _of_partition(self, column: Column) -> Bounds:
        name = self._physical.get(column.path, column.path)[-1]
        texts = pc.map_lookup(self.files["partition_values"], pa.scalar(name), "first")
        found = _flat(texts).dictionary_encode()
        canonical = [partitions.canonical(text, column.type) for text in found.dictionary.to_pylist()]
        absent = pc.is_null(pa.array(canonical, pa.string()).take(found.indices))
        distinct = _exact(pa.array(canonical, pa.string()), column)
        values = distinct.take(found.indices)
        # NaN is above all numbers, and Arrow would say it is above none.
        high = _without_nan(values)
        return Bounds(values, high, may_be_null=absent, may_have_value=pc.invert(absent))

    def _of_stats(self, columns: Sequence[Column]) -> dict[Path, Bounds]:
        leaves = {
            leaf: _json_type(column) if leaf.section != "nullCount" else pa.int64()
            for column in columns
            for leaf in self._leaves(column)
        }
        counted = Leaf("numRecords", ())
        found = stats_json.read(self.files, {counted: pa.int64(), **leaves})
        records = _try_cast(found[counted], pa.int64())
        known = {}
        for column in columns:
            low, high, nulls = (found.get(leaf) for leaf in self._leaves(column, bounds=True))
            none = pa.nulls(self.files.num_rows, _domain(column))
            known[column.path] = Bounds(
                none if low is None else _lower(_typed(low, column), column),
                none if high is None else _upper(_typed(high, column), column),
                *_presence(_try_cast(nulls, pa.int64()), records),
            )
        return known

    def _leaves(self, column: Column, *, bounds: bool | None = None) -> tuple[Leaf, ...]:
        path = self._physical.get(column.path, column.path)
        wanted = bounds if bounds is not None else _has_bounds(column)
        sections = ("minValues", "maxValues", "nullCount") if wanted else ("nullCount",)
        return tuple(Leaf(section, path) for section in sections)


def _presence(nulls: pa.Array, records: pa.Array) -> tuple[pa.BooleanArray, pa.BooleanArray]:
    # Under a deletion vector only "none" and "all" can be relied on, and only these are asked for
    # (spec: per-file-statistics).
    return (
        pc.fill_null(pc.not_equal(nulls, 0), fill_value=True),
        pc.fill_null(pc.not_equal(nulls, records), fill_value=True),
    )


def _has_bounds(column: Column) -> bool:
    return stats.has_bounds(column.type) or column.type == Primitive("boolean")


def _domain(column: Column) -> pa.DataType:
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
            return _domain(column)


def _exact(texts: pa.Array, column: Column) -> pa.Array:
    """Partition values, in a type that has all of their digits."""
    if _is_decimal(column):
        return _try_cast(texts, pa.decimal128(*precision_and_scale(column)))
    return _typed(texts, column)


def _is_decimal(column: Column) -> bool:
    return isinstance(column.type, Primitive) and column.type.name.startswith("decimal")


def _typed(raw: pa.Array, column: Column) -> pa.Array:
    """Values as JSON or a checkpoint has them, in the type they are compared in."""
    if pa.types.is_decimal(raw.type):
        raw = raw.cast(pa.string())  # the next double is found by way of the digits only
    if not pa.types.is_string(raw.type):
        return _try_cast(raw, _domain(column))
    match column.type:
        case Primitive("boolean"):
            return _try_cast(_try_cast(raw, pa.bool_()), pa.int8())
        case Primitive("float"):
            return _try_cast(_try_cast(raw, pa.float32()), pa.float64())
        case Primitive("date"):
            return _parsed(raw, _DAY, pa.date32())
        case Primitive("timestamp"):
            return _parsed(raw, _INSTANT, pa.timestamp("us", "UTC")).cast(_MICROS)
        case Primitive("timestamp_ntz"):
            return _parsed(pc.utf8_rtrim(raw, "Z"), _WALL, _MICROS)
        case _:
            return _try_cast(raw, _domain(column))


def _parsed(texts: pa.Array, pattern: str, target: pa.DataType) -> pa.Array:
    try:
        return texts.cast(target)
    except pa.ArrowInvalid:
        legible = pc.if_else(pc.match_substring_regex(texts, pattern), texts, pa.scalar(None, pa.string()))
        return _try_cast(legible, target)


def _try_cast(values: pa.Array, target: pa.DataType) -> pa.Array:
    try:
        return values.cast(target)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.nulls(len(values), target)


def _lower(values: pa.Array, column: Column) -> pa.Array:
    match column.type:
        case Primitive("timestamp" | "timestamp_ntz"):
            # Before 1970 a writer that cuts towards zero cuts upwards.
            epoch = pa.scalar(0, _MICROS)
            return pc.if_else(pc.less(values, epoch), pc.subtract(values, _SUB_MILLI), values)
        case Primitive("float" | "double"):
            low = _without_nan(values)
            return pc.subtract(low, _float_slack(low)) if column.was_float else low
        case _:
            return pc.subtract(values, _decimal_slack(values, column)) if _is_decimal(column) else values


def _upper(values: pa.Array, column: Column) -> pa.Array:
    match column.type:
        case Primitive("string"):
            return _upper_text(values)
        case Primitive("timestamp" | "timestamp_ntz"):
            # Cut down to milliseconds (spec: per-file-statistics).
            near = pc.less(values.cast(pa.int64()), _FAR)
            return pc.if_else(near, pc.add(values, _SUB_MILLI), pa.scalar(None, _MICROS))
        case Primitive("float" | "double"):
            high = _without_nan(values)
            return pc.add(high, _float_slack(high)) if column.was_float else high
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
    return pc.if_else(long, pc.binary_join_element_wise(sure, HIGHEST, ""), values)


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


def _flat(values: pa.ChunkedArray | pa.Array) -> pa.Array:
    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
