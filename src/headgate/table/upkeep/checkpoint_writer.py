"""Writing a checkpoint: classic, one parquet file, or v2, a small file that names sidecars.

Only versions that are published have one (I5). The pointer ``_last_checkpoint`` comes after it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from typing_extensions import Buffer

from headgate.clock import World
from headgate.errors import InvalidRequest, ObjectExists, ObjectNotFound
from headgate.protocol import property_values, table_features
from headgate.protocol.actions import Action, EpochMillis, Sidecar, Version
from headgate.protocol.log import checkpoint_schema, file_names, last_checkpoint, log_retention, log_segment
from headgate.protocol.log.checkpoint_schema import NON_FILE_ACTIONS, V2_ONLY, FileColumns
from headgate.protocol.log.last_checkpoint import LastCheckpoint, V2Checkpoint
from headgate.protocol.log.log_retention import LogSettings
from headgate.protocol.log.log_segment import LogSegment
from headgate.protocol.log.replay import State
from headgate.protocol.log.version_checksum import FileTotals
from headgate.storage.store import Store
from headgate.table.committer import Committer, Frontier
from headgate.table.read import log_reader
from headgate.table.upkeep import checkpoint_rows
from headgate.table.upkeep.checkpoint_parquet import CheckpointParquetFile
from headgate.table.upkeep.checkpoint_rows import CheckpointInput, RowBatch

SIDECAR_ROWS = 500_000

ActionRow = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class WrittenCheckpoint:
    """A checkpoint: its version, and the state and totals it was made from."""

    version: Version
    state: State
    totals: FileTotals
    path: str


@dataclass(frozen=True, slots=True)
class _CheckpointTask:
    store: Store
    version: Version
    upkeep: LogSettings
    world: World
    now_ms: int
    """Now or earlier: what has expired by then is left out, which a clock that is ahead must not decide."""
    instead_of: frozenset[str] = frozenset()


def write_checkpoint(
    store: Store,
    committer: Committer,
    *,
    world: World,
    version: Version | None = None,
    instead_of: frozenset[str] = frozenset(),
) -> WrittenCheckpoint | None:
    """Publish what is ratified, and write a checkpoint of ``version`` (default: the latest published).

    None if there is one already. Of several writers of the same classic checkpoint the first one
    is as good as any. What is at the paths ``instead_of`` which it is written is not read, and is replaced.
    """
    latest = committer.publish()
    frontier = committer.frontier()
    wanted = latest if version is None else version
    source = CheckpointInput(store, _segment(store, frontier, wanted, instead_of), frontier)
    published_ms = _check_published(source, latest)
    if source.segment.checkpoint and source.segment.checkpoint[0].version == wanted:
        return None
    state = checkpoint_rows.small_state(source)
    table_features.check_maintainable(state.protocol, state.metadata)
    asked = log_retention.log_settings(state.protocol, state.metadata)
    if wanted < asked.protected_before:
        raise InvalidRequest(
            f"version {wanted} is before {asked.protected_before}, the first one of which the table allows "
            f"checkpoints ({property_values.PROTECTED_BEFORE}): make one of a later version"
        )
    now_ms = min(world.now_ms(), published_ms)
    return _write(_CheckpointTask(store, wanted, asked, world, now_ms, instead_of), source, state)


def _segment(store: Store, frontier: Frontier, wanted: Version, instead_of: frozenset[str]) -> LogSegment:
    if not instead_of:
        return log_reader.choose_segment(store, frontier, wanted)
    listing = [file for file in log_reader.list_log(store) if file.path not in instead_of]
    return log_segment.build(listing, held=frontier.unpublished, latest=frontier.bound, target=wanted)


def _check_published(source: CheckpointInput, latest: Version) -> int:
    """When the version was published, by the store's clock."""
    version = source.version
    try:
        if version > latest:
            raise ObjectNotFound(f"version {version} is not published", path="", operation="head")
        return source.store.head(file_names.published_path(version)).modified_ms
    except ObjectNotFound as exc:
        raise InvalidRequest(
            f"version {version} is not published, or no longer, and only published versions have "
            "checkpoints: ask for a later one",
            version=version,
        ) from exc


def _write(task: _CheckpointTask, source: CheckpointInput, state: State) -> WrittenCheckpoint:
    columns = checkpoint_schema.file_columns(state.metadata, task.upkeep)
    expired_before = task.now_ms - task.upkeep.tombstone_retention_ms
    files = _CountedBatches(checkpoint_rows.file_rows(source, columns, expired_before=expired_before))
    write = _write_v2 if task.upkeep.v2_checkpoints else _write_classic
    pointer = write(task, columns, list(_small_rows(state, task)), files)
    _advance_last_checkpoint(task.store, pointer)
    v2 = pointer.v2_checkpoint
    path = file_names.classic_checkpoint_path(task.version) if v2 is None else file_names.LOG_FOLDER + v2.path
    return WrittenCheckpoint(task.version, state, FileTotals(files.adds, files.size_bytes), path)


class _CountedBatches:
    """The batches, and what was in those that have gone by."""

    def __init__(self, batches: Iterable[RowBatch]) -> None:
        self._batches = batches
        self.adds = 0
        self.size_bytes = 0

    def __iter__(self) -> Iterator[RowBatch]:
        for batch in self._batches:
            if batch.column == "add":
                self.adds += len(batch.rows)
                self.size_bytes += pc.sum(pc.struct_field(batch.rows, "size")).as_py() or 0
            yield batch


def _small_rows(state: State, task: _CheckpointTask) -> Iterator[ActionRow]:
    """Everything but files; application transactions that have expired are left out."""
    yield "protocol", _plain(state.protocol)
    yield "metaData", _plain(state.metadata)
    retention = task.upkeep.txn_retention_ms
    oldest = None if retention is None else task.now_ms - retention
    for txn in state.txns.values():
        if oldest is None or txn.last_updated is None or txn.last_updated > oldest:
            yield "txn", _plain(txn)
    for domain in state.domains.values():
        yield "domainMetadata", _plain(domain)


def _plain(action: Action) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(action)
    return plain


def _write_classic(
    task: _CheckpointTask, columns: FileColumns, small: Sequence[ActionRow], files: _CountedBatches
) -> LastCheckpoint:
    path = file_names.classic_checkpoint_path(task.version)
    with CheckpointParquetFile({**NON_FILE_ACTIONS, **columns.files}, task.upkeep.compression) as file:
        _write_small(file, small, NON_FILE_ACTIONS)
        for batch in files:
            file.write(batch.column, batch.rows)
        file.put(partial(task.store.put if path in task.instead_of else partial(_put_once, task.store), path))
        return LastCheckpoint(
            version=task.version, size=file.rows, size_in_bytes=file.size_bytes, num_of_add_files=files.adds
        )


def _put_once(store: Store, path: str, content: Buffer) -> None:
    try:
        store.put_if_absent(path, content)
    except ObjectExists:
        if store.head(path).size == 0:  # left by a writer that knows no better; readers ignore it
            store.put(path, content)


def _write_v2(
    task: _CheckpointTask, columns: FileColumns, small: Sequence[ActionRow], files: _CountedBatches
) -> LastCheckpoint:
    sidecars = list(_sidecars(task, columns, iter(files)))
    rows: list[ActionRow] = [("checkpointMetadata", {"version": task.version}), *small]
    rows += [("sidecar", _plain(sidecar.action)) for sidecar in sidecars]
    path = file_names.uuid_checkpoint_path(task.version, task.world.uuid())
    # No file action is in it, but some readers cannot open a checkpoint without their columns.
    kinds = {**NON_FILE_ACTIONS, **columns.files, **V2_ONLY}
    with CheckpointParquetFile(kinds, task.upkeep.compression) as file:
        _write_small(file, rows, kinds)
        file.put(partial(task.store.put_if_absent, path))
        return LastCheckpoint(
            version=task.version,
            size=file.rows + sum(sidecar.rows for sidecar in sidecars),
            size_in_bytes=file.size_bytes + sum(sidecar.action.size_in_bytes for sidecar in sidecars),
            num_of_add_files=files.adds,
            v2_checkpoint=V2Checkpoint(
                path=path.removeprefix(file_names.LOG_FOLDER),
                size_in_bytes=file.size_bytes,
                modification_time=EpochMillis(task.world.now_ms()),
            ),
        )


@dataclass(frozen=True, slots=True)
class _Sidecar:
    action: Sidecar
    rows: int


def _sidecars(task: _CheckpointTask, columns: FileColumns, batches: Iterator[RowBatch]) -> Iterator[_Sidecar]:
    """Write the file actions, some hundred thousand to a file; nobody knows them before they are named."""
    first = next(batches, None)
    while first is not None:
        name = f"{task.world.uuid()}.parquet"
        with CheckpointParquetFile(columns.files, task.upkeep.compression) as file:
            while first is not None and file.rows < SIDECAR_ROWS:
                file.write(first.column, first.rows)
                first = next(batches, None)
            file.put(partial(task.store.put_if_absent, file_names.SIDECAR_FOLDER + name))
            moment = EpochMillis(task.world.now_ms())
            action = Sidecar(path=name, size_in_bytes=file.size_bytes, modification_time=moment)
            yield _Sidecar(action, file.rows)


def _write_small(
    file: CheckpointParquetFile, rows: Iterable[ActionRow], kinds: Mapping[str, pa.DataType]
) -> None:
    found: dict[str, list[dict[str, Any]]] = {}
    for kind, row in rows:
        found.setdefault(kind, []).append(row)
    for kind, actions in found.items():
        file.write(kind, pa.array(actions, kinds[kind]))


def _advance_last_checkpoint(store: Store, pointer: LastCheckpoint) -> None:
    """Move the hint forward, never back: a slow writer must not undo what a later one said."""
    known = log_reader.last_checkpoint_version(store)
    if known is None or known < pointer.version:
        store.put(file_names.LAST_CHECKPOINT, last_checkpoint.render(pointer))
