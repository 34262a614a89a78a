"""Changing rows with Spark: DELETE by deletion vectors and by copying, MERGE beside reading the target.

The peers are Headgate without deletion vectors, and Spark reading all columns of the same table, in
the same session. Before every turn the table is restored to the version that was loaded, so all turns
do the same. ``HEADGATE_BENCH_ROWS`` scales the target, ten million rows by default.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

import headgate
from benchmarks import pairs
from benchmarks.pairs import Paired
from benchmarks.report import Result
from benchmarks.scan import session
from headgate import Table
from headgate.spark.dml.merge.merge import Merge

COLUMNS = "id long, customer long, amount double, quantity int, country string"
_VECTORS = {"delta.enableDeletionVectors": "true"}
_FILES = 20
_MERGED = 100
_LOADED = 1
"""The version with all rows."""
_WARM_UP = 8
"""Rounds before those that count: the JVM compiles what plans a MERGE for about as long."""


def run(place: Path, *, quick: bool) -> Iterator[Result]:
    rows, rounds = (20_000, 1) if quick else (asked_rows(), 7)
    spark = session()
    try:
        data = made_rows(spark, rows)
        copied = _table(place / "copied", {}, data)
        hidden = _table(place / "hidden", _VECTORS, data)
        yield _deletes(spark, hidden, copied, rows, rounds)
        yield _merges(spark, hidden, place, rows, rounds)
    finally:
        spark.stop()


def asked_rows() -> int:
    """How many rows a large table has."""
    return int(os.environ.get("HEADGATE_BENCH_ROWS", "10000000"))


def made_rows(spark: SparkSession, rows: int, tasks: int = _FILES) -> DataFrame:
    """So many rows, computed by so many tasks."""
    return spark.range(0, rows, 1, tasks).selectExpr(
        "id", "hash(id) % 100000L customer", "rand(7) * 1000 amount", "cast(id % 50 as int) quantity",
        "concat('c', id % 200) country",
    )  # fmt: skip


def _table(place: Path, properties: dict[str, str], data: DataFrame) -> Table:
    table = headgate.at_path(place, columns=COLUMNS, properties=properties)
    table.append(data)
    return table


def _deletes(spark: SparkSession, hidden: Table, copied: Table, rows: int, rounds: int) -> Result:
    """Five rows of a hundred, from every file; other ones in each round. The first round warms up."""
    ours: list[float] = []
    theirs: list[float] = []
    for number in range(rounds + 1):
        where = f"quantity % 20 = {number} and customer is not null"
        for table, seconds in ((copied, theirs), (hidden, ours)):
            table.restore(version=_LOADED)
            seconds.append(pairs.timed(lambda table=table, where=where: table.delete(where, spark=spark)))
    left = [table.read(spark=spark).count() for table in (hidden, copied)]
    if left[0] != left[1]:
        raise AssertionError(f"the two ways leave {left} rows")
    found = Paired(ours[1:], theirs[1:])
    note = f"{rows:,} rows in {_FILES} files; {_share(found)} of the time of copying"
    return found.result("delete 5 %", note, peer_name="copying")


def _merges(spark: SparkSession, table: Table, place: Path, rows: int, rounds: int) -> Result:
    """As many updates as inserts, a hundredth of the target, all over it, from files of their own."""
    reads: list[float] = []
    ours: list[float] = []
    warm_up = min(rounds, _WARM_UP)
    for number in range(rounds + warm_up):
        table.restore(version=_LOADED)
        target, source = table.read(spark=spark), _source(spark, place / f"source-{number}", rows, number)
        reads.append(pairs.timed(lambda df=target: df.write.format("noop").mode("overwrite").save()))
        ours.append(pairs.timed(_merge(table, source).execute))
    found = Paired(ours[warm_up:], reads[warm_up:])
    note = f"{rows // _MERGED:,} rows into {rows:,}; {_share(found)} of the time of reading the target"
    return found.result("merge 1 %", note, peer_name="reading")


def _source(spark: SparkSession, place: Path, rows: int, number: int) -> DataFrame:
    made = spark.range(0, rows // _MERGED, 1, 2).selectExpr(
        f"if(id % 2 = 0, (id * 9973 + {number}) % {rows}, id + {rows * (2 + number)}) id",
        "id customer", "1.5D amount", "1 quantity", "'new' country",
    )  # fmt: skip
    made.write.parquet(str(place))
    return spark.read.parquet(str(place))


def _merge(table: Table, source: DataFrame) -> Merge:
    merge = table.merge(source, "t.id = s.id")
    return merge.when_matched_update_all().when_not_matched_insert_all()


def _share(found: Paired) -> str:
    return pairs.spread([1 / ratio for ratio in found.ratios])
