"""Streams that write down in which columns they read, and so go on past renamed and dropped ones."""

from collections.abc import Callable
from pathlib import Path

import pytest
from typing_extensions import override

from headgate.errors import CorruptLog, InvalidRequest, SchemaMismatch
from headgate.protocol.schema.types import Field, Primitive
from headgate.table.alter import alter_columns, set_properties
from headgate.table.opened_table import OpenedTable
from headgate.table.stream import schema_changes
from headgate.table.stream.schema_tracking import SchemaLog, open_log
from headgate.table.stream.stream_offsets import StreamOffset
from headgate.table.stream.stream_read_settings import StreamReadOptions
from headgate.table.stream.table_stream import TableStream
from tests.support import tables
from tests.unit.table.stream.test_table_stream import add, paths

EVOLVED = "DELTA_STREAMING_METADATA_EVOLUTION"
UNCONFIRMED = "DELTA_STREAMING_CANNOT_CONTINUE_PROCESSING_POST_SCHEMA_EVOLUTION"


@pytest.fixture
def table(tmp_path: Path) -> OpenedTable:
    place = str(tmp_path / "table")
    tables.create_filesystem(tables.open_filesystem(place).store)
    table = tables.open_filesystem(place)
    set_properties.set_properties(table, {"delta.columnMapping.mode": "name"})
    return table


@pytest.fixture
def stream(table: OpenedTable, tmp_path: Path) -> Callable[..., TableStream]:
    """A query that starts, again and again, with the same place for its columns."""

    def start(**asked: object) -> TableStream:
        given = {"schema_tracking_location": str(tmp_path / "columns"), **asked}
        return TableStream(table, StreamReadOptions(**given), table.snapshot())  # type: ignore[arg-type]

    return start


def names(found: TableStream) -> list[str]:
    return schema_changes.column_names(found.columns.metadata)


def code_of(run: Callable[[], object]) -> str:
    with pytest.raises(SchemaMismatch) as raised:
        run()
    return raised.value.code


def test_a_stream_goes_on_past_a_renamed_column_and_reads_each_file_in_its_own_columns(
    table: OpenedTable, stream: Callable[..., TableStream]
) -> None:
    add(table, "a")
    first = stream()
    begun = first.latest_offset(None)
    add(table, "b")
    renamed = alter_columns.rename_column(table, ("writer",), "author")
    add(table, "c")

    before = stream()
    end = before.latest_offset(begun)
    assert names(before) == ["id", "writer"]
    assert paths(before.batch(begun, end)) == ["b"]
    assert end.version == renamed
    assert code_of(lambda: before.latest_offset(end)) == EVOLVED

    after = stream(allow_source_column_rename="always")
    assert names(after) == ["id", "author"]
    last = after.latest_offset(end)
    assert paths(after.batch(end, last)) == ["c"]
    assert after.latest_offset(last) == last


def test_a_version_is_not_read_in_other_columns_whenever_the_query_is_killed(
    table: OpenedTable, stream: Callable[..., TableStream]
) -> None:
    """It starts anew before each step; a batch that was planned is read in the columns it was planned in."""
    add(table, "a")
    for number in range(3):
        alter_columns.rename_column(
            table, (("writer", "one", "two")[number],), ("one", "two", "three")[number]
        )
        add(table, f"{number}")
    read: list[tuple[list[str], list[str]]] = []
    start: StreamOffset | None = None
    stops = 0
    while True:
        asked = {"starting_version": 2, "allow_source_column_rename": "always"}
        try:
            end = stream(**asked).latest_offset(start)
        except SchemaMismatch as stopped:
            assert stopped.code == EVOLVED
            stops += 1
            continue
        if end == start:
            break
        again = stream(**asked)
        batch = again.batch(start, end)
        assert batch.failure is None
        read.append((paths(batch), names(again)))
        start = end

    assert read == [
        (["a"], ["id", "writer"]),
        (["0"], ["id", "one"]),
        (["1"], ["id", "two"]),
        (["2"], ["id", "three"]),
    ]
    assert stops == 4, "the columns of its start, and three that follow"


def test_what_happened_to_a_column_is_confirmed_by_its_own_option_or_version(
    table: OpenedTable, stream: Callable[..., TableStream]
) -> None:
    begun = stream().latest_offset(None)
    gone = alter_columns.drop_columns(table, [("writer",)])
    assert code_of(lambda: stream().latest_offset(begun)) == EVOLVED

    assert code_of(stream) == UNCONFIRMED
    assert code_of(lambda: stream(allow_source_column_rename="always")) == UNCONFIRMED
    assert code_of(lambda: stream(allow_source_column_drop=str(gone - 1))) == UNCONFIRMED
    assert names(stream(allow_source_column_drop=str(gone))) == ["id"]
    assert names(stream(allow_source_column_drop="always")) == ["id"]


def test_a_new_column_is_confirmed_by_starting_again(
    table: OpenedTable, stream: Callable[..., TableStream]
) -> None:
    begun = stream().latest_offset(None)
    alter_columns.add_columns(table, [Field("more", Primitive("long"))])

    assert code_of(lambda: stream().latest_offset(begun)) == EVOLVED
    assert names(stream()) == ["id", "writer", "more"]


def test_a_batch_that_was_done_before_a_change_fails_only_if_it_is_read_again(
    table: OpenedTable, stream: Callable[..., TableStream]
) -> None:
    """Spark asks for the last batch after a restart, and reads it only if it was not done."""
    add(table, "a")
    begun = stream().latest_offset(None)
    alter_columns.rename_column(table, ("writer",), "author")
    assert code_of(lambda: stream().latest_offset(begun)) == EVOLVED

    again = stream(allow_source_column_rename="always").batch(None, begun)

    assert isinstance(again.failure, SchemaMismatch)
    assert paths(again) == []


def test_a_query_that_is_behind_is_not_read_in_the_columns_of_another(
    table: OpenedTable, stream: Callable[..., TableStream]
) -> None:
    add(table, "a")
    begun = stream().latest_offset(None)
    add(table, "b")
    alter_columns.rename_column(table, ("writer",), "author")
    first = stream()
    end = first.latest_offset(begun)
    assert code_of(lambda: first.latest_offset(end)) == EVOLVED

    late = stream(allow_source_column_rename="always")

    assert code_of(lambda: late.latest_offset(begun)) == "DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE"


def test_columns_are_written_down_once_and_by_one_query(table: OpenedTable, tmp_path: Path) -> None:
    asked = StreamReadOptions(schema_tracking_location=str(tmp_path), streaming_source_tracking_id="left")
    metadata = table.snapshot().state.metadata
    log = open_log(metadata.id, asked)
    assert log is not None

    log.record(metadata, 1)
    log.record(metadata, 1)
    assert [entry.version for entry in log.entries()] == [1]

    class Behind(SchemaLog):
        @override
        def entries(self) -> tuple[()]:
            return ()

    with pytest.raises(InvalidRequest, match="another query"):
        Behind(log.store, log.folder).record(metadata, 2)


def test_a_file_that_says_no_columns_is_told_of(table: OpenedTable, tmp_path: Path) -> None:
    asked = StreamReadOptions(schema_tracking_location=str(tmp_path))
    log = open_log("x", asked)
    assert log is not None
    log.store.put(f"{log.folder}0.json", b"{")

    with pytest.raises(CorruptLog, match="schema_tracking_location"):
        log.entries()
