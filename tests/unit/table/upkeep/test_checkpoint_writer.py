"""Checkpoints that Headgate writes: what is in them, when they appear, and that they change nothing."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.errors import CorruptLog, InvalidRequest, UnsupportedFeature, VersionNotFound
from headgate.protocol.actions import (
    Action,
    AddFile,
    AppTransaction,
    DeletionVector,
    DomainMetadata,
    EpochMillis,
    RemoveFile,
    Version,
)
from headgate.protocol.log import codec, file_names, last_checkpoint
from headgate.storage.store import Store
from headgate.table.opened_table import OpenedTable
from headgate.table.read.live_files import SCHEMA
from headgate.table.upkeep import checkpoint_parquet, checkpoint_rows, checkpoint_writer
from tests.support.checkpointed import V2, V2_PROTOCOL, actions, protocol, published, table
from tests.support.commits import PROTOCOL, add, metadata, remove
from tests.support.faulty_store import DictStore, FaultyStore
from tests.support.tables import open_filesystem

NOW = 1_900_000_000_000
FRESH = EpochMillis(NOW)
WEEK = 7 * 24 * 3_600_000
KINDS = pytest.mark.parametrize("properties", [{}, V2], ids=["classic", "v2"])
VECTOR = DeletionVector(
    storage_type="u", path_or_inline_dv="ab^-aqEH.-t@S}K{vb[*k^", offset=4, size_in_bytes=40, cardinality=6
)


@pytest.fixture(autouse=True)
def a_fixed_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headgate.clock.SystemWorld.now_ms", lambda self: NOW)
    monkeypatch.setattr(DictStore, "first_ms", NOW)


def gone(path: str, **more: Any) -> RemoveFile:
    return RemoveFile(path=path, data_change=True, deletion_timestamp=FRESH, **more)


def domain(name: str, *, removed: bool = False) -> DomainMetadata:
    return DomainMetadata(domain=name, configuration="{}", removed=removed)


def seen(opened: OpenedTable, version: int | None = None) -> Any:
    """All that a reader can know of a version."""
    found = open_filesystem("", store=opened.store).snapshot(version=version)
    files = sorted(
        found.files.columns.select(SCHEMA.names).to_pylist(),
        key=lambda row: (row["path"], str(row["deletion_vector"])),
    )
    state = found.state
    return state.version, state.protocol, state.metadata, state.txns, state.domains, files


def without_commits(store: Store, until: int) -> None:
    """Delete the commits a checkpoint stands for, so that only it can tell."""
    for version in range(until):
        store.delete(file_names.published_path(Version(version)))


@KINDS
def test_what_a_reader_sees_does_not_change(properties: dict[str, str]) -> None:
    vectored = msgspec.structs.replace(add("c"), deletion_vector=VECTOR, tags={"k": "v", "n": None})
    opened = table(
        [add("a", '{"numRecords":1}'), add("b"), AppTransaction(app_id="app", version=3)],
        [gone("a"), domain("kept"), domain("dropped")],
        [add("c"), domain("dropped", removed=True)],
        [gone("c"), vectored],
        **properties,
    )
    before = seen(opened)

    assert opened.checkpoint() == 4

    without_commits(opened.store, 4)
    assert seen(opened) == before
    published(opened.store, [add("d")])
    assert [row["path"] for row in seen(opened)[-1]] == ["b", "c", "d"]


@pytest.mark.parametrize(
    "stats",
    [{}, {"delta_checkpoint_writeStatsAsJson": "false", "delta_checkpoint_writeStatsAsStruct": "true"}],
    ids=["json", "struct"],
)
@pytest.mark.parametrize("commits", [[], [[add("a")]]], ids=["no file", "a file"])
@KINDS
def test_every_file_that_a_reader_opens_first_has_the_columns_of_all_actions(
    properties: dict[str, str], commits: Sequence[Sequence[Action]], stats: dict[str, str]
) -> None:
    opened = table(*commits, **properties, **stats)

    opened.checkpoint()

    (top,) = [
        meta.path for meta in opened.store.list_from(file_names.LOG_FOLDER) if ".checkpoint." in meta.path
    ]
    written = pq.read_schema(pa.BufferReader(opened.store.read(top)))
    only_v2 = {"checkpointMetadata", "sidecar"} if properties else set()
    assert {"txn", "add", "remove", "metaData", "protocol", "domainMetadata"} | only_v2 == set(written.names)
    fields = {field.name for field in written.field("add").type}
    assert ("stats_parsed" if stats else "stats") in fields


@KINDS
def test_only_what_readers_of_the_state_need_is_in_it(properties: dict[str, str]) -> None:
    """S179"""
    opened = table(
        [add("a"), domain("dropped"), domain("kept")],
        [gone("a", tags={"t": "u"}, size=7, extended_file_metadata=True), domain("dropped", removed=True)],
        **properties,
    )

    opened.checkpoint()

    assert [found["domain"] for found in actions(opened.store, "domainMetadata")] == ["kept"]
    assert not actions(opened.store, "commitInfo") + actions(opened.store, "cdc")
    assert actions(opened.store, "remove") == [
        {"path": "a", "deletionTimestamp": NOW, "dataChange": True, "extendedFileMetadata": True, "size": 7}
    ]


@KINDS
def test_every_field_of_an_add_survives_two_checkpoints(properties: dict[str, str]) -> None:
    full = AddFile(
        path="p=1/a", partition_values={"p": "1", "q": None}, size=5, modification_time=EpochMillis(6),
        data_change=False, stats='{"numRecords":2}', tags={"T": "1"}, deletion_vector=VECTOR, base_row_id=7,
        default_row_commit_version=8, clustering_provider="liquid",
    )  # fmt: skip
    opened = table([full, add("b")], **properties)
    opened.checkpoint()
    published(opened.store, [gone("b")])
    for meta in list(opened.store.list_from(file_names.LOG_FOLDER)):
        if meta.path.endswith("checkpoint.parquet") and properties:
            opened.store.delete(meta.path)

    open_filesystem("", store=opened.store).checkpoint()

    first, *more = [found for found in actions(opened.store, "add") if found["path"] == "p=1/a"]
    assert more == [first]
    assert first.pop("partitionValues") == [("p", "1"), ("q", None)]
    assert first.pop("tags") == [("T", "1")]
    assert first.pop("deletionVector")["pathOrInlineDv"] == VECTOR.path_or_inline_dv
    assert first == {
        "path": "p=1/a", "size": 5, "modificationTime": 6, "dataChange": False, "stats": '{"numRecords":2}',
        "baseRowId": 7, "defaultRowCommitVersion": 8, "clusteringProvider": "liquid",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("deleted_ms", "kept"),
    [(NOW, True), (NOW - WEEK + 1, True), (NOW - WEEK, False), (None, False)],
    ids=["fresh", "just within", "expired", "unknown"],
)
def test_tombstones_expire(deleted_ms: int | None, kept: bool) -> None:
    moment = None if deleted_ms is None else EpochMillis(deleted_ms)
    gone_file = RemoveFile(path="a", data_change=True, deletion_timestamp=moment)
    opened = table([add("a")], [gone_file])

    opened.checkpoint()

    assert bool(actions(opened.store, "remove")) is kept


def test_tombstones_of_the_checkpoint_before_expire_or_give_way_to_a_file_that_came_back() -> None:
    day = 24 * 3_600_000
    old = RemoveFile(path="old", data_change=True, deletion_timestamp=EpochMillis(NOW - 2 * day))
    opened = table([add("a"), add("old"), add("kept")], [gone("a"), gone("kept"), old])
    opened.checkpoint()
    assert len(actions(opened.store, "remove")) == 3
    short = metadata(delta_deletedFileRetentionDuration="interval 1 days")
    published(opened.store, [add("a"), short])
    opened.store.delete(file_names.LAST_CHECKPOINT)

    open_filesystem("", store=opened.store).checkpoint()

    opened.store.delete(file_names.classic_checkpoint_path(Version(2)))
    assert [found["path"] for found in actions(opened.store, "remove")] == ["kept"]
    assert [found["path"] for found in actions(opened.store, "add")] == ["a"]


def test_application_transactions_expire_only_if_the_table_says_so() -> None:
    txns = [
        AppTransaction(app_id="old", version=1, last_updated=EpochMillis(NOW - WEEK)),
        AppTransaction(app_id="new", version=1, last_updated=EpochMillis(NOW - 1)),
        AppTransaction(app_id="timeless", version=1),
    ]
    keeping, forgetting = table(txns), table(txns, delta_setTransactionRetentionDuration="interval 1 day")

    keeping.checkpoint()
    forgetting.checkpoint()

    assert [found["appId"] for found in actions(keeping.store, "txn")] == ["old", "new", "timeless"]
    assert [found["appId"] for found in actions(forgetting.store, "txn")] == ["new", "timeless"]


def test_the_pointer_says_what_was_written_and_never_goes_back() -> None:
    opened = table([add("a"), add("b")], [gone("a")], **V2)

    opened.checkpoint()
    pointer = msgspec.json.decode(opened.store.read(file_names.LAST_CHECKPOINT))
    opened.checkpoint(version=1)

    assert opened.store.read(file_names.LAST_CHECKPOINT) == msgspec.json.encode(pointer)
    assert pointer["checksum"] == last_checkpoint.checksum(pointer)
    # protocol, metadata, checkpoint metadata, one sidecar; in this a file and a tombstone
    assert (pointer["version"], pointer["size"], pointer["numOfAddFiles"]) == (2, 6, 1)
    written = opened.store.head(file_names.LOG_FOLDER + pointer["v2Checkpoint"]["path"])
    assert pointer["v2Checkpoint"]["sizeInBytes"] == written.size < pointer["sizeInBytes"]


def test_the_checksum_of_the_pointer_is_that_of_the_specification() -> None:
    sample = {
        "k0": "'v 0'",
        "checksum": "anything",
        "k1": {"k2": 2, "k3": ["v3", [1, 2], {"k4": "v4", "k5": ["v5", "v6", "v7"]}]},
    }

    assert last_checkpoint.checksum(sample) == "6a92d155a59bf2eecbd4b4ec7fd1f875"


def test_a_version_that_has_a_checkpoint_gets_no_other() -> None:
    opened = table([add("a")], **V2)
    opened.checkpoint()
    there = [meta.path for meta in opened.store.list_from("")]

    assert opened.checkpoint() == 1

    assert [meta.path for meta in opened.store.list_from("")] == there


def test_an_empty_file_in_the_place_of_a_checkpoint_is_replaced() -> None:
    opened = table([add("a")])
    opened.store.put(file_names.classic_checkpoint_path(Version(1)), b"")

    opened.checkpoint()

    assert [found["path"] for found in actions(opened.store, "add")] == ["a"]


def test_v2_needs_the_feature_and_the_policy() -> None:
    for features, properties in (
        (PROTOCOL, V2),
        (V2_PROTOCOL, {}),
        (V2_PROTOCOL, {"delta_checkpointPolicy": "classic"}),
    ):
        opened = table([add("a")], features=features, **properties)

        opened.checkpoint()

        assert opened.store.head(file_names.classic_checkpoint_path(Version(1))).size > 0


@pytest.mark.parametrize("chunk", [1, 200, 1 << 20], ids=["line by line", "a few lines", "at once"])
@pytest.mark.parametrize("sidecar", [1, 1_000])
def test_large_commits_and_checkpoints_are_taken_in_pieces(
    monkeypatch: pytest.MonkeyPatch, chunk: int, sidecar: int
) -> None:
    monkeypatch.setattr(checkpoint_rows, "_CHUNK_BYTES", chunk)
    monkeypatch.setattr(checkpoint_rows, "_BATCH", 2)
    monkeypatch.setattr(checkpoint_parquet, "_GROUP_ROWS", 3)
    monkeypatch.setattr(checkpoint_writer, "SIDECAR_ROWS", sidecar)
    opened = table([add(f"{n}") for n in range(9)], [gone("3"), add("3x"), gone("4"), add("4")], **V2)
    before = seen(opened)
    opened.checkpoint()
    published(opened.store, [gone("0")], [gone("8"), add("9")])

    open_filesystem("", store=opened.store).checkpoint()

    without_commits(opened.store, 4)
    assert [row["path"] for row in seen(opened)[-1]] == ["1", "2", "3x", "4", "5", "6", "7", "9"]
    assert seen(opened, 2)[-1] == before[-1]


@KINDS
def test_an_unknown_writer_feature_forbids_checkpoints(properties: dict[str, str]) -> None:
    """S328"""
    opened = table([add("a")], features=protocol("fromTheFuture", reader=("v2Checkpoint",)), **properties)
    assert opened.snapshot().version == 1

    with pytest.raises(UnsupportedFeature, match="fromTheFuture"):
        opened.checkpoint()
    with pytest.raises(UnsupportedFeature, match="fromTheFuture"):
        opened.compact_log(0, 1)
    with pytest.raises(UnsupportedFeature, match="fromTheFuture"):
        opened.cleanup_log()

    assert [meta.path for meta in opened.store.list_from("")] == [
        file_names.published_path(Version(v)) for v in range(2)
    ]


def test_features_that_concern_rows_do_not_forbid_checkpoints() -> None:
    features = protocol(
        "rowTracking", "domainMetadata", "clustering", "identityColumns", reader=("typeWidening",)
    )
    opened = table([add("a")], features=features)

    assert opened.checkpoint() == 1


def test_no_checkpoint_is_made_of_a_version_whose_commit_is_gone() -> None:
    opened = table([add("a")], [add("b")])
    opened.checkpoint()
    without_commits(opened.store, 2)

    with pytest.raises(VersionNotFound):
        open_filesystem("", store=opened.store).checkpoint(version=1)
    with pytest.raises(VersionNotFound):
        open_filesystem("", store=opened.store).checkpoint(version=7)


def test_protected_versions_get_no_checkpoint() -> None:
    features = protocol("checkpointProtection")
    opened = table(
        [add("a")], [add("b")], features=features, delta_requireCheckpointProtectionBeforeVersion="2"
    )

    with pytest.raises(InvalidRequest, match="before 2"):
        opened.checkpoint(version=1)

    assert opened.checkpoint() == 2


def test_a_damaged_checkpoint_is_no_base_for_another() -> None:
    opened = table([add("a")])
    opened.checkpoint()
    published(opened.store, [add("b")])
    whole = opened.store.read(file_names.classic_checkpoint_path(Version(1)))
    opened.store.put(file_names.classic_checkpoint_path(Version(1)), whole[: len(whole) // 2])

    with pytest.raises(CorruptLog):
        opened.checkpoint()

    assert not [
        meta
        for meta in opened.store.list_from(f"{file_names.LOG_FOLDER}")
        if f"{2:020d}.checkpoint" in meta.path
    ]


class _Dying:
    """Dies before or after one of the writes that it carries."""

    def __init__(self, at: int, *, after: bool) -> None:
        self._left = at
        self._after = after

    def call(
        self,
        name: str,
        perform: Callable[[], Any],
        *,
        unanswered: Callable[[bool], Any],
        writes: bool,
    ) -> Any:
        self._left -= writes
        if self._left < 0 and writes:
            if self._after:
                perform()
            raise KeyboardInterrupt
        return perform()


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@KINDS
def test_whoever_dies_between_two_writes_leaves_a_table_that_reads_the_same(
    properties: dict[str, str], after: bool
) -> None:
    for at in range(3):
        opened = table([add("a"), add("b")], [gone("a"), domain("d")], **properties)
        before = seen(opened)

        with pytest.raises(KeyboardInterrupt):
            open_filesystem("", store=FaultyStore(opened.store, _Dying(at, after=after))).checkpoint()

        assert seen(opened) == before
        published(opened.store, [add("c")])
        assert open_filesystem("", store=opened.store).checkpoint() == 3
        assert [row["path"] for row in seen(opened)[-1]] == ["b", "c"]


PATHS = st.sampled_from("abcd")
STEPS = st.one_of(
    st.builds(lambda path, size: [msgspec.structs.replace(add(path), size=size)], PATHS, st.integers(1, 9)),
    st.builds(lambda path: [gone(path)], PATHS),
    st.builds(lambda path: [remove(path), msgspec.structs.replace(add(path), deletion_vector=VECTOR)], PATHS),
    st.builds(lambda path: [gone(path, deletion_vector=VECTOR), add(path)], PATHS),
    st.builds(lambda name, off: [domain(name, removed=off)], PATHS, st.booleans()),
    st.builds(lambda name, at: [AppTransaction(app_id=name, version=at)], PATHS, st.integers(0, 9)),
    st.just([metadata(delta_checkpointPolicy="classic")]),
    st.just([metadata(delta_checkpointPolicy="v2", delta_checkpoint_writeStatsAsStruct="true")]),
    st.just("checkpoint"),
    st.just("compaction"),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(STEPS, min_size=2, max_size=14))
def test_checkpoints_and_compactions_at_any_moment_change_nothing(
    steps: Sequence[Sequence[Action] | str],
) -> None:
    plain, kept = table(), table()
    version = 0
    for step in steps:
        opened = open_filesystem("", store=kept.store)
        if step == "checkpoint":
            opened.checkpoint()
        elif step == "compaction" and version > 1:
            opened.compact_log(version // 2, version)
        elif not isinstance(step, str):
            version += 1
            for store in (plain.store, kept.store):
                store.put(file_names.published_path(Version(version)), codec.encode(step))
    for number in range(version + 1):
        assert seen(kept, number) == seen(plain, number)
