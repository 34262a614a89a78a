"""What a filter says, given as the JSON that Spark writes of an expression tree.

The nodes of a tree stand one after the other, each before its children. They become nested lists,
as ``pushed_filters`` reads them: the name of an expression or a word (column, field, cast, literal), then
its parts. What only Spark can judge is ``["?"]``, and so is a value that has no exact text.
"""

import math
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, Protocol

import msgspec

_EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions."
_SMALLEST_NORMAL = 2.0**-126
_NOT_UTF8 = "�"


class LiteralValues(Protocol):
    """Values that the JSON lacks, by the number of their node: texts of what Spark computes with."""

    def of_literal(self, number: int) -> str:
        """The value of a literal."""

    def of_set(self, number: int) -> Sequence[str | None]:
        """The values of a set; none of them if they are too many to say."""


def parse_expression(text: str, values: LiteralValues) -> list[Any]:
    """An expression as nested lists."""
    nodes = iter(enumerate(msgspec.json.decode(text)))
    return _read(nodes, values)[0]


def _read(nodes: Iterator[tuple[int, Any]], values: LiteralValues) -> tuple[list[Any], Any]:
    """The next node with all that is below it, and its type if the JSON says it."""
    number, node = next(nodes)
    children = [_read(nodes, values) for _ in range(node["num-children"])]
    parts, types = [part for part, _ in children], [kind for _, kind in children]
    match node["class"].removeprefix(_EXPRESSIONS):
        case "Literal":
            return _literal(number, node, values), node["dataType"]
        case "AttributeReference":
            return ["column", node["name"]], node["dataType"]
        case "GetStructField":
            field = _field(types[0], node["ordinal"])
            return ["field", *parts, field.get("name")], field.get("type")
        case "Cast":
            return ["cast", *parts, _cast_to(node["dataType"]), node.get("timeZoneId")], node["dataType"]
        case "InSet":
            kind = _type_name(types[0])
            return ["In", *parts, *(_constant(kind, text) for text in values.of_set(number))], "boolean"
        case other:
            return [other.rpartition(".")[2].rpartition("$")[2], *parts], None


def _literal(number: int, node: Mapping[str, Any], values: LiteralValues) -> list[Any]:
    kind, text = _type_name(node["dataType"]), node["value"]
    # These are written for people: of an hour that a clock shows twice nobody could tell which it is.
    if text is not None and kind in _TIMES:
        text = values.of_literal(number)
    return _constant(kind, text)


def _constant(kind: str, text: str | None) -> list[Any]:
    if text is None:
        return ["literal", kind, None]
    exact = _EXACT.get(kind.partition("(")[0])
    try:
        return ["?"] if exact is None else ["literal", kind, exact(text)]
    except (ValueError, OverflowError, InvalidOperation):
        return ["?"]


def _type_name(kind: Any) -> str:
    return kind if isinstance(kind, str) else "?"


def _cast_to(kind: Any) -> str:
    # Not every version of Spark writes the collation of a string here.
    return "?" if kind == "string" else _type_name(kind)


def _field(kind: Any, ordinal: int) -> Mapping[str, Any]:
    """A field as its struct names it: the expression has what the query called it."""
    fields: Sequence[Mapping[str, Any]] = kind.get("fields", ()) if isinstance(kind, dict) else ()
    return fields[ordinal] if ordinal < len(fields) else {}


_BOOLEANS = {"true": True, "false": False}


def _boolean(text: str) -> bool:
    if text not in _BOOLEANS:
        raise ValueError
    return _BOOLEANS[text]


def _double(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError  # JSON has no such numbers
    return value


def _single(text: str) -> float:
    """The one of single precision that Java wrote."""
    value = _double(text)
    bits: int = struct.unpack("<q", struct.pack("<d", value))[0]
    # Rounded to a double half-way between two of these, what was written can be the other one.
    if bits & 0x1FFF_FFFF == 0x1000_0000 or 0 < abs(value) < _SMALLEST_NORMAL:
        raise ValueError
    rounded: float = struct.unpack("<f", struct.pack("<f", value))[0]
    return rounded


def _decimal(text: str) -> str:
    return format(Decimal(text), "f")


def _string(text: str) -> str:
    if _NOT_UTF8 in text:
        raise ValueError  # it may stand for any bytes
    return text


_TIMES = ("date", "timestamp", "timestamp_ntz")
_EXACT: Mapping[str, Callable[[str], Any]] = {
    "boolean": _boolean,
    **dict.fromkeys(("byte", "short", "integer", "long", *_TIMES), int),
    "float": _single,
    "double": _double,
    "decimal": _decimal,
    "string": _string,
}
