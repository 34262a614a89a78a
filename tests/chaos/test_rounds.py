"""Writers killed at every point of every route, on both databases, and at any moment: tables stay whole."""

import os
import random

import pytest

from tests.chaos import rounds
from tests.chaos.counts import AT_A_POINT, AT_ANY_MOMENT, LONG
from tests.support.crashing import Route

SEED = os.environ.get("HEADGATE_CHAOS_SEED", str(random.randrange(10**9)) if LONG else "0")
DATABASES = ("sqlite", "postgresql")


@pytest.mark.parametrize(
    "route", (*rounds.ROUTES, Route.CREATE), ids=lambda route: route.value.replace(" ", "-")
)
@pytest.mark.parametrize("database", DATABASES)
def test_a_writer_killed_at_any_point_leaves_every_table_whole(
    database: str, route: Route, capsys: pytest.CaptureFixture[str]
) -> None:
    points = rounds.cases(route)
    if not LONG and database == "postgresql":
        points = points[1::4]
    with rounds.a_ward(database) as ward:
        for _ in range(AT_A_POINT):
            for point in points:
                ward.kill_at(route, point)

    assert len(ward.hits) == len(points)
    assert min(ward.hits.values()) >= AT_A_POINT
    _tell(rounds.show(ward, database), capsys)


@pytest.mark.parametrize("database", DATABASES)
def test_a_writer_killed_at_any_moment_leaves_every_table_whole(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random(f"{SEED}-{database}")
    with rounds.a_ward(database) as ward:
        for _ in range(AT_ANY_MOMENT):
            ward.kill_any_time(chance)

    assert ward.hits.total() == AT_ANY_MOMENT
    assert ward.hits["in time"] > AT_ANY_MOMENT // 10
    _tell(f"{rounds.show(ward, database)}\n  seed {SEED}", capsys)


def _tell(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    if LONG:
        with capsys.disabled():
            print(f"\n{text}")
