"""Which columns an expression of a table is about."""

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from headgate.protocol.schema import sql_tokens


def top_level_columns(expression: str) -> frozenset[str] | None:
    """The top-level columns an expression names, in lower case; None if it cannot be told."""
    if sql_tokens.is_too_deep(expression):
        return None
    try:
        tree = sqlglot.parse_one(expression, dialect="databricks")
    except (SqlglotError, RecursionError):
        return None
    return frozenset(column.parts[0].name.lower() for column in tree.find_all(exp.Column))
