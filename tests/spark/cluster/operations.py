"""What a user does with tables, as one list that runs wherever Spark does, and which rows there are then.

It runs on a local session, on Spark Connect and on a standalone cluster, so it uses nothing that
only one of them has, and starts no Python outside this process.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, LongType, StringType, StructType

import headgate
from headgate import Lake, Settings, Table, identity_column
from tests.support.changed_tables import FEED, TRACKED, VECTORS

COLUMNS = "id BIGINT, p INT, v STRING"
MARKED, COPIED, CLUSTERED, PICKED = "s.marked", "s.copied", "s.clustered", "s.picked"
NUMBERED, DEEP, SHALLOW = "s.numbered", "s.deep", "s.shallow"
BY_SPARK = Settings(spark_replay_bytes=-1)
Rows = dict[int, str]
"""What a table has: a text by id; p is always id % 3."""


def numbered_columns() -> StructType:
    """The same columns, and one whose values the table gives itself."""
    columns = StructType().add("id", LongType()).add("p", IntegerType()).add("v", StringType())
    return columns.add(identity_column("n"))


@dataclass(frozen=True)
class Statement:
    """One change of rows, as Headgate makes it and as a dictionary does."""

    name: str
    run: Callable[[Table, SparkSession], object]
    model: Callable[[Rows], Rows]


@dataclass
class Bench:
    """A lake, and what its tables must have, now and at every version."""

    spark: SparkSession
    lake: Lake
    folder: Path
    rows: dict[str, Rows] = field(default_factory=dict)
    past: dict[str, dict[int, Rows]] = field(default_factory=dict)

    def make(self, name: str, *switches: Mapping[str, str], **rest: Any) -> None:
        properties = {key: value for some in switches for key, value in some.items()}
        table = self.lake.create_table(name, rest.pop("columns", COLUMNS), properties=properties, **rest)
        self.rows[name] = {}
        self.past[name] = {table.version(): {}}

    def apply(self, name: str, statements: Iterable[Statement]) -> None:
        for statement in statements:
            table = self.lake.table(name)
            statement.run(table, self.spark)
            self.expect(name, statement.model(self.rows[name]), statement.name)

    def expect(self, name: str, rows: Rows, after: str) -> None:
        """That the table has just these rows, each once; a version that is new has them too."""
        table = self.lake.table(name)
        assert content(table.read(spark=self.spark)) == expected(rows), f"{name} after {after}"
        self.rows[name] = rows
        self.past[name][table.version()] = rows


def frame(spark: SparkSession, rows: Rows, *, tasks: int = 2) -> DataFrame:
    """Rows as a DataFrame of several tasks; from Arrow, because a list would take Python on executors."""
    keys = sorted(rows)
    made = pa.table(
        {
            "id": pa.array(keys, pa.int64()),
            "p": pa.array([key % 3 for key in keys], pa.int32()),
            "v": pa.array([rows[key] for key in keys], pa.string()),
        }
    )
    return spark.createDataFrame(made).repartition(tasks, "id")


def content(df: DataFrame) -> list[tuple[int, int, str]]:
    """The rows of a table in their order."""
    found = df.select("id", "p", "v").toArrow().to_pylist()
    return sorted((row["id"], row["p"], row["v"]) for row in found)


def expected(rows: Rows) -> list[tuple[int, int, str]]:
    """What ``content`` must be."""
    return sorted((key, key % 3, text) for key, text in rows.items())


def check_numbers(table: Table, spark: SparkSession, given: dict[int, int] | None = None) -> None:
    """That every row has a number of its own; and no other row had it of those in ``given``."""
    known = {} if given is None else given
    found = table.read(spark=spark).select("n", "id").toArrow().to_pylist()
    numbers = [row["n"] for row in found]
    assert None not in numbers and len(set(numbers)) == len(numbers), f"{table.name}: {sorted(numbers)}"
    for row in found:
        assert known.setdefault(row["n"], row["id"]) == row["id"], f"{table.name}: {row} was given twice"


def texts(start: int, stop: int, mark: str) -> Rows:
    """A text for each id."""
    return {key: f"{mark}{key}" for key in range(start, stop)}


def appended(start: int, stop: int) -> Statement:
    rows = texts(start, stop, "v")
    return Statement("append", lambda table, spark: table.append(frame(spark, rows)), lambda old: old | rows)


def _merge(table: Table, spark: SparkSession) -> object:
    merge = table.merge(frame(spark, _MERGED), "t.id = s.id")
    merge = merge.when_matched_delete("s.id % 4 = 0").when_matched_update(set={"v": "concat(s.v, t.v)"})
    return merge.when_not_matched_insert_all().execute()


def _merge_model(old: Rows) -> Rows:
    kept = {key: text for key, text in old.items() if not (key in _MERGED and key % 4 == 0)}
    changed = {key: _MERGED[key] + text if key in _MERGED else text for key, text in kept.items()}
    return changed | {key: text for key, text in _MERGED.items() if key not in old}


def _update(table: Table, spark: SparkSession) -> object:
    return table.update({"v": "concat(v, 'u')"}, "id % 5 = 0", spark=spark)


def _replace(table: Table, spark: SparkSession) -> object:
    return table.overwrite(frame(spark, _REPLACING), replace_where="p = 1")


def _overwrite(table: Table, spark: SparkSession) -> object:
    read = table.read(where="id >= 4", spark=spark).select("id", "p", "v")
    return table.overwrite(read.withColumn("v", F.concat(F.lit("o"), "v")))


_MERGED = texts(30, 50, "m")
_REPLACING = {key: f"r{key}" for key in range(1, 30, 3)}
DELETED = Statement(
    "delete",
    lambda table, spark: table.delete("id % 7 = 3", spark=spark),
    lambda old: {key: text for key, text in old.items() if key % 7 != 3},
)
UPDATED = Statement(
    "update", _update, lambda old: {key: f"{text}u" if key % 5 == 0 else text for key, text in old.items()}
)
MERGED = Statement("merge", _merge, _merge_model)
REPLACED = Statement(
    "replaceWhere",
    _replace,
    lambda old: {key: text for key, text in old.items() if key % 3 != 1} | _REPLACING,
)
OVERWRITTEN = Statement(
    "overwrite", _overwrite, lambda old: {key: f"o{text}" for key, text in old.items() if key >= 4}
)


def change_rows_with_vectors(bench: Bench) -> None:
    bench.make(MARKED, VECTORS, FEED, TRACKED)
    bench.apply(MARKED, [appended(0, 40), DELETED, UPDATED, MERGED, REPLACED, OVERWRITTEN])


def change_rows_by_copying(bench: Bench) -> None:
    bench.make(COPIED, partition_by=["p"])
    bench.apply(COPIED, [appended(0, 40), UPDATED, MERGED, REPLACED])


def number_the_rows(bench: Bench) -> None:
    """An identity column: whatever happens to rows, none gets the number that another has or had."""
    bench.make(NUMBERED, VECTORS, columns=numbered_columns())
    given: dict[int, int] = {}
    for statement in (appended(0, 40), UPDATED, MERGED, REPLACED, OVERWRITTEN):
        bench.apply(NUMBERED, [statement])
        check_numbers(bench.lake.table(NUMBERED), bench.spark, given)


def clone_tables(bench: Bench) -> None:
    """Deep and shallow; what happens to a clone does not happen to its source."""
    for name, shallow in ((DEEP, False), (SHALLOW, True)):
        bench.lake.clone(NUMBERED, name, shallow=shallow)
        bench.past[name] = {}
        bench.expect(name, bench.rows[NUMBERED], "CLONE")
        bench.apply(name, [DELETED, appended(100, 110)])
        check_numbers(bench.lake.table(name), bench.spark)
    bench.expect(NUMBERED, bench.rows[NUMBERED], "changes of its clones")
    bench.lake.clone(MARKED, DEEP, replace=True)
    bench.expect(DEEP, bench.rows[MARKED], "CLONE over it")


def change_several_tables_at_once(bench: Bench) -> None:
    """Every kind of change in one transaction; a table with a feed takes one of them."""
    spark = bench.spark
    with bench.lake.transaction([MARKED, COPIED]) as tx:
        MERGED.run(tx.table(MARKED), spark)
        for statement in (appended(60, 80), DELETED, UPDATED):
            statement.run(tx.table(COPIED), spark)
        picked = tx.create_table(PICKED, COLUMNS, properties=VECTORS)
        picked.append(tx.table(COPIED).read(where="id < 70", spark=spark))
        _replace(picked, spark)
    copied = UPDATED.model(DELETED.model(bench.rows[COPIED] | texts(60, 80, "v")))
    bench.expect(MARKED, MERGED.model(bench.rows[MARKED]), "the transaction")
    bench.expect(COPIED, copied, "the transaction")
    low = {key: text for key, text in copied.items() if key < 70}
    bench.past[PICKED] = {}
    bench.expect(PICKED, REPLACED.model(low), "the transaction")


def travel_in_time(bench: Bench) -> None:
    table = bench.lake.table(MARKED)
    for version, rows in bench.past[MARKED].items():
        found = content(table.read(version=version, spark=bench.spark))
        assert found == expected(rows), f"at version {version}"
    history = [row["version"] for row in table.history(spark=bench.spark).toArrow().to_pylist()]
    assert history == list(range(table.version(), -1, -1))


def follow_the_changes(bench: Bench) -> None:
    """The rows of an older version and the changes since make the rows of now."""
    first, *_, last = sorted(bench.past[MARKED])
    found = bench.lake.table(MARKED).changes(first + 1, last, spark=bench.spark).toArrow().to_pylist()
    counts: dict[tuple[int, str], int] = {}
    for row in found:
        sign = 1 if row["_change_type"] in ("insert", "update_postimage") else -1
        counts[row["id"], row["v"]] = counts.get((row["id"], row["v"]), 0) + sign
    assert {key for key, count in counts.items() if count} == set(bench.rows[MARKED].items())
    assert set(counts.values()) <= {0, 1}


def read_some_rows(bench: Bench) -> None:
    table, rows = bench.lake.table(MARKED), bench.rows[MARKED]
    some = {key: text for key, text in rows.items() if 20 <= key < 45}
    assert content(table.read(where="id >= 20 AND id < 45", spark=bench.spark)) == expected(some)
    later = table.read(spark=bench.spark).where("p = 2").where("id > 10")
    assert content(later) == expected({key: text for key, text in rows.items() if key % 3 == 2 and key > 10})
    ids = table.read(row_ids=True, spark=bench.spark).select("_row_id").toArrow()["_row_id"].to_pylist()
    assert None not in ids and len(set(ids)) == len(rows)


def have_spark_replay_the_log(bench: Bench) -> None:
    table = bench.lake.table(MARKED)
    table.checkpoint()
    with headgate.connect(bench.folder / "lake", settings=BY_SPARK) as other:
        again = other.table(MARKED)
        assert content(again.read(spark=bench.spark)) == expected(bench.rows[MARKED])
        (detail,) = again.detail(spark=bench.spark).toArrow().to_pylist()
        assert detail["numFiles"] == table.log.snapshot().files.columns.num_rows
        UPDATED.run(again, bench.spark)
    bench.expect(MARKED, UPDATED.model(bench.rows[MARKED]), "an update of what Spark replayed")


def lay_out_anew(bench: Bench) -> None:
    for name in (MARKED, COPIED):
        bench.lake.permit(name, "data reorganisation")
    bench.lake.table(MARKED).purge(spark=bench.spark)
    bench.lake.table(COPIED).optimize(spark=bench.spark)
    bench.lake.table(MARKED).optimize(z_order_by=["p", "id"], spark=bench.spark)
    for name in (MARKED, COPIED):
        bench.expect(name, bench.rows[name], "OPTIMIZE")
    bench.make(CLUSTERED, cluster_by=["p", "id"])
    bench.lake.permit(CLUSTERED, "data reorganisation")
    bench.apply(CLUSTERED, [appended(0, 40), appended(40, 90)])
    bench.lake.table(CLUSTERED).optimize(full=True, spark=bench.spark)
    bench.expect(CLUSTERED, bench.rows[CLUSTERED], "clustering")


def restore_and_vacuum(bench: Bench) -> None:
    table = bench.lake.table(COPIED)
    version = sorted(bench.past[COPIED])[2]
    rows = bench.past[COPIED][version]
    table.restore(version=version)
    bench.expect(COPIED, rows, "RESTORE")
    bench.lake.permit(COPIED, "data cleanup")
    gone = table.vacuum(timedelta(0), enforce_retention=False)
    assert gone.paths
    bench.expect(COPIED, rows, "VACUUM")


def convert_files_of_others(bench: Bench) -> None:
    place = bench.folder / "parquet"
    for day in ("1", "2"):
        (place / f"day={day}").mkdir(parents=True)
        pq.write_table(pa.table({"id": [int(day)]}), place / f"day={day}" / "part.parquet")
    table = bench.lake.convert(place, "s.converted", partition_schema="day INT")
    table.append(bench.spark.sql("SELECT 3L AS id, 3 AS day"))
    found = table.read(spark=bench.spark).toArrow().to_pylist()
    assert sorted((row["id"], row["day"]) for row in found) == [(1, 1), (2, 2), (3, 3)]


OPERATIONS: tuple[Callable[[Bench], None], ...] = (
    change_rows_with_vectors,
    change_rows_by_copying,
    number_the_rows,
    clone_tables,
    travel_in_time,
    change_several_tables_at_once,
    follow_the_changes,
    read_some_rows,
    lay_out_anew,
    have_spark_replay_the_log,
    restore_and_vacuum,
    convert_files_of_others,
)
"""In this order, because they build on each other."""


def run(spark: SparkSession, folder: Path) -> list[str]:
    """All of it in a new lake; the names of what was done."""
    with headgate.connect(folder / "lake") as lake:
        lake.create_schema("s")
        bench = Bench(spark, lake, folder)
        done = []
        for operation in OPERATIONS:
            operation(bench)
            done.append(operation.__name__)
        for report in lake.check():
            assert report.is_clean, report.findings
        return done
