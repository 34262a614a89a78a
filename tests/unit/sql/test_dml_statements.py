"""Which rows do INSERT, UPDATE, DELETE, TRUNCATE, MERGE and COPY INTO write?"""

import pytest

from headgate.sql.parse.statements import parse_statement
from headgate.sql.statements.dml import (
    ColumnAssignment,
    CopyInto,
    DeleteFrom,
    InsertInto,
    InsertMode,
    MatchKind,
    MergeBranch,
    MergeDelete,
    MergeInsert,
    MergeInsertAll,
    MergeInto,
    MergeUpdate,
    MergeUpdateAll,
    PartitionValue,
    TruncateTable,
    UpdateTable,
)
from headgate.sql.statements.query import Unsupported
from headgate.sql.statements.sql_text import SqlText, TableRef
from headgate.sql.statements.statement import Command

T = TableRef(("t",))
ONE = SqlText("SELECT 1")
OVERWRITE = InsertMode.OVERWRITE


def assign(column: str, value: str) -> ColumnAssignment:
    return ColumnAssignment(tuple(column.split(".")), SqlText(value))


STATEMENTS: tuple[tuple[str, Command], ...] = (
    ("INSERT INTO t SELECT 1", InsertInto(T, ONE)),
    ("insert into table t select 1;", InsertInto(T, SqlText("select 1"))),
    ("INSERT INTO t (a, `b c`) SELECT 1", InsertInto(T, ONE, columns=("a", "b c"))),
    ("INSERT INTO t (SELECT 1)", InsertInto(T, SqlText("(SELECT 1)"))),
    ("INSERT INTO t (a) (SELECT 1)", InsertInto(T, SqlText("(SELECT 1)"), columns=("a",))),
    (
        "INSERT INTO t (SELECT 1) UNION ALL (SELECT 2)",
        InsertInto(T, SqlText("(SELECT 1) UNION ALL (SELECT 2)")),
    ),
    ("INSERT INTO t VALUES (1), (2)", InsertInto(T, SqlText("VALUES (1), (2)"))),
    ("INSERT INTO t BY NAME SELECT 1", InsertInto(T, ONE, by_name=True)),
    ("INSERT WITH SCHEMA EVOLUTION INTO t SELECT 1", InsertInto(T, ONE, with_schema_evolution=True)),
    ("INSERT INTO t WITH ('a' = 'b') SELECT 1", InsertInto(T, ONE, options=(("a", "b"),))),
    (
        "INSERT INTO t WITH c AS (SELECT 1) SELECT * FROM c",
        InsertInto(T, SqlText("WITH c AS (SELECT 1) SELECT * FROM c")),
    ),
    ("WITH c AS (SELECT 1) INSERT INTO t TABLE c", InsertInto(T, SqlText("WITH c AS (SELECT 1) TABLE c"))),
    ("INSERT OVERWRITE t SELECT 1", InsertInto(T, ONE, OVERWRITE)),
    (
        "INSERT OVERWRITE TABLE t PARTITION (a = 1, b = 'x', c) IF NOT EXISTS SELECT 1",
        InsertInto(
            T,
            ONE,
            OVERWRITE,
            partition=(
                PartitionValue("a", SqlText("1")),
                PartitionValue("b", SqlText("'x'")),
                PartitionValue("c"),
            ),
            if_not_exists=True,
        ),
    ),
    (
        "INSERT INTO t REPLACE WHERE a > 1 AND b IS DISTINCT FROM c SELECT 1",
        InsertInto(T, ONE, InsertMode.REPLACE_WHERE, condition=SqlText("a > 1 AND b IS DISTINCT FROM c")),
    ),
    (
        "INSERT INTO t REPLACE WHERE true (SELECT 1)",
        InsertInto(T, SqlText("(SELECT 1)"), InsertMode.REPLACE_WHERE, condition=SqlText("true")),
    ),
    (
        "INSERT INTO t REPLACE USING (a, b) SELECT 1",
        InsertInto(T, ONE, InsertMode.REPLACE_USING, using=("a", "b")),
    ),
    (
        "INSERT INTO t AS x BY NAME REPLACE ON x.a = s.a (SELECT 1) AS s",
        InsertInto(
            T,
            ONE,
            InsertMode.REPLACE_ON,
            by_name=True,
            condition=SqlText("x.a = s.a"),
            alias="x",
            source_alias="s",
        ),
    ),
    ("UPDATE t SET a = 1", UpdateTable(T, (assign("a", "1"),))),
    (
        "UPDATE t AS x SET a.b = CASE WHEN c THEN 1 ELSE 2 END, d = DEFAULT, e = f(1, 2) WHERE x.a = 'WHERE'",
        UpdateTable(
            T,
            (assign("a.b", "CASE WHEN c THEN 1 ELSE 2 END"), assign("d", "DEFAULT"), assign("e", "f(1, 2)")),
            SqlText("x.a = 'WHERE'"),
            "x",
        ),
    ),
    ("DELETE FROM t", DeleteFrom(T)),
    ("DELETE FROM t x WHERE x.a = 1", DeleteFrom(T, SqlText("x.a = 1"), "x")),
    (
        "WITH c AS (SELECT 1) DELETE FROM t WHERE true",
        DeleteFrom(T, SqlText("true"), ctes=SqlText("WITH c AS (SELECT 1)")),
    ),
    ("DELETE FROM delta.`/x`", DeleteFrom(TableRef(path="/x"))),
    ("TRUNCATE TABLE t", TruncateTable(T)),
    ("TRUNCATE TABLE t PARTITION (a = 1)", TruncateTable(T, (PartitionValue("a", SqlText("1")),))),
    ("LOAD DATA INPATH '/x' INTO TABLE t", Unsupported("LOAD DATA", T, "COPY INTO takes files in")),
    (
        "FROM u INSERT INTO t SELECT a INSERT INTO v SELECT b",
        Unsupported("FROM … INSERT INTO …", T, "write an INSERT for each table"),
    ),
    (
        "EXPLAIN DELETE FROM t",
        Unsupported("EXPLAIN of a statement that is no query", T, "explain the query in it"),
    ),
    ("COPY INTO t FROM '/x' FILEFORMAT = csv", CopyInto(T, "/x", "CSV")),
    (
        "COPY INTO t (a, b) FROM '/x' FILEFORMAT = JSON FILES = ('a', 'b') "
        "FORMAT_OPTIONS ('multiLine' = 'true') COPY_OPTIONS ('mergeSchema' = 'true')",
        CopyInto(
            T,
            "/x",
            "JSON",
            ("a", "b"),
            files=("a", "b"),
            format_options=(("multiLine", "true"),),
            copy_options=(("mergeSchema", "true"),),
        ),
    ),
    (
        "COPY INTO t FROM (SELECT a::int FROM '/x' WHERE b) FILEFORMAT = PARQUET "
        "PATTERN = '*.parquet' VALIDATE 5 ROWS",
        CopyInto(
            T,
            "/x",
            "PARQUET",
            query=SqlText("SELECT a::int FROM '/x' WHERE b"),
            place_start=19,
            place_end=23,
            pattern="*.parquet",
            validates_only=True,
        ),
    ),
)


@pytest.mark.parametrize(("text", "expected"), STATEMENTS)
def test_a_statement_says(text: str, expected: Command) -> None:
    assert parse_statement(text).command == expected


def test_values_are_told_one_by_one_if_one_is_the_default() -> None:
    found = parse_statement("INSERT INTO t VALUES (1, DEFAULT), (f(1, 2), 'DEFAULT')").command

    assert isinstance(found, InsertInto)
    assert [[value.text for value in row] for row in found.rows] == [
        ["1", "DEFAULT"],
        ["f(1, 2)", "'DEFAULT'"],
    ]


def test_merge_has_all_its_clauses_in_order() -> None:
    text = """
        MERGE WITH SCHEMA EVOLUTION INTO t AS a USING (SELECT 1) AS b (x, y) ON a.id = b.x
        WHEN MATCHED AND CASE WHEN b.y THEN true END THEN DELETE
        WHEN MATCHED THEN UPDATE SET a.n.m = b.y + 1, o = DEFAULT
        WHEN NOT MATCHED AND b.x > 3 THEN INSERT (id, n.m) VALUES (b.x, f(1, 2))
        WHEN NOT MATCHED BY TARGET THEN INSERT VALUES (1)
        WHEN NOT MATCHED BY SOURCE AND a.id IN (1, 2) THEN UPDATE SET id = 0
        WHEN NOT MATCHED BY SOURCE THEN DELETE
    """
    inserted = MergeInsert((("id",), ("n", "m")), (SqlText("b.x"), SqlText("f(1, 2)")))
    new, gone = MatchKind.NOT_MATCHED, MatchKind.NOT_MATCHED_BY_SOURCE

    assert parse_statement(text).command == MergeInto(
        T,
        SqlText("(SELECT 1)"),
        SqlText("a.id = b.x"),
        (
            MergeBranch(MatchKind.MATCHED, MergeDelete(), SqlText("CASE WHEN b.y THEN true END")),
            MergeBranch(MatchKind.MATCHED, MergeUpdate((assign("a.n.m", "b.y + 1"), assign("o", "DEFAULT")))),
            MergeBranch(new, inserted, SqlText("b.x > 3")),
            MergeBranch(new, MergeInsert((), (SqlText("1"),))),
            MergeBranch(gone, MergeUpdate((assign("id", "0"),)), SqlText("a.id IN (1, 2)")),
            MergeBranch(gone, MergeDelete()),
        ),
        "a",
        "b",
        ("x", "y"),
        with_schema_evolution=True,
    )


def test_merge_takes_all_columns_but_some() -> None:
    found = parse_statement(
        "MERGE INTO t USING s ON true WHEN MATCHED THEN UPDATE SET * EXCEPT (a, b.c) "
        "WHEN NOT MATCHED THEN INSERT *"
    ).command

    assert isinstance(found, MergeInto)
    assert [branch.action for branch in found.branches] == [MergeUpdateAll(("a", "b.c")), MergeInsertAll()]


@pytest.mark.parametrize(
    "source", ["s.u", "s.u VERSION AS OF 3", "s.u@v3", "table_changes('s.u', 1)", "{df}"]
)
def test_the_source_of_a_merge_is_a_relation(source: str) -> None:
    text = f"MERGE INTO t USING {source} AS x ON true WHEN MATCHED THEN DELETE"
    found = parse_statement(text)

    assert isinstance(found.command, MergeInto)
    assert (found.command.source.text, found.command.source_alias) == (source, "x")
    assert [(each.start, each.end) for each in found.command.source.mentions] == (
        [] if source == "{df}" else [(0, len(source))]
    )


def test_tables_in_conditions_and_values_are_mentioned_and_names_of_ctes_are_none() -> None:
    text = (
        "WITH c AS (TABLE a) UPDATE t SET x = (SELECT max(y) FROM b) "
        "WHERE z IN (SELECT z FROM c) AND EXISTS (TABLE d)"
    )
    found = parse_statement(text)

    assert isinstance(found.command, UpdateTable)
    assert found.command.condition is not None
    assert [each.ref.parts for each in found.command.condition.mentions] == [("d",)]
    assert [text[each.start : each.end] for each in found.whole.mentions] == ["a", "b", "d"]
