"""Who was granted what? The privileges of Unity Catalog, and ours, in one list of rows.

Ours are finer, so one of theirs may be several of ours: ``MODIFY`` lets rows and the table itself be changed.
It is shown only to whoever was granted all of them. Ours can be named too, and are shown by their own names.
"""

from collections.abc import Iterable, Mapping

from litestar import get, patch
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery, JSONBody

from headgate.catalog.ports.access import Grant, Privilege, parse_privilege
from headgate.catalog.ports.directory import checked_name
from headgate.catalog.wire.unity_api import (
    PermissionsList,
    PrivilegeAssignment,
    UpdatePermissions,
)
from headgate.errors import InvalidRequest
from headgate.server.caller import Caller
from headgate.server.lakes import ServedLake, ServedLakes
from headgate.server.routes.unity.names import find_name, find_schema

UNITY_PRIVILEGES: Mapping[str, frozenset[Privilege]] = {
    "SELECT": frozenset({Privilege.READ}),
    "MODIFY": frozenset(
        {
            Privilege.APPEND,
            Privilege.CHANGE_DATA,
            Privilege.ALTER_SCHEMA,
            Privilege.ALTER_PROPERTIES,
            Privilege.ALTER_PROTOCOL,
            Privilege.MAINTAIN,
        }
    ),
    "CREATE TABLE": frozenset({Privilege.CREATE}),
    "CREATE SCHEMA": frozenset({Privilege.CREATE}),
    "MANAGE": frozenset({Privilege.MANAGE_GRANTS, Privilege.DROP}),
    "OWNER": frozenset(Privilege),
    # Whoever may do anything with a table may find it, so these two are had by having any other.
    "USE CATALOG": frozenset(),
    "USE SCHEMA": frozenset(),
}
_SHOWN_AS = {Privilege.READ: "SELECT", Privilege.CREATE: "CREATE TABLE"}


@get("/permissions/{securable_type:str}/{full_name:str}", status_code=200, sync_to_thread=True)
def get_permissions(
    caller: NamedDependency[Caller],
    lakes: NamedDependency[ServedLakes],
    securable_type: FromPath[str],
    full_name: FromPath[str],
    principal: FromQuery[str | None] = None,
) -> PermissionsList:
    """What was granted on one thing: to everybody, for whoever manages the lake's grants; else to oneself."""
    lake, on = _find_securable(lakes, caller, securable_type, full_name)
    return _list_permissions(lake, caller, on, principal)


@patch("/permissions/{securable_type:str}/{full_name:str}", status_code=200, sync_to_thread=True)
def update_permissions(
    caller: NamedDependency[Caller],
    lakes: NamedDependency[ServedLakes],
    securable_type: FromPath[str],
    full_name: FromPath[str],
    data: JSONBody[UpdatePermissions],
) -> PermissionsList:
    """Grant and revoke; all names are read before anything changes, and repeating it changes nothing."""
    lake, on = _find_securable(lakes, caller, securable_type, full_name)
    granting = lake.catalog_for(caller.principal).granting
    changes = [(each.principal, _ours(each.add), _ours(each.remove)) for each in data.changes]
    for whom, added, removed in changes:
        for privilege in removed:
            granting.revoke(privilege, on, whom)
        for privilege in added:
            granting.grant(privilege, on, whom)
    return _list_permissions(lake, caller, on, None)


def _find_securable(
    lakes: ServedLakes, caller: Caller, securable_type: str, full_name: str
) -> tuple[ServedLake, str | None]:
    """The lake and what its grants call the thing; ``TableNotFound`` to whoever may not see a table."""
    match securable_type.lower():
        case "catalog" | "metastore":
            return lakes.find(full_name), None
        case "schema":
            lake, schema = find_schema(lakes, full_name)
            return lake, checked_name(schema)
        case "table":
            lake, name = find_name(lakes, full_name)
            return lake, str(lake.catalog_for(caller.principal).resolve(name).name)
        case other:
            raise InvalidRequest(f"nothing is granted on a {other!r} here: name a catalog, schema or table")


def _list_permissions(
    lake: ServedLake, caller: Caller, on: str | None, principal: str | None
) -> PermissionsList:
    found: dict[str, set[Privilege]] = {}
    for grant in lake.catalog_for(caller.principal).granting.grants():
        if _is_on(grant, on) and principal in (None, grant.principal):
            found.setdefault(grant.principal, set()).add(grant.privilege)
    return PermissionsList(
        privilege_assignments=tuple(
            PrivilegeAssignment(principal=whom, privileges=_shown(granted))
            for whom, granted in sorted(found.items())
        )
    )


def _is_on(grant: Grant, on: str | None) -> bool:
    return grant.on == (on or "lake")


def _shown(granted: set[Privilege]) -> tuple[str, ...]:
    whole = [theirs for theirs in ("MODIFY", "MANAGE") if granted >= UNITY_PRIVILEGES[theirs]]
    rest = granted.difference(*(UNITY_PRIVILEGES[theirs] for theirs in whole))
    return tuple(sorted((*whole, *(_SHOWN_AS.get(each, each.value) for each in rest))))


def _ours(names: Iterable[str]) -> tuple[Privilege, ...]:
    found: set[Privilege] = set()
    for name in names:
        theirs = UNITY_PRIVILEGES.get(name.upper().replace("_", " "))
        found |= {parse_privilege(name)} if theirs is None else theirs
    return tuple(sorted(found, key=lambda each: each.value))
