"""How does a table leave the catalog?

Nothing of it is ratified any more (``freeze``), everything is published, the catalog agrees to what comes
(``begin_release``), and then version n + 1, created as a file by whoever asked, no longer names a catalog.
That creation is the one moment at which the table leaves; ``settle`` makes the catalog agree with it.

Whoever freezes a table and is never heard of again cannot hold it for ever. Nor can it come back late and
take a table away to which others commit again: before anything is ratified, an empty commit takes the version
that was to be the last.
"""

from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace

from sqlalchemy import Connection

from headgate.catalog.handover.context import FREEZE_TTL_MS, HandoverContext, published_commit
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.events import EventKind
from headgate.catalog.ports.handover import ReleaseStatus, Transfer, TransferPhase
from headgate.catalog.store import commit_store, event_store, grant_store, new_commits, transfer_store
from headgate.catalog.store.event_store import NewEvent
from headgate.errors import ConcurrentWrite, InvalidRequest, ObjectExists, StorageUnavailable
from headgate.protocol.actions import CommitInfo, TxnId
from headgate.protocol.log import codec, file_names
from headgate.protocol.log.timestamps import next_in_commit_timestamp

WITHDRAWN = "RELEASE WITHDRAWN"
_ATTEMPTS = 3


class Releases:
    """Tables on their way out of one catalog; safe to share between threads and processes."""

    def __init__(self, handover: HandoverContext) -> None:
        self._handover = handover
        self._database = handover.database

    def freeze(self, table_id: TableId, proposer: str) -> Transfer:
        """Ratify nothing of the table from now on; its latest version is the transfer's base.

        Whoever froze it gets the same again, with more time; anybody else is refused meanwhile.
        """
        self._handover.require_proposer(proposer)
        with self._database.reading() as db:
            grant_store.require_visible(db, self._handover.principal, table_id)
        self.settle(table_id)
        expires = self._handover.expiry(FREEZE_TTL_MS)
        with self._database.writing() as db:
            commit_store.lock_table(db, table_id)
            known, entry = commit_store.find_head(db, table_id), transfer_store.find_live_table(db, table_id)
            if known is None or entry is None:
                raise transfer_store.not_live_error(db, table_id)
            found = transfer_store.find_transfer(db, table_id)
            if found is not None and found.proposer != proposer:
                raise transfer_store.frozen_error(table_id)
            if found is not None:
                transfer_store.set_phase(db, table_id, found.phase, expires)
                return replace(found, expires_ms=expires)
            txn_id, base = TxnId(self._handover.world.uuid()), known.head.latest
            new = Transfer(
                table_id, TransferPhase.FROZEN, entry.name, entry.location, base, txn_id, proposer, expires
            )
            self._handover.review(db, new)
            transfer_store.insert_transfer(db, new)
            transfer_store.set_frozen(db, table_id, self._handover.world.now_ms())
        return new

    def begin_release(self, transfer: Transfer) -> None:
        """Agree that the table leaves with version ``base + 1``; all before it must be published."""
        table_id = transfer.table_id
        with self._database.writing() as db:
            commit_store.lock_table(db, table_id)
            grant_store.require_visible(db, self._handover.principal, table_id)
            known, found = commit_store.find_head(db, table_id), transfer_store.find_transfer(db, table_id)
            if found is None or found.txn_id != transfer.txn_id:
                raise ConcurrentWrite(
                    f"giving back {transfer.name} took too long, and the table takes commits again; nothing "
                    "happened: run it again",
                    winner=transfer.target,
                )
            if found.phase is TransferPhase.GONE:
                return
            self._handover.require_proposer(found.proposer)
            self._handover.review(db, found)
            if known is None:
                raise transfer_store.not_live_error(db, table_id)
            if known.head.published < found.base:
                raise InvalidRequest(
                    f"version {found.base} of {found.name} must be published before the table leaves"
                )
            transfer_store.set_phase(
                db, table_id, TransferPhase.LEAVING, self._handover.expiry(FREEZE_TTL_MS)
            )

    def stay(self, transfer: Transfer) -> ReleaseStatus:
        """Give up on a release, unless the table has left."""
        with self._database.writing() as db:
            commit_store.lock_table(db, transfer.table_id)
            found = transfer_store.find_transfer(db, transfer.table_id)
            if (
                found is not None
                and found.txn_id == transfer.txn_id
                and found.phase is not TransferPhase.GONE
                and self._handover.sees_table(db, found.table_id)
            ):
                self._handover.require_proposer(found.proposer)
                transfer_store.set_phase(db, found.table_id, found.phase, 0)
        return self.settle(transfer.table_id)

    def find_departure(self, table_id: TableId) -> Transfer | None:
        """How a table left, if it has."""
        self.settle(table_id)
        with self._database.reading() as db:
            found = transfer_store.find_transfer(db, table_id)
            if found is None or not self._handover.sees_table(db, table_id):
                return None
        return found if found.phase is TransferPhase.GONE else None

    def objection(self, db: Connection, table_id: TableId) -> str | None:
        """Why a dropped table must not be purged yet: its files may be somebody else's at any moment."""
        found = transfer_store.find_transfer(db, table_id)
        if found is None or found.phase is not TransferPhase.LEAVING:
            return None
        return f"{found.proposer!r} is giving it back; if that never ends, undrop it, read it, drop it again"

    def settle_those_leaving(self, table_ids: Collection[TableId]) -> None:
        """Make the catalog agree with the log about those of these tables that are leaving."""
        with self._database.reading() as db:
            waiting = transfer_store.transfers_under_way(db)
        for found in waiting:
            if found.table_id in table_ids and found.phase is TransferPhase.LEAVING:
                self.settle(found.table_id)

    def settle(self, table_id: TableId) -> ReleaseStatus:
        """Make the catalog agree with what the log says of a table that leaves.

        Whoever may not know of the table hears what is said of one that does not exist.
        """
        with self._database.reading() as db:
            found = transfer_store.find_transfer(db, table_id)
            if found is not None and not self._handover.sees_table(db, table_id):
                return ReleaseStatus.OPEN
        match found.phase if found is not None else None:
            case TransferPhase.GONE:
                return ReleaseStatus.RELEASED
            case TransferPhase.FROZEN if found is not None and self._handover.is_expired(found):
                return self._thaw(found, None)
            case TransferPhase.LEAVING if found is not None:
                return self._settle_leaving(found)
            case _:
                return ReleaseStatus.OPEN

    def _settle_leaving(self, leaving: Transfer) -> ReleaseStatus:
        for _ in range(_ATTEMPTS):
            content = self._handover.read_deciding_version(leaving)
            if content is not None:
                return self._settle_last(leaving, content)
            if not self._handover.is_expired(leaving):
                return ReleaseStatus.OPEN
            if self._handover.has_log_moved_past(leaving):
                return self._leave(leaving)  # only a table that has left goes on; its version was cleaned up
            withdrawal = self._withdrawal(leaving)
            if withdrawal is None:
                return (
                    ReleaseStatus.OPEN
                )  # it was dropped meanwhile: if it comes back, whoever uses it comes here
            # Whoever was first is told by the next look, so no answer is needed.
            with suppress(ObjectExists, StorageUnavailable):
                self._handover.files(leaving).put_if_absent(
                    file_names.published_path(leaving.target), withdrawal
                )
        return ReleaseStatus.OPEN

    def _settle_last(self, leaving: Transfer, content: bytes) -> ReleaseStatus:
        info = codec.decode(leaving.target, content).info
        txn_id = info.txn_id if info is not None else None
        if txn_id == leaving.txn_id:
            return self._leave(leaving)
        # Any other file is by somebody who does not keep the rules: it is no version, but in the way.
        return self._thaw(leaving, content if txn_id == _withdrawal_txn_id(leaving) else None)

    def _leave(self, leaving: Transfer) -> ReleaseStatus:
        with self._database.writing() as db:
            commit_store.lock_names(db)
            commit_store.lock_table(db, leaving.table_id)
            found = transfer_store.find_transfer(db, leaving.table_id)
            if found is not None and found.phase is TransferPhase.LEAVING:
                name, at = str(found.name), self._handover.world.now_ms()
                happened = NewEvent(EventKind.RELEASE, found.table_id, name, found.target, found.txn_id)
                event_store.record_event(db, happened, now_ms=at)
                transfer_store.mark_released(db, found, self._handover.place(found.location))
        return ReleaseStatus.RELEASED

    def _thaw(self, frozen: Transfer, content: bytes | None) -> ReleaseStatus:
        """Ratify again; ``content`` is the empty commit that keeps the table from leaving later."""
        table_id = frozen.table_id
        with self._database.writing() as db:
            commit_store.lock_table(db, table_id)
            found, known = transfer_store.find_transfer(db, table_id), commit_store.find_head(db, table_id)
            if found is None or (found.txn_id, found.phase) != (frozen.txn_id, frozen.phase):
                return ReleaseStatus.OPEN  # it went on meanwhile
            if content is not None:
                if known is None:
                    return ReleaseStatus.OPEN  # dropped: a version of its log must not go unrecorded
                written = published_commit(codec.decode(frozen.target, content), content)
                new_commits.insert_commits(db, table_id, [written], latest_change=known.head.latest_change)
                commit_store.advance_published(db, table_id, frozen.base, frozen.target)
            transfer_store.delete_transfer(db, table_id)
            transfer_store.set_frozen(db, table_id, None)
        return ReleaseStatus.STAYED

    def _withdrawal(self, leaving: Transfer) -> bytes | None:
        """A commit of nothing, which takes the version after the base; None if the table is not live."""
        with self._database.reading() as db:
            known = commit_store.find_head(db, leaving.table_id)
        if known is None:
            return None
        moment = next_in_commit_timestamp(self._handover.world.now_ms(), known.head.latest_timestamp)
        info = CommitInfo(
            in_commit_timestamp=moment,
            timestamp=moment,
            operation=WITHDRAWN,
            operation_parameters={},
            engine_info="Headgate",
            txn_id=_withdrawal_txn_id(leaving),
        )
        return codec.encode((info,))


def _withdrawal_txn_id(leaving: Transfer) -> TxnId:
    return TxnId(f"{leaving.txn_id}-withdrawn")
