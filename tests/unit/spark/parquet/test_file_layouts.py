"""Asking data files how their columns lie in them: once each, while a table is open."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from headgate.protocol.schema.column_mapping import ColumnMappingMode
from headgate.protocol.schema.types import Array, Field, Primitive, Struct
from headgate.spark.parquet import file_layouts
from headgate.spark.parquet.file_layouts import ScanColumns
from headgate.storage.locate import locate
from headgate.table.opened_table import OpenedTable
from headgate.table.read import file_schema_cache
from headgate.table.read.live_files import adds_as_table
from tests.support.faulty_store import FaultyStore, RecordingWire
from tests.support.handmade import data_file, field
from tests.support.tables import open_filesystem

LONG = Primitive("long")
MAPPED = {"delta.columnMapping.id": 1, "delta.columnMapping.physicalName": "p"}
ID = Field("id", LONG, metadata=MAPPED)
BY_ID = ScanColumns(Struct((ID,)), frozenset(), ColumnMappingMode.ID)


def watched(folder: Path) -> tuple[OpenedTable, RecordingWire]:
    wire = RecordingWire()
    return open_filesystem(str(folder), store=FaultyStore(locate(str(folder)), wire)), wire


def files(folder: Path, **columns: int) -> pa.Table:
    """Data files of one column each: under that name, with that id."""
    schemas = {name: pa.schema([field(name, pa.int64(), number)]) for name, number in columns.items()}
    return adds_as_table(
        [
            data_file(folder, f"{name}.parquet", pa.table([[1]], schema=schema))
            for name, schema in schemas.items()
        ]
    )


def names_of(found: list[Struct]) -> list[tuple[str, object]]:
    return [(part.name, part.type) for layout in found for part in layout.fields]


def test_a_file_is_asked_once(tmp_path: Path) -> None:
    table, wire = watched(tmp_path)
    some = files(tmp_path, a=1, b=1, c=2)

    first = file_layouts.read_layouts(table, some, BY_ID)
    asked = len(wire.calls)
    again = file_layouts.read_layouts(table, some, BY_ID)

    assert names_of(first) == names_of(again) == [("a", LONG), ("b", LONG), ("p", file_layouts.VOID)]
    assert (asked, len(wire.calls)) == (3, 3)


def test_columns_alike_but_for_their_ids_are_kept_apart(tmp_path: Path) -> None:
    table, _ = watched(tmp_path)
    one, two = (files(tmp_path / name, a=number) for name, number in (("one", 1), ("two", 2)))
    both = pa.concat_tables([one, two]).set_column(0, "path", pa.array(["one/a.parquet", "two/a.parquet"]))

    for _ in range(2):
        assert names_of(file_layouts.read_layouts(table, both, BY_ID)) == [
            ("a", LONG),
            ("p", file_layouts.VOID),
        ]


@pytest.mark.parametrize(
    "kind",
    [pa.list_, pa.large_list, pa.list_view, pa.large_list_view, lambda element: pa.list_(element, 2)],
    ids=["list", "large", "view", "large view", "fixed size"],
)
def test_columns_are_found_inside_every_kind_of_list(
    tmp_path: Path, kind: Callable[[pa.Field], pa.DataType]
) -> None:
    """Writers with Arrow note the kind beside the columns of parquet, where there is only one."""
    table, _ = watched(tmp_path)
    stored = pa.struct([field("a", pa.int64(), 1)])
    schema = pa.schema([field("l", kind(pa.field("element", stored)), 2)])
    rows = pa.table([[[{"a": 1}, {"a": 2}]]], schema=schema)
    several = Array(Struct((ID,)), contains_null=True)
    listed = Field("list", several, metadata={**MAPPED, "delta.columnMapping.id": 2})

    (found,) = file_layouts.read_layouts(
        table,
        adds_as_table([data_file(tmp_path, "f.parquet", rows)]),
        ScanColumns(Struct((listed,)), frozenset(), ColumnMappingMode.ID),
    )

    assert names_of([found]) == [("l", Array(Struct((Field("a", LONG),)), contains_null=True))]


def test_a_file_of_another_size_is_another_file(tmp_path: Path) -> None:
    table, wire = watched(tmp_path)
    some = files(tmp_path, a=1)
    file_layouts.read_layouts(table, some, BY_ID)

    file_layouts.read_layouts(table, some.set_column(2, "size", pa.array([7])), BY_ID)

    assert len(wire.calls) == 2


def test_only_so_many_files_are_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_schema_cache, "MAX_FILES", 2)
    table, wire = watched(tmp_path)
    some = files(tmp_path, a=1, b=1, c=1)
    for row in range(3):
        file_layouts.read_layouts(table, some.slice(row, 1), BY_ID)

    file_layouts.read_layouts(table, some.slice(1), BY_ID)
    assert len(wire.calls) == 3
    file_layouts.read_layouts(table, some.slice(0, 1), BY_ID)
    assert len(wire.calls) == 4


@pytest.mark.parametrize("damage", [b"", b"PAR1", b"no parquet at all", None], ids=str)
def test_a_file_that_is_not_whole_is_left_to_spark_and_asked_again(
    tmp_path: Path, damage: bytes | None
) -> None:
    """Its reader names the file; nothing here says that anybody was writing."""
    table, wire = watched(tmp_path)
    some = files(tmp_path, a=1)
    path = tmp_path / "a.parquet"
    if damage is None:
        path.unlink()
    else:
        path.write_bytes(damage)

    asked = []
    for _ in range(2):
        assert names_of(file_layouts.read_layouts(table, some, BY_ID)) == names_of([BY_ID.usual])
        asked.append(len(wire.calls))

    assert 0 < asked[0] < asked[1]
