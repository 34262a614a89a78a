"""The book of rules is complete: whatever id the source or a test cites is defined, and nothing else is."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
SOURCE = ROOT / "src" / "headgate"
BOOK = (REFERENCE / "rules.md").read_text()
ENTRY = re.compile(r"^\* \*\*([A-Z]\d+)\*\* (.*(?:\n  .*)*)", re.MULTILINE)
ENTRIES = dict(ENTRY.findall(BOOK))
CITED = re.compile(r"(?<![\w%./-])(?!S3\b)([A-Z]\d{1,2}|S\d{3})(?:–([A-Z]\d{1,2}))?(?![\w%])")
"""A rule, an invariant or a scenario, or the first and last of several; S3 is a store."""


def prose(text: str) -> Iterator[str]:
    """The comments and docstrings of a module."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.string
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield str(node.value.value)


@cache
def cited(folder: Path) -> dict[str, str]:
    """The ids that the modules of a folder cite, and one that cites each."""
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*.py")):
        for text in prose(path.read_text()):
            for first, last in CITED.findall(text):
                numbers = range(int(first[1:]), int((last or first)[1:]) + 1) if last else ()
                for each in (first, *(f"{first[0]}{number}" for number in numbers)):
                    found.setdefault(each, str(path.relative_to(ROOT)))
    return found


def defined() -> set[str]:
    """What the book and the pages of invariants and scenarios have."""
    invariants = re.findall(r"^\| (I\d+) \|", (REFERENCE / "invariants.md").read_text(), re.MULTILINE)
    scenarios = re.findall(r"^\| (S\d{3}) \|", (REFERENCE / "scenarios.md").read_text(), re.MULTILINE)
    return {*ENTRIES, *invariants, *scenarios}


def test_every_id_that_the_source_cites_is_defined() -> None:
    assert {each: where for each, where in cited(SOURCE).items() if each not in defined()} == {}


def test_every_id_that_a_test_cites_is_defined() -> None:
    assert {each: where for each, where in cited(ROOT / "tests").items() if each not in defined()} == {}


def test_the_book_has_no_rule_that_nobody_cites() -> None:
    assert sorted(ENTRIES.keys() - cited(SOURCE).keys() - cited(ROOT / "tests").keys()) == []


@pytest.mark.parametrize("rule", ENTRIES)
def test_a_rule_is_kept_in_files_that_exist(rule: str) -> None:
    files = re.findall(r"`([\w/]+\.py)`", " ".join(ENTRIES[rule].split()).partition(" Kept in ")[2])

    assert files
    assert [file for file in files if not (SOURCE / file).is_file()] == []


def test_each_rule_is_defined_once_and_in_its_family() -> None:
    ids = [found for found, _ in ENTRY.findall(BOOK)]
    order = [(each[0], int(each[1:])) for each in ids]
    families = re.findall(r"^## ([A-Z]): ", BOOK, re.MULTILINE)

    assert order == sorted(set(order))
    assert families == sorted({letter for letter, _ in order})
