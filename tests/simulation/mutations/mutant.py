"""What a mutant is."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from tests.simulation.faults import Fault

Mutation = Callable[[], AbstractContextManager[object]]


@dataclass(frozen=True, slots=True)
class Mutant:
    """One way to be wrong.

    ``needs`` is a fault that shows it, together with those of ``beside``, which alone do not.
    """

    name: str
    mistake: str
    mutation: Mutation
    needs: Fault | None = None
    beside: frozenset[Fault] = frozenset()
