"""What a checkpoint of a version has: its small state, and its file actions as batches of rows.

The file actions are read from the end of the log to its beginning. What comes later decides, so
of the commits only the keys of their files are remembered, and of the checkpoint before them
nothing: its rows flow through.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from headgate.errors import CorruptLog
from headgate.protocol import file_key
from headgate.protocol.actions import AddFile, DeletionVector, RemoveFile, Version
from headgate.protocol.file_key import FileKey
from headgate.protocol.log import codec, replay
from headgate.protocol.log.checkpoint_schema import DELETION_VECTOR, REMOVE, STRING_MAP, FileColumns
from headgate.protocol.log.log_segment import LogSegment
from headgate.protocol.log.replay import State
from headgate.storage.range_file import RangeFile
from headgate.storage.store import Store
from headgate.table.committer import Frontier
from headgate.table.read import checkpoint_reader, log_reader, match_path_keys, plain_types
from headgate.table.upkeep import checkpoint_stats_columns

_CHUNK_BYTES = 8 * 1024 * 1024
_WHOLE_BYTES = 4 * 1024 * 1024
_BATCH = 32 * 1024
_FEW = 4 * 1024


@dataclass(frozen=True, slots=True)
class CheckpointInput:
    """The files of one version, and where they are."""

    store: Store
    segment: LogSegment
    frontier: Frontier

    @property
    def version(self) -> Version:
        return self.segment.version

    def contents(self, *, newest_first: bool = False) -> Iterator[tuple[Version, bytes]]:
        """The commits after the checkpoint."""
        commits = self.segment.commits
        for piece in reversed(commits) if newest_first else commits:
            found = log_reader.piece_contents(self.store, piece, self.frontier)
            yield from reversed(found) if newest_first else found


@dataclass(frozen=True, slots=True)
class RowBatch:
    """Rows of one column, ``add`` or ``remove``."""

    column: str
    rows: pa.StructArray


def small_state(source: CheckpointInput) -> State:
    """Everything but the files; of a version whose commit cannot be seen, without its commitInfo."""
    commits = (codec.decode_without_files(version, content) for version, content in source.contents())
    if source.segment.checkpoint:
        state, _ = checkpoint_reader.read_checkpoint(source.store, source.segment.checkpoint)
    else:
        state = replay.initial_state(next(commits))
    for commit in commits:
        state = replay.advance(state, commit)
    return replay.check_usable(state)


def file_rows(source: CheckpointInput, columns: FileColumns, *, expired_before: int) -> Iterator[RowBatch]:
    """The adds, and the removes that are not older than ``expired_before`` (ms)."""
    rows = _FileRows(columns, expired_before)
    for version, content in source.contents(newest_first=True):
        chunks = _chunks(content)
        # Adds first: of a file that a commit both removes and adds, the add counts.
        for kind in (AddFile, RemoveFile):
            for chunk in chunks:
                found = [
                    action for action in codec.decode_file_actions(version, chunk) if isinstance(action, kind)
                ]
                yield from rows.of_actions(found[::-1])
    if source.segment.checkpoint:
        before = checkpoint_reader.checkpoint_sources(source.store, source.segment.checkpoint)
        for kind in (AddFile, RemoveFile):
            yield from rows.of_actions([action for action in before.actions if isinstance(action, kind)])
        for path in before.parquet:
            yield from rows.of_parquet(source, path)
    yield from rows.rest()


def _chunks(content: bytes) -> list[bytes]:
    """A commit in pieces whose actions fit into memory many times over."""
    chunks, start = [], 0
    while len(content) - start > _CHUNK_BYTES:
        end = content.find(b"\n{", start + _CHUNK_BYTES)
        if end < 0:
            break
        chunks.append(content[start : end + 1])
        start = end + 1
    return [*chunks, content[start:]] if chunks else [content]


@dataclass(slots=True)
class _FileRows:
    """Remembers which files were seen, and so decided, already."""

    columns: FileColumns
    expired_before: int
    _seen: set[FileKey] = field(default_factory=set)
    _adds: list[AddFile] = field(default_factory=list)
    _removes: list[RemoveFile] = field(default_factory=list)

    def of_actions(self, files: Sequence[AddFile | RemoveFile]) -> Iterator[RowBatch]:
        for file in files:
            key = file_key.file_key(file)
            if key in self._seen:
                continue
            self._seen.add(key)
            if isinstance(file, AddFile):
                self._adds.append(file)
            else:
                self._removes.append(file)
        if len(self._adds) + len(self._removes) >= _FEW:
            yield from self.rest()

    def rest(self) -> Iterator[RowBatch]:
        """What of the actions so far was not worth a batch yet."""
        if self._adds:
            yield RowBatch("add", self._complete(_struct(self._adds, _ADD_FIELDS)))
        if self._removes:
            yield from self._unexpired(_struct(self._removes, _REMOVE_FIELDS))
        self._adds, self._removes = [], []

    def of_parquet(self, source: CheckpointInput, path: str) -> Iterator[RowBatch]:
        mentioned = {path for path, _ in self._seen}
        try:
            file = pq.ParquetFile(_opened(source.store, path))
            present = [name for name in ("add", "remove") if name in file.schema_arrow.names]
            for batch in file.iter_batches(_BATCH, columns=present) if present else ():
                for name in present:
                    rows = plain_types.action_column(batch, name)
                    rows = self._undecided(rows.filter(pc.is_valid(pc.struct_field(rows, "path"))), mentioned)
                    if not len(rows):
                        continue
                    if name == "add":
                        yield RowBatch("add", self._complete(rows))
                    else:
                        yield from self._unexpired(rows)
        except pa.ArrowException as exc:
            raise CorruptLog(
                f"{path}, a part of the checkpoint before version {source.version}, cannot be read: {exc}; "
                "no checkpoint is written",
                code="DELTA_STATE_RECOVER_ERROR", version=source.version,
            ) from exc  # fmt: skip

    def _undecided(self, rows: pa.StructArray, mentioned: Collection[str]) -> pa.StructArray:
        disputed = match_path_keys.match_keys(pc.struct_field(rows, "path"), mentioned)
        if not pc.any(disputed).as_py():
            return rows
        keys = iter(_keys(rows.filter(disputed)))
        kept = [not found or next(keys) not in self._seen for found in disputed.to_pylist()]
        return rows.filter(pa.array(kept, pa.bool_()))

    def _unexpired(self, rows: pa.StructArray) -> Iterator[RowBatch]:
        rows = _fitted(rows, REMOVE)
        moments = pc.fill_null(pc.struct_field(rows, "deletionTimestamp"), 0)
        kept = rows.filter(pc.greater(moments, self.expired_before))
        if len(kept):
            yield RowBatch("remove", kept)

    def _complete(self, rows: pa.StructArray) -> pa.StructArray:
        """The adds with statistics and partition values in the forms that are wanted."""
        texts = _child(rows, "stats", pa.string())
        parsed = (
            pc.struct_field(rows, "stats_parsed") if rows.type.get_field_index("stats_parsed") >= 0 else None
        )
        made: dict[str, pa.Array] = {}
        if self.columns.json:
            made["stats"] = checkpoint_stats_columns.as_text(texts, parsed, self.columns)
        if self.columns.typed:
            made["stats_parsed"] = checkpoint_stats_columns.as_columns(texts, parsed, self.columns)
        if self.columns.typed and self.columns.partitions:
            values = _child(rows, "partitionValues", STRING_MAP)
            made["partitionValues_parsed"] = checkpoint_stats_columns.partition_columns(values, self.columns)
        return _fitted(rows, self.columns.add, made)


def _opened(store: Store, path: str) -> pa.NativeFile:
    if store.head(path).size <= _WHOLE_BYTES:
        return pa.BufferReader(store.read(path))
    return pa.PythonFile(RangeFile(store, path), mode="r")


def _fitted(
    rows: pa.StructArray, target: pa.DataType, made: Mapping[str, pa.Array] | None = None
) -> pa.StructArray:
    """The same rows with the fields of ``target``; those that were ``made`` are taken from there."""
    known = made or {}
    children = [
        known[part.name] if part.name in known else _child(rows, part.name, part.type) for part in target
    ]
    return pa.StructArray.from_arrays(children, fields=list(target))


def _child(rows: pa.StructArray, name: str, target: pa.DataType) -> pa.Array:
    at = rows.type.get_field_index(name)
    if at < 0:
        return pa.nulls(len(rows), target)
    found = pc.struct_field(rows, at)
    if pa.types.is_struct(target):
        parts = [_child(found, part.name, part.type) for part in target]
        # Some writers leave an empty struct where there is no deletion vector.
        return pa.StructArray.from_arrays(parts, fields=list(target), mask=pc.is_null(parts[0]))
    return found if found.type == target else found.cast(target)


def _keys(rows: pa.StructArray) -> Iterator[FileKey]:
    vectors = _child(rows, "deletionVector", DELETION_VECTOR).to_pylist()
    for path, row in zip(pc.struct_field(rows, "path").to_pylist(), vectors, strict=True):
        vector = (
            None if row is None else DeletionVector(**{_SNAKE[name]: value for name, value in row.items()})
        )
        yield file_key.canonical_path(path), file_key.deletion_vector_id(vector)


def _struct(files: Sequence[Any], fields: Mapping[str, tuple[str, pa.DataType]]) -> pa.StructArray:
    children = [
        _CONVERTED.get(name, pa.array)([getattr(file, ours) for file in files], kind)
        for name, (ours, kind) in fields.items()
    ]
    return pa.StructArray.from_arrays(
        children, fields=[pa.field(name, kind) for name, (_, kind) in fields.items()]
    )


def _maps(values: Sequence[Mapping[str, str | None] | None], kind: pa.DataType) -> pa.Array:
    return pa.array([None if value is None else list(value.items()) for value in values], kind)


def _vectors(values: Sequence[DeletionVector | None], kind: pa.DataType) -> pa.Array:
    return pa.array(
        [None if v is None else {name: getattr(v, ours) for name, ours in _SNAKE.items()} for v in values],
        kind,
    )


_SNAKE = {
    "storageType": "storage_type",
    "pathOrInlineDv": "path_or_inline_dv",
    "offset": "offset",
    "sizeInBytes": "size_in_bytes",
    "cardinality": "cardinality",
}
_CONVERTED: Mapping[str, Callable[[Sequence[Any], pa.DataType], pa.Array]] = {
    "partitionValues": _maps,
    "tags": _maps,
    "deletionVector": _vectors,
}


def _fields(
    types: Iterable[pa.Field], action: type[AddFile] | type[RemoveFile]
) -> dict[str, tuple[str, pa.DataType]]:
    ours = dict(zip(action.__struct_encode_fields__, action.__struct_fields__, strict=True))
    return {part.name: (ours[part.name], part.type) for part in types if part.name in ours}


_ADD_FIELDS = _fields(FileColumns(json=True, typed=False, partitions=(), leaves=()).add, AddFile)
_REMOVE_FIELDS = _fields(REMOVE, RemoveFile)
