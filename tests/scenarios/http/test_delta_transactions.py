"""Several tables changed by one request, and read at one moment, through the Delta API."""

import threading
from typing import Any

import httpx
import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.commits import TableId
from tests.support.delta_api import (
    INVALID,
    NO_TABLE,
    NOT_MET,
    TAKEN,
    DeltaApi,
    DeltaTable,
    StagedFile,
    backfill,
    error_of,
    file_path,
    publish_file,
    stage_file,
)
from tests.support.waiting import PATIENCE_SECONDS

COMMIT = "/catalogs/unity/transactions/commit"
LOAD = "/catalogs/unity/tables/load"


@pytest.fixture
def stock(api: DeltaApi) -> DeltaTable:
    return api.create("stock")


def change(table: DeltaTable, *updates: dict[str, Any], **requirement: Any) -> dict[str, Any]:
    more = [{"type": "assert-latest-version", **requirement}] if requirement else []
    return {
        "identifier": {"schema": "sales", "name": table.name},
        "requirements": [{"type": "assert-table-uuid", "uuid": table.uuid}, *more],
        "updates": list(updates),
    }


def send(api: DeltaApi, *changes: dict[str, Any], key: str | None = None) -> httpx.Response:
    headers = {} if key is None else {"Idempotency-Key": key}
    return api.post(COMMIT, {"table-changes": list(changes)}, headers=headers)


def both(table: DeltaTable, stock: DeltaTable, version: int = 1) -> tuple[StagedFile, StagedFile]:
    return stage_file(table.location, version), stage_file(stock.location, version)


def latest(*tables: DeltaTable) -> list[int]:
    return [table.load()["latest-table-version"] for table in tables]


@pytest.mark.parametrize("key", [None, "0195-key"])
def test_all_tables_are_changed_and_a_repeated_request_is_known(
    api: DeltaApi, table: DeltaTable, stock: DeltaTable, key: str | None
) -> None:
    orders, goods = both(table, stock)
    changes = change(table, orders.update), change(stock, goods.update)

    answered = send(api, *changes, key=key)

    assert answered.status_code == 200, answered.text
    told = {each["identifier"]["name"]: each["table"] for each in answered.json()["tables"]}
    assert told == {"orders": table.load(), "stock": stock.load()}
    assert latest(table, stock) == [1, 1]
    again = send(api, *changes, key=key)
    assert again.status_code == 200
    assert latest(table, stock) == [1, 1]


def test_a_repeated_transaction_is_known_after_its_files_are_gone(
    api: DeltaApi, table: DeltaTable, stock: DeltaTable
) -> None:
    orders, goods = both(table, stock)
    changes = change(table, orders.update), change(stock, goods.update)
    assert send(api, *changes).status_code == 200
    for each, staged in ((table, orders), (stock, goods)):
        publish_file(each.location, staged)
        each.update(backfill(1)).raise_for_status()
        (file_path(each.location) / "_delta_log/_staged_commits" / staged.file_name).unlink()
    table.commit(2)

    answered = send(api, *changes)

    assert answered.status_code == 200, answered.text
    assert latest(table, stock) == [2, 1]


def test_one_loser_makes_all_lose_and_is_named_with_its_winners(
    api: DeltaApi, table: DeltaTable, stock: DeltaTable
) -> None:
    orders, goods = both(table, stock)
    winner = stock.commit(1)

    answered = send(api, change(table, orders.update), change(stock, goods.update))

    assert error_of(answered) == TAKEN
    (conflict,) = answered.json()["error"]["conflicts"]
    assert conflict["identifier"] == {"schema": "sales", "name": "stock"}
    assert conflict["latest-table-version"] == 1
    assert [commit["file-name"] for commit in conflict["winning-commits"]] == [winner.file_name]
    assert latest(table, stock) == [0, 1]
    assert table.update(orders.update).status_code == 200  # it was never ratified, and still may be


def test_a_table_that_was_only_read_must_not_have_moved(
    api: DeltaApi, table: DeltaTable, stock: DeltaTable
) -> None:
    orders = stage_file(table.location, 1)
    assert send(api, change(table, orders.update), change(stock, version=0)).status_code == 200
    stock.commit(1)
    second = stage_file(table.location, 2)

    answered = send(api, change(table, second.update), change(stock, version=0))

    assert error_of(answered) == TAKEN
    assert latest(table, stock) == [1, 1]


def test_a_member_that_is_repeated_alone_is_known(
    api: DeltaApi, table: DeltaTable, stock: DeltaTable
) -> None:
    orders, goods = both(table, stock)
    send(api, change(table, orders.update), change(stock, goods.update)).raise_for_status()

    assert table.update(orders.update).status_code == 200
    assert latest(table, stock) == [1, 1]


def test_a_key_is_used_for_one_transaction(api: DeltaApi, table: DeltaTable, stock: DeltaTable) -> None:
    orders, goods = both(table, stock)
    send(api, change(table, orders.update), key="k").raise_for_status()

    assert error_of(send(api, change(stock, goods.update), key="k")) == INVALID
    assert latest(table, stock) == [1, 0]


def test_what_a_member_says_must_be_what_its_commit_does(
    api: DeltaApi, table: DeltaTable, stock: DeltaTable
) -> None:
    orders, goods = both(table, stock)
    said = {"action": "set-properties", "updates": {"never.set": "1"}}

    assert error_of(send(api, change(table, orders.update), change(stock, goods.update, said))) == INVALID
    assert latest(table, stock) == [0, 0]


def test_shapes_that_are_refused(api: DeltaApi, table: DeltaTable, stock: DeltaTable) -> None:
    orders, goods = both(table, stock)
    gap = stage_file(stock.location, 2)
    for changes in (
        (),
        (change(table, orders.update), change(table, orders.update)),
        (change(table),),
        (change(table, orders.update, version=0),),
        (change(table, orders.update), change(stock, gap.update)),
        (change(table, orders.update), change(stock, backfill(0))),
        (change(stock, version=0),),
    ):
        assert error_of(send(api, *changes)) == INVALID, changes
    other = {**change(stock, goods.update), "identifier": {"schema": "sales", "name": "nowhere"}}
    assert error_of(send(api, change(table, orders.update), other)) == NO_TABLE
    wrong = {
        **change(stock, goods.update),
        "requirements": [{"type": "assert-table-uuid", "uuid": table.uuid}],
    }
    assert error_of(send(api, change(table, orders.update), wrong)) == NOT_MET
    assert latest(table, stock) == [0, 0]


def test_tables_are_loaded_at_one_moment(
    api: DeltaApi, table: DeltaTable, stock: DeltaTable, catalog: Catalog
) -> None:
    """While transactions move both tables in step, nobody who loads them together sees them apart."""
    stop, problems = threading.Event(), list[str]()

    def move() -> None:
        mover = DeltaApi(api.url)
        try:
            for version in range(1, 16):
                orders, goods = both(table, stock, version)
                send(mover, change(table, orders.update), change(stock, goods.update)).raise_for_status()
        except Exception as exc:
            problems.append(repr(exc))
        finally:
            stop.set()

    thread = threading.Thread(target=move)
    thread.start()
    names = [{"schema": "sales", "name": "orders"}, {"schema": "sales", "name": "stock"}]
    seen = list[int]()
    while not stop.is_set():
        found = api.post(LOAD, {"tables": names}).raise_for_status().json()["tables"]
        first, second = (each["table"]["latest-table-version"] for each in found)
        assert first == second
        seen.append(first)
    thread.join(PATIENCE_SECONDS)

    assert problems == []
    assert seen == sorted(seen)
    assert catalog.tail(TableId(table.uuid)).latest == 15


def test_loading_what_is_not_there(api: DeltaApi, table: DeltaTable) -> None:
    assert error_of(api.post(LOAD, {"tables": []})) == INVALID
    missing = {"schema": "sales", "name": "nowhere"}
    assert (
        error_of(api.post(LOAD, {"tables": [{"schema": "sales", "name": table.name}, missing]})) == NO_TABLE
    )
