"""The page of retries names what exists: each file, and in it the function that repeats."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "headgate"
PAGE = (ROOT / "docs" / "reference" / "retries.md").read_text()
ROWS = re.findall(r"^\| `([\w/]+\.py)` · `([\w.]+)` \|", PAGE, re.MULTILINE)


def functions(file: Path) -> set[str]:
    """The functions of a module, methods with their class."""
    found = set[str]()
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{part.name}" for part in node.body if isinstance(part, ast.FunctionDef)}
    return found


@pytest.mark.parametrize(("file", "function"), sorted(set(ROWS)), ids=lambda part: part)
def test_whoever_repeats_exists(file: str, function: str) -> None:
    assert function in functions(SOURCE / file)


def test_every_row_names_whom_it_is_about() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| where |")]

    assert len(rows) == len(ROWS) > 20


def test_the_other_files_of_the_page_exist() -> None:
    named = set(re.findall(r"`([\w/]+\.py)`", PAGE))

    assert sorted(file for file in named if not (SOURCE / file).is_file()) == []
