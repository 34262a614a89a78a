"""Lakes of very many tables, versions and files, made without writing each of them the long way."""

import hashlib
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from uuid import UUID

import msgspec

import headgate
from headgate.catalog.targets import DATABASE_FILE
from headgate.protocol.actions import AddFile, DeletionVector, Version
from headgate.protocol.log import deletion_vectors, file_names
from headgate.protocol.log.deletion_vectors import DeletedRows, StoredVector
from headgate.table.read import live_files
from tests.support.tables import append_change

ROWS_OF_A_FILE = 100
REAL_FILES = 4
"""So many at both ends of very many files are there, so that some rows can be read; and of those that are
read first, as a large checkpoint has them in another order."""
_WITHOUT_CHECKPOINT = 10
"""Versions between two checkpoints, as a table has them by default; only some of them are written here."""
_WHOLE, _EVERY = 100, 10
"""But for so many at both ends one of so many files has deleted rows."""
_DELETED = tuple(DeletedRows.from_rows(range(number + 1)) for number in range(ROWS_OF_A_FILE))
_VECTORS = UUID("d2c639aa-8816-431a-aaf6-d3fe2512ff61")
"""The file of all deletion vectors, each of which is used by many files."""


def multiply_tables(folder: Path, count: int) -> None:
    """Have a lake's database list so many more tables, which look like the first one there is.

    Their events are told of as far as they go, as those of tables that nobody writes at the moment are.
    """
    with closing(sqlite3.connect(folder / DATABASE_FILE)) as db, db:
        first = dict(_first_row(db, "SELECT * FROM tables WHERE state = 'live' ORDER BY table_name LIMIT 1"))
        names = ", ".join(first)
        values = ", ".join("?" for _ in first)
        rows = [tuple((first | _copy(n)).values()) for n in range(count)]
        db.executemany(f"INSERT INTO tables ({names}) VALUES ({values})", rows)
        marks = [(_copy(n)["table_id"], first["latest"]) for n in range(count)]
        db.executemany("INSERT INTO event_marks (table_id, version) VALUES (?, ?)", marks)


def _copy(number: int) -> dict[str, str]:
    table_id = f"{number:08}-0000-4000-8000-000000000000"
    return {"table_id": table_id, "location": table_id, "table_name": f"t_{number:06}"}


def multiply_versions(folder: Path, name: str, count: int) -> None:
    """Give a table so many more versions, each of which writes the file of its last one again."""
    with headgate.connect(folder) as lake:
        lake.table(name).publish()
        log = Path(lake.table(name).location)
    with closing(sqlite3.connect(folder / DATABASE_FILE)) as db, db:
        mine = (log.name,)
        wanted = "SELECT * FROM commits WHERE table_id = ? ORDER BY version DESC LIMIT 1"
        last = dict(_first_row(db, wanted, mine))
        path = file_names.published_path(Version(last["version"]))
        lines = Path(log, path).read_bytes().splitlines()
        rows = [_written_again(log, last, lines, number) for number in range(1, count + 1)]
        names, values = ", ".join(last), ", ".join("?" for _ in last)
        db.executemany(
            f"INSERT INTO commits ({names}) VALUES ({values})", [tuple(row.values()) for row in rows]
        )
        end, stamp = rows[-1]["version"], rows[-1]["in_commit_timestamp"]
        db.execute(
            "UPDATE tables SET latest = ?, published = ?, latest_timestamp = ? WHERE table_id = ?",
            (end, end, stamp, *mine),
        )
    with headgate.connect(folder) as lake:
        for version in (end // 2, end - _WITHOUT_CHECKPOINT, end):
            lake.table(name).log.checkpoint(version=version)


def _written_again(log: Path, last: dict[str, Any], lines: list[bytes], number: int) -> dict[str, Any]:
    """One more version in the log; what the catalog remembers of it."""
    version, stamp = last["version"] + number, last["in_commit_timestamp"] + number
    info = msgspec.json.decode(lines[0])
    info["commitInfo"] |= {"inCommitTimestamp": stamp, "txnId": f"many-{number}"}
    content = b"\n".join((msgspec.json.encode(info), *lines[1:])) + b"\n"
    Path(log, file_names.published_path(Version(version))).write_bytes(content)
    row = last | {"version": version, "txn_id": f"many-{number}", "in_commit_timestamp": stamp}
    return row | {"size": len(content), "sha256": hashlib.sha256(content).hexdigest(), "content": None}


def multiply_files(folder: Path, name: str, count: int) -> None:
    """Add so many files to a table of one file, which has ids and deletion vectors; and write a checkpoint.

    Some of them are there and have the ``ROWS_OF_A_FILE`` of that one file; the others are named only. All
    deletion vectors are there, because which files are read first is up to the checkpoint.
    """
    content, vectors = deletion_vectors.encode_file(_DELETED, _VECTORS)
    with headgate.connect(folder) as lake:
        log = lake.table(name).log
        place = deletion_vectors.vector_location(vectors[0])
        assert isinstance(place, StoredVector)
        log.store.put(place.path, content)
        [first] = live_files.table_as_adds(log.snapshot().files.columns)
        for number in (*range(REAL_FILES), *range(count - REAL_FILES, count)):
            shutil.copy(Path(log.location, unquote(first.path)), Path(log.location, f"many-{number}.parquet"))
        adds = tuple(_add(number, first, count, vectors) for number in range(count))
        log.commit(append_change(*adds), base=log.snapshot())
        log.checkpoint()
    with headgate.connect(folder) as lake:
        log = lake.table(name).log
        for path in log.snapshot().files.without_stats["path"][:REAL_FILES].to_pylist():
            if not (there := Path(log.location, unquote(path))).exists():
                shutil.copy(Path(log.location, unquote(first.path)), there)


def _add(number: int, first: AddFile, count: int, vectors: Sequence[DeletionVector]) -> AddFile:
    """A file like the first one, or larger, in one of fifty partitions if there are any."""
    from_end = min(number, count - 1 - number)
    at = number % 50
    return msgspec.structs.replace(
        first,
        path=f"many-{number}.parquet",
        partition_values={column: f"{day}{at or ''}" for column, day in first.partition_values.items()},
        size=first.size if from_end < REAL_FILES else first.size + number,
        stats=(
            f'{{"numRecords":{ROWS_OF_A_FILE},"minValues":{{"id":{number}}},'
            f'"maxValues":{{"id":{number + number % 7}}},"nullCount":{{"id":0}},"tightBounds":false}}'
        ),
        deletion_vector=None if from_end < _WHOLE or number % _EVERY else vectors[number % ROWS_OF_A_FILE],
    )


def _first_row(db: sqlite3.Connection, query: str, values: tuple[object, ...] = ()) -> sqlite3.Row:
    db.row_factory = sqlite3.Row
    row: sqlite3.Row = db.execute(query, values).fetchone()
    return row
