"""A lost race on paper: our attempt, the commit that took its version, and what a row about the two is."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from headgate.errors import ConflictError
from headgate.protocol.actions import Commit
from headgate.protocol.log.replay import State
from headgate.protocol.transaction.attempt import Attempt


@dataclass(frozen=True, slots=True)
class Race:
    """Our attempt, the winner, and the table after the winner."""

    ours: Attempt
    winner: Commit
    after: State

    @property
    def winner_operation(self) -> str:
        info = self.winner.info
        return info.operation if info is not None and info.operation else "an unnamed operation"

    @property
    def outcome(self) -> str:
        """Who lost what to whom, and what to do, for the end of a message."""
        return (
            f"{self.ours.operation} began at version {self.ours.read.version} and lost version "
            f"{self.winner.version} to {self.winner_operation}; nothing was committed, run the operation "
            "again on the new version"
        )

    def with_ours(self, ours: Attempt) -> "Race":
        """The same race, our attempt mended."""
        return self if ours is self.ours else replace(self, ours=ours)


@dataclass(frozen=True, slots=True)
class ConflictRule:
    """One row: an objection to following the winner, and the error that states it."""

    name: str
    objection: Callable[[Race], str | None]
    error: type[ConflictError]
    code: str | None = None
    """Where the error's own code is not the exact one."""

    def apply(self, race: Race) -> Attempt:
        """Our attempt as it is, or the error."""
        if reason := self.objection(race):
            raise self.error(
                f"{reason}; {race.outcome}",
                code=self.code, rule=self.name, winner=race.winner.version, operation=race.ours.operation,
                winner_operation=race.winner_operation,
            )  # fmt: skip
        return race.ours


@dataclass(frozen=True, slots=True)
class Fix:
    """One row: what must be mended in our attempt so that it may follow the winner."""

    name: str
    mend: Callable[[Race], Attempt]
    does: str

    def apply(self, race: Race) -> Attempt:
        """Our attempt, mended."""
        return self.mend(race)


Step = ConflictRule | Fix
