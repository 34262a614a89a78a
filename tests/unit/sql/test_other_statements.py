"""What do maintenance, DESCRIBE, SHOW, GRANT, caches and transactions say?"""

from decimal import Decimal

import pytest

from headgate.sql.parse.statements import parse_statement
from headgate.sql.statements.access import GrantPrivileges, RevokePrivileges, SecurableRef, ShowGrants
from headgate.sql.statements.describe import (
    DescribeDetail,
    DescribeHistory,
    DescribeSchema,
    DescribeTable,
    ShowCatalogs,
    ShowColumns,
    ShowCreateTable,
    ShowDomains,
    ShowPartitions,
    ShowSchemas,
    ShowTableProperties,
    ShowTables,
    ShowViews,
)
from headgate.sql.statements.maintenance import (
    AnalyzeTable,
    ConvertToDelta,
    GenerateManifest,
    OptimizeTable,
    ReorgTable,
    RepairTable,
    RestoreTable,
    VacuumTable,
)
from headgate.sql.statements.query import CacheTable, Foreign, RefreshTable, UncacheTable, Unsupported
from headgate.sql.statements.sql_text import AsOf, SqlParameter, SqlText, TableRef
from headgate.sql.statements.statement import Command
from headgate.sql.statements.transactions import BeginTransaction, CommitTransaction, RollbackTransaction

T, X = TableRef(("t",)), TableRef(path="/x")
MAINTENANCE: tuple[tuple[str, Command], ...] = (
    ("OPTIMIZE t", OptimizeTable(T)),
    ("OPTIMIZE '/x' FULL", OptimizeTable(X, is_full=True)),
    (
        "optimize delta.`/x` where a = 1 and b in (2) zorder by (c, d.e)",
        OptimizeTable(X, condition=SqlText("a = 1 and b in (2)"), zorder_by=("c", "d.e")),
    ),
    ("OPTIMIZE t ZORDER BY a, `b c`", OptimizeTable(T, zorder_by=("a", "`b c`"))),
    ("VACUUM t", VacuumTable(T)),
    ("VACUUM t RETAIN 12.5 HOURS DRY RUN", VacuumTable(T, None, Decimal("12.5"), is_dry_run=True)),
    ("VACUUM '/x' LITE RETAIN 0 HOURS", VacuumTable(X, "LITE", Decimal(0))),
    ("VACUUM t FULL", VacuumTable(T, "FULL")),
    ("VACUUM t RETAIN -1 HOURS", VacuumTable(T, retain_hours=Decimal(-1))),
    ("VACUUM t RETAIN :h HOURS", VacuumTable(T, retain_hours=SqlParameter("h"))),
    ("VACUUM t DRY RUN LITE", VacuumTable(T, "LITE", is_dry_run=True)),
    ("VACUUM t USING INVENTORY (SELECT 1)", VacuumTable(T, inventory=SqlText("(SELECT 1)"))),
    ("RESTORE TABLE t TO VERSION AS OF 3", RestoreTable(T, AsOf("3"))),
    ("RESTORE t VERSION AS OF ?", RestoreTable(T, AsOf(SqlParameter(position=0)))),
    ("RESTORE TABLE table TO VERSION AS OF 3", RestoreTable(TableRef(("table",)), AsOf("3"))),
    (
        "RESTORE t TO TIMESTAMP AS OF now() - INTERVAL 1 DAY",
        RestoreTable(T, AsOf(timestamp=SqlText("now() - INTERVAL 1 DAY"))),
    ),
    ("REORG TABLE t APPLY (PURGE)", ReorgTable(T, "PURGE")),
    ("REORG TABLE t WHERE a = 1 APPLY (purge)", ReorgTable(T, "purge", SqlText("a = 1"))),
    (
        "REORG TABLE t APPLY (UPGRADE UNIFORM (ICEBERG_COMPAT_VERSION = 2))",
        ReorgTable(T, "UPGRADE UNIFORM (ICEBERG_COMPAT_VERSION = 2)"),
    ),
    ("GENERATE symlink_format_manifest FOR TABLE t", GenerateManifest(T, "symlink_format_manifest")),
    ("CONVERT TO DELTA parquet.`/x`", ConvertToDelta(X, "parquet")),
    (
        "CONVERT TO DELTA s.t NO STATISTICS PARTITIONED BY (a INT, b STRING)",
        ConvertToDelta(TableRef(("s", "t")), None, "a INT, b STRING"),
    ),
    (
        "ANALYZE TABLE t COMPUTE STATISTICS FOR ALL COLUMNS",
        AnalyzeTable(T, "COMPUTE STATISTICS FOR ALL COLUMNS"),
    ),
    ("ANALYZE TABLES IN s COMPUTE STATISTICS", Foreign()),
    ("MSCK REPAIR TABLE t SYNC METADATA", RepairTable(T, "MSCK", "SYNC METADATA")),
    ("REPAIR TABLE t", RepairTable(T, "REPAIR")),
    ("FSCK REPAIR TABLE t dry run", RepairTable(T, "FSCK", "DRY RUN")),
)
DESCRIBE: tuple[tuple[str, Command], ...] = (
    ("DESCRIBE t", DescribeTable(T)),
    ("DESC TABLE EXTENDED s.t", DescribeTable(TableRef(("s", "t")), is_extended=True)),
    ("DESCRIBE FORMATTED t a.b", DescribeTable(T, is_extended=True, column=("a", "b"))),
    ("DESCRIBE EXTENDED t AS JSON", DescribeTable(T, is_extended=True, as_json=True)),
    ("DESCRIBE t PARTITION (a = 1)", DescribeTable(T, partition="a = 1")),
    ("DESCRIBE t VERSION AS OF 3", DescribeTable(T, as_of=AsOf("3"))),
    ("DESCRIBE detail", DescribeTable(TableRef(("detail",)))),
    ("DESCRIBE history.a", DescribeTable(TableRef(("history", "a")))),
    ("DESCRIBE TABLE history", DescribeTable(TableRef(("history",)))),
    ("DESCRIBE DETAIL t", DescribeDetail(T)),
    ("DESC DETAIL '/x'", DescribeDetail(X)),
    ("DESCRIBE HISTORY t", DescribeHistory(T)),
    ("DESCRIBE HISTORY delta.`/x` LIMIT 5", DescribeHistory(X, 5)),
    ("DESCRIBE HISTORY t LIMIT :n", DescribeHistory(T, SqlParameter("n"))),
    ("DESCRIBE SCHEMA EXTENDED l.s", DescribeSchema(("l", "s"), is_extended=True)),
    ("DESCRIBE DATABASE s", DescribeSchema(("s",))),
    ("DESCRIBE FUNCTION f", Foreign()),
    ("SHOW TABLES", ShowTables()),
    ("SHOW TABLES IN l.s LIKE 'a*|b'", ShowTables(("l", "s"), "a*|b")),
    ("SHOW TABLES FROM s 'a*'", ShowTables(("s",), "a*")),
    ("SHOW TABLES DROPPED IN s", ShowTables(("s",), is_dropped=True)),
    ("SHOW TABLE EXTENDED IN s LIKE 'a'", ShowTables(("s",), "a", is_extended=True)),
    ("SHOW VIEWS IN s", ShowViews(("s",))),
    ("SHOW SCHEMAS", ShowSchemas()),
    ("SHOW DATABASES IN l LIKE 'a*'", ShowSchemas(("l",), "a*")),
    ("SHOW NAMESPACES", ShowSchemas()),
    ("SHOW CATALOGS LIKE 'a*'", ShowCatalogs("a*")),
    ("SHOW COLUMNS IN s.t", ShowColumns(TableRef(("s", "t")))),
    ("SHOW COLUMNS FROM t FROM s", ShowColumns(TableRef(("s", "t")))),
    ("SHOW CREATE TABLE t AS SERDE", ShowCreateTable(T, as_serde=True)),
    ("SHOW TBLPROPERTIES t", ShowTableProperties(T)),
    ("SHOW TBLPROPERTIES t ('a.b')", ShowTableProperties(T, "a.b")),
    ("SHOW TBLPROPERTIES t (a.b)", ShowTableProperties(T, "a.b")),
    ("SHOW PARTITIONS t", ShowPartitions(T)),
    ("SHOW PARTITIONS t PARTITION (a = 1, b)", ShowPartitions(T, (("a", "1"), ("b", None)))),
    ("SHOW DOMAINS IN t LIKE 'acme.*'", ShowDomains(T, "acme.*")),
    ("SHOW DOMAINS ON TABLE t", ShowDomains(T)),
    ("SHOW FUNCTIONS", Foreign()),
    ("SHOW CURRENT SCHEMA", Foreign()),
)
OTHERS: tuple[tuple[str, Command], ...] = (
    (
        "GRANT SELECT, ALL PRIVILEGES ON TABLE s.t TO `ann@acme.com`",
        GrantPrivileges(("SELECT", "ALL PRIVILEGES"), SecurableRef("TABLE", ("s", "t")), "ann@acme.com"),
    ),
    ("GRANT modify ON t TO 'ann'", GrantPrivileges(("MODIFY",), SecurableRef("TABLE", ("t",)), "ann")),
    (
        "REVOKE SELECT ON SCHEMA s FROM ann",
        RevokePrivileges(("SELECT",), SecurableRef("SCHEMA", ("s",)), "ann"),
    ),
    ("GRANT USE ON CATALOG TO ann", GrantPrivileges(("USE",), SecurableRef("CATALOG"), "ann")),
    ("GRANT USE ON CATALOG l TO ann", GrantPrivileges(("USE",), SecurableRef("CATALOG", ("l",)), "ann")),
    ("SHOW GRANTS ON DATABASE s", ShowGrants(SecurableRef("SCHEMA", ("s",)))),
    ("SHOW GRANT ann ON t", ShowGrants(SecurableRef("TABLE", ("t",)), "ann")),
    ("DENY SELECT ON t TO ann", Unsupported("DENY", None, "what is not granted is denied: use REVOKE")),
    ("BEGIN", BeginTransaction()),
    ("begin transaction;", BeginTransaction()),
    ("START TRANSACTION", BeginTransaction()),
    ("COMMIT WORK", CommitTransaction()),
    ("ROLLBACK", RollbackTransaction()),
    ("BEGIN SELECT 1; END", Foreign()),
    (
        "CACHE LAZY TABLE t OPTIONS ('a' = 'b') AS SELECT 1",
        CacheTable(T, SqlText("SELECT 1"), True, (("a", "b"),)),
    ),
    ("CACHE TABLE t", CacheTable(T)),
    ("UNCACHE TABLE IF EXISTS t", UncacheTable(T, if_exists=True)),
    ("REFRESH TABLE t", RefreshTable(T)),
    ("SET a.b = c", Foreign()),
    ("CALL p(1)", Foreign()),
    ("CLEAR CACHE", Foreign()),
    ("", Foreign()),
    (" -- nothing", Foreign()),
    (";", Foreign()),
    ("anything at all '", Foreign()),
)


@pytest.mark.parametrize(("text", "expected"), [*MAINTENANCE, *DESCRIBE, *OTHERS])
def test_a_statement_says(text: str, expected: Command) -> None:
    assert parse_statement(text).command == expected


def test_a_parameter_of_a_command_is_a_parameter_of_the_whole() -> None:
    text = "DESCRIBE HISTORY t LIMIT :n"

    assert [text[each.start : each.end] for each in parse_statement(text).whole.parameters] == [":n"]
    assert len(parse_statement("RESTORE t TO VERSION AS OF ?").whole.parameters) == 1


@pytest.mark.parametrize("text", ["SHOW FUNCTIONS", "SET x = (SELECT 1)", "BEGIN SELECT * FROM t; END"])
def test_a_foreign_text_mentions_nothing(text: str) -> None:
    found = parse_statement(text)

    assert (found.whole.text, found.whole.mentions) == (text, ())
