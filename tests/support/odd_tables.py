"""Tables as other writers leave them, legal or not, whose rows are plain all the same; each made by hand."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import headgate
from headgate.table.opened_table import OpenedTable
from headgate.table.read import file_paths
from tests.support.handmade import column, struct

Line = dict[str, Any]
STRING = pa.string()
FIVE = tuple(range(5))
PROTOCOL: Line = {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}


@dataclass(frozen=True)
class OddTable:
    """What is odd about it, the ids of its rows, and how to make it in a folder."""

    name: str
    ids: tuple[int, ...]
    make: Callable[[Path], None]


def metadata(*columns: Line, **configuration: Any) -> Line:
    """The metaData of a table with a column ``id``, and perhaps more."""
    schema = json.dumps(struct(column("id", "long"), *columns))
    return {
        "metaData": {
            "id": "00000000-0000-4000-8000-000000000000", "format": {"provider": "parquet", "options": {}},
            "schemaString": schema, "partitionColumns": [],
            "configuration": {key.replace("_", "."): value for key, value in configuration.items()},
        }
    }  # fmt: skip


def data(place: Path, name: str, ids: Iterable[int], *, path: str | None = None, **more: Any) -> Line:
    """A data file with these ids, and its add, under this path or the file's name."""
    file = place / name
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"id": pa.array(ids, pa.int64())}), file)
    facts = {"partitionValues": {}, "size": file.stat().st_size, "modificationTime": 1, "dataChange": True}
    return {"add": {"path": name if path is None else path, **facts, **more}}


def gone(path: str) -> Line:
    """A remove."""
    return {"remove": {"path": path, "dataChange": True, "deletionTimestamp": 4_102_444_800_000}}


def put_lines(place: Path, name: str, lines: Sequence[Line]) -> None:
    """A file of the log."""
    file = place / "_delta_log" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))


def put_commits(place: Path, *commits: Sequence[Line], start: int = 0) -> None:
    """Consecutive versions."""
    for version, lines in enumerate(commits, start):
        put_lines(place, f"{version:020d}.json", lines)


def compact(place: Path, start: int, end: int, *lines: Line) -> None:
    """A compaction."""
    put_lines(place, f"{start:020d}.{end:020d}.compacted.json", lines)


def ids_of(log: OpenedTable, version: int | None = None) -> tuple[int, ...]:
    """The ids of all rows, sorted, read without Spark."""
    found: list[int] = []
    snapshot = log.snapshot(version=version)
    for path in snapshot.files.without_stats["path"].to_pylist():
        store, inside = file_paths.locate_object(log.store, log.location, path)
        found += pq.read_table(pa.BufferReader(store.read(inside)))["id"].to_pylist()
    return tuple(sorted(found))


def in_process(place: Path) -> tuple[int, ...]:
    """The same of the table in a folder."""
    return ids_of(headgate.at_path(str(place)).log)


def compacted(*wrong: str) -> Callable[[Path], None]:
    """Thirty rows come and go, five stay; the compaction says this with more or other words."""

    def make(place: Path) -> None:
        put_commits(place, [PROTOCOL, metadata()])
        many, few = data(place, "many.parquet", range(30)), data(place, "few.parquet", range(5))
        txns = [{"txn": {"appId": "etl", "version": version}} for version in (1, 2)]
        domains = [
            {"domainMetadata": {"domain": "d", "configuration": text, "removed": False}} for text in "ab"
        ]
        says = {
            "remove-add": [gone("many.parquet"), many, few], "add-remove": [many, gone("many.parquet"), few],
            "twice": [gone("many.parquet"), few, few], "txns": [*txns[::-1], gone("many.parquet"), few],
            "domains": [*domains[::-1], gone("many.parquet"), few],
            "metadata": [metadata(), {"metaData": {}}, gone("many.parquet"), few],
        }  # fmt: skip
        put_commits(
            place, [txns[0], domains[0], many], [txns[1], domains[1], gone("many.parquet"), few], start=1
        )
        for what in wrong:
            compact(place, 1, 2, *says[what])

    return make


def _damaged_compaction(place: Path) -> None:
    compacted("twice")(place)
    (place / "_delta_log" / f"{1:020d}.{2:020d}.compacted.json").write_bytes(b'{"add":{"path"\xff')


def respelled(added: str, removed: str) -> Callable[[Path], None]:
    """A file comes under one spelling of its path and goes under another; ``$`` is the table's folder."""

    def make(place: Path) -> None:
        add = data(place, "x y.parquet", range(30), path=added.replace("$", str(place)))
        put_commits(place, [PROTOCOL, metadata(), add, data(place, "few.parquet", range(5))])
        put_commits(place, [gone(removed.replace("$", str(place)))], start=1)

    return make


TEXTS = pa.map_(pa.string(), pa.string())


def checkpointed(
    text: pa.DataType = STRING, *, adds: Sequence[str] = ("few.parquet",), listed: Any = pa.list_
) -> Callable[[Path], None]:
    """Five rows, of which only a checkpoint knows, whose texts have this type of Arrow."""

    def make(place: Path) -> None:
        lines = [PROTOCOL, metadata(), data(place, "few.parquet", range(5))]
        kind = pa.struct([("path", text), ("partitionValues", TEXTS), ("size", pa.int64()),
                          ("modificationTime", pa.int64()), ("dataChange", pa.bool_())])  # fmt: skip
        files = [{"add": {**lines[2]["add"], "path": path}} for path in adds]
        put_checkpoint(place, [lines[0], lines[1], *files], text, kind, listed)
        put_commits(place, [{"commitInfo": {}}], start=1)

    return make


def put_checkpoint(
    place: Path, rows: Sequence[Line], text: pa.DataType, add: pa.DataType, listed: Any = pa.list_
) -> None:
    """The checkpoint of version 0."""
    schema = pa.schema(
        {
            "protocol": pa.struct([("minReaderVersion", pa.int32()), ("minWriterVersion", pa.int32())]),
            "metaData": pa.struct([
                ("id", text), ("schemaString", text), ("partitionColumns", listed(pa.string())),
                ("format", pa.struct([("provider", pa.string()), ("options", TEXTS)])),
                ("configuration", TEXTS),
            ]),
            "add": add,
        }
    )  # fmt: skip
    log = place / "_delta_log"
    log.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), log / f"{0:020d}.checkpoint.parquet")


def with_lines(*first: Line, **more: Any) -> Callable[[Path], None]:
    """Five rows in a file whose add says more, behind these lines."""

    def make(place: Path) -> None:
        put_commits(place, [*first], [metadata(), data(place, "few.parquet", range(5), **more)])

    return make


def with_columns(*columns: Line) -> Callable[[Path], None]:
    """Five rows of a table with more columns than its file has."""

    def make(place: Path) -> None:
        put_commits(place, [PROTOCOL, metadata(*columns), data(place, "few.parquet", range(5))])

    return make


def named(name: str) -> Callable[[Path], None]:
    """Five rows in a file of this name."""

    def make(place: Path) -> None:
        put_commits(place, [PROTOCOL, metadata(), data(place, name, range(5))])

    return make


ANY_JSON = {
    "a": [1, "a"],
    "b": [[1], None],
    "c": {"d": [True, 2]},
    "e": 2**70,
    "f": None,
    "g": [{"h": [1, "x"]}],
}
ODD_INFO = {"commitInfo": {"operation": {"x": 1}, "tags": 5}}
NO_SCHEMA = {"metaData": {"id": "x", "format": {"provider": "parquet"}, "partitionColumns": []}}


ODD_TABLES: tuple[OddTable, ...] = (
    OddTable("a compaction removes and adds one file", FIVE, compacted("remove-add")),
    OddTable("a compaction adds and removes one file", FIVE, compacted("add-remove")),
    OddTable("a compaction adds a file twice", FIVE, compacted("twice")),
    OddTable("a compaction has two versions of an application", FIVE, compacted("txns")),
    OddTable("a compaction has a domain twice", FIVE, compacted("domains")),
    OddTable("a compaction has metaData twice", FIVE, compacted("metadata")),
    OddTable("a compaction is damaged", FIVE, _damaged_compaction),
    OddTable("a file is added as /x and removed as file:///x", FIVE,
             respelled("$/x%20y.parquet", "file://$/x%20y.parquet")),
    OddTable("a file is added as file:///x and removed as file:/x", FIVE,
             respelled("file://$/x%20y.parquet", "file:$/x%20y.parquet")),
    OddTable("a file is added encoded and removed encoded otherwise", FIVE,
             respelled("x%20y.parquet", "%78%20y.parquet")),
    OddTable("a file is removed by a way around", FIVE,
             respelled("x%20y.parquet", "./a/..//x%20y.parquet")),
    OddTable("a checkpoint has views of texts", FIVE, checkpointed(pa.string_view())),
    OddTable("a checkpoint has large texts", FIVE, checkpointed(pa.large_string())),
    OddTable("a checkpoint has texts in a dictionary", FIVE,
             checkpointed(pa.dictionary(pa.int32(), pa.string()))),
    OddTable("a checkpoint has bytes for texts", FIVE, checkpointed(pa.binary_view())),
    OddTable("a checkpoint has large lists", FIVE, checkpointed(listed=pa.large_list)),
    OddTable("a checkpoint adds a file twice", FIVE, checkpointed(adds=["few.parquet", "few.parquet"])),
    OddTable("metaData without a schema is superseded", FIVE, with_lines(PROTOCOL, metadata(), NO_SCHEMA)),
    OddTable("a protocol that is none is superseded", FIVE,
             with_lines({"protocol": {"minReaderVersion": "1"}}, PROTOCOL, metadata())),
    OddTable("commitInfo is any JSON", FIVE,
             with_lines({"commitInfo": [1, "a"]}, ODD_INFO, PROTOCOL, metadata())),
    OddTable("the metadata of a column has any JSON", FIVE,
             with_columns({"name": "c", "type": "string", "nullable": True, "metadata": ANY_JSON})),
    OddTable("the metadata of a column is a list", FIVE,
             with_columns({"name": "c", "type": "string", "nullable": True, "metadata": [1, "a"]})),
    OddTable("statistics are no statistics", FIVE, with_lines(PROTOCOL, metadata(), stats="[1, null]")),
    OddTable("statistics are of other types than columns", FIVE,
             with_lines(PROTOCOL, metadata(), stats=json.dumps(
                 {"numRecords": "x", "minValues": {"id": [1]}, "maxValues": 7, "nullCount": {"id": {}}}))),
    OddTable("a data file begins with an underscore", FIVE, named("_few.parquet")),
    OddTable("a data file begins with a dot", FIVE, named(".few.parquet")),
    OddTable("a data file is in a folder with an underscore", FIVE, named("_folder/few.parquet")),
)  # fmt: skip
