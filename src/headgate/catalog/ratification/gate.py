"""What stands between a proposal that could be ratified and its ratification: rules, policies, quotas.

One gate is opened for each table in a database transaction. Whoever passes is ratified, so the next one is
reviewed against the table as that commit leaves it.

Three proposals for ``orders``, which is at version 7; ``ana`` was granted APPEND:

    ana     {"add":{"path":"<mark>/a"}}              passes, and is version 8
    ana     {"remove":{"path":"x"}}                  it takes CHANGE DATA, which ana does not have
    owner   {"metaData": with one more column}       passes, and is version 9

The mark is one that only this transaction can have: so the file is new (``fresh_file_names``). What is
reviewed after version 9 is held to its columns.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from sqlalchemy import Connection, bindparam, select

from headgate.catalog.access import commit_policies
from headgate.catalog.access.commit_policies import Proposer
from headgate.catalog.ports.access import OWNER, ForeignKey, Principal, Privilege
from headgate.catalog.ports.commits import Proposal, TableId, TableState
from headgate.catalog.ports.policies import Review
from headgate.catalog.ratification.partitioning_cache import PartitioningCache
from headgate.catalog.store import commit_rules, commit_store, grant_store, table_state
from headgate.catalog.store.commit_store import KnownTable
from headgate.catalog.validation import path_containment, validation
from headgate.catalog.validation.validation import CheckedContent
from headgate.errors import CommitRefused, HeadgateError, TooManyUnpublished, UserError
from headgate.protocol.actions import Commit, TxnId, Version
from headgate.protocol.domains import rules

_ELSEWHERE = select(commit_store.commits.c.txn_id).where(
    commit_store.commits.c.txn_id.in_(bindparam("txns", expanding=True)),
    commit_store.commits.c.table_id != bindparam("id"),
)


class Gate:
    """Reviews the candidates of one table, in their order."""

    def __init__(
        self,
        db: Connection,
        table_id: TableId,
        found: KnownTable,
        *,
        elsewhere: Iterable[TxnId],
        partitionings: PartitioningCache,
    ) -> None:
        self._db = db
        self._table_id = table_id
        self._elsewhere = frozenset(elsewhere)
        self._terms: Mapping[str, str] | None = None if found.has_commit_rules else {}
        self._changed: Version | None = found.head.latest_change
        self._partitionings = partitionings
        self._keys: tuple[ForeignKey, ...] | None = None
        self._told: TableState | None = None
        self._asked = False
        self._held: dict[Principal, frozenset[Privilege]] = {}
        self._passed: dict[TxnId, Principal] = {}
        self._applications: dict[str, Principal] = {}

    def refusal(
        self, proposal: Proposal, checked: CheckedContent, standing: Proposer, size: int
    ) -> HeadgateError | None:
        """Why the proposal must not become the next version; None if it is to be ratified now."""
        if proposal.txn_id in self._elsewhere:
            return _foreign_txn_error(proposal)
        principal = standing.principal
        review = Review(self._table_id, principal, checked.commit, checked.actions, size, self)
        if not_allowed := commit_policies.privilege_error(review):
            return not_allowed
        if checked.concerns_table or not self._surely_fits(checked):
            try:
                validation.check_against_table(checked, self.before(), self._sources(checked))
            except UserError as exc:
                return exc
            if self._changed is not None:
                self._partitionings.learn(self._table_id, self._changed, self._told)
        if refused := commit_policies.first_refusal(review, standing.policies):
            return refused
        if principal != OWNER and (limit := self._exceeded(principal)):
            return _over_quota_error(principal, limit)
        self._passed[proposal.txn_id] = principal
        self._applications.update((txn.app_id, principal) for txn in checked.commit.txns)
        self._follow(checked)
        return None

    def replay_refusal(self, proposal: Proposal, first: Version, standing: Proposer) -> HeadgateError | None:
        """Why a transaction that was ratified before is not for this principal to hear of (T8)."""
        known = self._passed.get(proposal.txn_id)
        proposer = known or grant_store.proposer_of(self._db, self._table_id, first)
        if standing.principal in (proposer, OWNER):
            return None
        return CommitRefused(
            f"transaction {proposal.txn_id} was ratified for another principal: give each transaction a "
            "txnId of its own; nothing was committed",
            policy="replay", reason="another principal's transaction", line=1, action="commitInfo",
        )  # fmt: skip

    def before(self) -> TableState | None:
        if not self._asked:
            self._told, self._asked = table_state.load_table_state(self._db, self._table_id), True
        return self._told

    def privileges(self, principal: Principal) -> frozenset[Privilege]:
        if principal not in self._held:
            self._held[principal] = grant_store.table_privileges(self._db, principal, self._table_id)
        return self._held[principal]

    def terms(self) -> Mapping[str, str]:
        if self._terms is None:
            self._terms = commit_rules.load_rules(self._db, self._table_id)
        return self._terms

    def foreign_keys(self) -> tuple[ForeignKey, ...]:
        if self._keys is None:
            self._keys = commit_rules.load_foreign_keys(self._db, self._table_id)
        return self._keys

    def owns_application(self, principal: Principal, app_id: str) -> bool:
        if app_id not in self._applications:
            found = table_state.last_app_principal(self._db, self._table_id, app_id)
            if found is None:  # by no commit that the catalog knows, which may not be all there were
                told = self.before()
                return told is not None and told.txns is not None
            self._applications[app_id] = Principal(found)
        return self._applications[app_id] == principal

    def _sources(self, checked: CheckedContent) -> tuple[str, ...]:
        outside = any(
            path_containment.is_outside(path) for path in path_containment.file_paths(checked.actions)
        )
        return commit_rules.load_file_sources(self._db, self._table_id) if outside else ()

    def _surely_fits(self, checked: CheckedContent) -> bool:
        if self._changed is None:
            return False
        return self._partitionings.fit(self._table_id, self._changed, checked.commit.adds)

    def _exceeded(self, principal: Principal) -> int | None:
        more = list(self._passed.values()).count(principal)
        return grant_store.exceeded_unpublished_limit(self._db, principal, self._table_id, more=more)

    def _follow(self, checked: CheckedContent) -> None:
        if not checked.changes_table:
            return
        self._changed = None  # not written down yet, so nobody may remember it
        if self._asked and self._told is not None:
            self._told = _state_after(self._told, checked.commit)


def ratified_elsewhere(db: Connection, table_id: TableId, txn_ids: Iterable[TxnId]) -> frozenset[TxnId]:
    """Those of these transactions that are commits of another table (T8)."""
    rows = db.scalars(_ELSEWHERE, {"id": table_id, "txns": list(txn_ids)})
    return frozenset(TxnId(found) for found in rows)


def _state_after(told: TableState, commit: Commit) -> TableState:
    return replace(
        told,
        protocol=commit.protocol or told.protocol,
        metadata=commit.metadata or told.metadata,
        domains=None if told.domains is None else rules.apply_domain_actions(told.domains, commit.domains),
    )


def _foreign_txn_error(proposal: Proposal) -> CommitRefused:
    return CommitRefused(
        f"transaction {proposal.txn_id} is a commit of another table: a txnId is used for one transaction "
        "only; nothing was committed",
        policy="replay", reason="a transaction of another table", line=1, action="commitInfo",
    )  # fmt: skip


def _over_quota_error(principal: Principal, limit: int) -> TooManyUnpublished:
    return TooManyUnpublished(
        f"{limit} commits of {principal} to this table wait to be published, which is as many as may: "
        "publish them with table.publish() or headgate table publish, and try again; "
        "lake.limit_unpublished(…) sets the limit",
        principal=str(principal), limit=limit,
    )  # fmt: skip
