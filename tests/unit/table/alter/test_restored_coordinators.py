"""RESTORE and whose a table is: the one attempt it has goes the way of every other commit."""

import pytest

from headgate.errors import ConcurrentWrite
from headgate.protocol.features.coordinated_commits import CURRENT, FEATURE_NAMINGS, FeatureNaming
from headgate.table.alter import coordination, restore
from headgate.table.opened_table import OpenedTable
from headgate.table.transaction import Change
from tests.support.altered import configuration, named
from tests.support.owned import CONF, NAME, Place, append, coordinated, ordinary, rename
from tests.support.versions import paths


def with_files(place: Place, *paths_of_files: str) -> None:
    for path in paths_of_files:
        place.store.put(path, b"rows")


@pytest.mark.parametrize("naming", FEATURE_NAMINGS, ids=lambda naming: naming.feature)
def test_a_table_stays_its_owners_whatever_the_version_said(naming: FeatureNaming) -> None:
    """S132: version 0 knew of no owner, and the one there is now is asked."""
    place, watched = coordinated(batch=100)
    rename(place, naming)
    table = place.opened()
    append(table, "xy")
    before, asked = configuration(table), watched.count("commit")

    done = restore.restore(table, version=0)

    assert done.version == 4
    assert configuration(table) == before
    assert {*naming.properties} <= before.keys()
    assert naming.feature in named(table)
    assert (place.published(), watched.count("commit")) == ([0, 1], asked + 1)
    assert paths(place.opened()) == []


def test_an_ordinary_table_does_not_get_back_the_owner_it_had() -> None:
    """S132: nobody asked that owner, so its name would be a lie (E10)."""
    place, watched = coordinated(1)
    table = place.opened()
    released = coordination.uncoordinate(table)
    append(table, "z")
    with_files(place, "2")

    done = restore.restore(table, version=2)

    assert done.version == released + 2
    assert not {*CURRENT.properties} & configuration(table).keys()
    assert CURRENT.feature not in named(table)
    assert append(place.opened(owners={}), "w") == [done.version + 1]
    assert watched.count("register") == 1


@pytest.mark.parametrize("first", ["coordinate", "restore"])
def test_of_a_restore_and_an_owner_who_takes_the_table_the_second_is_told(
    first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S132, S258: neither is tried again, and the table is whole after either."""
    place, _ = ordinary(2)
    with_files(place, "1", "2")
    table, other = place.opened(), place.opened()

    def take(opened: OpenedTable) -> object:
        return coordination.coordinate(opened, place.find, NAME, CONF)

    def go_back(opened: OpenedTable) -> object:
        return restore.restore(opened, version=1)

    winner, loser = (take, go_back) if first == "coordinate" else (go_back, take)
    commit = table.commit

    def late(change: Change, **base: object) -> object:
        winner(other)
        return commit(change, **base)  # type: ignore[arg-type]

    monkeypatch.setattr(table, "commit", late)
    with pytest.raises(ConcurrentWrite):
        loser(table)

    assert (CURRENT.coordinator in configuration(place.opened())) is (first == "coordinate")
    assert paths(place.opened()) == (["1", "2"] if first == "coordinate" else ["1"])
    assert append(place.opened(), ["after"]) == [4]
