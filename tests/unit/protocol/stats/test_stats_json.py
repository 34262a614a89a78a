"""Leaves out of JSON statistics: null wherever a text, or a value in it, is not what was asked for."""

import json
from typing import Any

import pyarrow as pa
import pytest

from headgate.protocol.stats.stats_json import StatsJsonReader, StatsLeaf

KINDS = {"long": pa.int64(), "double": pa.float64(), "float": pa.float32(), "text": pa.string(),
         "flag": pa.bool_()}  # fmt: skip
LOW = {name: StatsLeaf("minValues", (name,)) for name in KINDS}
RECORDS, INNER = StatsLeaf("numRecords", ()), StatsLeaf("maxValues", ("in", "deep", "er"))
ASKED = {RECORDS: pa.int64(), INNER: pa.int64(), **{LOW[name]: kind for name, kind in KINDS.items()}}
FULL = {"long": 5, "double": 0.5, "float": 0.25, "text": "é\"\\\n", "flag": True}  # fmt: skip
USUAL = '{"numRecords":3,"minValues":{"long":4}}'
DEEP = '{"a":' * 5_000 + "1" + "}" * 5_000


def read(texts: list[str | None], asked: dict[StatsLeaf, pa.DataType] = ASKED) -> dict[StatsLeaf, list[Any]]:
    found = StatsJsonReader(asked).read(pa.array(texts, pa.string()))
    assert {leaf: values.type for leaf, values in found.items()} == asked
    return {leaf: values.to_pylist() for leaf, values in found.items()}


@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize("beside", [[], [None], ["{}"], ["broken"], [""], [" {} "], ['{"n":1}']])
def test_values_of_every_kind_among_any_others(beside: list[str | None], *, ascii_only: bool) -> None:
    whole = {"numRecords": 9, "minValues": FULL, "maxValues": {"in": {"deep": {"er": -1}}}, "tightBounds": 1}
    text = json.dumps(whole, ensure_ascii=ascii_only)

    found = read([text, *beside, USUAL])

    nothing: list[Any] = [None] * len(beside)
    assert found[RECORDS] == [9, *nothing, 3]
    assert found[INNER] == [-1, *nothing, None]
    for name in KINDS:
        assert found[LOW[name]] == [FULL[name], *nothing, 4 if name == "long" else None]


@pytest.mark.parametrize("opening", ["numRecords", "nullCount", "minValues", "maxValues", "tightBounds", "x"])
@pytest.mark.parametrize("space", ["", " ", "\n"])
def test_the_order_and_the_spaces_of_a_writer_do_not_matter(opening: str, space: str) -> None:
    text = f'{{{space}"{opening}":{space}null,"minValues":{{"long":{space}8}}{space}}}{space}'

    assert read([USUAL, text, USUAL])[LOW["long"]] == [4, 8, 4]


@pytest.mark.parametrize(
    ("name", "said", "value"),
    [
        ("long", "-5", -5),
        ("long", str(2**53 + 1), 2**53 + 1),
        ("long", str(2**63 - 1), 2**63 - 1),
        ("long", str(-(2**63)), -(2**63)),
        ("long", str(2**63), None),
        ("long", str(-(2**70)), None),
        ("long", "1" * 5_000, None),
        ("long", "1.0", None),
        ("long", "true", None),
        ("long", '"1"', None),
        ("double", "1e-3", 0.001),
        ("double", "7", 7.0),
        ("double", str(2**60 + 1), float(2**60)),
        ("double", "1e400", None),
        ("double", "-1e400", None),
        ("double", "1" * 400, None),
        ("double", "true", None),
        ("double", '"NaN"', None),
        ("double", '"1.5"', None),
        ("double", "NaN", None),
        ("float", "0.1", 0.10000000149011612),
        ("text", '"\\u00e9\\ud83d\\ude00"', "é\U0001f600"),
        ("text", '"\\ud800"', None),
        ("text", "5", None),
        ("text", "5.5", None),
        ("text", "false", None),
        ("text", "[]", None),
        ("flag", "false", False),
        ("flag", "0", None),
        ("flag", "0.0", None),
        ("flag", '"false"', None),
        ("long", "null", None),
        ("long", "{}", None),
        ("long", '{"long":1}', None),
    ],
)
def test_a_value_that_is_not_of_the_type_is_null_and_spoils_nothing(name: str, said: str, value: Any) -> None:
    text = f'{{"numRecords":2,"minValues":{{"{name}":{said},"z":1}}}}'
    readable = said not in ("NaN", '"\\ud800"', "1" * 5_000)

    found = read([USUAL, text, json.dumps({"minValues": FULL})])

    assert found[LOW[name]] == [4 if name == "long" else None, value, FULL[name]]
    assert found[RECORDS] == [3, 2 if readable else None, None]


@pytest.mark.parametrize("name", KINDS)
def test_beside_a_value_of_another_type_the_others_of_a_text_are_read(name: str) -> None:
    wrong = [1] if name != "text" else 1
    text = json.dumps({"numRecords": 2**53 + 1, "minValues": {**FULL, name: wrong}})

    found = read([text])

    assert found[RECORDS] == [2**53 + 1]
    assert {other: found[LOW[other]][0] for other in KINDS} == {**FULL, name: None}


@pytest.mark.parametrize(
    "said",
    [
        "null", "5", '"x"', "[]", '{"in":null}', '{"in":5}', '{"in":{"deep":null}}', '{"in":{"deep":[]}}',
        '{"in":{}}', '{"in":{"deep":{}}}',
    ],
)  # fmt: skip
def test_what_lies_on_the_way_to_a_leaf_may_be_anything(said: str) -> None:
    inner = '{"maxValues":{"in":{"deep":{"er":6}}}}'
    found = read([USUAL, f'{{"numRecords":1,"maxValues":{said},"minValues":{{"long":2}}}}', inner])

    assert found[INNER] == [None, None, 6]
    assert found[RECORDS] == [3, 1, None]
    assert found[LOW["long"]] == [4, 2, None]


@pytest.mark.parametrize(
    "texts",
    [
        ['{"numRecords":"}', '{"}'],
        ['{"numRecords":1}{"numRecords":2}', USUAL],
        ['{"numRecords":1,"x":', '{"n":1}}', '{"numRecords":1}{"numRecords":2}'],
        ['{"numRecords":1,"x":"}', '{"}', '{"numRecords":1}{"numRecords":2}'],
        ['{"numRecords":1,"x":{}', ',"minValues":{"long":2}}', '{"numRecords":1}{"numRecords":2}'],
        ['{"numRecords":1', "}", '{"numRecords":5}{"numRecords":6}'],
        ['{"numRecords":{}', '{"n":1}}'],
        ['{"numRecords":1}}', USUAL],
        ['{"numRecords":1} x', USUAL],
        ["[1]", "null", '"x"', "7", "", " ", "{", "}", "no json"],
        [DEEP],
        ['{"numRecords":1,"x":' + DEEP + "}"],
    ],
)
def test_broken_texts_are_nothing_even_if_they_make_sense_together(texts: list[str]) -> None:
    found = read([*texts, "{}"])

    for text, records in zip(texts, found[RECORDS], strict=False):
        assert records == (3 if text == USUAL else None)
    assert found[LOW["long"]] == [4 if text == USUAL else None for text in [*texts, "{}"]]


@pytest.mark.parametrize("beside", [b"{}", b"broken"])
def test_bytes_that_are_no_text_spoil_only_what_they_are_part_of(beside: bytes) -> None:
    stored = [b'{"numRecords":7,"minValues":{"text":"\xff"}}', b'{"numRecords":8}', beside]
    texts = pa.Array.from_buffers(pa.string(), 3, pa.array(stored, pa.binary()).buffers())

    found = StatsJsonReader({RECORDS: pa.int64(), LOW["text"]: pa.string()}).read(texts)

    assert found[RECORDS].to_pylist() == [None, 8, None]
    assert found[LOW["text"]].to_pylist() == [None, None, None]


@pytest.mark.parametrize("size", [0, 1, 2, 3])
@pytest.mark.parametrize("start", [0, 1, 2])
def test_a_part_of_a_column_is_read_as_such(start: int, size: int) -> None:
    for missing in (None, 3):
        known = [None if number == missing else number for number in range(5)]
        texts = pa.array([None if number is None else f'{{"numRecords":{number}}}' for number in known])

        found = StatsJsonReader({RECORDS: pa.int64()}).read(texts.slice(start, size))

        assert found[RECORDS].to_pylist() == known[start : start + size]


@pytest.mark.parametrize(
    "texts",
    [
        [USUAL],
        [USUAL, None, "{}", USUAL],
        ['{"nullCount":{},"numRecords":1}', '{"minValues":{}}', '{"maxValues":{}}', '{"tightBounds":true}'],
    ],
)
def test_what_writers_usually_write_is_never_read_one_by_one(
    texts: list[str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = read(texts)
    monkeypatch.delattr(StatsJsonReader, "_alone")

    assert read(texts) == expected
    assert (
        StatsJsonReader(ASKED).read(pa.array([None, *texts]).slice(1))[RECORDS].to_pylist()
        == expected[RECORDS]
    )


def test_no_text_at_all_and_no_leaf_at_all() -> None:
    assert read([]) == {leaf: [] for leaf in ASKED}
    bare = pa.Array.from_buffers(pa.string(), 0, [None, pa.py_buffer(b""), pa.py_buffer(b"")])
    assert StatsJsonReader({RECORDS: pa.int64()}).read(bare)[RECORDS].to_pylist() == []
    assert read([None, None])[RECORDS] == [None, None]
    assert StatsJsonReader({}).read(pa.array([USUAL, None, "broken"])) == {}


def test_names_with_dots_and_of_python_are_names_like_any_other() -> None:
    odd = [("a.b",), ("a", "b"), ("class",), ("f0",), ("",), ("a", "f1", "self")]
    leaves = {StatsLeaf("minValues", path): pa.int64() for path in odd}
    low = {"a.b": 1, "a": {"b": 2, "f1": {"self": 6}}, "class": 3, "f0": 4, "": 5}

    for text in ({"minValues": low}, {"minValues": {**low, "z": "x"}, "numRecords": "x"}):
        found = read([json.dumps(text), "broken"], leaves)
        assert list(found.values()) == [[number, None] for number in (1, 2, 3, 4, 5, 6)]
