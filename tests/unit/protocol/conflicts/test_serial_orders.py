"""Transactions that run at once end as if they had run one after another.

Pairs and triples of small programs, in every order of their commits, by every route: what is in
the table afterwards is what those that committed would have left, serially. At Serializable in the
order of their versions; at WriteSerializable in some order, if all of them began at the same version.
"""

from collections.abc import Sequence
from itertools import pairwise, permutations
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.protocol.conflicts import rebase
from headgate.protocol.conflicts.file_rules import FILE_RULES
from headgate.protocol.features import row_tracking
from tests.support.programs import KINDS, PARTITIONS, Bench, Program, Rows, serially
from tests.support.routes import COORDINATED, ROUTES, coordinate, create, open_table

EVERY_ROUTE = (*ROUTES, COORDINATED)
START = Rows({1: ("a", "b"), 2: ("c",)})
RELAXED = "set:delta.isolationLevel=WriteSerializable"
TABLES = {
    "partitioned": ("partitioned:p",),
    "unpartitioned": (),
    "relaxed": ("partitioned:p", RELAXED),
    "relaxed-unpartitioned": (RELAXED,),
    "tracked": ("partitioned:p", "tracked"),
}
PROGRAMS = st.builds(
    Program, st.sampled_from(KINDS), st.sampled_from(PARTITIONS), st.sampled_from(PARTITIONS)
)
Late = Sequence[int]
"""For each program how many of the others it had seen commit when it began."""


def bench(route: str, words: Sequence[str]) -> Bench:
    if route == COORDINATED:
        made = Bench(coordinate(create(words, managed=False)))
    else:
        made = Bench(open_table(create(words, managed=route != "filesystem"), route))
    made.fill(START)
    return made


def run(made: Bench, programs: Sequence[Program], late: Late = ()) -> list[tuple[str, Program]]:
    """Commit the programs in this order; those that were not refused, by name."""
    snapshots = [made.table.snapshot()]
    done = []
    for number, program in enumerate(programs):
        base = snapshots[min(late[number], number) if late else 0]
        if made.commit(f"t{number}", program, base):
            done.append((f"t{number}", program))
        snapshots.append(made.table.snapshot())
    return done


def is_right(made: Bench, done: Sequence[tuple[str, Program]], *, relaxed: bool) -> bool:
    found = made.rows()
    if not relaxed:
        return found == serially(START, done)
    return any(found == serially(START, order) for order in permutations(done))


@pytest.mark.parametrize("kind", TABLES)
@settings(max_examples=40, deadline=None)
@given(
    st.lists(PROGRAMS, min_size=2, max_size=3),
    st.lists(st.integers(0, 2), min_size=3, max_size=3),
    st.sampled_from(EVERY_ROUTE),
)
def test_what_is_committed_is_what_some_serial_order_leaves(
    kind: str, programs: list[Program], late: list[int], route: str
) -> None:
    relaxed = kind.startswith("relaxed")
    for order in permutations(programs):
        made = bench(route, TABLES[kind])
        done = run(made, order, () if relaxed else late)

        assert is_right(made, done, relaxed=relaxed), (order, done, made.rows())
        if kind == "tracked":
            _check_row_ids(made)


def _check_row_ids(made: Bench) -> None:
    """Every file has its own ids, and the mark is the last of them ever given."""
    snapshot = made.table.snapshot()
    firsts = sorted(snapshot.files.columns["base_row_id"].to_pylist())
    assert all(after - before >= 10 for before, after in pairwise(firsts))
    assert not firsts or firsts[-1] + 9 <= row_tracking.high_water_mark(snapshot.state)


@pytest.mark.parametrize("route", EVERY_ROUTE)
@pytest.mark.parametrize("kind", ["append", "copy", "delete", "rewrite"])
def test_programs_of_different_partitions_do_not_meet(route: str, kind: str) -> None:
    """S220: or the tests above could pass by refusing everything."""
    made = bench(route, TABLES["partitioned"])

    assert len(run(made, [Program(kind, 1, 1), Program(kind, 2, 2), Program("append", 1, 1)])) == 3


@pytest.mark.parametrize(("kind", "committed"), [("partitioned", 2), ("relaxed", 3)])
def test_write_serializable_is_as_weak_as_delta_has_it(kind: str, committed: int) -> None:
    """The second saw the first, the third saw neither: no order explains it, and Serializable refuses."""
    made = bench("filesystem", TABLES[kind])
    programs = [Program("append", 1, 2), Program("summarise", 1, 1), Program("copy", 2, 1)]

    done = run(made, programs, [0, 1, 0])

    assert len(done) == committed
    assert is_right(made, done, relaxed=True) is (kind == "partitioned")


@pytest.mark.parametrize("rule", FILE_RULES[:2], ids=lambda rule: rule.name)
def test_a_missing_rule_would_be_noticed(rule: object) -> None:
    races = [
        [Program("append", 1, 1), Program("copy", 1, 2)],
        [Program("delete", 1, 1), Program("rewrite", 1, 1)],
        [Program("delete", 1, 1), Program("copy", 1, 2)],
    ]
    steps = tuple(step for step in rebase.STEPS if step is not rule)

    with patch.object(rebase, "STEPS", steps):
        wrong = []
        for programs in races:
            made = bench("filesystem", TABLES["partitioned"])
            wrong.append(not is_right(made, run(made, programs), relaxed=False))

    assert any(wrong)


def test_committed_rows_say_how_they_were_isolated() -> None:
    made = bench("filesystem", TABLES["relaxed"])
    run(made, [Program("tidy", 1, 1), Program("append", 2, 2)])

    told = [entry.info.isolation_level for entry in made.table.history(limit=2)]

    assert told == ["WriteSerializable", "SnapshotIsolation"]
