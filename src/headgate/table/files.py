"""The live files of a table, as Arrow columns."""

from collections.abc import Callable, Iterable

import pyarrow as pa
import pyarrow.compute as pc

from headgate.protocol.actions import AddFile, Commit, DeletionVector

VECTOR = pa.struct(
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
        ("deletion_vector", VECTOR),
        ("base_row_id", pa.int64()),
        ("default_row_commit_version", pa.int64()),
    ]
)
STATS_PARSED = "stats_parsed"
"""An optional column beyond SCHEMA: statistics that a checkpoint has as columns of their own."""

Key = tuple[str, str | None]


class LiveFiles:
    """The files of one version; immutable. The columns are made when first asked for.

    So a writer that only appends never pays for the files others added, nor does a reader that
    wants the schema.
    """

    __slots__ = ("_columns", "_commit", "_origin", "_parent")

    def __init__(self, origin: Callable[[], pa.Table] = SCHEMA.empty_table) -> None:
        self._origin: Callable[[], pa.Table] | None = origin
        self._parent: LiveFiles | None = None
        self._commit: Commit | None = None
        self._columns: pa.Table | None = None

    def after(self, commit: Commit) -> "LiveFiles":
        """The live files once ``commit`` is applied."""
        following = LiveFiles()
        following._origin = None
        following._parent, following._commit = self, commit
        return following

    @property
    def columns(self) -> pa.Table:
        """One row per live file."""
        if self._columns is None:
            self._columns = self._replay()
            self._origin = self._parent = self._commit = None
        return self._columns

    def _replay(self) -> pa.Table:
        pending: list[Commit] = []
        node: LiveFiles = self
        while (known := node._columns) is None:
            origin, parent, commit = node._origin, node._parent, node._commit
            if origin is not None:
                known = node._columns = origin()
                break
            if parent is None or commit is None:  # another thread has just finished this node
                continue
            pending.append(commit)
            node = parent
        return reconcile(known, reversed(pending)) if pending else known


def reconcile(known: pa.Table, commits: Iterable[Commit]) -> pa.Table:
    """The live files after ``commits``, oldest first, on top of ``known``.

    Only rows whose path some commit mentions are looked at one by one.
    """
    steps = list(commits)
    mentioned = {remove.path for commit in steps for remove in commit.removes}
    mentioned |= {add.path for commit in steps for add in commit.adds}
    is_mentioned = pc.is_in(known["path"], pa.array(mentioned, pa.string()))
    disputed = known.filter(is_mentioned)
    live: dict[Key, int] = {key: row for row, key in enumerate(_keys(disputed))}
    added: list[AddFile] = []
    for commit in steps:
        for remove in commit.removes:
            live.pop(_key(remove.path, remove.deletion_vector), None)
        for add in commit.adds:
            live.pop(_key(add.path, add.deletion_vector), None)
            live[_key(add.path, add.deletion_vector)] = disputed.num_rows + len(added)
            added.append(add)
    changed = pa.concat_tables([disputed, _table(added)], promote_options="default")
    changed = changed.take(pa.array(live.values(), pa.int64()))
    untouched = known.filter(pc.invert(is_mentioned)) if disputed.num_rows else known
    return pa.concat_tables([untouched, changed], promote_options="default")


def _key(path: str, vector: DeletionVector | None) -> Key:
    if vector is None:
        return path, None
    offset = "" if vector.offset is None else f"@{vector.offset}"
    return path, f"{vector.storage_type}{vector.path_or_inline_dv}{offset}"


def _keys(files: pa.Table) -> Iterable[Key]:
    vectors = files["deletion_vector"]
    if vectors.null_count == len(vectors):
        return ((path, None) for path in files["path"].to_pylist())
    parsed = (None if row is None else DeletionVector(**row) for row in vectors.to_pylist())
    return (_key(path, vector) for path, vector in zip(files["path"].to_pylist(), parsed, strict=True))


def _table(added: list[AddFile]) -> pa.Table:
    return pa.table(
        [
            pa.array([add.path for add in added], pa.string()),
            pa.array([list(add.partition_values.items()) for add in added], SCHEMA.field(1).type),
            pa.array([add.size for add in added], pa.int64()),
            pa.array([add.modification_time for add in added], pa.int64()),
            pa.array([add.stats for add in added], pa.string()),
            pa.array([_row(add.deletion_vector) for add in added], VECTOR),
            pa.array([add.base_row_id for add in added], pa.int64()),
            pa.array([add.default_row_commit_version for add in added], pa.int64()),
        ],
        schema=SCHEMA,
    )


def _row(vector: DeletionVector | None) -> dict[str, str | int | None] | None:
    if vector is None:
        return None
    return {name: getattr(vector, name) for name in vector.__struct_fields__}
