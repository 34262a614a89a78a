"""Which of very many tables have these words in their names? Asked of the database, a page at a time."""

from typing import Any

from sqlalchemy import ColumnElement, func, literal, or_, select, true

from headgate.catalog.directory.directory import DatabaseDirectory
from headgate.catalog.ports.access import IMPLIED_PRIVILEGES, OWNER, Principal, Privilege, Scope
from headgate.catalog.ports.directory import TableEntry
from headgate.catalog.ports.directory_copy import LIVE
from headgate.catalog.store import grant_store, membership_store, name_store
from headgate.catalog.store.commit_store import tables
from headgate.catalog.store.grant_store import grants

_SHOWS = [
    each.value
    for each in Privilege
    if each is Privilege.READ or Privilege.READ in IMPLIED_PRIVILEGES.get(each, frozenset())
]
"""Privileges by which a table may be seen."""


def search_tables(
    directory: DatabaseDirectory, words: str, offset: int, limit: int
) -> tuple[tuple[TableEntry, ...], int]:
    """Some of the tables that have all of these words in their names, and how many there are."""
    wanted = (tables.c.state == LIVE) & _has_words(words) & _may_be_seen(directory.principal)
    some = select(*name_store.ENTRY_COLUMNS).where(wanted).order_by(tables.c.schema_name, tables.c.table_name)
    with directory.database.reading() as db:
        total = db.scalar(select(func.count()).select_from(tables).where(wanted)) or 0
        found = tuple(name_store.read_entry(*row) for row in db.execute(some.offset(offset).limit(limit)))
        seen = found
        if directory.principal != OWNER:  # the rule itself has the last word
            ids = grant_store.visible_tables(db, directory.principal, (each.table_id for each in found))
            seen = tuple(each for each in found if each.table_id in ids)
    return tuple(map(directory.located, seen)), int(total)


def _has_words(words: str) -> ColumnElement[bool]:
    name = tables.c.schema_name + literal(".") + tables.c.table_name
    found: ColumnElement[bool] = true()
    for word in words.lower().split():
        found = found & name.contains(word, autoescape=True)
    return found


def _may_be_seen(principal: Principal) -> ColumnElement[bool]:
    """What ``grant_store.table_privileges`` says of one table, of all of them at once."""
    if principal == OWNER:
        return true()
    scope = grant_store.credential_scope(principal)
    within = true() if scope.schema is None else tables.c.schema_name == scope.schema
    granted = (
        _granted_on(principal, Scope.TABLE, tables.c.table_id),
        _granted_on(principal, Scope.SCHEMA, tables.c.schema_name),
        _granted_on(principal, Scope.LAKE, literal("")),
    )
    return within & or_(tables.c.owner == str(principal), *granted)


def _granted_on(principal: Principal, scope: Scope, column: Any) -> ColumnElement[bool]:
    objects = select(grants.c.object).where(
        membership_store.is_or_has_member(grants.c.principal, principal),
        grants.c.scope == scope.value,
        grants.c.privilege.in_(_SHOWS),
    )
    found: ColumnElement[bool] = column.in_(objects)
    return found
