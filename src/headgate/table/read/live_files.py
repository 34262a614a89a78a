"""The live files of a table, as Arrow columns.

Version 0 adds a and b, version 1 gives a a deletion vector. A file is its path and its vector, so the first
a is gone:

    0   {"add":{"path":"a"}}  {"add":{"path":"b"}}
    1   {"remove":{"path":"a"}}  {"add":{"path":"a","deletionVector":{…,"cardinality":1}}}

    path   deletion_vector
    b      null
    a      {storage_type: u, …, cardinality: 1}

Until somebody asks for these columns only the two commits are kept.
"""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import accumulate

import pyarrow as pa
import pyarrow.compute as pc

from headgate.protocol import file_key
from headgate.protocol.actions import AddFile, Commit, DeletionVector, EpochMillis, Metadata
from headgate.protocol.file_key import FileKey
from headgate.protocol.schema import column_mapping
from headgate.protocol.schema import json as schema_json
from headgate.protocol.stats.file_bounds import FileBounds
from headgate.protocol.stats.stats_leaves import PARSED
from headgate.table.read import checkpoint_stats, match_path_keys
from headgate.table.read.checkpoint_stats import CHECKPOINT_ROW, CheckpointStatistics

VECTOR_TYPE = pa.struct(
    [
        ("storage_type", pa.string()),
        ("path_or_inline_dv", pa.string()),
        ("offset", pa.int32()),
        ("size_in_bytes", pa.int32()),
        ("cardinality", pa.int64()),
    ]
)
SCHEMA = pa.schema(
    [
        ("path", pa.string()),
        ("partition_values", pa.map_(pa.string(), pa.string())),
        ("size", pa.int64()),
        ("modified_ms", pa.int64()),
        ("stats", pa.string()),
        ("deletion_vector", VECTOR_TYPE),
        ("base_row_id", pa.int64()),
        ("default_row_commit_version", pa.int64()),
    ]
)
Columns = Callable[[], pa.Table]
STATS_PARSED = PARSED
"""An optional column beyond SCHEMA: statistics that a checkpoint has as columns of their own."""
_making_bounds = threading.Lock()


class LiveFiles:
    """The files of one version; immutable. The columns are made when first asked for.

    So a writer that only appends never pays for the files others added, nor does a reader that
    wants the schema, and one that wants no statistics does not pay for these, the bulk of a large
    checkpoint. Such a checkpoint gives its files a ROW, and ``late`` statistics in the order of the rows.
    """

    __slots__ = (
        "__weakref__", "_bounds", "_columns", "_commit", "_late", "_origin", "_parent", "_partial",
        "checkpoint_bytes", "is_unread", "pending",
    )  # fmt: skip

    def __init__(
        self,
        origin: Columns = SCHEMA.empty_table,
        late: CheckpointStatistics | None = None,
        *,
        checkpoint_bytes: int = 0,
        is_unread: bool = False,
    ) -> None:
        self._origin: Columns | None = origin
        self._late = late
        self._parent: LiveFiles | None = None
        self._commit: Commit | None = None
        self._partial: pa.Table | None = None
        self._columns: pa.Table | None = None
        self._bounds: tuple[Metadata, FileBounds] | None = None
        self.pending = 0
        """How many commits are kept to make the columns from."""
        self.checkpoint_bytes = checkpoint_bytes
        """How large the checkpoint is that the columns are made from."""
        self.is_unread = is_unread
        """Whether the log was not looked at for them: good for appends, a detour for reads."""

    def after(self, commit: Commit) -> "LiveFiles":
        """The live files once ``commit`` is applied."""
        following = LiveFiles(
            late=self._late, checkpoint_bytes=self.checkpoint_bytes, is_unread=self.is_unread
        )
        following._origin = None
        following._parent, following._commit = self, commit
        following.pending = 1 if self._partial is not None else self.pending + 1
        return following

    def made_by(self, origin: Columns) -> "LiveFiles":
        """Files of which the same is known beforehand, with columns from elsewhere."""
        return LiveFiles(origin, checkpoint_bytes=self.checkpoint_bytes, is_unread=self.is_unread)

    @property
    def columns(self) -> pa.Table:
        """One row per live file: SCHEMA, and perhaps STATS_PARSED."""
        if self._columns is None:
            known = self._replayed()
            self._columns = known if self._late is None else _with_late_statistics(known, self._late.whole())
        return self._columns

    @property
    def without_stats(self) -> pa.Table:
        """The same rows without their statistics."""
        known = self._columns if self._columns is not None else self._replayed()
        return known.select([name for name in SCHEMA.names if name != "stats"])

    def record_counts(self) -> pa.Array:
        """How many rows each of ``without_stats`` has, deleted ones too; null where nobody says."""
        if self._columns is not None or self._late is None:
            return checkpoint_stats.record_counts(self.columns)
        return checkpoint_stats.live_record_counts(self._replayed(), self._late)

    def bounds(self, metadata: Metadata) -> FileBounds:
        """Between which values the columns of these files lie, for a table with this metadata.

        The same for all who ask, in any thread, so that each column is read once. Of a large
        checkpoint only the bounds of columns that are asked for are kept, and versions that build
        on it share them; partition columns do not need its statistics at all.
        """
        found = self._bounds
        if found is None or found[0] != metadata:
            made = self._made_bounds(metadata)
            with _making_bounds:
                found = self._bounds
                if found is None or found[0] != metadata:
                    found = self._bounds = (metadata, made)
        return found[1]

    def _made_bounds(self, metadata: Metadata) -> FileBounds:
        columns = schema_json.parse(metadata.schema_string)
        physical = column_mapping.physical_paths(columns, column_mapping.mapping_mode(metadata))
        known, late = self._columns, None
        if known is None:
            known = self._replayed()
            late = (
                partial(checkpoint_stats.live_bounds, known, self._late) if self._late is not None else None
            )
        return FileBounds(
            known if late is None else known.drop_columns(["stats", CHECKPOINT_ROW]),
            partition_columns=metadata.partition_columns,
            physical=physical,
            statistics=late,
        )

    def _replayed(self) -> pa.Table:
        if self._partial is None:
            self._partial = self._replay()
            self._origin = self._parent = self._commit = None
        return self._partial

    def _replay(self) -> pa.Table:
        pending: list[Commit] = []
        node: LiveFiles = self
        while (known := node._partial) is None:
            origin, parent, commit = node._origin, node._parent, node._commit
            if origin is not None:
                known = node._partial = origin()
                break
            if parent is None or commit is None:  # another thread has just finished this node
                continue
            pending.append(commit)
            node = parent
        return reconcile(known, reversed(pending)) if pending else known


UNREAD = LiveFiles(is_unread=True)
"""Files of which nothing was looked at."""


def _with_late_statistics(known: pa.Table, late: pa.Table) -> pa.Table:
    rows, count = known[CHECKPOINT_ROW], late.num_rows
    if checkpoint_stats.are_all_in_order(rows, count):  # then nothing needs to be copied
        late = pa.concat_tables([late, known.select(["stats"]).slice(count)], promote_options="default")
    else:
        late = late.take(rows)
        late = late.set_column(0, "stats", pc.if_else(pc.is_null(rows), known["stats"], late["stats"]))
    known = known.set_column(SCHEMA.get_field_index("stats"), "stats", late["stats"]).drop_columns(
        [CHECKPOINT_ROW]
    )
    return known.append_column(STATS_PARSED, late[STATS_PARSED]) if late.num_columns > 1 else known


def reconcile(known: pa.Table, commits: Iterable[Commit]) -> pa.Table:
    """The live files after ``commits``, oldest first, on top of ``known``.

    Only rows whose path some commit mentions are looked at one by one.
    """
    steps = list(commits)
    added = [add for commit in steps for add in commit.adds]
    mentioned = {file_key.canonical_path(add.path) for add in added}
    only_new = len(mentioned) == len(added) and not any(commit.removes for commit in steps)
    mentioned.update(file_key.canonical_path(remove.path) for commit in steps for remove in commit.removes)
    is_mentioned = match_path_keys.match_keys_chunked(known["path"], mentioned)
    disputed = known.filter(is_mentioned)
    changed = adds_as_table(added)
    if disputed.num_rows or not only_new:
        changed = pa.concat_tables([disputed, changed], promote_options="default")
        changed = changed.take(_survivors(disputed, steps))
    untouched = known.filter(pc.invert(is_mentioned)) if disputed.num_rows else known
    return pa.concat_tables([untouched, changed], promote_options="default")


def deduplicate(files: pa.Table) -> pa.Table:
    """The same files, of one that is there more than once the last."""
    if pc.count_distinct(files["path"]).as_py() == files.num_rows:
        return files
    last = {key: row for row, key in enumerate(_keys(files))}
    return files if len(last) == files.num_rows else files.take(sorted(last.values()))


def _survivors(disputed: pa.Table, steps: Iterable[Commit]) -> pa.Array:
    """Which of the disputed rows, and of the adds counted on from there, are live in the end."""
    live: dict[FileKey, int] = {key: row for row, key in enumerate(_keys(disputed))}
    row = disputed.num_rows
    for commit in steps:
        for remove in commit.removes:
            live.pop(file_key.file_key(remove), None)
        for add in commit.adds:
            key = file_key.file_key(add)
            live.pop(key, None)  # so that it comes after what was there before
            live[key] = row
            row += 1
    return pa.array(live.values(), pa.int64())


def _keys(files: pa.Table) -> Iterable[FileKey]:
    paths, vectors = map(file_key.canonical_path, files["path"].to_pylist()), files["deletion_vector"]
    if vectors.null_count == len(vectors):
        return ((path, None) for path in paths)
    parsed = (None if row is None else DeletionVector(**row) for row in vectors.to_pylist())
    return ((path, file_key.deletion_vector_id(vector)) for path, vector in zip(paths, parsed, strict=True))


def adds_as_table(added: Sequence[AddFile]) -> pa.Table:
    """These files as columns, whether they are live or not."""
    return pa.table(
        [
            pa.array([add.path for add in added], pa.string()),
            _maps([add.partition_values for add in added]),
            pa.array([add.size for add in added], pa.int64()),
            pa.array([add.modification_time for add in added], pa.int64()),
            pa.array([add.stats for add in added], pa.string()),
            _vectors([add.deletion_vector for add in added]),
            pa.array([add.base_row_id for add in added], pa.int64()),
            pa.array([add.default_row_commit_version for add in added], pa.int64()),
        ],
        schema=SCHEMA,
    )


def table_as_adds(files: pa.Table) -> list[AddFile]:
    """The files of such columns, one by one, without their statistics."""
    return [
        AddFile(
            path=row["path"],
            partition_values=dict(row["partition_values"] or ()),
            size=row["size"],
            modification_time=EpochMillis(row["modified_ms"]),
            data_change=True,
            deletion_vector=None
            if row["deletion_vector"] is None
            else DeletionVector(**row["deletion_vector"]),
        )
        for row in files.to_pylist()
    ]


def _maps(values: Sequence[Mapping[str, str | None]]) -> pa.MapArray:
    # Four times as fast as from pairs.
    offsets = accumulate(map(len, values), initial=0)
    keys = [key for value in values for key in value]
    items = [item for value in values for item in value.values()]
    return pa.MapArray.from_arrays(
        pa.array(offsets, pa.int32()), pa.array(keys, pa.string()), pa.array(items, pa.string())
    )


def _vectors(vectors: Sequence[DeletionVector | None]) -> pa.Array:
    if not any(vectors):
        return pa.nulls(len(vectors), VECTOR_TYPE)
    return pa.array([None if vector is None else _row(vector) for vector in vectors], VECTOR_TYPE)


def _row(vector: DeletionVector) -> dict[str, str | int | None]:
    return {name: getattr(vector, name) for name in vector.__struct_fields__}
