"""Would the mutation run notice a test that is missing, and is what it lets pass still there?"""

import pytest

from tests.mutation.changes import Mutant, mutants
from tests.mutation.modules import TESTS
from tests.mutation.run import ROOT, Fate, judge, mutants_of, source
from tests.mutation.survivors import Survivor, explained

_RULES = "catalog.rules"


def _mutant(text: str, change: str) -> Mutant:
    return next(
        mutant for mutant in mutants_of(_RULES) if text in mutant.text and mutant.change.endswith(change)
    )


def test_a_mutant_dies_where_a_test_notices_it_and_survives_where_none_does() -> None:
    boundary = _mutant("if target > head.latest + 1:", "`target >= head.latest + 1`")
    default = _mutant("any_version: bool = False", "`True`")
    noticing, blind = {_RULES: ("tests/unit/test_rules.py",)}, {_RULES: ("tests/unit/test_scratch.py",)}

    assert [found.fate for found in judge([boundary, default], noticing)] == [Fate.KILLED, Fate.KILLED]
    assert [found.fate for found in judge([_mutant("any_version: bool", "`True`")], blind)] == [Fate.SURVIVED]


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


@pytest.mark.parametrize(("survivor", "reason"), explained().items(), ids=lambda found: found[0])
def test_every_survivor_explained_is_still_a_mutant(survivor: Survivor, reason: str) -> None:
    module, text, change = survivor

    assert (text, change) in {(mutant.text, mutant.change) for mutant in mutants_of(module)}
    assert reason.partition(":")[0] in ("equivalent", "message", "performance")
