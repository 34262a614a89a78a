"""``headgate stream list`` and ``show``: which streams wrote to which tables, and how far they came."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import headgate
from headgate.cli.main import app
from headgate.protocol.actions import AppTransaction
from headgate.table.transaction import Change, Operation
from tests.support.snapshots import check_snapshot


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    with headgate.connect(tmp_path / "lake") as made:
        made.create_schema("sales")
        orders = made.create_table("sales.orders", "id BIGINT")
        made.create_table("sales.stock", "sku STRING")
        for batch in (0, 1):
            said = {"queryId": "q-1", "epochId": str(batch), "outputMode": "Append"}
            operation = Operation("STREAMING UPDATE", said, metrics={"numOutputRows": "7"})
            txn = AppTransaction(app_id="q-1", version=batch, last_updated=1_800_000_000_000 + batch)
            orders.log.commit(Change(operation, (txn,)), base=orders.log.snapshot())
    return tmp_path / "lake"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["stream", *map(str, arguments)])


def answer(*arguments: str | Path) -> Any:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_help_is_as_it_was_read() -> None:
    for verb in ("list", "show"):
        check_snapshot(f"stream/{verb}-help.txt", run(verb, "--help").stdout)


def test_streams_are_listed_with_their_last_batch(lake: Path) -> None:
    found = answer("list", "--lake", lake)

    check_snapshot("stream/list.json", json.dumps(found, indent=2) + "\n")
    assert "sales.orders  q-1              1  2027-01-15 08:00:00.001Z" in run("list", "--lake", lake).stdout
    assert run("list", "sales.stock", "--lake", lake).stdout == "no stream wrote to sales.stock\n"


def test_a_stream_is_shown_with_the_versions_it_wrote(lake: Path) -> None:
    (found,) = answer("show", "q-1", "--lake", lake)

    assert found["writer"]["lastBatch"] == 1
    assert [(each["version"], each["batch"], each["rows"]) for each in found["commits"]] == [
        (2, 1, 7),
        (1, 0, 7),
    ]
    assert set(found["commits"][0]) == {"version", "timestamp", "batch", "operation", "rows"}
    assert [line.split()[0] for line in run("show", "q-1", "--lake", lake).stdout.splitlines()] == [
        "table", "sales.orders", "version", "2", "1",
    ]  # fmt: skip


def test_a_stream_that_nobody_knows_is_refused(lake: Path) -> None:
    result = run("show", "q-2", "--lake", lake)

    assert (result.exit_code, "headgate stream list" in result.stderr) == (3, True)


def test_a_table_that_is_not_there_is_told(lake: Path) -> None:
    assert "code: DELTA_TABLE_NOT_FOUND" in run("list", "sales.nothing", "--lake", lake).stderr
