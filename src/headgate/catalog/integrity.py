"""What is written down of a table? All its rows, read in one transaction, for whoever checks them."""

from collections.abc import Callable

from sqlalchemy import bindparam, case, exists, null, or_, select, update

from headgate.catalog.database.engine import Database
from headgate.catalog.ports.access import OWNER, Principal, Privilege
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.integrity import AuditedCommit, CatalogRecords
from headgate.catalog.ratification.multi_table import group_members
from headgate.catalog.store import commit_store, grant_store, table_state
from headgate.catalog.store.table_not_found import no_table
from headgate.protocol.actions import EpochMillis, Version

_MEMBER, _MINE = group_members.alias("member"), group_members.alias("mine")
_TORN_GROUPS = (
    select(_MEMBER.c.group_id, _MEMBER.c.table_id, _MEMBER.c.version)
    .where(
        _MEMBER.c.group_id.in_(select(_MINE.c.group_id).where(_MINE.c.table_id == bindparam("id"))),
        _MEMBER.c.version.is_not(None),
        exists().where(commit_store.tables.c.table_id == _MEMBER.c.table_id),
        ~exists().where(
            commit_store.commits.c.table_id == _MEMBER.c.table_id,
            commit_store.commits.c.version == _MEMBER.c.version,
            or_(_MEMBER.c.txn_id.is_(None), commit_store.commits.c.txn_id == _MEMBER.c.txn_id),
        ),
    )
    .order_by(_MEMBER.c.group_id, _MEMBER.c.table_id)
)
"""Members of groups, in tables that are still there, whose commit is not."""


class CatalogAuditor:
    """The catalog's books of one table: to be read, and corrected in the two ways that can lose nothing."""

    def __init__(
        self,
        database: Database,
        table_id: TableId,
        mark: Callable[[TableId, Version], None],
        principal: Principal = OWNER,
    ) -> None:
        self._database = database
        self._principal = principal
        self._table_id = table_id
        self._mark = mark

    def read(self) -> CatalogRecords:
        """Everything, in one transaction."""
        known, rows = commit_store.tables.c, commit_store.commits.c
        with self._database.reading() as db:
            grant_store.require_visible(db, self._principal, self._table_id)
            head = db.execute(
                select(known.latest, known.published, known.latest_timestamp).where(
                    known.table_id == self._table_id
                )
            ).one_or_none()
            if head is None:
                raise no_table(self._table_id)
            told = table_state.load_table_state(db, self._table_id)
            content = case((rows.version > head.published, rows.content), else_=null())
            found_rows = db.execute(
                select(
                    rows.version, rows.txn_id, rows.in_commit_timestamp, rows.size, rows.sha256,
                    rows.file_name, content.label("content"),
                )
                .where(rows.table_id == self._table_id)
                .order_by(rows.version)
            ).all()  # fmt: skip
            torn = db.execute(_TORN_GROUPS, {"id": self._table_id}).all()
        return CatalogRecords(
            self._table_id,
            Version(head.latest),
            Version(head.published),
            EpochMillis(head.latest_timestamp),
            told,
            tuple(AuditedCommit(*row) for row in found_rows),
            tuple(f"group {row.group_id}: version {row.version} of table {row.table_id}" for row in torn),
        )

    def mark_published(self, version: Version) -> None:
        """Move the watermark; the catalog reads and hashes every file on the way."""
        self._mark(self._table_id, version)

    def forget_description(self) -> None:
        """Let clients read the log in place of what the catalog keeps of it."""
        with self._database.writing() as db:
            what = "have the catalog forget what it keeps of a log"
            grant_store.require_table_privilege(db, self._principal, Privilege.MAINTAIN, self._table_id, what)
            db.execute(
                update(commit_store.tables)
                .where(commit_store.tables.c.table_id == self._table_id)
                .values(described_by=None, domains_by=None, protocol=None, metadata=None)
            )
