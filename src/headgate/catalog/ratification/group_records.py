"""What was ratified together? Told from the rows that remember every group."""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, select

from headgate.catalog.database.engine import Database
from headgate.catalog.ports.access import OWNER, Principal
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.groups import GroupId, RatifiedGroup, RatifiedMember
from headgate.catalog.ratification.multi_table import group_members
from headgate.catalog.store import grant_store
from headgate.protocol.actions import TxnId, Version

_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class GroupReader:
    """Reads the groups of one catalog on behalf of one principal."""

    database: Database
    principal: Principal = OWNER

    def groups_with(self, commits: Iterable[tuple[TableId, Version]]) -> tuple[RatifiedGroup, ...]:
        """The groups, of more than one table, that these commits were part of."""
        wanted = set(commits)
        with self.database.reading() as db:
            tables = {table_id for table_id, _ in wanted}
            if self.principal != OWNER:
                tables = set(grant_store.visible_tables(db, self.principal, tables))
            names = _group_ids(db, {each for each in wanted if each[0] in tables})
            members = _members(db, names)
        return tuple(RatifiedGroup(name, tuple(found)) for name, found in members.items() if len(found) > 1)


def _group_ids(db: Connection, commits: set[tuple[TableId, Version]]) -> list[GroupId]:
    rows = group_members.c
    found: dict[GroupId, None] = {}
    for table_id in sorted({table_id for table_id, _ in commits}):
        versions = sorted(version for owner, version in commits if owner == table_id)
        for start in range(0, len(versions), _AT_ONCE):
            some = versions[start : start + _AT_ONCE]
            query = select(rows.group_id).where(rows.table_id == table_id, rows.version.in_(some))
            found |= dict.fromkeys(map(GroupId, db.scalars(query)))
    return list(found)


def _members(db: Connection, names: list[GroupId]) -> dict[GroupId, list[RatifiedMember]]:
    rows = group_members.c
    found: dict[GroupId, list[RatifiedMember]] = {}
    for start in range(0, len(names), _AT_ONCE):
        some = names[start : start + _AT_ONCE]
        query = select(rows.group_id, rows.table_id, rows.version, rows.txn_id).where(rows.group_id.in_(some))
        for row in db.execute(query.order_by(rows.group_id, rows.table_id)):
            version = None if row.version is None else Version(row.version)
            txn_id = None if row.txn_id is None else TxnId(row.txn_id)
            member = RatifiedMember(TableId(row.table_id), version, txn_id)
            found.setdefault(GroupId(row.group_id), []).append(member)
    return found
