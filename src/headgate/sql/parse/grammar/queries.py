"""How are statements read that ask only, or keep what a query says under a name?"""

from headgate.sql.parse.grammar.statement_row import StatementRow
from headgate.sql.parse.reader import StatementReader
from headgate.sql.parse.relations import Place
from headgate.sql.statements.query import (
    CacheTable,
    CreateTempView,
    CreateView,
    Foreign,
    Query,
    RefreshTable,
    UncacheTable,
    Unsupported,
)
from headgate.sql.statements.sql_text import TableRef
from headgate.sql.statements.statement import Command


def read_query(reader: StatementReader) -> Command:
    """SELECT and all other queries; FROM … INSERT INTO … is none."""
    reader.index = reader.begin
    if reader.word == "from":
        insert = reader.seek("insert")
        if reader.tokens.word(insert) == "insert":
            return _read_multi_insert(reader, insert)
    reader.piece(reader.tokens.stop, Place.QUERY)
    return Query(reader.whole())


def _read_multi_insert(reader: StatementReader, insert: int) -> Unsupported:
    reader.piece(reader.tokens.stop, Place.QUERY)
    reader.index = insert + 1
    if reader.accepts_any("into", "overwrite"):
        reader.accepts("table")
        reader.target()
    return Unsupported("FROM … INSERT INTO …", reader.table, "write an INSERT for each table")


def read_expressions(reader: StatementReader) -> Query:
    """SET VAR, DECLARE, CALL and EXECUTE IMMEDIATE: there may be queries in parentheses."""
    reader.index = reader.begin
    reader.piece(reader.tokens.stop, Place.EXPRESSION)
    return Query(reader.whole())


def read_create_view(reader: StatementReader) -> Command:
    """CREATE [OR REPLACE] [[GLOBAL] TEMPORARY] VIEW."""
    or_replace = reader.accepts("or", "replace")
    is_global = reader.accepts("global")
    is_temporary = bool(reader.accepts_any("temp", "temporary"))
    if not reader.accepts("view"):
        return Foreign()
    reader.accepts("if", "not", "exists")
    view = reader.table_ref()
    columns = _view_columns(reader) if reader.sees("(") else ()
    start = reader.seek("as", "using")
    reader.index = start + 1
    if reader.tokens.word(start) != "as" or not _begins_query(reader):
        return Foreign()
    query = reader.query()
    if is_temporary and view.parts:
        return CreateTempView(view.parts[-1], query, columns, or_replace, is_global)
    return CreateView(view, query)


def _begins_query(reader: StatementReader) -> bool:
    return reader.word in ("select", "with", "from", "values", "table", "map", "reduce") or reader.sees("(")


def _view_columns(reader: StatementReader) -> tuple[str, ...]:
    def column() -> str:
        name = reader.name("the name of a column")
        if reader.accepts("comment"):
            reader.string()
        return name

    return reader.in_list(column)


def read_cache(reader: StatementReader) -> Command:
    """CACHE [LAZY] TABLE t [OPTIONS (…)] [[AS] query]."""
    is_lazy = reader.accepts("lazy")
    reader.require("table")
    table = reader.target()
    options = reader.properties() if reader.accepts("options") else ()
    has_query = reader.accepts("as") or not reader.is_at_end
    return CacheTable(table, reader.query() if has_query else None, is_lazy, options)


def read_uncache(reader: StatementReader) -> Command:
    """UNCACHE TABLE [IF EXISTS] t."""
    if_exists = reader.accepts("if", "exists")
    return UncacheTable(reader.target(), if_exists)


def read_refresh(reader: StatementReader) -> Command:
    """REFRESH TABLE t."""
    return RefreshTable(reader.target())


def explain_command(inner: Command, table: TableRef | None) -> Command:
    """What EXPLAIN of a command is: of a query Spark shows the plan."""
    if isinstance(inner, Query | Foreign):
        return inner
    return Unsupported("EXPLAIN of a statement that is no query", table, "explain the query in it")


_ASKS = "`lake.sql`, `spark.sql`"
_QUERY_FORMS = (
    (
        "select",
        "SELECT … FROM t [VERSION AS OF n] …",
        "Reads tables of the lake, views and frames in one query.",
    ),
    ("with", "WITH a AS (query) SELECT …", "Gives queries names that are no tables."),
    ("values", "VALUES (1, 'a'), …", "Makes rows from values."),
    ("from", "FROM t [SELECT …] [|> …]", "Reads a table, and goes on with pipes if there are any."),
    ("table", "TABLE t", "Reads all columns of a table."),
    ("map", "MAP … USING 'script'", "Sends rows through a script, as Spark does."),
    ("reduce", "REDUCE … USING 'script'", "Sends rows through a script, as Spark does."),
    ("explain", "EXPLAIN [EXTENDED | FORMATTED …] query", "Shows Spark's plan of a query."),
)
_VARIABLE_FORMS = (
    (("set", "var"), "SET VAR v = (query)", "Gives a variable of the session a value."),
    (("set", "variable"), "SET VARIABLE v = (query)", "Gives a variable of the session a value."),
    (("declare",), "DECLARE [OR REPLACE] VARIABLE v …", "Declares a variable of the session."),
)
_VIEW_FORM = "CREATE [OR REPLACE] [GLOBAL] TEMPORARY VIEW v AS query"
_VIEW_LEADS = (
    ("create", "temp", "view"),
    ("create", "temporary", "view"),
    ("create", "global", "temp"),
    ("create", "global", "temporary"),
    ("create", "or", "replace", "temp"),
    ("create", "or", "replace", "temporary"),
    ("create", "or", "replace", "global"),
)


def _view_row(lead: tuple[str, ...]) -> StatementRow:
    return StatementRow(
        lead, read_create_view_again, _VIEW_FORM, "Names a query for the session.", "`df.createTempView`"
    )


def read_create_view_again(reader: StatementReader) -> Command:
    """The same, when the leading words say more than CREATE."""
    reader.index = reader.begin + 1
    return read_create_view(reader)


QUERY_ROWS: tuple[StatementRow, ...] = (
    *(StatementRow((word,), read_query, form, says, _ASKS) for word, form, says in _QUERY_FORMS),
    *(StatementRow(leads, read_expressions, form, says, "Spark") for leads, form, says in _VARIABLE_FORMS),
    *(_view_row(lead) for lead in _VIEW_LEADS),
    StatementRow(
        ("create", "view"),
        read_create_view_again,
        "CREATE VIEW v AS query",
        "Names a query for all sessions; refused if it reads a table of a lake.",
        "`CREATE TEMPORARY VIEW`",
    ),
    StatementRow(
        ("create", "or", "replace", "view"),
        read_create_view_again,
        "CREATE OR REPLACE VIEW v AS query",
        "The same, in place of a view that there is.",
        "`CREATE TEMPORARY VIEW`",
    ),
    StatementRow(
        ("cache",), read_cache, "CACHE [LAZY] TABLE t [AS query]", "Keeps rows in memory.", "`df.cache()`"
    ),
    StatementRow(
        ("uncache", "table"),
        read_uncache,
        "UNCACHE TABLE [IF EXISTS] t",
        "Keeps them no longer.",
        "`df.unpersist()`",
    ),
    StatementRow(
        ("refresh", "table"), read_refresh, "REFRESH TABLE t", "Reads the table's latest version again.", ""
    ),
)
