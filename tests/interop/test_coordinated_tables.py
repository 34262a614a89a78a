"""Other engines read what is published of a table with a coordinator, and all of it after the release."""

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from pyspark.sql.types import LongType, StringType, StructType

import headgate
from headgate.settings import Publish, Settings
from headgate.table.opened_table import OpenedTable
from tests.support import duck
from tests.support.tables import append_change, parquet_file

pytestmark = pytest.mark.interop

ON_DEMAND = Settings(publish=Publish.ON_DEMAND)
COLUMNS = StructType().add("id", LongType()).add("writer", StringType())


def add(table: OpenedTable, *numbers: int) -> None:
    for number in numbers:
        file = parquet_file(table.location, f"{number}.parquet", [number])
        table.commit(append_change(file), base=table.newest_known())


def seen_by_others(location: Path) -> tuple[list[int], list[int]]:
    """The ids that deltalake finds, by the names of their files, and that DuckDB reads.

    deltalake reads no rows where vacuumProtocolCheck is a feature, only the log.
    """
    with duck.connect() as connection:
        rows = connection.sql(f"SELECT id FROM delta_scan('{location}') ORDER BY id").fetchall()
    files = DeltaTable(str(location)).file_uris()
    return sorted(int(Path(file).stem) for file in files), [row[0] for row in rows]


@pytest.mark.parametrize("batch", [2, 3])
def test_others_read_the_published_part_and_after_the_release_everything(tmp_path: Path, batch: int) -> None:
    """S138, S130"""
    location = tmp_path / "table"
    conf = {"lake": str(tmp_path / "lake"), "batch": str(batch)}
    table = headgate.at_path(location, columns=COLUMNS, owner=("headgate", conf), settings=ON_DEMAND)
    add(table.log, 1, 2, 3, 4, 5)

    published = list(range(1, 5 - 5 % batch + 1))
    assert seen_by_others(location) == (published, published)
    assert len(headgate.at_path(location).log.snapshot().files.columns) == 5

    table.uncoordinate()

    assert seen_by_others(location) == ([1, 2, 3, 4, 5], [1, 2, 3, 4, 5])
    add(headgate.at_path(location).log, 6)
    assert seen_by_others(location)[1] == [1, 2, 3, 4, 5, 6]


def test_a_checkpoint_and_an_ordinary_start_disturb_nobody(tmp_path: Path) -> None:
    location = tmp_path / "table"
    table = headgate.at_path(location, columns=COLUMNS, settings=ON_DEMAND)
    add(table.log, 1, 2)
    table.coordinate("headgate", {"lake": str(tmp_path / "lake"), "batch": "100"})
    add(table.log, 3)
    assert seen_by_others(location) == ([1, 2], [1, 2])

    table.checkpoint()

    assert seen_by_others(location) == ([1, 2, 3], [1, 2, 3])


def test_deltalake_writes_to_a_table_after_its_release(tmp_path: Path) -> None:
    """Nothing is left that it does not know: not the check of vacuums, and if asked no timestamps."""
    location = tmp_path / "table"
    conf = {"lake": str(tmp_path / "lake"), "batch": "100"}
    table = headgate.at_path(location, columns=COLUMNS, owner=("headgate", conf), settings=ON_DEMAND)
    add(table.log, 1, 2)

    table.uncoordinate(keep_timestamps=False)

    write_deltalake(str(location), pa.table({"id": [3], "writer": ["deltalake"]}), mode="append")
    assert headgate.at_path(location).log.snapshot().version == 5
    assert sorted(DeltaTable(str(location)).to_pyarrow_table()["id"].to_pylist()) == [1, 2, 3]
