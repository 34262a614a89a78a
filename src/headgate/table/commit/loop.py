"""The commit loop: propose, and on a lost race rebase and propose again.

One loop serves every route. It ends in exactly one of three ways: the version the transaction
became, an error that proves it was not committed, or ``CommitUnknown``.

A transaction read version 8. What is proposed, and what comes back:

    9    Lost with the winners 9 and 10      no rule objects: it is rebased
    11   Unknown, the connection broke       outcome_of: Open, so nobody has 11 yet
    11   Ratified(11)                        the same proposal, the same txnId

Had the second look found 11 with its own txnId, that would have been the answer too.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from headgate import tracing
from headgate.catalog.ports.commits import Lost, Open, Outcome, Ratified, Unknown
from headgate.clock import World
from headgate.errors import CommitUnknown, HeadgateError, RetriesExhausted, Retry
from headgate.protocol.actions import Commit, Version
from headgate.settings import Settings
from headgate.table.committer import Committer
from headgate.table.transaction import Transaction

Answer = TypeVar("Answer")

_FREE_LOSSES = 4
_LONGEST_PAUSE = 0.1

Unresolved = Unknown | HeadgateError | None
"""Nothing, an error before anything was proposed, or a proposal that was not answered."""
NOTHING_UNRESOLVED: Unresolved = None


@dataclass(frozen=True, slots=True)
class CommitResult:
    """The version a transaction became, and the commits since its base, itself last, if all are known."""

    version: Version
    since_base: tuple[Commit, ...]


def commit(txn: Transaction, committer: Committer, settings: Settings, *, world: World) -> CommitResult:
    """Ratify ``txn``.

    Raises a ``ConflictError`` or another refusal if it was proven not to be committed, and
    ``CommitUnknown`` if nobody can say; in that last case no data file may be deleted. A transaction
    that has nothing to say, and need not, becomes the version it read.
    """
    if txn.is_no_op:
        return CommitResult(txn.base, ())
    with tracing.span("headgate.commit", {"headgate.txn_id": txn.txn_id, "headgate.base": txn.base}):
        return _propose_until_settled(txn, committer, settings, world)


def _propose_until_settled(
    txn: Transaction, committer: Committer, settings: Settings, world: World
) -> CommitResult:
    winners: tuple[Commit, ...] = ()
    patience, doubt = RetryBudget(settings, world), NOTHING_UNRESOLVED
    while patience.has_attempts_left:
        outcome, doubt = _propose(txn, committer, doubt)
        match outcome:
            case Ratified(version):
                if not (txn.leaves_version_open and version > txn.target):
                    txn.proposed.check(version)  # a version that it was proposed as (P13)
                return _commit_result(txn, version, winners)
            case Lost(more):
                if (known := txn.proposed.version(more)) is not None:
                    return _commit_result(txn, known, winners)
                txn, winners, doubt = txn.rebased_onto(more), winners + more, NOTHING_UNRESOLVED
                patience.lost(f"the last one to version {txn.target - 1}", winner=txn.target - 1)
            case Open() | Unknown():
                # The proposal may still be on its way, so only the same one again is safe.
                patience.unanswered()
    raise _unresolved_error(txn, doubt)


class RetryBudget:
    """How long a loop goes on that loses races and misses answers, and with which pauses."""

    def __init__(self, settings: Settings, world: World) -> None:
        self._settings = settings
        self._world = world
        self._unanswered = self._losses = 0

    @property
    def has_attempts_left(self) -> bool:
        """Whether to try once more."""
        return self._unanswered < self._settings.max_unanswered

    def lost(self, to: str, *, winner: int) -> None:
        """A race was lost; ``RetriesExhausted`` if it was one too many."""
        self._unanswered, self._losses = 0, self._losses + 1
        if self._losses >= self._settings.max_attempts:
            raise RetriesExhausted(
                f"{self._losses} attempts lost their race, {to}; nothing was committed, run the operation "
                "again",
                winner=winner,
            )
        self._pause(self._losses - _FREE_LOSSES)

    def unanswered(self) -> None:
        """There was no answer, or none that settles it."""
        self._unanswered += 1
        self._pause(self._unanswered)

    def _pause(self, step: int) -> None:
        if step > 0:
            self._world.sleep(min(0.001 * 2**step, _LONGEST_PAUSE) * self._world.jitter())


def propose_once(
    propose: Callable[[], Answer],
    outcome_of: Callable[[], Answer],
    doubt: Unresolved,
    unresolved: Callable[[Unresolved], HeadgateError],
) -> tuple[Answer | Unknown, Unresolved]:
    """Propose once, and ask what became of it if there is no answer.

    ``doubt`` says why an earlier proposal of the same may have been ratified unseen. An error then
    proves nothing: it is ``unresolved``.
    """
    try:
        outcome = propose()
        if isinstance(outcome, Unknown):
            doubt = outcome
            outcome = outcome_of()
    except HeadgateError as exc:  # whatever it is, an unanswered proposal before it stays unanswered
        if exc.retry is Retry.SAME:
            return Unknown(exc.message), doubt or exc
        if isinstance(doubt, Unknown):
            raise unresolved(doubt) from exc
        raise
    return outcome, doubt


def _propose(txn: Transaction, committer: Committer, doubt: Unresolved) -> tuple[Outcome[Commit], Unresolved]:
    with tracing.span("headgate.propose", {"headgate.target": txn.target}):
        return propose_once(
            partial(committer.propose, txn),
            partial(committer.outcome_of, txn),
            doubt,
            partial(_unresolved_error, txn),
        )


def _unresolved_error(txn: Transaction, doubt: Unresolved) -> HeadgateError:
    what = f"transaction {txn.txn_id} was proposed as version {txn.target}"
    return gave_up_error(doubt, what, txn_id=txn.txn_id, target=txn.target)


def gave_up_error(doubt: Unresolved, what: str, *, txn_id: str, target: object) -> HeadgateError:
    """The error at the end of all patience; ``what`` was proposed, if anything was."""
    if isinstance(doubt, HeadgateError):
        return doubt  # every attempt failed before anything was proposed
    reason = doubt.reason if doubt is not None else "no answer"
    return CommitUnknown(
        f"{what} and its fate is unknown ({reason}): keep its files, and look for its txnId in the history "
        "before running the operation again",
        txn_id=txn_id, target=target,
    )  # fmt: skip


def _commit_result(txn: Transaction, version: Version, winners: tuple[Commit, ...]) -> CommitResult:
    return CommitResult(version, (*winners, txn.commit) if version == txn.target else ())
