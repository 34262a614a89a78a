"""Would the simulation notice if the product were wrong, and is each of its faults needed for that?"""

import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.simulation.faults import Fault
from tests.simulation.mutants import MUTANTS, alone, first_killing_seed
from tests.simulation.mutations.mutant import Mutant

BOUND = 1_000
_ROW = re.compile(r"\| `([a-z-]+)` \| .* \| (?:–|.*, seed (\d+)) \| (\d+) \|")
_PAGE = Path(__file__).with_name("mutants.md").read_text()
LISTED = {name: int(seed) for name, _, seed in _ROW.findall(_PAGE)}
ALONE = {name: int(seed) for name, seed, _ in _ROW.findall(_PAGE) if seed}


@pytest.fixture(autouse=True)
def _without_the_publishers_warnings() -> Iterator[None]:
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_simulation_kills(mutant: Mutant) -> None:
    assert _kill(mutant) is not None, f"{mutant.mistake}: nobody noticed in {BOUND} seeds"


@pytest.mark.parametrize(
    "mutant", [mutant for mutant in MUTANTS if mutant.needs], ids=lambda mutant: mutant.name
)
def test_its_fault_shows_what_nobody_notices_without_it(mutant: Mutant) -> None:
    assert mutant.needs is not None
    faults, seed = mutant.beside | {mutant.needs}, ALONE[mutant.name]

    if first_killing_seed(mutant, range(seed, seed + 1), faults) is None:
        seed = alone(mutant, BOUND) or 0  # the page is out of date, which is no mistake yet

    assert first_killing_seed(mutant, range(seed, seed + 1), faults) == seed
    assert first_killing_seed(mutant, range(seed, seed + 1), mutant.beside) is None


def test_every_fault_is_needed_by_a_mutant() -> None:
    assert {mutant.needs for mutant in MUTANTS} >= set(Fault)


def test_the_page_lists_the_mutants_there_are() -> None:
    assert list(LISTED) == [mutant.name for mutant in MUTANTS]


def _kill(mutant: Mutant) -> int | None:
    listed = LISTED[mutant.name]
    if first_killing_seed(mutant, range(listed, listed + 1)) is not None:
        return listed
    return first_killing_seed(mutant, range(BOUND))  # the page is out of date, which is no mistake yet
