"""How are INSERT, UPDATE, DELETE and TRUNCATE read?"""

from dataclasses import replace

from headgate.sql.parse.grammar.statement_row import StatementRow
from headgate.sql.parse.reader import StatementReader
from headgate.sql.parse.relation_names import split_arguments
from headgate.sql.parse.relations import Place
from headgate.sql.parse.tokens import NUMBER, QUOTED, STRING
from headgate.sql.statements.dml import (
    ColumnAssignment,
    DeleteFrom,
    InsertInto,
    InsertMode,
    PartitionValue,
    TruncateTable,
    UpdateTable,
)
from headgate.sql.statements.query import Query, Unsupported
from headgate.sql.statements.sql_text import SqlText
from headgate.sql.statements.statement import Command

QUERY_BEGINS = ("select", "values", "from", "table", "with", "map", "reduce")
_BEHIND_QUERY = frozenset(
    (
        "union",
        "except",
        "minus",
        "intersect",
        "order",
        "sort",
        "cluster",
        "distribute",
        "limit",
        "offset",
        "window",
    )
)
_NO_ALIAS = frozenset((*QUERY_BEGINS, "partition", "by", "replace", "if", "set", "where", "using", "on"))
_NO_VALUE = frozenset(
    ("in", "exists", "any", "some", "all", "not", "and", "or", "like", "ilike", "rlike", "between")
)


def read_insert(reader: StatementReader) -> Command:
    """INSERT INTO and INSERT OVERWRITE."""
    evolves = reader.accepts("with", "schema", "evolution")
    kind = reader.accepts_any("into", "overwrite")
    if not kind:
        raise reader.unexpected("INTO or OVERWRITE")
    if kind == "overwrite" and (reader.sees("directory") or reader.sees("local", "directory")):
        reader.index = reader.seek(*QUERY_BEGINS)
        reader.piece(reader.tokens.stop, Place.QUERY)
        return Query(reader.whole())
    if reader.tokens.is_name(reader.index + 1):
        reader.accepts("table")
    mode = InsertMode.OVERWRITE if kind == "overwrite" else InsertMode.INTO
    found = _read_insert_target(reader, InsertInto(reader.target(), SqlText(""), mode))
    return _read_insert_rows(reader, replace(found, with_schema_evolution=evolves))


def _read_insert_target(reader: StatementReader, found: InsertInto) -> InsertInto:
    """Whatever stands between the table and the query."""
    found = replace(found, alias=read_alias(reader))
    while True:
        if reader.sees("with", "("):
            reader.require("with")
            found = replace(found, options=reader.properties())
        elif reader.sees("partition"):
            found = replace(found, partition=read_partition(reader))
        elif reader.accepts("if", "not", "exists"):
            found = replace(found, if_not_exists=True)
        elif reader.accepts("by", "name"):
            found = replace(found, by_name=True)
        elif reader.accepts("replace"):
            found = _read_replace(reader, found)
        elif reader.sees("(") and found.columns is None and not _opens_query(reader):
            found = replace(found, columns=reader.column_list())
        else:
            return found


def _opens_query(reader: StatementReader) -> bool:
    return reader.ahead(1) in QUERY_BEGINS or reader.sees("(", "(")


def _read_replace(reader: StatementReader, found: InsertInto) -> InsertInto:
    if reader.accepts("using"):
        return replace(found, mode=InsertMode.REPLACE_USING, using=reader.column_list())
    kind = reader.accepts_any("where", "on")
    if not kind:
        raise reader.unexpected("WHERE, ON or USING")
    stop = _query_start(reader)
    if stop == reader.index:
        raise reader.unexpected("a condition")
    condition = reader.piece(stop, Place.EXPRESSION)
    mode = InsertMode.REPLACE_WHERE if kind == "where" else InsertMode.REPLACE_ON
    return replace(found, mode=mode, condition=condition)


def _query_start(reader: StatementReader) -> int:
    """Where the query begins behind a condition: at such a word, or at a parenthesis that follows a value."""
    tokens, index = reader.tokens, reader.index
    while index < tokens.stop:
        token = tokens[index]
        is_name = tokens.sign(index - 1) == "." or tokens.sign(index + 1) == "."
        if token.word in QUERY_BEGINS and not is_name and tokens.word(index - 1) != "distinct":
            return index
        if token.sign == "(" and tokens.word(index + 1) in QUERY_BEGINS and _ends_value(reader, index - 1):
            return index
        index = tokens.after_group(index) if token.sign in ("(", "[") else index + 1
    return index


def _ends_value(reader: StatementReader, index: int) -> bool:
    token = reader.tokens[index]
    is_word = bool(token.word) and token.word not in _NO_VALUE
    return index >= reader.index and (
        is_word or token.kind in (NUMBER, STRING, QUOTED) or token.sign in (")", "]")
    )


def _read_insert_rows(reader: StatementReader, found: InsertInto) -> InsertInto:
    alias: str | None = None
    rows: tuple[tuple[SqlText, ...], ...] = ()
    if reader.sees("(") and _is_aliased_group(reader):
        begin, stop = reader.group()
        alias = read_alias(reader)
        reader.require_end()
        query = reader.piece_between(begin, stop, Place.QUERY)
    else:
        rows = _rows_with_default(reader) if reader.sees("values") else ()
        query = reader.query()
    if reader.with_clause is not None:
        query = reader.with_clause.followed_by(query)
    return replace(found, query=query, source_alias=alias, rows=rows)


def _is_aliased_group(reader: StatementReader) -> bool:
    after = reader.tokens.after_group(reader.index)
    return reader.tokens.is_name(after) and reader.tokens.word(after) not in _BEHIND_QUERY


def _rows_with_default(reader: StatementReader) -> tuple[tuple[SqlText, ...], ...]:
    """The values of VALUES (…), (…), one by one, if DEFAULT is among them."""
    tokens = reader.tokens
    has_default = any(
        tokens.word(index) == "default"
        and tokens.sign(index + 1) in (",", ")")
        and tokens.sign(index - 1) in ("(", ",")
        for index in range(reader.index, tokens.stop)
    )
    if not has_default:
        return ()
    rows: list[tuple[SqlText, ...]] = []
    for begin, stop in split_arguments(tokens, reader.index + 1, tokens.stop):
        if tokens.sign(begin) != "(" or tokens.closes.get(begin) != stop - 1:
            return ()
        values = split_arguments(tokens, begin + 1, stop - 1)
        rows.append(tuple(reader.piece_between(first, last) for first, last in values))
    return tuple(rows)


def read_alias(reader: StatementReader) -> str | None:
    """``AS a`` or ``a``; None if neither comes next."""
    if reader.accepts("as"):
        return reader.name("an alias")
    if reader.next.is_name and reader.word not in _NO_ALIAS:
        return reader.name()
    return None


def read_partition(reader: StatementReader) -> tuple[PartitionValue, ...]:
    """PARTITION (a = 1, b)."""
    reader.require("partition")
    begin, stop = reader.group()
    after = reader.index
    found: list[PartitionValue] = []
    for first, last in split_arguments(reader.tokens, begin, stop):
        reader.index = first
        column = reader.name("the name of a column")
        has_value = reader.accepts("=") or reader.accepts("==")
        value = reader.piece_between(reader.index, last) if has_value else None
        found.append(PartitionValue(column, value))
    reader.index = after
    return tuple(found)


def read_update(reader: StatementReader) -> Command:
    """UPDATE t [AS a] SET … [WHERE …]."""
    table = reader.target()
    alias = read_alias(reader)
    reader.require("set")
    assignments = read_assignments(reader, "where")
    condition = reader.expression("a condition") if reader.accepts("where") else None
    return UpdateTable(table, assignments, condition, alias, reader.with_clause)


def read_assignments(reader: StatementReader, *stops: str) -> tuple[ColumnAssignment, ...]:
    """``a = 1, b.c = 2``, up to one of these words."""
    found: list[ColumnAssignment] = []
    while True:
        path = reader.names("the name of a column")
        if not (reader.accepts("=") or reader.accepts("==")):
            raise reader.unexpected("=")
        found.append(ColumnAssignment(path, reader.expression("an expression", ",", *stops)))
        if not reader.accepts(","):
            return tuple(found)


def read_delete(reader: StatementReader) -> Command:
    """DELETE FROM t [AS a] [WHERE …]."""
    table = reader.target()
    alias = read_alias(reader)
    condition = reader.expression("a condition") if reader.accepts("where") else None
    return DeleteFrom(table, condition, alias, reader.with_clause)


def read_truncate(reader: StatementReader) -> Command:
    """TRUNCATE TABLE t [PARTITION (…)]."""
    table = reader.target()
    return TruncateTable(table, read_partition(reader) if reader.sees("partition") else ())


def read_load(reader: StatementReader) -> Command:
    """LOAD DATA, which no table of a lake takes."""
    reader.index = reader.seek("table") + 1
    table = reader.target()
    reader.index = reader.tokens.stop
    return Unsupported("LOAD DATA", table, "COPY INTO takes files in")


_INSERTS = (
    (
        "INSERT INTO t [(a, b)] query",
        "Appends rows; columns by their place or by the list.",
        "`table.append`",
    ),
    ("INSERT INTO t BY NAME query", "Appends rows, columns by their names.", "`table.append`"),
    (
        "INSERT OVERWRITE t [PARTITION (a = 1)] query",
        "Writes rows in place of those there are.",
        "`table.overwrite`",
    ),
    (
        "INSERT INTO t REPLACE WHERE condition query",
        "Writes rows in place of those a condition is true for.",
        "`table.overwrite(replace_where=…)`",
    ),
    (
        "INSERT INTO t REPLACE USING (a, b) query",
        "Writes rows in place of those with the same values in some columns.",
        "`table.merge`",
    ),
    (
        "INSERT INTO t [AS t] REPLACE ON condition (query) [AS s]",
        "Writes rows in place of those that a condition joins to them.",
        "`table.merge`",
    ),
    (
        "INSERT WITH SCHEMA EVOLUTION INTO t query",
        "The same, and adds columns that the table does not have.",
        "`table.append(merge_schema=True)`",
    ),
)
DML_ROWS: tuple[StatementRow, ...] = (
    *(StatementRow(("insert",), read_insert, form, says, calls) for form, says, calls in _INSERTS),
    StatementRow(
        ("update",),
        read_update,
        "UPDATE t [AS a] SET b = … [WHERE …]",
        "Changes rows.",
        "`table.update`",
    ),
    StatementRow(
        ("delete", "from"), read_delete, "DELETE FROM t [AS a] [WHERE …]", "Deletes rows.", "`table.delete`"
    ),
    StatementRow(
        ("truncate", "table"), read_truncate, "TRUNCATE TABLE t", "Deletes all rows.", "`table.delete`"
    ),
    StatementRow(
        ("load", "data"), read_load, "LOAD DATA …", "Is refused: COPY INTO takes files in.", "`COPY INTO`"
    ),
)
