"""What do the literals and names of a statement say: strings, parameters, the names of tables?"""

from headgate.errors import InvalidRequest
from headgate.protocol.predicates import spark_strings
from headgate.sql.parse.tokens import STRING, SqlTokens, tokenize_statement
from headgate.sql.parse.value_end import skip_name
from headgate.sql.statements.sql_text import SqlParameter, TableRef

PATH_FORMATS = frozenset({"delta", "headgate"})
SYNTAX_ERROR = "PARSE_SYNTAX_ERROR"


def string_value(literal: str) -> str | None:
    """What one literal says; None if not all Sparks read it alike."""
    if literal[0] in "rR":
        return literal[2:-1]
    if literal[0] == "$":
        mark = literal.index("$", 1) + 1
        return literal[mark:-mark]
    return spark_strings.unescape(literal)


def joined_strings(tokens: SqlTokens, index: int) -> tuple[str | None, int]:
    """What the literals say that stand there one after the other, and the token behind them."""
    said: list[str | None] = []
    while tokens[index].kind == STRING:
        said.append(string_value(tokens[index].text))
        index += 1
    return ("".join(part for part in said if part is not None) if None not in said else None), index


def parameter_there(tokens: SqlTokens, index: int) -> tuple[SqlParameter | None, int]:
    """The parameter at a token, and the token behind it; None and the same token if there is none."""
    if tokens.sign(index) == "?":
        return SqlParameter(position=tokens.questions[index]), index + 1
    if tokens.sign(index) == ":" and tokens.is_name(index + 1) and not _follows_value(tokens, index):
        return SqlParameter(tokens[index + 1].name), index + 2
    return None, index


def _follows_value(tokens: SqlTokens, index: int) -> bool:
    """Whether a colon takes a field out of the value right before it, ``a:b``."""
    before = tokens[index - 1]
    return (before.is_name or before.sign in (")", "]")) and before.end == tokens[index].start


def name_parts(tokens: SqlTokens, begin: int, stop: int) -> tuple[str, ...]:
    """The parts of the name between two tokens."""
    return tuple(tokens[index].name for index in range(begin, stop, 2))


def named_table(parts: tuple[str, ...]) -> TableRef:
    """The table that the parts of a name mean: a path behind delta and headgate."""
    if len(parts) == 2 and parts[0].lower() in PATH_FORMATS and "/" in parts[1]:
        return TableRef(path=parts[1])
    return TableRef(parts)


def parse_table_name(text: str) -> TableRef:
    """The table that a text names, as IDENTIFIER('a.b') and table_changes('a.b', 1) have it."""
    tokens = tokenize_statement(text)
    end = skip_name(tokens, 0)
    if end == 0 or end < len(tokens.tokens):
        raise InvalidRequest(
            f"{text!r} is not the name of a table: write it like sales.orders, parts with odd characters in "
            "backticks",
            code=SYNTAX_ERROR,
        )
    return named_table(name_parts(tokens, 0, end))
