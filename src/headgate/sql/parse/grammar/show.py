"""How is SHOW read?"""

from headgate.sql.parse.grammar.statement_row import StatementRow
from headgate.sql.parse.reader import StatementReader
from headgate.sql.parse.relation_names import split_arguments
from headgate.sql.parse.tokens import STRING
from headgate.sql.statements.describe import (
    ShowCatalogs,
    ShowColumns,
    ShowCreateTable,
    ShowDomains,
    ShowPartitions,
    ShowSchemas,
    ShowTableProperties,
    ShowTables,
    ShowViews,
)
from headgate.sql.statements.query import Foreign
from headgate.sql.statements.sql_text import TableRef
from headgate.sql.statements.statement import Command


def read_show_tables(reader: StatementReader) -> Command:
    """SHOW TABLES [DROPPED] [IN s] [LIKE 'a*']."""
    is_dropped = reader.accepts("dropped")
    schema = _read_place(reader)
    pattern = _read_pattern(reader)
    if reader.sees("as", "json"):
        reader.index = reader.tokens.stop
        return Foreign()
    return ShowTables(schema, pattern, is_dropped=is_dropped)


def read_show_table_extended(reader: StatementReader) -> Command:
    """SHOW TABLE EXTENDED [IN s] LIKE 'a*' [PARTITION (…)]."""
    schema = _read_place(reader)
    reader.require("like")
    pattern = reader.string()
    if not reader.is_at_end:
        reader.index = reader.tokens.stop
        return Foreign()
    return ShowTables(schema, pattern, is_extended=True)


def read_show_views(reader: StatementReader) -> Command:
    """SHOW VIEWS [IN s] [LIKE 'a*']."""
    return ShowViews(_read_place(reader), _read_pattern(reader))


def read_show_schemas(reader: StatementReader) -> Command:
    """SHOW SCHEMAS [IN catalog] [LIKE 'a*']."""
    return ShowSchemas(_read_place(reader), _read_pattern(reader))


def read_show_catalogs(reader: StatementReader) -> Command:
    """SHOW CATALOGS [LIKE 'a*']."""
    return ShowCatalogs(_read_pattern(reader))


def _read_place(reader: StatementReader) -> tuple[str, ...] | None:
    """IN s or FROM s; None if neither is said."""
    return reader.names("the name of a schema") if reader.accepts_any("in", "from") else None


def _read_pattern(reader: StatementReader) -> str | None:
    """LIKE 'a*', or the pattern alone."""
    if reader.accepts("like"):
        return reader.string("a pattern in quotes")
    return reader.string() if reader.next.kind == STRING else None


def read_show_columns(reader: StatementReader) -> Command:
    """SHOW COLUMNS IN t [IN s]."""
    if not reader.accepts_any("in", "from"):
        raise reader.unexpected("IN and the name of a table")
    table = reader.target()
    schema = _read_place(reader)
    if schema is not None and len(table.parts) == 1:
        reader.table = table = TableRef((*schema, *table.parts))
    return ShowColumns(table)


def read_show_create_table(reader: StatementReader) -> Command:
    """SHOW CREATE TABLE t [AS SERDE]."""
    table = reader.target()
    return ShowCreateTable(table, reader.accepts("as", "serde"))


def read_show_properties(reader: StatementReader) -> Command:
    """SHOW TBLPROPERTIES t [('key')]."""
    table = reader.target()
    keys = reader.property_keys() if reader.sees("(") else ()
    return ShowTableProperties(table, keys[0] if keys else None)


def read_show_partitions(reader: StatementReader) -> Command:
    """SHOW PARTITIONS t [PARTITION (a = 1)]."""
    table = reader.target()
    reader.accepts("partition")
    if not reader.sees("("):
        return ShowPartitions(table)
    begin, stop = reader.group()
    after = reader.index
    found: list[tuple[str, str | None]] = []
    for first, last in split_arguments(reader.tokens, begin, stop):
        reader.index = first
        column = reader.name("the name of a column")
        has_value = reader.accepts("=")
        found.append((column, reader.tokens.slice(reader.index, last) if has_value else None))
    reader.index = after
    return ShowPartitions(table, tuple(found))


def read_show_domains(reader: StatementReader) -> Command:
    """SHOW DOMAINS [IN | ON | FROM | FOR] [TABLE] t [LIKE 'acme.*']."""
    reader.accepts_any("in", "on", "from", "for")
    if reader.tokens.is_name(reader.index + 1):
        reader.accepts("table")
    return ShowDomains(reader.target(), _read_pattern(reader))


SHOW_ROWS: tuple[StatementRow, ...] = (
    StatementRow(
        ("show", "tables"),
        read_show_tables,
        "SHOW TABLES [DROPPED] [IN s] [LIKE 'a*']",
        "Lists tables, or those that can be undropped.",
        "`lake.tables`, `lake.dropped`",
    ),
    StatementRow(
        ("show", "table", "extended"),
        read_show_table_extended,
        "SHOW TABLE EXTENDED [IN s] LIKE 'a*'",
        "Lists tables with what is known of them.",
        "`lake.tables`",
    ),
    StatementRow(
        ("show", "views"),
        read_show_views,
        "SHOW VIEWS [IN s] [LIKE 'a*']",
        "Lists views; a lake has none.",
        "",
    ),
    *(
        StatementRow(
            ("show", word),
            read_show_schemas,
            f"SHOW {word.upper()} [IN lake] [LIKE 'a*']",
            "Lists schemas.",
            "`lake.schemas`",
        )
        for word in ("schemas", "databases", "namespaces")
    ),
    StatementRow(
        ("show", "catalogs"),
        read_show_catalogs,
        "SHOW CATALOGS [LIKE 'a*']",
        "Lists lakes among catalogs.",
        "",
    ),
    StatementRow(
        ("show", "columns"),
        read_show_columns,
        "SHOW COLUMNS IN t [IN s]",
        "Lists columns.",
        "`table.read().schema`",
    ),
    StatementRow(
        ("show", "create", "table"),
        read_show_create_table,
        "SHOW CREATE TABLE t",
        "Says how a table like this one is made.",
        "`table.read().schema`, `table.properties`",
    ),
    StatementRow(
        ("show", "tblproperties"),
        read_show_properties,
        "SHOW TBLPROPERTIES t [('key')]",
        "Lists properties.",
        "`table.properties`",
    ),
    StatementRow(
        ("show", "partitions"),
        read_show_partitions,
        "SHOW PARTITIONS t [PARTITION (a = 1)]",
        "Lists partitions.",
        "`table.read`",
    ),
    StatementRow(
        ("show", "domains"),
        read_show_domains,
        "SHOW DOMAINS IN t [LIKE 'acme.*']",
        "Lists metadata domains.",
        "`table.domains`",
    ),
)
