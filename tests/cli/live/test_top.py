"""``headgate top``: one frame as lines and as JSON, what a watch remembers, and the keys in a terminal."""

import io
import json
import re
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

import headgate
from headgate.catalog.embedded import open_catalog
from headgate.cli import folder
from headgate.cli.live.command import look_again
from headgate.cli.live.frames import LakeWatch
from headgate.cli.live.screen import TableSort, draw_frame, sorted_frame
from headgate.cli.main import app
from headgate.errors import CatalogUnavailable, CommitRefused
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


def drawn(lake: Path, width: int) -> list[str]:
    with folder.open_lake(str(lake)) as opened:
        found = LakeWatch(opened, tables=10).look()
    out = Console(file=io.StringIO(), width=width, height=40)
    out.print(draw_frame(found, TableSort.COMMITS, out.size, None))
    return out.file.getvalue().splitlines()  # type: ignore[attr-defined, no-any-return]


def test_a_narrow_screen_leaves_out_what_matters_least_and_cuts_nothing_else(tmp_path: Path) -> None:
    with headgate.connect(tmp_path, settings=_QUIET) as made:
        made.create_schema("shop")
        made.create_table("shop.orders_as_they_came", "id INT")
        made.drop_table("shop.orders_as_they_came")
        made.create_table("shop.orders_as_they_came", "id INT").append([{"id": 1}])

    wide, usual, narrow = (drawn(tmp_path, width) for width in (160, 80, 60))

    titles = [next(line for line in each if line.startswith("table ")).split() for each in (wide, usual)]
    assert titles[0][-3:] == ["last", "commit", "(UTC)"]
    assert titles[1] == ["table", "commits/min", "30", "min", "unpublished", "lag", "refused"]
    assert not any("…" in line for line in wide)
    assert {line.rstrip()[-1] for line in usual if "…" in line} == {"…"}, "the end of a sentence alone"
    assert all(any("shop.orders_as_they_came  " in line for line in each) for each in (usual, narrow))


def test_a_name_too_long_for_a_screen_is_cut_off_and_the_figures_are_not(tmp_path: Path) -> None:
    with headgate.connect(tmp_path) as made:
        made.create_schema("shop")
        made.create_table(f"shop.{'very_' * 20}long", "id INT")

    lines = drawn(tmp_path, 60)

    row = next(line for line in lines if line.startswith("shop.very_") and "…  " in line)
    assert len(row.rstrip()) <= 60 and row.split()[-2:] == ["1", "0"]


def test_q_leaves_and_s_sorts_by_something_else(lake: Path) -> None:
    with run_in_terminal("top", "--lake", str(lake), "--every", "300", environment={}) as terminal:
        terminal.wait_for("sorted by commits")
        assert "sales.orders" in terminal.shown
        here = terminal.press("s")
        terminal.wait_for("sorted by backlog", since=here)
        terminal.press("q")

        assert terminal.end() == 0


def test_while_the_catalog_does_not_answer_the_last_frame_stays(
    lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with folder.open_lake(str(lake)) as opened:
        watch = LakeWatch(opened, tables=10)
        before = watch.look()
        monkeypatch.setattr(watch, "_follow", _do_not_answer)
        after, problem = look_again(watch, before)
    out = Console(file=io.StringIO(), width=200, height=40)
    out.print(draw_frame(after, TableSort.COMMITS, out.size, problem))

    assert after is before
    assert "the catalog is asleep" in out.file.getvalue()  # type: ignore[attr-defined]
    assert "sales.orders" in out.file.getvalue()  # type: ignore[attr-defined]


def _do_not_answer(_: int) -> None:
    raise CatalogUnavailable("the catalog is asleep")
