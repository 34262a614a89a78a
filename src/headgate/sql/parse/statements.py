"""What does a SQL text say? One statement, as a value.

What begins like a statement of ours and goes on as none does is refused with ``InvalidRequest`` and the code
PARSE_SYNTAX_ERROR. Its ``fields`` have ``table``, what the statement is about as far as it was read: another
parser may still take the text if that is no table of a lake. What begins like nothing of ours is ``Foreign``.
"""

from headgate.sql.parse.ctes import skip_ctes
from headgate.sql.parse.grammar import queries
from headgate.sql.parse.grammar.rows import row_at
from headgate.sql.parse.reader import StatementReader
from headgate.sql.parse.relations import Place
from headgate.sql.parse.tokens import SqlTokens, tokenize_statement
from headgate.sql.statements.query import Foreign, Query, Unsupported
from headgate.sql.statements.sql_text import SqlText
from headgate.sql.statements.statement import Command, Statement

_DML_WORDS = ("insert", "update", "delete", "merge")
_EXPLAIN_WORDS = ("logical", "formatted", "extended", "codegen", "cost")


def parse_statement(text: str) -> Statement:
    """The statement that a text is."""
    tokens = tokenize_statement(text)
    begin = _skip_explain(tokens)
    reader = StatementReader(tokens, begin, begin)
    command = _read_command(reader)
    if begin > 0:
        command = queries.explain_command(command, reader.table)
    if isinstance(command, Foreign):
        return Statement(SqlText(text), command)
    return Statement(reader.whole(), command)


def _skip_explain(tokens: SqlTokens) -> int:
    index = 0
    while tokens.word(index) == "explain" and index + 1 < tokens.stop:
        index += 2 if tokens.word(index + 1) in _EXPLAIN_WORDS else 1
    return index


def _read_command(reader: StatementReader) -> Command:
    if reader.word == "with":
        _take_ctes(reader)
    elif reader.sees("("):
        return queries.read_query(reader)
    row = row_at(reader.tokens, reader.index)
    if row is None:
        return Foreign()
    reader.index += len(row.leads)
    reader.form = row.form
    command = row.read(reader)
    if not isinstance(command, Foreign | Query | Unsupported):
        reader.require_end()
    return command


def _take_ctes(reader: StatementReader) -> None:
    """Read the WITH clause before INSERT, UPDATE, DELETE or MERGE; that of a query stays a part of it."""
    names, stop = skip_ctes(reader.tokens, reader.index)
    if reader.tokens.word(stop) in _DML_WORDS:
        reader.with_clause = reader.piece(stop, Place.QUERY)
        reader.ctes = names
