"""CHAR and VARCHAR without Spark, at any depth: what is stored, what is refused, and what others stored."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import headgate
from headgate.errors import ConstraintViolated
from headgate.lake.table import Table
from tests.support.handmade import array, column, data_file, map_of, struct, write_log

KEY = "__CHAR_VARCHAR_TYPE_STRING"


def declared(name: str, said: str, data_type: Any = "string") -> dict[str, Any]:
    return {**column(name, data_type), "metadata": {KEY: said}}


def nested_texts(root: Path, said: str, nested: Any) -> Table:
    """A table with a column ``d`` that was declared so."""
    write_log(root, [declared("d", said, nested)], [])
    return headgate.at_path(root)


@pytest.mark.parametrize(
    ("nested", "said", "given", "stored", "too_long"),
    [
        (array("string"), "array<char(3)>", ["a", None, "abc  "], ["a  ", None, "abc"], ["abcd"]),
        (
            struct(column("e", "string"), column("f", "string")), "struct<e:varchar(2),f:char(3)>",
            {"e": "ab ", "f": "x"}, {"e": "ab", "f": "x  "}, {"e": "abc", "f": "x"},
        ),
        (
            map_of("string", "string"), "map<char(2),varchar(3)>",
            [("k", "v"), ("l ", None)], [("k ", "v"), ("l ", None)], [("k", "vvvv")],
        ),
        (map_of("string", "string"), "map<char(2),string>", [], [], [("kkk", "v")]),
    ],
    ids=["array", "struct", "map", "keys"],
)  # fmt: skip
def test_lengths_of_texts_inside_others(
    tmp_path: Path, nested: Any, said: str, given: Any, stored: Any, too_long: Any
) -> None:
    table = nested_texts(tmp_path, said, nested)

    table.append([{"d": given}, {"d": None}])

    assert table.to_arrow().to_pylist() == [{"d": stored}, {"d": None}]
    with pytest.raises(ConstraintViolated, match=r"does not fit into a column of type (var)?char") as caught:
        table.append([{"d": given}, {"d": too_long}])
    assert caught.value.code == "DELTA_EXCEED_CHAR_VARCHAR_LIMIT"
    assert table.version() == 1


def test_what_stands_below_a_null_is_no_text(tmp_path: Path) -> None:
    table = nested_texts(tmp_path, "struct<e:varchar(2)>", struct(column("e", "string")))
    hidden = pa.StructArray.from_arrays([pa.array(["abc", "ab"])], names=["e"], mask=pa.array([True, False]))

    table.append(pa.table({"d": pa.concat_arrays([hidden, hidden]).slice(1)}))

    assert table.to_arrow().to_pylist() == [{"d": {"e": "ab"}}, {"d": None}, {"d": {"e": "ab"}}]


def test_keys_that_padding_makes_one_are_refused(tmp_path: Path) -> None:
    table = nested_texts(tmp_path, "map<char(2),string>", map_of("string", "string"))

    with pytest.raises(ConstraintViolated, match=r"'k '.* twice") as caught:
        table.append([{"d": [("j", "v")]}, {"d": [("k", "v"), ("j", "v"), ("k ", "w")]}])

    assert caught.value.code == "DUPLICATED_MAP_KEY"
    assert table.version() == 0


def test_texts_that_their_writer_did_not_pad_are_padded(tmp_path: Path) -> None:
    """As Delta Spark writes them: it pads them when it reads."""
    columns = [
        declared("c", "char(3)"),
        declared("p", "char(2)"),
        declared("v", "varchar(3)"),
        declared("a", "array<char(2)>", array("string")),
        declared("s", "struct<e:char(2),n:int>", struct(column("e", "string"), column("n", "integer"))),
        declared("m", "map<char(2),varchar(2)>", map_of("string", "string")),
    ]
    rows = pa.table(
        {
            "c": ["a", "abc", None],
            "v": ["b", None, "abc"],
            "a": [["x", None, "yy"], None, []],
            "s": [{"e": "x", "n": 1}, None, {"e": None, "n": 2}],
            "m": pa.array([[("k", "v")], None, []], pa.map_(pa.string(), pa.string())),
        }
    )
    add = data_file(tmp_path, "0.parquet", rows, partition_values={"p": "x"})
    write_log(tmp_path, columns, [add], partitioned_by=["p"])

    found = headgate.at_path(tmp_path).to_arrow()

    assert found["c"].to_pylist() == ["a  ", "abc", None]
    assert found["p"].to_pylist() == ["x "] * 3
    assert found["v"].to_pylist() == ["b", None, "abc"]
    assert found["a"].to_pylist() == [["x ", None, "yy"], None, []]
    assert found["s"].to_pylist() == [{"e": "x ", "n": 1}, None, {"e": None, "n": 2}]
    assert found["m"].to_pylist() == [[("k ", "v")], None, []]
