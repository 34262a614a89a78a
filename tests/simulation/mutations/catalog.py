"""Mistakes of the catalog, and of the client that proposes to it."""

from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from headgate.catalog import decision
from headgate.catalog.decision import Decision, TableHead
from headgate.catalog.validation import validation
from headgate.protocol.actions import TxnId, Version
from headgate.protocol.log import codec
from headgate.table.commit.catalog_managed import ManagedCommitter
from headgate.table.transaction import Transaction
from tests.simulation.faults import Fault
from tests.simulation.mutations.mutant import Mutant


def forgotten_ids() -> AbstractContextManager[object]:
    """A catalog that ratifies the same transaction again."""
    decide = decision.decide
    return patch.object(
        decision,
        "decide",
        lambda head, target, _, **asked: decide(head, target, None, **asked),
    )


def _taken_versions_are_ratified() -> AbstractContextManager[object]:
    def decide(
        head: TableHead, target: Version, first_ratified_as: Version | None, **_asked: Any
    ) -> Decision:
        if first_ratified_as is not None:
            return Decision.REPLAY
        return Decision.RATIFY if target <= head.latest + 1 else Decision.GAP

    return patch.object(decision, "decide", decide)


def _staged_name_is_kept() -> AbstractContextManager[object]:
    real = ManagedCommitter._stage

    def stage(self: ManagedCommitter, target: Version, content: bytes) -> Any:
        info = codec.decode(target, content).info
        return kept.setdefault(info.txn_id if info else None, real(self, target, content))

    kept: dict[TxnId | None, Any] = {}
    return patch.object(ManagedCommitter, "_stage", stage)


def _assigned_version_keeps_its_timestamp() -> AbstractContextManager[object]:
    return patch.object(validation, "with_timestamp", lambda content, _: content)


def _taken_is_proof_for_an_open_version() -> AbstractContextManager[object]:
    def outcome_of(self: ManagedCommitter, txn: Transaction) -> Any:
        return self._with_content(self._catalog.outcome_of(self._table_id, txn.txn_id, txn.target))

    return patch.object(ManagedCommitter, "outcome_of", outcome_of)


def _assigned_past_a_change() -> AbstractContextManager[object]:
    decide = decision.decide

    def heedless(head: TableHead, target: Version, first: Version | None, **asked: Any) -> Decision:
        return decide(replace(head, latest_change=Version(0)), target, first, **asked)

    return patch.object(decision, "decide", heedless)


MUTANTS: tuple[Mutant, ...] = (
    Mutant("forgotten-ids", "the catalog ratifies a txnId again, as another version",
           forgotten_ids, Fault.DELAYED_DUPLICATE),
    Mutant("forgotten-after-a-crash", "the same, shown by a client that crashed and repeats itself",
           forgotten_ids, Fault.RESTART, frozenset({Fault.CRASH})),
    Mutant("assigned-not-stamped", "the catalog assigns a version and keeps the commit's timestamp",
           _assigned_version_keeps_its_timestamp),
    Mutant("assigned-past-a-change", "the catalog assigns a version after the table itself was changed",
           _assigned_past_a_change),
    Mutant("taken-is-proof", "an open version counts as lost when its first target is taken",
           _taken_is_proof_for_an_open_version),
    Mutant("taken-versions", "the catalog ratifies a version that is taken", _taken_versions_are_ratified),
    Mutant("staged-name-is-kept", "a rebased transaction proposes the staged file of the lost version",
           _staged_name_is_kept),
)  # fmt: skip
