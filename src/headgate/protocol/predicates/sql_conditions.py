"""Is a text a condition, and which tree of nodes is it? As Spark's dialect of sqlglot reads it.

a = 1 AND b     And(EQ(a, 1), b)
id =            none: a syntax error
"""

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from headgate.protocol.predicates import spark_strings
from headgate.protocol.predicates.spark_strings import DetachedSql
from headgate.protocol.schema import sql_tokens


def parse_condition(detached: DetachedSql) -> exp.Expr | None:
    """The nodes of a condition; None if it cannot be read, or only by Spark."""
    return None if _is_for_spark(detached) else _nodes(detached)


def has_syntax_error(sql: str) -> bool:
    """Whether a condition cannot be read at all; some that can be are refused for what they say."""
    detached = spark_strings.detach_strings(sql)
    return not _is_for_spark(detached) and _nodes(detached) is None


def _is_for_spark(detached: DetachedSql) -> bool:
    return detached.is_ambiguous or sql_tokens.is_too_deep(detached.sql)


def _nodes(detached: DetachedSql) -> exp.Expr | None:
    try:
        return sqlglot.parse_one(detached.sql, read="spark", into=exp.Condition)
    except (SqlglotError, RecursionError):
        return None
