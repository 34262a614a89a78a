"""Are the rows of the grammar what they say: each form read by its row, each call one that there is?"""

import re

import pytest

from headgate.lake.access import LakeAccess
from headgate.lake.lake import Lake
from headgate.lake.table import Table
from headgate.lake.transaction import LakeTransaction
from headgate.sql.parse.grammar.rows import STATEMENT_ROWS, row_at
from headgate.sql.parse.grammar.statement_row import StatementRow
from headgate.sql.parse.tokens import tokenize_statement

CALL = re.compile(r"`(lake\.access|lake|table|txn)\.(\w+)")
OWNERS = {"lake": Lake, "lake.access": LakeAccess, "table": Table, "txn": LakeTransaction}


@pytest.mark.parametrize("row", STATEMENT_ROWS, ids=lambda row: row.form)
def test_the_first_words_lead_to_the_row(row: StatementRow) -> None:
    tokens = tokenize_statement(f"{' '.join(row.leads).upper()} x")
    found = row_at(tokens, 0)

    assert found is not None
    assert (found.leads, found.read) == (row.leads, row.read)


@pytest.mark.parametrize("row", STATEMENT_ROWS, ids=lambda row: row.form)
def test_a_row_says_something_in_a_sentence_and_names_calls_that_there_are(row: StatementRow) -> None:
    assert row.says.endswith(".")
    assert row.form
    missing = [name for owner, name in CALL.findall(row.calls) if not hasattr(OWNERS[owner], name)]
    assert missing == []


def test_what_begins_otherwise_has_no_row() -> None:
    assert row_at(tokenize_statement("FROBNICATE TABLE t"), 0) is None
