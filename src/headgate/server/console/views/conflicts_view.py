"""When does who lost a race have to begin again? The rules of every rebase, as lines of a page."""

from dataclasses import dataclass

from headgate.protocol.conflicts.race import ConflictRule
from headgate.protocol.conflicts.rebase import STEPS


@dataclass(frozen=True, slots=True)
class ConflictRuleLine:
    """A rule of conflicts, the error it raises, and what its objection is called."""

    name: str
    error: str
    says: str


def conflict_rules() -> tuple[ConflictRuleLine, ...]:
    """The rules in the order in which they are asked."""
    return tuple(
        ConflictRuleLine(step.name, step.error.__name__, _words(step.objection.__name__))
        for step in STEPS
        if isinstance(step, ConflictRule)
    )


def _words(name: str) -> str:
    """Conflict predicates are named as sentences."""
    return name.strip("_").replace("_", " ")
