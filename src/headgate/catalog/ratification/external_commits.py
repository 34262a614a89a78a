"""Did somebody publish a version that the catalog does not know? Looking for it, and taking it in (K8).

A file ``<v>.json`` makes version v a fact, whether or not the catalog was told. So before the catalog
decides about the next version it looks for its file, in the same transaction, where looking costs next to
nothing (``published_probe``). Where others really are to publish versions themselves, the table has to say
so (``share_log``): from then on the catalog looks whenever anybody asks, and ratifies by creating the file
itself (``shared_log``).

What is found is reviewed like a proposal of somebody unknown (``external_review``). If it is refused it is no
version, and in the way of one: then nothing is committed until somebody has decided what becomes of it.

The catalog knows version 4, and another engine has created ``00000000000000000005.json``. A proposal of
version 5 comes in: the file is found, read, reviewed and written down as version 5, and the proposal is
decided again. A blind append is assigned version 6, if the file changes nothing but files; else ``Lost``
has that commit as its winner.
"""

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from headgate.catalog.access.commit_policies import Proposer
from headgate.catalog.database.engine import Database
from headgate.catalog.ports.access import EXTERNAL, Principal
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.policies import CommitPolicy
from headgate.catalog.ratification.partitioning_cache import PartitioningCache
from headgate.catalog.ratification.published_probe import PublishedProbe
from headgate.catalog.ratification.ratify import Candidate
from headgate.catalog.store import commit_store, table_not_found
from headgate.catalog.store.commit_store import KnownTable
from headgate.clock import World
from headgate.deferred import deferred
from headgate.errors import CorruptLog, HeadgateError, InvalidRequest, NotAllowed, ObjectNotFound, UserError
from headgate.protocol.actions import TxnId, Version
from headgate.protocol.log import file_names
from headgate.storage.store import Store

if TYPE_CHECKING:
    from headgate.catalog.ratification import external_review
    from headgate.catalog.ratification.external_review import CommitOrigin, ExternalReview
else:
    external_review = deferred("headgate.catalog.ratification", "external_review")
    CommitOrigin, ExternalReview = deferred(
        "headgate.catalog.ratification.external_review", "CommitOrigin", "ExternalReview"
    )

Policies = Mapping[str, CommitPolicy]

_PROBED_TABLES = 8


@dataclass(frozen=True, slots=True)
class ExternalCommitImporter:
    """Takes in versions that others published, after a review."""

    database: Database
    world: World
    probe: PublishedProbe
    partitionings: PartitioningCache

    def import_version(
        self,
        table_id: TableId,
        wanted: Version | None = None,
        *,
        origin: CommitOrigin,
        mine: Candidate | None = None,
    ) -> bool:
        """Learn a version, by default the next one, from its published file; whether it is known now.

        A file that is no commit of a catalog-managed table is left alone: publishing tells of it. One that
        must not be a version of this table is told of, and ``NotAllowed``.
        """
        with self.database.reading() as db:
            known = require_known_table(db, table_id)
        version = Version(known.head.latest + 1)
        if wanted is not None and wanted < version:
            return True
        try:
            content = self.probe.files(known.location).read(file_names.published_path(version))
            candidate = external_review.candidate_from_file(table_id, version, content)
        except (ObjectNotFound, UserError, CorruptLog):
            return False
        if candidate is None or candidate.checked.timestamp <= known.head.latest_timestamp:
            return False
        if mine is not None and _is_same_commit(mine, candidate):
            origin = CommitOrigin(mine.standing, is_ours=True)
        return ExternalReview(self.database, self.world, self.partitionings).write_down(candidate, origin)

    def import_from_shared_logs(self, table_ids: Iterable[TableId], policies: Policies) -> None:
        """Take in what others published of those of the tables whose log is shared."""
        with self.database.reading() as db:
            shared = commit_store.shared_log_tables(db, table_ids)
        for table_id in shared:
            self.import_versions(table_id, policies)

    def import_from_folders(self, table_ids: Iterable[TableId], policies: Policies) -> None:
        """Take in what others published of those of the tables where looking costs next to nothing.

        ``NotAllowed`` if one of them has something in its way.
        """
        with self.database.reading() as db:
            heads = {table_id: commit_store.find_head(db, table_id) for table_id in table_ids}
        for table_id, known in heads.items():
            if known is not None and self.probe.sees(known.location, Version(known.head.latest + 1)):
                self._import_versions(table_id, policies)

    def import_versions(self, table_id: TableId, policies: Policies) -> bool:
        """Take in every version that others published, for readers; whether there were any."""
        try:
            return self._import_versions(table_id, policies)
        except NotAllowed:  # it is told, and what readers have is what there is
            return False

    def _import_versions(self, table_id: TableId, policies: Policies) -> bool:
        found, origin = False, CommitOrigin(Proposer(EXTERNAL, policies))
        while self.import_version(table_id, origin=origin):
            found = True
        return found

    def ahead(self) -> tuple[str, ...]:
        """The names of tables, of those that were committed to last, of which a later version is published.

        Readers and writers of a log that is not shared publish only what is ratified, so it tells of a
        database that is older than the log, or of somebody who does not keep to that.
        """
        with self.database.reading() as db:
            recent = commit_store.recently_committed(db, _PROBED_TABLES)
        with ThreadPoolExecutor(_PROBED_TABLES) as pool:
            found = list(
                pool.map(
                    lambda each: self.probe.is_published(each.location, Version(each.latest + 1)), recent
                )
            )
        suspects = [each for each, is_ahead in zip(recent, found, strict=True) if is_ahead]
        if not suspects:
            return ()
        with self.database.reading() as db:  # by now it may know the version that was just published
            now = {each.table_id: each.latest for each in commit_store.recently_committed(db, _PROBED_TABLES)}
        return tuple(each.name for each in suspects if now.get(each.table_id, each.latest) == each.latest)

    def accept(self, table_id: TableId, version: Version, standing: Proposer) -> Version:
        """Take in versions of others up to this one on somebody's behalf, as if they had proposed them."""
        while True:
            with self.database.reading() as db:
                external_review.check_may_decide(db, standing.principal, table_id)
                known = require_known_table(db, table_id)
            latest, following = known.head.latest, Version(known.head.latest + 1)
            if latest >= version:
                return latest
            if (
                not self.import_version(table_id, origin=CommitOrigin(standing))
                and self._latest(table_id) == latest
            ):
                raise self._no_version(known.location, following)  # nobody else took it in meanwhile either

    def set_aside(self, table_id: TableId, store: Store, version: Version, by: Principal) -> str:
        """Move a version that is in the way out of it, on somebody's behalf; where it is then."""
        review = ExternalReview(self.database, self.world, self.partitionings)
        return review.set_aside(table_id, store, version, by)

    def _latest(self, table_id: TableId) -> Version:
        with self.database.reading() as db:
            return require_known_table(db, table_id).head.latest

    def _no_version(self, location: str, version: Version) -> HeadgateError:
        """Why there is nothing to take in."""
        try:
            self.probe.files(location).head(file_names.published_path(version))
        except ObjectNotFound:
            return InvalidRequest(f"there is no {file_names.published_path(version)} to accept")
        return occupied_version_error(version)


def require_known_table(db: Connection, table_id: TableId, txn_id: TxnId | None = None) -> KnownTable:
    found = commit_store.find_head(db, table_id, txn_id)
    if found is None:
        raise table_not_found.no_table(table_id)
    return found


def _is_same_commit(mine: Candidate, found: Candidate) -> bool:
    """Whether this is what was proposed, but for its timestamp: a txnId can be read in a staged file."""
    same = mine.content.partition(b"\n")[2] == found.content.partition(b"\n")[2]
    return same and mine.proposal.txn_id == found.proposal.txn_id


def unknown_origin(candidate: Candidate) -> CommitOrigin:
    """Somebody of whom nothing is known, reviewed by the policies under which this was proposed."""
    return CommitOrigin(Proposer(EXTERNAL, candidate.standing.policies))


def occupied_version_error(version: Version) -> CorruptLog:
    return CorruptLog(
        f"{file_names.published_path(version)} exists and is no commit of this table, so version {version} "
        "cannot be created: find out who wrote it, move it away and try again",
        code="DELTA_TXN_LOG_FAILED_INTEGRITY", version=version,
    )  # fmt: skip
