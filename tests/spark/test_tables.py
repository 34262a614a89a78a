"""Tables by name and by path: made, found, dropped; their past and their history."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import LongType, StructField, StructType

import headgate
from headgate import Lake, Table
from headgate.errors import InvalidRequest, TableNotFound, UserError, VersionNotFound
from tests.support import rows

pytestmark = pytest.mark.spark


def counting(lake: Lake, spark: SparkSession) -> Table:
    """A table with versions 0 to 2 of 0, 1 and 2 rows."""
    table = lake.create_table("s.t", "id BIGINT")
    table.append(spark.range(1))
    table.append(spark.range(1, 2))
    return table


def test_a_table_is_made_from_ddl_a_schema_or_a_frame(spark: SparkSession, lake: Lake) -> None:
    schema = StructType([StructField("id", LongType(), nullable=False)])

    made = [
        lake.create_table("s.ddl", "id BIGINT"),
        lake.create_table("s.schema", schema),
        lake.create_table("s.frame", spark.range(1)),
    ]

    for table in made:
        assert table.append(spark.range(2)) == 1
        assert rows.of_frame(lake.table(table.name).read()) == [{"id": 0}, {"id": 1}]


def test_a_dropped_name_is_free_again(spark: SparkSession, lake: Lake) -> None:
    lake.create_table("s.t", "id BIGINT").append(spark.range(1))

    lake.drop_table("s.t")

    with pytest.raises(TableNotFound):
        lake.table("s.t")
    assert lake.create_table("s.t", "name STRING").read(spark=spark).columns == ["name"]


def test_any_version_can_be_read(spark: SparkSession, lake: Lake) -> None:
    table = counting(lake, spark)

    assert [table.read(version=version).count() for version in (0, 1, 2)] == [0, 1, 2]
    with pytest.raises(VersionNotFound) as missing:
        table.read(version=3)
    assert missing.value.code == "DELTA_VERSION_NOT_FOUND"


def test_any_moment_can_be_read(spark: SparkSession, lake: Lake) -> None:
    table = counting(lake, spark)
    second, first, zeroth = (
        datetime.fromtimestamp(entry.timestamp / 1000, UTC) for entry in table.log.history()
    )

    assert table.read(timestamp=first).count() == 1
    assert table.read(timestamp=first.isoformat()).count() == 1
    assert table.read(timestamp=second.replace(tzinfo=None).isoformat(sep=" ")).count() == 2
    assert table.read(timestamp=second - timedelta(milliseconds=1)).count() == 1
    assert table.read(timestamp=zeroth).count() == 0


@pytest.mark.parametrize(
    ("moment", "code"),
    [
        ("1999-01-01", "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION"),
        ("2999-01-01T00:00:00Z", "DELTA_TIMESTAMP_GREATER_THAN_COMMIT"),
        ("yesterday", "DELTA_TIMESTAMP_INVALID"),
    ],
)
def test_moments_outside_the_history_are_refused(
    spark: SparkSession, lake: Lake, moment: str, code: str
) -> None:
    table = lake.create_table("s.t", "id BIGINT")

    with pytest.raises(UserError) as refusal:
        table.read(timestamp=moment)

    assert refusal.value.code == code


def test_history_has_deltas_columns_newest_first(spark: SparkSession, lake: Lake) -> None:
    table = counting(lake, spark)

    history = table.history()

    assert history.columns == [
        "version", "timestamp", "userId", "userName", "operation", "operationParameters", "job", "notebook",
        "clusterId", "readVersion", "isolationLevel", "isBlindAppend", "operationMetrics", "userMetadata",
        "engineInfo",
    ]  # fmt: skip
    newest, _, oldest = history.toArrow().to_pylist()
    assert (newest["version"], newest["operation"], newest["readVersion"]) == (2, "WRITE", 1)
    assert dict(newest["operationParameters"]) == {"mode": "Append", "partitionBy": "[]"}
    assert newest["timestamp"].timestamp() * 1000 == table.log.history()[0].timestamp
    assert (oldest["version"], oldest["operation"]) == (0, "CREATE TABLE")
    assert [row.version for row in table.history(limit=1).collect()] == [2]


def test_history_keeps_what_other_writers_said(spark: SparkSession, tmp_path: Path) -> None:
    table = headgate.at_path(tmp_path / "t", columns="id BIGINT")
    (tmp_path / "t" / "_delta_log" / f"{1:020d}.json").write_text(
        '{"commitInfo":{"operation":"MERGE","operationParameters":{"predicate":["a"],"n":1,"s":"x"},'
        '"job":{"jobId":"7","other":1},"notebook":{"notebookId":"9"}}}\n'
    )

    newest = table.history(limit=1).toArrow().to_pylist()[0]

    assert dict(newest["operationParameters"]) == {"predicate": '["a"]', "n": "1", "s": "x"}
    assert (newest["job"]["jobId"], newest["notebook"]["notebookId"]) == ("7", "9")


def test_a_path_opens_what_is_there_and_makes_what_is_not(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(TableNotFound):
        headgate.at_path(tmp_path / "t")

    headgate.at_path(tmp_path / "t", columns="id BIGINT").append(spark.range(1))

    assert headgate.at_path(tmp_path / "t", columns="id BIGINT").read().count() == 1


def test_a_managed_table_cannot_be_opened_by_path(lake: Lake) -> None:
    table = lake.create_table("s.t", "id BIGINT")

    with pytest.raises(InvalidRequest) as refusal:
        headgate.at_path(table.location)

    assert refusal.value.code == "DELTA_PATH_BASED_ACCESS_TO_CATALOG_MANAGED_TABLE_BLOCKED"


def test_detail_is_one_row_in_deltas_columns(lake: Lake, spark: SparkSession) -> None:
    table = lake.create_table(
        "s.detailed", "id BIGINT NOT NULL", comment="orders", properties={"team": "ops"}
    )
    table.append(spark.range(10).repartition(2))

    frame = table.detail()
    [row] = frame.collect()

    assert frame.columns == [
        "format", "id", "name", "description", "location", "createdAt", "lastModified", "partitionColumns",
        "clusteringColumns", "numFiles", "sizeInBytes", "properties", "minReaderVersion", "minWriterVersion",
        "tableFeatures",
    ]  # fmt: skip
    assert (row.format, row.name, row.description, row.numFiles) == ("delta", "s.detailed", "orders", 2)
    assert row.properties["team"] == "ops"
    assert (row.minReaderVersion, row.minWriterVersion) == (3, 7)
    assert "catalogManaged" in row.tableFeatures
    assert row.sizeInBytes == sum(file.stat().st_size for file in Path(table.location).rglob("*.parquet"))
    assert row.createdAt < row.lastModified


def test_an_ordinary_table_is_described_as_delta_spark_does(spark: SparkSession, tmp_path: Path) -> None:
    table = headgate.at_path(str(tmp_path / "t"), columns="id BIGINT")
    table.append(spark.range(1))
    commit = tmp_path / "t" / "_delta_log" / f"{1:020d}.json"
    os.utime(commit, (1_900_000_000, 1_900_000_000))

    [row] = table.detail().collect()

    assert (row.minReaderVersion, row.minWriterVersion) == (1, 2)
    assert row.tableFeatures == ["appendOnly", "invariants"]
    assert row.lastModified.timestamp() == 1_900_000_000
