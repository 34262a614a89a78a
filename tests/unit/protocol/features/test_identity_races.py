"""Values of identity columns under concurrency: whatever runs at once, by any route, none comes twice."""

import threading
from collections.abc import Sequence
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.errors import MetadataChanged
from headgate.protocol.conflicts import rebase
from headgate.protocol.conflicts.metadata_rules import METADATA_RULES
from headgate.protocol.features import identity_columns
from headgate.spark.write import identity_high_water
from headgate.spark.write.identity_high_water import HighWaterConflict
from headgate.table.opened_table import OpenedTable
from headgate.table.transaction import Change, Operation
from tests.support.routes import COORDINATED, ROUTES, coordinate, create, open_table
from tests.support.tables import named_file

EVERY_ROUTE = (*ROUTES, COORDINATED)
LOST = MetadataChanged("lost")
Taken = list[range]


def opened(route: str) -> OpenedTable:
    if route == COORDINATED:
        return coordinate(create(["identity"], managed=False))
    return open_table(create(["identity"], managed=route != "filesystem"), route)


def all_of(taken: Taken) -> list[int]:
    return sorted(value for some in taken for value in some)


@pytest.mark.parametrize("route", EVERY_ROUTE)
def test_values_reserved_by_many_threads_are_each_reserved_once(route: str) -> None:
    table = opened(route)
    taken: Taken = []
    together = threading.Barrier(4)

    def reserve(number: int) -> None:
        together.wait()
        for turn in range(4):
            held = identity_high_water.reserve(table, HighWaterConflict({"id": number + turn + 1}, LOST))
            last = held.after["id"].mark or 0
            taken.append(range((held.before["id"] or 0) + 1, last + 1))

    threads = [threading.Thread(target=reserve, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(taken) == 16
    assert all_of(taken) == list(range(1, sum(map(len, taken)) + 1)), "none twice, and none left out"


def run(table: OpenedTable, writers: Sequence[tuple[int, int]]) -> Taken:
    """Each writer saw the table some commits ago, and gives so many values; what was committed of them."""
    seen = [table.snapshot()]
    taken: Taken = []
    for number, (late, count) in enumerate(writers):
        base = seen[max(0, len(seen) - 1 - late)]
        known = identity_columns.columns_of_table(base.state.metadata)["id"]
        mark = known.beyond(count).mark
        change = Change(
            Operation("WRITE"),
            (
                identity_columns.with_high_water_marks(base.state.metadata, {"id": mark}),
                named_file(f"{number}.parquet"),
            ),
        )
        try:
            table.commit(change, base=base)
        except MetadataChanged:
            continue
        taken.append(range(known.following, (mark or 0) + 1))
        seen.append(table.snapshot())
    return taken


WRITERS = st.lists(st.tuples(st.integers(0, 3), st.integers(1, 9)), min_size=1, max_size=6)


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(EVERY_ROUTE), WRITERS)
def test_of_writers_that_began_at_the_same_mark_one_commits(
    route: str, writers: Sequence[tuple[int, int]]
) -> None:
    taken = run(opened(route), writers)

    assert all_of(taken) == list(range(1, sum(map(len, taken)) + 1))
    assert len(taken) >= len([late for late, _ in writers if late == 0])


def test_without_the_rules_values_would_be_given_twice() -> None:
    kept = tuple(step for step in rebase.STEPS if step not in METADATA_RULES)

    with patch.object(rebase, "STEPS", kept):
        taken = all_of(run(opened("filesystem"), [(0, 3), (1, 3)]))

    assert taken == [1, 1, 2, 2, 3, 3]
