"""The catalog's use cases: each one a database transaction around one pure decision.

Proposals that wait at the same moment share theirs (``grouping``, ``ratify``).
"""

import re

from sqlalchemy import Connection

from headgate.catalog import ratify, rules, store, validate
from headgate.catalog.api import (
    Inline,
    Lost,
    Open,
    Outcome,
    Proposal,
    Ratified,
    RatifiedCommit,
    Staged,
    StagingTable,
    TableEntry,
    TableId,
    TableName,
    Tail,
    Unknown,
)
from headgate.catalog.database import Database
from headgate.catalog.grouping import Grouping
from headgate.catalog.ratify import Answer, Candidate
from headgate.catalog.rules import Decision
from headgate.catalog.store import KnownTable, Record
from headgate.clock import World
from headgate.errors import (
    CorruptLog,
    HeadgateError,
    InvalidRequest,
    ObjectNotFound,
    SchemaNotFound,
    TableExists,
    TableNotFound,
)
from headgate.protocol import codec, names
from headgate.protocol.actions import Commit, TxnId, Version
from headgate.storage.locate import Locate

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,254}")
_GROUP_LIMIT = 64
_INTERRUPTED = Unknown("the thread that carried the proposal to the database was interrupted")


class Catalog:
    """Both ports of a catalog, ``CommitCatalog`` and ``TableDirectory``, over one database."""

    def __init__(self, database: Database, *, warehouse: str, locate: Locate, world: World) -> None:
        self._database = database
        self._warehouse = warehouse
        self._locate = locate
        self._world = world
        self._proposals = Grouping[Candidate, Answer](
            lambda group: ratify.ratify(database, group), limit=_GROUP_LIMIT, interrupted=_INTERRUPTED
        )

    def propose(self, proposal: Proposal) -> Ratified | Lost[RatifiedCommit] | Unknown:
        validate.check_name(proposal)
        content = self._content(proposal)
        checked = validate.check_content(proposal, content)
        # Only where all wait for all may tables share a transaction; elsewhere one would hold up the others.
        lane = None if self._database.has_one_writer else proposal.table_id
        answer = self._proposals.submit(lane, Candidate(proposal, content, checked))
        if isinstance(answer, HeadgateError):
            raise answer
        return answer

    def outcome_of(
        self, table_id: TableId, txn_id: TxnId, target: Version, *, any_version: bool = False
    ) -> Outcome[RatifiedCommit]:
        with self._database.reading() as db:
            known = _known(db, table_id, txn_id)
            head, first = known.head, known.first_ratified_as
            match rules.decide(head, target, first, any_version=any_version):
                case Decision.REPLAY:
                    return Ratified(Version(first or 0))
                case Decision.LOST:
                    return Lost(store.commits_from(db, table_id, target, head.published))
                case Decision.RATIFY | Decision.ASSIGN | Decision.GAP:
                    return Open()

    def tail(self, table_id: TableId) -> Tail:
        with self._database.reading() as db:
            head = _known(db, table_id).head
            unpublished = Version(head.published + 1)
            return Tail(
                head.latest,
                head.published,
                store.commits_from(db, table_id, unpublished, head.published),
                store.told(db, table_id),
            )

    def mark_published(self, table_id: TableId, version: Version) -> None:
        with self._database.reading() as db:
            known = _known(db, table_id)
            latest, published = known.head.latest, known.head.published
            digests = store.digests(db, table_id, published, version)
        if version > latest:
            raise InvalidRequest(
                f"version {version} cannot be published: the latest ratified version is {latest}",
                asked=version, latest=latest,
            )  # fmt: skip
        self._verify_published(known.location, digests)
        with self._database.writing() as db:
            reached = _known(db, table_id).head.published
            if reached < version:
                store.advance_published(db, table_id, reached, version)

    def create_schema(self, schema: str) -> bool:
        name = _checked(schema)
        with self._database.writing() as db:
            store.lock_names(db)
            if store.schema_exists(db, name):
                return False
            store.insert_schema(db, name, self._world.now_ms())
        return True

    def stage(self, name: TableName) -> StagingTable:
        name = _normal(name)
        table_id = TableId(self._world.uuid())
        with self._database.writing() as db:
            store.lock_names(db)
            if not store.schema_exists(db, name.schema):
                raise SchemaNotFound(
                    f"there is no schema {name.schema!r}: make it with lake.create_schema({name.schema!r})",
                    name=name.schema,
                )
            if store.find_table(db, name) is not None:
                raise _taken(name)
            # The place is named by the id alone: a name in a path would have to be escaped and renamed.
            store.insert_staging(db, StagingTable(table_id, table_id), name, self._world.now_ms())
        return StagingTable(table_id, self._absolute(table_id))

    def register(self, staging: StagingTable, name: TableName) -> TableEntry:
        name = _normal(name)
        first, says = self._first_commit(staging)
        with self._database.writing() as db:
            store.lock_names(db)
            existing = store.find_table(db, name)
            if existing is not None and existing.table_id == staging.table_id:
                return self._resolved(existing)
            if existing is not None:
                raise _taken(name)
            if not store.make_live(db, staging.table_id, name):
                raise TableNotFound(f"nothing is staged as {staging.table_id}", name=str(name))
            store.insert_commits(db, staging.table_id, [first], latest_change=Version(0))
            store.describe(db, staging.table_id, says, before=Version(0))
            entry = store.find_table(db, name)
        if entry is None:
            raise ratify.no_table(staging.table_id)
        return self._resolved(entry)

    def resolve(self, name: TableName) -> TableEntry:
        name = _normal(name)
        with self._database.reading() as db:
            found = store.find_table(db, name)
        if found is None:
            raise TableNotFound(
                f"there is no table {name}: lake.tables() lists what there is", name=str(name)
            )
        return self._resolved(found)

    def tables(self, schema: str | None = None) -> tuple[TableEntry, ...]:
        with self._database.reading() as db:
            found = store.entries(db, _checked(schema) if schema is not None else None)
        return tuple(self._resolved(entry) for entry in found)

    def drop(self, name: TableName) -> TableEntry:
        entry = self.resolve(name)
        with self._database.writing() as db:
            store.lock_names(db)
            store.make_dropped(db, entry.table_id, self._world.now_ms())
        return entry

    def close(self) -> None:
        """Give the database's connections back."""
        self._database.close()

    def _content(self, proposal: Proposal) -> bytes:
        match proposal.content:
            case Inline(content):
                return content
            case Staged(file_name):
                with self._database.reading() as db:
                    location = _known(db, proposal.table_id).location
                try:
                    return self._locate(self._absolute(location)).read(names.STAGED + file_name)
                except ObjectNotFound as exc:
                    raise InvalidRequest(
                        f"the staged commit {file_name!r} does not exist: write it before proposing it"
                    ) from exc

    def _verify_published(self, location: str, digests: dict[Version, str]) -> None:
        files = self._locate(self._absolute(location))
        for version, digest in digests.items():
            try:
                content = files.read(names.published(version))
            except ObjectNotFound as exc:
                raise InvalidRequest(
                    f"version {version} is not published, so it cannot be marked so"
                ) from exc
            if ratify.fingerprint(content) != digest:
                raise CorruptLog(
                    f"the published file of version {version} differs from what was ratified; the catalog "
                    "keeps its own copy and readers use that: remove the stray file and publish again",
                    code="DELTA_TXN_LOG_FAILED_INTEGRITY", version=version,
                )  # fmt: skip

    def _first_commit(self, staging: StagingTable) -> tuple[Record, Commit]:
        zero = Version(0)
        try:
            content = self._locate(staging.location).read(names.published(zero))
        except ObjectNotFound as exc:
            raise InvalidRequest("a table is registered after its version 0 is written, not before") from exc
        first = codec.decode(zero, content)
        if first.protocol is None or not first.protocol.is_catalog_managed or first.info is None:
            raise InvalidRequest("version 0 of a catalog-managed table must say so in its protocol")
        txn_id, timestamp = first.info.txn_id, first.info.in_commit_timestamp
        if txn_id is None or timestamp is None:
            raise InvalidRequest("version 0 must have a commitInfo with a txnId and an inCommitTimestamp")
        ratified = RatifiedCommit(zero, txn_id, timestamp, None)
        return Record(ratified, len(content), ratify.fingerprint(content)), first

    def _absolute(self, location: str) -> str:
        return f"{self._warehouse}/{location}"

    def _resolved(self, entry: TableEntry) -> TableEntry:
        return TableEntry(entry.table_id, entry.name, self._absolute(entry.location), entry.created_ms)


def _known(db: Connection, table_id: TableId, txn_id: TxnId | None = None) -> KnownTable:
    found = store.find_head(db, table_id, txn_id)
    if found is None:
        raise ratify.no_table(table_id)
    return found


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise InvalidRequest(
            f"{name!r} is not a name: use letters, digits and underscores, not starting with a digit"
        )
    return name.lower()


def _normal(name: TableName) -> TableName:
    return TableName(_checked(name.schema), _checked(name.table))


def _taken(name: TableName) -> TableExists:
    return TableExists(
        f"there is already a table {name}: choose another name or drop it first", name=str(name)
    )
