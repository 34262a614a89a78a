"""How is a text refused that begins like a statement of ours and goes on as none does?"""

import pytest

from headgate.errors import InvalidRequest
from headgate.sql.parse.literals import parse_table_name
from headgate.sql.parse.statements import parse_statement
from headgate.sql.statements.sql_text import TableRef

ERRORS = (
    (
        "OPTIMIZE t ZORDER (a)",
        "at line 1, column 19 BY is expected, and '(' is found; "
        "write it like OPTIMIZE t [FULL] [WHERE …] [ZORDER BY (a, b)]",
    ),
    (
        "OPTIMIZE t\n  WHERE",
        "at line 2, column 8 a condition is expected, and the end of the statement is found; "
        "write it like OPTIMIZE t [FULL] [WHERE …] [ZORDER BY (a, b)]",
    ),
    (
        "VACUUM t RETAIN week HOURS",
        "at line 1, column 17 a number of hours is expected, and 'week' is found; "
        "write it like VACUUM t [LITE | FULL] [RETAIN n HOURS] [DRY RUN]",
    ),
    (
        "RESTORE TABLE t TO 3",
        "at line 1, column 20 VERSION AS OF and a number, or TIMESTAMP AS OF and a moment is expected, "
        "and '3' is found; write it like RESTORE [TABLE] t TO VERSION AS OF n | TIMESTAMP AS OF …",
    ),
    (
        "ALTER TABLE t RENAME COLUMN a b",
        "at line 1, column 31 TO is expected, and 'b' is found; "
        "write it like ALTER TABLE t RENAME COLUMN a TO b",
    ),
    (
        "ALTER TABLE t FROB",
        "at line 1, column 15 ADD, ALTER, CHANGE, CLUSTER BY, DROP, RENAME, REPLACE COLUMNS, SET or UNSET is "
        "expected, and 'FROB' is found; write it like ALTER TABLE t …",
    ),
    (
        "DROP TABLE t CASCADE",
        "at line 1, column 14 the end of the statement is expected, and 'CASCADE' is found; "
        "write it like DROP TABLE [IF EXISTS] t [PURGE]",
    ),
    (
        "DELETE FROM t WHERE",
        "at line 1, column 20 a condition is expected, and the end of the statement is found; "
        "write it like DELETE FROM t [AS a] [WHERE …]",
    ),
    (
        "DELETE FROM 't'",
        "at line 1, column 13 the name of a table is expected, and \"'t'\" is found; "
        "write it like DELETE FROM t [AS a] [WHERE …]",
    ),
    (
        "UPDATE t SET a",
        "at line 1, column 15 = is expected, and the end of the statement is found; "
        "write it like UPDATE t [AS a] SET b = … [WHERE …]",
    ),
    (
        "COMMENT ON TABLE t IS 'open",
        "at line 1, column 23 a text in quotes or NULL is expected, and ' without its partner is found; "
        "write it like COMMENT ON TABLE t IS '…' | NULL",
    ),
    (
        "COMMENT ON TABLE t IS 'it''s'",
        "at line 1, column 23 a text whose quotes all Sparks read alike, with \\ before a quote in it, "
        "is expected, and \"'it''s'\" is found; write it like COMMENT ON TABLE t IS '…' | NULL",
    ),
    (
        "DESCRIBE HISTORY t LIMIT 1.5",
        "at line 1, column 26 a whole number is expected, and '1.5' is found; "
        "write it like DESCRIBE [TABLE] [EXTENDED] t [AS OF …] [column]",
    ),
    (
        "COMMIT x",
        "at line 1, column 8 the end of the statement is expected, and 'x' is found; "
        "write it like COMMIT [TRANSACTION]",
    ),
)
REFUSED = (
    "CREATE TABLE t (a INT",
    "CREATE TABLE t (a INT) FROB",
    "CREATE TABLE t CLONE",
    "CREATE TABLE (a INT)",
    "CREATE SCHEMA s WITH 'a'",
    "INSERT t SELECT 1",
    "INSERT INTO t",
    "INSERT INTO t (a, ) SELECT 1",
    "INSERT INTO t REPLACE SELECT 1",
    "INSERT INTO t REPLACE WHERE SELECT 1",
    "MERGE INTO t USING",
    "MERGE INTO t USING s WHEN MATCHED THEN DELETE",
    "MERGE INTO t USING s ON true WHEN MATCHED THEN INSERT *",
    "MERGE INTO t USING s ON true WHEN NOT MATCHED THEN DELETE",
    "MERGE INTO t USING s ON true WHEN MATCHED DELETE",
    "COPY INTO t FROM '/x'",
    "COPY INTO t FROM (SELECT * FROM u) FILEFORMAT = CSV",
    "REORG TABLE t APPLY (FROB)",
    "GENERATE x FOR t",
    "GRANT ON TABLE t TO a",
    "GRANT SELECT ON TABLE t",
    "SHOW COLUMNS t",
    "ALTER TABLE t ADD COLUMN a",
    "ALTER TABLE t ADD CHECK (a > 0)",
    "ALTER TABLE t ALTER COLUMN a b INT",
    "ALTER TABLE t CLUSTER BY a",
    "ALTER TABLE t SET TBLPROPERTIES ('a' = b)",
    "ALTER TABLE t ADD COLUMN a MAP<INT",
    "DROP TABLE IDENTIFIER(a || b)",
)


@pytest.mark.parametrize(("text", "message"), ERRORS)
def test_a_refusal_says_where_what_and_how(text: str, message: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        parse_statement(text)

    assert str(refused.value) == f"[PARSE_SYNTAX_ERROR] {message}"
    assert refused.value.sqlstate == "42601"


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_malformed_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        parse_statement(text)

    assert refused.value.code == "PARSE_SYNTAX_ERROR"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("MERGE INTO t USING s ON true", "MERGE_WITHOUT_WHEN"),
        (
            "MERGE INTO t USING s ON true WHEN NOT MATCHED THEN INSERT (a, b) VALUES (1)",
            "MERGE_INSERT_VALUE_COUNT_MISMATCH",
        ),
    ],
)
def test_merge_has_codes_of_its_own(text: str, code: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        parse_statement(text)

    assert refused.value.code == code


def test_a_refusal_has_the_table_that_it_is_about() -> None:
    with pytest.raises(InvalidRequest) as refused:
        parse_statement("ALTER TABLE hive.t ARCHIVE PARTITION (a = 1)")

    assert refused.value.fields["table"] == TableRef(("hive", "t"))
    assert (refused.value.fields["line"], refused.value.fields["column"]) == (1, 20)
    assert refused.value.fields["position"] == 19


@pytest.mark.parametrize("name", ["", "a b", "a.", "a;b", "'a'", "a -- b\nc"])
def test_a_text_that_is_no_name_of_a_table_is_refused(name: str) -> None:
    with pytest.raises(InvalidRequest, match="is not the name of a table"):
        parse_table_name(name)
