"""Which of very many tables have these words in their names? Asked of the database, a page at a time."""

from sqlalchemy import ColumnElement, false, func, literal, select, true

from headgate.catalog.directory.directory import DatabaseDirectory
from headgate.catalog.ports.access import OWNER
from headgate.catalog.ports.directory import TableEntry
from headgate.catalog.ports.directory_copy import LIVE
from headgate.catalog.store import grant_store, name_store
from headgate.catalog.store.commit_store import tables


def search_tables(
    directory: DatabaseDirectory, words: str, offset: int, limit: int
) -> tuple[tuple[TableEntry, ...], int]:
    """Some of the tables that have all of these words in their names, and how many there are."""
    wanted = (tables.c.state == LIVE) & _has_words(words) & grant_store.may_be_seen(directory.principal)
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
        found = found & (name.contains(word, autoescape=True) if word.isprintable() else false())
    return found
