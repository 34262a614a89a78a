"""What may be granted, on what? Privileges, and what was agreed about commits.

Whoever creates a table owns it, and may do everything with it. Anybody else may do what was granted, to them
or to a group of theirs, on the table itself or on what it is in.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, runtime_checkable

from headgate.catalog.ports.access.principals import Principal, PrincipalGroups
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import TableName
from headgate.errors import InvalidRequest


class Privilege(Enum):
    """What can be granted."""

    READ = "READ"
    """To find a table by its name; whoever may do anything else with it may do this too."""
    APPEND = "APPEND"
    CHANGE_DATA = "CHANGE DATA"
    """To delete and replace rows too, and so to append."""
    ALTER_SCHEMA = "ALTER SCHEMA"
    ALTER_PROPERTIES = "ALTER PROPERTIES"
    """Properties, the comment, metadata domains."""
    ALTER_PROTOCOL = "ALTER PROTOCOL"
    """To add and drop table features."""
    MAINTAIN = "MAINTAIN"
    """To rewrite files without changing rows."""
    CREATE = "CREATE"
    """On a schema: to make tables in it. On the lake: to make schemas too."""
    DROP = "DROP"
    MANAGE_GRANTS = "MANAGE GRANTS"


IMPLIED_PRIVILEGES: dict[Privilege, frozenset[Privilege]] = {
    Privilege.CHANGE_DATA: frozenset({Privilege.APPEND, Privilege.READ}),
    **{
        privilege: frozenset({Privilege.READ})
        for privilege in Privilege
        if privilege not in (Privilege.READ, Privilege.CHANGE_DATA, Privilege.CREATE)
    },
}
"""What a privilege brings with it."""


WRITING_PRIVILEGES = frozenset(
    {
        Privilege.APPEND,
        Privilege.CHANGE_DATA,
        Privilege.ALTER_SCHEMA,
        Privilege.ALTER_PROPERTIES,
        Privilege.ALTER_PROTOCOL,
        Privilege.MAINTAIN,
    }
)
"""Each of these is for commits, and every commit writes files."""


class Scope(Enum):
    """On what a privilege is granted."""

    LAKE = "lake"
    SCHEMA = "schema"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class Securable:
    """The lake, one schema by its name, or one table by its id."""

    scope: Scope
    object: str = ""


LAKE = Securable(Scope.LAKE)


@dataclass(frozen=True, slots=True)
class Grant:
    """One privilege of one principal."""

    principal: Principal
    privilege: Privilege
    on: str
    """``lake``, the name of a schema, or that of a table."""
    granted_by: Principal


def parse_privilege(privilege: Privilege | str) -> Privilege:
    """A privilege by its name, in any case."""
    if isinstance(privilege, Privilege):
        return privilege
    wanted = privilege.upper().replace("_", " ")
    found = next((each for each in Privilege if each.value == wanted), None)
    if found is None:
        known = ", ".join(each.value for each in Privilege)
        raise InvalidRequest(f"there is no privilege {privilege!r}: choose one of {known}")
    return found


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """Rows of one table refer to rows of another by these columns."""

    child_id: TableId
    child_columns: tuple[str, ...]
    parent_id: TableId
    parent_columns: tuple[str, ...]


class Grants(Protocol):
    """Decides who may do what; every method takes MANAGE GRANTS on what it is about."""

    def grant(self, privilege: Privilege | str, on: str | None, to: str) -> None:
        """Let a principal do something with the lake, a schema or a table; nothing happens if it may."""
        ...

    def revoke(self, privilege: Privilege | str, on: str | None, from_: str) -> bool:
        """Take back what was granted in the same words; whether it was."""
        ...

    def grants(self) -> tuple[Grant, ...]:
        """Every grant, for managers of the lake's grants; else one's own."""
        ...

    def limit_unpublished(self, principal: str, limit: int | None) -> None:
        """How many commits of one table a principal may leave unpublished; None for no limit of its own."""
        ...


@runtime_checkable
class PrivilegeLookup(Protocol):
    """A catalog that tells beforehand what the caller may do, so that nothing else is offered."""

    def held_privileges(self, table_id: TableId | None = None) -> frozenset[Privilege]:
        """All that the caller may do with a table, or with the lake; nothing with a table that is hidden."""
        ...


class CommitRules(Protocol):
    """Sets what commits are held to besides who makes them: limits, and where files may come from."""

    def set_rule(self, rule: str, value: str | int | None, on: str | None) -> None:
        """Let a rule of commits hold for the lake, a schema or a table; None takes it back."""
        ...

    def allow_files(self, table: str, location: str) -> None:
        """Let a table name files of another place, as a shallow clone must."""
        ...

    def allow_clone_of(self, table_id: TableId, source: TableName) -> None:
        """Let a table, which may be one that is being made, name the files of another table of the catalog.

        And those that this one may name itself. Whoever may read the one and write the other may do this.
        """
        ...

    def allow_clone_locations(self, table_id: TableId, places: Collection[str]) -> None:
        """Let a table name files of places for which no table of the catalog stands."""
        ...


class ForeignKeys(Protocol):
    """Registers which columns refer to columns of other tables."""

    def add_foreign_key(
        self, child: str, columns: Sequence[str], parent: str, parent_columns: Sequence[str]
    ) -> None:
        """Register that columns of a table refer to columns of another, which must be NOT NULL."""
        ...

    def drop_foreign_key(self, child: str, columns: Sequence[str], parent: str) -> bool:
        """Forget a foreign key; whether there was one."""
        ...

    def foreign_keys(self, table: str) -> tuple[ForeignKey, ...]:
        """The foreign keys to a table and from it."""
        ...


class AccessControl(Grants, PrincipalGroups, CommitRules, ForeignKeys, Protocol):
    """All that a catalog lets its users decide about others, on behalf of one principal."""
