"""Statistics and partition values in checkpoints: as text, as columns, and from one to the other."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from headgate.protocol.actions import AddFile, EpochMillis, Metadata, Version
from headgate.protocol.log import file_names
from headgate.table.opened_table import OpenedTable
from tests.support import handmade
from tests.support.checkpointed import actions, protocol, published, table
from tests.support.commits import metadata
from tests.support.tables import open_filesystem

BOTH = {"delta_checkpoint_writeStatsAsStruct": "true"}
ONLY_STRUCT = {**BOTH, "delta_checkpoint_writeStatsAsJson": "false"}
COLUMNS = handmade.struct(
    handmade.column("n", "integer"),
    handmade.column("f", "double"),
    handmade.column("t", "string"),
    handmade.column("day", "date"),
    handmade.column("at", "timestamp"),
    handmade.column("wall", "timestamp_ntz"),
    handmade.column("money", "decimal(20,2)"),
    handmade.column("yes", "boolean"),
    handmade.column("list", handmade.array("long")),
    handmade.column("in", handmade.struct(handmade.column("x", "long"))),
    handmade.column("p", "date"),
)
LOW = {
    "n": 1, "f": 0.5, "t": "a", "day": "2020-01-02", "at": "2020-01-02T03:04:05.678Z",
    "wall": "2020-01-02T03:04:05.678", "money": 123456789012345678.25, "in": {"x": -1},
}  # fmt: skip
NULLS = {"n": 0, "f": 1, "t": 2, "yes": 3, "list": 4, "in": {"x": 5}}
STATS = {
    "numRecords": 9,
    "minValues": LOW,
    "maxValues": {**LOW, "n": 7},
    "nullCount": NULLS,
    "tightBounds": False,
}
FEATURES = protocol(reader=("timestampNtz", "deletionVectors"))


def described(**properties: str) -> Metadata:
    return msgspec.structs.replace(
        metadata(schema=json.dumps(COLUMNS), **properties), partition_columns=("p",)
    )


def file(path: str, stats: Any) -> AddFile:
    text = json.dumps(stats).replace("1.2345678901234568e+17", "123456789012345678.25") if stats else None
    return AddFile(
        path=path, partition_values={"p": "2021-03-04"}, size=1, modification_time=EpochMillis(1),
        data_change=True, stats=text,
    )  # fmt: skip


def written(*files: AddFile, **properties: str) -> OpenedTable:
    opened = table([described(**properties), *files], features=FEATURES)
    opened.checkpoint()
    return opened


def again(opened: OpenedTable, *files: AddFile, **properties: str) -> list[dict[str, Any]]:
    """The adds of a second checkpoint, written under other properties."""
    published(opened.store, [described(**properties), *files])
    open_filesystem("", store=opened.store).checkpoint()
    opened.store.delete(file_names.classic_checkpoint_path(Version(1)))
    return sorted(actions(opened.store, "add"), key=lambda found: found["path"])


def test_by_default_statistics_are_text_only() -> None:
    (found,) = actions(written(file("a", STATS)).store, "add")

    assert json.loads(found["stats"])["numRecords"] == 9
    assert not {"stats_parsed", "partitionValues_parsed"} & found.keys()


def test_as_columns_they_have_the_types_of_the_table() -> None:
    (found,) = actions(written(file("a", STATS), **ONLY_STRUCT).store, "add")

    low = found["stats_parsed"]["minValues"]
    moment = datetime(2020, 1, 2, 3, 4, 5, 678_000)
    assert "stats" not in found
    assert low == {
        "n": 1, "f": 0.5, "t": "a", "day": date(2020, 1, 2), "at": moment.replace(tzinfo=UTC), "wall": moment,
        "money": Decimal("123456789012345678.25"), "in": {"x": -1},
    }  # fmt: skip
    assert found["stats_parsed"]["maxValues"]["n"] == 7
    assert found["stats_parsed"]["nullCount"]["in"] == {"x": 5}
    assert found["stats_parsed"]["nullCount"]["yes"] == 3
    assert (found["stats_parsed"]["numRecords"], found["stats_parsed"]["tightBounds"]) == (9, False)
    assert found["partitionValues_parsed"] == {"p": date(2021, 3, 4)}


def test_columns_become_text_again_when_the_table_wants_it() -> None:
    opened = written(file("a", STATS), file("b", None), **ONLY_STRUCT)

    first, second = again(opened)

    said = json.loads(first["stats"], parse_float=Decimal)
    assert said["minValues"]["money"] == Decimal("123456789012345678.25")
    plain = json.loads(first["stats"])
    assert plain["tightBounds"] is False
    assert {**plain["minValues"], "money": 0} == {**LOW, "money": 0}
    assert plain["nullCount"]["in"] == {"x": 5}
    assert "stats" not in second


def test_what_cannot_be_read_is_no_bound() -> None:
    broken = {
        "numRecords": 2,
        "minValues": {"n": 5_000_000_000, "day": "soon", "f": "NaN"},
        "nullCount": {"n": 0},
    }

    first, second = actions(written(file("a", broken), file("b", STATS), **BOTH).store, "add")

    assert {first["path"], second["path"]} == {"a", "b"}
    found = {row["path"]: row["stats_parsed"] for row in (first, second)}
    assert [found["a"]["minValues"][name] for name in ("n", "day", "f")] == [None, None, None]
    assert found["a"]["numRecords"] == 2
    assert found["b"]["minValues"]["n"] == 1


@pytest.mark.parametrize("before", [{}, BOTH, ONLY_STRUCT], ids=["text", "both", "columns"])
def test_files_of_old_and_new_form_are_in_one_checkpoint(before: dict[str, str]) -> None:
    opened = written(file("a", STATS), **before)

    found = again(opened, file("b", STATS), **BOTH)

    assert [json.loads(row["stats"])["numRecords"] for row in found] == [9, 9]
    assert found[0]["stats_parsed"] == found[1]["stats_parsed"]


def test_mapped_columns_are_under_their_physical_names() -> None:
    columns = handmade.struct(
        handmade.mapped("n", "long", 1, "col-1"), handmade.mapped("p", "string", 2, "col-2")
    )
    mapped = msgspec.structs.replace(
        metadata(schema=json.dumps(columns), delta_columnMapping_mode="name", **BOTH),
        partition_columns=("p",),
    )
    stats = '{"numRecords":1,"minValues":{"col-1":4},"maxValues":{"col-1":5},"nullCount":{"col-1":0}}'
    add = msgspec.structs.replace(file("a", None), stats=stats, partition_values={"col-2": "x"})
    opened = table([mapped, add], features=protocol(reader=("columnMapping",)))

    opened.checkpoint()

    (found,) = actions(opened.store, "add")
    assert found["stats_parsed"]["minValues"] == {"col-1": 4}
    assert found["partitionValues_parsed"] == {"col-2": "x"}
