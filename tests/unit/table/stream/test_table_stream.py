"""Batches of a stream of real logs: published, checkpointed, cleaned up and made anew while it is read."""

import random
from contextlib import closing
from pathlib import Path

import pytest

from headgate.catalog.embedded import open_catalog
from headgate.errors import HeadgateError, InvalidRequest, SchemaMismatch, VersionNotFound
from headgate.protocol.actions import AddFile, EpochMillis, RemoveFile
from headgate.protocol.log import file_names
from headgate.protocol.schema.types import Field, Primitive
from headgate.table.alter import alter_columns, set_properties
from headgate.table.opened_table import OpenedTable
from headgate.table.stream.admission import ReadLimits
from headgate.table.stream.stream_offsets import StreamOffset, from_json, to_json
from headgate.table.stream.stream_read_settings import READ_CONTRADICTIONS, StreamReadOptions
from headgate.table.stream.table_stream import StreamBatch, TableStream
from headgate.table.transaction import Change, Operation
from tests.support import tables
from tests.support.tables import append_change, named_file


@pytest.fixture
def table(tmp_path: Path) -> OpenedTable:
    tables.create_filesystem(tables.open_filesystem(str(tmp_path)).store)
    return tables.open_filesystem(str(tmp_path))


def stream_of(table: OpenedTable, **asked: object) -> TableStream:
    return TableStream(table, StreamReadOptions(**asked), table.snapshot())  # type: ignore[arg-type]


def add(table: OpenedTable, *names: str) -> int:
    return table.commit(append_change(*map(named_file, names)), base=table.snapshot())


def remove(table: OpenedTable, name: str, *, instead: str | None = None, data_change: bool = True) -> int:
    gone = RemoveFile(path=name, deletion_timestamp=EpochMillis(1), data_change=data_change)
    new: tuple[AddFile, ...] = ()
    if instead is not None:
        file = named_file(instead)
        new = (
            AddFile(
                **{
                    **{each: getattr(file, each) for each in file.__struct_fields__},
                    "data_change": data_change,
                }
            ),
        )
    change = Change(Operation("DELETE", {}), (gone, *new))
    return table.commit(change, base=table.snapshot())


def paths(batch: StreamBatch) -> list[str]:
    initial = [] if batch.initial is None else batch.initial.files["path"].to_pylist()
    return [*initial, *(file.path for file in batch.added)]


def read_all(stream: TableStream, start: StreamOffset | None = None) -> list[list[str]]:
    """The files of each batch, up to the end."""
    found = []
    while (end := stream.latest_offset(start)) != start:
        found.append(paths(stream.batch(start, end)))
        start = end
    return found


def test_the_initial_snapshot_comes_first_and_then_what_each_commit_adds(table: OpenedTable) -> None:
    add(table, "b", "a")
    stream = stream_of(table, max_files_per_trigger=1)
    end = stream.latest_offset(None)
    add(table, "c", "d")

    assert paths(stream.batch(None, end)) == ["a"]
    assert read_all(stream, end) == [["b"], ["c"], ["d"]]


@pytest.mark.parametrize("seed", range(5))
def test_no_version_is_skipped_or_doubled_while_the_log_is_published_and_checkpointed(
    tmp_path: Path, seed: int
) -> None:
    """The reader is as good as another process: it has its own catalog, and starts anew at every batch."""
    chance = random.Random(seed)
    with closing(open_catalog(str(tmp_path))) as catalog, closing(open_catalog(str(tmp_path))) as other:
        made = tables.create_managed(catalog)
        writer = tables.open_managed(catalog, made.table_id, made.location)
        written, seen, place = 0, [], None
        for _ in range(12):
            for _ in range(chance.randint(0, 3)):
                names = [f"{written + more:04}" for more in range(chance.randint(1, 3))]
                add(writer, *names)
                written += len(names)
            match chance.choice(["publish", "checkpoint", "compact", "nothing"]):
                case "publish":
                    writer.publish()
                case "checkpoint":
                    writer.checkpoint()
                case "compact":
                    writer.publish()
                    if (newest := writer.snapshot().version) > 1:
                        writer.compact_log(newest - 1, newest)
                case _:
                    pass
            reader = tables.open_managed(other, made.table_id, made.location)
            stream = stream_of(reader, max_files_per_trigger=chance.randint(1, 4))
            start = None if place is None else from_json(place)
            end = stream.latest_offset(start)
            seen += paths(stream.batch(start, end))
            assert paths(stream.batch(start, end)) == paths(
                stream_of(tables.open_managed(catalog, made.table_id, made.location)).batch(start, end)
            )
            place = to_json(end)
        last = tables.open_managed(other, made.table_id, made.location)
        rest = read_all(stream_of(last), from_json(place))

    assert [*seen, *(name for batch in rest for name in batch)] == [f"{at:04}" for at in range(written)]


@pytest.mark.parametrize(
    ("asked", "deletes", "updates"),
    [
        ({}, "DELTA_SOURCE_IGNORE_DELETE", "DELTA_SOURCE_TABLE_IGNORE_CHANGES"),
        ({"ignore_deletes": True}, [], "DELTA_SOURCE_TABLE_IGNORE_CHANGES"),
        ({"ignore_changes": True}, [], ["b2"]),
        ({"ignore_file_deletion": True}, [], ["b2"]),
        ({"skip_change_commits": True}, [], []),
    ],
)
def test_deletes_and_changes_stop_a_stream_unless_it_is_told_what_to_make_of_them(
    table: OpenedTable, asked: dict[str, bool], deletes: list[str] | str, updates: list[str] | str
) -> None:
    add(table, "a", "b")
    start = stream_of(table).latest_offset(None)
    remove(table, "a")
    after_delete = to_json(start)
    remove(table, "b", instead="b2", data_change=False)

    assert outcome(table, asked, after_delete) == deletes
    version = remove(table, "b2", instead="b3")
    where = from_json(after_delete)
    updated = StreamOffset(
        table_id=where.table_id, version=version, index=0, is_initial_snapshot=False, since=where.since
    )
    expected = updates if isinstance(updates, str) else [name.replace("b2", "b3") for name in updates]
    assert outcome(table, asked, to_json(updated)) == expected


def outcome(table: OpenedTable, asked: dict[str, bool], place: str) -> list[str] | str:
    try:
        found = read_all(stream_of(table, **asked), from_json(place))
    except HeadgateError as refused:
        return refused.code
    return [name for batch in found for name in batch]


def test_files_whose_path_is_excluded_are_passed_over(table: OpenedTable) -> None:
    add(table, "x-1", "a")
    stream = stream_of(table, exclude_regex="^x-")
    end = stream.latest_offset(None)
    add(table, "b", "x-2")

    assert paths(stream.batch(None, end)) == ["a"]
    assert read_all(stream, end) == [["b"]]


def test_a_stream_can_begin_at_a_version_or_with_what_comes(table: OpenedTable) -> None:
    first = add(table, "a")
    add(table, "b")
    late = stream_of(table, starting_version="latest")
    begin = late.latest_offset(None)
    add(table, "c")

    assert read_all(stream_of(table, starting_version=first)) == [["a", "b", "c"]]
    assert paths(late.batch(None, begin)) == []
    assert read_all(late, begin) == [["c"]]
    with pytest.raises(VersionNotFound, match="latest is 3"):
        stream_of(table, starting_version=9).latest_offset(None)


def test_a_stream_can_begin_at_a_moment(table: OpenedTable) -> None:
    for name in "abc":
        add(table, name)
    moments = {entry.version: entry.timestamp for entry in table.history()}

    assert read_all(stream_of(table, starting_timestamp=moments[2])) == [["b", "c"]]
    assert read_all(stream_of(table, starting_timestamp=moments[1] - 1_000_000)) == [["a", "b", "c"]]
    with pytest.raises(VersionNotFound, match="DELTA_TIMESTAMP_GREATER_THAN_COMMIT"):
        stream_of(table, starting_timestamp=moments[3] + 1_000_000).latest_offset(None)


def test_the_first_batch_stays_what_it_was_however_late_it_is_asked_for_again(table: OpenedTable) -> None:
    add(table, "a")
    end = stream_of(table, starting_version="latest").latest_offset(None)
    add(table, "b")

    assert paths(stream_of(table, starting_version="latest").batch(None, end)) == []
    assert read_all(stream_of(table, starting_version="latest"), end) == [["b"]]


def test_a_version_that_clean_up_removed_is_an_error_unless_loss_is_allowed(table: OpenedTable) -> None:
    add(table, "a")
    end = stream_of(table).latest_offset(None)
    for name in "bc":
        add(table, name)
    table.checkpoint()
    for version in range(3):
        table.store.delete(file_names.published_path(version))

    with pytest.raises(VersionNotFound) as raised:
        stream_of(table).latest_offset(end)
    assert raised.value.code == "DELTA_MISSING_FILES_UNEXPECTED_VERSION"
    assert read_all(stream_of(table, fail_on_data_loss=False), end) == [["c"]]


def test_a_batch_whose_commits_are_gone_is_told_of_and_fails_only_if_it_is_read(table: OpenedTable) -> None:
    stream = stream_of(table)
    start = stream.latest_offset(None)
    for name in "ab":
        add(table, name)
    end = stream.latest_offset(start)
    table.checkpoint()
    table.store.delete(file_names.published_path(1))

    found = stream_of(table).batch(start, end)

    assert found.failure is not None
    assert found.failure.code == "DELTA_MISSING_FILES_UNEXPECTED_VERSION"


def test_a_batch_that_was_done_under_other_options_fails_only_if_it_is_read(table: OpenedTable) -> None:
    add(table, "a")
    lenient = stream_of(table, ignore_deletes=True)
    start = lenient.latest_offset(None)
    remove(table, "a")
    end = lenient.latest_offset(start)

    found = stream_of(table).batch(start, end)

    assert found.failure is not None
    assert found.failure.code == "DELTA_SOURCE_IGNORE_DELETE"
    assert read_all(stream_of(table), end) == []


def test_a_table_made_anew_in_its_place_is_refused(tmp_path: Path) -> None:
    ids = []
    for name in ("one", "two"):
        place = str(tmp_path / name)
        tables.create_filesystem(tables.open_filesystem(place).store)
        ids.append(tables.open_filesystem(place))
    end = stream_of(ids[0]).latest_offset(None)

    with pytest.raises(InvalidRequest) as raised:
        stream_of(ids[1]).batch(None, end)
    assert raised.value.code == "DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE"


def test_an_offset_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="DELTA_INVALID_SOURCE_OFFSET_FORMAT"):
        from_json('{"sourceVersion":1}')


@pytest.mark.parametrize(
    "asked",
    [
        {"starting_version": 1, "starting_timestamp": 1},
        {"starting_version": -1},
        {"max_files_per_trigger": 0},
        {"max_bytes_per_trigger": 0},
        {"exclude_regex": "("},
    ],
)
def test_what_cannot_be_meant_is_refused(asked: dict[str, object]) -> None:
    assert len(READ_CONTRADICTIONS) == 5
    with pytest.raises(InvalidRequest):
        StreamReadOptions(**asked)  # type: ignore[arg-type]


def test_without_limits_a_batch_has_a_thousand_files() -> None:
    assert StreamReadOptions().limits == ReadLimits(1_000, None)
    assert StreamReadOptions(max_bytes_per_trigger=5).limits == ReadLimits(None, 5)


def test_changed_columns_stop_a_stream_until_it_is_started_again(table: OpenedTable) -> None:
    add(table, "a")
    stream = stream_of(table)
    end = stream.latest_offset(None)
    alter_columns.add_columns(table, [Field("more", Primitive("long"))])
    add(table, "b")

    with pytest.raises(SchemaMismatch) as raised:
        stream.latest_offset(end)
    assert raised.value.code == "DELTA_SCHEMA_CHANGED_WITH_VERSION"
    assert read_all(stream_of(table), end) == [["b"]]


def test_a_comment_on_a_column_stops_nothing(table: OpenedTable) -> None:
    add(table, "a")
    stream = stream_of(table)
    end = stream.latest_offset(None)
    alter_columns.set_column_comment(table, ("id",), "what it is")
    add(table, "b")

    assert read_all(stream, end) == [["b"]]


def test_a_renamed_column_stops_a_stream_for_good(table: OpenedTable) -> None:
    set_properties.set_properties(table, {"delta.columnMapping.mode": "name"})
    end = stream_of(table).latest_offset(None)
    add(table, "a")
    alter_columns.rename_column(table, ("writer",), "author")

    with pytest.raises(SchemaMismatch) as raised:
        stream_of(table).latest_offset(end)
    assert raised.value.code == "DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE"
    assert read_all(stream_of(table, starting_version="latest")) == [[]]
