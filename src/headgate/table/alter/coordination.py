"""Giving a table to a commit owner, and taking it back, so that a crash at any step does no harm.

Taking over: the owner promises, then the commit that names it is created as a file. That creation is
the one moment at which the table changes hands. Without it the promise is forgotten.

Giving back: the owner ratifies the commit that no longer names it nor has the feature, as its last one, and
everything is published; whoever commits next publishes what a crash left behind.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

import msgspec

from headgate.catalog.ports.commits import Staged, Told
from headgate.catalog.ports.coordinator import CommitOwner, FindOwner, OwnedTable, SettlesTakeOver
from headgate.clock import World
from headgate.errors import ConcurrentWrite, ConflictError, InvalidRequest, TableExists, UnsafeStore
from headgate.protocol import table_features
from headgate.protocol.actions import Action, EpochMillis, Version
from headgate.protocol.features import coordinated_commits
from headgate.protocol.features.coordinated_commits import CURRENT, Command, Coordination
from headgate.protocol.log import file_names
from headgate.protocol.metadata import drop_feature, session_defaults
from headgate.storage.store import Store
from headgate.table import transaction
from headgate.table.alter import create
from headgate.table.alter.create import Definition, Opening
from headgate.table.commit import coordinated
from headgate.table.opened_table import OpenedTable
from headgate.table.read.snapshot import Snapshot
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
    coordinated_commits.check_set(metadata.configuration, asked, Command.ALTER)
    owner = _found(find, name, conf)
    table_conf = owner.register(table.location, base.version, Told(protocol, metadata))
    coordinated.make_folder(table.store, CURRENT.staged)
    actions: tuple[Action, ...] = coordinated_commits.taken(metadata, protocol, name, conf, table_conf)
    actions = tuple(action for action in actions if action != protocol)
    change = Change(_operation("SET TBLPROPERTIES", asked), actions)
    try:
        return table.commit(change, base=base)
    except UnsafeStore:
        if not isinstance(owner, SettlesTakeOver):
            raise
    return _settled(table, owner, OwnedTable(table.location, table_conf, table.store), base, change)


def _settled(
    table: OpenedTable, owner: SettlesTakeOver, asked: OwnedTable, base: Snapshot, change: Change
) -> Version:
    """The take-over where the store cannot settle it: by the owner's word, who then publishes it."""
    modified = EpochMillis(table.store.head(file_names.published(base.version)).modified_ms)
    since = modified if change.enables_stamps(base.state) else None
    txn = transaction.begin(base.state, change, world=table.world, file_time=since)
    if not owner.settle(asked, txn.target, _staged(table, txn.target, txn.content)):
        raise ConcurrentWrite(
            f"the table was not taken over: version {txn.target} went to somebody else meanwhile; nothing "
            "happened, run it again",
            winner=txn.target,
        )
    return table.snapshot().version


def _staged(table: OpenedTable, version: Version, content: bytes) -> Staged:
    staged = Staged(file_names.staged_file(version, table.world.uuid()), CURRENT.staged)
    table.store.put(staged.path, content)
    return staged


def set_owner(table: OpenedTable, find: FindOwner, properties: Mapping[str, str]) -> Version:
    """Give the table to the owner that properties name, as ALTER TABLE does in Delta Spark."""
    base = table.snapshot()
    coordinated_commits.check_set(base.state.metadata.configuration, properties, Command.ALTER)
    if others := sorted(properties.keys() - {CURRENT.owner, CURRENT.conf}):
        raise InvalidRequest(
            "the table is given to a commit owner in a commit of its own: "
            f"set {', '.join(others)} in another call",
            properties=tuple(others),
        )
    wanted = Coordination(CURRENT, properties[CURRENT.owner], properties[CURRENT.conf], None)
    return coordinate(table, find, wanted.owner, wanted.conf)


def check_owner(table: OpenedTable, name: str, conf: Mapping[str, str]) -> None:
    """Refuse to open an existing table as that owner's if it is not."""
    named = coordinated_commits.of(table.snapshot().state.metadata)
    if named is None:
        raise InvalidRequest(
            f"there is a table at {table.location!r} already, and it has no commit owner: give it to "
            f"{name!r} with headgate.at_path(…).coordinate({name!r}, …), or leave owner out",
            code="DELTA_CANNOT_OVERRIDE_COORDINATED_COMMITS_CONFS", coordinator=name,
        )  # fmt: skip
    if (named.owner, dict(named.conf)) != (name, dict(conf)):
        raise InvalidRequest(
            f"there is a table at {table.location!r} already, and its commit owner is {named.owner!r} with "
            f"the conf {named.conf_text}: leave owner out, or take the table back, table.uncoordinate()",
            code="DELTA_CANNOT_OVERRIDE_COORDINATED_COMMITS_CONFS", coordinator=name,
        )  # fmt: skip


def uncoordinate(table: OpenedTable, *, keep_timestamps: bool = True) -> Version:
    """Make it an ordinary table again; the version from which on it is. To be repeated after a failure.

    Everything is published then. Without ``keep_timestamps`` a commit of its own drops them too.
    """
    base = table.snapshot()
    metadata, protocol = base.state.metadata, base.state.protocol
    named = coordinated_commits.of(metadata)
    if named is None and not coordinated_commits.leftover_features(protocol):
        table.publish()
        raise InvalidRequest("no commit owner decides the commits of this table, so there is none to leave")
    gone = named.naming.properties if named is not None else ()
    operation = _operation("UNSET TBLPROPERTIES", dict.fromkeys(gone, ""))
    released = table.commit(Change(operation, coordinated_commits.released(metadata, protocol)), base=base)
    table.publish()
    return released if keep_timestamps else _without_timestamps(table)


def _without_timestamps(table: OpenedTable) -> Version:
    for _ in range(_TRIES - 1):
        with suppress(ConflictError):  # whoever wrote meanwhile wrote to an ordinary table: look again
            return _drop_timestamps(table)
    return _drop_timestamps(table)


def _drop_timestamps(table: OpenedTable) -> Version:
    base = table.snapshot()
    if not base.state.protocol.has(table_features.IN_COMMIT_TIMESTAMP):
        return base.version
    row = drop_feature.find(base.state.protocol, table_features.IN_COMMIT_TIMESTAMP)
    operation = Operation("DROP FEATURE", {"featureName": row.feature}, changes_data=False)
    return table.commit(Change(operation, drop_feature.actions(row, base.state)), base=base)


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
    opening = _promised(opening, table.location, table.store, owner, name, conf)
    try:
        _place(table, opening)
    except UnsafeStore:
        if not isinstance(owner, SettlesTakeOver):
            raise
        _create_settled(table, opening, owner)


def _create_settled(table: OpenedTable, opening: Opening, owner: SettlesTakeOver) -> None:
    named = coordinated_commits.of(opening.metadata)
    asked = OwnedTable(table.location, named.table_conf if named is not None else {}, table.store)
    content = create.content(opening, create.as_empty(managed=False), world=table.world)
    if not owner.settle(asked, Version(0), _staged(table, Version(0), content)):
        raise TableExists("there is a Delta table here already", name="")


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
    protocol, metadata = coordinated_commits.taken(opening.metadata, opening.protocol, name, conf, table_conf)
    return replace(opening, protocol=protocol, metadata=metadata)


def _place(table: OpenedTable, opening: Opening) -> None:
    content = create.content(opening, create.as_empty(managed=False), world=table.world)
    create.place(table.store, content, managed=False)


def _found(find: FindOwner, name: str, conf: Mapping[str, str]) -> CommitOwner:
    coordinated_commits.check_public(conf)
    owner = find(name, conf)
    if owner is None:
        raise InvalidRequest(
            f"there is no commit owner {name!r}: register it with headgate.owners.register({name!r}, …)",
            code="DELTA_UNSUPPORTED_WRITES_WITHOUT_COORDINATOR", coordinator=name,
        )  # fmt: skip
    return owner


def _operation(name: str, properties: Mapping[str, str]) -> Operation:
    return Operation(name, {"properties": msgspec.json.encode(properties).decode()}, changes_data=False)
