"""Delta Spark as a peer: values come through it exactly, and it objects to a checksum that is wrong."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import headgate
from headgate.settings import Publish, Settings
from tests.support import delta_jars, delta_spark
from tests.support.delta_spark import DeltaSpark, Refused
from tests.support.plain_rows import Variant, dump, load, plain_rows

pytestmark = [pytest.mark.interop, pytest.mark.spark]

AT_ONCE = Settings(publish=Publish.NOW)
"""Every version has its checksum when the commit returns."""
EVERY_TYPE = """
    SELECT 1 AS i, CAST(NULL AS STRING) AS nothing, 1.20BD AS d, DATE '2026-01-31' AS day,
        TIMESTAMP '2026-01-31 12:00:00.000001Z' AS moment, TIMESTAMP_NTZ '2026-01-31 12:00:00' AS local,
        X'00FF' AS bytes, double('NaN') AS nan, map('a', array(1, NULL)) AS m,
        named_struct('x', 1L, 'y', array(DATE '2026-01-01')) AS s, parse_json('{"b": 1, "a": null}') AS v
"""
VALUES = (
    1, None, Decimal("1.20"), date(2026, 1, 31), datetime(2026, 1, 31, 12, 0, 0, 1, UTC),
    datetime(2026, 1, 31, 12), b"\x00\xff", "NaN", frozenset({("a", (1, None))}),
    (1, (date(2026, 1, 1),)), Variant('{"a": null, "b": 1}'),
)  # fmt: skip


def test_values_of_every_type_come_through_exactly(delta: DeltaSpark, spark: SparkSession) -> None:
    theirs = delta.sql(EVERY_TYPE)

    assert theirs.rows == [VALUES] == plain_rows(spark.sql(EVERY_TYPE))
    assert load(json.loads(json.dumps(dump(VALUES)))) == VALUES
    assert ("moment", "timestamp") in theirs.columns


def test_an_error_has_its_name(delta: DeltaSpark) -> None:
    with pytest.raises(Refused, match="nowhere") as refused:
        delta.read("/nowhere/at/all")

    assert refused.value.condition


def test_it_objects_to_a_checksum_that_is_wrong(
    delta: DeltaSpark, spark: SparkSession, tmp_path: Path
) -> None:
    table = headgate.at_path(tmp_path, columns="id BIGINT", settings=AT_ONCE)
    table.append(spark.range(3))
    table.append(spark.range(4))
    right = delta.verify(tmp_path)
    checksum = tmp_path / "_delta_log" / f"{1:020d}.crc"
    content = json.loads(checksum.read_text())
    checksum.write_text(json.dumps({**content, "tableSizeBytes": content["tableSizeBytes"] + 1}))

    assert right == {1: None, 2: None}
    assert "Table size (bytes)" in (delta.verify(tmp_path)[1] or "")


def test_it_does_not_write_upon_a_checksum_that_is_wrong(
    delta: DeltaSpark, spark: SparkSession, tmp_path: Path
) -> None:
    table = headgate.at_path(tmp_path, columns="id BIGINT", settings=AT_ONCE)
    table.append(spark.range(3))
    checksum = tmp_path / "_delta_log" / f"{1:020d}.crc"
    content = json.loads(checksum.read_text())
    checksum.write_text(json.dumps({**content, "numFiles": content["numFiles"] + 1}))

    with pytest.raises(Refused, match="Number of files"):
        delta.sql(f"INSERT INTO delta.`{tmp_path}` VALUES (9)")


def test_it_vacuums_a_table_in_which_headgate_deleted_a_row(
    delta: DeltaSpark, spark: SparkSession, tmp_path: Path
) -> None:
    """It fails on vectors inside the log, however small."""
    with_vectors = {"delta.enableDeletionVectors": "true"}
    table = headgate.at_path(tmp_path, columns="id BIGINT", properties=with_vectors)
    table.append(spark.range(100).coalesce(1))
    table.delete("id = 7", spark=spark)

    delta.sql(f"VACUUM delta.`{tmp_path}` RETAIN 0 HOURS")

    assert len(delta.read(tmp_path).rows) == table.read(spark=spark).count() == 99
    assert table.log.snapshot().files.columns["deletion_vector"].null_count == 0


@pytest.mark.parametrize("ci", ["", "true"], ids=["elsewhere", "on CI"])
def test_where_it_cannot_be_had_tests_are_skipped_and_fail_on_ci(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ci: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CI", ci)

    outcome = pytest.fail.Exception if ci and delta_jars.fits() else pytest.skip.Exception
    with (
        pytest.raises(outcome, match=r"Maven|runs on Spark"),
        delta_spark.started(tmp_path, jars=tmp_path / "jars"),
    ):
        pass
