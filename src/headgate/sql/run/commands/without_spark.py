"""Which statements are answered without a Spark session, and how? Those that only the catalog or a log tells.

    found = answer_without_spark(lake, "SHOW TABLES IN sales")      an Arrow table; None: it takes Spark

It is for whoever has no session yet: so there is no view, no schema in use and no transaction, and every name
of two parts is one of the lake. The rows are those that the same statement gives on Spark. Rows of a table
are read in this process if the statement is no more than ``SELECT * FROM sales.orders [LIMIT 10]``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from headgate.errors import InvalidRequest, SchemaNotFound, UnsupportedFeature
from headgate.lake.lake import Lake
from headgate.lake.table import Table
from headgate.sql.parse.statements import parse_statement
from headgate.sql.parse.tokens import tokenize_statement
from headgate.sql.run import result_frames
from headgate.sql.run.commands import descriptions, listings
from headgate.sql.statements.describe import (
    DescribeTable,
    ShowColumns,
    ShowCreateTable,
    ShowDomains,
    ShowSchemas,
    ShowTableProperties,
    ShowTables,
)
from headgate.sql.statements.query import Query
from headgate.sql.statements.sql_text import TableRef

_SELECT_ALL = ("select", "*", "from")


def answer_without_spark(lake: Lake, text: str, most_rows: int | None = None) -> pa.Table | None:
    """What a statement answers, up to so many rows of a table; None if it takes Spark to say."""
    try:
        statement = parse_statement(text)
    except InvalidRequest:  # Spark's parser may know it
        return None
    if isinstance(statement.command, Query):
        return _first_rows(lake, text, most_rows)
    row = _ROWS.get(type(statement.command))
    return None if row is None else row(lake, statement.command)


@dataclass(frozen=True, slots=True)
class PlainSelect:
    """``SELECT * FROM sales.orders LIMIT 10``: no more than that."""

    table: str
    limit: int | None


def read_plain_select(text: str) -> PlainSelect | None:
    """The table and the limit of a statement that asks for nothing else; None if it asks for more."""
    tokens = tokenize_statement(text)
    said = tuple(tokens.word(index) or tokens.sign(index) for index in range(3))
    if said != _SELECT_ALL or not (tokens.is_name(3) and tokens.sign(4) == "." and tokens.is_name(5)):
        return None
    name = f"{tokens[3].name}.{tokens[5].name}"
    if tokens.stop == 6:
        return PlainSelect(name, None)
    if tokens.stop == 8 and tokens.word(6) == "limit" and tokens[7].text.isdecimal():
        return PlainSelect(name, int(tokens[7].text))
    return None


def _first_rows(lake: Lake, text: str, most_rows: int | None) -> pa.Table | None:
    asked = read_plain_select(text)
    if asked is None:
        return None
    limits = [limit for limit in (asked.limit, most_rows) if limit is not None]
    if not limits:  # a whole table is for Spark, which need not hold all of it at once
        return None
    try:
        return lake.table(asked.table).to_arrow(limit=min(limits))
    except UnsupportedFeature:  # a type that only Spark reads
        return None


def _tables(lake: Lake, command: ShowTables) -> pa.Table | None:
    if command.is_extended or command.is_dropped:
        return None
    schema = None
    if command.schema is not None:
        schema = command.schema[-1].lower()
        if len(command.schema) != 1:
            return None
        if schema not in {name.lower() for name in lake.schemas()}:
            raise SchemaNotFound(f"there is no schema {schema}: SHOW SCHEMAS lists what there is")
    return _rows_in(result_frames.TABLES, listings.table_rows(lake, schema, command.pattern))


def _schemas(lake: Lake, command: ShowSchemas) -> pa.Table | None:
    if command.catalog is not None:
        return None
    return _rows_in(result_frames.SCHEMAS, listings.schema_rows(lake, command.pattern))


def _columns(lake: Lake, command: ShowColumns) -> pa.Table | None:
    table = _find_table(lake, command.table)
    return None if table is None else _rows_in(result_frames.COLUMN_NAMES, listings.column_rows(table))


def _properties(lake: Lake, command: ShowTableProperties) -> pa.Table | None:
    table = _find_table(lake, command.table)
    if table is None:
        return None
    return _rows_in(result_frames.PROPERTIES, listings.property_rows(table, command.key))


def _domains(lake: Lake, command: ShowDomains) -> pa.Table | None:
    table = _find_table(lake, command.table)
    if table is None:
        return None
    return _rows_in(result_frames.DOMAINS, listings.domain_rows(table, command.pattern))


def _described(lake: Lake, command: DescribeTable) -> pa.Table | None:
    table = _find_table(lake, command.table)
    asks_more = command.as_json or command.column or command.as_of or command.partition
    if table is None or asks_more:
        return None
    rows = descriptions.described_rows(table, table.log.snapshot(), is_extended=command.is_extended)
    return _rows_in(result_frames.DESCRIBED, rows)


def _create_statement(lake: Lake, command: ShowCreateTable) -> pa.Table | None:
    table = _find_table(lake, command.table)
    if table is None or command.as_serde:
        return None
    return _rows_in(result_frames.CREATE_STATEMENT, [[descriptions.create_statement(table)]])


_ROWS: Mapping[type, Callable[[Lake, Any], pa.Table | None]] = {
    ShowTables: _tables,
    ShowSchemas: _schemas,
    ShowColumns: _columns,
    ShowTableProperties: _properties,
    ShowDomains: _domains,
    DescribeTable: _described,
    ShowCreateTable: _create_statement,
}


def _find_table(lake: Lake, ref: TableRef) -> Table | None:
    """The table of a name of two parts; None for any other name."""
    return lake.table(".".join(ref.parts)) if len(ref.parts) == 2 else None


def _rows_in(columns: result_frames.Columns, rows: Sequence[Sequence[object]]) -> pa.Table:
    names = [name for name, _ in columns]
    values = [dict(zip(names, row, strict=True)) for row in rows]
    return pa.Table.from_pylist(values, pa.schema(list(columns)))
