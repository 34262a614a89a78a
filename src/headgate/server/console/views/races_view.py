"""Who lost a race for a version, to whom, and what follows? Told from the races that this server decided."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from headgate.catalog.ports.commits import TableId
from headgate.protocol.actions import Version
from headgate.protocol.conflicts.race import ConflictRule
from headgate.protocol.conflicts.rebase import STEPS
from headgate.server.operations.lost_races import LostRace


@dataclass(frozen=True, slots=True)
class RaceLine:
    """A proposal that found its version taken."""

    timestamp: int
    table: str
    loser: str
    target: int
    winners: tuple[tuple[int, str], ...]
    """The versions it lost to, and for whom each was ratified."""
    is_group: bool


def race_lines(
    races: Iterable[LostRace],
    names: Mapping[TableId, str],
    who: Callable[[TableId, Version], str],
) -> tuple[RaceLine, ...]:
    """The races for tables that have a name for who visits, the latest first."""
    return tuple(
        RaceLine(
            race.at_ms,
            names[race.table_id],
            race.principal,
            race.target,
            tuple((version, who(race.table_id, version)) for version in race.winners),
            race.is_group,
        )
        for race in races
        if race.table_id in names
    )


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
