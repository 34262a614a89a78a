"""Which type does a text such as ``MAP<STRING, DECIMAL(10,2)>`` name, and how is one written? As by Spark.

The text falls into tokens, of which each knows where it stands: whoever reads columns takes the text of an
expression as it was written.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from headgate.errors import InvalidRequest
from headgate.protocol.predicates import spark_strings
from headgate.protocol.schema import column_path
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Array, DataType, Field, Map, Primitive, Struct

COLLATIONS = "__COLLATIONS"
_TOKEN = re.compile(
    r"""
      (?P<space>\s+|--[^\n]*|/\*.*?\*/)
    | (?P<string>[rR]?(?:'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+"))
    | (?P<quoted>`(?:[^`]|``)*+`)
    | (?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?(?![\w]))
    | (?P<word>[\w]+)
    | (?P<sign>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_NAMES: Mapping[str, str] = {
    "boolean": "boolean",
    "tinyint": "byte",
    "byte": "byte",
    "smallint": "short",
    "short": "short",
    "int": "integer",
    "integer": "integer",
    "bigint": "long",
    "long": "long",
    "float": "float",
    "real": "float",
    "double": "double",
    "date": "date",
    "timestamp": "timestamp",
    "timestamp_ltz": "timestamp",
    "timestamp_ntz": "timestamp_ntz",
    "string": "string",
    "binary": "binary",
    "void": "void",
    "variant": "variant",
}
_SPARK_NAMES = {"byte": "tinyint", "short": "smallint", "integer": "int", "long": "bigint"}
_SIZED = {"char": "char", "character": "char", "varchar": "varchar"}
_DECIMALS = frozenset({"decimal", "dec", "numeric"})
_NESTED = ("array", "map", "struct")
_NOT_STORED = frozenset({"interval", "time", "geometry", "geography", "object"})
"""Types of Spark or of other engines that columns of a Delta table cannot have."""
_KNOWN = (*_NAMES, *_SIZED, *_DECIMALS, *_NESTED)
_ICU = re.compile(r"UNICODE(_CI|_CS)?(_AI|_AS)?", re.IGNORECASE)
_MOST_DIGITS = 38


def type_text(data_type: DataType) -> str:
    """The text that names a type, ``map<string,decimal(10,2)>``."""
    match data_type:
        case Primitive(name):
            return _SPARK_NAMES.get(name, name)
        case Array(element, _):
            return f"array<{type_text(element)}>"
        case Map(key, value, _):
            return f"map<{type_text(key)},{type_text(value)}>"
        case Struct(fields):
            inside = (f"{column_path.sql_name(part.name)}:{type_text(part.type)}" for part in fields)
            return f"struct<{','.join(inside)}>"


def sql_text(data_type: DataType) -> str:
    """The same as somebody writes it in a statement, ``MAP<STRING, DECIMAL(10,2)>``."""
    match data_type:
        case Array(element, _):
            return f"ARRAY<{sql_text(element)}>"
        case Map(key, value, _):
            return f"MAP<{sql_text(key)}, {sql_text(value)}>"
        case Struct(fields):
            inside = (f"{column_path.sql_name(part.name)}: {sql_text(part.type)}" for part in fields)
            return f"STRUCT<{', '.join(inside)}>"
        case _:
            return type_text(data_type).upper()


@dataclass(frozen=True, slots=True)
class DdlToken:
    """A piece of the text, and where it begins."""

    kind: str
    text: str
    start: int

    @property
    def word(self) -> str:
        """A word in lower case; nothing if it is something else."""
        return self.text.lower() if self.kind == "word" else ""

    @property
    def end(self) -> int:
        return self.start + len(self.text)


class DdlSyntaxError(Exception):
    """Why the text cannot be read."""


@dataclass(frozen=True, slots=True)
class ParsedType:
    """A type, and the collations of the texts in it by their paths within the column."""

    type: DataType
    collations: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class DdlReader:
    """Goes through the tokens of a text."""

    text: str
    tokens: Sequence[DdlToken]
    is_ntz: bool = False
    """Whether TIMESTAMP is one without a time zone, as a session may say."""
    position: int = 0
    depth: int = 0

    @property
    def next(self) -> DdlToken:
        return self.ahead(0)

    def ahead(self, count: int) -> DdlToken:
        """The token after so many others; an empty one at the end."""
        at = self.position + count
        return self.tokens[at] if at < len(self.tokens) else DdlToken("end", "", len(self.text))

    def take(self) -> DdlToken:
        """The next token, which is then behind."""
        found = self.next
        self.position += 1
        return found

    def accepts(self, *wanted: str) -> bool:
        """Whether these words or signs come next; if so they are taken."""
        for count, text in enumerate(wanted):
            token = self.ahead(count)
            if (token.word or (token.text if token.kind == "sign" else "")) != text:
                return False
        self.position += len(wanted)
        return True

    def require(self, *wanted: str) -> None:
        """Take these words or signs, which must come next."""
        if not self.accepts(*wanted):
            raise self.unexpected(" ".join(wanted).upper())

    def unexpected(self, wanted: str) -> DdlSyntaxError:
        """What is said where something else was to be."""
        found = self.next
        where = "the end" if found.kind == "end" else repr(found.text)
        return DdlSyntaxError(f"{wanted} is expected, and {where} is found at character {found.start + 1}")

    def name(self) -> str:
        """The name of a column or a field."""
        found = self.take()
        if found.kind == "quoted":
            return found.text[1:-1].replace("``", "`")
        if found.kind == "word" and found.text.isascii():
            return found.text
        self.position -= 1
        raise self.unexpected("the name of a column, in backticks if it has odd characters,")

    def string(self) -> str:
        """What a literal says."""
        found = self.take()
        if found.kind != "string":
            self.position -= 1
            raise self.unexpected("a text in quotes")
        if found.text[0] in "rR":
            return found.text[2:-1]
        said = spark_strings.unescape(found.text)
        if said is None or self.next.kind == "string":
            raise DdlSyntaxError(
                f"not all Sparks read the quotes in {found.text} alike: put \\ before one in a text"
            )
        return said

    def number(self) -> int:
        """A whole number."""
        found = self.take()
        if found.kind != "number" or not found.text.isdecimal():
            self.position -= 1
            raise self.unexpected("a whole number")
        return int(found.text)

    def read_type(self, path: str) -> ParsedType:
        """The type that comes next, of the column or the part of one at this path."""
        self.depth += 1
        if self.depth > schema_json.MAX_DEPTH:
            raise schema_json.too_deep_error()
        try:
            kind = self.next.word
            reads = _NESTED_READERS.get(kind)
            if reads is not None:
                self.take()
                return reads(self, path)
            return self._primitive(kind, path)
        finally:
            self.depth -= 1

    def _primitive(self, kind: str, path: str) -> ParsedType:
        if kind in _DECIMALS:
            self.take()
            return ParsedType(self._decimal())
        if kind in _SIZED:
            self.take()
            self.require("(")
            length = self.number()
            self.require(")")
            return ParsedType(Primitive(f"{_SIZED[kind]}({length})"))
        if kind in _NOT_STORED:
            raise InvalidRequest(
                f"the columns {self.text!r} have one of type {kind.upper()}, and tables have no such type: "
                "keep a number, a text or a timestamp in its place",
                code="DELTA_UNSUPPORTED_DATA_TYPES",
            )
        if kind not in _NAMES:
            near = get_close_matches(kind, _KNOWN, 1)
            hint = f" (did you mean {near[0].upper()}?)" if near else ""
            raise self.unexpected(f"a type{hint}")
        self.take()
        if kind == "timestamp" and self.is_ntz:
            return ParsedType(Primitive("timestamp_ntz"))
        if kind == "string" and self.accepts("collate"):
            return self._collated(path)
        return ParsedType(Primitive(_NAMES[kind]))

    def _decimal(self) -> Primitive:
        precision, scale = 10, 0
        if self.accepts("("):
            precision = self.number()
            scale = self.number() if self.accepts(",") else 0
            self.require(")")
        if precision > _MOST_DIGITS or scale > precision:
            raise DdlSyntaxError(
                f"DECIMAL({precision},{scale}) has more digits than the {_MOST_DIGITS} there can be"
            )
        return Primitive(f"decimal({precision},{scale})")

    def _collated(self, path: str) -> ParsedType:
        name = self.name()
        upper = name.upper()
        if upper == "UTF8_BINARY":
            return ParsedType(Primitive("string"))
        if upper == "UTF8_LCASE":
            return ParsedType(Primitive("string"), {path: "spark.UTF8_LCASE"})
        if _ICU.fullmatch(upper):
            plain = upper.replace("_CS", "").replace("_AS", "")
            return ParsedType(Primitive("string"), {path: f"icu.{plain}"})
        raise DdlSyntaxError(
            f"the collation {name!r} is not known here: give the columns as a StructType of Spark, or use "
            "UTF8_BINARY, UTF8_LCASE or UNICODE"
        )

    def _array(self, path: str) -> ParsedType:
        self.require("<")
        element = self.read_type(f"{path}.element")
        self.require(">")
        return ParsedType(Array(element.type, contains_null=True), element.collations)

    def _map(self, path: str) -> ParsedType:
        self.require("<")
        key = self.read_type(f"{path}.key")
        self.require(",")
        value = self.read_type(f"{path}.value")
        self.require(">")
        return ParsedType(
            Map(key.type, value.type, value_contains_null=True), {**key.collations, **value.collations}
        )

    def _struct(self, _path: str) -> ParsedType:
        self.require("<")
        if self.accepts(">"):
            return ParsedType(Struct(()))
        fields = [self._struct_field()]
        while self.accepts(","):
            fields.append(self._struct_field())
        self.require(">")
        return ParsedType(Struct(tuple(fields)))

    def _struct_field(self) -> Field:
        name = self.name()
        self.accepts(":")
        found = self.read_type(name)
        nullable = not self.accepts("not", "null")
        metadata: dict[str, Any] = {COLLATIONS: dict(found.collations)} if found.collations else {}
        if self.accepts("comment"):
            metadata["comment"] = self.string()
        return Field(name, found.type, nullable, metadata)


_NESTED_READERS: Mapping[str, Callable[[DdlReader, str], ParsedType]] = {
    "array": DdlReader._array,
    "map": DdlReader._map,
    "struct": DdlReader._struct,
}


def open_ddl(text: str, *, is_ntz: bool = False) -> DdlReader:
    """A reader at the beginning of a text."""
    tokens = [
        DdlToken(str(found.lastgroup), found[0], found.start())
        for found in _TOKEN.finditer(text)
        if found.lastgroup != "space"
    ]
    return DdlReader(text, tokens, is_ntz)


def syntax_error(text: str, why: str) -> InvalidRequest:
    """The refusal of a text that is no list of columns."""
    return InvalidRequest(f"{text!r} is not a list of columns: {why}; write it like id BIGINT, name STRING")
