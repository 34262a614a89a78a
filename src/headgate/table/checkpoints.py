"""Reading a checkpoint: the small state at once, the live files when someone asks for them.

Classic and multipart checkpoints are parquet files of all actions. A v2 checkpoint is a small
file, JSON or parquet, that names sidecars with the file actions. Columns nobody needs are not read.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar
from urllib.parse import unquote

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from headgate.errors import CorruptLog, ObjectNotFound
from headgate.protocol import codec, names
from headgate.protocol.actions import (
    Action,
    AppTransaction,
    DomainMetadata,
    Metadata,
    Protocol,
    Sidecar,
    Version,
    sort,
)
from headgate.protocol.names import LogFile
from headgate.protocol.replay import State
from headgate.storage.api import Store
from headgate.table.files import SCHEMA, STATS_PARSED, LiveFiles, reconcile

Kind = TypeVar("Kind", bound=Action)

_SMALL: tuple[tuple[str, type[Action]], ...] = (
    ("protocol", Protocol),
    ("metaData", Metadata),
    ("txn", AppTransaction),
    ("domainMetadata", DomainMetadata),
    ("sidecar", Sidecar),
)
_VECTOR_FIELDS = ("storageType", "pathOrInlineDv", "offset", "sizeInBytes", "cardinality")


def load(store: Store, parts: Sequence[LogFile]) -> tuple[State, LiveFiles]:
    """The state a checkpoint holds, and its live files."""
    version = parts[0].version
    actions = [action for part in parts for action in _small_actions(store, part)]
    state = _state(version, actions)
    sidecars = [_sidecar_path(action) for action in actions if isinstance(action, Sidecar)]

    def files() -> pa.Table:
        paths = [*(part.path for part in parts), *sidecars]
        return pa.concat_tables([_adds(store, path, version) for path in paths], promote_options="default")

    return state, LiveFiles(files)


def _state(version: Version, actions: Sequence[Action]) -> State:
    found = sort(version, actions)
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


def _small_actions(store: Store, part: LogFile) -> Iterator[Action]:
    if part.path.endswith(".json"):
        yield from codec.actions(part.version, store.read(part.path))
        return
    file = _open(store, part.path, part.version)
    present = [name for name, _ in _SMALL if name in file.schema_arrow.names]
    table = _columns(file, part, present)
    for name, kind in _SMALL:
        if name in present:
            column = table[name].combine_chunks()
            yield from _converted(column.drop_null().to_pylist(maps_as_pydicts="lossy"), kind, part)


def _converted(rows: Iterable[dict[str, Any]], kind: type[Kind], part: LogFile) -> Iterator[Kind]:
    for row in rows:
        try:
            yield msgspec.convert(_plain(row), kind)
        except msgspec.ValidationError as exc:
            raise CorruptLog(
                f"{part.path} has a malformed {kind.__name__}: {exc}",
                code="DELTA_STATE_RECOVER_ERROR", version=part.version,
            ) from exc  # fmt: skip


def _plain(value: Any) -> Any:
    """A struct whose absent fields are absent, as in the log."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items() if part is not None}
    return value


def _sidecar_path(sidecar: Sidecar) -> str:
    path = unquote(sidecar.path)
    return path if "/" in path else names.SIDECARS + path


def _adds(store: Store, path: str, version: Version) -> pa.Table:
    if path.endswith(".json"):
        found = sort(version, (action for action in codec.actions(version, store.read(path))))
        return reconcile(SCHEMA.empty_table(), (found,))
    file = _open(store, path, version)
    if "add" not in file.schema_arrow.names:
        return SCHEMA.empty_table()
    fields = {field.name for field in file.schema_arrow.field("add").type}
    wanted = [f"add.{name}" for name in (*_PLAIN_FIELDS, "deletionVector", STATS_PARSED) if name in fields]
    add = file.read(columns=wanted)["add"].combine_chunks()
    return _flattened(add.filter(pc.is_valid(pc.struct_field(add, "path"))))


_PLAIN_FIELDS = {
    "path": "path",
    "partitionValues": "partition_values",
    "size": "size",
    "modificationTime": "modified_ms",
    "stats": "stats",
    "baseRowId": "base_row_id",
    "defaultRowCommitVersion": "default_row_commit_version",
}


def _flattened(add: pa.StructArray) -> pa.Table:
    present = {field.name for field in add.type}
    columns: dict[str, pa.Array] = {
        ours: pc.struct_field(add, theirs) for theirs, ours in _PLAIN_FIELDS.items() if theirs in present
    }
    if "deletionVector" in present:
        columns["deletion_vector"] = _vectors(pc.struct_field(add, "deletionVector"))
    complete = [
        columns[field.name].cast(field.type) if field.name in columns else pa.nulls(len(add), field.type)
        for field in SCHEMA
    ]
    table = pa.table(complete, schema=SCHEMA)
    if STATS_PARSED in present:
        table = table.append_column(STATS_PARSED, pc.struct_field(add, STATS_PARSED))
    return table


def _vectors(vectors: pa.StructArray) -> pa.Array:
    target = SCHEMA.field("deletion_vector").type
    parts = [
        pc.struct_field(vectors, theirs).cast(ours.type)
        for theirs, ours in zip(_VECTOR_FIELDS, target, strict=True)
    ]
    # Some writers leave an empty struct where there is no vector.
    absent = pc.is_null(parts[0])
    return pa.StructArray.from_arrays(parts, fields=list(target), mask=absent)


def _columns(file: pq.ParquetFile, part: LogFile, names_: list[str]) -> pa.Table:
    try:
        return file.read(columns=names_)
    except (pa.ArrowException, OSError) as exc:
        raise _damaged(part.path, part.version, exc) from exc


def _open(store: Store, path: str, version: Version) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(pa.BufferReader(store.read(path)))
    except (pa.ArrowException, ObjectNotFound) as exc:
        raise _damaged(path, version, exc) from exc


def _damaged(path: str, version: Version, exc: Exception) -> CorruptLog:
    return CorruptLog(
        f"{path}, a part of the checkpoint of version {version}, cannot be read: {exc}",
        code="DELTA_STATE_RECOVER_ERROR", version=version,
    )  # fmt: skip
