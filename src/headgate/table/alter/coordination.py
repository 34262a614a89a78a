"""Giving a table to a coordinator, and taking it back, so that a crash at any step does no harm.

Taking over: the coordinator promises, then the commit that names it is created as a file. That creation is
the one moment at which the table changes hands. Without it the promise is forgotten.

Giving back: the coordinator ratifies the commit that no longer names it nor has the feature, as its last
one, and everything is published; whoever commits next publishes what a crash left behind.

A table at version 4, given to the coordinator ``headgate`` and taken back:

    register   the coordinator knows the table, and decides nothing yet
    5.json     {"metaData": with "delta.coordinatedCommits.commitCoordinator-preview":"headgate"}
    6          staged in _staged_commits, and decided by the coordinator
    7          {"metaData": without that property}: the last that it decides; 6 and 7 are published

A crash before 5.json leaves an ordinary table; one after 7 leaves commits that the next writer publishes.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

import msgspec

from headgate.catalog.ports.commits import StagedCommit, TableState
from headgate.catalog.ports.coordinator import (
    CommitCoordinator,
    CoordinatedTable,
    FindCoordinator,
    SettlesTakeOver,
)
from headgate.clock import World
from headgate.errors import ConcurrentWrite, ConflictError, InvalidRequest, TableExists, UnsafeStore
from headgate.protocol import table_features
from headgate.protocol.actions import Action, EpochMillis, Version
from headgate.protocol.features import coordinated_commits, coordinator_properties
from headgate.protocol.features.coordinated_commits import CURRENT, CoordinatorReference
from headgate.protocol.features.coordinator_properties import PropertyCommand
from headgate.protocol.log import file_names
from headgate.protocol.metadata import drop_feature, session_defaults
from headgate.storage.store import Store
from headgate.table import transaction
from headgate.table.alter import create
from headgate.table.alter.create import InitialState, TableDefinition
from headgate.table.commit import coordinated
from headgate.table.opened_table import OpenedTable
from headgate.table.read.snapshot import Snapshot
from headgate.table.transaction import Change, Operation

_TRIES = 10


def coordinate(table: OpenedTable, find: FindCoordinator, name: str, conf: Mapping[str, str]) -> Version:
    """Give the table to the coordinator of that name; the version from which on it decides.

    Whoever commits meanwhile wins: ``ConcurrentWrite``, and nothing happened.
    """
    base = table.snapshot()
    protocol, metadata = base.state.protocol, base.state.metadata
    if protocol.is_catalog_managed:
        raise InvalidRequest(
            "a catalog decides the commits of this table already, so no coordinator can",
            code="DELTA_UNSUPPORTED_CATALOG_MANAGED_TABLE_OPERATION",
        )
    asked = {CURRENT.coordinator: name, CURRENT.conf: msgspec.json.encode(dict(conf)).decode()}
    coordinator_properties.check_set_properties(metadata.configuration, asked, PropertyCommand.ALTER)
    coordinator = _require_coordinator(find, name, conf)
    table_conf = coordinator.register(table.location, base.version, TableState(protocol, metadata))
    coordinated.make_staging_folder(table.store, CURRENT.staged)
    actions: tuple[Action, ...] = coordinated_commits.with_coordinator(
        metadata, protocol, name, conf, table_conf
    )
    actions = tuple(action for action in actions if action != protocol)
    change = Change(_operation("SET TBLPROPERTIES", asked), actions)
    try:
        return table.commit(change, base=base)
    except UnsafeStore:
        if not isinstance(coordinator, SettlesTakeOver):
            raise
    return _settle_take_over(
        table, coordinator, CoordinatedTable(table.location, table_conf, table.store), base, change
    )


def _settle_take_over(
    table: OpenedTable, coordinator: SettlesTakeOver, asked: CoordinatedTable, base: Snapshot, change: Change
) -> Version:
    """The take-over where the store cannot settle it: by the coordinator's word, who then publishes it."""
    modified = EpochMillis(table.store.head(file_names.published_path(base.version)).modified_ms)
    since = modified if change.enables_in_commit_timestamps(base.state) else None
    txn = transaction.begin(base.state, change, world=table.world, file_time=since)
    if not coordinator.settle(asked, txn.target, _stage_commit(table, txn.target, txn.content)):
        raise ConcurrentWrite(
            f"the table was not taken over: version {txn.target} went to somebody else meanwhile; nothing "
            "happened, run it again",
            winner=txn.target,
        )
    return table.snapshot().version


def _stage_commit(table: OpenedTable, version: Version, content: bytes) -> StagedCommit:
    staged = StagedCommit(file_names.staged_file_name(version, table.world.uuid()), CURRENT.staged)
    table.store.put(staged.path, content)
    return staged


def coordinate_by_properties(
    table: OpenedTable, find: FindCoordinator, properties: Mapping[str, str]
) -> Version:
    """Give the table to the coordinator that properties name, as ALTER TABLE does in Delta Spark."""
    base = table.snapshot()
    coordinator_properties.check_set_properties(
        base.state.metadata.configuration, properties, PropertyCommand.ALTER
    )
    if others := sorted(properties.keys() - {CURRENT.coordinator, CURRENT.conf}):
        raise InvalidRequest(
            "the table is given to a coordinator in a commit of its own: "
            f"set {', '.join(others)} in another call",
            properties=tuple(others),
        )
    wanted = CoordinatorReference(CURRENT, properties[CURRENT.coordinator], properties[CURRENT.conf], None)
    return coordinate(table, find, wanted.name, wanted.conf)


def check_coordinator(table: OpenedTable, name: str, conf: Mapping[str, str]) -> None:
    """Refuse to open an existing table as that coordinator's if it is not."""
    named = coordinated_commits.coordinator_of(table.snapshot().state.metadata)
    if named is None:
        raise InvalidRequest(
            f"there is a table at {table.location!r} already, and it has no coordinator: give it to "
            f"{name!r} with headgate.at_path(…).coordinate({name!r}, …), or leave owner out",
            code="DELTA_CANNOT_OVERRIDE_COORDINATED_COMMITS_CONFS", coordinator=name,
        )  # fmt: skip
    if (named.name, dict(named.conf)) != (name, dict(conf)):
        raise InvalidRequest(
            f"there is a table at {table.location!r} already, and its coordinator is {named.name!r} with "
            f"the conf {named.conf_text}: leave owner out, or take the table back, table.uncoordinate()",
            code="DELTA_CANNOT_OVERRIDE_COORDINATED_COMMITS_CONFS", coordinator=name,
        )  # fmt: skip


def uncoordinate(table: OpenedTable, *, keep_timestamps: bool = True) -> Version:
    """Make it an ordinary table again; the version from which on it is. To be repeated after a failure.

    Everything is published then. Without ``keep_timestamps`` a commit of its own drops them too.
    """
    base = table.snapshot()
    metadata, protocol = base.state.metadata, base.state.protocol
    named = coordinated_commits.coordinator_of(metadata)
    if named is None and not coordinated_commits.leftover_features(protocol):
        table.publish()
        raise InvalidRequest("no coordinator decides the commits of this table, so there is none to leave")
    gone = named.naming.properties if named is not None else ()
    operation = _operation("UNSET TBLPROPERTIES", dict.fromkeys(gone, ""))
    released = table.commit(
        Change(operation, coordinated_commits.without_coordinator(metadata, protocol)), base=base
    )
    table.publish()
    return released if keep_timestamps else _drop_timestamps_with_retries(table)


def _drop_timestamps_with_retries(table: OpenedTable) -> Version:
    for _ in range(_TRIES - 1):
        with suppress(ConflictError):  # whoever wrote meanwhile wrote to an ordinary table: look again
            return _drop_timestamps(table)
    return _drop_timestamps(table)


def _drop_timestamps(table: OpenedTable) -> Version:
    base = table.snapshot()
    if not base.state.protocol.has(table_features.IN_COMMIT_TIMESTAMP):
        return base.version
    row = drop_feature.find_droppable(base.state.protocol, table_features.IN_COMMIT_TIMESTAMP)
    operation = Operation("DROP FEATURE", {"featureName": row.feature}, changes_data=False)
    return table.commit(Change(operation, drop_feature.drop_actions(row, base.state)), base=base)


def create_table(table: OpenedTable, definition: TableDefinition, find: FindCoordinator) -> None:
    """Version 0 of a table by its path; ``TableExists`` if there is one."""
    opening = initial_state_by_path(definition, table.location, table.store, find, table.world)
    _write_version_0(table, opening)


def create_coordinated(
    table: OpenedTable, definition: TableDefinition, find: FindCoordinator, name: str, conf: Mapping[str, str]
) -> None:
    """Version 0 of a table that a coordinator decides from version 1 on; ``TableExists`` if there is one."""
    coordinator = _require_coordinator(find, name, conf)
    opening = create.initial_state(definition, managed=False, world=table.world)
    opening = _register_initial_state(opening, table.location, table.store, coordinator, name, conf)
    try:
        _write_version_0(table, opening)
    except UnsafeStore:
        if not isinstance(coordinator, SettlesTakeOver):
            raise
        _create_settled(table, opening, coordinator)


def _create_settled(table: OpenedTable, opening: InitialState, coordinator: SettlesTakeOver) -> None:
    named = coordinated_commits.coordinator_of(opening.metadata)
    asked = CoordinatedTable(table.location, named.table_conf if named is not None else {}, table.store)
    content = create.first_commit_content(opening, create.no_initial_rows(managed=False), world=table.world)
    if not coordinator.settle(asked, Version(0), _stage_commit(table, Version(0), content)):
        raise TableExists("there is a Delta table here already", name="")


def initial_state_by_path(
    definition: TableDefinition, location: str, store: Store, find: FindCoordinator, world: World
) -> InitialState:
    """What a new table by its path says of itself; the session's defaults may name its coordinator."""
    named = session_defaults.default_coordinator(definition.properties, definition.defaults)
    coordinator = None if named is None else _require_coordinator(find, *named)
    opening = create.initial_state(definition, managed=False, world=world)
    if named is None or coordinator is None:
        return opening
    return _register_initial_state(opening, location, store, coordinator, *named)


def _register_initial_state(
    opening: InitialState,
    location: str,
    store: Store,
    coordinator: CommitCoordinator,
    name: str,
    conf: Mapping[str, str],
) -> InitialState:
    table_conf = coordinator.register(location, None, TableState(opening.protocol, opening.metadata))
    coordinated.make_staging_folder(store, CURRENT.staged)
    protocol, metadata = coordinated_commits.with_coordinator(
        opening.metadata, opening.protocol, name, conf, table_conf
    )
    return replace(opening, protocol=protocol, metadata=metadata)


def _write_version_0(table: OpenedTable, opening: InitialState) -> None:
    content = create.first_commit_content(opening, create.no_initial_rows(managed=False), world=table.world)
    create.write_first_commit(table.store, content, managed=False)


def _require_coordinator(find: FindCoordinator, name: str, conf: Mapping[str, str]) -> CommitCoordinator:
    coordinated_commits.check_no_credentials(conf)
    coordinator = find(name, conf)
    if coordinator is None:
        raise InvalidRequest(
            f"there is no coordinator {name!r}: register it with headgate.coordinators.register({name!r}, …)",
            code="DELTA_UNSUPPORTED_WRITES_WITHOUT_COORDINATOR", coordinator=name,
        )  # fmt: skip
    return coordinator


def _operation(name: str, properties: Mapping[str, str]) -> Operation:
    return Operation(name, {"properties": msgspec.json.encode(properties).decode()}, changes_data=False)
