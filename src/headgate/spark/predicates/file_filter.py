"""Which files can hold rows that a predicate selects, as a condition that Spark evaluates.

It says no more than ``protocol/stats/data_skipping``: bounds that cannot be read prove nothing, here too, and
are at least as wide. So what passes is looked at once more in process, and only there exactly.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import reduce
from operator import and_, or_
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, StringType, StructField, StructType, TimestampType

from headgate.protocol.predicates import tree
from headgate.protocol.predicates.comparisons import MAX_CHARACTER, precision_and_scale
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
from headgate.protocol.schema import column_mapping
from headgate.protocol.schema.types import Primitive
from headgate.protocol.stats import file_stats
from headgate.spark.parquet.file_layouts import ScanColumns

Path = tuple[str, ...]
STATS, STATS_PARSED = "stats", "stats_parsed"
_SECTIONS = ("minValues", "maxValues", "nullCount")
_RECORDS: Path = ("numRecords",)
_YES, _NO = True, False

_DAY = r"^\d{4}-\d\d-\d\d$"
_WALL = r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{1,6})?$"
_INSTANT = r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:?\d\d)$"
_ZONE = "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXXXX"
_EPOCH_DAY, _EPOCH = date(1970, 1, 1), datetime(1970, 1, 1)
_CUT_MICROS = 999
_MAYBE_CUT, _ASCII_SURE, _OTHERS_SURE = 32, 31, 15
_EXACT_DIGITS, _DECIMAL_SLACK = 15, 1e-15
_FLOAT_SLACK, _TINY = 1.2e-7, 1e-44


@dataclass(frozen=True, slots=True)
class _Bounds:
    low: Column
    high: Column
    may_be_null: Column
    may_have_value: Column


@dataclass(frozen=True, slots=True)
class FileFilter:
    """A predicate on the rows of a table, turned to its files."""

    predicate: Predicate
    columns: ScanColumns

    @property
    def leaves(self) -> tuple[Path, ...]:
        """The statistics it needs, by their keys; none if partition values suffice."""
        stored = [
            column for column in tree.referenced_columns(self.predicate) if not self._is_partition(column)
        ]
        found = [(section, *self._physical(column)) for column in stored for section in _SECTIONS]
        return tuple(dict.fromkeys((_RECORDS, *found))) if found else ()

    def parsed(self, stored: DataType) -> StructType | None:
        """What is needed of statistics that a checkpoint has as columns, given the type of these."""
        found = {leaf: kind for leaf in self.leaves if (kind := _inside(stored, leaf)) is not None}
        return _struct(found) if found else None

    def condition(self, parsed: StructType | None) -> Column:
        """True for files that may have such rows; ``parsed`` is the type of their STATS_PARSED, if any."""
        leaves = self.leaves
        if not leaves:
            return self._may_match(self.predicate, {})
        texts = _struct(dict.fromkeys(leaves, StringType()))
        # An array of one, so that the text is parsed once however often it is looked at.
        return F.exists(
            F.array(F.from_json(F.col(STATS), texts)),
            lambda found: self._may_match(self.predicate, _stats_columns(leaves, found, parsed)),
        )

    def _is_partition(self, column: tree.Column) -> bool:
        named = {name.lower() for name in self.columns.partitioned_by}
        return len(column.path) == 1 and column.path[0].lower() in named

    def _physical(self, column: tree.Column) -> Path:
        return column_mapping.physical_paths(self.columns.schema, self.columns.mode).get(
            column.path, column.path
        )

    def _bounds(self, column: tree.Column, known: Mapping[Path, Column]) -> _Bounds:
        path = self._physical(column)
        if self._is_partition(column):
            text = F.try_element_at(F.col("partition_values"), F.lit(path[-1]))
            absent = F.coalesce(text, F.lit("")) == ""
            value = _typed(text, column, zone="Z")
            return _Bounds(*_error_margin(value, column), absent, ~absent)
        low, high, nulls = (known[section, *path] for section in _SECTIONS)
        if not (file_stats.has_bounds(column.type) or column.type == Primitive("boolean")):
            low = high = F.lit(None).cast("string")
        missing, records = _counted(nulls), _counted(known[_RECORDS])
        return _Bounds(
            _lower(_typed(low, column), column),
            _upper(_typed(high, column), column),
            _unless_false(missing != 0),
            _unless_false(missing != records),
        )

    def _may_match(self, predicate: Predicate, known: Mapping[Path, Column]) -> Column:
        match predicate:
            case Always() | Opaque():
                return F.lit(_YES)
            case Never():
                return F.lit(_NO)
            case And(parts):
                return reduce(and_, (self._may_match(part, known) for part in parts))
            case Or(parts):
                return reduce(or_, (self._may_match(part, known) for part in parts))
            case _:
                found = self._bounds(predicate.column, known)
                match predicate:
                    case IsNull():
                        return found.may_be_null
                    case NotNull():
                        return found.may_have_value
                    case Compare(_, op, value):
                        return found.may_have_value & _compared(found, op, _literal(value))
                    case In(_, values):
                        return found.may_have_value & _is_one_of(found, values)
                    case StartsWith(_, prefix):
                        begins = F.substring(found.low, 1, len(prefix)) <= prefix
                        ends = found.high >= prefix
                        return found.may_have_value & _unless_false(begins) & _unless_false(ends)
                    case NotStartsWith(_, prefix):
                        within = found.low.startswith(prefix) & found.high.startswith(prefix)
                        return found.may_have_value & _unless_false(~within)


def _inside(stored: DataType, leaf: Path) -> DataType | None:
    for key in leaf:
        if not isinstance(stored, StructType) or key not in stored.names:
            return None
        stored = stored[key].dataType
    return stored


def _struct(leaves: Mapping[Path, DataType]) -> StructType:
    below: dict[str, dict[Path, DataType]] = {}
    for (key, *rest), kind in leaves.items():
        below.setdefault(key, {})[tuple(rest)] = kind
    return StructType([StructField(key, inner.get(()) or _struct(inner)) for key, inner in below.items()])


def _stats_columns(leaves: Iterable[Path], found: Column, parsed: StructType | None) -> dict[Path, Column]:
    """Each leaf as text: that of a checkpoint's own columns where there is one, else that of JSON."""
    known = {}
    for leaf in leaves:
        text = reduce(Column.getField, leaf, found)
        kind = None if parsed is None else _inside(parsed, leaf)
        if kind is not None:
            stored = reduce(Column.getField, leaf, F.col(STATS_PARSED))
            shown = F.date_format(stored, _ZONE) if isinstance(kind, TimestampType) else stored.cast("string")
            text = F.coalesce(shown, text)
        known[leaf] = text
    return known


def _typed(text: Column, column: tree.Column, *, zone: str = "") -> Column:
    """The text as what it is compared as, null if it is not legible; days and microseconds as numbers."""
    match column.type:
        case Primitive("boolean"):
            return text.try_cast("boolean").cast("int")
        case Primitive("byte" | "short" | "integer" | "long"):
            return text.try_cast("bigint")
        case Primitive("float"):
            return _number(text.try_cast("float").cast("double"))
        case Primitive("string"):
            return text
        case Primitive("date"):
            return F.unix_date(F.when(text.rlike(_DAY), text).try_cast("date"))
        case Primitive("timestamp"):
            complete = F.when(text.rlike(_WALL), F.concat(text, F.lit(zone))).otherwise(text)
            return _micros(complete)
        case Primitive("timestamp_ntz"):
            return _micros(F.concat(F.rtrim(text, F.lit("Z")), F.lit("Z")))
        case _:
            return _number(text.try_cast("double"))


def _counted(text: Column) -> Column:
    number = text.try_cast("bigint")
    return F.when(number >= 0, number)


def _micros(text: Column) -> Column:
    return F.unix_micros(F.when(text.rlike(_INSTANT), text).try_cast("timestamp"))


def _number(value: Column) -> Column:
    # What is not finite was a text, and a text is no number in process either; NaN would be above all.
    return F.when(F.abs(value) < float("inf"), value)


def _lower(value: Column, column: tree.Column) -> Column:
    if _is_timestamp(column):  # before 1970 a writer that cuts towards zero cuts upwards, at most to 1970
        return F.when(value <= 0, F.try_subtract(value, F.lit(_CUT_MICROS))).otherwise(value)
    return _error_margin(value, column)[0]


def _upper(value: Column, column: tree.Column) -> Column:
    if column.type == Primitive("string"):
        return _upper_text(value)
    if _is_timestamp(column):  # cut down to milliseconds (spec: per-file-statistics)
        return F.try_add(value, F.lit(_CUT_MICROS))
    return _error_margin(value, column)[1]


def _upper_text(value: Column) -> Column:
    """A long text may be cut; no value begins with more than the first characters of the bound."""
    head = F.substring(value, 1, _ASCII_SURE)
    sure = F.when(F.octet_length(head) == F.char_length(head), head).otherwise(
        F.substring(value, 1, _OTHERS_SURE)
    )
    return F.when(F.octet_length(value) >= _MAYBE_CUT, F.concat(sure, F.lit(MAX_CHARACTER))).otherwise(value)


def _error_margin(value: Column, column: tree.Column) -> tuple[Column, Column]:
    """How far a value may be off: as a double is from a decimal, or as a float is that was printed."""
    if column.was_float:
        slack = F.abs(value) * _FLOAT_SLACK + _TINY
        return value - slack, value + slack
    if isinstance(column.type, Primitive) and column.type.name.startswith("decimal"):
        _, scale = precision_and_scale(column)
        exact = F.abs(value) < 10.0 ** (_EXACT_DIGITS - scale)
        slack = F.when(exact, F.lit(0.0)).otherwise(F.abs(value) * _DECIMAL_SLACK)
        return value - slack, value + slack
    return value, value


def _is_timestamp(column: tree.Column) -> bool:
    return column.type in (Primitive("timestamp"), Primitive("timestamp_ntz"))


def _literal(value: Value) -> Any:
    match value:
        case bool():
            return int(value)
        case Decimal():
            return float(value)
        case datetime():
            since = value - _EPOCH
            return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
        case date():
            return (value - _EPOCH_DAY).days
        case _:
            return value


_COMPARED: Mapping[Op, Callable[[_Bounds, Any], Column]] = {
    Op.LT: lambda found, value: _unless_false(found.low < value),
    Op.LE: lambda found, value: _unless_false(found.low <= value),
    Op.GT: lambda found, value: _unless_false(found.high > value),
    Op.GE: lambda found, value: _unless_false(found.high >= value),
    Op.EQ: lambda found, value: _unless_false(found.low <= value) & _unless_false(found.high >= value),
    Op.NE: lambda found, value: _unless_false(~((found.low == value) & (found.high == value))),
}


def _compared(found: _Bounds, op: Op, value: Any) -> Column:
    return _COMPARED[op](found, value)


def _is_one_of(found: _Bounds, values: Iterable[Value]) -> Column:
    wanted = F.array(*(F.lit(_literal(value)) for value in values))
    return F.exists(wanted, lambda value: _compared(found, Op.EQ, value))


def _unless_false(known: Column) -> Column:
    return F.coalesce(known, F.lit(_YES))
