"""Which version is a transaction, by its txnId? One at most, and only one that it was proposed as.

An earlier copy of a proposal, whose answer got lost, is found at the version it was proposed as: that is
success. The same txnId at any other version was not written by whoever proposed it; then nobody can say which
of the two is meant, and neither may another copy be written nor success be claimed.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from headgate.errors import CorruptLog
from headgate.protocol.actions import Commit, TxnId, Version


@dataclass(frozen=True, slots=True)
class ProposedTxn:
    """A transaction, the version it is proposed as, and whether its txnId was given by the caller.

    Whoever gives txnIds may run the same operation again, so an earlier run of it may be a later version.
    """

    txn_id: TxnId
    target: Version
    is_given: bool

    def version(self, winners: Iterable[Commit]) -> Version | None:
        """The version it is, by what has won from its target on; None if it is none of these.

        ``CorruptLog`` if it is two of them, or one that it was not proposed as.
        """
        found = [winner.version for winner in winners if winner.info and winner.info.txn_id == self.txn_id]
        for version in found:
            if len(found) > 1 and version != self.target:
                raise txn_at_other_version_error(self, version, is_target_too=self.target in found)
            self.check(version)
        return found[0] if found else None

    def check(self, version: Version) -> None:
        """That it can be this version, if somebody says that it is."""
        if version != self.target and not self.is_given:
            raise txn_at_other_version_error(self, version)


def txn_without_group_error(txn_id: TxnId, version: Version) -> CorruptLog:
    """The error for a transaction that is a version of its table without the group it belongs to."""
    return CorruptLog(
        f"version {version} has the txnId {txn_id} of a transaction over several tables, and the catalog has "
        "not ratified that one: somebody else wrote it. Keep the files of the transaction, and look who "
        "committed that version",
        code="DELTA_TXN_LOG_FAILED_INTEGRITY", txn_id=txn_id, version=version,
    )  # fmt: skip


def txn_at_other_version_error(
    proposed: ProposedTxn, version: Version, *, is_target_too: bool = False
) -> CorruptLog:
    """The error for a transaction that is found at a version it was not proposed as."""
    txn_id, target = proposed.txn_id, proposed.target
    twice = f"version {target} has it, too" if is_target_too else f"it was proposed as version {target}"
    return CorruptLog(
        f"version {version} has the txnId {txn_id}, and {twice}: one of the two was not written by the "
        "maker of the transaction, so it is not known to be committed, and it is not committed again. Keep "
        "its files, compare the commits, and run the operation again only if its rows are in neither",
        code="DELTA_TXN_LOG_FAILED_INTEGRITY", txn_id=txn_id, version=version, target=target,
    )  # fmt: skip
