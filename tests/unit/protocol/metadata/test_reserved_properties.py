"""Names of properties that Spark keeps for itself: nobody gives a table another place or owner by them."""

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import msgspec
import pytest
from pyspark.sql.types import LongType, StructType

import headgate
from headgate.errors import InvalidRequest
from headgate.lake.lake import Lake
from headgate.protocol.metadata.reserved_properties import RESERVED_PROPERTIES
from headgate.settings import Publish, Settings
from headgate.table.alter import set_properties
from headgate.table.transaction import Change, Operation
from tests.support.altered import new
from tests.support.routes import ROUTES

COLUMNS = StructType().add("id", LongType())
NAMES = [row.name for row in RESERVED_PROPERTIES]
CODE = "UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY"


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    with closing(headgate.connect(tmp_path / "lake", settings=Settings(publish=Publish.ON_DEMAND))) as opened:
        opened.create_schema("s")
        opened.create_table("s.t", COLUMNS, properties={"team": "sales"})
        opened.create_table("s.u", COLUMNS)
        yield opened


def refuses(operation: Callable[[], object], name: str) -> None:
    with pytest.raises(InvalidRequest, match=f"'{name}' is no property") as caught:
        operation()
    assert (caught.value.code, caught.value.sqlstate) == (CODE, "0A000")


def versions(lake: Lake) -> dict[str, int]:
    return {entry.name.table: lake.table(f"s.{entry.name.table}").version() for entry in lake.tables()}


def test_a_table_is_not_moved_or_given_away_by_a_property(lake: Lake) -> None:
    """S121"""
    table = lake.table("s.t")
    entry = lake.tables()

    for name in NAMES:
        refuses(partial(table.set_properties, {"team": "stock", name: "elsewhere"}), name)

    assert lake.table("s.t").version() == 0
    assert lake.table("s.t").properties()["team"] == "sales"
    assert lake.tables() == entry


def test_nor_in_a_transaction_none_of_which_happens(lake: Lake) -> None:
    """S121"""

    def both(name: str) -> None:
        with lake.transaction(["s.t"]) as tx:
            tx.create_table("s.other", COLUMNS)
            tx.table("s.t").set_properties({name: "elsewhere"})

    for name in NAMES:
        refuses(partial(both, name), name)

    assert versions(lake) == {"t": 0, "u": 0}


def test_nor_when_a_table_is_made(lake: Lake, tmp_path: Path) -> None:
    """S121: by its name, as a clone, in a transaction, or by its path"""
    for name in NAMES:
        asked = {name: "elsewhere"}
        refuses(partial(lake.create_table, "s.made", COLUMNS, properties=asked), name)
        refuses(partial(lake.clone, "s.t", "s.made", properties=asked), name)
        refuses(partial(lake.clone, "s.t", "s.u", replace=True, properties=asked), name)
        refuses(partial(headgate.at_path, tmp_path / "p", columns=COLUMNS, properties=asked), name)
        with lake.transaction() as tx:
            refuses(partial(tx.create_table, "s.made", COLUMNS, properties=asked), name)

    assert versions(lake) == {"t": 0, "u": 0}
    assert not list((tmp_path / "p").rglob("*.json"))


@pytest.mark.parametrize("route", ROUTES)
def test_what_others_wrote_under_such_a_name_is_kept_until_it_is_unset(route: str) -> None:
    _, table = new(route)
    before = table.snapshot()
    metadata = before.state.metadata
    theirs = msgspec.structs.replace(metadata, configuration={**metadata.configuration, "owner": "them"})
    table.commit(Change(Operation("SET TBLPROPERTIES", {}), (theirs,)), base=before)

    set_properties.set_properties(table, {"team": "sales"})
    assert table.snapshot().state.metadata.configuration["owner"] == "them"

    set_properties.unset_properties(table, ["owner"])
    assert "owner" not in table.snapshot().state.metadata.configuration


def test_every_row_says_what_to_do_instead() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert all(row.instead for row in RESERVED_PROPERTIES)


def test_a_place_and_a_name_change_by_ways_of_their_own(lake: Lake) -> None:
    """S121: unlike in Delta's own catalog, a table can be renamed; that is no commit."""
    lake.rename("s.t", "s.renamed")

    assert lake.table("s.renamed").version() == 0
