"""The pages read well and name what is there: lines of prose, sections of how-to pages, benchmarks, files."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.__main__ import discover

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "benchmarks").glob("*.md")],
)
HOW_TO = sorted((ROOT / "docs" / "how-to").glob("*.md"))
LONGEST = 120
_FENCE = re.compile(r"^\s*```")
_ROW = re.compile(r"^\s*\|")
_LINK = re.compile(r"\[[^\]]*\]\([^)]*\)|https?://\S+")


def prose(text: str) -> Iterator[tuple[int, str]]:
    """The numbered lines outside of code blocks and tables."""
    in_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if _FENCE.match(line):
            in_code = not in_code
        elif not in_code and not _ROW.match(line):
            yield number, line


def is_one_link(line: str) -> bool:
    """Whether nothing but a link, which cannot be broken, and what marks a list makes the line long."""
    return bool(_LINK.search(line)) and not _LINK.sub("", line).strip(" *-.,:;()`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_no_line_of_prose_is_long(page: Path) -> None:
    long = [
        number for number, line in prose(page.read_text()) if len(line) > LONGEST and not is_one_link(line)
    ]

    assert not long, f"lines {long} have more than {LONGEST} characters"


def test_only_a_link_alone_may_be_long() -> None:
    assert is_one_link("* [a page](https://example.com)")
    assert not is_one_link("see [a page](https://example.com) for more")
    assert not is_one_link("words")


@pytest.mark.parametrize("page", HOW_TO, ids=lambda page: page.name)
def test_a_how_to_page_says_when_to_use_it_and_its_limits(page: Path) -> None:
    text = page.read_text()
    opening = text.partition("\n## ")[0]

    assert "**Use it" in opening, "the opening says when to use it: **Use it when** …"
    assert "\n## Limits\n" in text
    assert "\n```" in text, "there is no example"


def test_every_benchmark_has_its_row_and_no_other() -> None:
    page = (ROOT / "benchmarks" / "README.md").read_text()
    table = page.partition("| benchmark | work | peer | ratio | goal |\n")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", table, re.MULTILINE)

    assert {row[0] for row in rows} == set(discover())
    assert len(rows) == len(table.splitlines()) - 1, "a row has five cells"


def test_the_six_questions_are_answered_by_files_that_exist() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text()
    section = page.partition("## Six questions, answered by the tree\n")[2].partition("\n## ")[0]
    answers = re.findall(r"^\| (.+\?) \| `([\w/.]+)` \| (.+) \|$", section, re.MULTILINE)

    assert len(answers) == 6
    for question, path, walk in answers:
        assert (ROOT / "src" / "headgate" / path).exists(), question
        parts = path.strip("/").split("/")
        assert re.findall(r"`([\w.]+)/?`", walk) == parts, f"the walk to {path} is another"
