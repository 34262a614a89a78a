"""Who decides who may do what: granting and revoking, and what was agreed about commits, as use cases.

Each is one database transaction, and takes MANAGE GRANTS on what it is about.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from headgate.catalog.database.engine import Database
from headgate.catalog.ports.access import (
    LAKE,
    OWNER,
    ForeignKey,
    Grant,
    Group,
    Principal,
    Privilege,
    Scope,
    Securable,
    acting_principal,
    parse_group,
    parse_principal,
    parse_privilege,
)
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import TableEntry, TableName
from headgate.catalog.ports.directory_copy import STAGING
from headgate.catalog.store import (
    commit_rules,
    commit_store,
    grant_store,
    membership_store,
    name_store,
    table_state,
)
from headgate.clock import World
from headgate.errors import InvalidRequest, SchemaNotFound, TableNotFound
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Struct, describe_type
from headgate.spelling import did_you_mean


@dataclass(frozen=True, slots=True)
class GrantService:
    """The use cases, on behalf of one principal."""

    database: Database
    world: World
    principal: Principal
    resolve: Callable[[TableName], TableEntry]

    def grant(self, privilege: Privilege | str, on: str | None, to: str) -> None:
        """Let a principal do something with the lake, a schema or a table; nothing happens if it may."""
        given, place, whom = parse_privilege(privilege), self._place(on), parse_principal(to)
        if whom == OWNER:
            raise InvalidRequest("the lake's owner may do everything, and needs no grants")
        with self.database.writing() as db:
            self._check_manages(db, place)
            grant_store.grant(
                db, (given, place, whom), by=Principal(str(self.principal)), now_ms=self.world.now_ms()
            )

    def revoke(self, privilege: Privilege | str, on: str | None, from_: str) -> bool:
        """Take back what was granted in the same words; whether it was."""
        taken, place, whom = parse_privilege(privilege), self._place(on), parse_principal(from_)
        with self.database.writing() as db:
            self._check_manages(db, place)
            return grant_store.revoke(db, (taken, place, whom))

    def grants(self) -> tuple[Grant, ...]:
        """Every grant, for managers of the lake's grants; else one's own, and those of one's groups."""
        with self.database.reading() as db:
            found = grant_store.all_grants(db)
            if Privilege.MANAGE_GRANTS in grant_store.privileges_on(db, self.principal, LAKE):
                return found
            mine = {self.principal, *membership_store.group_names(db, self.principal)}
        return tuple(grant for grant in found if grant.principal in mine)

    def add_member(self, group: str, principal: str) -> bool:
        """Make a principal a member of a group, which is made if need be; whether that is new."""
        named, whom, now = parse_group(group), acting_principal(principal), self.world.now_ms()
        if whom == OWNER:
            raise InvalidRequest("the lake's owner may do everything, and is a member of no group")
        with self.database.writing() as db:
            self._check_manages(db, LAKE)
            for each in (named, whom):
                grant_store.add_principal(db, each, now_ms=now)
            return membership_store.add_member(db, named, whom, by=Principal(str(self.principal)), now_ms=now)

    def remove_member(self, group: str, principal: str) -> bool:
        """Let a principal be no member any more; whether it was one."""
        named, whom = parse_group(group), parse_principal(principal)
        with self.database.writing() as db:
            self._check_manages(db, LAKE)
            return membership_store.remove_member(db, named, whom)

    def groups(self) -> tuple[Group, ...]:
        """Every group, for managers of the lake's grants; else those one is a member of, with oneself."""
        with self.database.reading() as db:
            if Privilege.MANAGE_GRANTS in grant_store.privileges_on(db, self.principal, LAKE):
                return membership_store.all_groups(db)
            names = membership_store.group_names(db, self.principal)
        return tuple(Group(name, (Principal(str(self.principal)),)) for name in sorted(names))

    def limit_unpublished(self, principal: str, limit: int | None) -> None:
        """How many commits of one table a principal may leave unpublished; None for no limit of its own."""
        if limit is not None and limit < 1:
            raise InvalidRequest(f"a limit of {limit} commits would forbid all of them: revoke instead")
        with self.database.writing() as db:
            self._check_manages(db, LAKE)
            now = self.world.now_ms()
            grant_store.set_unpublished_limit(db, parse_principal(principal), limit, now_ms=now)

    def set_rule(self, rule: str, value: str | int | None, on: str | None) -> None:
        """Let a rule of commits hold for the lake, a schema or a table; None takes it back."""
        place = self._place(on)
        with self.database.writing() as db:
            self._check_manages(db, place)
            commit_rules.set_rule(db, place, rule, None if value is None else str(value))

    def allow_files(self, table: str, location: str) -> None:
        """Let a table name files of another place, as a shallow clone must."""
        place = self._place(table)
        if place.scope is not Scope.TABLE:
            raise InvalidRequest("files from elsewhere are allowed to one table at a time: schema.table")
        with self.database.writing() as db:
            grant_store.require_privilege(
                db, self.principal, Privilege.MANAGE_GRANTS, LAKE, "allow files from elsewhere"
            )
            commit_rules.allow_files(db, TableId(place.object), location)

    def allow_clone_of(self, table_id: TableId, source: TableName) -> None:
        """Let a table, which may be one that is being made, name the files of another table of the catalog.

        And those that this one may name itself. Whoever may read the one and write the other may do this.
        """
        found = self.resolve(source)
        with self.database.writing() as db:
            self._check_writes(db, table_id)
            on = Securable(Scope.TABLE, found.table_id)
            grant_store.require_privilege(db, self.principal, Privilege.READ, on, f"clone {found.name}")
            for place in (found.location, *commit_rules.load_file_sources(db, found.table_id)):
                commit_rules.allow_files(db, table_id, place)

    def allow_clone_locations(self, table_id: TableId, places: Collection[str]) -> None:
        """Let a table name files of places for which no table of the catalog stands."""
        with self.database.writing() as db:
            self._check_writes(db, table_id)
            what = "clone files from elsewhere without copying them"
            grant_store.require_privilege(db, self.principal, Privilege.MANAGE_GRANTS, LAKE, what)
            for place in sorted(places):
                commit_rules.allow_files(db, table_id, place)

    def add_foreign_key(
        self, child: str, columns: Sequence[str], parent: str, parent_columns: Sequence[str]
    ) -> None:
        """Register that columns of a table refer to columns of another, which must be NOT NULL."""
        key = self._key(child, columns, parent, parent_columns)
        with self.database.writing() as db:
            for table_id in sorted({key.child_id, key.parent_id}):
                commit_store.lock_table(db, table_id)  # no commit may change the columns meanwhile
                self._check_manages(db, Securable(Scope.TABLE, table_id))
            _check_foreign_key(key, _columns(db, key.child_id), _columns(db, key.parent_id))
            commit_rules.add_foreign_key(db, key)

    def drop_foreign_key(self, child: str, columns: Sequence[str], parent: str) -> bool:
        """Forget a foreign key; whether there was one."""
        key = self._key(child, columns, parent, ())
        with self.database.writing() as db:
            self._check_manages(db, Securable(Scope.TABLE, key.child_id))
            return commit_rules.drop_foreign_key(db, key)

    def foreign_keys(self, table: str) -> tuple[ForeignKey, ...]:
        """The foreign keys to a table and from it, as far as both are to be seen."""
        table_id = self._table_id(table)
        with self.database.reading() as db:
            found = commit_rules.load_foreign_keys(db, table_id)
            ids = {each for key in found for each in (key.child_id, key.parent_id)}
            seen = grant_store.visible_tables(db, self.principal, ids)
        return tuple(key for key in found if {key.child_id, key.parent_id} <= seen)

    def _place(self, on: str | None) -> Securable:
        if on is None or on == Scope.LAKE.value:
            return LAKE
        schema, dot, table = on.partition(".")
        if dot:
            return Securable(Scope.TABLE, self.resolve(TableName(schema, table)).table_id)
        with self.database.reading() as db:
            known = name_store.schema_exists(db, schema.lower())
            if not known or not grant_store.sees_schema(db, self.principal, schema.lower()):
                raise SchemaNotFound(f"there is no schema {schema!r}", name=schema)
        return Securable(Scope.SCHEMA, schema.lower())

    def _table_id(self, table: str) -> TableId:
        found = self._place(table)
        if found.scope is not Scope.TABLE:
            raise InvalidRequest(f"{table!r} is no table: name one as schema.table")
        return TableId(found.object)

    def _check_writes(self, db: Connection, table_id: TableId) -> None:
        """That the principal may put rows into a table, or make it what it is to be."""
        row = name_store.find_row(db, table_id)
        if row is None or not grant_store.visible_tables(db, self.principal, (table_id,)):
            raise TableNotFound(f"there is no table {table_id}, nor a place for one", name=table_id)
        is_new = row.state == STAGING
        on = Securable(Scope.SCHEMA, row.schema_name) if is_new else Securable(Scope.TABLE, table_id)
        needed = Privilege.CREATE if is_new else Privilege.CHANGE_DATA
        grant_store.require_privilege(
            db, self.principal, needed, on, f"clone to {row.schema_name}.{row.table_name}"
        )

    def _check_manages(self, db: Connection, on: Securable) -> None:
        grant_store.require_privilege(
            db, self.principal, Privilege.MANAGE_GRANTS, on, "decide about grants and rules there"
        )

    def _key(
        self, child: str, columns: Sequence[str], parent: str, parent_columns: Sequence[str]
    ) -> ForeignKey:
        ids = [self._table_id(name) for name in (child, parent)]
        return ForeignKey(ids[0], tuple(columns), ids[1], tuple(parent_columns))


def _columns(db: Connection, table_id: TableId) -> Struct:
    told = table_state.load_table_state(db, table_id)
    if told is None:
        raise InvalidRequest(
            f"the catalog does not know the columns of table {table_id}, which an older release wrote: "
            "commit a change of its properties, and try again"
        )
    return schema_json.parse(told.metadata.schema_string)


def _check_foreign_key(key: ForeignKey, child: Struct, parent: Struct) -> None:
    if len(key.child_columns) != len(key.parent_columns) or not key.child_columns:
        raise InvalidRequest(
            "a foreign key has as many columns on one side as on the other, and at least one"
        )
    for name, referred in zip(key.child_columns, key.parent_columns, strict=True):
        mine, theirs = child.find(name), parent.find(referred)
        if mine is None or theirs is None:
            side, missing, there = ("child", name, child) if mine is None else ("parent", referred, parent)
            near = did_you_mean(missing, (field.name for field in there.fields))
            raise InvalidRequest(
                f"the {side} table of the foreign key has no column {missing!r}:{near or ' correct the name'}"
            )
        if theirs.nullable:
            raise InvalidRequest(f"the column {referred!r} is referred to and must be NOT NULL")
        if mine.type != theirs.type:
            raise InvalidRequest(
                f"the column {name!r} is {describe_type(mine.type)}, and {referred!r} is "
                f"{describe_type(theirs.type)}"
            )
