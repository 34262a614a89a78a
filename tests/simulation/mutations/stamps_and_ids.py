"""Mistakes in what a commit is given anew when it follows a winner: timestamps, row ids, domains."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import Any
from unittest.mock import patch

from headgate.protocol.actions import Action, Commit, CommitInfo, EpochMillis, Metadata
from headgate.protocol.conflicts import rebase, row_id_backfill
from headgate.protocol.conflicts.race import Fix, Race
from headgate.protocol.features import row_tracking
from headgate.protocol.log import in_commit_timestamps
from headgate.protocol.log.replay import State
from headgate.protocol.log.timestamps import ENABLEMENT_VERSION, VersionTimestamp
from headgate.protocol.transaction.attempt import BLIND, ROW_ID_BACKFILL, Attempt
from headgate.table import transaction
from headgate.table.transaction import Change, Transaction
from tests.simulation.faults import Fault
from tests.simulation.mutations.conflicts import without
from tests.simulation.mutations.mutant import Mutant


def _timestamp_is_not_rebased() -> AbstractContextManager[object]:
    rebased = Transaction.rebased_onto

    def rebased_onto(self: Transaction, winners: Sequence[Commit]) -> Transaction:
        moved = rebased(self, winners)
        return replace(moved, attempt=replace(moved.attempt, timestamp=self.timestamp))

    return patch.object(Transaction, "rebased_onto", rebased_onto)


def _timestamp_is_the_clock() -> AbstractContextManager[object]:
    real = transaction.begin

    def begin(state: State, change: Change, **rest: Any) -> Transaction:
        long_ago = CommitInfo(in_commit_timestamp=EpochMillis(0))
        return real(replace(state, info=long_ago), change, **rest)

    return patch.object(transaction, "begin", begin)


def _provenance_is_said_once() -> AbstractContextManager[object]:
    real = in_commit_timestamps.with_enablement

    def with_provenance(before: Metadata, written: Metadata, stamp: VersionTimestamp) -> Metadata:
        return written if ENABLEMENT_VERSION in written.configuration else real(before, written, stamp)

    return patch.object(in_commit_timestamps, "with_enablement", with_provenance)


def _stamps_begin_before_the_files() -> AbstractContextManager[object]:
    real = transaction.begin

    def begin(
        state: State, change: Change, *, file_time: EpochMillis | None = None, **rest: Any
    ) -> Transaction:
        return real(state, change, file_time=None if file_time is None else EpochMillis(0), **rest)

    return patch.object(transaction, "begin", begin)


def _given(**other: Any) -> AbstractContextManager[object]:
    real = row_tracking.assign_row_ids

    def given(ours: Attempt, state: State, **rest: Any) -> tuple[Action, ...]:
        asked = {name: change(state) for name, change in other.items()}
        return real(ours, state, **{**rest, **asked})

    return patch.object(row_tracking, "assign_row_ids", given)


def _instead(name: str, mend: Callable[[Race], Attempt]) -> AbstractContextManager[object]:
    steps = tuple(Fix(name, mend, "a mutation") if step.name == name else step for step in rebase.STEPS)
    return patch.object(rebase, "STEPS", steps)


def _backfill_brings_back() -> AbstractContextManager[object]:
    def mend(race: Race) -> Attempt:
        if race.ours.operation == ROW_ID_BACKFILL:
            return replace(race.ours, reads=BLIND)
        return row_id_backfill.rebase_backfill(race)

    return _instead("backfill", mend)


def _handlers_get_the_base_that_was_read() -> AbstractContextManager[object]:
    real = next(step for step in rebase.STEPS if step.name == "domains")

    def mend(race: Race) -> Attempt:
        ours = race.ours
        stuck = replace(ours, follows=replace(ours.follows, domains=ours.read.domains))
        return replace(real.apply(race.with_ours(stuck)), follows=ours.follows)

    return _instead("domains", mend)


MUTANTS: tuple[Mutant, ...] = (
    Mutant("timestamp-not-rebased", "a rebase keeps its in-commit timestamp", _timestamp_is_not_rebased),
    Mutant("timestamp-is-the-clock", "the in-commit timestamp is the clock's, whatever the previous one was",
           _timestamp_is_the_clock, Fault.CLOCK_BACK),
    Mutant("provenance-said-once", "switching timestamps on says since when, and a rebase leaves that",
           _provenance_is_said_once),
    Mutant("stamps-before-files", "the first in-commit timestamp ignores when the file before was written",
           _stamps_begin_before_the_files, Fault.CLOCK_BACK),
    Mutant("row-ids-stay", "a rebase keeps the row ids it gave", partial(without, "row-ids")),
    Mutant("lost-ids-are-old", "ids up to the winner's mark count as given long ago",
           partial(_given, read_mark=row_tracking.high_water_mark)),
    Mutant("row-version-stays", "a rebase keeps the row commit version of the version it lost",
           partial(_given, lost=lambda _: None)),
    Mutant("backfill-brings-back", "a backfill adds files that a winner removed", _backfill_brings_back),
    Mutant("domains-last-writer", "a domain that two wrote is what the last one wrote",
           partial(without, "domains")),
    Mutant("handler-base-is-stale", "a handler gets the domain as it was read, for every winner",
           _handlers_get_the_base_that_was_read),
)  # fmt: skip
