"""``headgate stream read``: rows as they are committed, without Spark; changes by the feed, with it."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner, Result

import headgate
from headgate.cli import session
from headgate.cli.main import app
from headgate.cli.streams.row_lines import RowFollower, RowsAsked
from tests.support.snapshots import check_snapshot


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    with headgate.connect(tmp_path / "lake") as made:
        made.create_schema("sales")
        orders = made.create_table(
            "sales.orders", "id BIGINT, day DATE, n DECIMAL(5, 2)", partition_by=["day"]
        )
        for number in (1, 2):
            orders.append([{"id": number, "day": date(2026, 1, 31), "n": Decimal("1.50")}])
    return tmp_path / "lake"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["stream", "read", *map(str, arguments)])


def lines(*arguments: str | Path) -> list[Any]:
    result = run("sales.orders", *arguments)
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def ids(found: list[Any]) -> list[tuple[int, int]]:
    return [(line["version"], line["row"]["id"]) for line in found]


def test_help_is_as_it_was_read() -> None:
    check_snapshot("stream/read-help.txt", run("--help").stdout)
    check_snapshot("stream/help.txt", CliRunner().invoke(app, ["stream", "--help"]).stdout)


def test_without_a_start_come_the_rows_that_there_are(lake: Path) -> None:
    found = lines("--lake", lake)

    assert sorted(ids(found)) == [(2, 1), (2, 2)]
    assert found[0]["change"] == "insert"
    assert found[0]["row"] == {"id": found[0]["row"]["id"], "day": "2026-01-31", "n": 1.5}


def test_from_a_version_each_row_says_in_which_it_came(lake: Path) -> None:
    assert ids(lines("--lake", lake, "--from", "0")) == [(1, 1), (2, 2)]
    assert ids(lines("--lake", lake, "--from", "2")) == [(2, 2)]
    assert lines("--lake", lake, "--from", "latest") == []
    assert ids(lines("--lake", lake, "--from", "1", "--limit", "1")) == [(1, 1)]


def test_rows_that_are_committed_later_are_followed(lake: Path) -> None:
    with headgate.connect(lake) as writer:
        later = threading.Timer(0.2, lambda: writer.table("sales.orders").append([{"id": 3}, {"id": 4}]))
        later.start()
        found = lines("--lake", lake, "--from", "2", "--follow", "--limit", "3")
        later.join()

    assert ids(found) == [(2, 2), (3, 3), (3, 4)]


def test_a_follower_gives_each_row_once(lake: Path) -> None:
    with headgate.connect(lake) as writer:
        follower = RowFollower(writer.table("sales.orders"), RowsAsked("latest"))
        before = list(follower.new_lines())
        writer.table("sales.orders").append([{"id": 5}])
        after, again = list(follower.new_lines()), list(follower.new_lines())

    assert (before, [line.row["id"] for line in after], again) == ([], [5], [])


@pytest.mark.parametrize(
    ("arguments", "ends_with", "says"),
    [
        (("--from", "soon"), 1, "--from takes the number of a version"),
        (("--from", "9"), 3, "the latest is 2"),
        (("--changes", "show"), 1, "say from which version changes are wanted"),
    ],
)
def test_a_start_that_is_none_is_refused(
    lake: Path, arguments: tuple[str, ...], ends_with: int, says: str
) -> None:
    result = run("sales.orders", "--lake", lake, *arguments)

    assert (result.exit_code, says in result.stderr) == (ends_with, True)


@pytest.mark.spark
def test_changed_rows_are_refused_skipped_or_shown(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def shared() -> Iterator[Callable[[], SparkSession]]:
        yield lambda: spark

    monkeypatch.setattr(session, "lazy_session", shared)
    with headgate.connect(tmp_path) as made:
        made.create_schema("sales")
        orders = made.create_table(
            "sales.orders", "id BIGINT", properties={"delta.enableChangeDataFeed": "true"}
        )
        orders.append([{"id": 1}, {"id": 2}])
        orders.delete("id = 1", spark=spark)
        orders.append([{"id": 3}])

    refused = run("sales.orders", "--lake", tmp_path, "--from", "1")
    assert (refused.exit_code, "DELTA_SOURCE" in refused.stderr) == (1, True)
    assert len(refused.stdout.splitlines()) == 2  # what came before it
    skipped = lines("--lake", tmp_path, "--from", "1", "--changes", "skip")
    assert ids(skipped) == [(1, 1), (1, 2), (3, 3)]
    shown = lines("--lake", tmp_path, "--from", "1", "--changes", "show")
    assert [(line["version"], line["change"], line["row"]) for line in shown[2:]] == [
        (2, "delete", {"id": 1}),
        (3, "insert", {"id": 3}),
    ]
