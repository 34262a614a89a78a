"""An opened table: reading, committing and remembering."""

from pathlib import Path

import pytest

from headgate.catalog.embedded import open_catalog
from headgate.errors import (
    ConcurrentAppend,
    HeadgateError,
    InvalidRequest,
    MetadataChanged,
    TableExists,
    UnsupportedFeature,
)
from headgate.protocol.actions import CommitInfo, EpochMillis, RemoveFile, Version
from headgate.protocol.log import codec, file_names
from headgate.protocol.transaction.attempt import ReadSet
from headgate.settings import Settings
from headgate.storage.locate import locate
from headgate.table import opened_table
from headgate.table.transaction import Change, Operation
from tests.support.commits import add, metadata
from tests.support.tables import (
    append_change,
    create_filesystem,
    create_managed,
    named_file,
    open_filesystem,
    open_managed,
)


def overwrite(path: str) -> Change:
    removes = (RemoveFile(path="a", data_change=True),)
    return Change(Operation("WRITE"), (*removes, named_file(path)), ReadSet(whole_table=True))


def test_version_0_of_a_managed_table_says_what_it_is(tmp_path: Path) -> None:
    """S051, S056, S101"""
    staging = create_managed(open_catalog(tmp_path))

    first = codec.decode(Version(0), locate(staging.location).read(file_names.published_path(Version(0))))

    assert first.protocol is not None
    assert first.protocol.min_reader_version == 3
    assert first.protocol.min_writer_version == 7
    assert set(first.protocol.reader_features or ()) == {"catalogManaged", "vacuumProtocolCheck"}
    assert set(first.protocol.writer_features or ()) == {
        "catalogManaged", "vacuumProtocolCheck", "inCommitTimestamp"
    }  # fmt: skip
    assert first.metadata is not None
    assert first.metadata.configuration == {"delta.enableInCommitTimestamps": "true"}
    assert first.info is not None
    assert first.info.txn_id
    assert first.info.in_commit_timestamp
    assert locate(staging.location).read(file_names.published_path(Version(0))).startswith(b'{"commitInfo"')


@pytest.mark.parametrize("limit", [0, 256 * 1024], ids=["staged", "inline"])
def test_every_version_reads_as_it_was_committed(tmp_path: Path, limit: int) -> None:
    """S038, S057"""
    catalog = open_catalog(tmp_path)
    staging = create_managed(catalog)
    settings = Settings(inline_limit_bytes=limit)
    table = open_managed(catalog, staging.table_id, staging.location, settings=settings)
    for number in range(1, 7):
        assert table.commit(append_change(named_file(f"{number}")), base=table.newest_known()) == number
        if number == 3:
            table.publish()

    fresh = open_managed(catalog, staging.table_id, staging.location)

    assert [fresh.snapshot(version=version).files.columns.num_rows for version in range(7)] == list(range(7))
    table.close()


def test_a_handle_left_behind_catches_up_without_listing(tmp_path: Path) -> None:
    catalog = open_catalog(tmp_path)
    staging = create_managed(catalog)
    ahead = open_managed(catalog, staging.table_id, staging.location)
    behind = open_managed(catalog, staging.table_id, staging.location)
    behind.snapshot()
    for number in range(4):
        ahead.commit(append_change(named_file(f"{number}")), base=ahead.newest_known())
        if number == 1:
            ahead.publish()

    behind.store.list_from = None  # type: ignore[method-assign,assignment]  # a LIST would now fail
    assert behind.snapshot().files.columns.num_rows == 4


def test_a_writer_that_never_reads_keeps_a_bounded_number_of_its_commits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opened_table, "_MOST_PENDING", 5)
    catalog = open_catalog(tmp_path)
    staging = create_managed(catalog)
    table = open_managed(catalog, staging.table_id, staging.location)

    for number in range(23):
        table.commit(append_change(named_file(f"{number}")), base=table.newest_known())
        assert table.newest_known().files.pending <= 5
        if number == 7:
            table.publish()

    assert table.newest_known().files.columns.num_rows == 23
    assert table.snapshot().files.columns.num_rows == 23


def test_blind_appends_from_stale_handles_all_land(tmp_path: Path) -> None:
    catalog = open_catalog(tmp_path)
    staging = create_managed(catalog)
    handles = [open_managed(catalog, staging.table_id, staging.location) for _ in range(3)]
    for handle in handles:
        handle.snapshot()

    versions = [
        handle.commit(append_change(named_file(f"{round_}-{number}")), base=handle.newest_known())
        for round_ in range(3)
        for number, handle in enumerate(handles)
    ]

    assert versions == list(range(1, 10))


@pytest.mark.parametrize("route", ["managed", "filesystem"])
def test_a_conflict_is_told_and_running_again_works(tmp_path: Path, route: str) -> None:
    if route == "managed":
        catalog = open_catalog(tmp_path)
        staging = create_managed(catalog)
        one, two = (open_managed(catalog, staging.table_id, staging.location) for _ in range(2))
    else:
        create_filesystem(locate(str(tmp_path)))
        one, two = open_filesystem(str(tmp_path)), open_filesystem(str(tmp_path))
    one.commit(append_change(named_file("a")), base=one.snapshot())
    stale = two.snapshot()
    one.commit(append_change(named_file("b")), base=one.newest_known())

    with pytest.raises(ConcurrentAppend, match="version 2"):
        two.commit(overwrite("c"), base=stale)

    assert two.commit(overwrite("c"), base=two.snapshot()) == 3
    assert sorted(two.snapshot().files.columns["path"].to_pylist()) == ["b", "c"]


def test_an_append_runs_again_after_a_change_of_schema(tmp_path: Path) -> None:
    create_filesystem(locate(str(tmp_path)))
    table, other = open_filesystem(str(tmp_path)), open_filesystem(str(tmp_path))
    table.snapshot()
    other.commit(
        Change(Operation("SET"), (metadata(acme="1"),), ReadSet(whole_table=True)), base=other.snapshot()
    )

    with pytest.raises(MetadataChanged):
        table.commit(append_change(named_file("a")), base=table.newest_known())

    assert table.commit(append_change(named_file("a")), base=table.newest_known()) == 2


def test_a_managed_table_is_refused_by_path(tmp_path: Path) -> None:
    """S118"""
    staging = create_managed(open_catalog(tmp_path))

    with pytest.raises(InvalidRequest, match="open it by name") as caught:
        open_filesystem(staging.location).snapshot()

    assert caught.value.code == "DELTA_PATH_BASED_ACCESS_TO_CATALOG_MANAGED_TABLE_BLOCKED"


def test_a_version_and_a_timestamp_together_are_refused(tmp_path: Path) -> None:
    """S033"""
    create_filesystem(locate(str(tmp_path)))

    with pytest.raises(InvalidRequest, match="not for both"):
        open_filesystem(str(tmp_path)).snapshot(version=0, timestamp=EpochMillis(5))


def test_a_table_that_needs_what_we_cannot_read_is_refused(tmp_path: Path) -> None:
    create_filesystem(locate(str(tmp_path)))
    log = tmp_path / file_names.published_path(Version(1))
    log.write_text(
        '{"protocol":{"minReaderVersion":3,"minWriterVersion":7,'
        '"readerFeatures":["quantumFiles"],"writerFeatures":["quantumFiles"]}}\n'
    )

    with pytest.raises(UnsupportedFeature, match="quantumFiles"):
        open_filesystem(str(tmp_path)).snapshot()


def test_a_table_is_not_made_twice_in_one_place(tmp_path: Path) -> None:
    create_filesystem(locate(str(tmp_path)))

    with pytest.raises(TableExists):
        create_filesystem(locate(str(tmp_path)))


def test_history_is_newest_first_with_strictly_increasing_moments(tmp_path: Path) -> None:
    catalog = open_catalog(tmp_path)
    staging = create_managed(catalog)
    table = open_managed(catalog, staging.table_id, staging.location)
    for number in range(5):
        table.commit(append_change(named_file(f"{number}")), base=table.newest_known())

    entries = table.history()

    assert [entry.version for entry in entries] == [5, 4, 3, 2, 1, 0]
    moments = [entry.timestamp for entry in entries]
    assert moments == sorted(set(moments), reverse=True)
    assert [entry.info.operation for entry in entries] == ["WRITE"] * 5 + ["CREATE TABLE"]
    assert [entry.version for entry in table.history(limit=2)] == [5, 4]
    for entry in entries:
        assert table.snapshot(timestamp=entry.timestamp).version == entry.version


def test_a_moment_before_in_commit_timestamps_is_judged_by_file_times(tmp_path: Path) -> None:
    """I8: versions since the enablement are never judged by the times of their files."""
    store = locate(str(tmp_path))
    create_filesystem(store)
    first = store.head(file_names.published_path(Version(0))).modified_ms
    enabled = metadata(
        delta_enableInCommitTimestamps="true",
        delta_inCommitTimestampEnablementVersion="2",
        delta_inCommitTimestampEnablementTimestamp=str(first + 10_000),
    )
    store.put(file_names.published_path(Version(1)), codec.encode((CommitInfo(), add("a"))))
    stamped = CommitInfo(in_commit_timestamp=EpochMillis(first + 10_000))
    store.put(file_names.published_path(Version(2)), codec.encode((stamped, enabled)))
    table = open_filesystem(str(tmp_path))

    assert table.snapshot(timestamp=EpochMillis(first + 10_000)).version == 2
    assert table.snapshot(timestamp=EpochMillis(first)).version == 0
    assert table.snapshot(timestamp=EpochMillis(first + 9_999)).version == 1
    with pytest.raises(HeadgateError) as caught:
        table.snapshot(timestamp=EpochMillis(first + 10_001))
    assert caught.value.code == "DELTA_TIMESTAMP_GREATER_THAN_COMMIT"
