"""REPLACE: another table under the same name and identity."""

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import headgate
from headgate import Lake, Table
from headgate.catalog.ports.directory import StagingTable, TableEntry, TableName
from headgate.errors import ConstraintViolated, InvalidRequest, TableNotFound
from headgate.protocol.actions import Metadata
from headgate.protocol.metadata import alter_properties
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Struct
from headgate.spark.session import schema
from headgate.spark.write import replace_table
from headgate.spark.write.replace_table import TableReplacement
from headgate.table.alter.create import TableDefinition
from tests.spark.test_write import before_commit, data_files
from tests.support import rows

pytestmark = pytest.mark.spark

STAMPS = "delta.enableInCommitTimestamps"


def metadata(table: Table) -> Metadata:
    return table.log.snapshot().state.metadata


def columns(table: Table) -> dict[str, tuple[int, str]]:
    """By its path, the id and the physical name of each column."""
    found = {}

    def walk(inside: Struct, path: str) -> None:
        for field in inside.fields:
            found[path + field.name] = (
                field.metadata["delta.columnMapping.id"],
                field.metadata["delta.columnMapping.physicalName"],
            )
            if isinstance(field.type, Struct):
                walk(field.type, f"{path}{field.name}.")

    walk(schema_json.parse(metadata(table).schema_string), "")
    return found


def clustered_by(table: Table) -> list[list[str]]:
    found: list[list[str]] = json.loads(table.domains()["delta.clustering"])["clusteringColumns"]
    return found


def ddl(columns: str) -> Struct:
    return schema.table_schema(columns)


def test_a_managed_table_stays_the_same_table(spark: SparkSession, lake: Lake) -> None:
    """S108, S110, S203"""
    table = lake.create_table("s.t", "id BIGINT", comment="old", properties={"team": "me"})
    table.append(spark.range(3))
    table.set_domain("mine", "kept")
    before, entry = metadata(table), lake.tables()[0]

    for _ in range(2):
        lake.replace_table(
            "s.t",
            "name STRING, day DATE",
            or_create=True,
            properties={"delta.feature.catalogManaged": "supported", "delta.appendOnly": "false"},
            partition_by=["day"],
        )

    after = metadata(table)
    assert (after.id, after.created_time, lake.tables()[0].table_id) == (
        before.id, before.created_time, entry.table_id
    )  # fmt: skip
    assert table.version() == 4
    assert after.description is None
    assert after.configuration == {
        STAMPS: "true", "delta.appendOnly": "false",
        **alter_properties.catalog_identity(entry.table_id, "s.t")
    }  # fmt: skip
    assert after.partition_columns == ("day",)
    assert table.domains()["mine"] == "kept"
    assert table.read().count() == 0
    assert table.read(version=1).count() == 3
    assert table.log.history()[0].info.operation == "CREATE OR REPLACE TABLE"


def test_an_ordinary_table_does_not_become_a_managed_one(spark: SparkSession, tmp_path: Path) -> None:
    """S107, S113"""
    table = headgate.at_path(tmp_path / "t", columns="id BIGINT")
    asked = {"delta.feature.catalogManaged": "supported"}

    with pytest.raises(InvalidRequest) as caught:
        replace_table.replace_table(
            table.log, TableReplacement(TableDefinition(ddl("a INT"), properties=asked))
        )
    assert caught.value.code == "DELTA_REPLACE_TABLE_WITH_CATALOG_MANAGED_NOT_SUPPORTED"
    assert table.version() == 0

    replace_table.replace_table(table.log, TableReplacement(TableDefinition(ddl("a INT"))))
    state = table.log.snapshot().state
    assert STAMPS not in state.metadata.configuration
    assert not state.protocol.has("vacuumProtocolCheck")
    assert state.metadata.partition_columns == ()


def test_what_fails_leaves_the_table_as_it_was(spark: SparkSession, lake: Lake) -> None:
    """S109"""
    table = lake.create_table("s.t", "id BIGINT")
    table.append(spark.range(3))
    files = data_files(table)

    with pytest.raises(InvalidRequest):
        lake.replace_table("s.t", "id BIGINT", properties={"io.unitycatalog.tableId": "another"})
    with pytest.raises(InvalidRequest):
        lake.replace_table("s.t", "id BIGINT", properties={STAMPS: "false"})
    with pytest.raises(ConstraintViolated):
        strict = spark.sql("SELECT 1L AS id").schema
        lake.replace_table("s.t", strict, rows=spark.sql("SELECT IF(id = 2, NULL, id) AS id FROM range(3)"))
    with pytest.raises(Exception, match="DIVIDE_BY_ZERO"):
        lake.replace_table("s.t", rows=spark.sql("SELECT id DIV (id - 1) AS id FROM range(3)"))
    with pytest.raises(TableNotFound):
        lake.replace_table("s.absent", "id BIGINT")

    assert (table.version(), data_files(table), table.read().count()) == (1, files, 3)


def test_a_table_is_replaced_by_rows_that_read_it(spark: SparkSession, lake: Lake) -> None:
    made = lake.replace_table("s.t", rows=spark.range(4), or_create=True)
    assert (made.version(), made.read().count()) == (0, 4)

    lake.replace_table(
        "s.t", rows=made.read().selectExpr("id + 10 AS id", "id % 2 AS part"), partition_by=["part"]
    )

    assert [row["id"] for row in rows.of_frame(made.read())] == [10, 11, 12, 13]
    assert made.log.history()[0].info.operation == "REPLACE TABLE AS SELECT"
    assert {row["id"] for row in made.read(where="part = 1").collect()} == {11, 13}


def test_clustering_ends_with_the_table_that_had_it(spark: SparkSession, lake: Lake) -> None:
    """S205, S206: emptied rather than removed; a clustered table gets no partitions."""
    table = lake.create_table("s.c", "id BIGINT, day DATE", cluster_by=["day"])
    with pytest.raises(InvalidRequest) as caught:
        lake.replace_table("s.c", "id BIGINT, day DATE", partition_by=["day"])
    assert caught.value.code == "DELTA_CLUSTERING_REPLACE_TABLE_WITH_PARTITIONED_TABLE"

    lake.replace_table("s.c", "id BIGINT")
    assert clustered_by(table) == []
    assert table.log.snapshot().state.protocol.has("clustering")

    partitioned = lake.create_table("s.p", "id BIGINT, day DATE", partition_by=["day"])
    lake.replace_table("s.p", "id BIGINT, day DATE", cluster_by=["id"])
    assert clustered_by(partitioned) == [["id"]]
    assert metadata(partitioned).partition_columns == ()


def test_an_overwrite_ends_clustering_only_with_the_schema(spark: SparkSession, lake: Lake) -> None:
    table = lake.create_table("s.c", "id BIGINT, v STRING", cluster_by=["id"])
    frame = spark.sql("SELECT 1L AS id, 'x' AS v")

    table.overwrite(frame)
    assert clustered_by(table) == [["id"]]
    table.overwrite(spark.sql("SELECT 1L AS id, 'x' AS v, 2 AS w"), overwrite_schema=True, cluster_by=["v"])
    assert clustered_by(table) == [["v"]]
    table.overwrite(frame, overwrite_schema=True)
    assert clustered_by(table) == []


def test_an_overwrite_of_the_schema_by_the_same_one_ends_clustering_too(
    spark: SparkSession, lake: Lake
) -> None:
    table = lake.create_table("s.c", "id BIGINT, v STRING", cluster_by=["id"])
    frame = spark.sql("SELECT 1L AS id, 'x' AS v")

    table.overwrite(frame, overwrite_schema=True, cluster_by=["id"])
    assert clustered_by(table) == [["id"]]
    table.overwrite(frame, overwrite_schema=True)
    assert clustered_by(table) == []


@pytest.mark.parametrize("options", [{}, {"replace_where": "id = 1"}, {"partition_overwrite": "dynamic"}])
def test_an_overwrite_that_keeps_the_schema_keeps_the_clustering(
    spark: SparkSession, lake: Lake, options: Any
) -> None:
    table = lake.create_table("s.c", "id BIGINT, v STRING", cluster_by=["id"])
    frame = spark.sql("SELECT 1L AS id, 'x' AS v")

    table.overwrite(frame, cluster_by=["id"], **options)
    with pytest.raises(InvalidRequest, match="overwrite with overwrite_schema=True") as caught:
        table.overwrite(frame, cluster_by=["v"], **options)
    assert caught.value.code == "DELTA_CLUSTERING_COLUMNS_MISMATCH"
    assert clustered_by(table) == [["id"]]


@pytest.mark.parametrize("mode", ["name", "id"])
def test_a_column_that_becomes_another_by_an_overwrite_gets_another_id(
    spark: SparkSession, lake: Lake, mode: str
) -> None:
    mapped = {"delta.columnMapping.mode": mode}
    table = lake.create_table("s.m", "id BIGINT, v STRING, s STRUCT<a: INT, b: INT>", properties=mapped)
    before = columns(table)

    table.overwrite(
        spark.sql("SELECT 1L AS id, 2.5D AS v, named_struct('a', 3, 'c', 4) AS s"), overwrite_schema=True
    )

    after = columns(table)
    assert after["id"] == before["id"] and after["s.a"] == before["s.a"]
    assert not {after[name] for name in ("v", "s", "s.c")} & set(before.values())
    assert rows.of_frame(table.read()) == [{"id": 1, "v": 2.5, "s": {"a": 3, "c": 4}}]
    assert table.read(version=0).count() == 0


def test_ids_of_columns_are_not_given_again(spark: SparkSession, lake: Lake) -> None:
    mapped = {"delta.columnMapping.mode": "name"}
    table = lake.create_table("s.m", "id BIGINT, v STRING", properties=mapped)

    lake.replace_table("s.m", "id BIGINT, w STRING", properties=mapped)

    found = [
        field.metadata["delta.columnMapping.id"]
        for field in schema_json.parse(metadata(table).schema_string).fields
    ]
    assert found == [3, 4]
    assert metadata(table).configuration["delta.columnMapping.maxColumnId"] == "4"
    table.append(spark.sql("SELECT 1L AS id, 'x' AS w"))
    assert rows.of_frame(table.read()) == [{"id": 1, "w": "x"}]


def test_a_clustering_that_a_rival_adds_ends_too(
    spark: SparkSession, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P30: whoever replaces a table meanwhile wins, and the other is told."""
    table = lake.create_table("s.t", "id BIGINT")
    rival = lake.table("s.t")
    before_commit(monkeypatch, table, lambda: lake.replace_table("s.t", "id BIGINT", cluster_by=["id"]))

    with pytest.raises(headgate.errors.ConflictError):
        replace_table.replace_table(table.log, TableReplacement(TableDefinition(ddl("id BIGINT"))))

    assert clustered_by(rival) == [["id"]]


@pytest.mark.parametrize("with_rows", [True, False])
def test_who_makes_or_replaces_a_table_replaces_one_that_was_made_meanwhile(
    spark: SparkSession, lake: Lake, monkeypatch: pytest.MonkeyPatch, with_rows: bool
) -> None:
    """Of two who ask for the same at once neither hears that the table exists."""
    register = lake._catalog.register

    def slower(staging: StagingTable, name: TableName) -> TableEntry:
        monkeypatch.undo()
        lake.replace_table("s.t", "other STRING", or_create=True)
        return register(staging, name)

    monkeypatch.setattr(lake._catalog, "register", slower)
    if with_rows:
        made = lake.replace_table("s.t", rows=spark.range(4), or_create=True)
    else:
        made = lake.replace_table("s.t", "id BIGINT", or_create=True)

    assert (made.version(), made.read().columns) == (1, ["id"])
    assert made.read().count() == (4 if with_rows else 0)
    assert [str(entry.name) for entry in lake.tables()] == ["s.t"]
