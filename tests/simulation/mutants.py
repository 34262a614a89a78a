"""What if the product were wrong? Each mutant breaks one thing; the simulation must notice.

A mutant that names the fault it ``needs`` is invisible without it, which is why the simulator has
that fault. mutants.md says the same in a table, and test_mutants.py proves it.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

from headgate.catalog import rules, validate
from headgate.catalog.api import CommitCatalog, Lost, Open, Outcome, Ratified, TableId, Unknown
from headgate.catalog.rules import Decision, Head
from headgate.clock import World
from headgate.errors import (
    CommitUnknown,
    HeadgateError,
    ObjectExists,
    ObjectNotFound,
    RetriesExhausted,
    Retry,
    StorageUnavailable,
)
from headgate.protocol import codec, conflicts, names, segment
from headgate.protocol.actions import Commit, CommitInfo, EpochMillis, Version
from headgate.protocol.replay import State
from headgate.storage.api import Store
from headgate.table import commit as loop
from headgate.table import files, log, publish, transaction
from headgate.table.committer import Committer
from headgate.table.filesystem import FilesystemCommitter
from headgate.table.managed import ManagedCommitter
from headgate.table.opened import OpenedTable
from headgate.table.transaction import Change, Transaction
from tests.simulation.faults import EVERY_FAULT, Fault
from tests.simulation.ledger import Violation
from tests.simulation.run import Failed, run
from tests.support.simulated_catalog import SimulatedCatalog
from tests.support.turnstile import NoProgress

Mutation = Callable[[], AbstractContextManager[object]]


@dataclass(frozen=True, slots=True)
class Mutant:
    """One way to be wrong.

    ``needs`` is a fault that shows it, together with those of ``beside``, which alone do not.
    """

    name: str
    mistake: str
    mutation: Mutation
    needs: Fault | None = None
    beside: frozenset[Fault] = frozenset()


# --- the commit loop

_propose = loop._propose


def _failed(txn: Transaction) -> RetriesExhausted:
    return RetriesExhausted(f"version {txn.target}: nothing was committed", winner=txn.target)


def _open_is_failure() -> AbstractContextManager[object]:
    def propose(txn: Transaction, committer: Committer, doubt: loop.Doubt) -> Any:
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
    def propose(txn: Transaction, committer: Committer, doubt: loop.Doubt) -> Any:
        outcome = committer.propose(txn)
        if isinstance(outcome, Unknown):
            raise _failed(txn)
        return outcome, doubt

    return patch.object(loop, "_propose", propose)


def _found_is_lost() -> AbstractContextManager[object]:
    def propose(txn: Transaction, committer: Committer, doubt: loop.Doubt) -> Any:
        outcome = committer.propose(txn)
        if isinstance(outcome, Unknown):
            doubt = outcome
            outcome = committer.outcome_of(txn)
            if isinstance(outcome, Ratified) and outcome.version == txn.target:
                raise _failed(txn)
        return outcome, doubt

    return patch.object(loop, "_propose", propose)


def _unknown_is_success() -> AbstractContextManager[object]:
    def propose(txn: Transaction, committer: Committer, doubt: loop.Doubt) -> Any:
        outcome = committer.propose(txn)
        return (Ratified(txn.target) if isinstance(outcome, Unknown) else outcome), doubt

    return patch.object(loop, "_propose", propose)


def _last_error_is_the_verdict() -> AbstractContextManager[object]:
    def propose(txn: Transaction, committer: Committer, doubt: loop.Doubt) -> Any:
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


def _not_ours(winners: Sequence[Commit], txn: Transaction) -> bool:
    return False


@contextmanager
def _own_commit_is_a_winner() -> Iterator[None]:
    with _forgotten_ids(), patch.object(loop, "_is_ours", _not_ours):
        yield


def _own_content_is_adopted() -> AbstractContextManager[object]:
    def commit(self: OpenedTable, change: Change, *, base: Any) -> Version:
        txn = transaction.begin(base.state, change, world=self.world)
        done = loop.commit(txn, self._committer, self._settings, world=self.world)
        if done.since_base:
            self._advance(base.after(done.since_base))
        self._after_commit.committed(self._committer, done.version)
        return done.version

    return patch.object(OpenedTable, "commit", commit)


# --- the transaction


def _no_conflicts() -> AbstractContextManager[object]:
    return patch.object(conflicts, "check", lambda ours, winner: None)


def _timestamp_is_not_rebased() -> AbstractContextManager[object]:
    rebased = Transaction.rebased_onto

    def rebased_onto(self: Transaction, winners: Sequence[Commit]) -> Transaction:
        return replace(rebased(self, winners), timestamp=self.timestamp)

    return patch.object(Transaction, "rebased_onto", rebased_onto)


def _timestamp_is_the_clock() -> AbstractContextManager[object]:
    real = transaction.begin

    def begin(state: State, change: Change, *, world: World) -> Transaction:
        long_ago = CommitInfo(in_commit_timestamp=EpochMillis(0))
        return real(replace(state, info=long_ago), change, world=world)

    return patch.object(transaction, "begin", begin)


# --- the catalog


def _forgotten_ids() -> AbstractContextManager[object]:
    decide = rules.decide
    return patch.object(
        rules,
        "decide",
        lambda head, target, _, any_version=False: decide(head, target, None, any_version=any_version),
    )


def _taken_versions_are_ratified() -> AbstractContextManager[object]:
    def decide(
        head: Head, target: Version, first_ratified_as: Version | None, *, any_version: bool = False
    ) -> Decision:
        if first_ratified_as is not None:
            return Decision.REPLAY
        return Decision.RATIFY if target <= head.latest + 1 else Decision.GAP

    return patch.object(rules, "decide", decide)


@contextmanager
def _publishing_is_believed() -> Iterator[None]:
    def mark_published(self: SimulatedCatalog, table_id: TableId, version: Version) -> None:
        table = self._table(table_id)
        table.published = max(table.published, version)

    def present_is_published(store: Store, version: Version, content: bytes) -> None:
        try:
            store.put_if_absent(names.published(version), content)
        except ObjectExists:
            return

    with (
        patch.object(SimulatedCatalog, "mark_published", mark_published),
        patch.object(publish, "_publish_one", present_is_published),
    ):
        yield


# --- the filesystem route


def _put_overwrites() -> AbstractContextManager[object]:
    def propose(self: FilesystemCommitter, txn: Transaction) -> Outcome[Commit]:
        try:
            self._store.put(names.published(txn.target), txn.content)
        except StorageUnavailable as exc:
            return Unknown(exc.message)
        return Ratified(txn.target)

    return patch.object(FilesystemCommitter, "propose", propose)


@contextmanager
def _exists_is_lost() -> Iterator[None]:
    real = FilesystemCommitter.propose

    def propose(self: FilesystemCommitter, txn: Transaction) -> Outcome[Commit]:
        outcome_of = self.outcome_of

        def without_reading_back(asked: Transaction) -> Outcome[Commit]:
            found = outcome_of(asked)
            return Lost(self._winners(asked.target)) if isinstance(found, Ratified) else found

        self.outcome_of = without_reading_back  # type: ignore[method-assign] # a mutation
        try:
            return real(self, txn)
        finally:
            del self.outcome_of

    with (
        patch.object(FilesystemCommitter, "propose", propose),
        patch.object(loop, "_is_ours", _not_ours),
    ):
        yield


def _lock_file() -> AbstractContextManager[object]:
    real = FilesystemCommitter.propose

    def propose(self: FilesystemCommitter, txn: Transaction) -> Outcome[Commit]:
        try:
            self._store.put_if_absent("_lock", txn.txn_id.encode())
        except ObjectExists:
            try:
                if self._store.read("_lock") != txn.txn_id.encode():
                    return Unknown("somebody else holds the lock")
            except ObjectNotFound:
                return Unknown("somebody else held the lock")
        outcome = real(self, txn)
        for _ in range(5):
            with suppress(StorageUnavailable):
                self._store.delete("_lock")
                break
        return outcome

    return patch.object(FilesystemCommitter, "propose", propose)


# --- publishing


def _marked_before_written() -> AbstractContextManager[object]:
    def backwards(store: Store, catalog: CommitCatalog, table_id: TableId) -> Version:
        tail = catalog.tail(table_id)
        if tail.commits:
            catalog.mark_published(table_id, tail.commits[-1].version)
        for commit in tail.commits:
            content = log.content(store, commit.version, commit)
            store.put_if_absent(names.published(commit.version), content)
        return tail.latest

    @contextmanager
    def both() -> Iterator[None]:
        with _publishing_is_believed(), patch.object(publish, "publish", backwards):
            yield

    return both()


def _newest_first() -> AbstractContextManager[object]:
    def newest_first(store: Store, catalog: CommitCatalog, table_id: TableId) -> Version:
        tail = catalog.tail(table_id)
        for commit in reversed(tail.commits):
            publish._publish_one(store, commit.version, log.content(store, commit.version, commit))
        if tail.commits:
            catalog.mark_published(table_id, tail.commits[-1].version)
        return tail.latest

    return patch.object(publish, "publish", newest_first)


def _failed_version_is_skipped() -> AbstractContextManager[object]:
    one = publish._publish_one

    def skipping(store: Store, version: Version, content: bytes) -> None:
        try:
            one(store, version, content)
        except StorageUnavailable:
            return

    return patch.object(publish, "_publish_one", skipping)


# --- reading


def _unreadable_is_empty() -> AbstractContextManager[object]:
    real = log.listed

    def listed(store: Store, *, since: Version | None = None) -> list[names.LogFile]:
        try:
            return real(store, since=since)
        except StorageUnavailable:
            return []

    return patch.object(log, "listed", listed)


@contextmanager
def _listing_decides_the_latest() -> Iterator[None]:
    real = segment.build

    def build(listing: Any, *, held: Any = (), latest: Any = None, target: Any = None) -> Any:
        files = list(listing)
        found = [file.version for file in files]
        return real(files, held=held, latest=max([*found, *held]), target=target)

    with patch.object(segment, "build", build):
        yield


def _published_copy_wins() -> AbstractContextManager[object]:
    real = log.content

    def content(store: Store, version: Version, held: Any) -> bytes:
        try:
            return store.read(names.published(version))
        except HeadgateError:
            return real(store, version, held)

    return patch.object(log, "content", content)


def _removes_are_ignored() -> AbstractContextManager[object]:
    real = files.reconcile

    def reconcile(known: Any, commits: Any) -> Any:
        return real(known, (replace(commit, removes=()) for commit in commits))

    return patch.object(files, "reconcile", reconcile)


def _staged_name_is_kept() -> AbstractContextManager[object]:
    real = ManagedCommitter._stage

    def stage(self: ManagedCommitter, target: Version, content: bytes) -> Any:
        return kept.setdefault(codec.decode(target, content).info.txn_id, real(self, target, content))

    kept: dict[str, Any] = {}
    return patch.object(ManagedCommitter, "_stage", stage)


def _assigned_version_keeps_its_timestamp() -> AbstractContextManager[object]:
    return patch.object(validate, "with_timestamp", lambda content, _: content)


def _taken_is_proof_for_an_open_version() -> AbstractContextManager[object]:
    def outcome_of(self: ManagedCommitter, txn: Transaction) -> Any:
        return self._with_content(self._catalog.outcome_of(self._table_id, txn.txn_id, txn.target))

    return patch.object(ManagedCommitter, "outcome_of", outcome_of)


_CRASH, _LOST_REPLY, _LOST_REQUEST = Fault.CRASH, Fault.LOST_REPLY, Fault.LOST_REQUEST
_DELAYED, _RESENT, _CLOCK = Fault.DELAYED_DUPLICATE, Fault.RESENT, Fault.CLOCK_BACK
_RESTART, _STRAY = Fault.RESTART, Fault.STRAY_FILE

MUTANTS: tuple[Mutant, ...] = (
    Mutant("open-is-failure", "not found after an unanswered proposal is reported as a proven failure",
           _open_is_failure, _DELAYED),
    Mutant("open-runs-again", "not found after an unknown outcome: the same change as a new transaction",
           _open_runs_again_as_a_new_transaction, _DELAYED),
    Mutant("found-is-lost", "an unanswered proposal that is found ratified is reported as a conflict",
           _found_is_lost, _LOST_REPLY),
    Mutant("unknown-is-failure", "no answer is reported as a proven failure", _unknown_is_failure),
    Mutant("unknown-is-success", "no answer is reported as a success", _unknown_is_success),
    Mutant("last-error-is-the-verdict", "an unanswered proposal is forgotten once the catalog is unreachable",
           _last_error_is_the_verdict),
    Mutant("forgotten-ids", "the catalog ratifies a txnId again, as another version",
           _forgotten_ids, _DELAYED),
    Mutant("forgotten-after-a-crash", "the same, shown by a client that crashed and repeats itself",
           _forgotten_ids, _RESTART, frozenset({_CRASH})),
    Mutant("own-commit-is-a-winner", "the catalog forgets txnIds and the loop rebases onto its own commit",
           _own_commit_is_a_winner),
    Mutant("own-content-is-adopted", "a repeated transaction takes its new content for the ratified one",
           _own_content_is_adopted),
    Mutant("no-conflicts", "a rebase does not check for conflicts", _no_conflicts),
    Mutant("timestamp-not-rebased", "a rebase keeps its in-commit timestamp", _timestamp_is_not_rebased),
    Mutant("timestamp-is-the-clock", "the in-commit timestamp is the clock's, whatever the previous one was",
           _timestamp_is_the_clock, _CLOCK),
    Mutant("assigned-not-stamped", "the catalog assigns a version and keeps the commit's timestamp",
           _assigned_version_keeps_its_timestamp),
    Mutant("taken-is-proof", "an open version counts as lost when its first target is taken",
           _taken_is_proof_for_an_open_version),
    Mutant("taken-versions", "the catalog ratifies a version that is taken", _taken_versions_are_ratified),
    Mutant("publishing-is-believed", "whoever says that a version is published is believed",
           _publishing_is_believed, _STRAY),
    Mutant("put-overwrites", "the filesystem route uses put instead of put_if_absent", _put_overwrites),
    Mutant("exists-is-lost", "the filesystem route does not look whether the existing version is its own",
           _exists_is_lost, _RESENT),
    Mutant("lock-file", "the filesystem route locks the table with a file", _lock_file, _CRASH),
    Mutant("marked-before-written", "versions are marked as published, then written", _marked_before_written),
    Mutant("newest-first", "the newest version is published first", _newest_first),
    Mutant("failed-version-is-skipped", "publishing goes on after a version that failed",
           _failed_version_is_skipped),
    Mutant("unreadable-is-empty", "a listing that fails is taken for an empty one", _unreadable_is_empty,
           _LOST_REQUEST),
    Mutant("listing-decides", "a reader takes the last listed version for the latest",
           _listing_decides_the_latest, _STRAY),
    Mutant("published-copy-wins", "a reader prefers the published file to the catalog's copy",
           _published_copy_wins, _STRAY),
    Mutant("removes-are-ignored", "a snapshot keeps removed files", _removes_are_ignored),
    Mutant("staged-name-is-kept", "a rebased transaction proposes the staged file of the lost version",
           _staged_name_is_kept),
)  # fmt: skip


def first_killing_seed(mutant: Mutant, seeds: range, faults: frozenset[Fault] = EVERY_FAULT) -> int | None:
    """The first of ``seeds`` whose simulation notices the mutant."""
    for seed in seeds:
        try:
            with mutant.mutation():
                run(seed, faults)
        except Failed as exc:
            if not isinstance(exc.why, Violation | NoProgress | HeadgateError):
                raise  # the mutation itself is broken
            return seed
    return None


def render(bound: int) -> str:
    """The text of mutants.md, its seeds found anew among the first ``bound``."""
    rows = []
    for mutant in MUTANTS:
        seed = first_killing_seed(mutant, range(bound))
        needs = " after a ".join(fault.value for fault in (mutant.needs, *mutant.beside) if fault) or "–"
        rows.append(f"| `{mutant.name}` | {mutant.mistake} | {needs} | {seed} |")
    return _PAGE.format(rows="\n".join(rows))


_PAGE = """# Mutants

Why does the simulator have these faults and no others? Because each of them finds a mistake that goes
unnoticed without it. A fault in `faults.py` that no row needs has to go; a new fault arrives with a mutant.

"Shown by" says: with this fault alone switched on some seed kills the mutant, and up to that seed races
without any fault do not ("after a crash": the same, with crashes on in both cases). A dash says that races
alone show the mistake, or that more than one fault does. The last column is the first seed that kills the
mutant with every fault on. `test_mutants.py` proves all of it; `python -m tests.simulation --mutants`
writes this page anew after a change of the product or of the simulator has moved the seeds.

| mutant | the mistake | shown by | killed first by seed |
|---|---|---|---|
{rows}
"""
