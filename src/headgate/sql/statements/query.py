"""Which statements only read, and which are none of ours?"""

from dataclasses import dataclass

from headgate.sql.statements.sql_text import Properties, SqlText, TableRef


@dataclass(frozen=True, slots=True)
class Query:
    """Whatever Spark runs once the names are replaced: SELECT, WITH, VALUES, FROM, TABLE, EXPLAIN …"""

    sql: SqlText


@dataclass(frozen=True, slots=True)
class CreateTempView:
    """CREATE [OR REPLACE] [GLOBAL] TEMPORARY VIEW v [(columns)] [COMMENT …] AS query."""

    name: str
    query: SqlText
    columns: tuple[str, ...] = ()
    or_replace: bool = False
    is_global: bool = False


@dataclass(frozen=True, slots=True)
class CreateView:
    """CREATE VIEW of a view that stays: refused if its query names a table of a lake."""

    view: TableRef
    query: SqlText


@dataclass(frozen=True, slots=True)
class CacheTable:
    """CACHE [LAZY] TABLE t [OPTIONS (…)] [AS query]; without a query a table or view that exists is meant."""

    table: TableRef
    query: SqlText | None = None
    is_lazy: bool = False
    options: Properties = ()


@dataclass(frozen=True, slots=True)
class UncacheTable:
    """UNCACHE TABLE [IF EXISTS] t."""

    table: TableRef
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class RefreshTable:
    """REFRESH [TABLE] t."""

    table: TableRef


@dataclass(frozen=True, slots=True)
class Foreign:
    """Nothing of ours: Spark gets the text as it is."""


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A statement that is known and not supported on tables of a lake; Spark's own tables may have it."""

    form: str
    """The words by which it is known, ALTER TABLE … ADD PARTITION."""
    table: TableRef | None = None
    instead: str = ""
    """What does it instead, as the rest of a sentence; nothing if there is nothing."""
