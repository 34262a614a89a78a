"""Does another parser find the same tables, in all queries of the bank of statements that it can read?

It takes hints for tables, which are left out. What it cannot read, or takes for a command, is not compared.
"""

import pytest
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from headgate.errors import InvalidRequest
from headgate.sql.parse.statements import parse_statement
from headgate.sql.statements.query import Query
from tests.sql.bank import load_bank


def queries() -> list[str]:
    """The texts of the bank that are queries."""
    found: dict[str, None] = {}
    for group in load_bank():
        for each in group.statements:
            try:
                if isinstance(parse_statement(each.text).command, Query):
                    found[each.text] = None
            except InvalidRequest:
                continue
    return list(found)


def name_ends(text: str) -> list[int] | None:
    """Where names of tables end, as sqlglot reads the text; None if it does not."""
    try:
        tree = sqlglot.parse_one(text, read="databricks")
    except SqlglotError:
        return None
    if isinstance(tree, exp.Command) or tree.find(exp.Command):
        return None
    ctes = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    tables = (
        table
        for table in tree.find_all(exp.Table)
        if isinstance(table.this, exp.Identifier) and table.find_ancestor(exp.Hint) is None
    )
    return sorted(
        table.this.meta["end"] + 1
        for table in tables
        if table.args.get("db") is not None or table.name.lower() not in ctes
    )


@pytest.mark.filterwarnings("ignore")
def test_sqlglot_finds_the_same_tables() -> None:
    compared = 0
    for text in queries():
        theirs = name_ends(text)
        if theirs is None:
            continue
        mentions = parse_statement(text).whole.mentions
        ours = [each.name_end for each in mentions if each.changes is None and text[each.name_end - 1] != ")"]
        assert ours == theirs, text
        compared += 1

    assert compared > 100
