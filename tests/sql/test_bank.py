"""The bank has enough of everything, and every statement of it says what it gives."""

import re
from pathlib import Path

import pytest

from tests.sql.bank import Statement, load_bank, load_file, refill

STATEMENTS = [statement for group in load_bank() for statement in group.statements]
KINDS = (
    "SELECT", "FROM", "WITH", "TABLE", "VALUES", "INSERT INTO", "INSERT OVERWRITE",
    "INSERT WITH SCHEMA EVOLUTION", "UPDATE", "DELETE", "TRUNCATE", "MERGE INTO",
    "MERGE WITH SCHEMA EVOLUTION", "COPY INTO", "CREATE TABLE", "CREATE OR REPLACE TABLE", "REPLACE TABLE",
    "CREATE SCHEMA", "CREATE TEMP VIEW", "ALTER TABLE", "COMMENT ON TABLE",
    "DROP TABLE", "DROP SCHEMA", "UNDROP TABLE", "SHOW TABLES", "SHOW COLUMNS", "SHOW TBLPROPERTIES",
    "SHOW PARTITIONS", "SHOW SCHEMAS", "SHOW GRANTS", "SHOW DOMAINS", "DESCRIBE TABLE", "DESCRIBE DETAIL",
    "DESCRIBE HISTORY", "DESCRIBE QUERY", "EXPLAIN", "OPTIMIZE", "VACUUM", "RESTORE", "REORG TABLE",
    "CONVERT TO DELTA", "GRANT", "REVOKE", "BEGIN", "COMMIT", "ROLLBACK", "USE", "SET",
)  # fmt: skip
"""How statements begin, of each of which there is one that works."""


def works(statement: Statement) -> bool:
    return not statement.expected[0].startswith("error")


def test_there_are_at_least_400_statements_and_most_are_deltas_too() -> None:
    assert len(STATEMENTS) >= 400
    assert sum(not each.is_ours for each in STATEMENTS) >= 400
    assert sum(not works(each) for each in STATEMENTS) >= 100


def test_every_statement_says_what_it_gives() -> None:
    assert [f"{each.file}:{each.line}" for each in STATEMENTS if not each.expected] == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_statement_of_each_kind_works(kind: str) -> None:
    begins = re.compile(kind.replace(" ", r"\s+") + r"\b", re.IGNORECASE)

    assert any(begins.match(each.text) and works(each) for each in STATEMENTS)


def test_an_error_has_a_class() -> None:
    assert [f"{each.file}:{each.line}" for each in STATEMENTS if "without a class" in each.expected[0]] == []


def test_a_difference_is_named_and_is_one() -> None:
    marked = [each for each in STATEMENTS if "differs" in each.marks]

    assert [
        each.line for each in marked if not each.marks["differs"] or each.theirs in ((), each.expected)
    ] == []
    assert [each.line for each in STATEMENTS if each.theirs and each not in marked] == []
    assert [each.line for each in STATEMENTS if each.is_ours and not each.marks["ours"]] == []


def test_a_file_is_read_and_written_anew(tmp_path: Path) -> None:
    file = tmp_path / "some.sql"
    file.write_text(
        "-- Some.\n\n-- # a group\n-- @ours why\n\nSELECT 1\n  AS n;\n-- n int\n-- 1\n\n"
        "-- @mask n\n-- @differs because\nSELECT 2;\n-- ok\n-- delta: error X\n"
    )
    (group,) = load_file(file)
    one, two = group.statements

    assert (group.name, one.line, one.text, one.expected) == (
        "a group",
        6,
        "SELECT 1\n  AS n",
        ("n int", "1"),
    )
    assert one.is_ours
    assert (two.expected, two.of_delta, two.is_compared("n")) == (("ok",), ("error X",), False)
    refill(file, {6: ["n int", "7"]})
    assert load_file(file)[0].statements[0].expected == ("n int", "7")
    assert load_file(file)[0].statements[1] == two
