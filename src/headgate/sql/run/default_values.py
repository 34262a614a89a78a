"""What does DEFAULT mean among the values of an INSERT? What the column is by default, in its place.

``INSERT INTO t VALUES (1, DEFAULT)`` becomes ``VALUES (1, current_date())`` if that is the column's default.
A column that whoever writes rows computes is left out, if every row says DEFAULT for it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from headgate.errors import InvalidRequest
from headgate.protocol.schema.types import Struct
from headgate.sql.parse.tokens import SqlTokens, tokenize_statement
from headgate.sql.run import table_columns
from headgate.sql.statements.sql_text import SqlText

_VALUES, _DEFAULT = "VALUES", "DEFAULT"


@dataclass(frozen=True, slots=True)
class _Value:
    """One value of one row: its place in the row, and whether it is DEFAULT."""

    column: int
    start: int
    end: int
    is_default: bool


def with_defaults(query: SqlText, names: Sequence[str], schema: Struct) -> tuple[SqlText, tuple[str, ...]]:
    """The query with defaults in their places, and the columns that are to be left out."""
    if _DEFAULT not in query.text.upper() or not query.text.lstrip().upper().startswith(_VALUES):
        return query, ()
    values = list(_values(tokenize_statement(query.text)))
    asked = [value for value in values if value.is_default]
    left_out = []
    edits = []
    for value in asked:
        field = schema.find(names[value.column]) if value.column < len(names) else None
        text = table_columns.default_text(field)
        if field is not None and table_columns.is_computed(field):
            others = [each for each in values if each.column == value.column and not each.is_default]
            if others:
                raise InvalidRequest(
                    f"column {field.name!r} is computed, so all rows say DEFAULT for it, or none does",
                    code="DELTA_OPERATION_NOT_ALLOWED",
                )
            left_out.append(field.name)
        edits.append((value.start, value.end, text))
    return _edited(query, edits), tuple(dict.fromkeys(left_out))


def _values(tokens: SqlTokens) -> Iterator[_Value]:
    """The values of each row in parentheses, at the top."""
    at = 0
    while at < tokens.stop:
        if tokens.sign(at) == "(":
            yield from _row_values(tokens, at, tokens.closes.get(at, tokens.stop))
            at = tokens.after_group(at)
        else:
            at += 1


def _row_values(tokens: SqlTokens, opening: int, closing: int) -> Iterator[_Value]:
    column, first, at = 0, opening + 1, opening + 1
    while at <= closing:
        if at == closing or tokens.sign(at) == ",":
            is_default = at == first + 1 and tokens.word(first) == _DEFAULT.lower()
            yield _Value(column, tokens[first].start, tokens.end_of(at - 1), is_default)
            column, first = column + 1, at + 1
            at += 1
        else:
            at = tokens.after_group(at) if tokens.sign(at) in ("(", "[") else at + 1


def _edited(query: SqlText, edits: Sequence[tuple[int, int, str]]) -> SqlText:
    """The query after these edits, with all that it knows places of moved along."""
    text = query.text
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]

    def moved(position: int) -> int:
        return position + sum(len(new) - (end - start) for start, end, new in edits if end <= position)

    mentions = tuple(
        replace(each, start=moved(each.start), end=moved(each.end), name_end=moved(each.name_end))
        for each in query.mentions
    )
    parameters = tuple(
        replace(each, start=moved(each.start), end=moved(each.end)) for each in query.parameters
    )
    return replace(query, text=text, mentions=mentions, parameters=parameters)
