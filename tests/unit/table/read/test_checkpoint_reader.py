"""Checkpoints made by hand, in every form that others write, each read whole and in ranges."""

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.errors import CorruptLog, StorageUnavailable
from headgate.protocol.actions import AppTransaction, Commit, CommitInfo, DomainMetadata, Sidecar, Version
from headgate.protocol.log import codec, file_names, replay
from headgate.protocol.log.replay import State
from headgate.table.committer import Frontier
from headgate.table.read import checkpoint_reader
from headgate.table.read.live_files import LiveFiles
from headgate.table.read.snapshot import Snapshot, load_snapshot
from tests.support.commits import PROTOCOL, add, commit, metadata, remove
from tests.support.faulty_store import DictStore

V10 = "_delta_log/00000000000000000010"
CLASSIC = f"{V10}.checkpoint.parquet"
TEXTS = pa.map_(pa.string(), pa.string())
STATS = '{"numRecords":3}'

Row = dict[str, Any]
PROTOCOL_ROW: Row = {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}
METADATA_ROW: Row = {
    "metaData": {
        "id": "t", "format": {"provider": "parquet", "options": {}}, "schemaString": "{}",
        "partitionColumns": [], "configuration": {"delta.appendOnly": "true"},
    }
}  # fmt: skip
ACTIONS = pa.schema(
    {
        "txn": pa.struct([("appId", pa.string()), ("version", pa.int64())]),
        "protocol": pa.struct([("minReaderVersion", pa.int32()), ("minWriterVersion", pa.int32())]),
        "metaData": pa.struct(
            [
                ("id", pa.string()),
                ("format", pa.struct([("provider", pa.string()), ("options", TEXTS)])),
                ("schemaString", pa.string()),
                ("partitionColumns", pa.list_(pa.string())),
                ("configuration", TEXTS),
            ]
        ),
        "add": pa.struct(
            [
                ("path", pa.string()),
                ("partitionValues", TEXTS),
                ("size", pa.int64()),
                ("modificationTime", pa.int64()),
                ("stats", pa.string()),
            ]
        ),
        "remove": pa.struct([("path", pa.string())]),
        "sidecar": pa.struct([("path", pa.string()), ("sizeInBytes", pa.int64())]),
    }
)


@pytest.fixture(params=["whole", "ranges"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "ranges":
        monkeypatch.setattr(checkpoint_reader, "WHOLE_READ_BYTES", 0)


def file_row(path: str, **more: Any) -> Row:
    facts = {"partitionValues": {"day": path}, "size": 7, "modificationTime": 5, "stats": STATS}
    return {"add": {"path": path, **facts, **more}}


def put(store: DictStore, path: str, rows: list[Row], schema: pa.Schema = ACTIONS) -> None:
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), buffer, row_group_size=3)
    store.put(path, buffer.getvalue())


def opened(store: DictStore, *paths: str) -> tuple[State, LiveFiles]:
    parsed = [file_names.parse(path, size=store.head(path).size) for path in paths]
    return checkpoint_reader.read_checkpoint(store, [part for part in parsed if part is not None])


def paths(files: LiveFiles) -> list[str]:
    return files.without_stats["path"].to_pylist()


def test_a_classic_checkpoint_has_state_and_files() -> None:
    store = DictStore()
    txns: list[Row] = [{"txn": {"appId": "etl", "version": 4}}, {"remove": {"path": "gone"}}]
    rows = [file_row("a"), *txns, METADATA_ROW, file_row("b"), PROTOCOL_ROW, file_row("c")]
    put(store, CLASSIC, rows)

    state, files = opened(store, CLASSIC)

    assert (state.version, state.protocol, state.txns["etl"].version) == (10, PROTOCOL, 4)
    assert state.metadata.configuration == {"delta.appendOnly": "true"}
    assert state.metadata.format.options == {}
    assert paths(files) == files.columns["path"].to_pylist() == ["a", "b", "c"]
    assert files.columns.to_pylist()[1] == {
        "path": "b", "partition_values": [("day", "b")], "size": 7, "modified_ms": 5, "stats": STATS,
        "deletion_vector": None, "base_row_id": None, "default_row_commit_version": None,
    }  # fmt: skip


def test_the_parts_of_a_checkpoint_are_one() -> None:
    store = DictStore()
    parts = [f"{V10}.checkpoint.{part:010d}.0000000003.parquet" for part in (1, 2, 3)]
    put(store, parts[0], [file_row("a"), file_row("b")])
    put(store, parts[1], [PROTOCOL_ROW, file_row("c")])
    put(store, parts[2], [METADATA_ROW])

    state, files = opened(store, *parts)

    assert state.protocol == PROTOCOL
    assert files.columns["path"].to_pylist() == ["a", "b", "c"]
    assert files.columns["stats"].to_pylist() == [STATS] * 3


@pytest.mark.parametrize("ending", ["json", "parquet"])
def test_a_v2_checkpoint_has_its_files_in_sidecars(ending: str) -> None:
    store = DictStore()
    main = f"{V10}.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.{ending}"
    put(store, file_names.SIDECAR_FOLDER + "one file.parquet", [file_row("a"), file_row("b")])
    put(store, "_delta_log/_sidecars/two.parquet", [file_row("c")])
    put(store, "_delta_log/_sidecars/three.parquet", [file_row("e")])
    sidecars = [
        Sidecar(path="one%20file.parquet", size_in_bytes=100),
        Sidecar(path="_delta_log/_sidecars/two.parquet", size_in_bytes=100),
        Sidecar(path="s3://lake/t/_delta_log/_sidecars/three.parquet", size_in_bytes=100),
    ]
    if ending == "json":
        lines = [b'{"sidecar":{"path":"%s","sizeInBytes":100}}\n' % found.path.encode() for found in sidecars]
        store.put(main, codec.encode((PROTOCOL, metadata(), add("d", STATS))) + b"".join(lines))
    else:
        named = [{"sidecar": {"path": found.path, "sizeInBytes": 100}} for found in sidecars]
        put(store, main, [PROTOCOL_ROW, *named, METADATA_ROW, file_row("d")])

    state, files = opened(store, main)

    assert state.protocol == PROTOCOL
    assert sorted(paths(files)) == sorted(files.columns["path"].to_pylist()) == ["a", "b", "c", "d", "e"]
    assert files.columns["stats"].to_pylist() == [STATS] * 5


def test_columns_that_are_not_there_are_null() -> None:
    store = DictStore()
    bare = pa.struct([("path", pa.string()), ("size", pa.int64())])
    schema = pa.schema([ACTIONS.field("protocol"), ACTIONS.field("metaData"), ("add", bare)])
    put(store, CLASSIC, [PROTOCOL_ROW, METADATA_ROW, {"add": {"path": "a", "size": 1}}], schema)

    state, files = opened(store, CLASSIC)

    assert (dict(state.txns), dict(state.domains)) == ({}, {})
    (row,) = files.columns.to_pylist()
    assert {name for name, value in row.items() if value is not None} == {"path", "size"}


def test_a_checkpoint_of_an_empty_table_has_no_files() -> None:
    store = DictStore()
    put(store, CLASSIC, [PROTOCOL_ROW, METADATA_ROW])

    _, files = opened(store, CLASSIC)

    assert (files.without_stats.num_rows, files.columns.num_rows) == (0, 0)


def test_an_empty_struct_is_no_deletion_vector() -> None:
    store = DictStore()
    vector = pa.struct(
        [
            ("storageType", pa.string()), ("pathOrInlineDv", pa.string()), ("offset", pa.int32()),
            ("sizeInBytes", pa.int32()), ("cardinality", pa.int64()),
        ]
    )  # fmt: skip
    fields = [*ACTIONS.field("add").type, pa.field("deletionVector", vector)]
    schema = ACTIONS.set(ACTIONS.get_field_index("add"), pa.field("add", pa.struct(fields)))
    real = {"storageType": "u", "pathOrInlineDv": "x", "offset": 1, "sizeInBytes": 3, "cardinality": 2}
    empty = dict.fromkeys(real)
    rows = [file_row("a", deletionVector=empty), file_row("b"), file_row("c", deletionVector=real)]
    put(store, CLASSIC, [PROTOCOL_ROW, METADATA_ROW, *rows], schema)

    _, files = opened(store, CLASSIC)

    found = files.columns["deletion_vector"].to_pylist()
    assert found[:2] == [None, None]
    assert found[2]["cardinality"] == 2


def test_a_deletion_vector_may_be_without_an_offset_but_nothing_else() -> None:
    parts = [("storageType", pa.string()), ("pathOrInlineDv", pa.string()), ("sizeInBytes", pa.int32())]
    inline = {"storageType": "i", "pathOrInlineDv": "x", "sizeInBytes": 3}

    def found(*more: tuple[str, pa.DataType], **facts: int) -> Any:
        store = DictStore()
        fields = [*ACTIONS.field("add").type, pa.field("deletionVector", pa.struct([*parts, *more]))]
        schema = ACTIONS.set(ACTIONS.get_field_index("add"), pa.field("add", pa.struct(fields)))
        rows = [file_row("a"), file_row("b", deletionVector={**inline, **facts})]
        put(store, CLASSIC, [PROTOCOL_ROW, METADATA_ROW, *rows], schema)
        return opened(store, CLASSIC)[1].columns["deletion_vector"].to_pylist()

    assert found(("cardinality", pa.int64()), cardinality=2) == [
        None,
        {
            "storage_type": "i", "path_or_inline_dv": "x", "offset": None, "size_in_bytes": 3,
            "cardinality": 2,
        },
    ]  # fmt: skip
    with pytest.raises(CorruptLog, match="cardinality"):
        found()


def test_statistics_may_be_there_only_as_columns() -> None:
    store = DictStore()
    parsed = pa.struct([("numRecords", pa.int64()), ("minValues", pa.struct([("id", pa.int64())]))])
    fields = [field for field in ACTIONS.field("add").type if field.name != "stats"]
    add_type = pa.struct([*fields, pa.field("stats_parsed", parsed)])
    schema = ACTIONS.set(ACTIONS.get_field_index("add"), pa.field("add", add_type))
    known = {"numRecords": 3, "minValues": {"id": 1}}
    put(store, CLASSIC, [PROTOCOL_ROW, METADATA_ROW, file_row("a", stats_parsed=known)], schema)

    _, files = opened(store, CLASSIC)
    later = files.after(commit(11, add("b", STATS)))

    assert files.columns.select(["stats", "stats_parsed"]).to_pylist() == [
        {"stats": None, "stats_parsed": known}
    ]
    assert later.columns["stats"].to_pylist() == [None, STATS]
    assert later.columns["stats_parsed"].to_pylist() == [known, None]


def test_commits_after_a_checkpoint_add_and_remove_with_statistics_in_place() -> None:
    store = DictStore()
    rows = [file_row(name, stats=f'{{"numRecords":{number}}}') for number, name in enumerate("abcdef")]
    put(store, CLASSIC, [PROTOCOL_ROW, METADATA_ROW, *rows])
    _, files = opened(store, CLASSIC)

    later = files.after(commit(11, add("g", '{"numRecords":6}')))
    last = later.after(commit(12, remove("b"), remove("e"), add("d", '{"numRecords":9}')))

    for version, expected in ((later, "0123456"), (last, "02569"), (files, "012345")):
        found = version.columns["stats"].to_pylist()
        assert found == [f'{{"numRecords":{digit}}}' for digit in expected]
        assert paths(version) == version.columns["path"].to_pylist()


@pytest.mark.parametrize("damage", [b"", b"PAR1 not really PAR1", b"x" * 5_000])
def test_a_damaged_file_is_named(damage: bytes) -> None:
    store = DictStore()
    store.put(CLASSIC, damage)

    with pytest.raises(CorruptLog, match=r"00010\.checkpoint\.parquet"):
        opened(store, CLASSIC)


def test_a_missing_sidecar_is_named() -> None:
    store = DictStore()
    put(store, CLASSIC, [PROTOCOL_ROW, METADATA_ROW, {"sidecar": {"path": "away.parquet", "sizeInBytes": 9}}])

    _, files = opened(store, CLASSIC)

    with pytest.raises(CorruptLog, match=r"_sidecars/away\.parquet"):
        _ = files.columns


@pytest.mark.parametrize(
    ("rows", "absent"), [([METADATA_ROW], "protocol"), ([PROTOCOL_ROW], "metaData")], ids=["p", "m"]
)
def test_a_checkpoint_without_protocol_or_metadata_is_refused(rows: list[Row], absent: str) -> None:
    store = DictStore()
    put(store, CLASSIC, [*rows, file_row("a")])

    with pytest.raises(CorruptLog, match=f"no {absent} action"):
        opened(store, CLASSIC)


def test_a_malformed_action_is_named() -> None:
    store = DictStore()
    broken = {"protocol": {"minReaderVersion": 1, "minWriterVersion": None}}
    put(store, CLASSIC, [broken, METADATA_ROW])

    with pytest.raises(CorruptLog, match="malformed Protocol"):
        opened(store, CLASSIC)


def test_statistics_of_a_checkpoint_that_was_replaced_are_not_mixed_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(checkpoint_reader, "WHOLE_READ_BYTES", 0)
    store = DictStore()
    put(store, CLASSIC, [PROTOCOL_ROW, METADATA_ROW, file_row("a"), file_row("b", stats=None)])
    _, files = opened(store, CLASSIC)
    assert paths(files) == ["a", "b"]

    put(store, CLASSIC, [PROTOCOL_ROW, METADATA_ROW, file_row("b", stats=None), file_row("a")])

    with pytest.raises(StorageUnavailable, match="was replaced"):
        _ = files.columns


NAMES = st.sampled_from("abcdef")
SMALL_ACTIONS = st.sampled_from(
    [
        AppTransaction(app_id="etl", version=1),
        AppTransaction(app_id="etl", version=2),
        AppTransaction(app_id="other", version=1),
        DomainMetadata(domain="d", configuration="1", removed=False),
        DomainMetadata(domain="d", configuration="", removed=True),
        metadata(acme="1"),
        metadata(acme="2"),
    ]
)
COMMITS = st.tuples(st.sets(NAMES), st.sets(NAMES), st.lists(SMALL_ACTIONS, max_size=2, unique_by=type))


@given(st.lists(COMMITS, max_size=10), st.integers(0, 10))
def test_replay_of_many_commits_at_once_equals_replay_one_by_one(
    history: list[tuple[set[str], set[str], list[Any]]], known: int
) -> None:
    store = DictStore()
    store.put(file_names.published_path(Version(0)), codec.encode((CommitInfo(), PROTOCOL, metadata())))
    for version, (removed, added, small) in enumerate(history, 1):
        info = CommitInfo(operation=f"{version}")
        files = (*map(remove, sorted(removed)), *(add(name, f"{version}") for name in sorted(added)))
        store.put(file_names.published_path(Version(version)), codec.encode((info, *small, *files)))

    frontier = Frontier(Version(len(history)), {}, managed=False)
    one_by_one = _one_by_one(store, len(history))
    at_once = load_snapshot(store, frontier)
    older = load_snapshot(store, frontier, target=Version(min(known, len(history))))
    caught_up = load_snapshot(store, frontier, known=older)

    for found in (at_once, caught_up):
        assert found.state == one_by_one.state
        assert _by_path(found) == _by_path(one_by_one)


def _one_by_one(store: DictStore, latest: int) -> Snapshot:
    commits: list[Commit] = [
        codec.decode(Version(number), store.read(file_names.published_path(Version(number))))
        for number in range(latest + 1)
    ]
    return Snapshot(replay.initial_state(commits[0]), LiveFiles().after(commits[0])).after(commits[1:])


def _by_path(found: Snapshot) -> list[Row]:
    return sorted(found.files.columns.to_pylist(), key=lambda row: row["path"])


def test_the_damaged_one_of_many_commits_is_named() -> None:
    store = DictStore()
    store.put(file_names.published_path(Version(0)), codec.encode((PROTOCOL, metadata())))
    for number in range(1, 9):
        content = codec.encode((CommitInfo(), add(f"{number}")))
        store.put(file_names.published_path(Version(number)), content[:-9] if number == 5 else content)

    with pytest.raises(CorruptLog, match="version 5 cannot be parsed") as raised:
        load_snapshot(store, Frontier(Version(8), {}, managed=False))

    assert raised.value.fields["version"] == 5
