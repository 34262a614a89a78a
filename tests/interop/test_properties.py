"""Tables whose properties and features we set, written by us, read and written by others."""

from pathlib import Path

import deltalake
import pyarrow as pa
import pytest

from headgate.protocol import table_features
from headgate.storage.locate import locate
from headgate.table.alter import create, set_properties
from headgate.table.alter.create import TableDefinition
from headgate.table.opened_table import OpenedTable
from tests.support import duck
from tests.support.routes import CountingWorld
from tests.support.tables import SCHEMA, append_change, create_filesystem, open_filesystem, parquet_file

pytestmark = pytest.mark.interop

EACH = pytest.mark.parametrize(
    "properties",
    [
        {"delta.appendOnly": "true"},
        {"delta.enableChangeDataFeed": "true"},
        {"delta.enableDeletionVectors": "true"},
        {"delta.enableInCommitTimestamps": "true"},
        {"delta.enableRowTracking": "true"},
        {"delta.enableTypeWidening": "true"},
        {"delta.checkpointPolicy": "v2"},
        {"delta.feature.vacuumProtocolCheck": "supported", "delta.feature.domainMetadata": "supported"},
    ],
    ids=lambda properties: next(iter(properties)).removeprefix("delta."),
)
NOT_READ_BY_DELTA_RS = {"delta.feature.vacuumProtocolCheck", "delta.enableTypeWidening"}


def append(table: OpenedTable, name: str, ids: list[int]) -> None:
    add = parquet_file(table.location, f"{name}.parquet", ids)
    table.commit(append_change(add), base=table.snapshot())


def by_duckdb(path: Path) -> list[int]:
    with duck.connect() as connection:
        return [
            row[0] for row in connection.sql(f"SELECT id FROM delta_scan('{path}') ORDER BY id").fetchall()
        ]


def by_delta_rs(path: Path) -> list[int]:
    found = deltalake.DeltaTable(path)
    reader = deltalake.QueryBuilder().register("t", found).execute("SELECT id FROM t ORDER BY id")
    return list(pa.table(reader.read_all())["id"].to_pylist())


@EACH
def test_others_read_a_table_that_was_altered(tmp_path: Path, properties: dict[str, str]) -> None:
    create_filesystem(locate(str(tmp_path)))
    table = open_filesystem(str(tmp_path))
    append(table, "a", [1, 2])

    set_properties.set_properties(table, properties)
    append(table, "b", [3])
    table.checkpoint()
    append(table, "c", [4])

    assert by_duckdb(tmp_path) == [1, 2, 3, 4]
    if NOT_READ_BY_DELTA_RS.isdisjoint(properties):
        assert by_delta_rs(tmp_path) == [1, 2, 3, 4]


@EACH
def test_others_read_a_table_that_was_made_so(tmp_path: Path, properties: dict[str, str]) -> None:
    definition = TableDefinition(SCHEMA, None, properties)
    create.write_version_0(locate(str(tmp_path)), definition, managed=False, world=CountingWorld())
    table = open_filesystem(str(tmp_path))
    append(table, "a", [1, 2])
    append(table, "b", [3])

    assert by_duckdb(tmp_path) == [1, 2, 3]
    if NOT_READ_BY_DELTA_RS.isdisjoint(properties):
        assert by_delta_rs(tmp_path) == [1, 2, 3]


@pytest.mark.parametrize("feature", ["deletionVectors", "v2Checkpoint", "typeWidening"])
def test_others_read_a_table_that_lost_a_feature_of_readers(tmp_path: Path, feature: str) -> None:
    create_filesystem(locate(str(tmp_path)))
    table = open_filesystem(str(tmp_path))
    append(table, "a", [1, 2])
    set_properties.add_feature(table, feature)
    append(table, "b", [3])

    set_properties.drop_feature(table, feature)
    append(table, "c", [4])

    assert by_duckdb(tmp_path) == by_delta_rs(tmp_path) == [1, 2, 3, 4]


@pytest.mark.parametrize("feature", ["rowTracking", "inCommitTimestamp", "domainMetadata"])
def test_others_write_a_table_that_lost_a_feature_of_writers(tmp_path: Path, feature: str) -> None:
    create_filesystem(locate(str(tmp_path)))
    table = open_filesystem(str(tmp_path))
    set_properties.add_feature(table, feature)
    append(table, "a", [1])

    set_properties.drop_feature(table, feature)
    if feature == "rowTracking":
        set_properties.drop_feature(table, "domainMetadata")
    deltalake.write_deltalake(tmp_path, pa.table({"id": [2], "writer": ["x"]}), mode="append")

    assert by_duckdb(tmp_path) == by_delta_rs(tmp_path) == [1, 2]
    assert table.snapshot().files.columns.num_rows == 2


@pytest.mark.parametrize(
    "properties",
    [
        {},
        {"delta.enableChangeDataFeed": "true"},
        {"delta.enableDeletionVectors": "true"},
        {"delta.appendOnly": "true"},
    ],
    ids=lambda properties: next(iter(properties), "none"),
)
def test_tables_of_others_are_altered_and_still_theirs(tmp_path: Path, properties: dict[str, str]) -> None:
    theirs = pa.table({"id": [1, 2], "writer": ["x", "y"]})
    deltalake.write_deltalake(tmp_path, theirs, configuration=properties)
    table = open_filesystem(str(tmp_path))

    set_properties.set_properties(table, {"delta.logRetentionDuration": "interval 7 days", "team": "sales"})
    set_properties.add_feature(table, "domainMetadata")
    append(table, "a", [3])

    assert by_delta_rs(tmp_path) == by_duckdb(tmp_path) == [1, 2, 3]
    assert deltalake.DeltaTable(tmp_path).metadata().configuration["team"] == "sales"
    assert table_features.writer_features(table.snapshot().state.protocol) >= {"domainMetadata"}
