"""Did somebody publish a version that the catalog does not know? Looking for it, and taking it in (K8).

A file ``<v>.json`` makes version v a fact, whether or not the catalog was told. So before the catalog
decides about the next version it looks for its file, in the same transaction, where looking costs next to
nothing: in a folder of this machine. Elsewhere a look would cost more than the whole commit, and a look
cannot exclude that the file appears a moment later, so a process looks before its first commit only: the
database may have been restored from a backup. Where others really are to publish versions
themselves, the table has to say so (``share_log``): from then on the catalog ratifies by creating the
file itself, which either succeeds or finds out who was faster, and it looks whenever anybody asks.

What is found is reviewed like a proposal of somebody unknown (``external``). If it is refused it is no
version, and in the way of one: then nothing is committed until somebody has decided what becomes of it.

The catalog knows version 4, and another engine has created ``00000000000000000005.json``. A proposal of
version 5 comes in: the file is found, read, reviewed and written down as version 5, and the proposal is
decided again. A blind append is assigned version 6, if the file changes nothing but files; else ``Lost``
has that commit as its winner.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from sqlalchemy import Connection

from headgate.catalog.access.commit_policies import Proposer
from headgate.catalog.database.engine import Database
from headgate.catalog.decision import UnpublishedLimits
from headgate.catalog.ports.access import EXTERNAL
from headgate.catalog.ports.commits import InlineCommit, Lost, Ratified, RatifiedCommit, TableId, Unknown
from headgate.catalog.ports.policies import CommitPolicy
from headgate.catalog.ports.recovery import StoredCommit
from headgate.catalog.ratification import external_review, ratify
from headgate.catalog.ratification.external_review import CommitOrigin, ExternalReview
from headgate.catalog.ratification.partitioning_cache import PartitioningCache
from headgate.catalog.ratification.ratify import (
    Answer,
    Candidate,
    RatificationTerms,
    UnknownVersionPublished,
    VersionTaken,
)
from headgate.catalog.store import commit_store, table_not_found
from headgate.catalog.store.commit_store import KnownTable
from headgate.clock import World
from headgate.errors import (
    CatalogError,
    CatalogUnavailable,
    CommitUnknown,
    CorruptLog,
    HeadgateError,
    InvalidRequest,
    NotAllowed,
    ObjectExists,
    ObjectNotFound,
    StorageError,
    StorageUnavailable,
    UserError,
)
from headgate.protocol.actions import TxnId, Version
from headgate.protocol.log import file_names
from headgate.storage.local import LocalStore
from headgate.storage.store import Store

Policies = Mapping[str, CommitPolicy]

_ATTEMPTS = 100
_PROBED_TABLES = 8


@dataclass(frozen=True, slots=True)
class ExternalCommitImporter:
    """Ratifies with an eye on the tables' logs."""

    database: Database
    files: Callable[[str], Store]
    """The store of a table, by its location as the database has it."""
    limits: UnpublishedLimits
    world: World
    partitionings: PartitioningCache = field(default_factory=PartitioningCache)
    _folders: dict[str, LocalStore | None] = field(default_factory=dict)
    _looked: set[str] = field(default_factory=set)
    """The places that are no folders, where nothing was found."""

    def ratify(self, group: Sequence[Candidate]) -> list[Answer]:
        """Decide the candidates like ``ratify.ratify``, after versions that turn out to be taken already."""
        strays = set[tuple[TableId, Version]]()
        blocked: dict[tuple[TableId, TxnId], HeadgateError] = {}

        def is_taken(table_id: TableId, location: str, version: Version) -> bool:
            return (table_id, version) not in strays and self._is_there(location, version)

        terms = RatificationTerms(self.limits, is_taken, self.partitionings, self.world.now_ms)
        while True:
            free = [each for each in group if _key(each) not in blocked]
            try:
                decided = iter(ratify.ratify(self.database, free, terms) if free else ())
                return [blocked.get(_key(each)) or next(decided) for each in group]
            except UnknownVersionPublished as unseen:
                concerned = [each for each in group if each.proposal.table_id == unseen.table_id]
                try:
                    known = self.take_in(
                        unseen.table_id, unseen.version, origin=_unknown_origin(concerned[0])
                    )
                except NotAllowed as exc:
                    known = False
                    blocked |= {_key(each): exc for each in self._unratified(concerned)}
                except (CatalogError, CommitUnknown, StorageError) as exc:
                    return [CatalogUnavailable(f"nothing was decided: {exc.message}") for _ in group]
                if not known:
                    strays.add((unseen.table_id, unseen.version))

    def _unratified(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Those of one table's candidates that are not a version already."""
        txn_ids = [each.proposal.txn_id for each in candidates]
        with self.database.reading() as db:
            known = commit_store.versions_of(db, candidates[0].proposal.table_id, txn_ids)
        return [each for each in candidates if each.proposal.txn_id not in known]

    def take_in(
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
            known = _require_known_table(db, table_id)
        version = Version(known.head.latest + 1)
        if wanted is not None and wanted < version:
            return True
        try:
            content = self.files(known.location).read(file_names.published_path(version))
            candidate = external_review.candidate_from_file(table_id, version, content)
        except (ObjectNotFound, UserError, CorruptLog):
            return False
        if candidate is None or candidate.checked.timestamp <= known.head.latest_timestamp:
            return False
        if mine is not None and _is_same_commit(mine, candidate):
            origin = CommitOrigin(mine.standing, is_ours=True)
        return ExternalReview(self.database, self.world, self.partitionings).write_down(candidate, origin)

    def look_in_shared(self, table_ids: Iterable[TableId], policies: Policies) -> None:
        """Take in what others published of those of the tables whose log is shared."""
        with self.database.reading() as db:
            shared = commit_store.shared_log_tables(db, table_ids)
        for table_id in shared:
            self.look(table_id, policies)

    def look_in_folders(self, table_ids: Iterable[TableId], policies: Policies) -> None:
        """Take in what others published of those of the tables where looking costs next to nothing.

        ``NotAllowed`` if one of them has something in its way.
        """
        with self.database.reading() as db:
            heads = {table_id: commit_store.find_head(db, table_id) for table_id in table_ids}
        for table_id, known in heads.items():
            if known is not None and self._is_there(known.location, Version(known.head.latest + 1)):
                self._look(table_id, policies)

    def look(self, table_id: TableId, policies: Policies) -> bool:
        """Take in every version that others published, for readers; whether there were any."""
        try:
            return self._look(table_id, policies)
        except NotAllowed:  # it is told, and what readers have is what there is
            return False

    def _look(self, table_id: TableId, policies: Policies) -> bool:
        found, origin = False, CommitOrigin(Proposer(EXTERNAL, policies))
        while self.take_in(table_id, origin=origin):
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
            found = list(pool.map(lambda each: self._goes_on(each.location, each.latest), recent))
        suspects = [each for each, is_ahead in zip(recent, found, strict=True) if is_ahead]
        if not suspects:
            return ()
        with self.database.reading() as db:  # by now it may know the version that was just published
            now = {each.table_id: each.latest for each in commit_store.recently_committed(db, _PROBED_TABLES)}
        return tuple(each.name for each in suspects if now.get(each.table_id, each.latest) == each.latest)

    def _goes_on(self, location: str, latest: Version) -> bool:
        try:
            self.files(location).head(file_names.published_path(Version(latest + 1)))
        except StorageError:
            return False
        return True

    def accept(self, table_id: TableId, version: Version, standing: Proposer) -> Version:
        """Take in versions of others up to this one on somebody's behalf, as if they had proposed them."""
        while True:
            with self.database.reading() as db:
                external_review.check_may_decide(db, standing.principal, table_id)
                known = _require_known_table(db, table_id)
            latest, following = known.head.latest, Version(known.head.latest + 1)
            if latest >= version:
                return latest
            if not self.take_in(table_id, origin=CommitOrigin(standing)) and self._latest(table_id) == latest:
                raise self._no_version(known.location, following)  # nobody else took it in meanwhile either

    def _latest(self, table_id: TableId) -> Version:
        with self.database.reading() as db:
            return _require_known_table(db, table_id).head.latest

    def _no_version(self, location: str, version: Version) -> HeadgateError:
        """Why there is nothing to take in."""
        try:
            self.files(location).head(file_names.published_path(version))
        except ObjectNotFound:
            return InvalidRequest(f"there is no {file_names.published_path(version)} to accept")
        return _occupied_version_error(version)

    def propose(self, candidate: Candidate) -> Ratified | Lost[RatifiedCommit] | Unknown:
        """Ratify by creating the published file; for a table whose log is shared."""
        proposal = candidate.proposal
        for _ in range(_ATTEMPTS):
            answer = self._decided(candidate)
            if not isinstance(answer, tuple):
                return answer
            location, record = answer
            version, where = record.commit.version, record.commit.where
            content = where.content if isinstance(where, InlineCommit) else candidate.content
            try:
                ours = _create_published_file(self.files(location), version, content)
                known = self.take_in(
                    proposal.table_id, version, origin=_unknown_origin(candidate), mine=candidate
                )
            except NotAllowed:
                raise
            except (StorageUnavailable, CatalogError, CommitUnknown) as exc:
                return Unknown(f"version {version} may be in the log by now: {exc.message}")
            if not known:
                raise _occupied_version_error(version)
            if ours:
                return Ratified(version)
        raise CatalogUnavailable("others were faster every time: try again")

    def _decided(self, candidate: Candidate) -> Ratified | Lost[RatifiedCommit] | tuple[str, StoredCommit]:
        proposal = candidate.proposal
        with self.database.reading() as db:
            found = _require_known_table(db, proposal.table_id, candidate)
            first = found.first_ratified_as
            known = {} if first is None else {proposal.txn_id: first}
            gate = ratify.open_gate(db, proposal.table_id, found, [proposal.txn_id], self.partitionings)
            alone, now_ms = replace(found.head, shares_log=False), self.world.now_ms()
            made = ratify.plan_candidates(alone, known, [candidate], self.limits, gate, now_ms)
            match made.answers[0]:
                case HeadgateError() as error:
                    raise error
                case VersionTaken():
                    return Lost(
                        commit_store.commits_from(
                            db, proposal.table_id, proposal.target, found.head.published
                        )
                    )
                case Ratified() as ratified:
                    return (found.location, made.records[0]) if made.records else ratified

    def _is_there(self, location: str, version: Version) -> bool:
        """Whether the file of a version is there: always seen in a folder, elsewhere at first.

        There a process looks until it has found nothing once, so that one which comes after a backup of the
        database was restored does not ratify anew what is published.
        """
        if location not in self._folders:
            files = self.files(location)
            self._folders[location] = files if isinstance(files, LocalStore) else None
        if location in self._looked:
            return False
        folder = self._folders[location]
        if folder is not None:
            return folder.exists(file_names.published_path(version))
        found = self._goes_on(location, Version(version - 1))
        if not found:
            self._looked.add(location)
        return found


def _create_published_file(files: Store, version: Version, content: bytes) -> bool:
    """Create the published file of a version; whether it has this content, from now or from before."""
    path = file_names.published_path(version)
    try:
        files.put_if_absent(path, content)
    except ObjectExists:
        return files.read(path) == content
    return True


def _require_known_table(db: Connection, table_id: TableId, candidate: Candidate | None = None) -> KnownTable:
    found = commit_store.find_head(db, table_id, candidate.proposal.txn_id if candidate is not None else None)
    if found is None:
        raise table_not_found.no_table(table_id)
    return found


def _key(candidate: Candidate) -> tuple[TableId, TxnId]:
    return candidate.proposal.table_id, candidate.proposal.txn_id


def _is_same_commit(mine: Candidate, found: Candidate) -> bool:
    """Whether this is what was proposed, but for its timestamp: a txnId can be read in a staged file."""
    same = mine.content.partition(b"\n")[2] == found.content.partition(b"\n")[2]
    return same and mine.proposal.txn_id == found.proposal.txn_id


def _unknown_origin(candidate: Candidate) -> CommitOrigin:
    """Somebody of whom nothing is known, reviewed by the policies under which this was proposed."""
    return CommitOrigin(Proposer(EXTERNAL, candidate.standing.policies))


def _occupied_version_error(version: Version) -> CorruptLog:
    return CorruptLog(
        f"{file_names.published_path(version)} exists and is no commit of this table, so version {version} "
        "cannot be created: find out who wrote it, move it away and try again",
        code="DELTA_TXN_LOG_FAILED_INTEGRITY", version=version,
    )  # fmt: skip
