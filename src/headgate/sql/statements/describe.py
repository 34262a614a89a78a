"""What do DESCRIBE and SHOW ask for?"""

from dataclasses import dataclass

from headgate.sql.statements.sql_text import AsOf, SqlParameter, TableRef


@dataclass(frozen=True, slots=True)
class DescribeTable:
    """DESCRIBE [TABLE] [EXTENDED | FORMATTED] t [AS OF] [column] [AS JSON]."""

    table: TableRef
    is_extended: bool = False
    column: tuple[str, ...] | None = None
    as_json: bool = False
    as_of: AsOf | None = None
    partition: str | None = None
    """The text of PARTITION (…)."""


@dataclass(frozen=True, slots=True)
class DescribeDetail:
    """DESCRIBE DETAIL t."""

    table: TableRef


@dataclass(frozen=True, slots=True)
class DescribeHistory:
    """DESCRIBE HISTORY t [LIMIT n]."""

    table: TableRef
    limit: int | SqlParameter | None = None


@dataclass(frozen=True, slots=True)
class DescribeSchema:
    """DESCRIBE SCHEMA | DATABASE | NAMESPACE [EXTENDED] s."""

    name: tuple[str, ...]
    is_extended: bool = False


@dataclass(frozen=True, slots=True)
class ShowTables:
    """SHOW TABLES [DROPPED] [IN s] [LIKE 'a*']; SHOW TABLE EXTENDED … with ``is_extended``."""

    schema: tuple[str, ...] | None = None
    pattern: str | None = None
    is_extended: bool = False
    is_dropped: bool = False


@dataclass(frozen=True, slots=True)
class ShowViews:
    """SHOW VIEWS [IN s] [LIKE 'a*']."""

    schema: tuple[str, ...] | None = None
    pattern: str | None = None


@dataclass(frozen=True, slots=True)
class ShowSchemas:
    """SHOW SCHEMAS | DATABASES | NAMESPACES [IN catalog] [LIKE 'a*']."""

    catalog: tuple[str, ...] | None = None
    pattern: str | None = None


@dataclass(frozen=True, slots=True)
class ShowCatalogs:
    """SHOW CATALOGS [LIKE 'a*']."""

    pattern: str | None = None


@dataclass(frozen=True, slots=True)
class ShowColumns:
    """SHOW COLUMNS IN t [IN s]; a schema that is said separately is a part of the table's name."""

    table: TableRef


@dataclass(frozen=True, slots=True)
class ShowCreateTable:
    """SHOW CREATE TABLE t [AS SERDE]."""

    table: TableRef
    as_serde: bool = False


@dataclass(frozen=True, slots=True)
class ShowTableProperties:
    """SHOW TBLPROPERTIES t [('key')]."""

    table: TableRef
    key: str | None = None


@dataclass(frozen=True, slots=True)
class ShowPartitions:
    """SHOW PARTITIONS t [PARTITION (a = 1)]; the text of each value is a literal."""

    table: TableRef
    partition: tuple[tuple[str, str | None], ...] = ()


@dataclass(frozen=True, slots=True)
class ShowDomains:
    """SHOW DOMAINS [IN | ON] [TABLE] t [LIKE 'acme.*']."""

    table: TableRef
    pattern: str | None = None
