"""What every catalog owes to who begins a transaction: each sentence of ``TablePinning``.

``PinningByTails`` asks a catalog twice, which promises the same.
"""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from headgate.catalog.ports.commits import Ratified, TableId
from headgate.catalog.ports.directory import TableName
from headgate.catalog.ports.groups import (
    GroupId,
    GroupProposal,
    PinningByTails,
    TablePinning,
)
from headgate.errors import TableNotFound
from headgate.protocol.actions import Version
from tests.support.catalogs import ALL_KINDS, any_catalog
from tests.support.proposals import inline
from tests.support.tables import create_managed

ORDERS, LINES, STOCK = (TableName("sales", table) for table in ("orders", "lines", "stock"))


@dataclass(frozen=True)
class Case:
    """A catalog with three tables at version 0, and how they are pinned."""

    catalog: Any  # all its ports
    pinned: TablePinning
    ids: tuple[TableId, ...]

    def ratify(self, table: int, txn_id: str) -> None:
        version = self.catalog.tail(self.ids[table]).latest + 1
        answer = self.catalog.propose(inline(self.ids[table], version, txn_id))
        assert answer == Ratified(Version(version))


@pytest.fixture(params=[*ALL_KINDS, "by tails"])
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Case]:
    kind = "minimal" if request.param == "by tails" else request.param
    with any_catalog(kind, tmp_path) as catalog:
        ids = tuple(create_managed(catalog, name).table_id for name in (ORDERS, LINES, STOCK))
        pinned: Any = PinningByTails(catalog) if request.param == "by tails" else catalog
        yield Case(catalog, pinned, ids)


def test_tables_are_told_in_the_order_of_their_names_with_how_far_they_reached(case: Case) -> None:
    case.ratify(0, "a")
    case.ratify(0, "b")
    case.ratify(1, "c")

    found = case.pinned.pin([LINES, ORDERS])

    assert found.entries == case.catalog.resolve_all([LINES, ORDERS])
    assert [entry.table_id for entry in found.entries] == [case.ids[1], case.ids[0]]
    assert dict(found.tails) == dict(case.catalog.tails(case.ids[:2]))
    assert found.tails[case.ids[0]].latest == 2
    assert [commit.txn_id for commit in found.tails[case.ids[0]].commits] == ["a", "b"]


def test_it_tells_what_the_tables_are(case: Case) -> None:
    told = case.pinned.pin([ORDERS]).tails[case.ids[0]]
    known = case.catalog.tail(case.ids[0])

    assert told.description == known.description
    assert told.latest_timestamp == known.latest_timestamp


def test_tables_that_are_open_are_told_by_their_ids_beside(case: Case) -> None:
    case.ratify(2, "a")

    found = case.pinned.pin([ORDERS], [case.ids[2]])

    assert [entry.table_id for entry in found.entries] == [case.ids[0]]
    assert {table_id: tail.latest for table_id, tail in found.tails.items()} == {
        case.ids[0]: 0,
        case.ids[2]: 1,
    }


def test_nothing_that_is_asked_for_is_nothing_told(case: Case) -> None:
    found = case.pinned.pin([])

    assert (found.entries, dict(found.tails)) == ((), {})


def test_a_table_asked_for_twice_is_told_twice(case: Case) -> None:
    found = case.pinned.pin([ORDERS, TableName("SALES", "Orders")], [case.ids[0], case.ids[0]])

    assert [entry.table_id for entry in found.entries] == [case.ids[0]] * 2
    assert set(found.tails) == {case.ids[0]}


def test_one_that_is_missing_is_told_of(case: Case) -> None:
    with pytest.raises(TableNotFound):
        case.pinned.pin([ORDERS, TableName("sales", "nothing")])
    with pytest.raises(TableNotFound):
        case.pinned.pin([ORDERS], [TableId("nobody")])
    case.catalog.drop(LINES)
    with pytest.raises(TableNotFound):
        case.pinned.pin([ORDERS], [case.ids[1]])


def test_a_group_is_in_all_of_its_tables_or_in_none(case: Case) -> None:
    """I19: every cut holds all of a group, while groups commit at full speed."""
    done = threading.Event()

    def commit() -> None:
        for number in range(30):
            proposals = tuple(inline(each, number + 1, f"g{number}-{each}") for each in case.ids)
            case.catalog.propose_group(GroupProposal(GroupId(f"g{number}"), proposals))
        done.set()

    def read() -> None:
        while not done.is_set():
            found = case.pinned.pin([STOCK, ORDERS], [case.ids[1]])
            assert len({tail.latest for tail in found.tails.values()}) == 1

    with ThreadPoolExecutor() as threads:
        for each in (threads.submit(commit), threads.submit(read)):
            each.result()

    assert {tail.latest for tail in case.pinned.pin([ORDERS, LINES, STOCK]).tails.values()} == {30}
