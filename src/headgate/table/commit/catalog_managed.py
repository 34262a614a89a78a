r"""The route of catalog-managed tables: the catalog ratifies, the log is published afterwards.

Version 8 is the latest. An append of three files is proposed inline, and may become any version from 9 on;
one of 100,000 files is first staged, and is for version 9 alone:

    Proposal(table, 9, txnId, Inline(b'{"commitInfo":…}\n{"add":…}\n…'), any_version=True)
    Proposal(table, 9, txnId, Staged("00000000000000000009.1c5f3f0e-….json"), any_version=False)
"""

from collections.abc import Callable, Iterable
from typing import TypeVar

from headgate.catalog.ports.commits import (
    CommitCatalog,
    InlineCommit,
    Lost,
    Open,
    Outcome,
    Proposal,
    Ratified,
    RatifiedCommit,
    StagedCommit,
    TableId,
    Tail,
    Unknown,
)
from headgate.catalog.ports.serving import LogHints
from headgate.clock import World
from headgate.errors import InvalidRequest, ObjectNotFound, TooManyUnpublished
from headgate.protocol.actions import Commit, Metadata, Protocol, Version
from headgate.protocol.log import codec, file_names
from headgate.storage.store import Store
from headgate.table.authority import Decider
from headgate.table.commit import publish
from headgate.table.commit.catalog_hints import CatalogHints
from headgate.table.committer import Frontier
from headgate.table.read import catalog_tail, log_reader
from headgate.table.transaction import Transaction

Answer = TypeVar("Answer")

_PUBLISH_FIRST = 3
"""How often one proposal makes room for itself."""


class ManagedCommitter:
    """Proposes small commits inline and large ones as staged files."""

    def __init__(
        self,
        store: Store,
        catalog: CommitCatalog,
        table_id: TableId,
        *,
        world: World,
        inline_limit_bytes: int,
        served: CatalogHints | None = None,
    ) -> None:
        self._store = store
        self._catalog = catalog
        self._table_id = table_id
        self._world = world
        self._inline_limit = inline_limit_bytes
        self._served = served

    def frontier(self, *, known: Version | None = None) -> Frontier:  # noqa: ARG002 — the catalog tells all
        served = self._served
        told = served.take_opening_tail() if served is not None else None
        found = (
            catalog_tail.require_contiguous(self._table_id, told)
            if told
            else catalog_tail.fetch_tail(self._catalog, self._table_id)
        )
        return frontier_from_tail(found, served)

    def follow(self, version: Version, metadata: Metadata) -> bool:  # noqa: ARG002 — the catalog decides
        return False

    def decider(self, protocol: Protocol, metadata: Metadata) -> Decider:  # noqa: ARG002 — whatever it says
        return Decider.CATALOG

    def propose(self, txn: Transaction) -> Outcome[Commit]:
        proposal = self.proposal(txn)
        return self._with_content(publish_and_retry(lambda: self._catalog.propose(proposal), self.publish))

    def proposal(self, txn: Transaction) -> Proposal:
        """The transaction as it is proposed to the catalog, staged if it is large."""
        check_route(txn)
        content = txn.content
        place = InlineCommit(content) if self._is_inline(content) else self._stage(txn.target, content)
        return Proposal(self._table_id, txn.target, txn.txn_id, place, self._any_version(txn, content))

    def outcome_of(self, txn: Transaction) -> Outcome[Commit]:
        any_version = self._any_version(txn, txn.content)
        return self._with_content(
            self._catalog.outcome_of(self._table_id, txn.txn_id, txn.target, any_version=any_version)
        )

    def publish(self, told: Frontier | None = None) -> Version:
        reached = publish.publish(self._store, self._catalog, self._table_id, told)
        if self._served is None:
            return reached
        try:
            self._store.head(file_names.published_path(Version(reached + 1)))
        except ObjectNotFound:
            return reached
        # Of somebody who was quicker, or of somebody who told nobody (K8).
        return max(reached, self._served.import_external_versions())

    def note_log(self, heard: LogHints) -> None:
        """Hear of a file of the log, for those who open the table."""
        if self._served is not None:
            self._served.note(heard)

    def _any_version(self, txn: Transaction, content: bytes) -> bool:
        # A staged file is named after its version, so only an inline commit can leave it open.
        return txn.leaves_version_open and self._is_inline(content)

    def _is_inline(self, content: bytes) -> bool:
        # By the actions alone, which stay the same: an attempt must not be staged after one that was not.
        return len(content) - content.find(b"\n") - 1 <= self._inline_limit

    def _stage(self, target: Version, content: bytes) -> StagedCommit:
        # For this version only; after a lost race a new file is staged (F3).
        file_name = file_names.staged_file_name(target, self._world.uuid())
        self._store.put(file_names.STAGED_FOLDER + file_name, content)
        return StagedCommit(file_name)

    def _with_content(self, outcome: Outcome[RatifiedCommit]) -> Outcome[Commit]:
        match outcome:
            case Lost(winners):
                return Lost(self.read(winners))
            case Ratified() | Open() | Unknown():
                return outcome

    def read(self, winners: Iterable[RatifiedCommit]) -> tuple[Commit, ...]:
        """What these commits do, wherever their content is."""
        return tuple(
            codec.decode(winner.version, log_reader.commit_content(self._store, winner.version, winner))
            for winner in winners
        )


def publish_and_retry(propose: Callable[[], Answer], publish: Callable[[], object]) -> Answer:
    """What ``propose`` answers, after publishing if the catalog would hold too much for its readers (K7).

    As often as others use up the room meanwhile, within reason; then it says so.
    """
    for _ in range(_PUBLISH_FIRST):
        try:
            return propose()
        except TooManyUnpublished:
            publish()
    return propose()


def frontier_from_tail(found: Tail, served: CatalogHints | None = None) -> Frontier:
    """How far a table reaches by its catalog's word, and what that has heard of the log."""
    return Frontier(
        found.latest,
        {commit.version: commit for commit in found.commits},
        managed=True,
        expected=None if served is None else served.expected(found),
        version_at=None if served is None else served.version_at,
        checksum=None if served is None else served.checksum(found),
        description=found.description,
        latest_timestamp=found.latest_timestamp,
    )


def check_route(txn: Transaction) -> None:
    """Refuse what does not go through the catalog, or would end that; asked anew at each attempt (W11)."""
    if False in txn.is_catalog_managed:
        raise InvalidRequest(
            f"version {txn.target} would not be a commit of a catalog-managed table, before or after it: "
            "moving a table into or out of the catalog takes a way of its own, not a commit",
            code="DELTA_UNSUPPORTED_CATALOG_MANAGED_TABLE_OPERATION",
        )
    if not txn.in_commit_timestamps:
        raise InvalidRequest(
            "a catalog-managed table must have in-commit timestamps: leave its property "
            "delta.enableInCommitTimestamps at true",
            code="DELTA_CANNOT_MODIFY_CATALOG_MANAGED_DEPENDENCIES",
        )
