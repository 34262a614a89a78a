"""Taking a table into a catalog and giving it back: the steps on its log.

Either way the table changes hands with one commit, created as a file only if there is none. Before it
the catalog is told what is about to happen, so that a crash at any step leaves something that can be
finished or forgotten by whoever comes next; running the same again does just that.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import TableEntry, TableName
from headgate.catalog.ports.handover import (
    AdoptionStatus,
    ReleaseStatus,
    TableAdoptions,
    TableReleases,
    Transfer,
    TransferPhase,
)
from headgate.clock import World
from headgate.errors import (
    CatalogUnavailable,
    CommitUnknown,
    ConcurrentWrite,
    HeadgateError,
    InvalidRequest,
    ObjectExists,
    ObjectNotFound,
    StorageError,
    StorageUnavailable,
    TableExists,
    TableNotFound,
)
from headgate.protocol import property_values, protocol_upgrade, table_features
from headgate.protocol.actions import Action, EpochMillis, Protocol, Version
from headgate.protocol.features import coordinated_commits
from headgate.protocol.log import file_names
from headgate.protocol.log.replay import State
from headgate.protocol.metadata import stored_expressions
from headgate.protocol.metadata.alter_properties import CATALOG_PROPERTIES, TABLE_ID, catalog_identity
from headgate.protocol.metadata.table_properties import TIMESTAMP_PROPERTIES
from headgate.storage import conditional_put_probe
from headgate.storage.store import Store
from headgate.table import transaction
from headgate.table.commit import coordinated
from headgate.table.commit.filesystem import FilesystemCommitter
from headgate.table.opened_table import OpenedTable
from headgate.table.read import snapshot
from headgate.table.transaction import Change, Operation

ADOPT, RELEASE = "ADOPT TABLE", "RELEASE TABLE"
_LOG = logging.getLogger(__name__)
_TRIES = 10
_LONGEST_PAUSE = 0.1

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class TransferServices:
    """The catalog, and who asks it."""

    adoptions: TableAdoptions
    releases: TableReleases
    proposer: str
    world: World


def adopt(registry: TransferServices, store: Store, place: str, name: TableName) -> TableEntry:
    """Take the table at ``place``, in the catalog's spelling of it, into the catalog by that name.

    Whoever commits meanwhile wins: ``ConcurrentWrite``, and nothing happened. ``CommitUnknown`` if the store
    cannot say whether the decisive commit is there; then the catalog finds out as soon as it can.
    """
    base = _load_base(store, place)
    if base.protocol.is_catalog_managed:
        return _already_adopted(registry, base, place, name)
    _check_adoptable(base)
    conditional_put_probe.require_conditional_puts(store, file_names.PROBE_FOLDER)
    # To write this takes access to the log, which is to be shown before anybody promises anything (T17).
    coordinated.make_staging_folder(store, file_names.STAGED_FOLDER)
    try:
        claim = _retry_until_answered(
            registry, lambda: registry.adoptions.claim(name, place, base.version, registry.proposer)
        )
    except TableExists:
        latest = _load_base(store, place)
        if latest.protocol.is_catalog_managed:  # it came after the look at it above
            return _already_adopted(registry, latest, place, name)
        raise
    _create_deciding_version(registry, store, claim, _adoption_commit(registry, store, base, claim))
    if (
        _retry_until_answered(registry, lambda: registry.adoptions.settle(claim.table_id))
        is not AdoptionStatus.ADOPTED
    ):
        raise _overtaken_error(claim, "adopted")
    entry = _retry_until_answered(registry, lambda: registry.adoptions.find_adopted(claim))
    if entry is None:
        raise TableNotFound(
            f"the table {name} was adopted, and somebody has dropped it since", name=str(name)
        )
    return entry


def check_claimable(registry: TransferServices, store: Store, place: str, name: TableName) -> None:
    """Refuse what could not be adopted, before a folder that is no table is made one for it.

    A table that is there is looked at by ``adopt``, which knows it again if it is the catalog's.
    """
    try:
        FilesystemCommitter(store).frontier()
    except TableNotFound:
        _retry_until_answered(registry, lambda: registry.adoptions.check(name, place, registry.proposer))


def release(
    registry: TransferServices, table: OpenedTable, table_id: TableId, *, keep_timestamps: bool
) -> Version:
    """Give the table back to whoever can write to its folder; the version from which on it is theirs.

    If this fails before its last step the table stays where it is, and takes commits again.
    """
    if gone := _retry_until_answered(registry, lambda: registry.releases.find_departure(table_id)):
        return gone.target  # an earlier call did not live to hear of it
    table.publish()  # most of it now, while others can still commit
    frozen = _retry_until_answered(registry, lambda: registry.releases.freeze(table_id, registry.proposer))
    try:
        table.publish()
        _retry_until_answered(registry, lambda: registry.releases.begin_release(frozen))
        base = table.snapshot(version=frozen.base).state
        last = _release_commit(registry, base, frozen, keep_timestamps=keep_timestamps)
        _create_deciding_version(registry, table.store, frozen, last)
    except HeadgateError:
        if _withdraw_release(registry, frozen):
            raise
    if (
        _retry_until_answered(registry, lambda: registry.releases.settle(table_id))
        is not ReleaseStatus.RELEASED
    ):
        raise _overtaken_error(frozen, "given back")
    return frozen.target


def resume_transfers(registry: TransferServices) -> Mapping[str, str]:
    """Make the catalog agree with the logs of all tables on their way; what became of each, by name."""
    found: dict[str, str] = {}
    for transfer in _retry_until_answered(registry, registry.adoptions.under_way):
        coming = transfer.phase is TransferPhase.CLAIMED
        settle: Callable[[TableId], AdoptionStatus | ReleaseStatus] = (
            registry.adoptions.settle if coming else registry.releases.settle
        )
        try:
            found[str(transfer.name)] = settle(transfer.table_id).name.lower()
        except HeadgateError as exc:  # one that cannot be settled must not keep the others waiting
            _LOG.warning("the table %s is still on its way: %s", transfer.name, exc)
            found[str(transfer.name)] = AdoptionStatus.OPEN.name.lower()
    return found


def _load_base(store: Store, place: str) -> State:
    try:
        frontier = FilesystemCommitter(store).frontier()
    except TableNotFound as exc:
        raise TableNotFound(
            f"there is no Delta table at {place!r}, whose _delta_log would have a commit; if it is a folder "
            "of parquet files, say convert=True",
            name=place,
        ) from exc
    return snapshot.load_snapshot(store, frontier).state


def _already_adopted(registry: TransferServices, base: State, place: str, name: TableName) -> TableEntry:
    """The table, if it is this catalog's already: what an earlier call did is not undone by a later one."""
    table_id = base.metadata.configuration.get(TABLE_ID)
    found = _retry_until_answered(
        registry, lambda: registry.adoptions.find(name, place, table_id, registry.proposer)
    )
    if found is None:
        raise InvalidRequest(
            f"another catalog manages the table at {place!r} (its id there is {table_id}), and only that one "
            "can give it back: release it there first",
            code="DELTA_UNSUPPORTED_CATALOG_MANAGED_TABLE_OPERATION",
        )
    return found


def _check_adoptable(base: State) -> None:
    table_features.check_writable(base.protocol, base.metadata)
    stored_expressions.check_new_expressions(base.metadata)
    named = coordinated_commits.coordinator_of(base.metadata)
    if named is not None or coordinated_commits.leftover_features(base.protocol):
        owner = repr(named.name) if named is not None else "a coordinator"
        raise InvalidRequest(
            f"{owner} decides the commits of this table, or did and may have left some unpublished: take it "
            "back first, headgate.at_path(…).uncoordinate()",
            code="DELTA_UNSUPPORTED_CATALOG_MANAGED_TABLE_OPERATION",
        )
    table_features.check_writable(_managed_protocol(base.protocol), base.metadata)


def _managed_protocol(protocol: Protocol) -> Protocol:
    return protocol_upgrade.with_features(protocol, (table_features.CATALOG_MANAGED,))


def _adoption_commit(registry: TransferServices, store: Store, base: State, claim: Transfer) -> bytes:
    """The commit with which the table comes: catalog-managed, with timestamps, and with its id there."""
    kept = {key: value for key, value in base.metadata.configuration.items() if key not in CATALOG_PROPERTIES}
    configuration = {
        **kept,
        property_values.IN_COMMIT_TIMESTAMPS: "true",
        **catalog_identity(claim.table_id, str(claim.name)),
    }
    metadata = msgspec.structs.replace(base.metadata, configuration=configuration)
    file_time = None if base.has_in_commit_timestamps else _file_time(store, base.version)
    operation = Operation(ADOPT, {"name": str(claim.name)}, changes_data=False)
    change = _change(operation, claim, _managed_protocol(base.protocol), metadata)
    return transaction.begin(base, change, world=registry.world, file_time=file_time).content


def _release_commit(
    registry: TransferServices, base: State, frozen: Transfer, *, keep_timestamps: bool
) -> bytes:
    """The commit with which the table leaves: of the catalog nothing is left but, if wanted, timestamps."""
    gone = CATALOG_PROPERTIES if keep_timestamps else CATALOG_PROPERTIES | TIMESTAMP_PROPERTIES
    configuration = {key: value for key, value in base.metadata.configuration.items() if key not in gone}
    metadata = msgspec.structs.replace(base.metadata, configuration=configuration)
    protocol = base.protocol
    # Readers need the check of vacuums only where a catalog depends on it, and some do not know it.
    dropped = [table_features.CATALOG_MANAGED, table_features.VACUUM_PROTOCOL_CHECK]
    for feature in dropped if keep_timestamps else [*dropped, table_features.IN_COMMIT_TIMESTAMP]:
        protocol = protocol_upgrade.without_feature(protocol, feature)
    operation = Operation(RELEASE, {"name": str(frozen.name)}, changes_data=False)
    return transaction.begin(
        base, _change(operation, frozen, protocol, metadata), world=registry.world
    ).content


def _change(operation: Operation, transfer: Transfer, *actions: Action) -> Change:
    return Change(operation, actions, txn_id=transfer.txn_id)


def _file_time(store: Store, version: Version) -> EpochMillis:
    """When a version was written; if its commit was cleaned up, when the log was last written to."""
    try:
        return EpochMillis(store.head(file_names.published_path(version)).modified_ms)
    except ObjectNotFound:
        return EpochMillis(max(item.modified_ms for item in store.list_from(file_names.LOG_FOLDER)))


def _withdraw_release(registry: TransferServices, frozen: Transfer) -> bool:
    """Let the table stay, so that others can commit again; False if it turns out to have left."""
    try:
        return registry.releases.stay(frozen) is not ReleaseStatus.RELEASED
    except HeadgateError:  # it happens by itself as soon as somebody asks for the table, after a while
        return True


def _create_deciding_version(
    registry: TransferServices, store: Store, transfer: Transfer, content: bytes
) -> None:
    """Create the version with which the table changes hands, unless there is one."""
    path = file_names.published_path(transfer.target)
    doubt: StorageError | None = None
    for attempt in range(_TRIES):
        try:
            store.put_if_absent(path, content)
            return
        except ObjectExists:
            return  # whose it is, is for the catalog to see: it reads it
        except StorageUnavailable as exc:
            doubt = exc
            _pause(registry, attempt)
    raise CommitUnknown(
        f"whether version {transfer.target} was created, with which {transfer.name} changes hands, is not "
        f"known ({doubt}): the same call again finds out, and so does whoever asks the catalog for the table",
        txn_id=transfer.txn_id, target=transfer.target,
    ) from doubt  # fmt: skip


def _retry_until_answered(registry: TransferServices, ask: Callable[[], Answer]) -> Answer:
    """Ask the catalog until it answers; every question here may be repeated."""
    for attempt in range(_TRIES - 1):
        try:
            return ask()
        except (CatalogUnavailable, CommitUnknown, StorageUnavailable):
            _pause(registry, attempt)
    return ask()


def _pause(registry: TransferServices, step: int) -> None:
    registry.world.sleep(min(0.001 * 2**step, _LONGEST_PAUSE) * registry.world.jitter())


def _overtaken_error(transfer: Transfer, done: str) -> ConcurrentWrite:
    return ConcurrentWrite(
        f"{transfer.name} was not {done}: version {transfer.target}, with which it would have been, went to "
        "somebody else meanwhile; nothing happened, run it again",
        winner=transfer.target,
    )
