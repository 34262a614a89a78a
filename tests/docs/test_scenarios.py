"""The list of scenarios does not rot: each is shown by a test or said to be missing, and never both."""

import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "scenarios.md").read_text()
ROW = re.compile(r"^\| S(\d{3}) \| (.+) \|$", re.MULTILINE)
RANGE = re.compile(r"S(\d{3})(?:–S(\d{3}))?")


def rows(heading: str) -> dict[int, str]:
    """The rows of the table under a heading."""
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return {int(number): text for number, text in ROW.findall(section)}


GROUPS = {
    number
    for row in re.findall(r"^\| [A-Z] \|.*$", PAGE, re.MULTILINE)
    for first, last in RANGE.findall(row)
    for number in range(int(first), int(last or first) + 1)
}
MISSING, PARTLY, SHOWN = rows("Not shown yet"), rows("Shown in part"), rows("Shown")


def test_every_scenario_of_the_groups_is_shown_or_said_to_be_missing() -> None:
    assert sorted(GROUPS - SHOWN.keys() - MISSING.keys()) == []


def test_what_is_said_to_be_missing_is_shown_by_no_test() -> None:
    assert sorted(MISSING.keys() & SHOWN.keys()) == []


def test_what_is_shown_in_part_is_shown() -> None:
    assert sorted(PARTLY.keys() - SHOWN.keys()) == []


def test_no_test_shows_a_scenario_that_does_not_exist() -> None:
    later = range(320, 328)  # streaming

    assert sorted({*SHOWN, *MISSING} - GROUPS - set(later)) == []


def test_the_page_has_the_groups() -> None:
    assert len(GROUPS) > 200
    assert {1, 336} <= GROUPS


# --- through HTTP

TESTS = Path(__file__).parents[1]
HTTP = PAGE.partition("## Through HTTP\n")[2]
NAMED = re.compile(r"`([a-z_/]+\.py)::(test_[a-z0-9_]+)`")


def test_every_group_of_situations_through_http_is_shown() -> None:
    groups = re.findall(r"^\| (\d+|beyond) \| .+ \| .*`.+::test_.+` \|$", HTTP, re.MULTILINE)

    assert set(groups) == {*map(str, range(1, 12)), "beyond"}


def test_what_shows_a_situation_through_http_is_a_test() -> None:
    gone = [
        f"{path}::{name}"
        for path, name in NAMED.findall(HTTP)
        if f"\ndef {name}(" not in (TESTS / path).read_text()
    ]

    assert NAMED.findall(HTTP)
    assert gone == []
