"""What do CREATE, REPLACE, CLONE, DROP, UNDROP, USE and COMMENT ON say?"""

import pytest

from headgate.sql.parse.statements import parse_statement
from headgate.sql.statements.create import (
    AlterSchema,
    CloneTable,
    CommentOn,
    CreateMode,
    CreateSchema,
    CreateTable,
    CreateTableLike,
    DropSchema,
    DropTable,
    TableClauses,
    UndropTable,
    UseSchema,
)
from headgate.sql.statements.query import CreateTempView, CreateView, Foreign, Unsupported
from headgate.sql.statements.sql_text import AsOf, SqlParameter, SqlText, TableRef
from headgate.sql.statements.statement import Command

T, S = TableRef(("t",)), TableRef(("s",))
NEW, IF_NEW, OR_REPLACE, REPLACE = (
    CreateMode.CREATE,
    CreateMode.IF_NOT_EXISTS,
    CreateMode.CREATE_OR_REPLACE,
    CreateMode.REPLACE,
)
STATEMENTS: tuple[tuple[str, Command], ...] = (
    ("CREATE TABLE t (a INT)", CreateTable(NEW, T, "a INT")),
    (
        "create table if not exists t (a int) using DELTA",
        CreateTable(IF_NEW, T, "a int", TableClauses("DELTA")),
    ),
    (
        "CREATE TABLE `a.b`.t (a INT, m MAP<STRING, INT> COMMENT ') -- (')",
        CreateTable(NEW, TableRef(("a.b", "t")), "a INT, m MAP<STRING, INT> COMMENT ') -- ('"),
    ),
    (
        "CREATE TABLE t (a INT) PARTITIONED BY (p STRING, a) TBLPROPERTIES ('k' = 'v', a.b = 1, c true, 'd')",
        CreateTable(
            NEW,
            T,
            "a INT, p STRING",
            TableClauses(
                partitioned_by=("p", "a"), properties=(("k", "v"), ("a.b", "1"), ("c", "true"), ("d", ""))
            ),
        ),
    ),
    (
        "CREATE TABLE t (a INT) USING delta CLUSTER BY (a, b.c) COMMENT 'x' LOCATION '/y' "
        "DEFAULT COLLATION UNICODE",
        CreateTable(
            NEW,
            T,
            "a INT",
            TableClauses("delta", cluster_by=("a", "b.c"), comment="x", location="/y", collation="UNICODE"),
        ),
    ),
    ("CREATE TABLE t (a INT) CLUSTER BY AUTO", CreateTable(NEW, T, "a INT", TableClauses(cluster_auto=True))),
    ("CREATE EXTERNAL TABLE t (a INT)", CreateTable(NEW, T, "a INT", is_external=True)),
    ("CREATE TABLE t", CreateTable(NEW, T)),
    (
        "CREATE TABLE t USING delta LOCATION '/x'",
        CreateTable(NEW, T, None, TableClauses("delta", location="/x")),
    ),
    ("CREATE TABLE t AS SELECT 1", CreateTable(NEW, T, query=SqlText("SELECT 1"))),
    ("CREATE TABLE t SELECT 1 AS a;", CreateTable(NEW, T, query=SqlText("SELECT 1 AS a"))),
    ("CREATE TABLE t (SELECT 1)", CreateTable(NEW, T, query=SqlText("(SELECT 1)"))),
    ("CREATE OR REPLACE TABLE t AS VALUES (1)", CreateTable(OR_REPLACE, T, query=SqlText("VALUES (1)"))),
    ("REPLACE TABLE t (a INT)", CreateTable(REPLACE, T, "a INT")),
    ("CREATE TABLE delta.`/x/y` (a INT)", CreateTable(NEW, TableRef(path="/x/y"), "a INT")),
    (
        "CREATE TABLE IDENTIFIER(:t) (a INT)",
        CreateTable(NEW, TableRef(parameter=SqlParameter("t")), "a INT"),
    ),
    ("CREATE TABLE t LIKE s", CreateTableLike(NEW, T, S)),
    (
        "CREATE TABLE IF NOT EXISTS t LIKE s USING delta LOCATION '/x'",
        CreateTableLike(IF_NEW, T, S, TableClauses("delta", location="/x")),
    ),
    ("CREATE TABLE t SHALLOW CLONE s", CloneTable(NEW, T, S, is_shallow=True)),
    ("CREATE TABLE IF NOT EXISTS t DEEP CLONE s", CloneTable(IF_NEW, T, S, is_shallow=False)),
    ("CREATE OR REPLACE TABLE t CLONE s", CloneTable(OR_REPLACE, T, S, is_shallow=False)),
    ("REPLACE TABLE t SHALLOW CLONE s@v2", CloneTable(REPLACE, T, S, is_shallow=True, as_of=AsOf("2"))),
    (
        "CREATE TABLE t SHALLOW CLONE s TIMESTAMP AS OF now() TBLPROPERTIES ('a' = 'b') LOCATION '/x'",
        CloneTable(NEW, T, S, True, AsOf(timestamp=SqlText("now()")), (("a", "b"),), "/x"),
    ),
    ("CREATE TABLE t (a INT) STORED AS PARQUET", Unsupported("CREATE TABLE … STORED AS", T)),
    ("CREATE TABLE t (a INT) CLUSTERED BY (a) INTO 4 BUCKETS", Unsupported("CREATE TABLE … CLUSTERED BY", T)),
    (
        "CREATE TABLE t (a DATE) PARTITIONED BY (days(a))",
        Unsupported("CREATE TABLE … PARTITIONED BY a function of a column", T),
    ),
    ("DROP TABLE t", DropTable(T)),
    ("DROP TABLE IF EXISTS t PURGE", DropTable(T, if_exists=True, is_purged=True)),
    ("UNDROP TABLE t", UndropTable(T)),
    ("UNDROP TABLE WITH ID 'abc'", UndropTable(None, "abc")),
    ("CREATE SCHEMA s", CreateSchema(("s",))),
    (
        "CREATE DATABASE IF NOT EXISTS l.s COMMENT 'x' MANAGED LOCATION '/y' WITH DBPROPERTIES ('a' = 'b')",
        CreateSchema(("l", "s"), True, "x", "/y", (("a", "b"),)),
    ),
    ("CREATE NAMESPACE s LOCATION '/y'", CreateSchema(("s",), location="/y")),
    ("DROP SCHEMA s", DropSchema(("s",))),
    ("DROP DATABASE IF EXISTS s CASCADE", DropSchema(("s",), if_exists=True, cascade=True)),
    ("DROP NAMESPACE s RESTRICT", DropSchema(("s",))),
    ("ALTER SCHEMA s SET DBPROPERTIES ('a' = 'b')", AlterSchema(("s",), "SET DBPROPERTIES", (("a", "b"),))),
    ("ALTER SCHEMA s OWNER TO ann", AlterSchema(("s",), "OWNER TO", owner="ann")),
    ("ALTER DATABASE s SET LOCATION '/x'", AlterSchema(("s",), "SET LOCATION '/x'")),
    ("USE s", UseSchema(("s",))),
    ("USE l.s", UseSchema(("l", "s"))),
    ("USE SCHEMA s", UseSchema(("s",))),
    ("USE CATALOG l", UseSchema(("l",), is_catalog=True)),
    ("USE schema", UseSchema(("schema",))),
    ("SET CATALOG 'l'", UseSchema(("l",), is_catalog=True)),
    ("COMMENT ON TABLE t IS 'it\\'s'", CommentOn("TABLE", T, "it's")),
    ("COMMENT ON TABLE t IS NULL", CommentOn("TABLE", T, None)),
    ("COMMENT ON COLUMN s.t.c IS 'x' 'y'", CommentOn("COLUMN", TableRef(("s", "t", "c")), "xy")),
    ("COMMENT ON DATABASE s IS r'\\d'", CommentOn("SCHEMA", TableRef(("s",)), "\\d")),
    ("CREATE TEMP VIEW v AS SELECT 1", CreateTempView("v", SqlText("SELECT 1"))),
    (
        "CREATE OR REPLACE GLOBAL TEMPORARY VIEW v (a COMMENT 'x', b) COMMENT 'y' AS VALUES (1, 2)",
        CreateTempView("v", SqlText("VALUES (1, 2)"), ("a", "b"), or_replace=True, is_global=True),
    ),
    ("CREATE OR REPLACE VIEW s.v AS SELECT 1", CreateView(TableRef(("s", "v")), SqlText("SELECT 1"))),
    ("CREATE TEMPORARY VIEW v USING parquet OPTIONS (path '/x')", Foreign()),
    ("CREATE OR REPLACE TEMPORARY FUNCTION f AS 'x'", Foreign()),
    ("CREATE FUNCTION f() RETURNS INT RETURN 1", Foreign()),
    ("CREATE MATERIALIZED VIEW v AS SELECT 1", Foreign()),
    ("DROP VIEW v", Foreign()),
)


@pytest.mark.parametrize(("text", "expected"), STATEMENTS)
def test_a_statement_says(text: str, expected: Command) -> None:
    assert parse_statement(text).command == expected


def test_the_tables_of_a_query_are_those_of_the_whole_statement_too() -> None:
    text = "CREATE TABLE t USING delta AS WITH c AS (TABLE a) SELECT * FROM c JOIN b.d"
    found = parse_statement(text)

    assert isinstance(found.command, CreateTable)
    assert found.command.query is not None
    assert found.command.query.text == "WITH c AS (TABLE a) SELECT * FROM c JOIN b.d"
    assert [each.ref.parts for each in found.command.query.mentions] == [("a",), ("b", "d")]
    assert [text[each.start : each.end] for each in found.whole.mentions] == ["a", "b.d"]


def test_a_table_of_sparks_own_takes_rows_of_the_lake_whatever_its_clauses() -> None:
    text = "CREATE TABLE hive.t STORED AS PARQUET AS SELECT * FROM s.t"
    found = parse_statement(text)

    assert [text[each.start : each.end] for each in found.whole.mentions] == ["s.t"]
