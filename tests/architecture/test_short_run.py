"""A short run leaves out what it says: some parameters of some tests, and no test altogether."""

import re
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support import short_run
from tests.support.short_run import SAMPLES, SHORT, Sample

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Item:
    """A test as far as a short run looks at it."""

    nodeid: str


@dataclass(frozen=True, slots=True)
class Hook:
    """Remembers what was left out."""

    deselected: list[Any]

    def pytest_deselected(self, items: list[Any]) -> None:
        self.deselected.extend(items)


def _kept(names: list[str]) -> list[str]:
    items: list[Any] = [Item(name) for name in names]
    hook = Hook([])
    short_run.pytest_collection_modifyitems(SimpleNamespace(hook=hook), items)  # type: ignore[arg-type]
    assert len(items) + len(hook.deselected) == len(names)
    return [item.nodeid for item in items]


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SHORT, "1")
    monkeypatch.setattr(
        short_run, "SAMPLES", (Sample("tests/a/", 4, ("http-",)), Sample("tests/b/test_c.py", 2))
    )


@pytest.mark.usefixtures("short")
def test_one_in_so_many_parameters_of_each_test_stays_and_the_same_ones_each_time() -> None:
    names = [f"tests/a/test_x.py::test_{test}[http-{place}]" for test in "pq" for place in range(10)]

    kept = _kept(names)

    assert sorted(name.partition("[")[0][-1] for name in kept) == ["p"] * 3 + ["q"] * 3
    assert _kept(names[::-1]) == kept[::-1]


@pytest.mark.usefixtures("short")
def test_what_no_row_covers_and_a_test_without_parameters_stay() -> None:
    names = [
        "tests/a/test_x.py::test_p[sqlite]",
        "tests/a/test_x.py::test_q",
        "tests/b/test_c.py::test_r",
        "tests/b/test_d.py::test_s[1]",
        "tests/b/test_d.py::test_s[2]",
    ]

    assert _kept(names) == names


def test_whoever_calls_pytest_gets_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SHORT, raising=False)
    names = [f"{SAMPLES[0].path}test_x.py::test_p[http-{place}]" for place in range(10)]

    assert _kept(names) == names


def test_every_folder_that_has_tests_on_spark_is_in_a_part_that_runs_them() -> None:
    (named,) = re.findall('^beside="(.*)"$', (ROOT / "scripts" / "run-tests").read_text(), re.MULTILINE)
    tests = ROOT / "tests"
    marked = [path for path in tests.rglob("test_*.py") if "mark.spark" in path.read_text()]

    folders = {f"tests/{path.relative_to(tests).parts[0]}" for path in marked}
    assert folders == {*named.split(), "tests/spark"}


@pytest.mark.parametrize("row", SAMPLES, ids=lambda row: row.path)
def test_a_row_speaks_of_tests_that_exist(row: Sample) -> None:
    assert (ROOT / row.path).exists()
    assert row.one_in > 1
