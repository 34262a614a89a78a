"""Do the invariants hold in every order of events that a seed can think of?"""

import logging
import time
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.simulation.actors import End
from tests.simulation.run import ROUTES, run

SEEDS = 300
_BATCH = 100


@pytest.fixture(autouse=True)
def _without_the_publishers_warnings() -> Iterator[None]:
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("start", range(0, SEEDS, _BATCH))
def test_every_seed_keeps_every_invariant(start: int) -> None:
    began, ends = time.monotonic(), Counter[End]()

    for seed in range(start, start + _BATCH):
        ends += run(seed).ends

    print(f"{_BATCH / (time.monotonic() - began):.0f} seeds/s")
    assert set(ends) == set(End), "each way to end must occur, or the simulation is too kind"


def test_a_seed_decides_everything() -> None:
    for seed in range(2 * len(ROUTES)):
        assert _story(seed) == _story(seed)


def test_seeds_differ() -> None:
    assert len({_story(seed) for seed in range(20)}) == 20


def _story(seed: int) -> tuple[tuple[str, str, str], ...]:
    return tuple((actor, call, how) for actor, call, how, _ in run(seed).steps)
