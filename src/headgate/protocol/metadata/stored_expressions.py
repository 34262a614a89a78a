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
from headgate.protocol.metadata.sql_functions import WITHOUT_PARENTHESES, Place
from headgate.protocol.metadata.table_properties import CONSTRAINT
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema import sql_tokens
from headgate.protocol.schema.sql_tokens import NONE, Kind, Token
from headgate.protocol.schema.types import Array, DataType, Map, Primitive, Struct

CODE = "HEADGATE_UNSAFE_EXPRESSION"
LONGEST = 32_768
"""How many characters it may have."""
DEEPEST = 64
"""How deep its parentheses may be nested."""
GENERATED, DEFAULT, INVARIANT = "delta.generationExpression", "CURRENT_DEFAULT", "delta.invariants"

_OF_COLUMNS: Mapping[str, Place] = {
    GENERATED: Place.GENERATED,
    DEFAULT: Place.DEFAULT,
    "EXISTS_DEFAULT": Place.DEFAULT,
    INVARIANT: Place.CONSTRAINT,
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
class Stored:
    """A text that a table keeps to have it evaluated."""

    place: Place
    name: str
    """Of the constraint or the column."""
    text: str


def check(text: object, place: Place, name: str) -> str:
    """The text, if it may be evaluated; ``name`` is that of the constraint or the column."""
    if not isinstance(text, str):
        raise refusal(Stored(place, name, repr(text)), "it is no text")
    if why := breach(text, place):
        raise refusal(Stored(place, name, text), why)
    return text


def refusal(stored: Stored, why: str) -> InvalidRequest:
    """The error for a text that must not be evaluated, nor stored."""
    return InvalidRequest(
        f"{told(stored, why)}; write it with operators and functions that are allowed, or drop it",
        code=CODE, place=stored.place.value, name=stored.name,
    )  # fmt: skip


def told(stored: Stored, why: str) -> str:
    """What is wrong with a text, for people."""
    shown = stored.text if len(stored.text) <= _SHOWN else f"{stored.text[:_SHOWN]}…"
    return (
        f"the {stored.place.value} {stored.name!r} ({shown}) must not be evaluated by whoever writes to the "
        f"table: {why}"
    )


def check_new(after: Metadata, before: Metadata | None = None) -> None:
    """Refuse a table with text that must not be evaluated, unless it was there before."""
    if found := first_breach(after, before):
        raise refusal(*found)


def first_breach(after: Metadata, before: Metadata | None = None) -> tuple[Stored, str] | None:
    """The first text of a table that must not be evaluated, and why; what was there before is left out."""
    known = frozenset(() if before is None else (stored for stored, _ in _stored(before)))
    for stored, odd in _stored(after):
        if stored not in known and (why := odd or breach(stored.text, stored.place)):
            return stored, why
    return None


def invariant(text: object, name: str) -> str:
    """The condition that the invariant of a column is, if it may be evaluated."""
    stored, odd = _of_invariant(text, name)
    if odd:
        raise refusal(stored, odd)
    return check(stored.text, stored.place, name)


def _stored(metadata: Metadata) -> Iterator[tuple[Stored, str | None]]:
    """Every text of a table, with what is wrong already with how it is stored."""
    for key, value in metadata.configuration.items():
        if key.lower().startswith(CONSTRAINT):
            yield Stored(Place.CONSTRAINT, key[len(CONSTRAINT) :], value), None
    if any(key in metadata.schema_string for key in _OF_COLUMNS):
        yield from _of_type(schema_json.parse(metadata.schema_string), "")


def _of_type(data_type: DataType, path: str) -> Iterator[tuple[Stored, str | None]]:
    match data_type:
        case Struct(fields):
            for field in fields:
                if isinstance(field.type, Primitive) and _OF_COLUMNS.keys().isdisjoint(field.metadata):
                    continue
                name = f"{path}.{field.name}" if path else field.name
                yield from _of_column(field.metadata, name)
                yield from _of_type(field.type, name)
        case Array(element, _):
            yield from _of_type(element, f"{path}.element")
        case Map(key, value, _):
            yield from _of_type(key, f"{path}.key")
            yield from _of_type(value, f"{path}.value")
        case Primitive():
            return


def _of_column(said: Mapping[str, Any], name: str) -> Iterator[tuple[Stored, str | None]]:
    for key, place in _OF_COLUMNS.items():
        if key not in said:
            continue
        text = said[key]
        if key == INVARIANT:
            yield _of_invariant(text, name)
        elif isinstance(text, str):
            yield Stored(place, name, text), None
        else:
            yield Stored(place, name, repr(text)), "it is no text"


def _of_invariant(text: object, name: str) -> tuple[Stored, str | None]:
    try:
        found = (
            msgspec.json.decode(text, type=_Invariant).expression.expression
            if isinstance(text, str)
            else None
        )
    except (msgspec.DecodeError, RecursionError):
        found = None
    if found is None:
        return Stored(Place.CONSTRAINT, name, repr(text)), "it is not stored as an invariant is"
    return Stored(Place.CONSTRAINT, name, found), None


class _Expression(msgspec.Struct, frozen=True):
    expression: str


class _Invariant(msgspec.Struct, frozen=True):
    expression: _Expression


@lru_cache(maxsize=1024)
def breach(text: str, place: Place) -> str | None:
    """Why the text must not be evaluated in this place; None if it may be."""
    if len(text) > LONGEST:
        return f"it has {len(text)} characters, and {LONGEST} are the most"
    if "${" in text:
        return "'${' is replaced by what the session's configuration says, even in a string"
    found = sql_tokens.split(text)
    if sql_tokens.depth(found) > DEEPEST:
        return f"it is nested more than {DEEPEST} levels deep"
    tokens = (NONE, NONE, *found, NONE, NONE)
    odd = (_odd(tokens[at - 2 : at + 3], place) for at in range(2, len(tokens) - 2))
    return next(filter(None, odd), None)


def _odd(around: Sequence[Token], place: Place) -> str | None:
    """What is wrong with a token, given two before it and two after."""
    _, last, token, following, later = around
    if token.kind is Kind.ODD:
        return (
            f"not all parsers read {token.text!r} alike; a name with other characters is written in backticks"
        )
    if token.text in _REFUSED and token.kind is Kind.OPERATOR:
        return f"it has {_REFUSED[token.text]} ({token.text})"
    if token.word and last.text != "." and following.text != "(":
        return _odd_word(token.word, place)
    if token.text != "(" or token.kind is not Kind.OPERATOR:
        return None
    if following.word in _QUERY_BEGINS and later.text not in _CONTINUES_VALUE:
        return f"({following.text} begins a query; a column of that name is written in backticks"
    return _odd_call(around, place)


def _odd_word(word: str, place: Place) -> str | None:
    if word in _OF_QUERIES:
        return f"{word} is a word of queries; a column of that name is written in backticks"
    if word in WITHOUT_PARENTHESES and not sql_functions.is_allowed(word, place):
        return f"{word} is not allowed in a {place.value}"
    return None


def _odd_call(around: Sequence[Token], place: Place) -> str | None:
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
