"""The classic binder skips files by whatever a DataFrame goes through before it runs."""

import gc
import math
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec
import pyarrow as pa
import pytest
from py4j.clientserver import ClientServerConnection
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

import headgate
from headgate.protocol.stats import data_skipping
from headgate.spark.scan import binders, classic_file_index
from headgate.spark.scan.classic_file_index import FileListing
from tests.support.handmade import column, data_file, write_log
from tests.support.scanned_tables import (
    FILES,
    by_id,
    by_name,
    partitioned,
    plain,
    stats,
    tens,
    with_vectors,
)
from tests.support.waiting import until

pytestmark = pytest.mark.spark


@pytest.fixture(autouse=True)
def classic(spark: SparkSession) -> Iterator[None]:
    """No other binder will do here."""
    spark.conf.set(binders.SETTING, "classic")
    yield
    spark.conf.unset(binders.SETTING)


def files_read(df: DataFrame) -> int:
    """How many files the scans of a query read, once it has run."""
    df.collect()
    plan = df._jdf.queryExecution().executedPlan()
    if plan.getClass().getSimpleName() == "AdaptiveSparkPlanExec":
        plan = plan.executedPlan()
    return _files_read(plan)


def _files_read(plan: Any) -> int:
    name = plan.getClass().getSimpleName()
    if name == "FileSourceScanExec":
        return int(plan.metrics().apply("numFiles").value())
    inner = [plan.children().apply(i) for i in range(plan.children().size())]
    if name.endswith("QueryStageExec"):
        inner = [plan.plan()]
    return sum(map(_files_read, inner))


def _by_view(df: DataFrame) -> DataFrame:
    df.createOrReplaceTempView("binders")
    return df.sparkSession.sql("SELECT b.id, count(*) FROM binders b WHERE b.id IN (7, 95) GROUP BY b.id")


def _by_join(df: DataFrame) -> DataFrame:
    few = df.sparkSession.createDataFrame([(5,), (6,)], "k long")
    return df.where("id < 20").join(few, F.col("id") == F.col("k"))


_LATER: Mapping[str, tuple[Callable[[DataFrame], DataFrame], int, int]] = {
    "comparison": (lambda df: df.where("id >= 35 AND id < 40"), 1, 5),
    "SQL over a view": (_by_view, 2, 2),
    "join": (_by_join, 2, 2),
    "self-join": (lambda df: df.where("id = 1").union(df.where("id = 91 or id = 5")), 3, 3),
    "long list": (lambda df: df.where(F.col("id").isin(*range(20, 33), 1000)), 2, 13),
    "renamed": (lambda df: df.select((F.col("id")).alias("x")).where("NOT x > 12"), 2, 13),
    "null": (lambda df: df.where("id <=> 42 OR id IS NULL"), 10, 1),
    "not understood": (lambda df: df.where("id % 7 = 0 AND id > 88"), 2, 2),
    "nothing": (lambda df: df.where("id > 1000"), 0, 0),
}


@pytest.mark.parametrize("name", _LATER)
def test_files_are_skipped_by_what_comes_later(spark: SparkSession, tmp_path: Path, name: str) -> None:
    later, files, count = _LATER[name]

    df = later(plain(tmp_path).read(spark=spark))

    assert files_read(df) == files
    assert df.count() == count


def test_files_are_skipped_by_names_and_ids_and_partitions(spark: SparkSession, tmp_path: Path) -> None:

    for make, condition, files in (
        (by_name, "id = 5", 1), (by_id, "id between 12 and 25", 2), (with_vectors, "id < 15", 2),
        (partitioned, "i = 1", 1), (partitioned, "d IS NULL", 1), (partitioned, "n > 1.4 AND id >= 0", 1),
        (partitioned, "s = 'it\\'s ü/%'", 1), (partitioned, "t < timestamp'2024-03-01'", 1),
    ):  # fmt: skip
        location = tmp_path / make.__name__
        table = headgate.at_path(location) if location.exists() else make(location)
        assert files_read(table.read(spark=spark).where(condition)) == files, (make, condition)


def test_a_join_with_partitions_prunes_files_while_it_runs(spark: SparkSession, tmp_path: Path) -> None:
    few = spark.createDataFrame([(1, "x"), (7, "y")], "k int, v string").where("v = 'x'")

    df = partitioned(tmp_path).read(spark=spark).join(few, F.col("i") == F.col("k"))

    assert df.count() == 10


def test_filters_of_every_type_keep_the_rows_that_they_select(spark: SparkSession, tmp_path: Path) -> None:
    values: Mapping[str, tuple[str, pa.DataType, list[Any]]] = {
        "f": ("float", pa.float32(), [1.1, 2.2, -0.0]),
        "d": ("double", pa.float64(), [1.1, float("nan"), 1e300]),
        "n": ("decimal(10,2)", pa.decimal128(10, 2), [Decimal("1.10"), Decimal("-2.50"), Decimal(3)]),
        "day": ("date", pa.date32(), [date(1500, 3, 1), date(2024, 2, 29), date(9999, 12, 31)]),
        "ts": ("timestamp", pa.timestamp("us", "UTC"), [datetime(2024, 11, 3, h, 30) for h in (4, 5, 6)]),
        "b": ("boolean", pa.bool_(), [True, False, None]),
        "s": ("string", pa.string(), ["ab", "ü\U0001f600", ""]),
    }
    adds = []
    for n in range(3):
        data = pa.table({name: pa.array([some[n]], kind) for name, (_, kind, some) in values.items()})
        written: Mapping[str, Callable[[Any], Any]] = {
            "n": float,
            "day": str,
            "ts": lambda moment: f"{moment.isoformat()}.000Z",
        }
        texts = {
            name: written.get(name, lambda value: value)(some[n])
            for name, (_, _, some) in values.items()
            if some[n] is not None and not (isinstance(some[n], float) and math.isnan(some[n]))
        }
        bounds = stats(texts, texts, count=1)
        adds.append(data_file(tmp_path, f"{n}.parquet", data, stats=bounds))
    write_log(tmp_path, [column(name, kind) for name, (kind, _, _) in values.items()], adds)
    df = headgate.at_path(tmp_path).read(spark=spark)
    spark.conf.set(binders.SETTING, "portable")
    everything = headgate.at_path(tmp_path).read(spark=spark)
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")  # clocks go back at 06:00 UTC
    try:
        for condition in (
            "f = CAST(1.1 AS FLOAT)", "f = 0",
            "f > 1.1D", "d > 1e299", "d = double('nan')", "n = 1.1", "n < 0",
            "day < DATE'1600-01-01'", "day = DATE'2024-02-29'", "ts = TIMESTAMP'2024-11-03T05:30:00Z'",
            "ts = TIMESTAMP'2024-11-03T06:30:00Z'", "ts >= TIMESTAMP'2024-11-03 01:30:00'", "b", "NOT b",
            "CAST(ts AS DATE) = DATE'2024-11-03'", "s LIKE 'a%'", "s = 'ü\U0001f600'", "s IN ('', 'ab')",
            "NOT (s = 'ab' OR f > 2)", "b IS NULL", "NOT (b <=> true)",
        ):  # fmt: skip
            found, expected = df.where(condition), everything.where(condition)
            assert str(found.collect()) == str(expected.collect()), condition  # NaN is not equal to itself
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


def test_a_scan_works_cached_in_threads_and_in_other_sessions(spark: SparkSession, tmp_path: Path) -> None:
    df = with_vectors(tmp_path).read(spark=spark)

    def count(n: int) -> int:
        return df.where(f"id >= {10 * n}").count()

    expected = [38, 28, 20, 10]
    assert list(map(count, range(4))) == expected
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(count, range(4))) == expected
    cached = df.cache()
    assert (cached.count(), list(map(count, range(4)))) == (38, expected)
    cached.unpersist()
    other = spark.newSession()
    assert headgate.at_path(tmp_path).read(spark=other).where("id < 15").count() == 14


def test_a_scan_is_the_same_as_itself_and_as_no_other(spark: SparkSession, tmp_path: Path) -> None:
    table = plain(tmp_path)
    df, again = table.read(spark=spark), table.read(spark=spark)

    def counts(of: DataFrame) -> DataFrame:
        return of.groupBy((F.col("id") % 10).alias("k")).count()

    assert df._jdf.sameSemantics(df.select("*")._jdf)
    assert not df._jdf.sameSemantics(again._jdf)
    twice = counts(df).union(counts(df))
    assert (
        len(twice.collect()),
        twice._jdf.queryExecution().executedPlan().toString().count("ReusedExchange"),
    ) == (
        20,
        1,
    )
    df.cache()
    try:
        assert "InMemoryTableScan" in df.where("id > 3")._jdf.queryExecution().executedPlan().toString()
        assert (
            "InMemoryTableScan" not in again.where("id > 3")._jdf.queryExecution().executedPlan().toString()
        )
    finally:
        df.unpersist()
    assert sorted(Path(uri).name for uri in df.inputFiles()) == [f"{n}.parquet" for n in range(FILES)]


def test_python_is_asked_for_files_and_not_for_what_never_changes(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = plain(tmp_path)
    rows, asked = table.read(spark=spark), []
    listed = classic_file_index._FileIndex.listFiles

    def noted(self: Any, *filters: Any) -> Any:
        asked.append("listFiles")
        return listed(self, *filters)

    never = mock.Mock(side_effect=AssertionError("the JVM knows this"))
    constants = dict.fromkeys(("rootPaths", "partitionSchema", "metadataOpsTimeNs"), never)
    with mock.patch.multiple(classic_file_index._FileIndex, listFiles=noted, **constants):
        assert rows.where("id >= 0").count() == rows.count()

    assert asked
    never.assert_not_called()


def test_filters_on_the_columns_of_files_are_evaluated_to_the_letter(
    spark: SparkSession, tmp_path: Path
) -> None:
    values = [("id", range(100, 100 + FILES)), ("half", [n // 2 for n in range(FILES)])]
    plain(tmp_path)
    uris = [(tmp_path / f"{n}.parquet").as_uri() for n in range(FILES)]
    sizes = [(tmp_path / f"{n}.parquet").stat().st_size for n in range(FILES)]
    columns = [(f"__{name}", pa.array(numbers, pa.int64())) for name, numbers in values]
    listing = FileListing(
        pa.array(uris), pa.array(sizes), pa.array([1] * FILES), columns, ("__path", "__uri")
    )
    df = classic_file_index.scan(spark, StructType().add("id", "long"), listing, None)

    for condition, files in (
        ("__half = 2", 2), ("__half = 2 OR __id = 100", 3), ("__half > 2 AND __id < 107", 1),
        ("__id % 5 = 1", 2), ("nullif(__half, 0) IS NULL", 2), ("nullif(__half, 0) > 0", 8),
        ("__uri LIKE '%/3.parquet'", 1), ("__half = 1 AND __uri LIKE '%/3.parquet' AND id < 1000", 1),
        ("__half < 0", 0), ("__id = 100 + cast(id / 10 AS INT)", 10),
        ("__half = (SELECT max(x) FROM VALUES (1), (4) AS t(x))", 2),
    ):  # fmt: skip
        found = df.where(condition)
        assert files_read(found) == files, condition
    assert df.where("__half = 2 AND id < 45").count() == 5
    with pytest.raises(Exception, match="DIVIDE_BY_ZERO"):
        df.where("1 / __half > 0").count()


def _column(name: str) -> list[str]:
    return ["column", name]


def _literal(kind: str, value: Any) -> list[Any]:
    return ["literal", kind, value]


_SECOND_0130 = 1_730_615_400 * 10**6  # in New York, where clocks go back at two
_X, _Z = ["field", _column("st"), "X"], ["field", ["field", _column("st"), "y"], "Z"]
_WRITTEN: Mapping[str, list[Any]] = {
    "i = 1": ["EqualTo", _column("i"), _literal("integer", 1)],
    "s < 'it\\'s \"ü\n\U0001f600'": ["LessThan", _column("s"), _literal("string", "it's \"ü\n\U0001f600")],
    "d >= -1e-300D": ["GreaterThanOrEqual", _column("d"), _literal("double", -1e-300)],
    "f = 1.1F": ["EqualTo", _column("f"), _literal("float", 1.100000023841858)],
    "n = 1.50": ["EqualTo", _column("n"), _literal("decimal(3,2)", "1.50")],
    "NOT b": ["Not", _column("b")],
    "day < DATE'-0044-03-15'": ["LessThan", _column("day"), _literal("date", -735525)],
    "ts < TIMESTAMP'2024-11-03T06:30:00Z'": ["LessThan", _column("ts"), _literal("timestamp", _SECOND_0130)],
    "ts < TIMESTAMP'2024-11-03T05:30:00Z'": [
        "LessThan", _column("ts"), _literal("timestamp", _SECOND_0130 - 3600 * 10**6)
    ],
    "wall > TIMESTAMP_NTZ'1970-01-01 00:00:01.5'": [
        "GreaterThan", _column("wall"), _literal("timestamp_ntz", 1500000)
    ],
    "bin = X'01'": ["EqualTo", _column("bin"), ["?"]],
    "d = double('NaN')": ["EqualTo", _column("d"), ["?"]],
    "ST.x > 5": ["GreaterThan", _X, _literal("long", 5)],
    "st.Y.z IS NULL": ["IsNull", _Z],
    "i IN (1, NULL)": ["In", _column("i"), _literal("integer", 1), _literal("integer", None)],
    "cast(i AS DOUBLE) > d": [
        "GreaterThan", ["cast", _column("i"), "double", "America/New_York"], _column("d")
    ],
    "s LIKE 'ab%'": ["StartsWith", _column("s"), _literal("string", "ab")],
    "s <=> 'x'": ["EqualNullSafe", _column("s"), _literal("string", "x")],
}  # fmt: skip


def test_what_spark_writes_of_filters_is_understood(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql(
        "SELECT 1 i, 'a' s, 1.5D d, cast(null AS struct<X:bigint,y:struct<Z:date>>) st, 1.5F f, 1.25BD n,"
        "true b, current_date() day, current_timestamp() ts, localtimestamp() wall, X'01' bin"
    ).write.parquet(f"{tmp_path}/t")
    stored = spark.read.parquet(f"{tmp_path}/t").schema
    asked: list[Any] = []

    def note(question: str) -> None:
        asked.extend(msgspec.json.decode(question))

    no_text, no_number = pa.array([], pa.string()), pa.array([], pa.int64())
    df = classic_file_index.scan(spark, stored, FileListing(no_text, no_number, no_number, []), note)
    numbers, texts = (",".join(map(kind, range(11))) for kind in (str, lambda n: f"'{n}'"))
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        for condition, expected in _WRITTEN.items():
            asked.clear()
            df.where(condition).collect()
            assert expected in asked, (condition, asked)
        for condition, kind, values in (
            (f"i NOT IN ({numbers})", "integer", set(range(11))),
            (f"i IN (NULL, {numbers})", "integer", {None, *range(11)}),
            (f"s IN ('null', '', NULL, {texts})", "string", {"null", "", None, *map(str, range(11))}),
            (f"ts IN (timestamp_seconds(1), {','.join(f'timestamp_seconds({n})' for n in range(11))})",
             "timestamp", {n * 10**6 for n in range(11)}),
        ):  # fmt: skip
            asked.clear()
            df.where(condition).collect()
            (sets,) = [part[1] if part[0] == "Not" else part for part in asked if part[0] in ("In", "Not")]
            assert ({kind_ for _, kind_, _ in sets[2:]}, {value for *_, value in sets[2:]}) == (
                {kind},
                values,
            )
        asked.clear()
        df.where("s COLLATE UNICODE_CI = 'A'").collect()
        assert ["literal", "string", "A"] not in [part[-1] for part in asked if part[0] == "EqualTo"]
        df.where(F.col("i").isin(*range(1001))).collect()
        assert ["In", ["column", "i"]] in asked
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


def test_nothing_is_held_once_a_frame_is_gone(spark: SparkSession, tmp_path: Path) -> None:
    table = plain(tmp_path)
    gateway: Any = spark.sparkContext._gateway
    pool = gateway.gateway_property.pool

    def held() -> int:
        gc.collect()
        gateway.jvm.System.gc()
        return len(pool)

    table.read(spark=spark).where("id = 1").collect()
    before = held()
    for _ in range(20):
        table.read(spark=spark).where("id = 1").count()

    until(lambda: held() <= before + 10)


def test_an_answer_is_there_until_the_jvm_has_taken_it(spark: SparkSession, tmp_path: Path) -> None:
    df = plain(tmp_path).read(spark=spark).where("id = 5")
    call, find = ClientServerConnection._call_proxy, classic_file_index._FileIndex.listFiles
    found: list[None] = []

    def noted(index: Any, *filters: Any) -> Any:
        found.append(None)
        return find(index, *filters)

    def slowly(*args: Any) -> Any:
        answer = call(*args)
        while found:
            found.pop()
            gc.collect()
            time.sleep(2)  # every second py4j drops what Python does not hold
        return answer

    with (
        mock.patch.object(ClientServerConnection, "_call_proxy", slowly),
        mock.patch.object(classic_file_index._FileIndex, "listFiles", noted),
    ):
        assert df.count() == 1


def test_statistics_that_cannot_be_read_skip_nothing(spark: SparkSession, tmp_path: Path) -> None:
    df = plain(tmp_path).read(spark=spark).where("id = 5")
    with mock.patch.object(data_skipping, "keep_mask", side_effect=ValueError("says the test")):
        assert files_read(df) == FILES
    assert df.count() == 1


def test_many_files_are_planned_in_few_calls_and_none_is_looked_for(
    spark: SparkSession, tmp_path: Path
) -> None:
    real = data_file(tmp_path, "7.parquet", pa.table({"id": tens(70)}), stats=stats(70, 79, "id"))
    adds = [
        msgspec.structs.replace(real, path=f"{n}.parquet", stats=stats(10 * n, 10 * n + 9, "id"))
        for n in range(20_000)
    ]
    write_log(tmp_path, [column("id", "long")], adds)
    table = headgate.at_path(tmp_path)
    jvm = spark.sparkContext._gateway._gateway_client

    with mock.patch.object(jvm, "send_command", wraps=jvm.send_command) as called:
        df = table.read(spark=spark)
        tasks = df.rdd.getNumPartitions()  # a listing of files would fail: one is there

    assert tasks > 1
    assert 10 < called.call_count < 1_000, "one for each file is too many"
    assert files_read(df.where("id = 75")) == 1
