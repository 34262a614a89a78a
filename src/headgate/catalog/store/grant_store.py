"""What was granted to whom? The rows of principals and grants, and the queries over them.

Every function runs inside the caller's transaction; the rules are those of ``ports.access``.
"""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    ForeignKey,
    Row,
    String,
    Table,
    delete,
    insert,
    literal,
    or_,
    select,
    true,
    update,
)

from headgate.catalog.ports.access import (
    EXTERNAL,
    FULL_SCOPE,
    IMPLIED_PRIVILEGES,
    LAKE,
    OWNER,
    Grant,
    Principal,
    Privilege,
    Scope,
    ScopedPrincipal,
    Securable,
    TokenScope,
)
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import TableName
from headgate.catalog.ports.directory_copy import LIVE, STAGING
from headgate.catalog.store import commit_store, membership_store, table_not_found
from headgate.errors import NotAllowed
from headgate.protocol.actions import Version

principals = Table(
    "principals",
    commit_store.metadata,
    Column("name", String, primary_key=True),
    Column("created_ms", BigInteger, nullable=False),
    Column("unpublished_limit", BigInteger),
)

grants = Table(
    "grants",
    commit_store.metadata,
    Column("principal", String, ForeignKey("principals.name"), primary_key=True),
    Column("scope", String, primary_key=True),
    Column("object", String, primary_key=True),
    Column("privilege", String, primary_key=True),
    Column("granted_by", String, nullable=False),
    Column("granted_ms", BigInteger, nullable=False),
)

_SHOWS = [
    each.value
    for each in Privilege
    if each is Privilege.READ or Privilege.READ in IMPLIED_PRIVILEGES.get(each, frozenset())
]
"""Privileges by which a table may be seen."""
_ASKED_AT_ONCE = 1_000


def table_privileges(db: Connection, principal: Principal, table_id: TableId) -> frozenset[Privilege]:
    """All that a principal may do with a table, live or not, by the credentials it acts with.

    A place reserved for a table is only for whoever reserved it, whatever others may do in its schema.
    """
    if principal == OWNER:
        return frozenset(Privilege)
    tables = commit_store.tables.c
    row = db.execute(
        select(tables.schema_name, tables.owner, tables.shares_log, tables.state).where(
            tables.table_id == table_id
        )
    ).one_or_none()
    if row is None:
        return frozenset()
    if row.owner == principal or (principal == EXTERNAL and (row.shares_log or not _is_governed(db))):
        return _within_scope(principal, row.schema_name, frozenset(Privilege))
    if row.state == STAGING:
        return frozenset()
    places = (LAKE, Securable(Scope.SCHEMA, row.schema_name), Securable(Scope.TABLE, table_id))
    return _within_scope(principal, row.schema_name, _granted(db, principal, places))


def credential_scope(principal: Principal) -> TokenScope:
    """What the credentials of a principal limit it to."""
    return principal.scope if isinstance(principal, ScopedPrincipal) else FULL_SCOPE


def _within_scope(
    principal: Principal, schema: str | None, held: frozenset[Privilege]
) -> frozenset[Privilege]:
    """What is left of privileges in a schema, or with None in the lake, under a principal's credentials."""
    scope = credential_scope(principal)
    if scope.schema not in (None, schema):
        return frozenset()
    return held & {Privilege.READ} if scope.read_only else held


def owns_table(db: Connection, principal: Principal, table_id: TableId) -> bool:
    """Whether a table is the principal's own: they made it, or the lake is theirs.

    Not for whoever acts by credentials that are good for less than all an owner may do.
    """
    if principal == OWNER:
        return True
    tables = commit_store.tables.c
    row = db.execute(
        select(tables.owner, tables.schema_name).where(tables.table_id == table_id)
    ).one_or_none()
    if row is None or row.owner != principal:
        return False
    return bool(_within_scope(principal, row.schema_name, frozenset({Privilege.DROP})))


def privileges_on(db: Connection, principal: Principal, on: Securable) -> frozenset[Privilege]:
    """All that a principal may do with the lake, a schema or a table."""
    if principal == OWNER:
        return frozenset(Privilege)
    if on.scope is Scope.TABLE:
        return table_privileges(db, principal, TableId(on.object))
    schema = on.object if on.scope is Scope.SCHEMA else None
    return _within_scope(principal, schema, _granted(db, principal, {LAKE, on}))


def sees_schema(db: Connection, principal: Principal, schema: str) -> bool:
    """Whether a principal may know of a schema: it may do something there, or with a table in it."""
    if principal == OWNER:
        return True
    if credential_scope(principal).schema not in (None, schema):
        return False
    if _granted(db, principal, {LAKE, Securable(Scope.SCHEMA, schema)}):
        return True
    tables = commit_store.tables.c
    granted = select(grants.c.object).where(
        membership_store.is_or_has_member(grants.c.principal, principal),
        grants.c.scope == Scope.TABLE.value,
    )
    mine = (tables.owner == principal) | tables.table_id.in_(granted)
    query = select(tables.table_id).where(tables.schema_name == schema, mine)
    return db.execute(query.limit(1)).first() is not None


def require_privilege(
    db: Connection, principal: Principal, privilege: Privilege, on: Securable, what: str
) -> None:
    """Refuse what a principal may not do; ``what`` says it in words."""
    if principal != OWNER and privilege not in privileges_on(db, principal, on):
        raise NotAllowed(
            f"{principal} may not {what}: that takes {privilege.value}, which the owner grants with "
            f"lake.grant({privilege.value!r}, on=…, to={str(principal)!r})",
            principal=str(principal), privilege=privilege.value,
        )  # fmt: skip


def require_visible(db: Connection, principal: Principal, table_id: TableId) -> None:
    """There is no table of that id, for whoever may not even know of it."""
    if principal != OWNER and Privilege.READ not in table_privileges(db, principal, table_id):
        raise table_not_found.no_table(table_id)


def require_table_privilege(
    db: Connection, principal: Principal, privilege: Privilege, table_id: TableId, what: str
) -> None:
    """Refuse what a principal may not do with a table; whoever does not see it does not hear of it either."""
    require_visible(db, principal, table_id)
    require_privilege(db, principal, privilege, Securable(Scope.TABLE, table_id), what)


def visible_tables(db: Connection, principal: Principal, table_ids: Iterable[TableId]) -> frozenset[TableId]:
    """Those of these tables that the principal may know of.

    As many statements for one that is hidden as for none at all, and few for many: neither how long it takes
    tells of what is hidden (T14), nor does a large lake make it expensive (T10).
    """
    wanted = list(dict.fromkeys(table_ids))
    if principal == OWNER:
        return frozenset(wanted)
    tables, found = commit_store.tables.c, set[TableId]()
    for at in range(0, max(len(wanted), 1), _ASKED_AT_ONCE):
        some = tables.table_id.in_(wanted[at : at + _ASKED_AT_ONCE])
        found.update(db.scalars(select(tables.table_id).where(some, may_be_seen(principal))))
    return frozenset(found)


def may_be_seen(principal: Principal) -> ColumnElement[bool]:
    """Whether ``table_privileges`` has READ in it, of all rows of ``tables`` at once."""
    if principal == OWNER:
        return true()
    tables, schema = commit_store.tables.c, credential_scope(principal).schema
    granted = or_(
        _shown_by_grant_on(principal, Scope.TABLE, tables.table_id),
        _shown_by_grant_on(principal, Scope.SCHEMA, tables.schema_name),
        _shown_by_grant_on(principal, Scope.LAKE, literal("")),
    )
    seen = (tables.owner == str(principal)) | ((tables.state != STAGING) & granted)
    if principal == EXTERNAL:
        governed = select(principals.c.name).where(principals.c.name != EXTERNAL).exists()
        seen = seen | (tables.shares_log != 0) | ~governed
    return seen if schema is None else seen & (tables.schema_name == schema)


def _shown_by_grant_on(principal: Principal, scope: Scope, column: Any) -> ColumnElement[bool]:
    objects = select(grants.c.object).where(
        membership_store.is_or_has_member(grants.c.principal, principal),
        grants.c.scope == scope.value,
        grants.c.privilege.in_(_SHOWS),
    )
    found: ColumnElement[bool] = column.in_(objects)
    return found


def grant(
    db: Connection, given: tuple[Privilege, Securable, Principal], *, by: Principal, now_ms: int
) -> None:
    """Write a grant down, and the principal if it is new; one that is there stays as it is."""
    privilege, on, to = given
    add_principal(db, to, now_ms=now_ms)
    key = {
        "principal": to,
        "scope": on.scope.value,
        "object": on.object,
        "privilege": privilege.value,
    }
    if db.execute(select(grants.c.granted_ms).filter_by(**key)).one_or_none() is None:
        db.execute(insert(grants), {**key, "granted_by": by, "granted_ms": now_ms})


def revoke(db: Connection, taken: tuple[Privilege, Securable, Principal]) -> bool:
    """Take a grant away; whether there was one."""
    privilege, on, principal = taken
    done = db.execute(
        delete(grants).where(
            grants.c.principal == principal,
            grants.c.scope == on.scope.value,
            grants.c.object == on.object,
            grants.c.privilege == privilege.value,
        )
    )
    return done.rowcount > 0


def revoke_all_on(db: Connection, on: Securable) -> None:
    """Take away whatever was granted on something that goes."""
    db.execute(delete(grants).where(grants.c.scope == on.scope.value, grants.c.object == on.object))


def all_grants(db: Connection) -> tuple[Grant, ...]:
    """Every grant, by principal; those on dropped tables are told by the table's id."""
    tables = commit_store.tables.c
    query = (
        select(grants, tables.schema_name, tables.table_name)
        .outerjoin(
            commit_store.tables,
            (grants.c.scope == Scope.TABLE.value)
            & (tables.table_id == grants.c.object)
            & (tables.state == LIVE),
        )
        .order_by(grants.c.principal, grants.c.scope, grants.c.object, grants.c.privilege)
    )
    return tuple(_grant(row) for row in db.execute(query))


def add_principal(db: Connection, principal: Principal, *, now_ms: int) -> None:
    """Know a principal from now on."""
    commit_store.lock_names(db)
    if db.execute(select(principals.c.name).where(principals.c.name == principal)).one_or_none() is None:
        db.execute(insert(principals), {"name": principal, "created_ms": now_ms})


def set_unpublished_limit(db: Connection, principal: Principal, limit: int | None, *, now_ms: int) -> None:
    """How many commits of one table a principal may leave unpublished; None for no limit of its own."""
    add_principal(db, principal, now_ms=now_ms)
    db.execute(update(principals).where(principals.c.name == principal).values(unpublished_limit=limit))


def exceeded_unpublished_limit(
    db: Connection, principal: Principal, table_id: TableId, *, more: int = 0
) -> int | None:
    """The limit that another unpublished commit of the principal, after ``more``, would exceed (T10)."""
    if principal == OWNER:
        return None
    limit = db.scalar(select(principals.c.unpublished_limit).where(principals.c.name == principal))
    if limit is None:
        return None
    tables, commits = commit_store.tables.c, commit_store.commits.c
    published = select(tables.published).where(tables.table_id == table_id).scalar_subquery()
    waiting = (
        select(commits.version)
        .where(commits.table_id == table_id, commits.version > published, commits.principal == principal)
        .limit(limit)
    )
    return int(limit) if len(db.execute(waiting).all()) + more >= limit else None


def proposer_of(db: Connection, table_id: TableId, version: Version) -> Principal:
    """For whom a version was ratified."""
    commits = commit_store.commits.c
    found = db.scalar(
        select(commits.principal).where(commits.table_id == table_id, commits.version == version)
    )
    return Principal(found) if found is not None else OWNER


def _is_governed(db: Connection) -> bool:
    """Whether there is anybody besides the owner; else whoever writes to a log is the owner."""
    others = select(principals.c.name).where(principals.c.name != EXTERNAL)
    return db.execute(others.limit(1)).one_or_none() is not None


def set_table_owner(db: Connection, table_id: TableId, owner: Principal) -> None:
    """Write down who made a table."""
    if owner != OWNER:
        db.execute(
            update(commit_store.tables).where(commit_store.tables.c.table_id == table_id).values(owner=owner)
        )


def _granted(db: Connection, principal: Principal, places: Iterable[Securable]) -> frozenset[Privilege]:
    wanted = {(on.scope.value, on.object) for on in places}
    rows = db.execute(
        select(grants.c.scope, grants.c.object, grants.c.privilege).where(
            membership_store.is_or_has_member(grants.c.principal, principal),
            grants.c.object.in_([place for _, place in wanted]),
        )
    )
    direct = {Privilege(row.privilege) for row in rows if (row.scope, row.object) in wanted}
    return frozenset(direct.union(*(IMPLIED_PRIVILEGES.get(each, frozenset()) for each in direct)))


def _grant(row: Row[Any]) -> Grant:
    on = row.object or Scope.LAKE.value
    if row.table_name is not None:
        on = str(TableName(row.schema_name, row.table_name))
    return Grant(Principal(row.principal), Privilege(row.privilege), on, Principal(row.granted_by))
