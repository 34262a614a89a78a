"""Is a version in ``_delta_log`` exactly what was ratified? Placing it there, and believing that it is.

Nothing that is there is ever overwritten, and nobody's word counts: what a file is, is read and hashed.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from sqlalchemy import select

from headgate.catalog.activity.subscriptions import EventLog
from headgate.catalog.database.engine import Database
from headgate.catalog.ports import RatifiedCommit, Staged, TableId
from headgate.catalog.ratification import ratify
from headgate.catalog.store import commit_store, grant_store, transfer_store
from headgate.catalog.store.event_store import Happened, Kind
from headgate.catalog.store.grant_store import OWNER, Principal
from headgate.errors import CorruptLog, HeadgateError, InvalidRequest, ObjectExists, ObjectNotFound
from headgate.protocol.actions import Version
from headgate.protocol.log import file_names
from headgate.storage import parallel_reads
from headgate.storage.store import Store

_AT_ONCE = 500
STRAY = "DELTA_TXN_LOG_FAILED_INTEGRITY"
"""The code of every error that says: this file is not what was ratified."""


def place(files: Store, version: Version, content: bytes) -> None:
    """Make ``content`` the published file of its version, or see that it is; ``CorruptLog`` if another is."""
    path = file_names.published(version)
    try:
        files.put_if_absent(path, content)
    except ObjectExists as exc:
        if files.read(path) != content:
            raise _differs(version) from exc


def place_all(files: Store, contents: Iterable[tuple[Version, bytes]]) -> None:
    """Place versions in their order; it stops at the first that fails, so no gap can arise (I3)."""
    if not isinstance(files, parallel_reads.PutsInOrder):
        for version, content in contents:
            place(files, version, content)
        return
    versions = {file_names.published(version): (version, content) for version, content in contents}
    try:
        files.put_in_order([(path, content) for path, (_, content) in versions.items()])
    except ObjectExists as exc:
        raise _differs(versions[str(exc.fields["path"])][0]) from exc


def _differs(version: Version) -> CorruptLog:
    path = file_names.published(version)
    return CorruptLog(
        f"{path} exists and differs from the ratified version {version}; it is not overwritten: "
        "find out who wrote it, move it away and publish again",
        code=STRAY, version=version,
    )  # fmt: skip


def check_content(commit: RatifiedCommit, content: bytes) -> bytes:
    """The content of a commit that lies where others may write, if it is what was ratified (T5)."""
    if commit.sha256 is not None and ratify.fingerprint(content) != commit.sha256:
        raise CorruptLog(
            f"the staged file {_path(commit)} of version {commit.version}, of {len(content)} bytes, is no "
            "longer what was ratified; nothing else is read in its place: restore it from a backup, and find "
            "out who may write to the log",
            code=STRAY, version=commit.version, path=_path(commit),
        )  # fmt: skip
    return content


def _path(commit: RatifiedCommit) -> str:
    return commit.where.path if isinstance(commit.where, Staged) else file_names.published(commit.version)


@dataclass(frozen=True, slots=True)
class Publications:
    """How far tables are published, by what a catalog has seen itself."""

    database: Database
    events: EventLog
    files: Callable[[str], Store]
    """The store of a table, by its location as the database has it."""
    principal: Principal = OWNER

    def mark(self, table_id: TableId, version: Version) -> None:
        """Raise the watermark to ``version``, or as far as it can be believed, and then say what is wrong.

        A file that differs is an incident, told once; so is a ratified commit's staged file that does, of
        which there is no other copy.
        """
        with self.database.reading() as db:
            grant_store.require_sight(db, self.principal, table_id)
            known = commit_store.find_head(db, table_id)
            if known is None:
                raise transfer_store.not_live(db, table_id)
            digests = commit_store.digests(db, table_id, known.head.published, version)
        if version > known.head.latest:
            raise InvalidRequest(
                f"version {version} cannot be published: the latest ratified version is {known.head.latest}",
                asked=version, latest=known.head.latest,
            )  # fmt: skip
        files = self.files(known.location)
        reached, problem = _believed(files, digests)
        if reached is not None:
            self._advance(table_id, reached)
        if isinstance(problem, InvalidRequest):
            problem = self._tampered(table_id, files, digests, reached) or problem
        if isinstance(problem, CorruptLog):
            self._tell(table_id, problem)
        if problem is not None:
            raise problem

    def named(self, table_id: TableId, file_names: Iterable[str]) -> frozenset[str]:
        """Those of the staged files that are ratified commits, published or not."""
        wanted = sorted(file_names)
        found: set[str] = set()
        with self.database.reading() as db:
            grant_store.require_sight(db, self.principal, table_id)
            for start in range(0, len(wanted), _AT_ONCE):
                query = select(commit_store.commits.c.file_name).where(
                    commit_store.commits.c.table_id == table_id,
                    commit_store.commits.c.file_name.in_(wanted[start : start + _AT_ONCE]),
                )
                found.update(db.scalars(query))
        return frozenset(found)

    def _advance(self, table_id: TableId, version: Version) -> None:
        with self.database.writing() as db:
            commit_store.hold(db, table_id)
            known = commit_store.find_head(db, table_id)
            if known is not None and known.head.published < version:
                commit_store.advance_published(db, table_id, known.head.published, version)

    def _tampered(
        self, table_id: TableId, files: Store, digests: Mapping[Version, str], reached: Version | None
    ) -> CorruptLog | None:
        """What is wrong with the staged file of the first version that is not published, if anything."""
        version = next(version for version in digests if reached is None or version > reached)
        with self.database.reading() as db:
            commit, *_ = commit_store.commits_from(db, table_id, version, Version(version - 1))
        if not isinstance(commit.where, Staged):
            return None
        try:
            found = ratify.fingerprint(files.read(commit.where.path))
        except ObjectNotFound:
            found = "gone"
        if found == digests[version]:
            return None
        return CorruptLog(
            f"the staged file {commit.where.path} of version {version} is gone, or no longer what was "
            "ratified, and there is no other copy: restore it from a backup, and find out who "
            "may write to the log",
            code=STRAY, version=version, path=commit.where.path, found=found,
        )  # fmt: skip

    def _tell(self, table_id: TableId, problem: CorruptLog) -> None:
        version, found = problem.fields["version"], problem.fields["found"]
        details = {"code": problem.code, "message": problem.message, "path": problem.fields["path"]}
        self.events.tell_once(
            f"{STRAY}/{table_id}/{version}/{found}",
            Happened(Kind.INCIDENT, table_id, version=Version(int(str(version))), details=details),
        )


def _believed(files: Store, digests: Mapping[Version, str]) -> tuple[Version | None, HeadgateError | None]:
    """The last version up to which every file is what was ratified, and what is wrong with the next."""
    reached: Version | None = None
    read = parallel_reads.in_order(files, lambda version: _fingerprint(files, version), digests)
    for version, digest in digests.items():
        found = next(read)
        if found is None:
            return reached, InvalidRequest(
                f"version {version} is not published, so it cannot be marked so", version=version
            )
        if found != digest:
            return reached, _stray(version, found)
        reached = version
    return reached, None


def _fingerprint(files: Store, version: Version) -> str | None:
    try:
        return ratify.fingerprint(files.read(file_names.published(version)))
    except ObjectNotFound:
        return None


def _stray(version: Version, found: str) -> CorruptLog:
    path = file_names.published(version)
    return CorruptLog(
        f"the published file of version {version} differs from what was ratified; the catalog keeps its own "
        "copy and readers use that: remove the stray file and publish again",
        code=STRAY, version=version, path=path, found=found,
    )  # fmt: skip


def batches(
    contents: Iterable[tuple[Version, bytes]], *, count: int, size: int
) -> Iterator[list[tuple[Version, bytes]]]:
    """Consecutive versions, as many at a time as this, or as many bytes."""
    batch: list[tuple[Version, bytes]] = []
    weight = 0
    for item in contents:
        batch.append(item)
        weight += len(item[1])
        if len(batch) == count or weight >= size:
            yield batch
            batch, weight = [], 0
    if batch:
        yield batch
