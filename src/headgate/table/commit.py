"""The commit loop: propose, and on a lost race rebase and propose again.

One loop serves every route. It ends in exactly one of three ways: the version the transaction
became, an error that proves it was not committed, or ``CommitUnknown``.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from headgate.catalog.api import Lost, Open, Outcome, Ratified, Unknown
from headgate.clock import World
from headgate.errors import CommitUnknown, HeadgateError, RetriesExhausted, Retry
from headgate.protocol.actions import Commit, Version
from headgate.settings import Settings
from headgate.table.committer import Committer
from headgate.table.transaction import Transaction

_FREE_LOSSES = 4
_LONGEST_PAUSE = 0.1

Doubt = Unknown | HeadgateError | None
"""Nothing, an error before anything was proposed, or a proposal that was not answered."""


@dataclass(frozen=True, slots=True)
class Committed:
    """The version a transaction became, and the commits since its base, itself last, if all are known."""

    version: Version
    since_base: tuple[Commit, ...]


def commit(txn: Transaction, committer: Committer, settings: Settings, *, world: World) -> Committed:
    """Ratify ``txn``.

    Raises a ``ConflictError`` or another refusal if it was proven not to be committed, and
    ``CommitUnknown`` if nobody can say; in that last case no data file may be deleted. A transaction
    that has nothing to say, and need not, becomes the version it read.
    """
    if txn.may_be_left_out:
        return Committed(txn.base, ())
    winners: tuple[Commit, ...] = ()
    unanswered = losses = 0
    doubt: Doubt = None
    while unanswered < settings.max_unanswered:
        outcome, doubt = _propose(txn, committer, doubt)
        match outcome:
            case Ratified(version):
                return _committed(txn, version, winners)
            case Lost(more):
                if _is_ours(more, txn):
                    return _committed(txn, txn.target, winners)
                txn, winners = txn.rebased_onto(more), winners + more
                unanswered, losses, doubt = 0, losses + 1, None
                if losses >= settings.max_attempts:
                    raise RetriesExhausted(
                        f"{losses} attempts lost their race, the last one to version {txn.target - 1}; "
                        "nothing was committed, run the operation again",
                        winner=txn.target - 1,
                    )
                _pause(losses - _FREE_LOSSES, world)
            case Open() | Unknown():
                # The proposal may still be on its way, so only the same one again is safe.
                unanswered += 1
                _pause(unanswered, world)
    raise _unresolved(txn, doubt)


def _propose(txn: Transaction, committer: Committer, doubt: Doubt) -> tuple[Outcome[Commit], Doubt]:
    """Propose once; ``doubt`` says why an earlier proposal of this version may have been ratified unseen."""
    try:
        outcome = committer.propose(txn)
        if isinstance(outcome, Unknown):
            doubt = outcome
            outcome = committer.outcome_of(txn)
    except HeadgateError as exc:  # whatever it is, an unanswered proposal before it stays unanswered
        if exc.retry is Retry.SAME:
            return Unknown(exc.message), doubt or exc
        if isinstance(doubt, Unknown):
            raise _unresolved(txn, doubt) from exc
        raise
    return outcome, doubt


def _unresolved(txn: Transaction, doubt: Doubt) -> HeadgateError:
    if isinstance(doubt, HeadgateError):
        return doubt  # every attempt failed before anything was proposed
    reason = doubt.reason if doubt is not None else "no answer"
    return CommitUnknown(
        f"transaction {txn.txn_id} was proposed as version {txn.target} and its fate is unknown ({reason}): "
        "keep its files, and look for its txnId in the history before running the operation again",
        txn_id=txn.txn_id, target=txn.target,
    )  # fmt: skip


def _is_ours(winners: Sequence[Commit], txn: Transaction) -> bool:
    # Only the first winner can be an earlier copy of this proposal (P13).
    info = winners[0].info if winners else None
    return info is not None and info.txn_id == txn.txn_id


def _committed(txn: Transaction, version: Version, winners: tuple[Commit, ...]) -> Committed:
    return Committed(version, (*winners, txn.commit) if version == txn.target else ())


def _pause(step: int, world: World) -> None:
    if step > 0:
        world.sleep(min(0.001 * 2**step, _LONGEST_PAUSE) * world.jitter())
