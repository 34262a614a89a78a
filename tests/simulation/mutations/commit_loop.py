"""Mistakes of the commit loop: what it makes of answers, and of their absence."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from headgate.catalog.ports.commits import Open, Ratified, Unknown
from headgate.errors import CommitUnknown, HeadgateError, RetriesExhausted, Retry
from headgate.protocol.actions import Commit, Version
from headgate.protocol.transaction.txn_ids import ProposedTxn
from headgate.table.commit import loop
from headgate.table.committer import Committer
from headgate.table.opened_table import OpenedTable
from headgate.table.transaction import Transaction
from tests.simulation.faults import Fault
from tests.simulation.mutations.catalog import forgotten_ids
from tests.simulation.mutations.mutant import Mutant

_propose = loop._propose


def _failed(txn: Transaction) -> RetriesExhausted:
    return RetriesExhausted(f"version {txn.target}: nothing was committed", winner=txn.target)


def _open_is_failure() -> AbstractContextManager[object]:
    def propose(txn: Transaction, committer: Committer, doubt: loop.Unresolved) -> Any:
        outcome, doubt = _propose(txn, committer, doubt)
        if isinstance(outcome, Open):
            raise _failed(txn)
        return outcome, doubt

    return patch.object(loop, "_propose", propose)


def _open_runs_again_as_a_new_transaction() -> AbstractContextManager[object]:
    commit = loop.commit

    def again(txn: Transaction, committer: Committer, settings: Any, *, world: Any) -> Any:
        try:
            return commit(txn, committer, replace(settings, max_unanswered=1), world=world)
        except CommitUnknown:
            if not isinstance(committer.outcome_of(txn), Open):
                raise
            return commit(replace(txn, txn_id=world.uuid()), committer, settings, world=world)

    return patch.object(loop, "commit", again)


def _unknown_is_failure() -> AbstractContextManager[object]:
    def propose(txn: Transaction, committer: Committer, doubt: loop.Unresolved) -> Any:
        outcome = committer.propose(txn)
        if isinstance(outcome, Unknown):
            raise _failed(txn)
        return outcome, doubt

    return patch.object(loop, "_propose", propose)


def _found_is_lost() -> AbstractContextManager[object]:
    def propose(txn: Transaction, committer: Committer, doubt: loop.Unresolved) -> Any:
        outcome = committer.propose(txn)
        if isinstance(outcome, Unknown):
            doubt = outcome
            outcome = committer.outcome_of(txn)
            if isinstance(outcome, Ratified) and outcome.version == txn.target:
                raise _failed(txn)
        return outcome, doubt

    return patch.object(loop, "_propose", propose)


def _unknown_is_success() -> AbstractContextManager[object]:
    def propose(txn: Transaction, committer: Committer, doubt: loop.Unresolved) -> Any:
        outcome = committer.propose(txn)
        return (Ratified(txn.target) if isinstance(outcome, Unknown) else outcome), doubt

    return patch.object(loop, "_propose", propose)


def _last_error_is_the_verdict() -> AbstractContextManager[object]:
    def propose(txn: Transaction, committer: Committer, doubt: loop.Unresolved) -> Any:
        try:
            outcome = committer.propose(txn)
            if isinstance(outcome, Unknown):
                doubt = outcome
                outcome = committer.outcome_of(txn)
        except HeadgateError as exc:
            if exc.retry is Retry.SAME:
                return Unknown(exc.message), exc
            raise
        return outcome, doubt

    return patch.object(loop, "_propose", propose)


def not_ours(proposed: ProposedTxn, winners: Sequence[Commit]) -> Version | None:
    return None


@contextmanager
def _own_commit_is_a_winner() -> Iterator[None]:
    with forgotten_ids(), patch.object(ProposedTxn, "version", not_ours):
        yield


def _own_content_is_adopted() -> AbstractContextManager[object]:
    real = OpenedTable.committed

    def committed(self: OpenedTable, txn: Transaction, base: Any, done: Any) -> None:
        real(self, replace(txn, change=replace(txn.change, txn_id=None)), base, done)

    return patch.object(OpenedTable, "committed", committed)


def _own_commit_is_recognised_anywhere() -> AbstractContextManager[object]:
    def version(proposed: ProposedTxn, winners: Sequence[Commit]) -> Version | None:
        ours = any(winner.info is not None and winner.info.txn_id == proposed.txn_id for winner in winners)
        return proposed.target if ours else None

    return patch.object(ProposedTxn, "version", version)


MUTANTS: tuple[Mutant, ...] = (
    Mutant("open-is-failure", "not found after an unanswered proposal is reported as a proven failure",
           _open_is_failure, Fault.DELAYED_DUPLICATE),
    Mutant("open-runs-again", "not found after an unknown outcome: the same change as a new transaction",
           _open_runs_again_as_a_new_transaction, Fault.DELAYED_DUPLICATE),
    Mutant("found-is-lost", "an unanswered proposal that is found ratified is reported as a conflict",
           _found_is_lost, Fault.LOST_REPLY),
    Mutant("unknown-is-failure", "no answer is reported as a proven failure", _unknown_is_failure),
    Mutant("unknown-is-success", "no answer is reported as a success", _unknown_is_success),
    Mutant("last-error-is-the-verdict", "an unanswered proposal is forgotten once the catalog is unreachable",
           _last_error_is_the_verdict),
    Mutant("own-commit-is-a-winner", "the catalog forgets txnIds and the loop rebases onto its own commit",
           _own_commit_is_a_winner),
    Mutant("own-commit-anywhere", "an own commit among the winners is taken for the version proposed last",
           _own_commit_is_recognised_anywhere),
    Mutant("own-content-is-adopted", "a repeated transaction takes its new content for the ratified one",
           _own_content_is_adopted),
)  # fmt: skip
