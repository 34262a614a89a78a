"""Changing rows with Spark: DELETE by deletion vectors and by copying, MERGE beside reading the target.

The peers are Headgate without deletion vectors, and Spark reading all columns of the same table, in
the same session. ``HEADGATE_BENCH_ROWS`` scales the target, ten million rows by default.
"""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

import headgate
from benchmarks.report import Measure, Result
from benchmarks.scan import session
from headgate import Table
from headgate.clock import SystemWorld
from headgate.protocol.schema.types import Field, Primitive, Struct
from headgate.storage.locate import locate
from headgate.table import create
from headgate.table.create import Definition

_TYPES = {"id": "long", "customer": "long", "amount": "double", "quantity": "integer", "country": "string"}
_SCHEMA = Struct(tuple(Field(name, Primitive(kind)) for name, kind in _TYPES.items()))
_VECTORS = {"delta.enableDeletionVectors": "true"}
_FILES = 20
_MERGED = 100


def run(place: Path, *, quick: bool) -> Iterator[Result]:
    rows = 20_000 if quick else int(os.environ.get("HEADGATE_BENCH_ROWS", "10000000"))
    spark = session()
    try:
        data = _rows(spark, rows)
        copied = _table(place / "copied", {}, data)
        hidden = _table(place / "hidden", _VECTORS, data)
        yield _deletes(spark, hidden, copied, rows)
        yield _merges(spark, hidden, rows)
    finally:
        spark.stop()


def _rows(spark: SparkSession, rows: int) -> DataFrame:
    return spark.range(0, rows, 1, _FILES).selectExpr(
        "id", "hash(id) % 100000L customer", "rand(7) * 1000 amount", "cast(id % 50 as int) quantity",
        "concat('c', id % 200) country",
    )  # fmt: skip


def _table(place: Path, properties: dict[str, str], data: DataFrame) -> Table:
    place.mkdir()
    definition = Definition(_SCHEMA, properties=properties)
    create.write_version_0(locate(str(place)), definition, managed=False, world=SystemWorld())
    table = headgate.at_path(place)
    table.append(data)
    return table


def _deletes(spark: SparkSession, hidden: Table, copied: Table, rows: int) -> Result:
    """Five rows of a hundred, from every file; other ones in each round, so that each finds as many."""
    ours, theirs = [], []
    for number in range(3):
        where = f"quantity % 20 = {number} and customer is not null"
        theirs.append(_seconds(lambda where=where: copied.delete(where, spark=spark)))
        ours.append(_seconds(lambda where=where: hidden.delete(where, spark=spark)))
    left = [table.read(spark=spark).count() for table in (hidden, copied)]
    if left[0] != left[1]:
        raise AssertionError(f"the two ways leave {left} rows")
    notes = (f"{rows:,} rows in {_FILES} files; {min(ours) / min(theirs):.2f} of the time of copying",)
    return Result("delete 5 %", Measure(1 / min(ours)), Measure(1 / min(theirs)), notes, "copying")


def _merges(spark: SparkSession, table: Table, rows: int) -> Result:
    """As many updates as inserts, a hundredth of the target, all over it."""
    count = rows // _MERGED
    reads, ours = [], []
    for number in range(3):
        source = spark.range(count).selectExpr(
            f"if(id % 2 = 0, (id * 9973 + {number}) % {rows}, id + {rows * (2 + number)}) id",
            "id customer", "1.5D amount", "1 quantity", "'new' country",
        ).dropDuplicates(["id"])  # fmt: skip
        merge = table.merge(source, "t.id = s.id")
        merge = merge.when_matched_update_all().when_not_matched_insert_all()
        reads.append(_seconds(lambda: table.read(spark=spark).write.format("noop").mode("overwrite").save()))
        ours.append(_seconds(merge.execute))
    notes = (f"{count:,} rows into {rows:,}; {min(ours) / min(reads):.2f} of the time of reading the target",)
    return Result("merge 1 %", Measure(1 / min(ours)), Measure(1 / min(reads)), notes, "reading")


def _seconds(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began
