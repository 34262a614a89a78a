"""Reading a table like TPC-H's ``lineitem``, with and without deleted rows: all of it, query 6, query 1.

The peer is Spark itself, given the same files by their paths in the same session; it shows deleted
rows, so its time is the time without deletion vectors. Values are drawn as TPC-H says, comments of
four words, from a hash of the row's number; ``scan`` has the narrower rows, of which less is made.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

import headgate
from benchmarks import deleted_rows, pairs
from benchmarks.report import Result
from benchmarks.scan import session
from headgate import Table

_COLUMNS = (
    "l_orderkey BIGINT, l_partkey BIGINT, l_suppkey BIGINT, l_linenumber INT, l_quantity DECIMAL(15,2), "
    "l_extendedprice DECIMAL(15,2), l_discount DECIMAL(15,2), l_tax DECIMAL(15,2), l_returnflag STRING, "
    "l_linestatus STRING, l_shipdate DATE, l_commitdate DATE, l_receiptdate DATE, l_shipinstruct STRING, "
    "l_shipmode STRING, l_comment STRING"
)
_WORDS = (
    "carefully", "quickly", "ironic", "final", "deposits", "packages", "requests", "accounts",
    "sleep", "regular", "express", "bold", "furiously", "pending", "special", "even",
)  # fmt: skip
_INSTRUCTIONS = ("DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN")
_MODES = ("REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB")


@dataclass(frozen=True, slots=True)
class _Query:
    where: str | None
    run: Callable[[DataFrame], object]
    rounds: int

    def ours(self, spark: SparkSession, table: Table) -> DataFrame:
        return table.read(where=self.where, spark=spark)

    def theirs(self, spark: SparkSession, paths: list[str]) -> DataFrame:
        rows = spark.read.schema(_COLUMNS).parquet(*paths)
        return rows if self.where is None else rows.where(self.where)


def _all(df: DataFrame) -> object:
    return df.write.format("noop").mode("overwrite").save()


def _revenue(df: DataFrame) -> object:
    return df.agg(F.expr("sum(l_extendedprice * l_discount)")).collect()


def _pricing(df: DataFrame) -> object:
    grouped = df.groupBy("l_returnflag", "l_linestatus")
    summed = grouped.agg(
        F.sum("l_quantity"),
        F.sum("l_extendedprice"),
        F.expr("sum(l_extendedprice * (1 - l_discount))"),
        F.expr("sum(l_extendedprice * (1 - l_discount) * (1 + l_tax))"),
        F.avg("l_quantity"),
        F.avg("l_extendedprice"),
        F.avg("l_discount"),
        F.count("*"),
    )
    return summed.orderBy("l_returnflag", "l_linestatus").collect()


_QUERIES = {
    "full scan": _Query(None, _all, 4),
    "query 6": _Query(
        "l_shipdate >= DATE'1994-01-01' AND l_shipdate < DATE'1995-01-01' "
        "AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24",
        _revenue,
        15,
    ),
    "query 1": _Query("l_shipdate <= DATE'1998-09-02'", _pricing, 4),
}


def run(place: Path, *, quick: bool) -> Iterator[Result]:
    rows, files = (2_000, 2) if quick else (16_000_000, 32)
    spark = session()
    try:
        table = headgate.at_path(place / "rows", columns=_COLUMNS)
        table.append(_lines(spark, rows, files))
        yield from _compared(spark, table, "lineitem", quick=quick)
        deleted = deleted_rows.from_every_file(table, place / "deleted")
        yield from _compared(spark, deleted, "5 % deleted", quick=quick)
    finally:
        spark.stop()


def _compared(spark: SparkSession, table: Table, label: str, *, quick: bool) -> Iterator[Result]:
    paths = deleted_rows.paths(table)
    assert table.read(spark=spark).count() == deleted_rows.live_rows(table)
    for name, query in _QUERIES.items():
        ours, theirs = query.ours(spark, table), query.theirs(spark, paths)
        found = pairs.compare(
            lambda q=query, df=ours: q.run(df),
            lambda q=query, df=theirs: q.run(df),
            1 if quick else query.rounds,
            warm_up=0 if quick else -(-query.rounds // 3),
        )
        yield found.result(f"{label}, {name}", f"{len(paths)} files")


def _lines(spark: SparkSession, rows: int, files: int) -> DataFrame:
    shipped = F.date_add(F.lit("1992-01-02").cast("date"), _drawn("ship", 2_500).cast("int"))
    return spark.range(0, rows, 1, files).select(
        F.expr("id DIV 4").alias("l_orderkey"),
        _drawn("part", 200_000).alias("l_partkey"),
        _drawn("supplier", 10_000).alias("l_suppkey"),
        (F.col("id") % 7 + 1).cast("int").alias("l_linenumber"),
        _money(100 * (_drawn("quantity", 50) + 1)).alias("l_quantity"),
        _money(_drawn("price", 10_000_000) + 90_000).alias("l_extendedprice"),
        _money(_drawn("discount", 11)).alias("l_discount"),
        _money(_drawn("tax", 9)).alias("l_tax"),
        _one_of("flag", "A", "N", "R").alias("l_returnflag"),
        _one_of("status", "O", "F").alias("l_linestatus"),
        shipped.alias("l_shipdate"),
        F.date_add(shipped, _drawn("commit", 60).cast("int")).alias("l_commitdate"),
        F.date_add(shipped, _drawn("receipt", 30).cast("int")).alias("l_receiptdate"),
        _one_of("instruction", *_INSTRUCTIONS).alias("l_shipinstruct"),
        _one_of("mode", *_MODES).alias("l_shipmode"),
        F.concat_ws(" ", *(_one_of(f"word {n}", *_WORDS) for n in range(4))).alias("l_comment"),
    )


def _drawn(what: str, below: int) -> Column:
    return F.pmod(F.xxhash64(F.col("id"), F.lit(what)), F.lit(below))


def _money(cents: Column) -> Column:
    return (cents / 100).cast("decimal(15,2)")


def _one_of(what: str, *values: str) -> Column:
    return F.element_at(F.array(*map(F.lit, values)), (_drawn(what, len(values)) + 1).cast("int"))
