"""What may a writer tell of a log besides commits? Hints for readers, kept if they agree with the books.

What is told is compared before anybody waits: what a checksum says of a version stays as true as it was.
"""

from dataclasses import dataclass, replace

from sqlalchemy import Connection

from headgate.catalog.database.engine import Database
from headgate.catalog.database.gathered_writes import GatheredWrites
from headgate.catalog.ports.access import Principal, Privilege
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.serving import LogHints
from headgate.catalog.store import checksum_content, commit_store, grant_store, loading, transfer_store


@dataclass(frozen=True, slots=True)
class LogHintRecorder:
    """Takes note on behalf of one principal."""

    database: Database
    writes: GatheredWrites
    principal: Principal

    def note(self, table_id: TableId, known: LogHints) -> None:
        """Keep what is news of a log; from whoever may only read nothing is kept."""
        if known.content is not None and not self._agrees(table_id, known):
            known = replace(known, content=None)
        self.writes.run(lambda db: self._save(db, table_id, known))

    def _agrees(self, table_id: TableId, known: LogHints) -> bool:
        with self.database.reading() as db:
            grant_store.require_visible(db, self.principal, table_id)
            head = transfer_store.require_live_table(db, table_id).head
            return known.content is not None and checksum_content.agrees_with_catalog(
                db, table_id, head, known.content
            )

    def _save(self, db: Connection, table_id: TableId, known: LogHints) -> None:
        commit_store.lock_table(db, table_id)
        grant_store.require_visible(db, self.principal, table_id)
        head = transfer_store.require_live_table(db, table_id).head
        if grant_store.table_privileges(db, self.principal, table_id) - {Privilege.READ}:
            loading.save_log_hints(db, table_id, loading.credible_hints(known, head.latest))
