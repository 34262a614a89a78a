"""May this SQL text be stored in a table, and be evaluated by whoever writes to it?

It is decided by its tokens, so that nothing depends on how somebody parses them: what stands before an
opening parenthesis must be an allowed function or a word that cannot be one, and what two parsers could
split differently is refused. That takes one pass, however the text is nested.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec

from headgate.errors import InvalidRequest
from headgate.protocol.actions import Metadata
from headgate.protocol.metadata import sql_functions
from headgate.protocol.metadata.sql_functions import WITHOUT_PARENTHESES, ExpressionPlace
from headgate.protocol.metadata.table_properties import CONSTRAINT_PREFIX
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema import sql_tokens
from headgate.protocol.schema.sql_tokens import NO_TOKEN, Token, TokenKind
from headgate.protocol.schema.types import Array, DataType, Map, Primitive, Struct

CODE = "HEADGATE_UNSAFE_EXPRESSION"
MAX_LENGTH = 32_768
"""How many characters it may have."""
MAX_DEPTH = 64
"""How deep its parentheses may be nested."""
GENERATED, DEFAULT, INVARIANT = "delta.generationExpression", "CURRENT_DEFAULT", "delta.invariants"

_OF_COLUMNS: Mapping[str, ExpressionPlace] = {
    GENERATED: ExpressionPlace.GENERATED,
    DEFAULT: ExpressionPlace.DEFAULT,
    "EXISTS_DEFAULT": ExpressionPlace.DEFAULT,
    INVARIANT: ExpressionPlace.CONSTRAINT,
}
_SHOWN = 200

_REFUSED = {"--": "a comment", "/*": "a comment", "=>": "an argument by name"}
_OF_QUERIES = frozenset({"select", "using"})
_QUERY_BEGINS = frozenset({"from", "table", "values", "with"})
_CONTINUES_VALUE = frozenset({")", "]", ",", "=", "<", ">", "<=>", "::", "/", "%"})
_BEFORE_VALUES = frozenset({"then", "else", "from", "for"})
_SIZED_TYPES = frozenset({"varchar", "character", "numeric", "dec"})
_QUANTIFIERS, _LIKES = frozenset({"any", "some", "all"}), frozenset({"like", "ilike"})


@dataclass(frozen=True, slots=True)
class StoredExpression:
    """A text that a table keeps to have it evaluated."""

    place: ExpressionPlace
    name: str
    """Of the constraint or the column."""
    text: str


def check_expression(text: object, place: ExpressionPlace, name: str) -> str:
    """The text, if it may be evaluated; ``name`` is that of the constraint or the column."""
    if not isinstance(text, str):
        raise unsafe_expression_error(StoredExpression(place, name, repr(text)), "it is no text")
    if why := expression_breach(text, place):
        raise unsafe_expression_error(StoredExpression(place, name, text), why)
    return text


def unsafe_expression_error(stored: StoredExpression, why: str) -> InvalidRequest:
    """The error for a text that must not be evaluated, nor stored."""
    return InvalidRequest(
        f"{describe_breach(stored, why)}; write it with operators and functions that are allowed, or drop it",
        code=CODE, place=stored.place.value, name=stored.name,
    )  # fmt: skip


def describe_breach(stored: StoredExpression, why: str) -> str:
    """What is wrong with a text, for people."""
    shown = stored.text if len(stored.text) <= _SHOWN else f"{stored.text[:_SHOWN]}…"
    return (
        f"the {stored.place.value} {stored.name!r} ({shown}) must not be evaluated by whoever writes to the "
        f"table: {why}"
    )


def check_new_expressions(after: Metadata, before: Metadata | None = None) -> None:
    """Refuse a table with text that must not be evaluated, unless it was there before."""
    if found := first_breach(after, before):
        raise unsafe_expression_error(*found)


def first_breach(after: Metadata, before: Metadata | None = None) -> tuple[StoredExpression, str] | None:
    """The first text of a table that must not be evaluated, and why; what was there before is left out."""
    known = frozenset(() if before is None else (stored for stored, _ in _stored_expressions(before)))
    for stored, odd in _stored_expressions(after):
        if stored not in known and (why := odd or expression_breach(stored.text, stored.place)):
            return stored, why
    return None


def check_invariant(text: object, name: str) -> str:
    """The condition that the invariant of a column is, if it may be evaluated."""
    stored, odd = _invariant_expression(text, name)
    if odd:
        raise unsafe_expression_error(stored, odd)
    return check_expression(stored.text, stored.place, name)


def _stored_expressions(metadata: Metadata) -> Iterator[tuple[StoredExpression, str | None]]:
    """Every text of a table, with what is wrong already with how it is stored."""
    for key, value in metadata.configuration.items():
        if key.lower().startswith(CONSTRAINT_PREFIX):
            yield StoredExpression(ExpressionPlace.CONSTRAINT, key[len(CONSTRAINT_PREFIX) :], value), None
    if any(key in metadata.schema_string for key in _OF_COLUMNS):
        yield from _expressions_in_type(schema_json.parse(metadata.schema_string), "")


def _expressions_in_type(data_type: DataType, path: str) -> Iterator[tuple[StoredExpression, str | None]]:
    match data_type:
        case Struct(fields):
            for field in fields:
                if isinstance(field.type, Primitive) and _OF_COLUMNS.keys().isdisjoint(field.metadata):
                    continue
                name = f"{path}.{field.name}" if path else field.name
                yield from _expressions_of_column(field.metadata, name)
                yield from _expressions_in_type(field.type, name)
        case Array(element, _):
            yield from _expressions_in_type(element, f"{path}.element")
        case Map(key, value, _):
            yield from _expressions_in_type(key, f"{path}.key")
            yield from _expressions_in_type(value, f"{path}.value")
        case Primitive():
            return


def _expressions_of_column(
    said: Mapping[str, Any], name: str
) -> Iterator[tuple[StoredExpression, str | None]]:
    for key, place in _OF_COLUMNS.items():
        if key not in said:
            continue
        text = said[key]
        if key == INVARIANT:
            yield _invariant_expression(text, name)
        elif isinstance(text, str):
            yield StoredExpression(place, name, text), None
        else:
            yield StoredExpression(place, name, repr(text)), "it is no text"


def _invariant_expression(text: object, name: str) -> tuple[StoredExpression, str | None]:
    try:
        found = (
            msgspec.json.decode(text, type=_Invariant).expression.expression
            if isinstance(text, str)
            else None
        )
    except (msgspec.DecodeError, RecursionError):
        found = None
    if found is None:
        return StoredExpression(
            ExpressionPlace.CONSTRAINT, name, repr(text)
        ), "it is not stored as an invariant is"
    return StoredExpression(ExpressionPlace.CONSTRAINT, name, found), None


class _Expression(msgspec.Struct, frozen=True):
    expression: str


class _Invariant(msgspec.Struct, frozen=True):
    expression: _Expression


@lru_cache(maxsize=1024)
def expression_breach(text: str, place: ExpressionPlace) -> str | None:
    """Why the text must not be evaluated in this place; None if it may be."""
    if len(text) > MAX_LENGTH:
        return f"it has {len(text)} characters, and {MAX_LENGTH} are the most"
    if "${" in text:
        return "'${' is replaced by what the session's configuration says, even in a string"
    found = sql_tokens.tokenize(text)
    if sql_tokens.nesting_depth(found) > MAX_DEPTH:
        return f"it is nested more than {MAX_DEPTH} levels deep"
    tokens = (NO_TOKEN, NO_TOKEN, *found, NO_TOKEN, NO_TOKEN)
    odd = (_token_problem(tokens[at - 2 : at + 3], place) for at in range(2, len(tokens) - 2))
    return next(filter(None, odd), None)


def _token_problem(around: Sequence[Token], place: ExpressionPlace) -> str | None:
    """What is wrong with a token, given two before it and two after."""
    _, last, token, following, later = around
    if token.kind is TokenKind.ODD:
        return (
            f"not all parsers read {token.text!r} alike; a name with other characters is written in backticks"
        )
    if token.text in _REFUSED and token.kind is TokenKind.OPERATOR:
        return f"it has {_REFUSED[token.text]} ({token.text})"
    if token.word and last.text != "." and following.text != "(":
        return _word_problem(token.word, place)
    if token.text != "(" or token.kind is not TokenKind.OPERATOR:
        return None
    if following.word in _QUERY_BEGINS and later.text not in _CONTINUES_VALUE:
        return f"({following.text} begins a query; a column of that name is written in backticks"
    return _call_problem(around, place)


def _word_problem(word: str, place: ExpressionPlace) -> str | None:
    if word in _OF_QUERIES:
        return f"{word} is a word of queries; a column of that name is written in backticks"
    if word in WITHOUT_PARENTHESES and not sql_functions.is_allowed(word, place):
        return f"{word} is not allowed in a {place.value}"
    return None


def _call_problem(around: Sequence[Token], place: ExpressionPlace) -> str | None:
    """What is wrong with an opening parenthesis."""
    before, called, *_ = around
    if not called.ends_value:
        return None  # it groups
    word = called.word
    if not word or before.text == ".":
        return f"{called.text}(…) is not a call by the plain name of a function"
    if sql_functions.is_allowed(word, place):
        return None
    if word in _BEFORE_VALUES and before.ends_value:
        return None
    if word in _SIZED_TYPES and (before.word == "as" or before.text == "::"):
        return None
    if word in _QUANTIFIERS and before.word in _LIKES:
        return None
    return f"the function {called.text} is not allowed in a {place.value}"
