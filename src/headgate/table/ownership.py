"""Giving a table to a commit owner, and taking it back, so that a crash at any step does no harm.

Taking over: the owner promises, then the commit that names it is created as a file. That creation is
the one moment at which the table changes hands. Without it the promise is forgotten.

Giving back: the owner ratifies the commit that no longer names it, as its last one, and everything is
published; whoever commits next publishes what a crash left behind. Then the feature goes.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

import msgspec

from headgate.catalog.api import Told
from headgate.catalog.owner import CommitOwner, FindOwner
from headgate.clock import World
from headgate.errors import ConflictError, InvalidRequest
from headgate.protocol import coordination, session_defaults
from headgate.protocol.actions import Action, Version
from headgate.protocol.coordination import CURRENT, Command
from headgate.storage.api import Store
from headgate.table import coordinated, create
from headgate.table.create import Definition, Opening
from headgate.table.opened import OpenedTable
from headgate.table.transaction import Change, Operation

_TRIES = 10


def coordinate(table: OpenedTable, find: FindOwner, name: str, conf: Mapping[str, str]) -> Version:
    """Give the table to the owner of that name; the version from which on it decides.

    Whoever commits meanwhile wins: ``ConcurrentWrite``, and nothing happened.
    """
    base = table.snapshot()
    protocol, metadata = base.state.protocol, base.state.metadata
    if protocol.is_catalog_managed:
        raise InvalidRequest(
            "a catalog decides the commits of this table already, so no commit owner can",
            code="DELTA_UNSUPPORTED_CATALOG_MANAGED_TABLE_OPERATION",
        )
    asked = {CURRENT.owner: name, CURRENT.conf: msgspec.json.encode(dict(conf)).decode()}
    coordination.check_set(metadata.configuration, asked, Command.ALTER)
    owner = _found(find, name, conf)
    table_conf = owner.register(table.location, base.version, Told(protocol, metadata))
    coordinated.make_folder(table.store, CURRENT.staged)
    actions: tuple[Action, ...] = coordination.taken(metadata, protocol, name, conf, table_conf)
    actions = tuple(action for action in actions if action != protocol)
    return table.commit(Change(_operation("SET TBLPROPERTIES", asked), actions), base=base)


def uncoordinate(table: OpenedTable) -> Version:
    """Make it an ordinary table again; the version from which on it is. To be repeated after a failure."""
    base = table.snapshot()
    metadata = base.state.metadata
    named = coordination.of(metadata)
    if named is None and not coordination.leftover_features(base.state.protocol):
        raise InvalidRequest("no commit owner decides the commits of this table, so there is none to leave")
    if named is not None:
        operation = _operation("UNSET TBLPROPERTIES", dict.fromkeys(named.naming.properties, ""))
        table.commit(Change(operation, (coordination.released(metadata),)), base=base)
    table.publish()
    return _drop_feature(table)


def _drop_feature(table: OpenedTable) -> Version:
    for _ in range(_TRIES - 1):
        with suppress(ConflictError):  # whoever wrote meanwhile wrote to an ordinary table: look again
            return _drop_once(table)
    return _drop_once(table)


def _drop_once(table: OpenedTable) -> Version:
    base = table.snapshot()
    protocol = base.state.protocol
    dropped = coordination.leftover_features(protocol)
    if not dropped or coordination.of(base.state.metadata) is not None:
        return base.version  # somebody was faster, or gave the table to an owner again
    operation = Operation("DROP FEATURE", {"featureName": ", ".join(dropped)}, changes_data=False)
    return table.commit(Change(operation, (coordination.without_features(protocol),)), base=base)


def create_table(table: OpenedTable, definition: Definition, find: FindOwner) -> None:
    """Version 0 of a table by its path; ``TableExists`` if there is one."""
    opening = begin(definition, table.location, table.store, find, table.world)
    _place(table, opening)


def create_coordinated(
    table: OpenedTable, definition: Definition, find: FindOwner, name: str, conf: Mapping[str, str]
) -> None:
    """Version 0 of a table that an owner decides about from version 1 on; ``TableExists`` if there is one."""
    owner = _found(find, name, conf)
    opening = create.begin(definition, managed=False, world=table.world)
    _place(table, _promised(opening, table.location, table.store, owner, name, conf))


def begin(definition: Definition, location: str, store: Store, find: FindOwner, world: World) -> Opening:
    """What a new table by its path says of itself; it is the owner's whom the session's defaults name."""
    named = session_defaults.owner(definition.properties, definition.defaults)
    owner = None if named is None else _found(find, *named)
    opening = create.begin(definition, managed=False, world=world)
    if named is None or owner is None:
        return opening
    return _promised(opening, location, store, owner, *named)


def _promised(
    opening: Opening, location: str, store: Store, owner: CommitOwner, name: str, conf: Mapping[str, str]
) -> Opening:
    table_conf = owner.register(location, None, Told(opening.protocol, opening.metadata))
    coordinated.make_folder(store, CURRENT.staged)
    protocol, metadata = coordination.taken(opening.metadata, opening.protocol, name, conf, table_conf)
    return replace(opening, protocol=protocol, metadata=metadata)


def _place(table: OpenedTable, opening: Opening) -> None:
    content = create.content(opening, create.as_empty(managed=False), world=table.world)
    create.place(table.store, content, managed=False)


def _found(find: FindOwner, name: str, conf: Mapping[str, str]) -> CommitOwner:
    coordination.check_public(conf)
    owner = find(name, conf)
    if owner is None:
        raise InvalidRequest(
            f"there is no commit owner {name!r}: register it with headgate.owners.register({name!r}, …)",
            code="DELTA_UNSUPPORTED_WRITES_WITHOUT_COORDINATOR", coordinator=name,
        )  # fmt: skip
    return owner


def _operation(name: str, properties: Mapping[str, str]) -> Operation:
    return Operation(name, {"properties": msgspec.json.encode(properties).decode()}, changes_data=False)
