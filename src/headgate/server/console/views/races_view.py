"""Who lost a race for a version, to whom, and what follows? Told from the races that this server decided."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from headgate.catalog.ports.commits import TableId
from headgate.errors import ConflictError, UserError
from headgate.protocol.actions import Action, Commit, CommitInfo, EpochMillis, Version
from headgate.protocol.conflicts import rebase
from headgate.protocol.conflicts.race import ConflictRule
from headgate.protocol.conflicts.rebase import STEPS
from headgate.protocol.domains.rules import Handlers
from headgate.protocol.log.replay import State
from headgate.protocol.transaction.attempt import BLIND, Attempt
from headgate.server.operations.lost_races import LostRace


@dataclass(frozen=True, slots=True)
class RaceLine:
    """A proposal that found its version taken."""

    race_id: str
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
    """The races for tables that have a name for the visitor, the latest first."""
    return tuple(
        RaceLine(
            race.race_id,
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


_SIDES = (
    ("winner ", "the winner "),
    ("we would ", "the loser would "),
    ("we drop ", "the loser drops "),
    ("we take ", "the loser takes "),
    ("we ", "the loser "),
)
"""The two sides as conflict predicates name them, and as a page does."""


def _words(name: str) -> str:
    """Conflict predicates are named as sentences of who lost."""
    words = f" {name.strip('_').replace('_', ' ')}"
    for ours, theirs in _SIDES:
        words = words.replace(f" {ours}", f" {theirs}")
    return words.strip().replace("the the ", "the ")


@dataclass(frozen=True, slots=True)
class WantedCommit:
    """What the loser wanted to commit, by its own word."""

    operation: str
    predicate: str
    read_version: int | None
    added_files: int
    removed_files: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """A winner, and what the rules of conflicts say of following it."""

    version: int
    operation: str
    rule: str = ""
    """The first rule that objects; empty if none does."""
    error: str = ""
    reason: str = ""
    depends_on_reads: bool = False
    """Whether the rule is about what was read, of which the writer knows more than its commit says."""
    files: tuple[str, ...] = ()
    """Some of the files that the winner added or removed."""


_ABOUT_READS = frozenset({"append-vs-read", "delete-vs-read", "row-vs-read", "domain-read"})
_MOST_FILES = 3


def wanted_commit(actions: tuple[Action, ...], commit: Commit) -> WantedCommit:
    """What a commit that lost says of itself."""
    info = commit.info or CommitInfo()
    said = info.operation_parameters or {}
    predicate = said.get("predicate") or said.get("condition") or ""
    return WantedCommit(
        info.operation or f"{len(actions)} actions",
        predicate if isinstance(predicate, str) else str(predicate),
        info.read_version,
        len(commit.adds),
        len(commit.removes),
    )


def verdicts(
    actions: tuple[Action, ...], before: State, winners: Iterable[Commit], handlers: Handlers
) -> Iterator[Verdict]:
    """What the rules say of each winner, up to the first that must not be followed.

    They are asked as a writer asks them, with no more than the commit itself tells of what it read.
    """
    info = next((action for action in actions if isinstance(action, CommitInfo)), CommitInfo())
    attempt = Attempt(
        read=before,
        follows=before,
        operation=info.operation or "the commit",
        reads=BLIND,
        actions=tuple(action for action in actions if not isinstance(action, CommitInfo)),
        timestamp=info.in_commit_timestamp or EpochMillis(0),
        handlers=lambda: handlers,
    )
    for winner in winners:
        operation = (winner.info.operation if winner.info is not None else None) or "unnamed"
        paths = [*(each.path for each in winner.removes), *(each.path for each in winner.adds)]
        files = tuple(paths[:_MOST_FILES])
        try:
            attempt = rebase.rebase(attempt, [winner])
        except ConflictError as exc:
            rule = str(exc.fields.get("rule", ""))
            reason = exc.message.partition("; ")[0]
            error, by_reads = type(exc).__name__, rule in _ABOUT_READS
            yield Verdict(winner.version, operation, rule, error, reason, by_reads, files)
            return
        except UserError as exc:
            yield Verdict(winner.version, operation, exc.code, type(exc).__name__, exc.message, files=files)
            return
        yield Verdict(winner.version, operation, files=files)
