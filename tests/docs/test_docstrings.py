"""Docstrings name what exists: the benchmark that justifies something clever is one that can be run."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BENCHMARK = re.compile(r"``(benchmarks/\w+\.py)``")
DOCSTRINGS = {
    path.relative_to(ROOT).as_posix(): ast.get_docstring(ast.parse(path.read_text())) or ""
    for path in sorted((ROOT / "src" / "headgate").rglob("*.py"))
}
NAMING = {path: found for path, text in DOCSTRINGS.items() if (found := BENCHMARK.findall(text))}


@pytest.mark.parametrize("path", NAMING)
def test_the_benchmarks_that_a_docstring_names_exist(path: str) -> None:
    assert [name for name in NAMING[path] if not (ROOT / name).is_file()] == []


def test_whatever_is_clever_about_the_jvm_or_the_database_names_a_benchmark() -> None:
    doors = [path for path in DOCSTRINGS if "/spark/jvm/" in path and not path.endswith("__init__.py")]
    clever = ("sqlite_write_queue.py", "sqlite_group_fsync.py", "prepared_statements.py", "/snapshot.py")
    doors += [path for path in DOCSTRINGS if path.endswith(clever)]

    assert [path for path in doors if path not in NAMING] == []
    assert len(doors) >= 8
