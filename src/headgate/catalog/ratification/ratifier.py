"""How does a proposal become a version? Those that wait at the same moment are decided in one transaction.

A proposal for ``orders`` comes in. It waits for the transaction before it, if there is one
(``group_commit``), and then it is decided with whatever else waited (``ratify``):

    propose → GroupCommit.submit → ratify → ratify.ratify → decision.decide

Only two things lead off this path. The next version of a table may turn out to be published although the
catalog does not know it (K8): then it is taken in (``external_commits``), and all are decided again. And
where the log of a table is shared, its file decides and no row of the database (``shared_log``).
"""

from collections.abc import Sequence
from dataclasses import replace

from headgate.catalog.database.engine import Database
from headgate.catalog.ports.commits import Lost, Ratified, RatifiedCommit, TableId, Unknown
from headgate.catalog.ratification import external_commits, ratify
from headgate.catalog.ratification.external_commits import ExternalCommitImporter
from headgate.catalog.ratification.group_commit import GroupCommit
from headgate.catalog.ratification.ratify import (
    Answer,
    Candidate,
    RatificationTerms,
    UnknownVersionPublished,
)
from headgate.catalog.ratification.shared_log import SharedLogRatifier
from headgate.catalog.store import commit_store
from headgate.errors import (
    CatalogError,
    CatalogUnavailable,
    CommitUnknown,
    HeadgateError,
    NotAllowed,
    SharedLog,
    StorageError,
)
from headgate.protocol.actions import TxnId, Version

_GROUP_LIMIT = 64
_INTERRUPTED = Unknown("the thread that carried the proposal to the database was interrupted")


class Ratifier:
    """Ratifies the proposals of many threads; safe to share between them."""

    def __init__(
        self, database: Database, terms: RatificationTerms, importer: ExternalCommitImporter
    ) -> None:
        self._database = database
        self.terms = replace(
            terms, is_taken=lambda _, location, version: importer.probe.sees(location, version)
        )
        """On what terms it ratifies: having looked whether the next version is published."""
        self._importer = importer
        self._shared_logs = SharedLogRatifier(database, terms, importer)
        self._proposals = GroupCommit[Candidate, Answer](
            self.ratify, limit=_GROUP_LIMIT, interrupted=_INTERRUPTED
        )

    def propose(self, candidate: Candidate) -> Ratified | Lost[RatifiedCommit] | Unknown:
        """What becomes of a proposal; raises what can never be ratified."""
        # Only where all wait for all may tables share a transaction; elsewhere one would hold up the others.
        lane = None if self._database.has_one_writer else candidate.proposal.table_id
        answer = self._proposals.submit(lane, candidate)
        if isinstance(answer, SharedLog):
            return self._shared_logs.ratify(candidate)
        if isinstance(answer, HeadgateError):
            raise answer
        return answer

    def ratify(self, group: Sequence[Candidate]) -> list[Answer]:
        """Decide the candidates in their order, in one transaction; an answer for each."""
        try:
            return ratify.ratify(self._database, group, self.terms)
        except UnknownVersionPublished as unseen:
            return self._ratify_after_import(unseen, group)

    def _ratify_after_import(
        self, unseen: UnknownVersionPublished, group: Sequence[Candidate]
    ) -> list[Answer]:
        """Decide them after versions that turn out to be published already."""
        strays = set[tuple[TableId, Version]]()
        blocked: dict[tuple[TableId, TxnId], HeadgateError] = {}

        def is_taken(table_id: TableId, location: str, version: Version) -> bool:
            return (table_id, version) not in strays and self.terms.is_taken(table_id, location, version)

        terms = replace(self.terms, is_taken=is_taken)
        while True:
            concerned = [each for each in group if each.proposal.table_id == unseen.table_id]
            try:
                origin = external_commits.unknown_origin(concerned[0])
                known = self._importer.import_version(unseen.table_id, unseen.version, origin=origin)
            except NotAllowed as exc:
                known = False
                blocked |= {_key(each): exc for each in self._unratified(concerned)}
            except (CatalogError, CommitUnknown, StorageError) as exc:
                return [CatalogUnavailable(f"nothing was decided: {exc.message}") for _ in group]
            if not known:
                strays.add((unseen.table_id, unseen.version))
            free = [each for each in group if _key(each) not in blocked]
            try:
                decided = iter(ratify.ratify(self._database, free, terms) if free else ())
                return [blocked.get(_key(each)) or next(decided) for each in group]
            except UnknownVersionPublished as following:
                unseen = following

    def _unratified(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Those of one table's candidates that are not a version already."""
        txn_ids = [each.proposal.txn_id for each in candidates]
        with self._database.reading() as db:
            known = commit_store.versions_of(db, candidates[0].proposal.table_id, txn_ids)
        return [each for each in candidates if each.proposal.txn_id not in known]


def _key(candidate: Candidate) -> tuple[TableId, TxnId]:
    return candidate.proposal.table_id, candidate.proposal.txn_id
