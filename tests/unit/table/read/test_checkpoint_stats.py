"""Bounds out of the statistics of a large checkpoint, read in batches: those of the whole, file by file."""

import io
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from random import Random
from threading import Barrier
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import override

from headgate.errors import CorruptLog
from headgate.protocol import property_values
from headgate.protocol.actions import AddFile, DeletionVector, EpochMillis, Metadata, RemoveFile
from headgate.protocol.log import codec, file_names
from headgate.protocol.predicates import from_sql
from headgate.protocol.predicates.tree import Column
from headgate.protocol.schema import column_mapping
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Field, Primitive, Struct
from headgate.protocol.stats import data_skipping
from headgate.protocol.stats.file_bounds import FileBounds
from headgate.storage.store import ObjectMeta
from headgate.table.read import checkpoint_reader
from headgate.table.read.live_files import LiveFiles
from tests.support.commits import PROTOCOL, add, commit, metadata, remove
from tests.support.faulty_store import DictStore

V10 = "_delta_log/00000000000000000010"
CLASSIC = f"{V10}.checkpoint.parquet"
SCHEMA = Struct(
    (
        Field("id", Primitive("long")),
        Field("name", Primitive("string")),
        Field("at", Primitive("timestamp")),
        Field("price", Primitive("decimal(20,2)")),
        Field("ratio", Primitive("double")),
        Field("day", Primitive("date")),
        Field("in", Struct((Field("ner", Primitive("integer")),))),
    )
)
COLUMNS = [
    Column(path, data_type)
    for path, data_type in (
        (("id",), Primitive("long")), (("name",), Primitive("string")), (("at",), Primitive("timestamp")),
        (("price",), Primitive("decimal(20,2)")), (("ratio",), Primitive("double")),
        (("day",), Primitive("date")), (("in", "ner"), Primitive("integer")),
    )
]  # fmt: skip
TABLE = metadata(schema_json.render(SCHEMA))
VECTOR = pa.struct(
    [
        ("storageType", pa.string()), ("pathOrInlineDv", pa.string()), ("offset", pa.int32()),
        ("sizeInBytes", pa.int32()), ("cardinality", pa.int64()),
    ]
)  # fmt: skip
BOUND = pa.struct([("id", pa.int64()), ("price", pa.decimal128(20, 2))])
COUNTS = pa.struct([("id", pa.int64()), ("price", pa.int64())])
PARSED = pa.struct(
    [("numRecords", pa.int64()), ("minValues", BOUND), ("maxValues", BOUND), ("nullCount", COUNTS)]
)
SMALL_ROWS: list[dict[str, Any]] = [
    {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
    {
        "metaData": {
            "id": "t", "format": {"provider": "parquet", "options": {}}, "schemaString": "{}",
            "partitionColumns": [], "configuration": {},
        }
    },
]  # fmt: skip
Row = dict[str, Any]


@pytest.fixture(autouse=True)
def _in_small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every checkpoint counts as a large one, and is read two files at a time."""
    monkeypatch.setattr(checkpoint_reader, "WHOLE_READ_BYTES", 0)
    monkeypatch.setattr(checkpoint_reader, "_BATCH_OF_STATISTICS", 2)


def put(store: DictStore, path: str, rows: list[Row], *, drop: str = "", small: bool = True) -> None:
    texts = pa.map_(pa.string(), pa.string())
    own = [("path", pa.string()), ("partitionValues", texts), ("size", pa.int64()), ("stats", pa.string())]
    own += [("modificationTime", pa.int64()), ("deletionVector", VECTOR), ("stats_parsed", PARSED)]
    kept = pa.struct([field for field in own if field[0] not in drop.split()])
    schema = {
        "protocol": pa.struct([("minReaderVersion", pa.int32()), ("minWriterVersion", pa.int32())]),
        "metaData": pa.struct(
            [
                ("id", pa.string()), ("format", pa.struct([("provider", pa.string()), ("options", texts)])),
                ("schemaString", pa.string()), ("partitionColumns", pa.list_(pa.string())),
                ("configuration", texts),
            ]
        ),
        "add": kept,
        "sidecar": pa.struct([("path", pa.string()), ("sizeInBytes", pa.int64())]),
    }  # fmt: skip
    all_rows = [*rows[:1], *SMALL_ROWS, *rows[1:]] if small else rows
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(all_rows, schema=pa.schema(schema)), buffer, row_group_size=5)
    store.put(path, buffer.getvalue())


def file_row(path: str, stats: str | None, **more: Any) -> Row:
    facts = {"partitionValues": {"p": path}, "size": 7, "modificationTime": 5, "stats": stats}
    return {"add": {"path": path, **facts, **more}}


def stat(low: Any, high: Any, column: str = "id", *, nulls: int = 0) -> str:
    found = {"minValues": {column: low}, "maxValues": {column: high}, "nullCount": {column: nulls}}
    return json.dumps({"numRecords": 10, **found})


def opened(store: DictStore, *paths: str) -> LiveFiles:
    parsed = [file_names.parse(path, size=store.head(path).size) for path in paths or (CLASSIC,)]
    return checkpoint_reader.read_checkpoint(store, [part for part in parsed if part is not None])[1]


def kept(files: LiveFiles, sql: str, table: Metadata = TABLE) -> str:
    """The paths, one letter each, of the files to read."""
    bounds = files.bounds(table)
    found = data_skipping.keep_mask(bounds, from_sql.parse(sql, schema_json.parse(table.schema_string)))
    return "".join(bounds.files.filter(found)["path"].to_pylist())


def of_checkpoint(texts: list[str | None], **more: Any) -> LiveFiles:
    store = DictStore()
    put(store, CLASSIC, [file_row("abcdefghijklmn"[at], text) for at, text in enumerate(texts)], **more)
    return opened(store)


def facts(bounds: FileBounds, column: Column) -> dict[str, list[Any]]:
    found = bounds.of(column)
    return {field.name: getattr(found, field.name).to_pylist() for field in fields(found)}


SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "id": st.integers(-(2**64), 2**64),
    "name": st.text(max_size=40),
    "at": st.sampled_from(
        ["2024-01-01T00:00:00.123Z", "1969-12-31T23:59:59.999Z", "2024-02-31T00:00:00.000Z", "never"]
    ),
    "price": st.one_of(st.integers(-(10**18), 10**18), st.floats(-1e6, 1e6)),
    "ratio": st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.just("NaN")),
    "day": st.sampled_from(["2024-01-01", "2024-02-31", "12024-01-01", ""]),
    "in": st.fixed_dictionaries({}, optional={"ner": st.integers(-5, 5)}),
}
ODD = st.sampled_from([None, True, "x", 1.5, [1], {"a": 1}])
SECTION = st.fixed_dictionaries(
    {}, optional={name: st.one_of(values, values, values, ODD) for name, values in SCALARS.items()}
)
COUNT_SECTION = st.fixed_dictionaries({"id": st.integers(0, 3), "in": st.just({"ner": 0})})
WHOLE = st.fixed_dictionaries(
    {"numRecords": st.integers(0, 3)},
    optional={"minValues": SECTION, "maxValues": SECTION, "nullCount": st.one_of(COUNT_SECTION, ODD)},
).map(json.dumps)
BROKEN = ["", "no json", "[1]", "{}", "{}{}", '{"numRecords":"}', '{"}', '{"numRecords":1', " {} ", "null"]
TEXTS = st.lists(st.one_of(WHOLE, WHOLE, st.none(), st.sampled_from(BROKEN)), min_size=1, max_size=12)


@settings(max_examples=40, deadline=None)
@given(TEXTS, TEXTS, st.sets(st.sampled_from("abcdefghijkl")))
def test_streamed_bounds_are_those_of_each_file_read_by_itself(
    texts: list[str | None], later: list[str | None], gone: set[str]
) -> None:
    adds = [add(f"+{at}", text) for at, text in enumerate(later)]
    files = of_checkpoint(texts).after(commit(11, *map(remove, sorted(gone)), *adds))
    alone = [text for at, text in enumerate(texts) if "abcdefghijklmn"[at] not in gone] + later

    streamed = files.bounds(TABLE)
    whole = FileBounds(files.columns)

    for column in COLUMNS:
        found = facts(streamed, column)
        assert found == facts(whole, column)
        singles = [facts(FileBounds(pa.table({"stats": [text]}, _STATS)), column) for text in alone]
        assert found == {name: [single[name][0] for single in singles] for name in found}


_STATS = pa.schema({"stats": pa.string()})


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), st.text(max_size=15)), min_size=1, max_size=12))
def test_numbers_and_texts_come_back_as_they_were(values: list[tuple[int, str]]) -> None:
    ends = [{"id": number, "name": text} for number, text in values]
    texts = [json.dumps({"numRecords": 1, "minValues": end, "maxValues": end}) for end in ends]
    bounds = of_checkpoint([*texts]).bounds(TABLE)

    assert bounds.of(COLUMNS[0]).low.to_pylist() == [number for number, _ in values]
    assert bounds.of(COLUMNS[1]).low.to_pylist() == [text for _, text in values]


@pytest.mark.parametrize("broken", BROKEN)
def test_a_file_with_broken_statistics_is_kept_and_its_neighbours_are_judged(broken: str) -> None:
    files = of_checkpoint([stat(1, 2), broken, stat(3, 4), None, stat(5, 6)])

    assert kept(files, "id = 5") == "bde"


def test_broken_texts_that_make_sense_together_are_still_broken() -> None:
    """Put one after the other the first two are one object, and the third is two."""
    texts = ['{"numRecords":"}', '{"}', '{"nullCount":{}}{"minValues":{"id":9}}', stat(1, 2)]

    assert kept(of_checkpoint(list(texts)), "id = 5") == "abc"


@pytest.mark.parametrize(
    ("column", "low", "high", "sql", "keep"),
    [
        ("id", 2**53 + 1, 2**53 + 1, f"id = {2**53}", ""),
        ("id", 2**53 + 1, 2**53 + 1, f"id = {2**53 + 1}", "a"),
        ("at", "2024-01-01T00:00:00.001Z", "2024-01-01T00:00:00.001Z",
         "at = TIMESTAMP'2024-01-01 00:00:00.001999'", "a"),
        ("at", "2024-01-01T00:00:00.001Z", "2024-01-01T00:00:00.001Z",
         "at = TIMESTAMP'2024-01-01 00:00:00.002'", ""),
        ("name", 'q"\\/é\n', "q\u20ac\U0001f600", "name = 'q'", ""),
        ("name", 'q"\\/é\n', "q\u20ac\U0001f600", "name = 'q\U0001f600'", ""),
        ("name", 'q"\\/é\n', "q\u20ac\U0001f600", "name = 'q\u20ac'", "a"),
        ("price", 0.1, 0.3, "price = 0.31", ""),
        ("price", 0.1, 0.3, "price = 0.30", "a"),
        ("price", 123456789012345678.25, 123456789012345678.25, "price = 123456789012345678.25", "a"),
        ("price", 123456789012345678.25, 123456789012345678.25, "price = 123456789012355678.25", ""),
        ("in", {"ner": 1}, {"ner": 2}, "`in`.ner = 3", ""),
        ("in", {"ner": 1}, {"ner": 2}, "`in`.ner = 2", "a"),
        ("in", None, None, "`in`.ner = 2", "a"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("ascii_only", [True, False])
def test_values_of_each_kind(
    column: str, low: Any, high: Any, sql: str, keep: str, *, ascii_only: bool
) -> None:
    ends = {"minValues": {column: low}, "maxValues": {column: high}}
    text = json.dumps({"numRecords": 1, **ends}, ensure_ascii=ascii_only)

    assert kept(of_checkpoint([text]), sql) == keep


def vector(name: str) -> Row:
    return {"storageType": "u", "pathOrInlineDv": name, "offset": 1, "sizeInBytes": 3, "cardinality": 2}


def test_commits_that_remove_and_add_again_with_and_without_vectors() -> None:
    store = DictStore()
    rows = [file_row(name, stat(at, at)) for at, name in enumerate("abcd")]
    rows[2]["add"]["deletionVector"] = vector("v1")
    put(store, CLASSIC, rows)
    first, second = (
        DeletionVector(storage_type="u", path_or_inline_dv=name, offset=1, size_in_bytes=3, cardinality=2)
        for name in ("v1", "v2")
    )
    again = AddFile(
        path="c", partition_values={}, size=1, modification_time=EpochMillis(1), data_change=True,
        stats=stat(7, 7), deletion_vector=second,
    )  # fmt: skip
    files = opened(store)
    cut = files.after(commit(11, RemoveFile(path="c", data_change=True, deletion_vector=first), again))
    late = cut.after(commit(12, remove("a"), add("a", stat(9, 9)), add("e", stat(2, 2)), remove("c")))

    assert [kept(files, f"id = {number}") for number in (0, 2, 7, 9)] == ["a", "c", "", ""]
    assert [kept(cut, f"id = {number}") for number in (0, 2, 7, 9)] == ["a", "", "c", ""]
    assert [kept(late, f"id = {number}") for number in (0, 1, 2, 3, 7, 9)] == ["", "b", "e", "d", "c", "a"]


@pytest.mark.parametrize("drop", ["", "stats_parsed"])
def test_rows_are_counted_file_by_file_without_keeping_statistics(drop: str) -> None:
    store = DictStore()
    rows = [file_row(name, stat(at, at)) for at, name in enumerate("abcd")]
    rows[1]["add"]["stats"] = None
    rows[3]["add"]["stats_parsed"] = {"numRecords": 3}
    put(store, CLASSIC, rows, drop=drop)
    files = opened(store)
    later = files.after(commit(11, remove("a"), add("d", '{"numRecords":8}'), add("e", "no json")))

    for found, counts in ((files, [10, None, 10, 3 if not drop else 10]), (later, [None, 10, 8, None])):
        assert found.record_counts().to_pylist() == counts
        assert found._columns is None
        assert len(found.columns) == len(counts)
        assert found.record_counts().to_pylist() == counts


def test_the_parts_of_a_checkpoint_are_read_in_their_order() -> None:
    store = DictStore()
    parts = [f"{V10}.checkpoint.{part:010d}.0000000003.parquet" for part in (1, 2, 3)]
    put(store, parts[0], [file_row("a", stat(0, 0)), file_row("b", stat(1, 1))])
    put(store, parts[1], [], small=False)
    put(store, parts[2], [file_row("c", stat(2, 2)), file_row("d", None)], small=False)

    files = opened(store, *parts)

    assert [kept(files, f"id = {number}") for number in range(4)] == ["ad", "bd", "cd", "d"]


@pytest.mark.parametrize("ending", ["json", "parquet"])
@pytest.mark.parametrize("turned", [False, True])
def test_sidecars_are_read_in_the_order_they_are_named(ending: str, *, turned: bool) -> None:
    store = DictStore()
    main = f"{V10}.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.{ending}"
    put(
        store,
        file_names.SIDECAR_FOLDER + "x.parquet",
        [file_row("a", stat(0, 0)), file_row("b", stat(1, 1))],
        small=False,
    )
    put(store, file_names.SIDECAR_FOLDER + "y.parquet", [file_row("c", stat(2, 2))], small=False)
    named = [
        {"sidecar": {"path": f"{name}.parquet", "sizeInBytes": 9}} for name in ("yx" if turned else "xy")
    ]
    if ending == "json":
        lines = [json.dumps(row).encode() + b"\n" for row in named]
        store.put(main, codec.encode((PROTOCOL, TABLE, add("d", stat(3, 3)))) + b"".join(lines))
    else:
        put(store, main, [*named, file_row("d", stat(3, 3))])

    files = opened(store, main)

    assert [kept(files, f"id = {number}") for number in range(5)] == ["a", "b", "c", "d", ""]


def parsed(low: int, high: int) -> Row:
    ends = {"minValues": {"id": low, "price": low}, "maxValues": {"id": high, "price": high}}
    return {"numRecords": 10, **ends, "nullCount": {"id": 0, "price": 0}}


@pytest.mark.parametrize("drop", ["", "stats"])
@pytest.mark.parametrize("column", ["id", "price"])
def test_parsed_statistics_are_taken_and_json_where_there_are_none(drop: str, column: str) -> None:
    store = DictStore()
    rows = [file_row("a", "{}", stats_parsed=parsed(1, 2)), file_row("b", stat(3, 4, column))]
    rows += [file_row("c", None, stats_parsed=parsed(5, 6)), file_row("d", None)]
    if drop:
        rows = [{"add": {name: value for name, value in row["add"].items() if name != drop}} for row in rows]
    put(store, CLASSIC, rows, drop=drop)

    files = opened(store).after(commit(11, add("e", stat(1, 1, column))))

    unknown = "b" if drop else ""
    assert kept(files, f"{column} = 1") == f"a{unknown}de"
    assert kept(files, f"{column} = 6") == f"{unknown}cd"
    assert kept(files, f"{column} = 3") == "bd"


class CountingStore(DictStore):
    """Knows how many bytes were read, and how often files were opened."""

    bytes_read = opened = 0

    @override
    def read(self, path: str, *, last: int | None = None, at: range | None = None) -> bytes:
        found = super().read(path, last=last, at=at)
        self.bytes_read += len(found)
        return found

    @override
    def head(self, path: str) -> ObjectMeta:
        self.opened += 1
        return super().head(path)


def test_json_is_not_read_if_all_statistics_are_parsed() -> None:
    store = CountingStore()
    noise = Random(1).randbytes(500_000).hex()
    rows = [file_row(name, noise[at:], stats_parsed=parsed(at, at)) for at, name in enumerate("abcdef")]
    put(store, CLASSIC, rows)
    files = opened(store)
    _ = files.without_stats
    before = store.bytes_read

    assert kept(files, "id = 3") == "d"
    assert store.bytes_read - before < 250_000


def test_a_condition_on_partitions_does_not_look_at_statistics() -> None:
    store = DictStore()
    put(store, CLASSIC, [file_row(name, stat(at, at)) for at, name in enumerate("abc")])
    columns = Struct((*SCHEMA.fields, Field("p", Primitive("string"))))
    by_p = Metadata(id="t", format=TABLE.format, schema_string=schema_json.render(columns),
                    partition_columns=("p",), configuration={})  # fmt: skip
    files = opened(store)
    _ = files.without_stats
    store.delete(CLASSIC)

    assert kept(files, "p = 'b'", by_p) == "b"
    assert kept(files, "p = 'b' OR length(name) = 3", by_p) == "abc"
    with pytest.raises(CorruptLog, match=r"00010\.checkpoint\.parquet"):
        kept(files, "p = 'b' AND id = 1", by_p)


def test_a_column_is_read_once_for_all_versions_on_a_checkpoint() -> None:
    store = DictStore()
    put(store, CLASSIC, [file_row(name, stat(at, at)) for at, name in enumerate("abc")])
    files = opened(store)
    assert kept(files, "id = 1") == "b"
    store.delete(CLASSIC)

    later = files.after(commit(11, remove("a"), add("d", stat(1, 1))))

    assert kept(files, "id = 2") == "c"
    assert kept(later, "id = 1") == "bd"
    assert kept(later, "id = 0") == ""


def test_columns_asked_for_one_after_the_other() -> None:
    ends = [{"id": at, "name": f"n{at}", "in": {"ner": 9 - at}} for at in range(4)]
    files = of_checkpoint([json.dumps({"minValues": end, "maxValues": end}) for end in ends])

    assert kept(files, "id = 1") == "b"
    assert kept(files, "name = 'n2'") == "c"
    assert kept(files, "`in`.ner >= 8 AND id >= 1") == "b"
    assert kept(files, "id = 3 OR name = 'n0'") == "ad"
    assert files.columns.num_rows == 4
    assert kept(files, "id = 1") == "b"


def test_threads_that_prune_at_once_share_one_reading() -> None:
    store = CountingStore()
    put(store, CLASSIC, [file_row(name, stat(at, at)) for at, name in enumerate("abcdefgh")])
    files = opened(store)
    _ = files.without_stats
    before = store.opened
    together = Barrier(8)

    def prune(number: int) -> str:
        together.wait()
        return kept(files, f"id = {number}") + kept(files, f"id IS NULL OR id > {number}")

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(prune, range(8)))

    assert store.opened == before + 1
    assert found == ["abcdefgh"[number:] for number in range(8)]
    assert files.bounds(TABLE) is files.bounds(metadata(schema_json.render(SCHEMA)))


def test_physical_names_and_names_with_dots() -> None:
    mapped = {column_mapping.PHYSICAL_NAME: "col.1", column_mapping.COLUMN_ID: 1}
    inner = {column_mapping.PHYSICAL_NAME: "col-3", column_mapping.COLUMN_ID: 3}
    outer = {column_mapping.PHYSICAL_NAME: "col-2", column_mapping.COLUMN_ID: 2}
    columns = Struct(
        (
            Field("id", Primitive("long"), metadata=mapped),
            Field("in", Struct((Field("ner", Primitive("long"), metadata=inner),)), metadata=outer),
        )
    )
    table = metadata(schema_json.render(columns))
    table = Metadata(id="t", format=table.format, schema_string=table.schema_string, partition_columns=(),
                     configuration={property_values.COLUMN_MAPPING_MODE: "name"})  # fmt: skip
    ends = [{"col.1": at, "col-2": {"col-3": -at}} for at in range(3)]
    files = of_checkpoint([json.dumps({"minValues": end, "maxValues": end}) for end in ends])

    assert kept(files, "id = 1", table) == "b"
    assert kept(files, "`in`.ner = -2", table) == "c"


def test_bounds_of_some_files_are_those_they_had_among_all() -> None:
    files = of_checkpoint([stat(at, at) for at in range(6)])
    bounds = files.bounds(TABLE)
    odd = bounds.only(pa.array([False, True] * 3))

    found = data_skipping.keep_mask(odd, from_sql.parse("id >= 2", SCHEMA))

    assert odd.files["path"].to_pylist() == ["b", "d", "f"]
    assert found.to_pylist() == [False, True, True]
    assert facts(odd, COLUMNS[0])["low"] == facts(bounds, COLUMNS[0])["low"][1::2]
