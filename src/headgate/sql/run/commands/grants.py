"""What do GRANT, REVOKE and SHOW GRANTS do? The words of SQL for privileges are rows of ``WORDS``."""

from collections.abc import Mapping

from pyspark.sql import DataFrame

from headgate.catalog.ports.access import Privilege
from headgate.errors import InvalidRequest
from headgate.lake.lake import Lake
from headgate.sql.run import result_frames
from headgate.sql.run.commands.queries import not_supported
from headgate.sql.run.statement_context import StatementContext
from headgate.sql.statements.access import GrantPrivileges, RevokePrivileges, SecurableRef, ShowGrants

WORDS: Mapping[str, tuple[Privilege, ...]] = {
    "SELECT": (Privilege.READ,),
    "INSERT": (Privilege.APPEND,),
    "MODIFY": (Privilege.CHANGE_DATA,),
    "CREATE TABLE": (Privilege.CREATE,),
    "CREATE SCHEMA": (Privilege.CREATE,),
    "MANAGE": (Privilege.MANAGE_GRANTS,),
    "ALL": tuple(Privilege),
    "ALL PRIVILEGES": tuple(Privilege),
    **{each.value: (each,) for each in Privilege},
}
"""What SQL calls each privilege, besides the names that a lake has for them."""
_ON_TABLES = frozenset({Privilege.CREATE})
"""What means nothing on a table."""
_KINDS = {"TABLE": "table", "VIEW": "table", "SCHEMA": "schema", "DATABASE": "schema", "NAMESPACE": "schema"}


def grant_privileges(context: StatementContext, command: GrantPrivileges) -> DataFrame:
    """GRANT."""
    lake, on = _securable(context, command.securable)
    for privilege in _privileges(command.privileges, command.securable):
        lake.grant(privilege, on=on, to=command.principal)
    return result_frames.nothing(context.spark)


def revoke_privileges(context: StatementContext, command: RevokePrivileges) -> DataFrame:
    """REVOKE."""
    lake, on = _securable(context, command.securable)
    for privilege in _privileges(command.privileges, command.securable):
        lake.revoke(privilege, on=on, from_=command.principal)
    return result_frames.nothing(context.spark)


def show_grants(context: StatementContext, command: ShowGrants) -> DataFrame:
    """SHOW GRANTS on a table, a schema or the lake, to all or to one."""
    lake, on = _securable(context, command.securable)
    kind = "CATALOG" if on is None else "TABLE" if "." in on else "SCHEMA"
    rows = [
        (str(grant.principal), grant.privilege.value, kind, context.scope.name_of(lake) if on is None else on)
        for grant in lake.grants()
        if grant.on.lower() == (on or "lake").lower() and command.principal in (None, str(grant.principal))
    ]
    return result_frames.frame(context.spark, result_frames.GRANTS, sorted(rows))


def has_lake(context: StatementContext, securable: SecurableRef) -> bool:
    """Whether a privilege is one of a lake."""
    scope, kind = context.scope, _KINDS.get(securable.kind)
    if kind == "table":
        return scope.find(securable.name) is not None
    if kind == "schema":
        return scope.schema_home(securable.name) is not None
    return scope.home is not None or (bool(securable.name) and securable.name[0].lower() in scope.lakes)


def _securable(context: StatementContext, securable: SecurableRef) -> tuple[Lake, str | None]:
    scope = context.scope
    match _KINDS.get(securable.kind, securable.kind):
        case "table" if securable.path is None:
            found = scope.require(securable.name)
            if hasattr(found, "lake"):
                scope.table(found)  # it must be there
                return found.lake, str(found.name)
        case "schema":
            home = scope.schema_home(securable.name)
            if home is not None:
                return home
        case "CATALOG" | "LAKE" | "METASTORE":
            return scope.lake_or_only(securable.name), None
        case _:
            pass
    raise not_supported(
        f"a privilege on {securable.kind}", "privileges are on tables, schemas and the lake (ON CATALOG name)"
    )


def _privileges(words: tuple[str, ...], securable: SecurableRef) -> tuple[Privilege, ...]:
    found: list[Privilege] = []
    for word in words:
        if word not in WORDS:
            raise InvalidRequest(
                f"there is no privilege {word}: choose one of {', '.join(WORDS)}", code="INVALID_PRIVILEGE"
            )
        found += WORDS[word]
    is_table = _KINDS.get(securable.kind) == "table"
    return tuple(each for each in dict.fromkeys(found) if not (is_table and each in _ON_TABLES))
