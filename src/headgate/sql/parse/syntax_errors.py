"""How is a text refused that begins like a statement of ours and goes on as none does?

``line`` and ``column`` count from 1. ``table`` is what the statement is about, once that was read: if
it is no table of a lake, another parser may take the text.
"""

from headgate.errors import InvalidRequest
from headgate.sql.parse.literals import SYNTAX_ERROR
from headgate.sql.parse.tokens import END, UNCLOSED, SqlTokens
from headgate.sql.statements.sql_text import TableRef


def syntax_error(
    tokens: SqlTokens,
    index: int,
    expected: str,
    *,
    form: str = "",
    table: TableRef | None = None,
    code: str = SYNTAX_ERROR,
) -> InvalidRequest:
    """The refusal at a token, where something else was expected."""
    token = tokens[index]
    line, column = position_of(tokens.text, token.start)
    hint = f"; write it like {form}" if form else ""
    return InvalidRequest(
        f"at line {line}, column {column} {expected} is expected, and {_found(tokens, index)} is found{hint}",
        code=code,
        position=token.start,
        line=line,
        column=column,
        expected=expected,
        table=table,
    )


def _found(tokens: SqlTokens, index: int) -> str:
    token = tokens[index]
    if token.kind == END:
        return "the end of the statement"
    return f"{token.text[0]} without its partner" if token.kind == UNCLOSED else repr(_shortened(token.text))


def _shortened(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:40]}…"


def position_of(text: str, offset: int) -> tuple[int, int]:
    """The line and the column of an offset, both from 1."""
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1
