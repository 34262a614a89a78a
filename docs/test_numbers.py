"""How much is tested, in numbers? They are counted in the tables of other pages, made from the code.

A number that nobody can count in this repository is not shown.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class CountedRows:
    """What is counted: the rows of a page that look so, and who goes through them."""

    what: str
    page: str
    row: str
    shown_by: str

    def count(self) -> int:
        """How many rows there are."""
        return len(set(re.findall(self.row, (ROOT / self.page).read_text(), re.MULTILINE)))


COUNTED = (
    CountedRows("invariants", "docs/reference/invariants.md", r"^\| (I\d+) \|", "`make sim`, the contracts"),
    CountedRows(
        "damages that `headgate check` finds",
        "docs/reference/invariants.md",
        r"^\| (`[\w-]+`) \| I\d+ \|",
        "`tests/unit/table/integrity`",
    ),
    CountedRows(
        "numbered situations, each shown by a test",
        "docs/reference/scenarios.md",
        r"^\| (S\d{3}) \| .*\(`",
        "the tests that the page names",
    ),
    CountedRows(
        "moments at which a writer is killed",
        "docs/reference/crash-points.md",
        r"^\| (\d+) \| `",
        "`make test`, `make chaos`",
    ),
    CountedRows(
        "known mistakes that the simulation must find",
        "tests/simulation/mutants.md",
        r"^\| (`[\w-]+`) \|",
        "`tests/simulation/test_mutants.py`",
    ),
    CountedRows(
        "features that Delta Spark and Headgate write by turns",
        "docs/reference/referee.md",
        r"^\| ([\w -]+) \| (?:Headgate|Delta Spark)",
        "`make referee`",
    ),
    CountedRows(
        "logs of careless writers",
        "docs/reference/conformance.md",
        r"^\| ([^|]+) \| rows equal \| \S[^|]* \| \S[^|]* \|$",
        "`tests/interop/test_odd_tables.py`",
    ),
)


def counted() -> Iterator[str]:
    """A row for each number."""
    yield "| how many | of what | gone through by |"
    yield "|---|---|---|"
    for row in COUNTED:
        page = Path("..") / row.page.removeprefix("docs/")
        page = Path("../..") / row.page if row.page.startswith("tests/") else page
        yield f"| {row.count()} | [{row.what}]({page.as_posix()}) | {row.shown_by} |"
    bank = (ROOT / "docs/reference/sql-compatibility.md").read_text()
    if together := re.search(r"^\| together \| \d+ \| (\d+) \| (\d+) \| (\d+) \|", bank, re.MULTILINE):
        statements = "[SQL statements with their outcome](../reference/sql-compatibility.md)"
        yield f"| {together[1]} | {statements}, {together[2]} of them Delta's too | `make sql` |"


PARTS = {"test_numbers": counted}
"""The generated parts of the pages, by the names of their marks."""
