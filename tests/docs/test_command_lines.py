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

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
_BLOCK = re.compile(r"^```(?:sh|bash|)\n(.*?)^```", re.DOTALL | re.MULTILINE)
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
