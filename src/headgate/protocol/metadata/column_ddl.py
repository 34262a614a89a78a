"""Which columns does a text name, ``id BIGINT NOT NULL, name STRING DEFAULT 'x' COMMENT 'a name'``?

What stands behind the type of a column is what CREATE TABLE takes there: NOT NULL, COMMENT, DEFAULT,
GENERATED ALWAYS AS (…), GENERATED … AS IDENTITY and CHECK (…); and between columns CONSTRAINT … CHECK (…).
The text of an expression is kept as it was written. No engine is asked.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from headgate.protocol.features.identity_columns import MAX_BIGINT, MIN_BIGINT, IdentitySpec
from headgate.protocol.metadata import type_ddl
from headgate.protocol.metadata.stored_expressions import DEFAULT, GENERATED
from headgate.protocol.metadata.type_ddl import COLLATIONS, DdlReader, DdlSyntaxError, DdlToken
from headgate.protocol.schema.types import Field, Struct

EXISTS_DEFAULT = "EXISTS_DEFAULT"
_OPENS, _CLOSES = ("(", "["), (")", "]")


@dataclass(frozen=True, slots=True)
class DeclaredColumns:
    """The columns of a text, and the CHECK constraints among them by name."""

    schema: Struct
    constraints: Mapping[str, str] = field(default_factory=dict)


def parse_columns(text: str, *, is_ntz: bool = False) -> DeclaredColumns:
    """The columns that a text declares; ``InvalidRequest`` if it is no list of columns.

    With ``is_ntz`` TIMESTAMP is a type without a time zone.
    """
    reader = type_ddl.open_ddl(text, is_ntz=is_ntz)
    if not reader.tokens:
        return DeclaredColumns(Struct(()))
    try:
        found = _whole_struct(reader) if reader.next.word == "struct" else None
        return found or _Columns(reader).read()
    except DdlSyntaxError as exc:
        raise type_ddl.syntax_error(text, str(exc)) from exc


def _whole_struct(reader: DdlReader) -> DeclaredColumns | None:
    """A struct type in place of a list of columns; None if ``struct`` is the name of a column."""
    if reader.ahead(1).text != "<":
        return None
    found = reader.read_type("").type
    if reader.next.kind != "end" or not isinstance(found, Struct):
        raise reader.unexpected("the end")
    return DeclaredColumns(found)


@dataclass(slots=True)
class _Columns:
    reader: DdlReader
    fields: list[Field] = field(default_factory=list)
    constraints: dict[str, str] = field(default_factory=dict)

    def read(self) -> DeclaredColumns:
        self._item()
        while self.reader.accepts(","):
            self._item()
        if self.reader.next.kind != "end":
            raise self.reader.unexpected("a comma or the end")
        return DeclaredColumns(Struct(tuple(self.fields)), self.constraints)

    def _item(self) -> None:
        reader = self.reader
        if reader.next.word == "constraint" and reader.ahead(2).word == "check":
            reader.take()
            self._constraint(reader.name())
        elif reader.next.word == "check" and reader.ahead(1).text == "(":
            self._constraint(None)
        else:
            self._column()

    def _column(self) -> None:
        reader = self.reader
        name = reader.name()
        reader.accepts(":")
        found = reader.read_type(name)
        said = _ColumnOptions({COLLATIONS: dict(found.collations)} if found.collations else {})
        while self._option(said, name):
            pass
        self.fields.append(Field(name, found.type, said.nullable, said.metadata))

    def _option(self, said: "_ColumnOptions", name: str) -> bool:
        """Take what comes next of a column; False if nothing does."""
        reader = self.reader
        if reader.accepts("not", "null"):
            said.nullable = False
        elif reader.next.word == "comment" and reader.ahead(1).kind == "string":
            reader.take()
            said.put(reader, "comment", reader.string())
        elif reader.accepts("default"):
            text = self._expression()
            said.put(reader, DEFAULT, text)
            said.put(reader, EXISTS_DEFAULT, text)
        elif reader.next.word == "generated":
            self._generated(said)
        elif reader.next.word == "constraint" and reader.ahead(2).word == "check":
            reader.take()
            self._constraint(reader.name())
        elif reader.next.word == "check" and reader.ahead(1).text == "(":
            self._constraint(f"{name}_check")
        else:
            return False
        return True

    def _generated(self, said: "_ColumnOptions") -> None:
        reader = self.reader
        if reader.accepts("generated", "always", "as", "identity"):
            said.identify(reader, _identity(reader, by_default=False))
        elif reader.accepts("generated", "by", "default", "as", "identity"):
            said.identify(reader, _identity(reader, by_default=True))
        else:
            reader.require("generated", "always", "as")
            said.put(reader, GENERATED, self._in_parentheses())

    def _constraint(self, name: str | None) -> None:
        self.reader.require("check")
        text = self._in_parentheses()
        named = name or f"check_{len(self.constraints) + 1}"
        if named.lower() in (known.lower() for known in self.constraints):
            raise DdlSyntaxError(f"there are two constraints {named!r}: give each a name of its own")
        self.constraints[named] = text

    def _in_parentheses(self) -> str:
        reader = self.reader
        begin = reader.next
        reader.require("(")
        depth = 1
        while depth:
            token = reader.take()
            if token.kind == "end":
                reader.position -= 1
                raise reader.unexpected("a closing parenthesis")
            depth += _deeper(token)
        return reader.text[begin.end : token.start].strip()

    def _expression(self) -> str:
        """The text up to the next option, comma or end."""
        reader = self.reader
        first, last, depth = reader.next, None, 0
        before = DdlToken("end", "", 0)
        while reader.next.kind != "end" and (depth or not _ends_expression(reader, before)):
            last = before = reader.take()
            depth += _deeper(last)
        if last is None or depth:
            raise reader.unexpected("an expression")
        return reader.text[first.start : last.end].strip()


@dataclass(slots=True)
class _ColumnOptions:
    metadata: dict[str, Any]
    nullable: bool = True

    def put(self, reader: DdlReader, key: str, value: Any) -> None:
        if key in self.metadata:
            raise DdlSyntaxError(
                f"something is said twice of a column, before character {reader.next.start + 1}"
            )
        self.metadata[key] = value

    def identify(self, reader: DdlReader, spec: IdentitySpec) -> None:
        for key, value in spec.written().items():
            self.put(reader, key, value)


def _identity(reader: DdlReader, *, by_default: bool) -> IdentitySpec:
    start, step = 1, 1
    if reader.accepts("("):
        while not reader.accepts(")"):
            if reader.accepts("start", "with"):
                start = _signed(reader)
            elif reader.accepts("increment", "by"):
                step = _signed(reader)
            else:
                raise reader.unexpected("START WITH or INCREMENT BY")
    return IdentitySpec(start, step, allows_explicit=by_default)


def _signed(reader: DdlReader) -> int:
    number = -reader.number() if reader.accepts("-") else reader.number()
    if not MIN_BIGINT <= number <= MAX_BIGINT:
        raise DdlSyntaxError(f"{number} is no BIGINT")
    return number


def _ends_expression(reader: DdlReader, before: DdlToken) -> bool:
    token, following = reader.next, reader.ahead(1)
    if token.kind == "sign" and token.text == ",":
        return True
    match token.word:
        case "not":
            return before.kind != "end" and following.word == "null" and before.word != "is"
        case "comment":
            return before.kind != "end" and following.kind == "string"
        case "generated":
            return following.word in ("always", "by")
        case "constraint":
            return reader.ahead(2).word == "check"
        case "check":
            return before.kind != "end" and following.text == "("
        case _:
            return False


def _deeper(token: DdlToken) -> int:
    if token.kind != "sign":
        return 0
    return (token.text in _OPENS) - (token.text in _CLOSES)
