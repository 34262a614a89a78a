"""What do CREATE, REPLACE, CLONE, DROP and USE say of tables and schemas?"""

from dataclasses import dataclass
from enum import Enum

from headgate.sql.statements.sql_text import AsOf, Properties, SqlText, TableRef


class CreateMode(Enum):
    """What becomes of a table that exists, and of one that does not."""

    CREATE = "CREATE TABLE"
    IF_NOT_EXISTS = "CREATE TABLE IF NOT EXISTS"
    CREATE_OR_REPLACE = "CREATE OR REPLACE TABLE"
    REPLACE = "REPLACE TABLE"


@dataclass(frozen=True, slots=True)
class TableClauses:
    """What stands behind the columns of a new table."""

    provider: str | None = None
    """What USING says."""
    partitioned_by: tuple[str, ...] = ()
    cluster_by: tuple[str, ...] = ()
    """Columns with their dots."""
    cluster_auto: bool = False
    properties: Properties = ()
    options: Properties = ()
    comment: str | None = None
    location: str | None = None
    collation: str | None = None


NO_CLAUSES = TableClauses()


@dataclass(frozen=True, slots=True)
class CreateTable:
    """CREATE, CREATE OR REPLACE or REPLACE TABLE, with columns, AS a query, or both a place and neither."""

    mode: CreateMode
    table: TableRef
    columns: str | None = None
    """The text between the parentheses, for ``parse_columns``, and that of PARTITIONED BY (p INT)."""
    clauses: TableClauses = NO_CLAUSES
    query: SqlText | None = None
    is_external: bool = False


@dataclass(frozen=True, slots=True)
class CreateTableLike:
    """CREATE TABLE [IF NOT EXISTS] t LIKE source [clauses]."""

    mode: CreateMode
    table: TableRef
    source: TableRef
    clauses: TableClauses = NO_CLAUSES


@dataclass(frozen=True, slots=True)
class CloneTable:
    """CREATE … TABLE t [SHALLOW | DEEP] CLONE source [AS OF] [TBLPROPERTIES …] [LOCATION …]."""

    mode: CreateMode
    table: TableRef
    source: TableRef
    is_shallow: bool
    as_of: AsOf | None = None
    properties: Properties = ()
    location: str | None = None


@dataclass(frozen=True, slots=True)
class DropTable:
    """DROP TABLE [IF EXISTS] t [PURGE]."""

    table: TableRef
    if_exists: bool = False
    is_purged: bool = False


@dataclass(frozen=True, slots=True)
class UndropTable:
    """UNDROP TABLE t, or WITH ID 'id'."""

    table: TableRef | None
    table_id: str | None = None


@dataclass(frozen=True, slots=True)
class CreateSchema:
    """CREATE SCHEMA | DATABASE [IF NOT EXISTS] s [COMMENT …] [[MANAGED] LOCATION …] [WITH DBPROPERTIES …]."""

    name: tuple[str, ...]
    if_not_exists: bool = False
    comment: str | None = None
    location: str | None = None
    properties: Properties = ()


@dataclass(frozen=True, slots=True)
class DropSchema:
    """DROP SCHEMA | DATABASE | NAMESPACE [IF EXISTS] s [RESTRICT | CASCADE]."""

    name: tuple[str, ...]
    if_exists: bool = False
    cascade: bool = False


@dataclass(frozen=True, slots=True)
class AlterSchema:
    """ALTER SCHEMA s SET DBPROPERTIES (…), SET OWNER TO …: ``form`` says which."""

    name: tuple[str, ...]
    form: str
    properties: Properties = ()
    owner: str | None = None


@dataclass(frozen=True, slots=True)
class UseSchema:
    """USE [SCHEMA | DATABASE | NAMESPACE] name; USE CATALOG name and SET CATALOG name with ``is_catalog``."""

    name: tuple[str, ...]
    is_catalog: bool = False


@dataclass(frozen=True, slots=True)
class CommentOn:
    """COMMENT ON TABLE | SCHEMA | COLUMN name IS 'text' | NULL."""

    kind: str
    """TABLE, COLUMN, SCHEMA or CATALOG."""
    name: TableRef
    """The last part is the column's name if it is one."""
    comment: str | None
