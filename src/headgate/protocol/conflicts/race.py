"""A lost race on paper: our attempt, the commit that took its version, and what a row about the two is."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

import msgspec

from headgate.errors import ConflictError
from headgate.protocol.actions import AddFile, Commit, RemoveFile
from headgate.protocol.file_key import canonical_path
from headgate.protocol.log import replay
from headgate.protocol.log.replay import State
from headgate.protocol.transaction.attempt import Attempt

File = TypeVar("File", AddFile, RemoveFile)


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


def changed_places(ours: Attempt) -> Mapping[str, str]:
    """The paths that rules look for one by one, by their places; what was only read they compare by place."""
    paths = [file.path for file in _files(ours.writes)]
    if ours.rows is not None:
        paths += (*ours.rows.changed, *ours.rows.seen)
    return {canonical_path(path): path for path in paths}


def race_against(ours: Attempt, winner: Commit, mine: Mapping[str, str]) -> Race:
    """The race that ``ours`` lost; a file of ``mine`` has our path in it, however the winner spells it.

    ``mine`` are its ``changed_places``, which are the same behind every winner.
    """
    after = replay.advance(ours.follows, winner)
    if any(mine.get(canonical_path(file.path), file.path) != file.path for file in _files(winner)):
        winner = replace(winner, adds=_named_as(winner.adds, mine), removes=_named_as(winner.removes, mine))
    return Race(ours, winner, after)


def _files(commit: Commit) -> Iterator[AddFile | RemoveFile]:
    yield from commit.adds
    yield from commit.removes


def _named_as(files: tuple[File, ...], paths: Mapping[str, str]) -> tuple[File, ...]:
    named = ((file, paths.get(canonical_path(file.path), file.path)) for file in files)
    return tuple(
        file if file.path == path else msgspec.structs.replace(file, path=path) for file, path in named
    )


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
