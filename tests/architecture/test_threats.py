"""Does each threat of the book of rules have an attack, and a guard without which it succeeds?

The attacks are in the suites below, each with the guard that it fails on. There they are tried twice: as
things are, and with that guard taken away.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.contract import test_threats as of_a_catalog
from tests.unit.server import test_foreign_code as of_code
from tests.unit.server import test_server_threats as of_a_server

BOOK = Path(__file__).parents[2] / "docs" / "reference" / "rules.md"
SUITES: tuple[ModuleType, ...] = (of_a_catalog, of_a_server, of_code)
ELSEWHERE: Mapping[str, str] = {
    "T18": "tests/browser/test_console_guards.py",
    "T11": "tests/browser/test_console_guards.py",
    "T14": "tests/browser/test_console_guards.py",
}
"""Where more attacks of the same kind are, in a real browser."""


def _attacks() -> dict[str, list[tuple[ModuleType, Callable[..., bool]]]]:
    found: dict[str, list[tuple[ModuleType, Callable[..., bool]]]] = {}
    for suite in SUITES:
        attacks: Mapping[Callable[..., bool], Any] = suite.THREATS
        for attack in attacks:
            found.setdefault(attack.__name__.partition("_")[0].upper(), []).append((suite, attack))
    return found


def test_every_threat_of_the_book_is_tried_and_no_other() -> None:
    numbers = re.findall(r"^\* \*\*(T\d+)\*\* ", BOOK.read_text(), re.MULTILINE)

    assert numbers == [f"T{number}" for number in range(1, 21)]
    assert set(_attacks()) == set(numbers)


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.__name__.rpartition(".")[2])
def test_every_attack_is_tried_with_its_guard_and_without(suite: ModuleType) -> None:
    for name in ("test_the_attack_fails", "test_each_guard_is_needed"):
        (mark,) = (each for each in getattr(suite, name).pytestmark if each.name == "parametrize")
        assert mark.args == ("attack", suite.THREATS)


def test_attacks_are_in_the_table_of_their_suite() -> None:
    """One that is written and not in a row would be tried by nobody."""
    for suite in SUITES:
        written = {name for name in vars(suite) if re.match(r"t\d+_", name)}
        assert written == {attack.__name__ for attack in suite.THREATS}


def test_those_in_a_browser_are_where_they_are_said_to_be() -> None:
    for number, file in ELSEWHERE.items():
        assert re.search(rf"\b{number}\b|\b{number.lower()}_", (BOOK.parents[2] / file).read_text()), number
