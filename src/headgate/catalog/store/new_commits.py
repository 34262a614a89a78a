"""How are ratified commits written down? A row each, and their table says which of them is the latest.

The commits of several tables take as many statements as those of one, so a group goes to a database server
in one message. Every function runs inside the caller's transaction.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, insert, update

from headgate.catalog.database.prepared_statements import PreparedStatement
from headgate.catalog.ports.commits import InlineCommit, StagedCommit, TableId
from headgate.catalog.ports.recovery import StoredCommit
from headgate.catalog.store.commit_store import commits, tables
from headgate.protocol.actions import Version

_INSERT_COMMIT = PreparedStatement(insert(commits))
_ADVANCE = PreparedStatement(
    update(tables)
    .where(tables.c.table_id == bindparam("id"))
    .values(
        latest=bindparam("new_latest"),
        latest_timestamp=bindparam("new_timestamp"),
        latest_change=bindparam("new_change"),
        unpublished_bytes=tables.c.unpublished_bytes + bindparam("more_bytes"),
    )
)


@dataclass(frozen=True, slots=True)
class NewCommits:
    """Commits of one table that were ratified, oldest first, at least one."""

    table_id: TableId
    records: Sequence[StoredCommit]
    latest_change: Version
    """The last version that changed the table, after all of them."""

    @property
    def values(self) -> Iterator[dict[str, object]]:
        """The row of each."""
        return (_values(self.table_id, record) for record in self.records)

    @property
    def head(self) -> dict[str, object]:
        """What makes the last of them the latest."""
        latest = self.records[-1].commit
        return {
            "id": self.table_id,
            "new_latest": latest.version,
            "new_timestamp": latest.in_commit_timestamp,
            "new_change": self.latest_change,
            "more_bytes": sum(record.size for record in self.records if record.commit.where is not None),
        }


def insert_commits(
    db: Connection, table_id: TableId, records: Sequence[StoredCommit], *, latest_change: Version
) -> None:
    """Write down ratified commits, oldest first, and make the last one the latest."""
    insert_all(db, [NewCommits(table_id, records, latest_change)])


def insert_all(db: Connection, new: Sequence[NewCommits]) -> None:
    """Write down the commits of several tables, with as many statements as for one."""
    _INSERT_COMMIT.run_many(db, [row for each in new for row in each.values])
    _ADVANCE.run_many(db, [each.head for each in new])


def _values(table_id: TableId, record: StoredCommit) -> dict[str, object]:
    commit = record.commit
    return {
        "table_id": table_id,
        "version": commit.version,
        "txn_id": commit.txn_id,
        "in_commit_timestamp": commit.in_commit_timestamp,
        "size": record.size,
        "sha256": record.sha256,
        "file_name": commit.where.file_name if isinstance(commit.where, StagedCommit) else None,
        "content": commit.where.content if isinstance(commit.where, InlineCommit) else None,
        "operation": record.operation,
        "principal": record.principal,
    }
