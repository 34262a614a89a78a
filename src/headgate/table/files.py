"""The live files of a table, as Arrow columns."""

from collections.abc import Iterable

import pyarrow as pa

from headgate.protocol.actions import AddFile, Commit, DeletionVector

_VECTOR = pa.struct(
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
        ("deletion_vector", _VECTOR),
    ]
)


class LiveFiles:
    """The files of one version; immutable. The columns are made when first asked for.

    So a writer that only appends never pays for the files others added.
    """

    __slots__ = ("_columns", "_commit", "_parent")

    def __init__(self, parent: "LiveFiles | None" = None, commit: Commit | None = None) -> None:
        self._parent = parent
        self._commit = commit
        self._columns: pa.Table | None = SCHEMA.empty_table() if parent is None else None

    def after(self, commit: Commit) -> "LiveFiles":
        """The live files once ``commit`` is applied."""
        return LiveFiles(self, commit)

    @property
    def columns(self) -> pa.Table:
        """One row per live file, in the order they were added."""
        if self._columns is None:
            self._columns = self._replay()
            self._parent = self._commit = None
        return self._columns

    def _replay(self) -> pa.Table:
        pending: list[Commit] = []
        node: LiveFiles = self
        while (known := node._columns) is None:
            parent, commit = node._parent, node._commit
            if parent is None or commit is None:  # another thread has just finished this node
                continue
            pending.append(commit)
            node = parent
        return reconcile(known, reversed(pending))


def reconcile(known: pa.Table, commits: Iterable[Commit]) -> pa.Table:
    """The live files after ``commits``, oldest first, on top of ``known``."""
    live = {key: row for row, key in enumerate(_keys(known))}
    added: list[AddFile] = []
    for commit in commits:
        for remove in commit.removes:
            live.pop(_key(remove.path, remove.deletion_vector), None)
        for add in commit.adds:
            live.pop(_key(add.path, add.deletion_vector), None)
            live[_key(add.path, add.deletion_vector)] = known.num_rows + len(added)
            added.append(add)
    columns = pa.concat_tables([known, _table(added)])
    return columns.take(pa.array(live.values(), pa.int64()))


def _key(path: str, vector: DeletionVector | None) -> tuple[str, str | None]:
    if vector is None:
        return path, None
    offset = "" if vector.offset is None else f"@{vector.offset}"
    return path, f"{vector.storage_type}{vector.path_or_inline_dv}{offset}"


def _keys(files: pa.Table) -> Iterable[tuple[str, str | None]]:
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
            pa.array([_row(add.deletion_vector) for add in added], _VECTOR),
        ],
        schema=SCHEMA,
    )


def _row(vector: DeletionVector | None) -> dict[str, str | int | None] | None:
    if vector is None:
        return None
    return {name: getattr(vector, name) for name in vector.__struct_fields__}
