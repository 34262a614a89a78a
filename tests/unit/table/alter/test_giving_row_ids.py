"""Rows that are in a table already get ids when it begins to track them, and lose them when that ends."""

import msgspec
import pytest

from headgate.errors import InvalidRequest
from headgate.protocol.actions import Version
from headgate.table.alter import set_properties
from headgate.table.opened_table import OpenedTable
from headgate.table.read.snapshot import Snapshot
from headgate.table.transaction import Change, Operation
from tests.support.altered import adds, configuration, ids, named, new, operations, write
from tests.support.attempts import added
from tests.support.routes import ROUTES, open_table

each_route = pytest.mark.parametrize("route", ROUTES)
TRACKED = {"delta.enableRowTracking": "true"}


@each_route
def test_row_tracking_gives_ids_to_the_rows_that_are_there(route: str) -> None:
    _, table = new(route)
    write(table, added("a", {}), added("b", {}))
    write(table, msgspec.structs.replace(added("c", {}), tags={"k": "v"}))

    set_properties.set_properties(table, TRACKED)
    write(table, added("d", {}))

    assert operations(table)[2:5] == ["UPGRADE PROTOCOL", "ROW TRACKING BACKFILL", "SET TBLPROPERTIES"]
    *old, new_rows = ids(table)
    assert (set(old), new_rows) == ({0, 10, 20}, 30)
    backfill = adds(table, 4)
    assert [action.data_change for action in backfill] == [False] * 3
    assert [action.tags for action in backfill if action.path == "c"] == [{"k": "v"}]
    columns = [value for key, value in configuration(table).items() if "materialized" in key]
    assert len(set(columns)) == 2


@each_route
def test_row_tracking_gives_ids_to_the_rows_of_a_checkpoint(route: str) -> None:
    """Whole files must be read: what the snapshot keeps of them is not enough to add them again."""
    _, table = new(route)
    write(table, msgspec.structs.replace(added("a", {}), tags={"k": "v"}))
    table.checkpoint()

    set_properties.set_properties(table, TRACKED)

    again = adds(table, 3)
    assert [(action.path, action.tags, action.base_row_id) for action in again] == [("a", {"k": "v"}, 0)]
    assert again[0].stats == added("a", {}).stats


def test_row_tracking_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headgate.table.alter.row_id_backfill._MOST_FILES", 2)
    _, table = new("filesystem")
    write(table, *(added(name, {}) for name in "abcde"))

    set_properties.set_properties(table, TRACKED)

    assert operations(table).count("ROW TRACKING BACKFILL") == 3
    assert sorted(number for number in ids(table) if number is not None) == [0, 10, 20, 30, 40]


def test_rows_that_were_not_counted_cannot_be_given_ids() -> None:
    _, table = new("filesystem")
    write(table, added("a", {}, records=None))

    with pytest.raises(InvalidRequest) as caught:
        set_properties.set_properties(table, TRACKED)

    assert caught.value.code == "DELTA_ROW_ID_ASSIGNMENT_WITHOUT_STATS"
    assert TRACKED.keys().isdisjoint(configuration(table))


@each_route
def test_an_append_that_began_before_rows_were_tracked_gets_ids(route: str) -> None:
    """It loses to the upgrade, to the ids of old rows and to the property."""
    place, table = new(route)
    write(table, added("a", {}))
    late = open_table(place, route)
    base = late.snapshot()
    set_properties.set_properties(table, TRACKED)

    late.commit(Change(Operation("WRITE"), (added("b", {}),)), base=base)

    assert ids(table) == [0, 10]


@each_route
def test_rows_that_come_between_two_batches_keep_the_ids_they_got(
    route: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, table = new(route)
    write(table, added("a", {}))
    other, commit = open_table(place, route), OpenedTable.commit

    def late(self: OpenedTable, change: Change, *, base: Snapshot) -> Version:
        if self is table and change.operation.name == "ROW TRACKING BACKFILL":
            monkeypatch.setattr(OpenedTable, "commit", commit)
            write(other, added("b", {}))
        return commit(self, change, base=base)

    monkeypatch.setattr(OpenedTable, "commit", late)
    set_properties.set_properties(table, TRACKED)

    assert sorted(map(str, ids(table))) == ["0", "10"]
    assert configuration(table)["delta.enableRowTracking"] == "true"


def test_rows_are_not_tracked_while_that_is_suspended() -> None:
    _, table = new("filesystem", "set:delta.rowTrackingSuspended=true", "feature:rowTracking")

    with pytest.raises(InvalidRequest) as caught:
        set_properties.set_properties(table, TRACKED)

    assert caught.value.code == "DELTA_ROW_TRACKING_ILLEGAL_PROPERTY_COMBINATION"
    assert table.snapshot().version == 0


@each_route
def test_dropping_row_tracking_takes_the_ids_away(route: str) -> None:
    _, table = new(route)
    write(table, added("a", {}))
    set_properties.set_properties(table, TRACKED)
    write(table, added("b", {}))

    set_properties.drop_feature(table, "rowTracking")

    assert ids(table) == [None, None]
    assert "rowTracking" not in named(table)
    assert not table.domains()
    assert not [key for key in configuration(table) if "owTracking" in key]
    write(table, added("c", {}))
    assert ids(table) == [None] * 3


@each_route
def test_row_tracking_can_come_back(route: str) -> None:
    _, table = new(route)
    write(table, added("a", {}))
    set_properties.set_properties(table, TRACKED)
    set_properties.drop_feature(table, "rowTracking")

    set_properties.set_properties(table, TRACKED)

    assert ids(table) == [0]
