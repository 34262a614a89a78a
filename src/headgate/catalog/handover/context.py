"""What a catalog needs to see a table change hands: its database, and the log of the table.

In both directions one version of the log decides, and is created as a file by whoever asked for it. The
catalog records before it what is about to happen, and afterwards what the log says.
"""

from dataclasses import dataclass, replace

from sqlalchemy import Connection

from headgate.catalog.database.engine import Database
from headgate.catalog.ports.access import OWNER, Principal, Privilege, Scope, Securable
from headgate.catalog.ports.commits import RatifiedCommit, TableId, fingerprint
from headgate.catalog.ports.directory import TableEntry
from headgate.catalog.ports.events import operation_name
from headgate.catalog.ports.handover import Transfer, TransferPhase
from headgate.catalog.ports.recovery import StoredCommit
from headgate.catalog.store import grant_store
from headgate.clock import World
from headgate.errors import InvalidRequest, NotAllowed, ObjectNotFound
from headgate.protocol.actions import Commit, EpochMillis
from headgate.protocol.log import file_names
from headgate.storage import locations
from headgate.storage.locate import Locate
from headgate.storage.store import Store

CLAIM_TTL_MS = 10 * 60 * 1000
FREEZE_TTL_MS = 60 * 1000
"""How long the next step may take, in and out, before others need not wait; for this one writers do."""


@dataclass(frozen=True, slots=True)
class HandoverContext:
    """A catalog's means to take part."""

    database: Database
    warehouse: str
    locate: Locate
    world: World
    principal: Principal = OWNER
    """On whose behalf tables come and go."""

    def require_proposer(self, proposer: str) -> None:
        """Refuse whoever does something in the name of somebody else; the lake's owner may (T17)."""
        if self.principal not in (OWNER, proposer):
            raise NotAllowed(
                f"{self.principal} takes tables in, and gives them back, on its own behalf alone, and not on "
                f"that of {proposer!r}",
                operation="transfer", principal=str(self.principal),
            )  # fmt: skip

    def review(self, db: Connection, transfer: Transfer) -> None:
        """Who may take tables in and give them back: the one place that is asked, before it is recorded.

        To adopt a table is to make one, to release it is to drop one.
        """
        is_own = self.principal == transfer.proposer  # then by the credentials that were shown
        principal, name = self.principal if is_own else Principal(transfer.proposer), transfer.name
        if transfer.phase is TransferPhase.CLAIMED:
            schema = Securable(Scope.SCHEMA, name.schema)
            what = f"adopt a table as {name}"
            grant_store.require_privilege(db, principal, Privilege.CREATE, schema, what)
        else:
            table = Securable(Scope.TABLE, transfer.table_id)
            grant_store.require_privilege(db, principal, Privilege.DROP, table, f"release the table {name}")

    def sees_table(self, db: Connection, table_id: TableId) -> bool:
        """Whether the principal may know of a table."""
        return self.principal == OWNER or bool(grant_store.visible_tables(db, self.principal, (table_id,)))

    def sees_transfer(self, db: Connection, transfer: Transfer) -> bool:
        """Whether it may know of a table on its way: it is its own doing, or to be seen once it is there."""
        if self.principal in (OWNER, transfer.proposer) or self.sees_table(db, transfer.table_id):
            return True
        schema = Securable(Scope.SCHEMA, transfer.name.schema)
        return Privilege.READ in grant_store.privileges_on(db, self.principal, schema)

    def expiry(self, patience_ms: int) -> EpochMillis:
        """Until when a step that begins now may take."""
        return EpochMillis(self.world.now_ms() + patience_ms)

    def is_expired(self, transfer: Transfer) -> bool:
        """Whether nobody need wait for the next step any longer."""
        return transfer.expires_ms <= self.world.now_ms()

    def place(self, location: str) -> str:
        """Where that is, which the catalog has written down."""
        return locations.absolute_location(location, self.warehouse)

    def resolved(self, entry: TableEntry) -> TableEntry:
        """The entry with the place of its table."""
        return replace(entry, location=self.place(entry.location))

    def files(self, transfer: Transfer) -> Store:
        """The table's files."""
        return self.locate(self.place(transfer.location))

    def read_deciding_version(self, transfer: Transfer) -> bytes | None:
        """The version of the log that decides, if it is there."""
        try:
            return self.files(transfer).read(file_names.published_path(transfer.target))
        except ObjectNotFound:
            return None

    def has_log_moved_past(self, transfer: Transfer) -> bool:
        """Whether the log goes on after the version that decides, which may no longer be there itself."""
        listed = self.files(transfer).list_from(
            file_names.LOG_FOLDER, after=file_names.published_path(transfer.target)
        )
        found = (file_names.parse(item.path, size=item.size) for item in listed)
        return any(file is not None and file.version > transfer.target for file in found)


def published_commit(commit: Commit, content: bytes) -> StoredCommit:
    """A published commit, as it is written down."""
    info = commit.info
    if info is None or info.txn_id is None or info.in_commit_timestamp is None:
        raise InvalidRequest(
            f"version {commit.version} must have a commitInfo with a txnId and an inCommitTimestamp"
        )
    ratified = RatifiedCommit(commit.version, info.txn_id, info.in_commit_timestamp, None)
    return StoredCommit(ratified, len(content), fingerprint(content), operation_name(info))
