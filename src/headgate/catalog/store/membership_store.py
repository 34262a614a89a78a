"""Who is a member of which group? The rows, inside the caller's transaction."""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    ForeignKey,
    String,
    Table,
    delete,
    insert,
    or_,
    select,
)

from headgate.catalog.ports.access import Group, Principal, ScopedPrincipal
from headgate.catalog.store import commit_store

memberships = Table(
    "memberships",
    commit_store.metadata,
    Column("principal", String, ForeignKey("principals.name"), primary_key=True),
    Column("group_name", String, ForeignKey("principals.name"), primary_key=True),
    Column("added_by", String, nullable=False),
    Column("added_ms", BigInteger, nullable=False),
)


def is_or_has_member(column: Column[Any], principal: Principal) -> ColumnElement[bool]:
    """Whether a column names the principal, or a group that it is a member of."""
    vouched = principal.groups if isinstance(principal, ScopedPrincipal) else ()
    mine = select(memberships.c.group_name).where(memberships.c.principal == principal)
    return or_(column.in_([str(principal), *sorted(vouched)]), column.in_(mine))


def group_names(db: Connection, principal: Principal) -> frozenset[str]:
    """The groups that a principal is a member of."""
    vouched = principal.groups if isinstance(principal, ScopedPrincipal) else frozenset()
    query = select(memberships.c.group_name).where(memberships.c.principal == principal)
    return vouched | frozenset(db.scalars(query))


def add_member(db: Connection, group: Principal, principal: Principal, *, by: Principal, now_ms: int) -> bool:
    """Write a membership down; whether it is new. Both must be known."""
    known = select(memberships.c.added_ms).filter_by(group_name=group, principal=principal)
    if db.execute(known).one_or_none() is not None:
        return False
    row = {"group_name": group, "principal": principal, "added_by": by, "added_ms": now_ms}
    db.execute(insert(memberships), row)
    return True


def remove_member(db: Connection, group: Principal, principal: Principal) -> bool:
    """Take a membership away; whether there was one."""
    gone = db.execute(
        delete(memberships).where(memberships.c.group_name == group, memberships.c.principal == principal)
    )
    return gone.rowcount > 0


def all_groups(db: Connection) -> tuple[Group, ...]:
    """Every group that has members, by name."""
    rows = db.execute(select(memberships).order_by(memberships.c.group_name, memberships.c.principal))
    members: dict[str, list[Principal]] = {}
    for row in rows:
        members.setdefault(row.group_name, []).append(Principal(row.principal))
    return tuple(Group(name, tuple(found)) for name, found in members.items())
