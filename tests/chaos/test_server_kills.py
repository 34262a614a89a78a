"""Servers killed at every point, beside each other, and restarted under load: nothing is lost or doubled.

Clients see at most that a call takes longer: each of them returns, with an answer that is true.
"""

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.chaos import served
from tests.chaos.counts import ASKED, LONG
from tests.support.crashing import Point, Route
from tests.support.doomed_server import ROUTES, points_of
from tests.support.waiting import PATIENCE_SECONDS, until

ROUNDS_AT_A_POINT = max(1, ASKED // 20)
RESTARTS = max(4, ASKED)
CLIENT_THREADS = 4
COMMITS_BETWEEN_RESTARTS = 4


def _cases() -> list[tuple[Route, Point]]:
    """Every point of every route; in the test suite every point once, dealt to the routes that pass it."""
    every = [(route, point) for route in ROUTES for point in points_of(route)]
    if LONG:
        return every
    routes: dict[str, list[tuple[Route, Point]]] = {}
    for route, point in every:
        routes.setdefault(point.name, []).append((route, point))
    return [found[number % len(found)] for number, found in enumerate(routes.values())]


def test_a_server_killed_at_any_point_loses_and_doubles_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with served.a_served_ward("sqlite") as ward:
        for route, point in _cases() * ROUNDS_AT_A_POINT:
            ward.kill_at(route, point)

    assert len(ward.hits) == len(_cases())
    _tell(ward, "sqlite", capsys)


def test_one_of_two_servers_on_postgresql_is_killed_and_the_other_goes_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    cases = _cases() if LONG else _cases()[1::7]
    with served.a_served_ward("postgresql", instances=2) as ward:
        for route, point in cases * ROUNDS_AT_A_POINT:
            ward.kill_at(route, point)

    assert len(ward.hits) == len(cases)
    _tell(ward, "postgresql", capsys)


@pytest.mark.parametrize(("database", "instances"), [("sqlite", 1), ("postgresql", 2)])
def test_a_rolling_restart_under_load_is_noticed_by_nobody(database: str, instances: int) -> None:
    """In good order and by kill -9 in turn, while four threads of clients commit."""
    stop = threading.Event()

    def commit_until_stopped(ward: served.ServedWard, number: int) -> None:
        for route in itertools.cycle((Route.INLINE, Route.OPEN, Route.STAGED)):
            if stop.is_set():
                return
            client = ward.clients[number % instances]
            ward.append(client, route, ward.entries[number % 2])

    with served.a_served_ward(database, instances=instances) as ward:
        with ThreadPoolExecutor(CLIENT_THREADS) as pool:
            done = [pool.submit(commit_until_stopped, ward, number) for number in range(CLIENT_THREADS)]
            try:
                for restart in range(RESTARTS):
                    enough = len(ward.told) + COMMITS_BETWEEN_RESTARTS
                    until(lambda: len(ward.told) >= enough or any(each.done() for each in done))  # noqa: B023
                    instance = ward.instances[restart % instances]
                    instance.kill() if restart % 4 > 1 else instance.stop()
                    instance.start()
            finally:
                stop.set()
            for each in done:
                each.result(PATIENCE_SECONDS)
        ward.judge()

    assert len(ward.told) >= RESTARTS * COMMITS_BETWEEN_RESTARTS


def _tell(ward: served.ServedWard, database: str, capsys: pytest.CaptureFixture[str]) -> None:
    if LONG:
        with capsys.disabled():
            print(f"\n{database}: servers killed, 0 lost, 0 doubled, {len(ward.told):,} commits acknowledged")
            print("\n".join(f"  {hits:6,}  {point}" for point, hits in sorted(ward.hits.items())))
