"""How are CREATE TABLE, REPLACE TABLE, CLONE, DROP, UNDROP and the statements on schemas read?"""

from headgate.sql.parse.grammar.statement_row import StatementRow
from headgate.sql.parse.grammar.table_clauses import ClausesReader
from headgate.sql.parse.reader import StatementReader
from headgate.sql.statements.create import (
    CloneTable,
    CreateMode,
    CreateTable,
    CreateTableLike,
    DropTable,
    UndropTable,
)
from headgate.sql.statements.query import Unsupported
from headgate.sql.statements.sql_text import Properties, SqlText, TableRef
from headgate.sql.statements.statement import Command

_QUERY_BEGINS = ("select", "with", "from", "values", "table", "map", "reduce")


def read_create_table(reader: StatementReader) -> Command:
    """CREATE TABLE in all its forms."""
    is_new = reader.accepts("if", "not", "exists")
    return _read_table(reader, CreateMode.IF_NOT_EXISTS if is_new else CreateMode.CREATE)


def read_create_external(reader: StatementReader) -> Command:
    """CREATE EXTERNAL TABLE."""
    is_new = reader.accepts("if", "not", "exists")
    return _read_table(reader, CreateMode.IF_NOT_EXISTS if is_new else CreateMode.CREATE, is_external=True)


def read_create_or_replace(reader: StatementReader) -> Command:
    """CREATE OR REPLACE TABLE."""
    return _read_table(reader, CreateMode.CREATE_OR_REPLACE)


def read_replace(reader: StatementReader) -> Command:
    """REPLACE TABLE."""
    return _read_table(reader, CreateMode.REPLACE)


def _read_table(reader: StatementReader, mode: CreateMode, *, is_external: bool = False) -> Command:
    table = reader.target()
    if reader.accepts("like"):
        return _read_like(reader, mode, table)
    if reader.word in ("shallow", "deep", "clone"):
        return _read_clone(reader, mode, table)
    columns = reader.group_text() if reader.sees("(") and not _opens_query(reader) else None
    clauses = ClausesReader(reader)
    found = clauses.read()
    if clauses.unsupported:
        return _refused(reader, f"{mode.value} … {clauses.unsupported}")
    declared = ", ".join(part for part in (columns, clauses.partition_columns) if part)
    query = _read_query(reader)
    is_listed = columns is not None or bool(clauses.partition_columns)
    return CreateTable(mode, table, declared if is_listed else None, found, query, is_external)


def _refused(reader: StatementReader, form: str) -> Unsupported:
    """The refusal of a clause; a table of Spark's may have it, with rows from tables of a lake."""
    reader.index = reader.seek("select", "with")
    if not reader.is_at_end:
        reader.query()
    return Unsupported(form, reader.table)


def _opens_query(reader: StatementReader) -> bool:
    """Whether the parenthesis holds a query and no columns."""
    return reader.ahead(1) in ("select", "with", "from") or reader.sees("(", "(")


def _read_query(reader: StatementReader) -> SqlText | None:
    is_said = reader.accepts("as")
    if not is_said and reader.is_at_end:
        return None
    if not is_said and reader.word not in _QUERY_BEGINS and not reader.sees("("):
        raise reader.unexpected("a clause of the table, AS with a query, or the end of the statement")
    return reader.query()


def _read_like(reader: StatementReader, mode: CreateMode, table: TableRef) -> Command:
    source = reader.table_ref()
    clauses = ClausesReader(reader)
    found = clauses.read()
    if clauses.unsupported:
        return _refused(reader, f"{mode.value} … LIKE … {clauses.unsupported}")
    return CreateTableLike(mode, table, source, found)


def _read_clone(reader: StatementReader, mode: CreateMode, table: TableRef) -> CloneTable:
    is_shallow = reader.accepts_any("shallow", "deep") == "shallow"
    reader.require("clone")
    source = reader.table_ref()
    as_of = reader.as_of()
    properties: Properties = ()
    location: str | None = None
    while True:
        if reader.accepts("tblproperties"):
            properties = reader.properties()
        elif reader.accepts("location"):
            location = reader.string()
        else:
            return CloneTable(mode, table, source, is_shallow, as_of, properties, location)


def read_drop_table(reader: StatementReader) -> Command:
    """DROP TABLE [IF EXISTS] t [PURGE]."""
    if_exists = reader.accepts("if", "exists")
    table = reader.target()
    return DropTable(table, if_exists, reader.accepts("purge"))


def read_undrop(reader: StatementReader) -> Command:
    """UNDROP TABLE t, or WITH ID 'id'."""
    if reader.accepts("with", "id"):
        return UndropTable(None, reader.string("the id of a table in quotes"))
    table = reader.target()
    return UndropTable(table, reader.string() if reader.accepts("with", "id") else None)


_CLAUSES = "[PARTITIONED BY (…)] [CLUSTER BY (…)] [COMMENT '…'] [TBLPROPERTIES (…)] [LOCATION '…']"
CREATE_ROWS: tuple[StatementRow, ...] = (
    StatementRow(
        ("create", "table"),
        read_create_table,
        f"CREATE TABLE [IF NOT EXISTS] t (a INT …) [USING delta] {_CLAUSES}",
        "Makes an empty table: columns with NOT NULL, DEFAULT, GENERATED, IDENTITY, CHECK and COMMENT.",
        "`lake.create_table`",
    ),
    StatementRow(
        ("create", "table"),
        read_create_table,
        "CREATE TABLE [IF NOT EXISTS] t … AS query",
        "Makes a table with the rows and columns of a query, in one commit.",
        "`lake.write`",
    ),
    StatementRow(
        ("create", "table"),
        read_create_table,
        "CREATE TABLE [IF NOT EXISTS] t LIKE s [TBLPROPERTIES (…)]",
        "Makes an empty table with the columns of another.",
        "`lake.create_table`",
    ),
    StatementRow(
        ("create", "table"),
        read_create_table,
        "CREATE TABLE … t SHALLOW CLONE s [VERSION AS OF n] [TBLPROPERTIES (…)] [LOCATION '…']",
        "Makes a table that shares the files of another.",
        "`lake.clone`",
    ),
    StatementRow(
        ("create", "table"),
        read_create_table,
        "CREATE TABLE … t [DEEP] CLONE s [VERSION AS OF n] …",
        "Makes a table with copies of the files of another.",
        "`lake.clone`",
    ),
    StatementRow(
        ("create", "external", "table"),
        read_create_external,
        "CREATE EXTERNAL TABLE t (…) LOCATION '…'",
        "Makes a table at a place of your own.",
        "`lake.create_table(location=…)`",
    ),
    StatementRow(
        ("create", "or", "replace", "table"),
        read_create_or_replace,
        "CREATE OR REPLACE TABLE t … [AS query | CLONE s]",
        "Makes a table, or gives one new columns and rows; its history stays.",
        "`lake.replace_table`",
    ),
    StatementRow(
        ("replace", "table"),
        read_replace,
        "REPLACE TABLE t … [AS query | CLONE s]",
        "Gives a table that there is new columns and rows.",
        "`lake.replace_table`",
    ),
    StatementRow(
        ("drop", "table"),
        read_drop_table,
        "DROP TABLE [IF EXISTS] t [PURGE]",
        "Drops a table, which can be undropped; with PURGE not.",
        "`lake.drop_table`, `lake.purge`",
    ),
    StatementRow(
        ("undrop", "table"),
        read_undrop,
        "UNDROP TABLE t | UNDROP TABLE WITH ID 'id'",
        "Brings a table back that was dropped.",
        "`lake.undrop`",
    ),
)
