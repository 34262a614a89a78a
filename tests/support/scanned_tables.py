"""Small tables, each with one thing that makes a scan differ."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

import headgate
from headgate import Table
from headgate.protocol.actions import AddFile
from headgate.protocol.log import deletion_vectors
from headgate.protocol.log.deletion_vectors import DeletedRows
from tests.support.handmade import array, column, data_file, field, mapped, struct, write_log

FILES = 10
_NAME = [mapped("id", "long", 1, "p.1"), mapped("s", struct(mapped("x y", "long", 3, "px")), 2, "p2")]


def stats(low: Any, high: Any, *path: str, count: int = 10) -> str:
    for name in reversed(path):
        low, high = {name: low}, {name: high}
    return msgspec.json.encode({"numRecords": count, "minValues": low, "maxValues": high}).decode()


def tens(first: int) -> pa.Array:
    return pa.array(range(first, first + 10), pa.int64())


def plain(location: Path, **rest: Any) -> Table:
    """Ids 0 to 99 in ten files, with texts and statistics of the ids."""
    adds = [_ten(location, n, **rest) for n in range(FILES)]
    write_log(location, [column("id", "long"), column("s", "string")], adds, features=["deletionVectors"])
    return headgate.at_path(location)


def _ten(location: Path, n: int, **rest: Any) -> AddFile:
    data = pa.table({"id": tens(10 * n), "s": [f"s{i}" for i in range(10)]})
    return data_file(location, f"{n}.parquet", data, stats=stats(10 * n, 10 * n + 9, "id"), **rest)


def empty(location: Path) -> Table:
    write_log(location, [column("id", "long")], [])
    return headgate.at_path(location)


def partitioned(location: Path) -> Table:
    names = {
        "i": ("integer", "1"), "d": ("date", "2024-02-29"), "t": ("timestamp", "2024-02-29 12:00:00.5"),
        "n": ("decimal(10,2)", "1.50"), "b": ("boolean", "true"), "s": ("string", "it's ü/%"),
    }  # fmt: skip
    values = [{name: text for name, (_, text) in names.items()}, dict.fromkeys(names)]
    adds = [
        data_file(location, f"{n}.parquet", pa.table({"id": tens(10 * n)}), partition_values=value)
        for n, value in enumerate(values)
    ]
    columns = [column("id", "long"), *(column(name, kind) for name, (kind, _) in names.items())]
    write_log(location, columns, adds, partitioned_by=list(names))
    return headgate.at_path(location)


def with_vectors(location: Path) -> Table:
    """Fifty rows in five files, of which four have a vector: two rows, none, all and one beyond the end."""
    return _hiding(location, [None, [0, 9], [], range(10), [70]])


def with_few_vectors(location: Path) -> Table:
    """Fifty rows in five files, of which one has a vector."""
    return _hiding(location, [None, None, [3, 4], None, None])


def _hiding(location: Path, deleted: Sequence[Iterable[int] | None]) -> Table:
    adds = [
        _ten(
            location,
            n,
            vector=None if gone is None else deletion_vectors.encode_inline(DeletedRows.from_rows(gone)),
        )
        for n, gone in enumerate(deleted)
    ]
    write_log(location, [column("id", "long"), column("s", "string")], adds, features=["deletionVectors"])
    return headgate.at_path(location)


def by_name(location: Path) -> Table:
    inner = pa.StructArray.from_arrays([tens(0)], names=["px"])
    adds = [
        data_file(
            location, f"{n}.parquet", pa.table({"p.1": tens(10 * n), "p2": inner, "id": tens(500)}),
            stats=stats(10 * n, 10 * n + 9, "p.1"), partition_values={},
        )
        for n in range(3)
    ]  # fmt: skip
    write_log(location, _NAME, adds, features=["columnMapping"], delta_columnMapping_mode="name")
    return headgate.at_path(location)


def by_id(location: Path) -> Table:
    adds = []
    for n, name in enumerate(["a", "b", "a"]):
        data = pa.table(
            [tens(10 * n), tens(500)], pa.schema([field(name, pa.int64(), 1), ("p.1", pa.int64())])
        )
        adds.append(data_file(location, f"{n}.parquet", data, stats=stats(10 * n, 10 * n + 9, "p.1")))
    write_log(location, _NAME[:1], adds, features=["columnMapping"], delta_columnMapping_mode="id")
    return headgate.at_path(location)


def tracked(location: Path) -> Table:
    moved = pa.table({"id": tens(0), "_mid": [4, *[None] * 9], "_mver": [1, *[None] * 9]})
    adds = [
        data_file(location, "a.parquet", pa.table({"id": tens(10)}), base_row_id=0,
                  default_row_commit_version=2,
                  vector=deletion_vectors.encode_inline(DeletedRows.from_rows([1]))),
        data_file(location, "b.parquet", moved, base_row_id=100, default_row_commit_version=5),
    ]  # fmt: skip
    write_log(
        location, [column("id", "long")], adds,
        features=["deletionVectors"], writers=["rowTracking", "domainMetadata"],
        delta_enableRowTracking="true",
        delta_rowTracking_materializedRowIdColumnName="_mid",
        delta_rowTracking_materializedRowCommitVersionColumnName="_mver",
    )  # fmt: skip
    return headgate.at_path(location)


def nested(location: Path) -> Table:
    values = [{"x": 1, "l": [1, None]}, None, {"x": None, "l": None}]
    kind = pa.struct([("x", pa.int64()), ("l", pa.list_(pa.int64()))])
    add = data_file(location, "a b%25 ü#.parquet", pa.table({"id": [1, 2, 3], "s": pa.array(values, kind)}))
    add = msgspec.structs.replace(add, path="a%20b%2525%20%C3%BC%23.parquet")
    inner = struct(column("x", "long"), column("l", array("long")), column("late", "string"))
    write_log(location, [column("id", "long"), column("s", inner)], [add])
    return headgate.at_path(location)


TABLES: Mapping[str, tuple[Callable[[Path], Table], int]] = {
    "plain": (plain, 100),
    "empty": (empty, 0),
    "partitioned by several types": (partitioned, 20),
    "deletion vectors": (with_vectors, 38),
    "deletion vectors in few files": (with_few_vectors, 48),
    "column mapping by name": (by_name, 30),
    "column mapping by id": (by_id, 30),
    "row tracking": (tracked, 19),
    "nested, under an odd name": (nested, 3),
}
"""Each with how many rows it has; all have a column ``id``."""
