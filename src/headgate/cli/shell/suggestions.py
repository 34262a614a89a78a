"""What can stand where the cursor is? Commands, words of SQL, schemas, tables and columns.

suggest("SELECT * FROM sa", names)        sales, sales.orders
suggest("SELECT * FROM sales.", names)    sales.orders
suggest("\\\\ti", names)                     \\\\timing
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from headgate.cli.shell.meta_commands import META_COMMANDS
from headgate.cli.shell.names import LakeNames
from headgate.sql.parse.grammar.rows import STATEMENT_ROWS
from headgate.sql.parse.tokens import STRING, UNCLOSED, SqlTokens, tokenize_statement

_TYPED = re.compile(r"[\w.\\?]*$")
_BEFORE_TABLES = frozenset(
    ["from", "join", "into", "update", "table", "describe", "desc", "detail", "history", "optimize", "vacuum",
     "restore", "on", "using", "clone", "copy", "overwrite", "tblproperties", "truncate", "merge"]
)  # fmt: skip
_CLAUSES = (
    "AND", "AS", "ASC", "BETWEEN", "BY", "CASE", "CAST", "CROSS JOIN", "DESC", "DISTINCT", "ELSE", "END",
    "EXCEPT", "EXISTS", "FROM", "FULL JOIN", "GROUP BY", "HAVING", "IN", "INNER JOIN", "INTERSECT",
    "IS NOT NULL", "IS NULL", "JOIN", "LATERAL VIEW", "LEFT JOIN", "LIKE", "LIMIT", "NOT", "NULL",
    "OFFSET", "ON", "OR", "ORDER BY", "OVER", "PARTITION BY", "QUALIFY", "RIGHT JOIN", "SELECT", "SET",
    "THEN", "TIMESTAMP AS OF", "UNION ALL", "USING", "VALUES", "VERSION AS OF", "WHEN",
    "WHEN MATCHED THEN", "WHEN NOT MATCHED THEN", "WHERE", "WINDOW", "WITH",
)  # fmt: skip
_STATEMENTS = tuple(sorted({" ".join(row.leads).upper() for row in STATEMENT_ROWS}))


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A text that may stand in place of the last letters, and what it is."""

    text: str
    replaces: int
    """How many letters before the cursor it takes the place of."""
    kind: str


def suggest(before: str, names: LakeNames) -> list[Suggestion]:
    """What may stand there, the likeliest first; nothing within quotes."""
    found = _TYPED.search(before)
    typed = found[0] if found else ""
    if before.lstrip().startswith("\\"):
        return list(_suggest_command(before.lstrip(), typed, names))
    tokens = tokenize_statement(before.rpartition(";")[2])
    if tokens.tokens and tokens.tokens[-1].kind in (UNCLOSED, STRING):
        return []
    return _matching(_candidates(tokens, typed, names), typed)


def _suggest_command(line: str, typed: str, names: LakeNames) -> Iterator[Suggestion]:
    if " " not in line:
        yield from _matching(((f"\\{row.name}", row.says) for row in META_COMMANDS), line)
    elif line.split(" ", 1)[0] == "\\d":
        yield from _matching(((table, "table") for table in names.tables()), typed)


def _candidates(tokens: SqlTokens, typed: str, names: LakeNames) -> Iterator[tuple[str, str]]:
    written = len(tokens.tokens) - _tokens_in(typed)
    begun = "".join(f"{token.word.upper()} " for token in tokens.tokens[:written])
    for text in _STATEMENTS:
        if text.startswith(begun):
            yield text.removeprefix(begun), "statement"
    if written == 0:
        return
    last = tokens.tokens[written - 1]
    relations = [
        *((name, "schema") for name in names.schemas()),
        *((name, "table") for name in names.tables()),
    ]
    if last.word in _BEFORE_TABLES:
        yield from relations
    columns = _columns(tokens, typed, names)
    yield from columns
    yield from ((text, "keyword") for text in _CLAUSES)
    if last.word not in _BEFORE_TABLES:
        yield from relations


def _columns(tokens: SqlTokens, typed: str, names: LakeNames) -> list[tuple[str, str]]:
    """The columns of the tables that the statement names, qualified as far as it is typed."""
    text = tokens.text.lower()
    known = [table for table in names.tables() if re.search(rf"(?<![\w.]){re.escape(table.lower())}\b", text)]
    found = dict.fromkeys(column for table in known for column in names.columns(table))
    qualifier = typed.rpartition(".")[0]
    return [(f"{qualifier}.{column}" if qualifier else column, "column") for column in found]


def _tokens_in(typed: str) -> int:
    return len(tokenize_statement(typed).tokens)


def _matching(candidates: Iterable[tuple[str, str]], typed: str) -> list[Suggestion]:
    lower = typed.lower()
    is_small = bool(typed) and typed == lower
    found: dict[str, Suggestion] = {}
    for text, kind in candidates:
        if not text.lower().startswith(lower):
            continue
        shown = text.lower() if is_small and kind in ("keyword", "statement") else text
        found.setdefault(shown, Suggestion(shown, len(typed), kind))
    return list(found.values())
