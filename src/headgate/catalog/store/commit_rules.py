"""What was agreed about commits beyond who may make them: limits, foreign keys, files from elsewhere.

Kept in the catalog's database; ``commit_policies`` holds commits to it. Rules of the lake hold in every
schema, those of a schema in every table; where a rule stands twice, the one closer to the table counts.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import msgspec
from sqlalchemy import Column, Connection, Index, String, Table, delete, insert, or_, select
from sqlalchemy import ForeignKey as References

from headgate.catalog.ports.access import ForeignKey, Scope, Securable
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory_copy import LIVE
from headgate.catalog.store import commit_store, linear_patterns
from headgate.errors import InvalidRequest

commit_rules = Table(
    "commit_rules",
    commit_store.metadata,
    Column("scope", String, primary_key=True),
    Column("object", String, primary_key=True),
    Column("rule", String, primary_key=True),
    Column("value", String, nullable=False),
)

file_sources = Table(
    "file_sources",
    commit_store.metadata,
    Column("table_id", String, References("tables.table_id"), primary_key=True),
    Column("location", String, primary_key=True),
)

foreign_keys = Table(
    "foreign_keys",
    commit_store.metadata,
    Column("child_id", String, References("tables.table_id"), primary_key=True),
    Column("child_columns", String, primary_key=True),
    Column("parent_id", String, References("tables.table_id"), primary_key=True),
    Column("parent_columns", String, nullable=False),
    Index("foreign_keys_by_parent", "parent_id"),
)


_MOST_DIGITS = 18


def _is_count(value: str) -> bool:
    return len(value) <= _MOST_DIGITS and value.isascii() and value.isdecimal() and int(value) > 0


@dataclass(frozen=True, slots=True)
class CommitRule:
    """One row: a rule that can be set, what it says, and what its value must be."""

    name: str
    says: str
    value: str
    accepts: Callable[[str], bool]


MAX_BYTES, MAX_FILES, COLUMN_NAMES, FREEZE_METADATA = (
    "max_commit_bytes",
    "max_commit_files",
    "column_names",
    "freeze_metadata",
)

FROZEN = "true"
"""What FREEZE is set to."""
PATTERN = f"a regular expression of RE2, at most {linear_patterns.MAX_LENGTH} characters"

COMMIT_RULES: tuple[CommitRule, ...] = (
    CommitRule(MAX_BYTES, "a commit has at most so many bytes, not counting its data", "a whole number",
               _is_count),
    CommitRule(MAX_FILES, "a commit adds and removes at most so many files", "a whole number", _is_count),
    CommitRule(COLUMN_NAMES, "the names of new columns match as a whole", PATTERN,
               linear_patterns.is_pattern),
    CommitRule(FREEZE_METADATA, "nobody changes schema, properties, domains or protocol", f"`{FROZEN}`",
               FROZEN.__eq__),
)  # fmt: skip
_BY_NAME = {term.name: term for term in COMMIT_RULES}


def set_rule(db: Connection, on: Securable, name: str, value: str | None) -> None:
    """Set a rule from now on, or remove it with None."""
    term = _BY_NAME.get(name)
    if term is None:
        raise InvalidRequest(f"there is no rule {name!r} of commits: choose one of {', '.join(_BY_NAME)}")
    if value is not None and not term.accepts(value):
        raise InvalidRequest(f"the rule {name} cannot be {value!r}: it must be {term.value}")
    key = {"scope": on.scope.value, "object": on.object, "rule": name}
    db.execute(delete(commit_rules).filter_by(**key))
    if value is not None:
        db.execute(insert(commit_rules), {**key, "value": value})


def delete_rules_on(db: Connection, on: Securable) -> None:
    """Delete the rules set on a table or schema that is being deleted."""
    db.execute(delete(commit_rules).filter_by(scope=on.scope.value, object=on.object))


def load_rules(db: Connection, table_id: TableId) -> Mapping[str, str]:
    """The rules that hold for a table."""
    schema = (
        select(commit_store.tables.c.schema_name)
        .where(commit_store.tables.c.table_id == table_id)
        .scalar_subquery()
    )
    rows = db.execute(
        select(commit_rules).where(
            or_(
                commit_rules.c.scope == Scope.LAKE.value,
                (commit_rules.c.scope == Scope.SCHEMA.value) & (commit_rules.c.object == schema),
                (commit_rules.c.scope == Scope.TABLE.value) & (commit_rules.c.object == table_id),
            )
        )
    ).all()
    order = [scope.value for scope in Scope]
    return {row.rule: row.value for row in sorted(rows, key=lambda row: order.index(row.scope))}


def allow_files(db: Connection, table_id: TableId, location: str) -> None:
    """Let a table name files below another place, as a shallow clone of what is there must."""
    place = location.rstrip("/")
    if not place or not (place.startswith("/") or ":" in place):
        raise InvalidRequest(f"{location!r} is no absolute place that files could come from")
    if place not in load_file_sources(db, table_id):
        db.execute(insert(file_sources), {"table_id": table_id, "location": place})


def load_file_sources(db: Connection, table_id: TableId) -> tuple[str, ...]:
    """The places a table may name files of."""
    query = select(file_sources.c.location).where(file_sources.c.table_id == table_id)
    return tuple(db.scalars(query.order_by(file_sources.c.location)))


def add_foreign_key(db: Connection, key: ForeignKey) -> None:
    """Write a foreign key down; one that is there stays."""
    if key not in load_foreign_keys(db, key.child_id):
        db.execute(
            insert(foreign_keys),
            {
                "child_id": key.child_id,
                "child_columns": _text(key.child_columns),
                "parent_id": key.parent_id,
                "parent_columns": _text(key.parent_columns),
            },
        )


def drop_foreign_key(db: Connection, key: ForeignKey) -> bool:
    """Forget a foreign key; whether there was one."""
    done = db.execute(
        delete(foreign_keys).where(
            foreign_keys.c.child_id == key.child_id,
            foreign_keys.c.child_columns == _text(key.child_columns),
            foreign_keys.c.parent_id == key.parent_id,
        )
    )
    return done.rowcount > 0


def load_foreign_keys(db: Connection, table_id: TableId) -> tuple[ForeignKey, ...]:
    """The foreign keys that refer to a table, or from it to another, unless that was dropped."""
    child = commit_store.tables.alias("child")
    query = (
        select(foreign_keys)
        .join(child, child.c.table_id == foreign_keys.c.child_id)
        .where(
            or_(foreign_keys.c.child_id == table_id, foreign_keys.c.parent_id == table_id),
            child.c.state == LIVE,
        )
        .order_by(foreign_keys.c.child_id, foreign_keys.c.child_columns)
    )
    return tuple(
        ForeignKey(
            TableId(row.child_id),
            _names(row.child_columns),
            TableId(row.parent_id),
            _names(row.parent_columns),
        )
        for row in db.execute(query)
    )


def _text(columns: tuple[str, ...]) -> str:
    return msgspec.json.encode(columns).decode()


def _names(text: str) -> tuple[str, ...]:
    return msgspec.json.decode(text, type=tuple[str, ...])
