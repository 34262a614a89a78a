"""The rows that a MERGE brings: computed once, counted, and what they say of the target's files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, StringType

from headgate.protocol.predicates import from_sql, join_key_order, tree
from headgate.protocol.predicates.from_sql import JoinPart, JoinSide
from headgate.protocol.predicates.tree import Always, Predicate
from headgate.protocol.predicates.tree import Column as TargetColumn
from headgate.protocol.schema.types import Primitive, Struct
from headgate.spark.dml import dml_metrics
from headgate.spark.predicates import from_column
from headgate.spark.session import observation
from headgate.spark.session import schema as spark_schema

ColumnPath = tuple[str, ...]
KeyEquality = tuple[TargetColumn, ColumnPath]
_FEW_KEYS = 1_000
_BROADCAST_BYTES = 64 * 1024 * 1024
_BYTES_PER_VALUE = 16
_ORDERED = (int, str, date, Decimal)
"""Values of keys that files can be left out by; moments depend on the session's time zone."""
_EPOCH, _DATE = date(1970, 1, 1), Primitive("date")


@dataclass(frozen=True, slots=True)
class MergeSource:
    """The source, each row with a number of its own under ``row``."""

    rows: DataFrame
    row: str
    schema: Struct
    alias: str | None
    count: int
    bytes: int
    ends: Mapping[ColumnPath, tuple[Any, Any]]
    """By column, the least and the greatest value, where they tell something; null if there is none."""
    equal: Sequence[KeyEquality] = ()
    """Columns of the target that equal one of the source in all rows that match."""

    @property
    def aliased(self) -> DataFrame:
        """Its rows, under the name that conditions and values call them by."""
        return self.rows.alias(self.alias) if self.alias else self.rows

    def column(self, name: str) -> Column:
        """A column of it, which is not taken for one of the target of that name."""
        return F.col(f"{self.alias}.{_sql((name,))}") if self.alias else self.rows[_sql((name,))]

    @property
    def broadcast_if_small(self) -> DataFrame:
        """The same; if small, sent to where the target's rows are, so that those need not move."""
        return F.broadcast(self.aliased) if self.bytes <= _BROADCAST_BYTES else self.aliased


def split_condition(
    spark: SparkSession, df: DataFrame, alias: str | None, condition: Column | str, target: JoinSide
) -> JoinPart:
    """What the condition says of the target, given the source."""
    sql = condition if isinstance(condition, str) else from_column.to_sql(condition)
    if sql is None or from_column.is_in_another_dialect(sql, spark):
        return JoinPart(Always())
    time_zone = spark.conf.get("spark.sql.session.timeZone") or ""
    side = JoinSide(alias or "", spark_schema.frame_schema(df))
    return from_sql.parse_join(sql, target, side, time_zone=time_zone)


def compute_source(df: DataFrame, alias: str | None, equal: Sequence[KeyEquality], row: str) -> MergeSource:
    """Compute the source: whatever it depends on, every part of the MERGE sees the same rows.

    ``row`` is a name that is free on both sides. ``equal`` has its columns of which the least and the
    greatest value are wanted.
    """
    schema = spark_schema.frame_schema(df)
    keys = {
        name: theirs for mine, name in equal if (theirs := _same_order_column(mine, name, schema)) is not None
    }
    texts = [
        F.coalesce(F.sum(F.octet_length(spark_schema.column(field.name))), F.lit(0))
        for field in df.schema.fields
        if isinstance(field.dataType, (StringType, BinaryType))
    ]
    length = reduce(lambda one, other: one + other, texts, F.lit(0))
    ends = [
        _collectable_bound(end(_column(key)), theirs)
        for key, theirs in keys.items()
        for end in (F.min, F.max)
    ]
    asked = {f"a{place}": each for place, each in enumerate((F.count(F.lit(1)), length, *ends))}
    rows, (count, texts_bytes, *found) = observation.checkpoint_and_observe(
        df.withColumn(row, F.monotonically_increasing_id()), asked
    )
    size = texts_bytes + count * len(df.columns) * _BYTES_PER_VALUE
    pairs = zip(keys.items(), zip(found[::2], found[1::2], strict=True), strict=True)
    told = {
        key: pair for (key, theirs), values in pairs if (pair := _python_bounds(values, theirs)) is not None
    }
    return MergeSource(rows, row, schema, alias, count, size, told, equal)


def target_predicate(spark: SparkSession, source: MergeSource, said: JoinPart, schema: Struct) -> Predicate:
    """Which rows of the target can match a row of the source, as far as that can be told beforehand."""
    by_keys = (
        _key_predicate(spark, source, column, name, schema)
        for column, name in said.equal
        if name in source.ends and _same_order_column(column, name, source.schema) is not None
    )
    return tree.all_of((said.own, *by_keys))


def _same_order_column(mine: TargetColumn, name: ColumnPath, schema: Struct) -> TargetColumn | None:
    """The source's column of that name, if its order is that of the target's column."""
    theirs = tree.resolve_column(schema, name)
    return theirs if theirs is not None and join_key_order.is_order_shared(mine, theirs) else None


def _collectable_bound(end: Column, column: TargetColumn) -> Column:
    """An end as Spark is asked for it: days by number, because Spark has more of them than Python."""
    return F.unix_date(end) if column.type == _DATE else end


def _python_bounds(ends: tuple[Any, Any], column: TargetColumn) -> tuple[Any, Any] | None:
    """The ends as Spark told them; None if one is beyond what Python has."""
    if column.type != _DATE or ends[0] is None:
        return ends
    least, greatest = ends
    try:
        return _EPOCH + timedelta(days=least), _EPOCH + timedelta(days=greatest)
    except OverflowError:
        return None


def _key_predicate(
    spark: SparkSession, source: MergeSource, column: TargetColumn, name: ColumnPath, schema: Struct
) -> Predicate:
    """That a column of the target has one of the values, or one between the least and the greatest."""
    least, greatest = source.ends[name]
    if least is None:
        return tree.Never()
    if type(least) not in _ORDERED:
        return Always()
    if source.count > _FEW_KEYS:
        between = f"{_sql(column.path)} BETWEEN {_literal(least)} AND {_literal(greatest)}"
        return from_column.to_predicate(between, schema, spark)
    keys = source.rows.select(_column(name)).distinct().collect()
    listed = ", ".join(_literal(row[0]) for row in keys if row[0] is not None)
    return from_column.to_predicate(f"{_sql(column.path)} IN ({listed})", schema, spark)


def _column(name: ColumnPath) -> Column:
    return F.col(_sql(name))


def _literal(value: object) -> str:
    # What needs no quotes need not go through the JVM, which takes long for a thousand keys.
    if type(value) is int:
        return str(value)
    return dml_metrics.condition_text(F.lit(value))


def _sql(path: Sequence[str]) -> str:
    return ".".join(f"`{part.replace('`', '``')}`" for part in path)
