"""What is appended is what is read, and Spark alone moves it."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import headgate
from headgate.errors import InvalidRequest, UnsupportedFeature
from tests.support import rows

pytestmark = pytest.mark.spark

EVERY_TYPE = """
    SELECT 1L AS id, true AS flag, 7Y AS tiny, 8S AS small, 9 AS medium,
           CAST(1.5 AS FLOAT) AS f, double('NaN') AS d,
           5.25BD AS price, CAST('-12345678901234567890.0123456789' AS DECIMAL(38,10)) AS big,
           DATE'0001-01-01' AS day, TIMESTAMP'1960-02-29 23:59:59.123456' AS at,
           TIMESTAMP_NTZ'1969-12-31 23:59:59.999999' AS local, X'00FF' AS raw, '' AS text,
           named_struct('x', 1, 'inner', named_struct('y.z', 'ü')) AS nested,
           array(1, NULL, 3) AS list, map('k', array('v')) AS pairs
    UNION ALL
    SELECT 2L, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '日本 🎉',
           NULL, array(), NULL
"""
FIRST = {
    "id": 1, "flag": True, "tiny": 7, "small": 8, "medium": 9, "f": 1.5,
    "price": Decimal("5.25"), "big": Decimal("-12345678901234567890.0123456789"),
    "day": date(1, 1, 1), "at": datetime(1960, 2, 29, 23, 59, 59, 123456, tzinfo=UTC),
    "local": datetime(1969, 12, 31, 23, 59, 59, 999999), "raw": b"\x00\xff", "text": "",
    "nested": {"x": 1, "inner": {"y.z": "ü"}}, "list": [1, None, 3], "pairs": [("k", ["v"])],
}  # fmt: skip


def test_every_type_survives_an_append_and_a_read(spark: SparkSession, tmp_path: Path) -> None:
    df = spark.sql(EVERY_TYPE)
    table = headgate.at_path(tmp_path / "t", columns=df)

    table.append(df)

    first, second = rows.of_frame(table.read())
    assert str(first.pop("d")) == "nan"
    assert first == FIRST
    assert {name for name, value in second.items() if value is not None} == {"id", "text", "list"}
    assert second["text"] == "日本 🎉"


def test_statistics_hold_for_the_rows_of_every_file(spark: SparkSession, tmp_path: Path) -> None:
    df = spark.sql(EVERY_TYPE).coalesce(1)
    table = headgate.at_path(tmp_path / "t", columns=df)

    table.append(df)

    (stats,) = [json.loads(text) for text in table.log.snapshot().files.columns["stats"].to_pylist()]
    low, high = stats["minValues"], stats["maxValues"]
    assert stats["numRecords"] == 2
    assert (low["id"], high["id"]) == (1, 2)
    assert (low["at"], high["at"]) == ("1960-02-29T23:59:59.123Z", "1960-02-29T23:59:59.124Z")
    assert (low["local"], high["local"]) == ("1969-12-31T23:59:59.999", "1970-01-01T00:00:00.000")
    assert low["nested"] == {"x": 1, "inner": {"y.z": "ü"}}
    assert low["day"] == "0001-01-01"
    assert not {"d", "flag", "raw", "list", "pairs"} & set(low)
    assert stats["nullCount"]["nested"] == {"x": 1, "inner": {"y.z": 1}}
    assert not {"list", "pairs"} & set(stats["nullCount"])


def test_columns_are_matched_by_name_and_absent_ones_are_null(spark: SparkSession, tmp_path: Path) -> None:
    columns = "id BIGINT, `Name.x` STRING, s STRUCT<A: INT>, extra DOUBLE"
    table = headgate.at_path(tmp_path / "t", columns=columns)

    table.append(spark.sql("SELECT named_struct('a', 1) AS S, 'n' AS `name.X`, 1L AS ID, NULL AS extra"))

    assert table.read().columns == ["id", "Name.x", "s", "extra"]
    assert rows.of_frame(table.read()) == [{"id": 1, "Name.x": "n", "s": {"A": 1}, "extra": None}]


def test_an_empty_table_has_columns_and_no_rows(spark: SparkSession, tmp_path: Path) -> None:
    table = headgate.at_path(tmp_path / "t", columns="id BIGINT COMMENT 'the key', name STRING")

    df = table.read(spark=spark)

    assert df.schema.simpleString() == "struct<id:bigint,name:string>"
    assert df.schema["id"].metadata == {"comment": "the key"}
    assert df.count() == 0


@pytest.mark.parametrize("name", ["with space", "100%25 sure", "日本ü", "[a]{b}*?", "a:b#c"])
def test_the_location_may_have_any_characters(spark: SparkSession, tmp_path: Path, name: str) -> None:
    table = headgate.at_path(tmp_path / name / "t", columns="id BIGINT")

    table.append(spark.range(3))

    assert (tmp_path / name / "t" / "_delta_log").is_dir()
    assert rows.of_frame(table.read()) == [{"id": 0}, {"id": 1}, {"id": 2}]


def test_the_plan_is_a_native_scan_with_pushed_filters(spark: SparkSession, tmp_path: Path) -> None:
    table = headgate.at_path(tmp_path / "t", columns="id BIGINT, name STRING")
    table.append(spark.sql("SELECT id, string(id) AS name FROM range(100)"))

    df = table.read().where("id > 97").select("id")

    plan = df._jdf.queryExecution().executedPlan().toString()
    assert "FileScan parquet" in plan and "Location: $Proxy" in plan
    assert "GreaterThan(id,97)" in plan and "ReadSchema: struct<id:bigint>" in plan
    assert "Python" not in plan
    assert df.count() == 2


def test_a_read_stays_at_its_version_while_the_table_moves_on(spark: SparkSession, tmp_path: Path) -> None:
    table = headgate.at_path(tmp_path / "t", columns="id BIGINT")
    table.append(spark.range(2))
    before = table.read()

    table.overwrite(spark.range(10, 11))

    assert rows.of_frame(before) == [{"id": 0}, {"id": 1}]
    assert rows.of_frame(before.union(table.read())) == [{"id": 0}, {"id": 1}, {"id": 10}]


def test_a_missing_file_is_an_error_whatever_the_session_says(spark: SparkSession, tmp_path: Path) -> None:
    table = headgate.at_path(tmp_path / "t", columns="id BIGINT")
    table.append(spark.range(2))
    for file in (tmp_path / "t").glob("*/*.parquet"):
        file.unlink()

    spark.conf.set("spark.sql.files.ignoreMissingFiles", "true")
    try:
        with pytest.raises(Exception, match=r"FILE_NOT_EXIST|does not exist"):
            table.read().collect()
    finally:
        spark.conf.unset("spark.sql.files.ignoreMissingFiles")


def test_a_session_that_ignores_manifests_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    table = headgate.at_path(tmp_path / "t", columns="id BIGINT")
    spark.conf.set("spark.headgate.binder", "portable")
    spark.conf.set("spark.sql.streaming.fileStreamSink.ignoreMetadata", "true")
    try:
        with pytest.raises(InvalidRequest, match="ignoreMetadata"):
            table.read()
    finally:
        spark.conf.unset("spark.sql.streaming.fileStreamSink.ignoreMetadata")
        spark.conf.unset("spark.headgate.binder")


def test_a_data_file_that_spark_would_skip_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    table = headgate.at_path(tmp_path / "t", columns="id BIGINT")
    table.append(spark.range(1))
    log = tmp_path / "t" / "_delta_log" / f"{1:020d}.json"
    log.write_text(log.read_text().replace("/part-", "/_part-"))

    spark.conf.set("spark.headgate.binder", "portable")
    try:
        with pytest.raises(UnsupportedFeature, match="skip"):
            headgate.at_path(tmp_path / "t").read()
    finally:
        spark.conf.unset("spark.headgate.binder")
