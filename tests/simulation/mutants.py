"""What if the product were wrong? Each mutant breaks one thing; the simulation must notice.

A mutant that names the fault it ``needs`` is invisible without it, which is why the simulator has
that fault. mutants.md says the same in a table, and test_mutants.py proves it.
"""

import logging
import os
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import chain

from headgate.errors import HeadgateError
from tests.simulation.faults import EVERY_FAULT, Fault
from tests.simulation.ledger import Violation
from tests.simulation.mutations import (
    catalog,
    commit_loop,
    conflicts,
    filesystem,
    owners,
    publishing,
    reading,
    stamps_and_ids,
)
from tests.simulation.mutations.mutant import Mutant
from tests.simulation.run import Failed, run
from tests.support.turnstile import NoProgress

_PARTS = (commit_loop, conflicts, stamps_and_ids, catalog, filesystem, owners, publishing, reading)
MUTANTS: tuple[Mutant, ...] = tuple(chain.from_iterable(part.MUTANTS for part in _PARTS))


def first_killing_seed(mutant: Mutant, seeds: range, faults: frozenset[Fault] = EVERY_FAULT) -> int | None:
    """The first of ``seeds`` whose simulation notices the mutant."""
    for seed in seeds:
        try:
            with mutant.mutation():
                run(seed, faults)
        except Failed as exc:
            if not isinstance(exc.why, Violation | NoProgress | HeadgateError):
                raise  # the mutation itself is broken
            return seed
    return None


def alone(mutant: Mutant, bound: int) -> int | None:
    """The first seed that shows the mutant with its fault alone, if no seed up to it does without."""
    if mutant.needs is None:
        return None
    seed = first_killing_seed(mutant, range(bound), mutant.beside | {mutant.needs})
    if seed is None or first_killing_seed(mutant, range(seed + 1), mutant.beside) is not None:
        raise ValueError(f"{mutant.name} does not need {mutant.needs.value}: {seed}")
    return seed


def render(bound: int) -> str:
    """The text of mutants.md, its seeds found anew among the first ``bound``."""
    with ProcessPoolExecutor(os.cpu_count(), initializer=quiet) as pool:
        return _PAGE.format(rows="\n".join(pool.map(partial(_row, bound=bound), range(len(MUTANTS)))))


def _row(number: int, *, bound: int) -> str:
    mutant = MUTANTS[number]
    needs = " after a ".join(fault.value for fault in (mutant.needs, *mutant.beside) if fault)
    shown = f"{needs}, seed {alone(mutant, bound)}" if needs else "–"
    return f"| `{mutant.name}` | {mutant.mistake} | {shown} | {first_killing_seed(mutant, range(bound))} |"


def quiet() -> None:
    """Failures to publish are what the simulation is about, so nobody is warned of them."""
    logging.disable(logging.WARNING)


_PAGE = """# Mutants

Why does the simulator have these faults and no others? Because each of them finds a mistake that goes
unnoticed without it. A fault in `faults.py` that no row needs has to go; a new fault arrives with a mutant.

"Shown by" says: with this fault alone switched on, that seed is the first to kill the mutant, and up to it
races without any fault do not ("after a crash": the same, with crashes on in both cases). A dash says that
races alone show the mistake, or that more than one fault does. The last column is the first seed that kills
the mutant with every fault on. `test_mutants.py` plays the seeds that are named here;
`python -m tests.simulation --mutants` finds them, and writes this page anew after a change of the product or
of the simulator has moved them.

| mutant | the mistake | shown by | killed first by seed |
|---|---|---|---|
{rows}
"""
