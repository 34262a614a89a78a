"""Who may do what: every privilege against every kind of commit, and what else takes one."""

from typing import Any

import msgspec
import pytest

from headgate.catalog.ports.access import IMPLIED_PRIVILEGES, Privilege
from headgate.catalog.ports.commits import Ratified
from headgate.catalog.ports.directory import TableName
from headgate.clock import SystemWorld
from headgate.errors import (
    InvalidRequest,
    NotAllowed,
    SchemaNotFound,
    TableNotFound,
)
from headgate.protocol.actions import (
    AddCdcFile,
    AppTransaction,
    DeletionVector,
    DomainMetadata,
)
from headgate.protocol.schema.types import Field, Primitive
from headgate.storage.locate import locate
from headgate.table.alter import create
from headgate.table.alter.create import TableDefinition
from tests.support.broken_commits import ID, WRITER, Build, altered, columns, with_features, with_properties
from tests.support.governed import ADD, COUNT, REMOVE, Place, place, shared
from tests.support.lenient import anything_goes
from tests.support.tables import SCHEMA, create_managed

__all__ = ["place", "shared"]  # fixtures

KEEPS_ROWS = msgspec.structs.replace(ADD, data_change=False)
VECTOR = DeletionVector(storage_type="u", path_or_inline_dv="a" * 20, size_in_bytes=1, cardinality=1)
LOOSE = msgspec.structs.replace(
    KEEPS_ROWS, path="b", deletion_vector=VECTOR, stats='{"numRecords":1,"tightBounds":false}'
)
APPEND, CHANGE, MAINTAIN = Privilege.APPEND, Privilege.CHANGE_DATA, Privilege.MAINTAIN
SCHEMA_, PROPERTIES, PROTOCOL = (
    Privilege.ALTER_SCHEMA,
    Privilege.ALTER_PROPERTIES,
    Privilege.ALTER_PROTOCOL,
)


def _domain(name: str, text: str = "{}", *, removed: bool = False) -> Build:
    return lambda _: (DomainMetadata(domain=name, configuration=text, removed=removed),)


_ROW_IDS = msgspec.structs.replace(ADD, base_row_id=0, default_row_commit_version=1)
_MARK = DomainMetadata(domain="delta.rowTracking", configuration='{"rowIdHighWaterMark":0}', removed=False)

COMMITS: dict[str, tuple[Build, set[Privilege]]] = {
    "append": (lambda _: (ADD,), {APPEND}),
    "an application's transaction": (lambda _: (AppTransaction(app_id="a", version=1), ADD), {APPEND}),
    "nothing at all": (lambda _: (), {APPEND}),
    "delete": (lambda _: (REMOVE,), {CHANGE}),
    "update": (lambda _: (REMOVE, ADD), {CHANGE}),
    "changed rows": (lambda _: (REMOVE, ADD, AddCdcFile(path="c", partition_values={}, size=1)), {CHANGE}),
    "compact": (lambda _: (msgspec.structs.replace(REMOVE, data_change=False), KEEPS_ROWS), {MAINTAIN}),
    "a removal said to change nothing": (
        lambda _: (msgspec.structs.replace(REMOVE, data_change=False),),
        {CHANGE},
    ),
    "an addition said to change nothing": (lambda _: (KEEPS_ROWS,), {MAINTAIN, APPEND}),
    "rows deleted by a vector said to change nothing": (
        lambda _: (msgspec.structs.replace(REMOVE, data_change=False), LOOSE),
        {CHANGE, MAINTAIN},
    ),
    "an append of a file with a vector, which may be one that is there": (
        lambda _: (msgspec.structs.replace(LOOSE, data_change=True),),
        {CHANGE},
    ),
    "rows deleted by a vector, of which the half is said to change nothing": (
        lambda _: (
            msgspec.structs.replace(REMOVE, data_change=False),
            msgspec.structs.replace(LOOSE, data_change=True),
        ),
        {CHANGE, MAINTAIN},
    ),
    "add a column": (altered(lambda old: columns(old, ID, WRITER, Field("n", Primitive("date")))), {SCHEMA_}),
    "set a property": (altered(lambda old: with_properties(old, acme="1")), {PROPERTIES}),
    "set the comment": (altered(lambda old: msgspec.structs.replace(old, description="x")), {PROPERTIES}),
    "restate everything": (lambda told: (told.protocol, told.metadata, ADD), {APPEND}),
    "restate it and do nothing else": (lambda told: (told.protocol, told.metadata), {APPEND}),
    "count columns that are not there": (
        altered(lambda old: with_properties(old, delta_columnMapping_maxColumnId="9")),
        {SCHEMA_},
    ),
    "add a feature": (lambda told: (with_features(told.protocol, "appendOnly"),), {PROTOCOL}),
    "a property with its feature": (
        lambda told: (
            with_features(told.protocol, "appendOnly"),
            with_properties(told.metadata, delta_appendOnly="true"),
        ),
        {PROTOCOL, PROPERTIES},
    ),
    "set a domain": (_domain("acme.x"), {PROPERTIES}),
    "cluster": (_domain("delta.clustering", '{"clusteringColumns":[["id"]]}'), {PROPERTIES}),
    "metadata slipped into an append": (
        lambda told: (ADD, with_properties(told.metadata, acme="1")),
        {APPEND, PROPERTIES},
    ),
}
"""What each kind of commit takes."""


def _suffices(held: Privilege, needed: set[Privilege]) -> bool:
    return needed <= {held, *IMPLIED_PRIVILEGES.get(held, ())}


@pytest.mark.parametrize("kind", COMMITS)
def test_t13_a_commit_takes_exactly_these_privileges(place: Place, kind: str) -> None:
    """Whatever commitInfo says, the actions decide: every privilege alone, all but one, and just enough."""
    build, needed = COMMITS[kind]

    _takes_exactly(place, build(place.told()), needed)


def test_t13_an_append_with_row_ids_is_an_append(place: Place) -> None:
    with anything_goes():
        place.propose(with_features(place.told().protocol, "rowTracking"))

    _takes_exactly(place, (_ROW_IDS, _MARK), {APPEND})


def _takes_exactly(place: Place, actions: tuple[Any, ...], needed: set[Privilege]) -> None:
    for privilege in Privilege:
        if not _suffices(privilege, needed):
            with place.hidden() if privilege is Privilege.CREATE else place.refuses("privileges"):
                place.propose(*actions, by=f"only {privilege.value}", **LIES)
    for privilege in needed:
        with place.refuses("privileges"):
            place.propose(*actions, by=f"not {privilege.value}", **LIES)
    place.grant("enough", *needed)
    assert isinstance(place.propose(*actions, by="enough", **LIES), Ratified)


LIES = {"operation": "WRITE", "is_blind_append": True}


@pytest.mark.parametrize("on", ["lake", "s", "table"])
def test_a_privilege_holds_where_it_was_granted_until_it_is_revoked(place: Place, on: str) -> None:
    where, who = place.name if on == "table" else on, f"ana {on}"
    with place.hidden():
        place.propose(ADD, by=who)

    place.catalog.granting.grant("append", where, who)
    assert isinstance(place.propose(ADD, by=who), Ratified)

    assert place.catalog.granting.revoke("append", where, who)
    assert not place.catalog.granting.revoke("append", where, who)
    with place.hidden():
        place.propose(ADD, by=who)


def test_a_grant_on_one_table_is_none_on_another(place: Place) -> None:
    create_managed(place.catalog, TableName("other", "t"))
    place.catalog.granting.grant("append", "other.t", "bob")
    place.catalog.granting.grant("append", "other", "bob")

    with place.hidden():
        place.propose(ADD, by="bob")


def test_who_makes_a_table_owns_it(place: Place) -> None:
    place.catalog.granting.grant("create", "s", "maker")
    maker = place.catalog.acting_as("maker")
    staging = create_managed(maker, TableName("s", f"made{next(COUNT)}"))
    mine = Place(place.catalog, staging.table_id, staging.location)

    renamed = with_properties(mine.told().metadata, acme="1")
    assert isinstance(mine.propose(renamed, REMOVE, by="maker"), Ratified)
    maker.granting.grant("append", mine.name, "friend")
    assert isinstance(mine.propose(ADD, by="friend"), Ratified)
    with pytest.raises(TableNotFound):  # of what is not theirs they do not even hear
        maker.granting.grant("append", place.name, "friend")


def test_what_is_not_a_commit_takes_privileges_too(place: Place) -> None:
    nobody = place.catalog.acting_as("nobody at all")
    place.grant("reader", Privilege.READ)
    reader = place.catalog.acting_as("reader")
    schema, table = place.name.split(".")
    name = TableName(schema, table)

    with pytest.raises(NotAllowed, match="CREATE"):
        nobody.create_schema("new")
    with pytest.raises(SchemaNotFound):
        nobody.stage(TableName("s", "new"))
    with pytest.raises(NotAllowed, match="CREATE"):
        reader.stage(TableName("s", "new"))
    with pytest.raises(TableNotFound):
        nobody.drop(name)
    assert nobody.tables() == ()
    assert [str(entry.name) for entry in reader.tables()] == [place.name]
    for call in (lambda: reader.drop(name), lambda: reader.rename(name, TableName("s", "x"))):
        with pytest.raises(NotAllowed, match="DROP"):
            call()
    with pytest.raises(NotAllowed, match="MANAGE GRANTS"):
        reader.granting.grant("append", place.name, "reader")
    assert place.catalog.resolve(name).table_id == place.table_id


def test_names_of_privileges_and_principals_are_checked(place: Place) -> None:
    for privilege, to in (("WRITE", "ana"), ("append", ""), ("append", "a\nb"), ("append", "owner")):
        with pytest.raises(InvalidRequest):
            place.catalog.granting.grant(privilege, None, to)
    with pytest.raises(SchemaNotFound):
        place.catalog.granting.grant("append", "nowhere", "ana")


def test_a_reserved_place_is_for_who_reserved_it(place: Place) -> None:
    for name in ("ana", "eve"):
        place.catalog.granting.grant("CREATE", "s", name)
    ana, eve = place.catalog.acting_as("ana"), place.catalog.acting_as("eve")
    name = TableName("s", "reserved_by_ana")
    staging = ana.stage(name)
    create.write_version_0(
        locate(staging.location), TableDefinition(SCHEMA), managed=True, world=SystemWorld()
    )

    with pytest.raises(TableNotFound):
        eve.find_staging(staging.table_id)
    with pytest.raises(TableNotFound):  # T14: as if nothing were reserved
        eve.register(staging, name)
    assert ana.find_staging(staging.table_id) == place.catalog.find_staging(staging.table_id) == staging
    assert ana.register(staging, name).table_id == staging.table_id


def test_who_may_do_nothing_in_a_schema_does_not_see_it(place: Place) -> None:
    place.catalog.create_schema("secret")
    place.catalog.create_schema("open")
    place.catalog.granting.grant("create", "open", "visitor")

    assert "secret" not in place.catalog.acting_as("visitor").schemas()
    assert "open" in place.catalog.acting_as("visitor").schemas()
    assert {"open", "secret"} <= set(place.catalog.schemas())


def test_a_schema_is_dropped_by_who_may_drop_it_and_takes_its_grants_along(place: Place) -> None:
    place.catalog.create_schema("open")
    place.catalog.granting.grant("create", "open", "visitor")
    visitor = place.catalog.acting_as("visitor")

    with pytest.raises(NotAllowed):
        visitor.drop_schema("open")
    place.catalog.granting.grant("drop", "open", "visitor")
    place.catalog.granting.set_rule("max_commit_files", 1, "open")
    assert visitor.drop_schema("open")

    place.catalog.create_schema("open")
    assert "open" not in visitor.schemas()
    with pytest.raises(SchemaNotFound):  # T14: as if there were none of that name
        visitor.stage(TableName("open", "t"))
