"""Did somebody publish a version that the catalog does not know? Looking for it, and taking it in (K8).

A file ``<v>.json`` makes version v a fact, whether or not the catalog was told. So before the catalog
decides about the next version it looks for its file, in the same transaction, where looking costs next to
nothing: in a folder of this machine. Elsewhere a look would cost more than the whole commit, and a look
cannot exclude that the file appears a moment later. Where others really are to publish versions
themselves, the table has to say so (``share_log``): from then on the catalog ratifies by creating the
file itself, which either succeeds or finds out who was faster, and it looks whenever anybody asks.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from sqlalchemy import Connection

from headgate.catalog import described, events, ratify, store, validate
from headgate.catalog.api import Inline, Lost, Proposal, Ratified, RatifiedCommit, TableId, Unknown
from headgate.catalog.database import Database
from headgate.catalog.grants import OWNER
from headgate.catalog.partitionings import Partitionings
from headgate.catalog.ratify import Answer, Candidate, Losing, TakenUnseen, Terms
from headgate.catalog.rules import Limits
from headgate.catalog.store import KnownTable, Record
from headgate.errors import (
    CatalogError,
    CatalogUnavailable,
    CommitUnknown,
    CorruptLog,
    HeadgateError,
    ObjectExists,
    ObjectNotFound,
    StorageError,
    StorageUnavailable,
    UserError,
)
from headgate.protocol import codec, names
from headgate.protocol.actions import Version
from headgate.storage.api import Store
from headgate.storage.local import LocalStore

_ATTEMPTS = 100


@dataclass(frozen=True, slots=True)
class SharedLogs:
    """Ratifies with an eye on the tables' logs."""

    database: Database
    files: Callable[[str], Store]
    """The store of a table, by its location as the database has it."""
    limits: Limits
    partitionings: Partitionings = field(default_factory=Partitionings)
    _folders: dict[str, LocalStore | None] = field(default_factory=dict)

    def ratify(self, group: Sequence[Candidate]) -> list[Answer]:
        """Decide the candidates like ``ratify.ratify``, after versions that turn out to be taken already."""
        strays = set[tuple[TableId, Version]]()

        def is_taken(table_id: TableId, location: str, version: Version) -> bool:
            return (table_id, version) not in strays and self._is_in_folder(location, version)

        while True:
            try:
                return ratify.ratify(self.database, group, Terms(self.limits, is_taken, self.partitionings))
            except TakenUnseen as unseen:
                try:
                    known = self.take_in(unseen.table_id, unseen.version)
                except (CatalogError, CommitUnknown, StorageError) as exc:
                    return [CatalogUnavailable(f"nothing was decided: {exc.message}") for _ in group]
                if not known:
                    strays.add((unseen.table_id, unseen.version))

    def take_in(
        self, table_id: TableId, wanted: Version | None = None, *, mine: Candidate | None = None
    ) -> bool:
        """Learn a version, by default the next one, from its published file; whether it is known now.

        A file that is no commit of a catalog-managed table is left alone: publishing tells of it.
        """
        with self.database.reading() as db:
            known = _known(db, table_id)
        version = Version(known.head.latest + 1)
        if wanted is not None and wanted < version:
            return True
        try:
            content = self.files(known.location).read(names.published(version))
            candidate = _candidate(table_id, version, content)
        except (ObjectNotFound, UserError, CorruptLog):
            return False
        if candidate is None or candidate.checked.timestamp <= known.head.latest_timestamp:
            return False
        with self.database.writing() as db:
            store.hold(db, table_id)
            if mine is not None and mine.proposal.txn_id == candidate.proposal.txn_id:
                candidate = replace(candidate, standing=mine.standing)
            return _write_down(db, candidate)

    def look_in_shared(self, table_ids: Iterable[TableId]) -> None:
        """Take in what others published of those of the tables whose log is shared."""
        with self.database.reading() as db:
            shared = store.sharing_log(db, table_ids)
        for table_id in shared:
            self.look(table_id)

    def look_in_folders(self, table_ids: Iterable[TableId]) -> None:
        """Take in what others published of those of the tables where looking costs next to nothing."""
        with self.database.reading() as db:
            heads = {table_id: store.find_head(db, table_id) for table_id in table_ids}
        for table_id, known in heads.items():
            if known is not None and self._is_in_folder(known.location, Version(known.head.latest + 1)):
                self.look(table_id)

    def look(self, table_id: TableId) -> bool:
        """Take in every version that others published; whether there were any."""
        found = False
        while self.take_in(table_id):
            found = True
        return found

    def propose(self, candidate: Candidate) -> Ratified | Lost[RatifiedCommit] | Unknown:
        """Ratify by creating the published file; for a table whose log is shared."""
        proposal = candidate.proposal
        for _ in range(_ATTEMPTS):
            answer = self._decided(candidate)
            if not isinstance(answer, tuple):
                return answer
            location, record = answer
            version, where = record.commit.version, record.commit.where
            content = where.content if isinstance(where, Inline) else candidate.content
            try:
                ours = _create(self.files(location), version, content)
                known = self.take_in(proposal.table_id, version, mine=candidate)
            except (StorageUnavailable, CatalogError, CommitUnknown) as exc:
                return Unknown(f"version {version} may be in the log by now: {exc.message}")
            if not known:
                raise _occupied(version)
            if ours:
                return Ratified(version)
        raise CatalogUnavailable("others were faster every time: try again")

    def _decided(self, candidate: Candidate) -> Ratified | Lost[RatifiedCommit] | tuple[str, Record]:
        proposal = candidate.proposal
        with self.database.reading() as db:
            found = _known(db, proposal.table_id, candidate)
            first = found.first_ratified_as
            known = {} if first is None else {proposal.txn_id: first}
            gate = ratify.open_gate(db, proposal.table_id, found, [proposal.txn_id], self.partitionings)
            made = ratify.plan(replace(found.head, shares_log=False), known, [candidate], self.limits, gate)
            match made.answers[0]:
                case HeadgateError() as error:
                    raise error
                case Losing():
                    return Lost(
                        store.commits_from(db, proposal.table_id, proposal.target, found.head.published)
                    )
                case Ratified() as ratified:
                    return (found.location, made.records[0]) if made.records else ratified

    def _is_in_folder(self, location: str, version: Version) -> bool:
        if location not in self._folders:
            files = self.files(location)
            self._folders[location] = files if isinstance(files, LocalStore) else None
        folder = self._folders[location]
        return folder is not None and folder.exists(names.published(version))


def _create(files: Store, version: Version, content: bytes) -> bool:
    """Create the published file of a version; whether it has this content, from now or from before."""
    path = names.published(version)
    try:
        files.put_if_absent(path, content)
    except ObjectExists:
        return files.read(path) == content
    return True


def _known(db: Connection, table_id: TableId, candidate: Candidate | None = None) -> KnownTable:
    found = store.find_head(db, table_id, candidate.proposal.txn_id if candidate is not None else None)
    if found is None:
        raise ratify.no_table(table_id)
    return found


def _candidate(table_id: TableId, version: Version, content: bytes) -> Candidate | None:
    """A published file as if it had been proposed; None if it cannot be a commit of a managed table."""
    info = codec.commit_info(version, content)
    if info is None or info.txn_id is None:
        return None
    proposal = Proposal(table_id, version, info.txn_id, Inline(content))
    checked = validate.check_content(proposal, content)
    protocol = checked.commit.protocol
    if protocol is not None and not protocol.is_catalog_managed:
        return None
    return Candidate(proposal, content, checked)


def _write_down(db: Connection, candidate: Candidate) -> bool:
    proposal, commit = candidate.proposal, candidate.checked.commit
    table_id, version = proposal.table_id, proposal.target
    found = _known(db, table_id, candidate)
    head = found.head
    if head.latest >= version:
        return True  # somebody else was about to learn it too
    if head.frozen or found.first_ratified_as is not None:
        return False
    is_next = head.published == version - 1
    # Before all that precedes it is published, readers get it from here like the others.
    where = None if is_next else Inline(candidate.content)
    record = Record(
        RatifiedCommit(version, proposal.txn_id, candidate.checked.timestamp, where),
        len(candidate.content),
        ratify.fingerprint(candidate.content),
        events.operation(commit.info),
        None if candidate.standing.principal == OWNER else candidate.standing.principal,
    )
    changes = candidate.checked.changes_table
    latest_change = version if changes else head.latest_change
    store.insert_commits(db, table_id, [record], latest_change=latest_change)
    if changes:
        described.describe(db, table_id, commit, before=head.latest_change)
    if is_next:
        store.advance_published(db, table_id, head.published, version)
    return True


def _occupied(version: Version) -> CorruptLog:
    return CorruptLog(
        f"{names.published(version)} exists and is no commit of this table, so version {version} cannot be "
        "created: find out who wrote it, move it away and try again",
        code="DELTA_TXN_LOG_FAILED_INTEGRITY", version=version,
    )  # fmt: skip
