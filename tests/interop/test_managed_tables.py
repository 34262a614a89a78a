"""DuckDB reads catalog-managed tables as the catalog says they are."""

from pathlib import Path

import deltalake
import duckdb
import pytest
from pyspark.sql.types import LongType, StructType

import headgate
from headgate.catalog.embedded import open_catalog
from headgate.protocol.log import file_names
from headgate.settings import Publish, Settings
from headgate.table.opened_table import OpenedTable
from tests.support import duck, tables

pytestmark = pytest.mark.interop

STAGED = Settings(inline_limit_bytes=0, publish=Publish.ON_DEMAND)
INLINE = Settings(publish=Publish.ON_DEMAND)


def five_versions(folder: Path, settings: Settings) -> OpenedTable:
    """A table whose version n has the ids below n: 0 to 2 published, 3 and 4 only ratified."""
    catalog = open_catalog(str(folder))
    made = tables.create_managed(catalog)
    table = tables.open_managed(catalog, made.table_id, made.location, settings=settings)
    for number in range(4):
        file = tables.parquet_file(made.location, f"{number}.parquet", [number])
        table.commit(tables.append_change(file), base=table.newest_known())
        if number == 1:
            table.publish()
    return table


def staged(table: OpenedTable) -> list[Path]:
    """The staged commits that are not published, oldest first."""
    log = Path(table.location) / file_names.STAGED_FOLDER
    return [path for path in sorted(log.iterdir()) if int(path.name[:20]) > 2]


@pytest.mark.parametrize("latest", [0, 1, 2, 3, 4])
def test_duckdb_reads_staged_and_published_versions_up_to_the_bound(tmp_path: Path, latest: int) -> None:
    table = five_versions(tmp_path, STAGED)

    rows = duck.read_managed(table.location, latest, staged(table)[: max(0, latest - 2)])

    assert [row[0] for row in rows] == list(range(latest))
    assert table.snapshot(version=latest).files.columns.num_rows == latest


@pytest.mark.parametrize("tail", [slice(1, None), slice(0, 0)], ids=["gap", "too short"])
def test_duckdb_refuses_a_tail_that_does_not_reach_the_bound(tmp_path: Path, tail: slice) -> None:
    table = five_versions(tmp_path, STAGED)

    with pytest.raises(duckdb.IOException):
        duck.read_managed(table.location, 4, staged(table)[tail])


@pytest.mark.parametrize("settings", [STAGED, INLINE], ids=["staged", "inline"])
def test_once_published_a_table_needs_no_tail(tmp_path: Path, settings: Settings) -> None:
    table = five_versions(tmp_path, settings)

    assert table.publish() == 4

    assert [row[0] for row in duck.read_managed(table.location, 4, [])] == [0, 1, 2, 3]


def test_duckdb_refuses_a_managed_table_without_its_catalog(tmp_path: Path) -> None:
    table = five_versions(tmp_path, INLINE)

    with duck.connect() as connection, pytest.raises(duckdb.IOException):
        connection.sql(f"SELECT * FROM delta_scan('{table.location}')").fetchall()


def test_others_refuse_a_table_of_a_lake_by_its_path_until_it_is_released(tmp_path: Path) -> None:
    """What the README says of other engines."""
    with headgate.connect(tmp_path / "lake") as lake:
        lake.create_schema("s")
        made = lake.create_table("s.t", StructType().add("id", LongType()))
        made.publish()

        with pytest.raises(Exception, match=r"(?i)catalog-?managed"):
            deltalake.DeltaTable(made.location).to_pyarrow_table()
        released = lake.release("s.t", keep_timestamps=False)

    assert deltalake.DeltaTable(released.location).to_pyarrow_table().column_names == ["id"]
