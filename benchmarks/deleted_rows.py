"""The files of a table once more, each with a deletion vector."""

import os
import random
from pathlib import Path
from uuid import UUID

import msgspec
import pyarrow.parquet as pq

import headgate
from headgate import Table
from headgate.protocol.actions import AddFile, DeletionVector, EpochMillis
from headgate.protocol.log import deletion_vectors
from headgate.protocol.log.deletion_vectors import DeletedRows, StoredVector
from tests.support import handmade

_DELETED = 0.05
_VECTORS = UUID("12345678-1234-4234-8234-123456789abc")


def from_every_file(source: Table, location: Path) -> Table:
    """The same files, as links, each with one row in twenty deleted; all vectors are in one file."""
    files = [Path(path) for path in paths(source)]
    chosen = random.Random(0)
    gone = []
    for path in files:
        count = pq.read_metadata(path).num_rows
        gone.append(DeletedRows.from_rows(chosen.sample(range(count), int(count * _DELETED))))
    content, found = deletion_vectors.encode_file(gone, _VECTORS)
    location.mkdir()
    adds = [
        link(path, location, f"{number}.parquet", vector)
        for number, (path, vector) in enumerate(zip(files, found, strict=True))
    ]
    where = deletion_vectors.vector_location(found[0])
    assert isinstance(where, StoredVector)
    (location / where.path).write_bytes(content)
    columns = msgspec.json.decode(source.log.snapshot().state.metadata.schema_string)["fields"]
    handmade.write_log(location, columns, adds, features=["deletionVectors"])
    return headgate.at_path(location)


def paths(table: Table) -> list[str]:
    """Where the live files of a table are."""
    files = table.log.snapshot().files.without_stats
    return [f"{table.location}/{path}" for path in files["path"].to_pylist()]


def live_rows(table: Table) -> int:
    """How many rows its files have, those that vectors delete left out."""
    files = table.log.snapshot().files.without_stats
    vectors_of = [vector for vector in files["deletion_vector"].to_pylist() if vector]
    stored = sum(pq.read_metadata(path).num_rows for path in paths(table))
    return stored - sum(vector["cardinality"] for vector in vectors_of)


def link(
    source: Path, location: Path, name: str, vector: DeletionVector | None = None, stats: str | None = None
) -> AddFile:
    """An add action for one more name of a file."""
    os.link(source, location / name)
    return AddFile(
        path=name,
        partition_values={},
        size=source.stat().st_size,
        modification_time=EpochMillis(1),
        data_change=True,
        deletion_vector=vector,
        stats=stats,
    )
