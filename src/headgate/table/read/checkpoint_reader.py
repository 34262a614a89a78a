"""Reading a checkpoint: the small state at once, the live files when someone asks for them.

Classic and multipart checkpoints are parquet files of all actions. A v2 checkpoint is a small
file, JSON or parquet, that names sidecars with the file actions. Columns nobody needs are not
read: of a large checkpoint only ranges, and the statistics, most of it, by themselves.

Two checkpoints of version 10 with the same content. A row of the first has a value in one column:

    …10.checkpoint.parquet        protocol | metaData | txn | add (a) | add (b)
    …10.checkpoint.<uuid>.json    {"protocol":…}  {"metaData":…}  {"txn":…}  {"sidecar":{"path":"s.parquet"}}
    _sidecars/s.parquet           add (a) | add (b)

``read_checkpoint`` gives the state from the first three, at once, and ``LiveFiles`` that read a and b later.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import unquote

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from headgate.errors import CorruptLog, ObjectNotFound, StorageUnavailable
from headgate.protocol.actions import (
    Action,
    AppTransaction,
    DomainMetadata,
    Metadata,
    Protocol,
    Sidecar,
    Version,
    commit_from_actions,
)
from headgate.protocol.log import codec, file_names
from headgate.protocol.log.file_names import LogFile
from headgate.protocol.log.replay import State
from headgate.protocol.stats.stats_json import StatsLeaf
from headgate.storage.parallel_reads import map_in_order
from headgate.storage.range_file import RangeFile
from headgate.storage.store import Store
from headgate.table.read import add_columns, plain_types
from headgate.table.read.add_columns import OTHER_FIELDS, STATISTICS_FIELDS
from headgate.table.read.arrow_memory import prefer_jemalloc
from headgate.table.read.checkpoint_stats import CHECKPOINT_ROW, CheckpointStatistics, row_numbers
from headgate.table.read.live_files import SCHEMA, STATS_PARSED, LiveFiles, deduplicate, reconcile

ActionT = TypeVar("ActionT", bound=Action)
Answer = TypeVar("Answer")

WHOLE_READ_BYTES = 4 * 1024 * 1024
"""Up to here a file is read whole, statistics included: fewer requests, and they agree with each other."""

_SMALL_ACTIONS: tuple[tuple[str, str, type[Action]], ...] = (  # with a field that is never null
    ("protocol", "minReaderVersion", Protocol),
    ("metaData", "id", Metadata),
    ("txn", "appId", AppTransaction),
    ("domainMetadata", "domain", DomainMetadata),
    ("sidecar", "path", Sidecar),
)
_BATCH = 64 * 1024
_BATCH_OF_STATISTICS = 8 * 1024
_AHEAD = 4
_DAMAGE = (
    pa.ArrowException,
    ObjectNotFound,
    OSError,
    ValueError,
    LookupError,
    TypeError,
    ArithmeticError,
    MemoryError,
)
"""What a library says of a file that is no parquet, or has other columns than a checkpoint."""


def read_checkpoint(store: Store, parts: Sequence[LogFile]) -> tuple[State, LiveFiles]:
    """The state a checkpoint holds, and its live files."""
    version = parts[0].version
    named = [_CheckpointFile(store, part.path, part.size, version) for part in parts]
    small = map_in_order(store, lambda piece: list(_small_actions(piece)), named)
    actions = [action for found in small for action in found]
    sidecars = [action for action in actions if isinstance(action, Sidecar)]
    pieces = [
        *named,
        *(_CheckpointFile(store, _sidecar_path(found), found.size_in_bytes, version) for found in sidecars),
    ]
    return _state(version, actions), _files(store, pieces)


@dataclass(frozen=True, slots=True)
class CheckpointSources:
    """Where a checkpoint has its files: in parquet, or as actions of a small JSON file."""

    parquet: tuple[str, ...]
    actions: tuple[Action, ...]


def checkpoint_sources(store: Store, parts: Sequence[LogFile]) -> CheckpointSources:
    """Where to find the live files of a checkpoint, for somebody else to read."""
    named = [_CheckpointFile(store, part.path, part.size, part.version) for part in parts]
    read = map_in_order(store, lambda piece: list(_file_actions(piece)), named)
    actions = [action for found in read for action in found]
    sidecars = [_sidecar_path(action) for action in actions if isinstance(action, Sidecar)]
    parquet = [piece.path for piece in named if not piece.is_json]
    return CheckpointSources((*parquet, *sidecars), tuple(actions))


def _file_actions(piece: "_CheckpointFile") -> Iterator[Action]:
    if piece.is_json:
        yield from piece.actions()
        return
    with piece.opened() as file:
        yield from _converted(_rows(file, "sidecar", "path"), Sidecar, piece)


def _state(version: Version, actions: Sequence[Action]) -> State:
    found = commit_from_actions(version, actions)
    if found.protocol is None or found.metadata is None:
        absent = "protocol" if found.protocol is None else "metaData"
        raise CorruptLog(
            f"the checkpoint of version {version} has no {absent} action",
            code="DELTA_STATE_RECOVER_ERROR", version=version,
        )  # fmt: skip
    return State(
        version,
        found.protocol,
        found.metadata,
        info=None,
        txns={txn.app_id: txn for txn in found.txns},
        domains={domain.domain: domain for domain in found.domains if not domain.removed},
    )


@dataclass(frozen=True, slots=True)
class _CheckpointFile:
    """One file of a checkpoint; its size is what somebody said."""

    store: Store
    path: str
    size: int
    version: Version

    @property
    def is_json(self) -> bool:
        return self.path.endswith(".json")

    @property
    def is_large(self) -> bool:
        return self.size > WHOLE_READ_BYTES

    def actions(self) -> list[Action]:
        """All of them, if this is JSON."""
        return codec.decode_actions(self.version, self.store.read(self.path))

    @contextmanager
    def opened(self) -> Iterator[pq.ParquetFile]:
        """The file; ``CorruptLog`` names it if what is read is not parquet."""
        try:
            if self.is_large:
                prefer_jemalloc()
                file = pq.ParquetFile(pa.PythonFile(RangeFile(self.store, self.path), mode="r"))
            else:
                file = pq.ParquetFile(pa.BufferReader(self.store.read(self.path)))
            yield file
        except _DAMAGE as exc:
            raise CorruptLog(
                f"{self.path}, a part of the checkpoint of version {self.version}, cannot be read: {exc}",
                code="DELTA_STATE_RECOVER_ERROR", version=self.version,
            ) from exc  # fmt: skip


def _small_actions(piece: _CheckpointFile) -> Iterator[Action]:
    if piece.is_json:
        yield from piece.actions()
        return
    with piece.opened() as file:
        for name, never_null, kind in _SMALL_ACTIONS:
            yield from _converted(_rows(file, name, never_null), kind, piece)


def _rows(file: pq.ParquetFile, column: str, never_null: str) -> Iterator[pa.StructArray]:
    """The rows of a column that few have, without looking further than the footer says is needed."""
    groups = _row_groups(file, f"{column}.{never_null}")
    left = sum(groups.values())
    for batch in file.iter_batches(_BATCH, row_groups=list(groups), columns=[column]) if left else ():
        rows = plain_types.action_column(batch, column).drop_null()
        yield rows
        left -= len(rows)
        if not left:
            return


def _row_groups(file: pq.ParquetFile, leaf: str) -> dict[int, int]:
    """Those in which the leaf is not null everywhere: how often, or at most, as far as the footer says."""
    at = next((at for at in range(len(file.schema)) if file.schema.column(at).path == leaf), None)
    if at is None:
        return {}
    found = {}
    for group in range(file.num_row_groups):
        chunk = file.metadata.row_group(group).column(at)
        counted = chunk.is_stats_set and chunk.statistics.has_null_count
        found[group] = chunk.num_values - (chunk.statistics.null_count if counted else 0)
    return {group: count for group, count in found.items() if count}


def _converted(
    batches: Iterable[pa.StructArray], kind: type[ActionT], piece: _CheckpointFile
) -> Iterator[ActionT]:
    for row in (_plain(row, rows.type) for rows in batches for row in rows.to_pylist()):
        try:
            yield msgspec.convert(row, kind)
        except msgspec.ValidationError as exc:
            raise CorruptLog(
                f"{piece.path} has a malformed {kind.__name__}: {exc}",
                code="DELTA_STATE_RECOVER_ERROR", version=piece.version,
            ) from exc  # fmt: skip


def _plain(value: Any, kind: pa.DataType) -> Any:
    """Arrow's maps as dicts, and absent fields as absent."""
    if value is None:
        return None
    if pa.types.is_map(kind):
        return dict(value)
    if pa.types.is_struct(kind):
        found = {field.name: _plain(value[field.name], field.type) for field in kind}
        return {name: part for name, part in found.items() if part is not None}
    return value


def _sidecar_path(sidecar: Sidecar) -> str:
    # Some writers give more than the name, a whole URI even; there is only one folder it can be in.
    return file_names.SIDECAR_FOLDER + unquote(sidecar.path.rpartition("/")[2])


def _files(store: Store, pieces: Sequence[_CheckpointFile]) -> LiveFiles:
    def adds_of(some: Sequence[_CheckpointFile], wanted: Sequence[str]) -> pa.Table:
        return add_columns.concat_adds(map_in_order(store, lambda piece: _adds(piece, wanted, footers), some))

    footers: dict[str, pq.FileMetaData] = {}
    size = sum(piece.size for piece in pieces)
    if not any(piece.is_large for piece in pieces):
        return LiveFiles(
            lambda: deduplicate(adds_of(pieces, (*OTHER_FIELDS, *STATISTICS_FIELDS))), checkpoint_bytes=size
        )
    parquet = [piece for piece in pieces if not piece.is_json]

    def numbered() -> pa.Table:
        adds = adds_of(parquet, OTHER_FIELDS)
        adds = adds.append_column(CHECKPOINT_ROW, row_numbers(adds.num_rows))
        return add_columns.concat_adds([adds, *(_adds(piece, ()) for piece in pieces if piece.is_json)])

    def statistics(
        leaves: Collection[StatsLeaf] | None, work: Callable[[Iterator[pa.Table]], Answer], /
    ) -> Iterable[Answer]:
        return map_in_order(store, lambda piece: work(_statistics(piece, leaves, footers)), parquet)

    return LiveFiles(numbered, CheckpointStatistics(statistics), checkpoint_bytes=size)


def _adds(
    piece: _CheckpointFile, wanted: Sequence[str], footers: dict[str, pq.FileMetaData] | None = None
) -> pa.Table:
    """The adds of one file; the first field that is wanted must be one that no add is without."""
    if piece.is_json:
        return reconcile(SCHEMA.empty_table(), (commit_from_actions(piece.version, piece.actions()),))
    with piece.opened() as file:
        if footers is not None:
            _check_same(piece, file, footers)
        groups, fields = list(_row_groups(file, "add.path")), [f"add.{name}" for name in wanted]
        if not groups:
            return SCHEMA.empty_table()
        # In batches, because large buffers grow by copying.
        batches = file.iter_batches(_BATCH, row_groups=groups, columns=fields)
        return add_columns.concat_adds(
            add_columns.flatten_adds(_add_rows(batch, wanted[0])) for batch in batches
        )


def _add_rows(batch: pa.RecordBatch, required: str) -> pa.StructArray:
    return add_columns.present_adds(plain_types.action_column(batch, "add"), required)


def _check_same(piece: _CheckpointFile, file: pq.ParquetFile, footers: dict[str, pq.FileMetaData]) -> None:
    if not footers.setdefault(piece.path, file.metadata).equals(file.metadata):
        raise StorageUnavailable(
            f"{piece.path} was replaced while the table was being read: open the table again",
            path=piece.path, operation="read",
        )  # fmt: skip


def _statistics(
    piece: _CheckpointFile, leaves: Collection[StatsLeaf] | None, footers: dict[str, pq.FileMetaData]
) -> Iterator[pa.Table]:
    """The statistics of the adds of one file, or as much of them as the leaves take."""
    with piece.opened() as file:
        _check_same(piece, file, footers)
        groups = list(_row_groups(file, "add.path"))
        adds = _counted(file, "add.path")
        # Paths are long, and sizes tell adds as well if there are as many.
        required = "path" if adds is None or adds != _counted(file, "add.size") else "size"
        fields = [f"add.{name}" for name in (required, *_fields_of(file, leaves, adds))]
        batches = file.iter_batches(_BATCH_OF_STATISTICS, row_groups=groups, columns=fields) if groups else ()
        for batch in _decode_ahead(iter(batches)):
            yield add_columns.statistics_table(_add_rows(batch, required))


def _fields_of(file: pq.ParquetFile, leaves: Collection[StatsLeaf] | None, adds: int | None) -> Sequence[str]:
    """What to read for the leaves: no JSON, if all adds have all of them as columns."""
    if leaves is None or any("." in key for leaf in leaves for key in leaf.keys):
        return STATISTICS_FIELDS
    parsed = [".".join((STATS_PARSED, *leaf.keys)) for leaf in leaves]
    stored = {file.schema.column(at).path for at in range(len(file.schema))}
    present = [name for name in parsed if f"add.{name}" in stored]
    complete = len(present) == len(parsed) and adds is not None
    if complete and _counted(file, f"add.{STATS_PARSED}.numRecords") == adds:
        return present
    return ("stats", *present)


def _counted(file: pq.ParquetFile, leaf: str) -> int | None:
    """How many values of the leaf are not null, if the footer says so."""
    at = next((at for at in range(len(file.schema)) if file.schema.column(at).path == leaf), None)
    if at is None:
        return None
    count = 0
    for group in range(file.num_row_groups):
        chunk = file.metadata.row_group(group).column(at)
        if not chunk.is_stats_set or not chunk.statistics.has_null_count:
            return None
        count += chunk.num_values - chunk.statistics.null_count
    return count


def _decode_ahead(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same, some decoded while somebody looks at the ones before.

    Nothing else is done beside it: whoever decodes JSON keeps the interpreter to itself, and each call
    into Arrow would have to wait until it is given away.
    """
    with ThreadPoolExecutor(1) as pool:
        following = deque(pool.submit(next, batches, None) for _ in range(_AHEAD))
        while (batch := following.popleft().result()) is not None:
            following.append(pool.submit(next, batches, None))
            yield batch
