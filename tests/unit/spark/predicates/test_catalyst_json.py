"""What Spark writes of its expressions, and what that says."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from headgate.spark.predicates import catalyst_json

Node = dict[str, Any]
STRUCT = {
    "type": "struct",
    "fields": [
        {"name": "x", "type": "long", "nullable": True, "metadata": {}},
        {
            "name": "Inner",
            "type": {
                "type": "struct",
                "fields": [{"name": "Day", "type": "date", "nullable": True, "metadata": {}}],
            },
            "nullable": True,
            "metadata": {},
        },
    ],
}


class Looked:
    """Values by the number of their node, and which were looked for."""

    def __init__(self, values: Mapping[int, Any] | None = None) -> None:
        self.values, self.literals = values or {}, list[int]()

    def of_literal(self, number: int) -> str:
        self.literals.append(number)
        return str(self.values[number])

    def of_set(self, number: int) -> Sequence[str | None]:
        found: Sequence[str | None] = self.values[number]
        return found


def node(called: str, /, *children: list[Node], **fields: Any) -> list[Node]:
    """A tree as Spark 4 writes it."""
    head = {"class": f"org.apache.spark.sql.catalyst.expressions.{called}", "num-children": len(children)}
    return [head | fields, *(each for child in children for each in child)]


def column(name: str, kind: Any = "long") -> list[Node]:
    where = {"product-class": "org.apache.spark.sql.catalyst.expressions.ExprId", "id": 11, "jvmId": "99c8"}
    return node(
        "AttributeReference", name=name, dataType=kind, nullable=True, metadata={}, exprId=where, qualifier=[]
    )


def literal(kind: Any, value: str | None) -> list[Node]:
    return node("Literal", value=value, dataType=kind)


def equal(left: list[Node], right: list[Node]) -> list[Node]:
    return node("EqualTo", left, right, left=0, right=1)


def asked(tree: list[Node], looked: Looked | None = None) -> list[Any]:
    return catalyst_json.parse_expression(json.dumps(tree), looked or Looked())


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("boolean", "true", True),
        ("boolean", "false", False),
        ("byte", "-128", -128),
        ("short", "7", 7),
        ("integer", "1", 1),
        ("long", "-9223372036854775808", -(1 << 63)),
        ("double", "1.0E300", 1e300),
        ("double", "-0.0", -0.0),
        ("float", "1.1", 1.100000023841858),
        ("float", "3.4028235E38", 3.4028234663852886e38),
        ("decimal(10,2)", "1.50", "1.50"),
        ("decimal(38,18)", "0E-18", "0.000000000000000000"),
        ("decimal(38,10)", "1E+3", "1000"),
        ("string", "it's \"ü\U0001f600\"\n\\", "it's \"ü\U0001f600\"\n\\"),
        ("string", "null", "null"),
        ("string", "", ""),
        ("string", None, None),
        ("integer", None, None),
        ("date", None, None),
    ],
)  # fmt: skip
def test_a_literal_is_what_spark_computes_with(kind: str, text: str | None, value: Any) -> None:
    found = asked(equal(column("c", kind), literal(kind, text)))

    assert found == ["EqualTo", ["column", "c"], ["literal", kind, value]]
    assert type(found[2][2]) is type(value)


@pytest.mark.parametrize("kind", ["date", "timestamp", "timestamp_ntz"])
def test_a_time_is_looked_up_since_its_text_can_mean_two(kind: str) -> None:
    looked = Looked({4: -1, 6: 1_730_611_800_000_000})
    tree = node(
        "Or",
        node("IsNull", column("c", kind), child=0),
        node("In", literal(kind, "2024-11-03 01:30:00"), column("c", kind), literal(kind, "x"), value=0),
    )

    found = asked(tree, looked)

    assert looked.literals == [4, 6]
    assert found[2] == [
        "In",
        ["literal", kind, -1],
        ["column", "c"],
        ["literal", kind, 1_730_611_800_000_000],
    ]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("double", "NaN"), ("double", "-Infinity"), ("float", "NaN"), ("float", "1.0E-40"),
        ("float", "1.00000005960464477539062500"), ("binary", "[B@32afad0a"), ("string", "\ufffd"),
        ("string collate UNICODE_CI", "a"), ("interval day to second", "1"), ("time(6)", "1"),
        ({"type": "array", "elementType": "integer", "containsNull": False}, "[1,2]"), ("boolean", "1"),
        ("variant", "1"), ("decimal(3,1)", "what"),
    ],
)  # fmt: skip
def test_what_has_no_exact_text_is_not_known(kind: Any, text: str) -> None:
    assert asked(literal(kind, text)) == ["?"]


def test_fields_have_the_names_of_their_structs_and_not_of_the_query() -> None:
    inner = node("GetStructField", column("st", STRUCT), child=0, ordinal=1, name="inner")
    day = node("GetStructField", inner, child=0, ordinal=0, name="DAY")

    assert asked(day) == ["field", ["field", ["column", "st"], "Inner"], "Day"]
    of_other = node("GetStructField", node("CreateNamedStruct"), child=0, ordinal=0, name="x")
    assert asked(of_other) == ["field", ["CreateNamedStruct"], None]


def test_casts_say_what_to_and_where() -> None:
    def cast(kind: str, **more: str) -> list[Any]:
        return asked(node("Cast", column("c"), child=0, dataType=kind, evalMode=None, **more))

    assert cast("date", timeZoneId="UTC") == ["cast", ["column", "c"], "date", "UTC"]
    assert cast("decimal(12,2)") == ["cast", ["column", "c"], "decimal(12,2)", None]
    assert cast("string") == ["cast", ["column", "c"], "?", None], "it may be one with a collation"


def test_a_set_is_a_list_of_the_type_of_what_is_tested() -> None:
    def among(tested: list[Node], values: list[str | None]) -> list[Any]:
        return asked(node("Not", node("InSet", tested, child=0), child=0), Looked({1: values}))[1]

    assert among(column("i"), ["3", None]) == [
        "In",
        ["column", "i"],
        *(["literal", "long", v] for v in (3, None)),
    ]
    assert among(column("d", "date"), ["19782"])[2:] == [["literal", "date", 19782]]
    assert among(column("s", "string"), ["null"])[2:] == [["literal", "string", "null"]]
    assert among(column("i"), [])[2:] == [], "too many"
    field = node("GetStructField", column("st", STRUCT), child=0, ordinal=0, name="X")
    assert among(field, ["5"])[2:] == [["literal", "long", 5]]
    assert among(node("Add", column("i"), column("i")), ["5"])[2:] == [["?"]]


def test_other_expressions_have_their_names_and_parts() -> None:
    tree = node(
        "Not", node("Or", node("Remainder", column("i"), literal("long", "7")), column("b", "boolean"))
    )

    assert asked(tree) == [
        "Not",
        ["Or", ["Remainder", ["column", "i"], ["literal", "long", 7]], ["column", "b"]],
    ]
    elsewhere = [{"class": "com.example.Outer$EqualTo2", "num-children": 0}]
    assert asked(elsewhere) == ["EqualTo2"]
