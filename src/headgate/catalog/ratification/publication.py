"""How far is a table published? As far as the catalog has seen itself that the files are what it ratified.

Nobody's word counts: what a file is, is read and hashed.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, select

from headgate.catalog.activity.subscriptions import EventLog
from headgate.catalog.database.engine import Database
from headgate.catalog.database.gathered_writes import GatheredWrites
from headgate.catalog.ports.access import OWNER, Principal, Privilege
from headgate.catalog.ports.commits import StagedCommit, TableId, fingerprint
from headgate.catalog.ports.events import EventKind
from headgate.catalog.published_files import STRAY_FILE_CODE
from headgate.catalog.store import commit_store, grant_store, transfer_store
from headgate.catalog.store.event_store import NewEvent
from headgate.errors import CorruptLog, HeadgateError, InvalidRequest, NotAllowed, ObjectNotFound
from headgate.protocol.actions import Version
from headgate.protocol.log import file_names
from headgate.storage import parallel_reads
from headgate.storage.store import Store

_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class PublishedWatermarks:
    """How far tables are published, by what a catalog has seen itself."""

    database: Database
    events: EventLog
    files: Callable[[str], Store]
    """The store of a table, by its location as the database has it."""
    writes: GatheredWrites
    principal: Principal = OWNER

    def mark(self, table_id: TableId, version: Version) -> None:
        """Raise the watermark to ``version``, or as far as it can be believed, and then say what is wrong.

        A file that differs is an incident, told once; so is a ratified commit's staged file that does, of
        which there is no other copy.
        """
        with self.database.reading() as db:
            _check_may_publish(db, self.principal, table_id)
            known = commit_store.find_head(db, table_id)
            if known is None:
                raise transfer_store.not_live_error(db, table_id)
            digests = commit_store.commit_digests(db, table_id, known.head.published, version)
        if version > known.head.latest:
            raise InvalidRequest(
                f"version {version} cannot be published: the latest ratified version is {known.head.latest}",
                asked=version, latest=known.head.latest,
            )  # fmt: skip
        files = self.files(known.location)
        reached, problem = _verified_prefix(files, digests)
        if reached is not None:
            self._advance(table_id, known.head.published, reached)
        if isinstance(problem, InvalidRequest):
            problem = self._tampered(table_id, files, digests, reached) or problem
        if isinstance(problem, CorruptLog):
            self._tell(table_id, problem)
        if problem is not None:
            raise problem

    def ratified_names(self, table_id: TableId, file_names: Iterable[str]) -> frozenset[str]:
        """Those of the staged files that are ratified commits, published or not."""
        wanted = sorted(file_names)
        found: set[str] = set()
        with self.database.reading() as db:
            grant_store.require_visible(db, self.principal, table_id)
            for start in range(0, len(wanted), _AT_ONCE):
                query = select(commit_store.commits.c.file_name).where(
                    commit_store.commits.c.table_id == table_id,
                    commit_store.commits.c.file_name.in_(wanted[start : start + _AT_ONCE]),
                )
                found.update(db.scalars(query))
        return frozenset(found)

    def _advance(self, table_id: TableId, after: Version, version: Version) -> None:
        def raise_watermark(db: Connection) -> None:
            commit_store.lock_table(db, table_id)
            commit_store.advance_published(db, table_id, after, version)

        self.writes.run(raise_watermark)

    def _tampered(
        self, table_id: TableId, files: Store, digests: Mapping[Version, str], reached: Version | None
    ) -> CorruptLog | None:
        """What is wrong with the staged file of the first version that is not published, if anything."""
        version = next(version for version in digests if reached is None or version > reached)
        with self.database.reading() as db:
            commit, *_ = commit_store.commits_from(db, table_id, version, Version(version - 1))
        if not isinstance(commit.where, StagedCommit):
            return None
        try:
            found = fingerprint(files.read(commit.where.path))
        except ObjectNotFound:
            found = "gone"
        if found == digests[version]:
            return None
        return CorruptLog(
            f"the staged file {commit.where.path} of version {version} is gone, or no longer what was "
            "ratified, and there is no other copy: restore it from a backup, and find out who "
            "may write to the log",
            code=STRAY_FILE_CODE, version=version, path=commit.where.path, found=found,
        )  # fmt: skip

    def _tell(self, table_id: TableId, problem: CorruptLog) -> None:
        version, found = problem.fields["version"], problem.fields["found"]
        details = {"code": problem.code, "message": problem.message, "path": problem.fields["path"]}
        self.events.record_incident(
            f"{STRAY_FILE_CODE}/{table_id}/{version}/{found}",
            NewEvent(EventKind.INCIDENT, table_id, version=Version(int(str(version))), details=details),
        )


def _check_may_publish(db: Connection, principal: Principal, table_id: TableId) -> None:
    """Whoever may commit, or maintain the table, may have the catalog look at what is published of it."""
    grant_store.require_visible(db, principal, table_id)
    if not grant_store.table_privileges(db, principal, table_id) - {Privilege.READ}:
        raise NotAllowed(
            f"{principal} may only read the table, and to report what is published of it one must be allowed "
            "to commit to it, or to MAINTAIN it: ask its owner for that",
            operation="publish", principal=str(principal),
        )  # fmt: skip


def _verified_prefix(
    files: Store, digests: Mapping[Version, str]
) -> tuple[Version | None, HeadgateError | None]:
    """The last version up to which every file is what was ratified, and what is wrong with the next."""
    reached: Version | None = None
    read = parallel_reads.map_in_order(files, lambda version: _file_fingerprint(files, version), digests)
    for version, digest in digests.items():
        found = next(read)
        if found is None:
            return reached, InvalidRequest(
                f"version {version} is not published, so it cannot be marked so", version=version
            )
        if found != digest:
            return reached, _stray_file_error(version, found)
        reached = version
    return reached, None


def _file_fingerprint(files: Store, version: Version) -> str | None:
    try:
        return fingerprint(files.read(file_names.published_path(version)))
    except ObjectNotFound:
        return None


def _stray_file_error(version: Version, found: str) -> CorruptLog:
    path = file_names.published_path(version)
    return CorruptLog(
        f"the published file of version {version} differs from what was ratified; the catalog keeps its own "
        "copy and readers use that: remove the stray file and publish again",
        code=STRAY_FILE_CODE, version=version, path=path, found=found,
    )  # fmt: skip
