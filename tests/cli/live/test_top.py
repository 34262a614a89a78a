"""``headgate top``: one frame as lines and as JSON, what a watch remembers, and the keys in a terminal."""

import json
import re
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import headgate
from headgate.catalog.embedded import open_catalog
from headgate.cli import folder
from headgate.cli.live.frames import LakeWatch
from headgate.cli.live.screen import TableSort, sorted_frame
from headgate.cli.main import app
from headgate.errors import CommitRefused
from headgate.settings import Publish, Settings
from tests.support.shared_server import served
from tests.support.snapshots import check_snapshot
from tests.support.terminal import run_in_terminal

_QUIET = Settings(publish=Publish.ON_DEMAND)


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    with headgate.connect(tmp_path / "lake", settings=_QUIET) as made:
        made.create_schema("sales")
        orders = made.create_table("sales.orders", "id BIGINT")
        made.create_table("sales.stock", "sku STRING")
        for number in range(3):
            orders.append([{"id": number}])
    return tmp_path / "lake"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["top", *map(str, arguments)])


def frame(lake: str | Path, *arguments: str) -> Any:
    result = run("--lake", lake, "--json", *arguments)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_help_is_as_it_was_read() -> None:
    check_snapshot("top/help.txt", run("--help").stdout)


def test_a_frame_has_what_is_committed_and_waits(lake: Path) -> None:
    found = frame(lake)

    orders, stock = found["tables"]
    assert (orders["name"], orders["version"], orders["unpublished"]) == ("sales.orders", 3, 3)
    assert orders["commitsInWindow"] == sum(orders["commitsByMinute"]) == 4
    assert orders["lagSeconds"] > 0
    assert (stock["name"], stock["unpublished"], stock["lagSeconds"]) == ("sales.stock", 0, 0.0)
    assert found["totals"]["unpublished"] == 3
    assert found["totals"]["commitsInWindow"] == 5
    assert found["totals"]["lagSeconds"] == orders["lagSeconds"]
    assert (found["events"][0]["kind"], found["events"][0]["sentence"]) == (
        "commit",
        "version 3 was ratified",
    )


def test_the_shape_of_a_frame_is_as_it_was_read(lake: Path) -> None:
    with headgate.connect(lake) as opened, opened.lease("sales.orders", version=1):
        check_snapshot("top/frame.json", json.dumps(_shape(frame(lake)), indent=2) + "\n")


def _shape(value: Any) -> Any:
    match value:
        case dict():
            return {key: _shape(item) for key, item in value.items()}
        case list():
            return [_shape(value[0])] if value else []
        case _:
            return type(value).__name__


def test_in_a_pipe_a_frame_is_plain_lines(lake: Path) -> None:
    once, piped = run("--lake", lake, "--once"), run("--lake", lake)

    assert once.exit_code == piped.exit_code == 0
    assert "2 tables  " in piped.stdout
    assert "3 unpublished" in piped.stdout
    assert re.search(r"^sales\.orders +3 +\d +4 +3 ", piped.stdout, re.MULTILINE)
    assert "version 3 was ratified" in piped.stdout
    assert "\x1b" not in piped.stdout


def test_leases_are_shown_with_the_names_of_their_tables(lake: Path) -> None:
    with headgate.connect(lake) as opened, opened.lease("sales.orders", version=1):
        (lease,) = frame(lake)["leases"]

    assert (lease["subject"], lease["version"]) == ("sales.orders", 1)
    assert lease["expiresInSeconds"] > 0


def test_a_watch_goes_on_from_the_last_event(lake: Path) -> None:
    with folder.open_lake(str(lake)) as opened, headgate.connect(lake) as other:
        watch = LakeWatch(opened, tables=1)
        before = watch.look()
        other.table("sales.stock").append([{"sku": "a"}])
        after = watch.look()
        again = watch.look()

    assert [table.name for table in before.tables] == ["sales.orders"]
    assert [table.name for table in after.tables] == ["sales.stock"]  # what happened last comes first
    assert after.totals.commits_in_window == before.totals.commits_in_window + 1
    assert again.events == after.events


def test_refusals_are_counted(lake: Path) -> None:
    with headgate.connect(lake) as made:
        made.grant("read", on="sales.orders", to="ann")
    with headgate.connect(lake, principal="ann") as hers, pytest.raises(CommitRefused):
        hers.table("sales.orders").append([{"id": 9}])

    found = frame(lake)

    assert found["totals"]["refusals"] == 1
    assert found["events"][0]["kind"] == "refusal"


def test_a_lake_behind_a_server_is_watched_alike(lake: Path) -> None:
    with closing(open_catalog(lake)) as catalog, served(catalog) as url:
        found = frame(url)

    assert found["lake"] == url
    assert [table["name"] for table in found["tables"]] == ["sales.orders", "sales.stock"]
    assert found["totals"]["unpublished"] == 3
    assert found["leases"] == []


def test_tables_are_sorted_by_what_is_asked_for(lake: Path) -> None:
    with folder.open_lake(str(lake)) as opened:
        found = LakeWatch(opened, tables=10).look()

    for sort, first in ((TableSort.BACKLOG, "sales.orders"), (TableSort.NAME, "sales.orders")):
        assert sorted_frame(found, sort)[0].name == first
    assert TableSort.NAME.following is TableSort.COMMITS


def test_q_leaves_and_s_sorts_by_something_else(lake: Path) -> None:
    with run_in_terminal("top", "--lake", str(lake), "--every", "300", environment={}) as terminal:
        terminal.wait_for("sorted by commits")
        assert "sales.orders" in terminal.shown
        here = terminal.press("s")
        terminal.wait_for("sorted by backlog", since=here)
        terminal.press("q")

        assert terminal.end() == 0
