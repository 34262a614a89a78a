"""A number on a page was measured: each line about a benchmark is one of the page of benchmarks."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \|", re.MULTILINE)
MEASURED = set(ROW.findall((ROOT / "benchmarks" / "README.md").read_text()))
PAGE = (ROOT / "docs" / "how-to" / "size-and-tune.md").read_text()
COMPARISON = (ROOT / "docs" / "explanation" / "comparison.md").read_text()


def test_the_page_on_sizes_has_the_newest_numbers_and_no_others() -> None:
    section = PAGE.partition("\n## What was measured\n")[2].partition("\n## ")[0]
    rows = ROW.findall(section)

    assert len(rows) >= 8
    assert [row for row in rows if row not in MEASURED] == [], "copy these rows from benchmarks/README.md"


def test_no_other_part_of_the_page_has_a_ratio() -> None:
    rest = PAGE.partition("\nWhat follows from them:\n")[2]

    assert re.findall(r"\d(?:×| times\b)", rest) == []


def test_the_ratios_of_the_comparison_were_measured() -> None:
    named = re.findall(r"\d[\d,.]*×", COMPARISON)

    assert len(named) >= 4
    assert [ratio for ratio in named if ratio not in {each for row in MEASURED for each in row}] == []
