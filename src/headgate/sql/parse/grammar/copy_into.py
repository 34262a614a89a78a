"""How is COPY INTO read?"""

from dataclasses import dataclass, field

from headgate.sql.parse.grammar.statement_row import StatementRow
from headgate.sql.parse.reader import StatementReader
from headgate.sql.parse.relations import Place
from headgate.sql.parse.tokens import STRING
from headgate.sql.statements.dml import CopyInto
from headgate.sql.statements.sql_text import Properties, SqlText, TableRef
from headgate.sql.statements.statement import Command


@dataclass(slots=True)
class _CopySource:
    location: str = ""
    query: SqlText | None = None
    start: int = 0
    end: int = 0


@dataclass(slots=True)
class _CopyClauses:
    file_format: str = ""
    files: tuple[str, ...] = ()
    pattern: str | None = None
    format_options: Properties = ()
    copy_options: Properties = ()
    validates_only: bool = False
    columns: tuple[str, ...] | None = None
    source: _CopySource = field(default_factory=_CopySource)

    def value(self, table: TableRef) -> CopyInto:
        """The statement."""
        return CopyInto(
            table,
            self.source.location,
            self.file_format,
            self.columns,
            self.source.query,
            self.source.start,
            self.source.end,
            self.files,
            self.pattern,
            self.format_options,
            self.copy_options,
            self.validates_only,
        )


def read_copy_into(reader: StatementReader) -> Command:
    """COPY INTO t FROM 'place' FILEFORMAT = CSV …"""
    table = reader.target()
    found = _CopyClauses(columns=reader.column_list() if reader.sees("(") else None)
    reader.require("from")
    found.source = _read_source(reader)
    while not reader.is_at_end:
        _read_clause(reader, found)
    if not found.file_format:
        raise reader.unexpected("FILEFORMAT = CSV, JSON or PARQUET")
    return found.value(table)


def _read_source(reader: StatementReader) -> _CopySource:
    if not reader.sees("("):
        return _CopySource(reader.string("a place in quotes, or a query in parentheses"))
    begin, stop = reader.group()
    query = reader.piece_between(begin, stop, Place.QUERY)
    place = _place_index(reader, begin, stop)
    token = reader.tokens[place]
    after, reader.index = reader.index, place
    location = reader.string("a place in quotes behind FROM")
    reader.index = after
    return _CopySource(location, query, token.start - query.offset, token.end - query.offset)


def _place_index(reader: StatementReader, begin: int, stop: int) -> int:
    """The literal behind FROM in the query."""
    for index in range(begin, stop):
        if reader.tokens.word(index) == "from" and reader.tokens[index + 1].kind == STRING:
            return index + 1
    return stop


def _read_clause(reader: StatementReader, found: _CopyClauses) -> None:
    if reader.accepts("fileformat"):
        reader.require("=")
        found.file_format = reader.name_or_string("CSV, JSON or PARQUET").upper()
    elif reader.accepts("files"):
        reader.require("=")
        found.files = reader.in_list(reader.string)
    elif reader.accepts("pattern"):
        reader.require("=")
        found.pattern = reader.string()
    elif reader.accepts("format_options"):
        reader.accepts("=")
        found.format_options = reader.properties()
    elif reader.accepts("copy_options"):
        reader.accepts("=")
        found.copy_options = reader.properties()
    elif reader.accepts("validate"):
        found.validates_only = True
        if not reader.accepts("all") and reader.next.kind == "number":
            reader.number()
            reader.require("rows")
    else:
        raise reader.unexpected("FILEFORMAT, FILES, PATTERN, FORMAT_OPTIONS or COPY_OPTIONS")


COPY_ROWS: tuple[StatementRow, ...] = (
    StatementRow(
        ("copy", "into"),
        read_copy_into,
        "COPY INTO t [(a, b)] FROM '…' | (SELECT … FROM '…') FILEFORMAT = CSV | JSON | PARQUET "
        "[FILES = ('…') | PATTERN = '…'] [FORMAT_OPTIONS (…)] [COPY_OPTIONS (…)]",
        "Appends the rows of files, each file once.",
        "`table.append`",
    ),
)
