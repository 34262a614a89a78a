"""Mistakes of who follows a winner: rules that are missing, or heard wrong."""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from functools import partial
from unittest.mock import patch

from headgate.protocol.actions import Commit
from headgate.protocol.conflicts import file_rules, rebase
from headgate.protocol.conflicts.race import Fix
from headgate.protocol.transaction import isolation, metadata_diff
from headgate.protocol.transaction.attempt import Attempt
from headgate.protocol.transaction.isolation import IsolationLevel
from tests.simulation.mutations.mutant import Mutant


def without(*names: str) -> AbstractContextManager[object]:
    """Nobody takes these steps of a rebase."""
    kept = tuple(step for step in rebase.STEPS if step.name not in names)
    if len(kept) + len(names) != len(rebase.STEPS):
        raise ValueError(f"there is no step {' or '.join(names)}")
    return patch.object(rebase, "STEPS", kept)


def _no_conflicts() -> AbstractContextManager[object]:
    mended = tuple(step for step in rebase.STEPS if isinstance(step, Fix))
    return patch.object(rebase, "STEPS", mended)


def _only_the_first_winner_counts() -> AbstractContextManager[object]:
    real = rebase.rebase

    def heedless(attempt: Attempt, winners: Iterable[Commit]) -> Attempt:
        first, *others = winners
        attempt = real(attempt, [first])
        with _no_conflicts():
            return real(attempt, others)

    return patch.object(rebase, "rebase", heedless)


def _every_append_may_come_later() -> AbstractContextManager[object]:
    return patch.object(file_rules, "_may_serialize_before", lambda race: not race.winner.removes)


def _everything_is_blind() -> AbstractContextManager[object]:
    return patch.object(Attempt, "is_blind_append", True)


def _partitions_never_overlap() -> AbstractContextManager[object]:
    return patch.object(file_rules, "_first_match", lambda *_: None)


def _every_change_is_harmless() -> AbstractContextManager[object]:
    return patch.object(metadata_diff, "incompatible_change", lambda *_: None)


def _everybody_is_only_rearranging() -> AbstractContextManager[object]:
    return patch.object(isolation, "choose_level", lambda *_, **__: IsolationLevel.SNAPSHOT)


_RULES = (
    ("metadata-vs-metadata", "two change the metadata, and one undoes the other's change"),
    ("metadata-changed", "who did not see a change of the metadata commits after it"),
    ("application-transaction", "who did not see an application's last transaction commits the next"),
    ("append-vs-read", "who read a partition does not mind what is added to it"),
    ("delete-vs-read", "who read a file does not mind that it is removed"),
    ("delete-vs-delete", "two remove the same file"),
)

MUTANTS: tuple[Mutant, ...] = (
    Mutant("no-conflicts", "a rebase does not check for conflicts", _no_conflicts),
    Mutant("no-protocol-vs-protocol", "two change the protocol, and one undoes the other's change",
           partial(without, "protocol-vs-protocol", "upgrade")),
    *(Mutant(f"no-{name}", mistake, partial(without, name)) for name, mistake in _RULES),
    Mutant("first-winner-only", "of several winners only the first is checked for conflicts",
           _only_the_first_winner_counts),
    Mutant("appends-come-later", "whatever only adds files counts as having come later, on every table",
           _every_append_may_come_later),
    Mutant("everything-is-blind", "whoever writes says that it read nothing", _everything_is_blind),
    Mutant("partitions-never-overlap", "what was read by partition overlaps with nothing",
           _partitions_never_overlap),
    Mutant("every-change-is-harmless", "no change of properties stops who did not see it",
           _every_change_is_harmless),
    Mutant("everybody-rearranges", "every commit has the isolation level of those that change no rows",
           _everybody_is_only_rearranging),
)  # fmt: skip
