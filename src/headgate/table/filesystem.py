"""The route of ordinary Delta tables: whoever creates ``<v>.json`` first has version v."""

from headgate.catalog.api import Lost, Open, Outcome, Ratified, Unknown
from headgate.errors import ObjectExists, ObjectNotFound, StorageUnavailable, TableNotFound
from headgate.protocol import codec, names
from headgate.protocol.actions import Commit, Version
from headgate.storage.api import Store
from headgate.table import log
from headgate.table.committer import Frontier
from headgate.table.transaction import Transaction


class FilesystemCommitter:
    """Commits by put-if-absent; ratified and published are one moment."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def frontier(self, *, known: Version | None = None) -> Frontier:
        kinds = (names.Kind.PUBLISHED, names.Kind.CHECKPOINT)
        since = known if known is not None else log.last_checkpoint(self._store)
        files = log.listed(self._store, since=since) or log.listed(self._store)
        versions = [file.version for file in files if file.kind in kinds]
        if known is not None:
            return Frontier(max([known, *versions]), {}, managed=False)
        if not versions:
            raise TableNotFound("there is no Delta table here: _delta_log has no commit", name="")
        return Frontier(max(versions), {}, managed=False, listing=files)

    def propose(self, txn: Transaction) -> Outcome[Commit]:
        try:
            self._store.put_if_absent(names.published(txn.target), txn.content)
        except ObjectExists:
            # Some stores say this to the winner too, after a retry of their own (P13).
            return self.outcome_of(txn)
        except StorageUnavailable as exc:
            return Unknown(exc.message)
        return Ratified(txn.target)

    def outcome_of(self, txn: Transaction) -> Outcome[Commit]:
        try:
            winners = self._winners(txn.target)
        except ObjectNotFound:
            return Open()
        except StorageUnavailable as exc:
            return Unknown(exc.message)
        first = winners[0].info
        if first is not None and first.txn_id == txn.txn_id:
            return Ratified(txn.target)
        return Lost(winners)

    def publish(self) -> Version:
        return self.frontier().latest

    def _winners(self, start: Version) -> tuple[Commit, ...]:
        winners = [self._read(start)]
        while True:
            try:
                winners.append(self._read(Version(winners[-1].version + 1)))
            except ObjectNotFound:
                return tuple(winners)

    def _read(self, version: Version) -> Commit:
        return codec.decode(version, self._store.read(names.published(version)))
