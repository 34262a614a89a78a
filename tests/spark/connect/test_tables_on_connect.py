"""A user's calls, one after the other, on a session of Spark Connect."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

import headgate
from headgate import Lake, Table
from headgate.errors import ConstraintViolated, InvalidRequest, UnsupportedFeature
from headgate.spark.session import kind
from headgate.storage.locate import locate
from headgate.table.transaction import Change, Operation
from tests.docs import test_docs
from tests.support import corpora, rows, tables
from tests.support.handmade import column, data_file, write_log

pytestmark = pytest.mark.spark

CORPORA = [
    "dat/out/reader_tests/generated/column_mapping/delta",
    "dat/out/reader_tests/generated/deletion_vectors/delta",
    "dat/out/reader_tests/generated/multi_partitioned/delta",
    "dat/out/reader_tests/generated/nested_types/delta",
    "kernelrs_golden/dv-partitioned-with-checkpoint/delta",
    "kernelrs_golden/table-with-columnmapping-mode-id/delta",
]


def feed(lake: Lake) -> Table:
    """An empty table that records its changes, at version 1."""
    table = lake.create_table("s.feed", "id BIGINT, name STRING")
    base = table.log.snapshot()
    configuration = {**base.state.metadata.configuration, "delta.enableChangeDataFeed": "true"}
    metadata = msgspec.structs.replace(base.state.metadata, configuration=configuration)
    named = (*(base.state.protocol.writer_features or ()), "changeDataFeed")
    protocol = msgspec.structs.replace(base.state.protocol, writer_features=named)
    table.log.commit(Change(Operation("SET TBLPROPERTIES"), (protocol, metadata)), base=base)
    return table


def ids(table: Table, **asked: object) -> list[int]:
    return [row["id"] for row in rows.of_frame(table.read(**asked))]  # type: ignore[arg-type]


def test_the_page_about_spark_connect_is_true(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = test_docs.ROOT / "docs" / "how-to" / "spark-connect.md"

    test_docs.test_the_code_of_a_page_runs_from_top_to_bottom(page, spark, tmp_path, monkeypatch)


def test_this_is_spark_connect(spark: SparkSession) -> None:
    assert kind.is_connect(spark) and kind.is_connect(spark.range(1))
    assert kind.active_session() is spark


def test_append_overwrite_and_the_past(spark: SparkSession, lake: Lake) -> None:
    table = feed(lake)

    assert table.append(spark.sql("SELECT id, string(id) AS name FROM range(3)")) == 2
    after_append = datetime.now(UTC)
    time.sleep(0.01)
    assert table.overwrite(table.read().where("id > 1")) == 3

    assert ids(table) == [2]
    assert ids(table, version=2) == ids(table, timestamp=after_append) == [0, 1, 2]
    changed = [(row.id, row._change_type, row._commit_version) for row in table.changes(2).collect()]
    assert sorted(changed) == [
        (0, "delete", 3), (0, "insert", 2), (1, "delete", 3), (1, "insert", 2),
        (2, "delete", 3), (2, "insert", 2), (2, "insert", 3),
    ]  # fmt: skip
    assert [row.version for row in table.history().collect()] == [3, 2, 1, 0]
    assert table.history(limit=1).collect()[0].operationParameters["mode"] == "Overwrite"
    assert [row.numFiles for row in table.detail().collect()] == [1]
    assert not list(Path(table.location).rglob("*_SUCCESS*"))


@pytest.mark.parametrize(
    ("where", "kept"),
    [
        ("id >= 20", [20, 21]),
        (lambda: F.col("id") >= 20, [20, 21]),
        (lambda: F.col("s.`x.y`") == Decimal("20.50"), [20]),
        (lambda: F.col("s")["x.y"].isin(Decimal("20.50"), Decimal("21.5")), [20, 21]),
        (lambda: (F.col("at") > datetime(2024, 1, 20, tzinfo=UTC)) & ~F.col("id").isNull(), [21]),
        (lambda: F.col("name").startswith("2"), [20, 21]),
        (lambda: F.expr("id = 21 OR name = '20'"), [20, 21]),
    ],
)
def test_a_condition_leaves_files_unread(
    spark: SparkSession, tmp_path: Path, where: object, kept: list[int]
) -> None:
    some = """SELECT id, string(id) AS name, named_struct('x.y', CAST(id + 0.5 AS DECIMAL(10, 2))) AS s,
                     timestampadd(DAY, id - 1, TIMESTAMP'2024-01-01 00:00:00Z') AS at FROM range({}, {})"""
    table = headgate.at_path(tmp_path / "t", columns=spark.sql(some.format(0, 1)))
    for start in (10, 20):
        table.append(spark.sql(some.format(start, start + 2)).coalesce(1))
    first = next(
        item for item in table.log.snapshot().files.columns.to_pylist() if '"id":10' in item["stats"]
    )
    (tmp_path / "t" / first["path"]).unlink()
    condition: Column | str = where() if callable(where) else str(where)

    assert ids(table, where=condition) == kept


def test_a_condition_that_is_not_understood_selects_the_right_rows(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = headgate.at_path(tmp_path / "t", columns="id BIGINT")
    table.append(spark.range(10))

    assert ids(table, where=(F.col("id") % 3 == 0) & (F.col("id") > 2)) == [3, 6, 9]
    assert ids(table, where=F.exists(F.array("id"), lambda item: item > 7)) == [8, 9]


def test_temp_views_sql_caches_and_joins(spark: SparkSession, tmp_path: Path) -> None:
    table = headgate.at_path(tmp_path / "t", columns="id BIGINT")
    table.append(spark.range(4))
    table.read().createOrReplaceTempView("numbers")
    read = table.read().cache()
    table.overwrite(spark.range(9))

    joined = spark.sql("SELECT count(*) AS n FROM numbers JOIN {t} USING (id)", t=read)

    assert joined.collect()[0].n == 4
    assert spark.table("numbers").count() == read.count() == 4
    assert read.join(read.where("id > 1"), "id", "left_anti").count() == 2
    read.unpersist()


def test_two_threads_read_and_write(spark: SparkSession, lake: Lake) -> None:
    table = lake.create_table("s.t", "id BIGINT")

    def work(start: int) -> None:
        for number in range(3):
            table.append(spark.range(start + number, start + number + 1))
            assert start + number in ids(table)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, (0, 10)))

    assert ids(table) == [0, 1, 2, 10, 11, 12]
    assert table.version() == 6


def test_errors_say_what_they_say_elsewhere(spark: SparkSession, tmp_path: Path) -> None:
    table = headgate.at_path(tmp_path / "t", columns="id BIGINT NOT NULL")
    table.append(spark.range(1))
    with pytest.raises(ConstraintViolated, match="'id' is NOT NULL"):
        table.append(spark.sql("SELECT CAST(NULL AS BIGINT) AS id"))
    with pytest.raises(InvalidRequest, match="no_such"):
        table.read(where=F.col("no_such") == 1)
    with pytest.raises(InvalidRequest, match="not a list of columns"):
        headgate.at_path(tmp_path / "u", columns="id NO_SUCH_TYPE")
    (data,) = (tmp_path / "t").glob("*/*.parquet")
    data.unlink()

    with pytest.raises(PySparkException, match=data.name):
        table.read().collect()


def test_a_feature_nobody_knows_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    write_log(tmp_path, [column("id", "long")], [], features=["futureFeature"])

    with pytest.raises(UnsupportedFeature, match="futureFeature"):
        headgate.at_path(tmp_path).read(spark=spark)


def test_rows_that_the_server_wrote_elsewhere_are_not_committed(spark: SparkSession, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    tables.create_filesystem(locate(str(here)))
    table = Table("t", tables.open_filesystem(str(there), store=locate(str(here))))

    with pytest.raises(InvalidRequest, match="nothing was committed"):
        table.append(spark.sql("SELECT 1L AS id, 'w' AS writer"))

    assert table.version() == 0


def test_partitions_are_pruned_and_typed(spark: SparkSession, tmp_path: Path) -> None:
    adds = [
        data_file(tmp_path, f"{day}.parquet", pa.table({"id": [day]}),
                  partition_values={"day": f"2024-01-0{day}"}) for day in (1, 2, 3)
    ]  # fmt: skip
    write_log(tmp_path, [column("id", "long"), column("day", "date")], adds, partitioned_by=["day"])
    (tmp_path / "3.parquet").unlink()
    df = headgate.at_path(tmp_path).read(spark=spark)

    assert [row.id for row in df.where("day < DATE'2024-01-03'").orderBy("id").collect()] == [1, 2]
    assert ids(headgate.at_path(tmp_path), where=F.col("day") == "2024-01-02") == [2]


@corpora.needs_corpora
@pytest.mark.parametrize("path", CORPORA)
def test_tables_of_others_have_the_rows_on_which_engines_agree(spark: SparkSession, path: str) -> None:
    (known,) = (table for table in corpora.tables() if table.path == path)

    found = headgate.at_path(known.location).read(spark=spark).toArrow()

    assert corpora.row_digest(found) == known.digest
    assert not (known.location / "_headgate").exists()
