"""Command lines in the pages are ones that the command line takes: their words and options exist."""

import itertools
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from headgate.cli.main import app
from headgate.cli.nouns import OLDER_NAMES

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
_BLOCK = re.compile(r"^```(?:sh|bash|)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_OLDER = re.compile(rf"\bheadgate ({'|'.join({row.name for row in OLDER_NAMES} - {'serve'})})\b")
"""Names of before there were nouns; ``headgate serve`` is what everybody calls the server."""
_TELLING_OF_THEM = frozenset({"CHANGELOG.md", "command-line.md"})
_OPERATORS = frozenset({"|", ">", "||", "&&", "2>"})


def command_lines(page: Path) -> Iterator[tuple[str, ...]]:
    """The words behind ``headgate`` of every line that begins with it."""
    for block in _BLOCK.findall(page.read_text()):
        for line in block.splitlines():
            if line.removeprefix("$ ").startswith("headgate "):
                words = shlex.split(line.removeprefix("$ "), comments=True)
                yield tuple(itertools.takewhile(lambda word: word not in _OPERATORS, words[1:]))


LINES = [(page.name, words) for page in PAGES for words in command_lines(page)]


@pytest.mark.parametrize(
    ("page", "words"), LINES, ids=[f"{page}: {' '.join(words)}" for page, words in LINES]
)
def test_a_command_line_of_a_page_is_taken(page: str, words: tuple[str, ...]) -> None:
    root: Any = get_command(app)
    context = root.make_context("headgate", list(words))
    while context._protected_args:
        rest = [*context._protected_args, *context.args]
        name, command, rest = context.command.resolve_command(context, rest)
        context = command.make_context(name, rest, parent=context)

    assert not context.args, page


def test_pages_have_command_lines() -> None:
    assert len(LINES) >= 20


def test_nobody_is_advised_an_older_name_of_a_command() -> None:
    modules = sorted((ROOT / "src" / "headgate").rglob("*.py"))
    read = [path for path in (*PAGES, *modules) if path.name not in _TELLING_OF_THEM]

    assert [(path.name, found) for path in read for found in _OLDER.findall(path.read_text())] == []
