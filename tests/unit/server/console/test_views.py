"""What pages show, as values: made from what ports answer, without a server and without a browser."""

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from headgate.catalog.ports.access import OWNER, Grant, Group, Principal, Privilege
from headgate.catalog.ports.commits import InlineCommit, RatifiedCommit, StagedCommit, TableId, Tail
from headgate.catalog.ports.directory import TableEntry, TableName
from headgate.catalog.ports.events import Event, EventKind, EventWindow
from headgate.catalog.ports.groups import GroupId, RatifiedGroup, RatifiedMember
from headgate.catalog.ports.serving import CommitRecord
from headgate.protocol.actions import (
    AddFile,
    CommitInfo,
    EpochMillis,
    Format,
    Metadata,
    Protocol,
    TxnId,
    Version,
)
from headgate.server.console.views import (
    commit_rows,
    compare_view,
    events_view,
    files_view,
    formats,
    grants_view,
    lake_view,
    paging,
    races_view,
    rows_view,
    schema_view,
    transactions_view,
    versions_view,
)
from headgate.server.console.views.commit_rows import RowCounts
from headgate.server.console.views.files_view import FileLine
from headgate.table.read import live_files

NOW = 1_800_000_000_000


def event(
    cursor: int, kind: EventKind = EventKind.COMMIT, *, ago_ms: int = 0, table: str = "s.t", **details: object
) -> Event:
    table_id = TableId(f"id-{table}")
    return Event(
        cursor, kind, table, table_id, Version(cursor), TxnId("x"), "WRITE", EpochMillis(NOW - ago_ms),
        details,
    )  # fmt: skip


def metadata(schema: str, *, partitions: tuple[str, ...] = (), **configuration: str) -> Metadata:
    return Metadata(
        id="m",
        format=Format(provider="parquet", options={}),
        schema_string=schema,
        partition_columns=partitions,
        configuration=configuration,
    )


NESTED = """{"type":"struct","fields":[
 {"name":"id","type":"long","nullable":false,"metadata":{"comment":"The key"}},
 {"name":"at","type":{"type":"struct","fields":[{"name":"city","type":"string","nullable":true,"metadata":{}}]},
  "nullable":true,"metadata":{}}]}"""
PROTOCOL = Protocol(min_reader_version=3, min_writer_version=7, writer_features=("domainMetadata",))


@pytest.mark.parametrize(
    ("number", "shown"),
    [(0, "0 B"), (1023, "1,023 B"), (1024, "1.0 KiB"), (5 * 1024**3, "5.0 GiB"), (None, "–")],
)
def test_sizes_are_in_powers_of_1024(number: int | None, shown: str) -> None:
    assert formats.size(number) == shown


def test_one_thing_is_not_told_as_several() -> None:
    told = [formats.things(number, "row") for number in (0, 1, 2, 1_000_000)]

    assert told == ["0 rows", "1 row", "2 rows", "1,000,000 rows"]


def test_moments_that_no_calendar_has_are_not_shown() -> None:
    assert formats.moment(0) == "1970-01-01 00:00:00 UTC"
    assert formats.moment(2**63) == formats.moment(-1) == formats.ago(2**63, NOW) == "–"
    assert formats.ago(NOW - 180_000, NOW) == "3 min ago"


def test_a_page_beyond_the_end_is_the_last_one() -> None:
    found = paging.list_page(range(95), 99, 40)

    assert (found.number, found.pages, found.items, found.next) == (3, 3, tuple(range(80, 95)), None)
    assert paging.list_page((), 1, 40).pages == 1


def test_tables_are_found_by_all_their_words() -> None:
    entries = [
        TableEntry(TableId(n), TableName("sales", n), "", EpochMillis(0)) for n in ("orders", "old_orders")
    ]

    assert lake_view.matching_tables(entries, "OLD sales") == (entries[1],)
    assert lake_view.matching_tables(entries, "") == tuple(entries)


def test_commits_are_counted_by_the_minute() -> None:
    happened = (
        event(1, ago_ms=30_000),
        event(2, ago_ms=300_000),
        event(3, ago_ms=10**9),
        event(4, EventKind.REFUSAL),
    )
    found = lake_view.lake_activity(EventWindow(happened, 5, 4), NOW)

    assert found.in_last_minute == 1 and not found.commits.is_empty
    quiet = lake_view.lake_activity(EventWindow((), 1, 0), NOW).commits
    assert quiet.is_empty and quiet.empty == "No commit in the last 30 minutes."
    assert sum(found.commits.values) == 2
    assert (found.refusals, len(found.commits.labels)) == (1, lake_view.MINUTES)


@pytest.mark.parametrize(
    ("metrics", "counts"),
    [
        ({"numOutputRows": "7"}, RowCounts(7)),
        ({"numDeletedRows": "2", "numCopiedRows": "9"}, RowCounts(None, None, 2)),
        ({"numUpdatedRows": 3}, RowCounts(None, 3, None)),
        ({"numTargetRowsInserted": "1", "numTargetRowsUpdated": "2", "numTargetRowsDeleted": "3",
          "numOutputRows": "9"}, RowCounts(1, 2, 3)),
        ({"numOutputRows": "²"}, RowCounts(None)),
        ({"numOutputRows": {"a": []}}, RowCounts(None)),
        ({}, RowCounts()),
    ],
)  # fmt: skip
def test_rows_are_those_that_the_writer_counted(metrics: dict[str, object], counts: RowCounts) -> None:
    assert commit_rows.row_counts(CommitInfo(operation_metrics=metrics)) == counts


def test_versions_tell_where_their_content_is() -> None:
    held = tuple(
        RatifiedCommit(Version(v), TxnId(str(v)), EpochMillis(v), where)
        for v, where in ((2, InlineCommit(b"")), (3, StagedCommit("f")))
    )
    tail = Tail(Version(3), Version(1), held)
    records = [CommitRecord(Version(v), TxnId(str(v)), EpochMillis(v), 10, "", None) for v in (3, 2, 1)]

    found = versions_view.versions_page(records, {}, tail, 2)

    assert [(line.version, line.place) for line in found.lines] == [(3, "staged"), (2, "inline")]
    assert (found.older, found.newer) == (2, None)
    assert found.lines[0].operation is None
    assert [line.place for line in versions_view.versions_page(records[2:], {}, tail, 2).lines] == [
        "published"
    ]


def test_columns_are_followed_by_what_is_in_them() -> None:
    lines = tuple(schema_view.column_lines(metadata(NESTED, partitions=("id",))))

    assert [(line.path, line.depth, line.type) for line in lines] == [
        ("id", 0, "BIGINT"), ("at", 0, "STRUCT<…>"), ("at.city", 1, "STRING"),
    ]  # fmt: skip
    assert lines[0].comment == "The key" and lines[0].is_partition and not lines[0].nullable


def test_a_comparison_has_a_line_for_each_difference() -> None:
    before = schema_view.definition_view(PROTOCOL, metadata(NESTED, a="1", b="2"), {})
    after = schema_view.definition_view(
        PROTOCOL, metadata(NESTED.replace("long", "string"), a="1", b="3", c="4"), {}
    )

    lines = compare_view.definition_changes(before, after)

    assert [(line.kind.value, line.part, line.name) for line in lines] == [
        ("changed", "column", "id"), ("changed", "property", "b"), ("added", "property", "c"),
    ]  # fmt: skip
    assert compare_view.definition_changes(after, after) == ()


def test_of_a_large_group_some_members_are_shown_and_all_are_looked_for() -> None:
    everybody = tuple(Principal(f"p-{number:03}") for number in range(25))
    groups = (Group(Principal("group:z"), everybody), Group(Principal("group:a"), (Principal("ada"),)))

    first, last = grants_view.members_lines(groups)
    (found,) = grants_view.members_lines(groups, "P-024")

    assert (first.name, first.members, first.left_out) == ("group:a", ("ada",), 0)
    assert (last.name, len(last.members), last.left_out) == ("group:z", grants_view.MOST_MEMBERS, 5)
    assert found == last


def test_files_are_counted_by_size_and_by_partition() -> None:
    files = pa.table(
        {
            "path": ["a", "b", "c"],
            "partition_values": pa.array(
                [[("day", "1")], [("day", "1")], [("day", None)]], pa.map_(pa.string(), pa.string())
            ),
            "size": [1_000, 3_000, 10],
            "deletion_vector": pa.array(
                [None, {"cardinality": 4}, None], pa.struct([("cardinality", pa.int64())])
            ),
        }
    )
    day = '{"type":"struct","fields":[{"name":"day","type":"string","nullable":true,"metadata":{}}]}'

    found = files_view.files_view(files, metadata(day, partitions=("day",)))

    assert (found.files, found.size_bytes, found.with_deletions, found.deleted_rows) == (3, 4_010, 1, 4)
    assert found.partitions is not None and found.partitions.rows == (("1", 4_000), ("null", 10))
    assert sum(found.sizes.values) == 3 and found.sizes.labels[0] == "≥ 8 B"
    counted = replace(found.listed, rows=pa.array([7, None, 1]))
    assert counted.page().items == (
        FileLine("b", 3_000, 4, (("day", "1"),), None),
        FileLine("a", 1_000, 0, (("day", "1"),), 7),
        FileLine("c", 10, 0, (("day", None),), 1),
    )


def test_a_page_of_files_is_some_of_them_the_largest_first() -> None:
    count = 2 * files_view.FILES_ON_A_PAGE + 1
    adds = [
        AddFile(
            path=f"{n}.parquet",
            partition_values={},
            size=n,
            modification_time=EpochMillis(0),
            data_change=True,
        )
        for n in range(count)
    ]
    listed = files_view.files_view(live_files.adds_as_table(adds), metadata(NESTED)).listed

    second, last = listed.page(2), listed.page(99)

    assert (second.number, second.pages, second.total) == (2, 3, count)
    assert [line.size_bytes for line in second.items] == list(range(count - 51, count - 101, -1))
    assert (last.number, [line.path for line in last.items]) == (3, ["0.parquet"])


@pytest.mark.parametrize(
    ("rows", "texts"),
    [
        ([[("a", "1"), ("b", "2")], [("a", "3"), ("b", None)]], ["2", None]),
        ([[("a", "1"), ("b", "2")], [("b", "3"), ("a", "4")]], ["2", "3"]),
        ([[("a", "1"), ("b", "2")], [("b", "3")], [], None], ["2", "3", None, None]),
        ([[("a", "1")], [("a", "1")]], [None, None]),
        ([[], []], [None, None]),
        ([], []),
    ],
    ids=["in one order", "in two orders", "of some", "of another name", "of none", "no files"],
)
def test_the_value_of_a_partition_column_is_found_in_every_file(
    rows: list[list[tuple[str, str | None]] | None], texts: list[str | None]
) -> None:
    maps = pa.array([[("b", "0")], *rows, [("b", "9")]], pa.map_(pa.string(), pa.string()))

    found = files_view.partition_texts(pa.chunked_array([maps[1:-1]]), "b")

    assert found.to_pylist() == texts


def test_the_depth_of_clustering_is_how_many_files_hold_a_value() -> None:
    low, high = pa.array([1, 4, 10, None, 4]), pa.array([5, 9, 12, 3, 4])

    assert list(files_view.overlap_depths(low, high)) == [1, 3, 1, 3]
    assert list(files_view.overlap_depths(pa.array(["a", "b"]), pa.array(["a", "c"]))) == [1, 1]


def test_the_share_of_deleted_rows_is_by_file() -> None:
    deleted, rows = np.array([0, 5, 3, 1, 1, 30]), pa.array([None, 100, 4, None, 0, 100], pa.int64())

    shown = files_view.deleted_plot(deleted, rows).rows

    assert shown == (("none", 1), ("up to 5 %", 1), ("up to 25 %", 0), ("up to 50 %", 1), ("more", 1))


def test_a_table_without_files_has_nothing_to_draw() -> None:
    empty = live_files.SCHEMA.empty_table()

    found = files_view.files_view(empty, metadata(NESTED))

    assert (found.files, found.sizes.values, found.partitions, found.listed.page().items) == (0, (), None, ())


def test_cells_are_cut_and_nulls_are_none() -> None:
    found = rows_view.rows_view(3, pa.table({"a": ["x" * 400, None], "b": [b"\x00\xff", b""]}))

    assert found.columns == ("a", "b")
    assert found.rows[0] == ("x" * 300 + "…", "AP8=") and found.rows[1] == (None, "")


def test_cells_have_the_words_of_json() -> None:
    kinds = {
        "flag": pa.bool_(),
        "price": pa.decimal128(4, 2),
        "at": pa.timestamp("us", "UTC"),
        "part": pa.struct([("city", pa.string()), ("n", pa.int32())]),
        "tags": pa.map_(pa.string(), pa.bool_()),
        "list": pa.list_(pa.float64()),
    }
    row = {
        "flag": True,
        "price": Decimal("1.50"),
        "at": datetime(2026, 11, 1, tzinfo=UTC),
        "part": {"city": "Ghënt", "n": None},
        "tags": [("new", True)],
        "list": [1.5, float("nan"), None],
    }

    found = rows_view.rows_view(3, pa.Table.from_pylist([row], pa.schema(list(kinds.items()))))

    assert found.rows == (
        ("true", "1.50", "2026-11-01T00:00:00Z", '{"city":"Ghënt","n":null}', '{"new":true}',
         '[1.5,"nan",null]'),
    )  # fmt: skip


def test_events_are_paged_from_the_latest_to_the_oldest_and_back() -> None:
    seen, before, pages = [], 46, []
    while before is not None:
        events = tuple(map(event, range(max(1, before - 20), before)))
        page = events_view.events_page(EventWindow(events, before, 45), None, 20)
        seen += [line.cursor for line in page.lines]
        pages.append(page)
        before = page.older

    assert seen == list(range(45, 0, -1))
    assert [page.newer for page in pages] == [None, 46, 26]


def test_events_that_are_forgotten_are_told_to_be() -> None:
    window = EventWindow(tuple(map(event, range(41, 46))), 46, 45, is_forgotten=True)
    page = events_view.events_page(window, None, 20)

    assert [line.cursor for line in page.lines] == [45, 44, 43, 42, 41]
    assert page.is_forgotten and page.older is None


def test_every_kind_of_event_has_a_sentence() -> None:
    assert all(events_view.event_line(event(1, kind)).sentence for kind in EventKind)


def test_a_refusal_says_what_to_do() -> None:
    refusal = event(
        1, EventKind.REFUSAL, by="privileges", principal="bob", message="no", line=2, action="add"
    )

    line = events_view.refusal_lines([event(2), refusal])[0]

    assert (line.rule, line.principal, line.action) == ("privileges", "bob", "add, line 2")
    assert line.advice == "ask who manages grants of the table for what this takes"
    named = event(1, EventKind.REFUSAL, by="privileges", message="it takes CHANGE DATA, which bob has not")
    assert events_view.refusal_lines([named])[0].advice.endswith("for CHANGE DATA")


GRANTS = (
    Grant(Principal("group:a"), Privilege.CHANGE_DATA, "sales", OWNER),
    Grant(Principal("bob"), Privilege.READ, "lake", Principal("ada")),
    Grant(Principal("bob"), Privilege.DROP, "other.t", OWNER),
)
GROUPS = (Group("group:a", (Principal("bob"),)),)


def test_a_privilege_comes_with_the_chain_it_comes_from() -> None:
    found = {
        line.privilege: line.reasons
        for line in grants_view.explain_privileges("bob", "sales.t", GRANTS, GROUPS)
    }

    assert found["APPEND"] == (
        "comes with CHANGE DATA on sales, granted by owner to group:a, of which bob is a member",
    )
    assert found["READ"][1] == "READ on lake, granted by ada"
    assert found["DROP"] == ()


def test_the_owner_needs_no_grant() -> None:
    assert all(line.is_held for line in grants_view.explain_privileges(OWNER, None, (), ()))
    assert not any(line.is_held for line in grants_view.explain_privileges("eve", None, GRANTS, GROUPS))


def test_rules_of_conflicts_speak_of_the_two_sides() -> None:
    said = {rule.name: rule.says for rule in races_view.conflict_rules()}

    assert said["delete-vs-read"] == "the winner removed a file the loser read"
    assert said["feature-drop"] == "the loser drops a feature the winner may have used"
    assert not [words for words in said.values() if {"we", "our", "us"} & set(words.split())]


def test_moments_are_written_for_programs_too() -> None:
    assert formats.iso(0) == "1970-01-01T00:00:00.000Z"
    assert formats.iso(None) == formats.iso(-1) == formats.iso(2**63) == ""


def test_a_transaction_names_the_tables_that_may_be_seen() -> None:
    members = tuple(
        RatifiedMember(TableId(f"id-{name}"), Version(n), None)
        for n, name in enumerate(("s.a", "s.b", "s.hidden"), 1)
    )
    events = [event(1, table="s.a"), event(2, table="s.b")]

    lines = transactions_view.transaction_lines([RatifiedGroup(GroupId("g"), members)], events)

    assert lines[0].members == (("s.a", 1), ("s.b", 2)) and lines[0].hidden == 1
