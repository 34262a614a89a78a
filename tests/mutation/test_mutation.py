"""Would the mutation run notice a test that is missing, and is what it lets pass still there?"""

import subprocess
import sys
from functools import cache

import pytest

from tests.mutation.changes import Mutant, mutants
from tests.mutation.modules import TESTS
from tests.mutation.run import ROOT, Fate, judge, mutants_of, source
from tests.mutation.survivors import Survivor, explained

_RULES = "catalog.decision"


def _mutant(text: str, change: str) -> Mutant:
    return next(
        mutant for mutant in mutants_of(_RULES) if text in mutant.text and mutant.change.endswith(change)
    )


def fates(tests: str) -> list[str]:
    """What becomes of a mutant of a function, and of one of a module, under these tests."""
    boundary = _mutant("if target > head.latest + 1:", "`target >= head.latest + 1`")
    default = _mutant("any_version: bool = False", "`True`")
    return [found.fate.name for found in judge([boundary, default], {_RULES: (tests,)})]


@pytest.mark.parametrize(
    ("tests", "fate"),
    [
        ("tests/unit/catalog/test_decision.py", Fate.KILLED),
        ("tests/unit/protocol/log/test_timestamps.py", Fate.SURVIVED),
    ],
)
def test_a_mutant_dies_where_a_test_notices_it_and_survives_where_none_does(tests: str, fate: Fate) -> None:
    # In a process of its own, as the run has it: forks of one that has done much else are too large.
    code = f"from tests.mutation import test_mutation; print(*test_mutation.fates({tests!r}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)

    assert done.stdout.split() == [fate.name, fate.name]


@pytest.mark.parametrize(
    ("line", "changes"),
    [
        (
            "if a < b: go()",
            ["`a < b` → `True`", "`a < b` → `False`", "`a < b` → `a <= b`", "`a < b` → `a >= b`"],
        ),
        ("x = a and b", ["without `a`", "without `b`"]),
        ("x = not a", ["`not a` → `a`"]),
        ("x = 3", ["`3` → `4`", "`3` → `2`"]),
        ("x = min(a, b)", ["`min` → `max`"]),
        ("ROWS = (a, b)", ["without `a`", "without `b`"]),
        ("x = [a for a in b if a]", ["without `if a`"]),
        ("raise a", ["`raise a` → nothing"]),
        ("x = a if b else c", ["always `a`", "always `c`"]),
        ("x = f(a, b=c)", ["without `b=c`"]),
        ("x: int | None = f'{a < b}'", []),
    ],
)
def test_the_changes_of_a_line(line: str, changes: list[str]) -> None:
    found = [mutant.change for mutant in mutants("m", line) if mutant.change != "`go()` → nothing"]

    assert found == changes


def test_every_module_and_every_test_named_is_there() -> None:
    assert [module for module in TESTS if not source(module).exists()] == []
    assert sorted({path for paths in TESTS.values() for path in paths if not (ROOT / path).exists()}) == []


@cache
def _changes(module: str) -> frozenset[tuple[str, str]]:
    return frozenset((mutant.text, mutant.change) for mutant in mutants_of(module))


@pytest.mark.parametrize(("survivor", "reason"), explained().items(), ids=lambda found: found[0])
def test_every_survivor_explained_is_still_a_mutant(survivor: Survivor, reason: str) -> None:
    module, text, change = survivor

    assert (text, change) in _changes(module)
    assert reason.partition(":")[0] in ("equivalent", "message", "performance")
