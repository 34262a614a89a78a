"""The route of catalog-managed tables: the catalog ratifies, the log is published afterwards."""

from headgate.catalog.api import (
    CommitCatalog,
    Inline,
    Lost,
    Open,
    Outcome,
    Proposal,
    Ratified,
    RatifiedCommit,
    Staged,
    TableId,
    Unknown,
)
from headgate.clock import World
from headgate.errors import InvalidRequest
from headgate.protocol import codec, names
from headgate.protocol.actions import Commit, Metadata, Version
from headgate.storage.api import Store
from headgate.table import log, publish, tail
from headgate.table.committer import Frontier
from headgate.table.transaction import Transaction


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
    ) -> None:
        self._store = store
        self._catalog = catalog
        self._table_id = table_id
        self._world = world
        self._inline_limit = inline_limit_bytes

    def frontier(self, *, known: Version | None = None) -> Frontier:  # noqa: ARG002 — the catalog tells all
        found = tail.ask(self._catalog, self._table_id)
        held = {commit.version: commit for commit in found.commits}
        return Frontier(found.latest, held, managed=True, told=found.told)

    def follow(self, version: Version, metadata: Metadata) -> bool:  # noqa: ARG002 — the catalog decides
        return False

    def check_writer(self, metadata: Metadata) -> None:
        pass

    def propose(self, txn: Transaction) -> Outcome[Commit]:
        _check_route(txn)
        content = txn.content
        place = Inline(content) if self._is_inline(content) else self._stage(txn.target, content)
        proposal = Proposal(self._table_id, txn.target, txn.txn_id, place, self._any_version(txn, content))
        return self._with_content(self._catalog.propose(proposal))

    def outcome_of(self, txn: Transaction) -> Outcome[Commit]:
        any_version = self._any_version(txn, txn.content)
        return self._with_content(
            self._catalog.outcome_of(self._table_id, txn.txn_id, txn.target, any_version=any_version)
        )

    def publish(self) -> Version:
        return publish.publish(self._store, self._catalog, self._table_id)

    def _any_version(self, txn: Transaction, content: bytes) -> bool:
        # A staged file is named after its version, so only an inline commit can leave it open.
        return txn.leaves_version_open and self._is_inline(content)

    def _is_inline(self, content: bytes) -> bool:
        # By the actions alone, which stay the same: an attempt must not be staged after one that was not.
        return len(content) - content.find(b"\n") - 1 <= self._inline_limit

    def _stage(self, target: Version, content: bytes) -> Staged:
        # For this version only; after a lost race a new file is staged (F3).
        file_name = names.staged_file(target, self._world.uuid())
        self._store.put(names.STAGED + file_name, content)
        return Staged(file_name)

    def _with_content(self, outcome: Outcome[RatifiedCommit]) -> Outcome[Commit]:
        match outcome:
            case Lost(winners):
                return Lost(tuple(self._read(winner) for winner in winners))
            case Ratified() | Open() | Unknown():
                return outcome

    def _read(self, winner: RatifiedCommit) -> Commit:
        return codec.decode(winner.version, log.content(self._store, winner.version, winner))


def _check_route(txn: Transaction) -> None:
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
