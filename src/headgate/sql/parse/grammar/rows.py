"""Which statements are there? All rows of the grammar, and the row of a text by its first words."""

from collections.abc import Mapping

from headgate.sql.parse.grammar.access import ACCESS_ROWS
from headgate.sql.parse.grammar.alter import ALTER_ROWS
from headgate.sql.parse.grammar.copy_into import COPY_ROWS
from headgate.sql.parse.grammar.create import CREATE_ROWS
from headgate.sql.parse.grammar.describe import DESCRIBE_ROWS
from headgate.sql.parse.grammar.dml import DML_ROWS
from headgate.sql.parse.grammar.maintenance import MAINTENANCE_ROWS
from headgate.sql.parse.grammar.merge import MERGE_ROWS
from headgate.sql.parse.grammar.queries import QUERY_ROWS
from headgate.sql.parse.grammar.schemas import SCHEMA_ROWS
from headgate.sql.parse.grammar.show import SHOW_ROWS
from headgate.sql.parse.grammar.statement_row import StatementRow
from headgate.sql.parse.tokens import SqlTokens

STATEMENT_ROWS: tuple[StatementRow, ...] = (
    *QUERY_ROWS,
    *CREATE_ROWS,
    *ALTER_ROWS,
    *SCHEMA_ROWS,
    *DML_ROWS,
    *MERGE_ROWS,
    *COPY_ROWS,
    *MAINTENANCE_ROWS,
    *DESCRIBE_ROWS,
    *SHOW_ROWS,
    *ACCESS_ROWS,
)
_BY_LEADS: Mapping[tuple[str, ...], StatementRow] = {row.leads: row for row in reversed(STATEMENT_ROWS)}
_MOST_LEADS = max(len(leads) for leads in _BY_LEADS)


def row_at(tokens: SqlTokens, index: int) -> StatementRow | None:
    """The row of the statement that begins at a token, the one with the most words; None if there is none."""
    words = tuple(tokens.word(index + count) for count in range(_MOST_LEADS))
    for count in range(_MOST_LEADS, 0, -1):
        row = _BY_LEADS.get(words[:count])
        if row is not None:
            return row
    return None
