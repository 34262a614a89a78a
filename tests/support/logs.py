"""Logs made by hand in every form: checkpoints of all kinds, and a small table of sales on top of one."""

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

import headgate
from headgate.protocol.actions import (
    Action,
    AddFile,
    CommitInfo,
    DeletionVector,
    EpochMillis,
    RemoveFile,
    Sidecar,
    Version,
)
from headgate.protocol.log import codec, file_names
from headgate.storage.locate import locate
from headgate.storage.store import Store
from headgate.table.opened_table import OpenedTable
from tests.support import handmade
from tests.support.commits import PROTOCOL, add, metadata
from tests.support.handmade import column
from tests.unit.table.read.test_checkpoint_reader import ACTIONS, PROTOCOL_ROW, STATS, V10, Row, file_row, put

CLASSIC = f"{V10}.checkpoint.parquet"
METADATA_ROW: Row = {
    "metaData": {
        "id": "t", "format": {"provider": "parquet", "options": {}}, "partitionColumns": [],
        "schemaString": metadata().schema_string, "configuration": {},
    }
}  # fmt: skip
HEAD = [PROTOCOL_ROW, METADATA_ROW]
VECTOR = pa.struct(
    [
        ("storageType", pa.string()), ("pathOrInlineDv", pa.string()), ("offset", pa.int32()),
        ("sizeInBytes", pa.int32()), ("cardinality", pa.int64()),
    ]
)  # fmt: skip


def with_add_fields(*fields: pa.Field, without: str = "") -> pa.Schema:
    kept = [field for field in ACTIONS.field("add").type if field.name != without]
    return ACTIONS.set(ACTIONS.get_field_index("add"), pa.field("add", pa.struct([*kept, *fields])))


WITH_VECTORS = with_add_fields(pa.field("deletionVector", VECTOR))


def put_commits(store: Store, start: int, *commits: tuple[Action, ...]) -> None:
    for version, actions in enumerate(commits, start):
        store.put(file_names.published_path(Version(version)), codec.encode((CommitInfo(), *actions)))


def vector(path: str, offset: int | None = None) -> DeletionVector:
    return DeletionVector(
        storage_type="u", path_or_inline_dv=path, offset=offset, size_in_bytes=3, cardinality=2
    )


def added(path: str, deleted: DeletionVector | None = None, stats: str | None = None) -> AddFile:
    return AddFile(
        path=path, partition_values={"p": None, "q": path}, size=len(path), data_change=True,
        modification_time=EpochMillis(5), stats=stats, deletion_vector=deleted, base_row_id=7,
        default_row_commit_version=3,
    )  # fmt: skip


def removed(path: str, deleted: DeletionVector | None = None) -> RemoveFile:
    return RemoveFile(path=path, data_change=True, deletion_vector=deleted)


def classic(store: Store) -> None:
    txns: list[Row] = [{"txn": {"appId": "etl", "version": 4}}, {"remove": {"path": "gone"}}]
    put(store, CLASSIC, [file_row("a"), *txns, *HEAD, file_row("b"), file_row("c")])


def multipart(store: Store) -> None:
    parts = [f"{V10}.checkpoint.{part:010d}.0000000003.parquet" for part in (1, 2, 3)]
    put(store, parts[0], [file_row("a"), file_row("b")])
    put(store, parts[1], [PROTOCOL_ROW, file_row("c")])
    put(store, parts[2], [METADATA_ROW])


def v2(ending: str) -> Callable[[Store], None]:
    def build(store: Store) -> None:
        main = f"{V10}.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.{ending}"
        put(store, file_names.SIDECAR_FOLDER + "one file.parquet", [file_row("a"), file_row("b")])
        put(store, file_names.SIDECAR_FOLDER + "two.parquet", [file_row("c")])
        sidecars = [
            Sidecar(path="one%20file.parquet", size_in_bytes=100),
            Sidecar(path=file_names.SIDECAR_FOLDER + "two.parquet", size_in_bytes=100),
        ]
        if ending == "json":
            lines = [
                b'{"sidecar":{"path":"%s","sizeInBytes":100}}\n' % found.path.encode() for found in sidecars
            ]
            store.put(main, codec.encode((PROTOCOL, metadata(), add("d", STATS))) + b"".join(lines))
        else:
            named = [{"sidecar": {"path": found.path, "sizeInBytes": 100}} for found in sidecars]
            put(store, main, [PROTOCOL_ROW, *named, METADATA_ROW, file_row("d")])

    return build


def bare(store: Store) -> None:
    fields = pa.struct([("path", pa.string()), ("size", pa.int64())])
    schema = pa.schema([ACTIONS.field("protocol"), ACTIONS.field("metaData"), ("add", fields)])
    put(store, CLASSIC, [*HEAD, {"add": {"path": "a", "size": 1}}], schema)


def empty(store: Store) -> None:
    put(store, CLASSIC, HEAD)


def vectors(store: Store) -> None:
    real = {"storageType": "u", "pathOrInlineDv": "x", "offset": 1, "sizeInBytes": 3, "cardinality": 2}
    rows = [
        file_row("a", deletionVector=dict.fromkeys(real)),
        file_row("b"),
        file_row("c", deletionVector=real),
        file_row("d", deletionVector={**real, "offset": None}),
    ]
    put(store, CLASSIC, [*HEAD, *rows], WITH_VECTORS)


def no_checkpoint(store: Store) -> None:
    put_commits(
        store, 0, (PROTOCOL, metadata(), added("a"), added("b")), *[(added(str(n)),) for n in range(10)]
    )


def compacted(store: Store) -> None:
    """With a compaction that removes and adds one file, so that nobody can use it."""
    classic(store)
    lines = codec.encode((removed("a"), added("x"), added("y", vector("1")), removed("x")))
    store.put(f"_delta_log/{11:020d}.{12:020d}.compacted.json", lines)


CHECKPOINTS: dict[str, Callable[[Store], None]] = {
    "classic": classic, "multipart": multipart, "v2 json": v2("json"), "v2 parquet": v2("parquet"),
    "bare columns": bare, "no files": empty, "deletion vectors": vectors, "none": no_checkpoint,
    "compacted": compacted,
}  # fmt: skip


def checkpoint(store: Store, log: OpenedTable, version: int) -> None:
    """The classic checkpoint of a version, by hand."""
    fields = [field.name for field in VECTOR]
    rows = [
        file_row(
            row["path"],
            partitionValues=dict(row["partition_values"]),
            size=row["size"],
            stats=row["stats"],
            deletionVector=row["deletion_vector"]
            and dict(zip(fields, row["deletion_vector"].values(), strict=True)),
        )
        for row in log.snapshot(version=version).files.columns.to_pylist()
    ]  # fmt: skip
    put(store, f"_delta_log/{version:020d}.checkpoint.parquet", [*HEAD, *rows], WITH_VECTORS)


def sold(place: Path, number: int) -> AddFile:
    ids = pa.array(range(number * 10, number * 10 + 10), pa.int64())
    bounds = f'"minValues":{{"id":{ids[0]}}},"maxValues":{{"id":{ids[-1]}}},"nullCount":{{"id":0}}'
    return handmade.data_file(
        place,
        f"{number}.parquet",
        pa.table({"id": ids}),
        partition_values={"day": f"2026-01-0{1 + number % 3}"},
        stats=f'{{"numRecords":10,{bounds}}}',
    )


def sales(place: Path, *, parsed: bool = False) -> None:
    """Twelve files of three days; eight are in a checkpoint, and the first of these is gone in the end."""
    columns = [column("id", "long"), column("day", "date")]
    adds = [sold(place, number) for number in range(12)]
    handmade.write_log(place, columns, adds[:8], partitioned_by=["day"])
    store, found = locate(str(place)), headgate.at_path(place).log.snapshot().state.metadata
    rows = [
        file_row(one.path, partitionValues=dict(one.partition_values), size=one.size, stats=one.stats)
        for one in adds[:8]
    ]
    schema = ACTIONS
    if parsed:
        ids = pa.struct([("id", pa.int64())])
        kinds = pa.struct(
            [("numRecords", pa.int64()), ("minValues", ids), ("maxValues", ids), ("nullCount", ids)]
        )
        schema = with_add_fields(pa.field("stats_parsed", kinds), without="stats")
        for row in rows:
            row["add"]["stats_parsed"] = json.loads(row["add"].pop("stats"))
    head: list[Row] = [
        {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
        {
            "metaData": {
                **METADATA_ROW["metaData"],
                "schemaString": found.schema_string,
                "partitionColumns": ["day"],
            }
        },
    ]
    put(store, f"_delta_log/{0:020d}.checkpoint.parquet", [*head, *rows], schema)
    put_commits(store, 1, tuple(adds[8:]), (removed("0.parquet"),))
