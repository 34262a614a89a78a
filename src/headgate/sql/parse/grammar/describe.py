"""How is DESCRIBE read?"""

from headgate.sql.parse.grammar.schemas import SCHEMA_WORDS
from headgate.sql.parse.grammar.statement_row import StatementRow
from headgate.sql.parse.reader import StatementReader
from headgate.sql.parse.relations import Place
from headgate.sql.parse.tokens import STRING
from headgate.sql.statements.describe import DescribeDetail, DescribeHistory, DescribeSchema, DescribeTable
from headgate.sql.statements.query import Foreign, Query
from headgate.sql.statements.statement import Command

_FOREIGN = ("function", "procedure", "catalog", "volume", "connection", "provider", "share", "recipient")


def read_describe(reader: StatementReader) -> Command:
    """DESCRIBE in all its forms; a word that nothing follows is a table's name."""
    follows = reader.tokens.is_name(reader.index + 1) or reader.tokens[reader.index + 1].kind == STRING
    if _is_query(reader):
        reader.accepts("query")
        reader.piece(reader.tokens.stop, Place.QUERY)
        return Query(reader.whole())
    if follows and reader.accepts("detail"):
        return DescribeDetail(reader.path_or_target())
    if follows and reader.accepts("history"):
        return _read_history(reader)
    if follows and reader.accepts_any(*SCHEMA_WORDS):
        is_extended = reader.tokens.is_name(reader.index + 1) and reader.accepts("extended")
        return DescribeSchema(reader.names("the name of a schema"), is_extended)
    if follows and reader.word in _FOREIGN:
        return Foreign()
    return _read_table(reader)


def _is_query(reader: StatementReader) -> bool:
    after = reader.tokens[reader.index + 1]
    if reader.word == "query":
        return after.word in ("select", "with", "values", "from", "table") or after.sign == "("
    follows = after.kind != "end" and after.sign != "."
    return reader.sees("(") or (follows and reader.word in ("select", "with", "values", "from"))


def _read_history(reader: StatementReader) -> DescribeHistory:
    table = reader.path_or_target()
    if not reader.accepts("limit"):
        return DescribeHistory(table)
    parameter = reader.parameter()
    return DescribeHistory(table, int(_digits(reader)) if parameter is None else parameter)


def _digits(reader: StatementReader) -> str:
    if not reader.next.text.isdecimal():
        raise reader.unexpected("a whole number")
    return reader.number()


def _read_table(reader: StatementReader) -> Command:
    if reader.tokens.is_name(reader.index + 1):
        reader.accepts("table")
    is_extended = reader.tokens.is_name(reader.index + 1) and bool(
        reader.accepts_any("extended", "formatted")
    )
    table = reader.target()
    as_of = reader.as_of()
    partition = reader.group_text() if reader.accepts("partition") else None
    column = None if reader.sees("as", "json") or reader.is_at_end else reader.names("a column, or AS JSON")
    as_json = reader.accepts("as", "json")
    return DescribeTable(table, is_extended, column, as_json, as_of, partition)


_FORMS = (
    (
        "DESCRIBE [TABLE] [EXTENDED] t [AS OF …] [column]",
        "Lists columns and partitioning.",
        "`table.read().schema`",
    ),
    ("DESCRIBE DETAIL t", "Says what a table is, in one row.", "`table.detail`"),
    ("DESCRIBE HISTORY t [LIMIT n]", "Lists the commits, newest first.", "`table.history`"),
    ("DESCRIBE SCHEMA [EXTENDED] s", "Says what a schema is.", "`lake.schemas`"),
    ("DESCRIBE QUERY query", "Lists the columns of a query.", "`df.schema`"),
)
DESCRIBE_ROWS: tuple[StatementRow, ...] = (
    *(StatementRow(("describe",), read_describe, form, says, calls) for form, says, calls in _FORMS),
    StatementRow(("desc",), read_describe, "DESC …", "The same as DESCRIBE.", ""),
)
