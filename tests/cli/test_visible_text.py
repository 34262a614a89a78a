"""Names are data on a terminal too (T11): a heading, a key or a title steers it no more than a cell does."""

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

import headgate
from headgate.cli import console
from headgate.cli.console import OutputColumn
from headgate.cli.main import app
from headgate.cli.visible_text import visible_line, visible_lines

_NAMES = ("a\x1b[31mb", "c\u202ed", "e\nf", "g\u200fh")
_OBEYED = {"\x1b", "\u202e", "\u200f"}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    columns = ", ".join(f"`{name}` STRING" for name in _NAMES)
    with headgate.connect(folder) as lake:
        lake.create_schema("s")
        lake.create_table("s.t", columns, properties={"delta.columnMapping.mode": "name"})
        lake.table("s.t").append([dict.fromkeys(_NAMES, "value")])
    return folder


@pytest.mark.parametrize(
    "words",
    [
        ["table", "rows", "s.t"],
        ["table", "show", "s.t", "--rows", "1"],
        ["sql", "-c", "SELECT * FROM s.t LIMIT 1"],
        ["sql", "--expanded", "-c", "SELECT * FROM s.t LIMIT 1"],
        ["sql", "-c", "\\d s.t"],
        ["commit", "show", "s.t", "0"],
    ],
    ids=" ".join,
)
def test_the_name_of_a_column_does_not_steer_the_terminal(hostile: Path, words: list[str]) -> None:
    result = CliRunner().invoke(app, [*words, "--lake", str(hostile)])
    shown = result.stdout + result.stderr

    assert result.exit_code == 0, shown
    assert not _OBEYED & set(shown)
    assert "a\\x1b[31mb" in shown
    assert "c\\u202ed" in shown
    assert "e\\nf" in shown


@pytest.mark.parametrize("is_terminal", [True, False])
def test_headings_and_keys_are_written_out(*, is_terminal: bool) -> None:
    file = StringIO()
    drawn = Console(file=file, force_terminal=is_terminal, color_system=None, width=200)

    console.show_table(drawn, [OutputColumn(name) for name in _NAMES], [_NAMES])
    console.show_pairs(drawn, {name: name for name in _NAMES})

    assert not _OBEYED & set(file.getvalue())
    assert file.getvalue().count("a\\x1b[31mb") == 4
    assert file.getvalue().count("e\\nf") == 3


def test_keys_that_look_alike_are_all_shown() -> None:
    file = StringIO()

    console.show_pairs(Console(file=file, width=80), {"a\x1b": "one", "a\\x1b": "two"})

    assert file.getvalue().split() == ["a\\x1b", "one", "a\\x1b", "two"]


def test_lines_stay_lines_and_the_rest_is_written_out() -> None:
    text = "a\tb\nc\rd\x1be\u2028f\x9bg"

    assert visible_line(text) == "a\\tb\\nc\\rd\\x1be\\u2028f\\x9bg"
    assert visible_lines(text) == "a\tb\nc\\rd\\x1be\\u2028f\\x9bg"
