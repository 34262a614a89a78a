"""What lists of the command line say: whole sentences of every command, lines that stand in line."""

import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

import headgate
from headgate.cli import console
from headgate.cli.activity import events
from headgate.cli.console import OutputColumn
from headgate.cli.lazy_commands import COMMANDS
from headgate.cli.main import app
from tests.support.lakes import build_lake

GROUPS = ((), *((row.name,) for row in COMMANDS if row.verbs), ("stream",))


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    build_lake(tmp_path / "lake")
    return tmp_path / "lake"


@pytest.mark.parametrize("words", GROUPS, ids=" ".join)
def test_no_command_is_cut_off_in_a_list(words: tuple[str, ...]) -> None:
    said = run(*words, "--help").stdout

    listed = said.partition("Commands:\n")[2]
    assert listed and "..." not in listed
    assert re.fullmatch(r"(?:  \S+ +[A-Z].*\n(?: {5,}\S.*\n)*)+", listed)


@pytest.mark.parametrize("command", [["table", "publish"], ["check"], ["recover", "--dry-run"]], ids=" ".join)
def test_what_is_said_of_each_table_stands_in_line(lake: Path, command: list[str]) -> None:
    lines = [line for line in run(*command, "--lake", lake).stdout.splitlines() if line.startswith("sales.")]

    assert len({re.search(r"  +(?=\S)", line).end() for line in lines}) == 1  # type: ignore[union-attr]
    assert [line.split()[0] for line in lines] == ["sales.orders", "sales.stock"]


@pytest.mark.parametrize("command", ["list", "dropped"])
def test_a_schema_that_is_not_there_is_no_empty_one(lake: Path, command: str) -> None:
    with headgate.connect(lake) as opened:
        opened.create_schema("empty")

    empty, absent = (run("table", command, schema, "--lake", lake) for schema in ("Empty", "nowhere"))

    assert (empty.exit_code, absent.exit_code) == (0, 3)
    assert "there is no schema 'nowhere'" in absent.stderr and absent.stdout == ""
    assert "fix: headgate schema create makes one" in absent.stderr


def test_properties_that_are_not_there_may_be_passed_over(lake: Path) -> None:
    command = ("table", "unset", "sales.orders", "shop.nothing", "--lake", lake)

    assert run(*command).exit_code == 1
    assert run(*command, "--if-exists").exit_code == 0


@pytest.fixture
def eventful(lake: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A lake in which some things happened, of which few are looked at together."""
    monkeypatch.setattr(events, "_PAGE", 2)
    with headgate.connect(lake) as opened:
        opened.create_table("sales.more", "id INT")
        for number in range(3):
            opened.table("sales.stock").set_properties({"x.n": str(number)})
    yield lake


def cursors(*arguments: str | Path) -> list[int]:
    """The numbers with which the lines begin."""
    return [int(line.split()[0]) for line in run("event", "list", *arguments).stdout.splitlines()[1:]]


def test_the_latest_events_are_listed_unless_a_beginning_is_named(eventful: Path) -> None:
    whole = cursors("--lake", eventful, "--after", "0")

    assert len(whole) > 6 and whole == sorted(whole)
    assert cursors("--lake", eventful) == whole
    assert cursors("--lake", eventful, "-n", "3") == whole[-3:]
    assert cursors("--lake", eventful, "-n", "3", "--after", str(whole[1])) == whole[2:5]


def test_the_latest_events_of_a_kind_and_of_a_table_are_found_among_others(eventful: Path) -> None:
    created = cursors("--lake", eventful, "--kind", "create", "--after", "0")
    orders = cursors("--lake", eventful, "--table", "sales.orders", "--after", "0")

    assert len(created) == 3 and cursors("--lake", eventful, "--kind", "create", "-n", "2") == created[-2:]
    assert orders and cursors("--lake", eventful, "--table", "sales.orders") == orders
    assert "nothing of that kind" in run("event", "list", "--lake", eventful, "--kind", "incident").stdout


def test_events_of_a_table_are_found_by_its_name_in_any_case(eventful: Path) -> None:
    orders = cursors("--lake", eventful, "--table", "sales.orders")

    assert orders and cursors("--lake", eventful, "--table", "SALES.Orders") == orders


@pytest.mark.parametrize("command", [["event", "list"], ["event", "follow", "--count", "1"]])
def test_events_of_what_is_no_table_are_not_waited_for(eventful: Path, command: list[str]) -> None:
    result = run(*command, "--table", "sales.nothing", "--lake", eventful)

    assert (result.exit_code, "there is no table sales.nothing" in result.stderr) == (3, True)


def test_events_of_a_table_of_before_are_told(eventful: Path) -> None:
    run("table", "drop", "sales.more", "--lake", eventful)
    run("table", "purge", "sales.more", "--yes", "--lake", eventful)

    assert cursors("--lake", eventful, "--table", "sales.more")
    assert (
        run("event", "list", "--table", "sales.more", "--kind", "incident", "--lake", eventful).exit_code == 0
    )


def test_events_that_are_no_commits_are_told_in_words(eventful: Path) -> None:
    run("maintenance", "permit", "sales.stock", "data cleanup", "--lake", eventful)
    run("table", "rename", "sales.more", "sales.less", "--lake", eventful)

    lines = run("event", "list", "--lake", eventful, "-n", "2").stdout.splitlines()[1:]

    assert lines[0].endswith("data cleanup is permitted") and lines[1].endswith("renamed from sales.more")


def test_a_moment_stays_on_one_line_in_a_narrow_window() -> None:
    columns = (OutputColumn("name"), OutputColumn("timestamp", is_whole=True), OutputColumn("id"))
    narrow = Console(width=50, force_terminal=True, color_system=None, file=io.StringIO())

    console.show_table(narrow, columns, [("n" * 30, "2026-11-19 18:19:46.513Z", "i" * 30)])

    said = narrow.file.getvalue()  # type: ignore[attr-defined]
    assert "2026-11-19 18:19:46.513Z" in said
    assert (said.count("n") - 1, said.count("i") - 2) == (30, 30), "and nothing is left out"


def test_a_long_fact_goes_on_below_where_it_began_in_a_narrow_window() -> None:
    narrow = Console(width=30, force_terminal=True, color_system=None, file=io.StringIO())

    console.show_pairs(narrow, {"table": "sales.orders", "location": "/lake/" + "folder/" * 6})

    lines = narrow.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert lines[0].rstrip() == "table     sales.orders"
    assert len(lines) > 3 and all(line.startswith(" " * 10) for line in lines[2:])
