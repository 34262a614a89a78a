"""What does ALTER TABLE change?"""

import pytest

from headgate.sql.parse.statements import parse_statement
from headgate.sql.statements.alter import (
    AddColumns,
    AddConstraint,
    AlterColumns,
    AlterTable,
    ClusterTableBy,
    ColumnEdit,
    ColumnPlace,
    DropColumns,
    DropConstraint,
    DropFeature,
    NewColumn,
    RenameColumn,
    RenameTable,
    ReplaceColumns,
    SetOwner,
    SetTableDomain,
    SetTableLocation,
    SetTableProperties,
    TableChangeClause,
    UnsetTableDomain,
    UnsetTableProperties,
    UnsupportedChange,
)
from headgate.sql.statements.query import Foreign
from headgate.sql.statements.sql_text import SqlText, TableRef

A, FIRST = ("a",), ColumnPlace()


def edit(**said: object) -> AlterColumns:
    return AlterColumns((ColumnEdit(A, **said),))  # type: ignore[arg-type]


CHANGES: tuple[tuple[str, TableChangeClause], ...] = (
    ("ADD COLUMN a INT", AddColumns((NewColumn(A, "INT"),))),
    ("ADD COLUMN a INT, b STRING", AddColumns((NewColumn(A, "INT"), NewColumn(("b",), "STRING")))),
    ("ADD COLUMN IF NOT EXISTS a INT", AddColumns((NewColumn(A, "INT"),), if_not_exists=True)),
    (
        "ADD COLUMNS (a DECIMAL(10, 2) NOT NULL COMMENT 'x, y' FIRST, s.`b.c` MAP<STRING, INT> AFTER a)",
        AddColumns(
            (
                NewColumn(A, "DECIMAL(10, 2) NOT NULL COMMENT 'x, y'", FIRST),
                NewColumn(("s", "b.c"), "MAP<STRING, INT>", ColumnPlace("a")),
            )
        ),
    ),
    (
        "ADD COLUMNS (a STRUCT<x: INT, y: ARRAY<STRUCT<>>>, b STRING COLLATE UNICODE)",
        AddColumns(
            (NewColumn(A, "STRUCT<x: INT, y: ARRAY<STRUCT<>>>"), NewColumn(("b",), "STRING COLLATE UNICODE"))
        ),
    ),
    ("ADD COLUMN a INT FIRST COMMENT 'x'", AddColumns((NewColumn(A, "INT COMMENT 'x'", FIRST),))),
    (
        "ADD COLUMNS (a INT DEFAULT 4 + length('x') COMMENT 'y' AFTER b, c DATE DEFAULT current_date())",
        AddColumns(
            (
                NewColumn(A, "INT DEFAULT 4 + length('x') COMMENT 'y'", ColumnPlace("b")),
                NewColumn(("c",), "DATE DEFAULT current_date()"),
            )
        ),
    ),
    ("RENAME COLUMN a TO b", RenameColumn(A, "b")),
    ("RENAME COLUMN a.`b.c` TO `d e`", RenameColumn(("a", "b.c"), "d e")),
    ("RENAME TO s.u", RenameTable(TableRef(("s", "u")))),
    ("DROP COLUMN a", DropColumns((A,))),
    ("DROP COLUMN IF EXISTS a.b, c", DropColumns((("a", "b"), ("c",)), if_exists=True)),
    ("DROP COLUMNS (a, b)", DropColumns((A, ("b",)))),
    ("ALTER COLUMN a TYPE BIGINT", edit(type="BIGINT")),
    ("ALTER a TYPE DECIMAL(10, 2)", edit(type="DECIMAL(10, 2)")),
    ("ALTER COLUMN a COMMENT 'x'", edit(comment="x")),
    ("ALTER COLUMN a FIRST", edit(place=FIRST)),
    ("ALTER COLUMN a AFTER `b c`", edit(place=ColumnPlace("b c"))),
    ("ALTER COLUMN a SET NOT NULL", edit(nullable=False)),
    ("ALTER COLUMN a DROP NOT NULL", edit(nullable=True)),
    ("ALTER COLUMN a SET DEFAULT now() - INTERVAL 1 DAY", edit(default=SqlText("now() - INTERVAL 1 DAY"))),
    ("ALTER COLUMN a DROP DEFAULT", edit(drops_default=True)),
    ("ALTER COLUMN a SYNC IDENTITY", edit(syncs_identity=True)),
    (
        "ALTER COLUMN a TYPE BIGINT, b.c COMMENT 'x'",
        AlterColumns((ColumnEdit(A, type="BIGINT"), ColumnEdit(("b", "c"), comment="x"))),
    ),
    ("CHANGE COLUMN a a BIGINT", edit(new_name="a", type="BIGINT")),
    (
        "CHANGE a b BIGINT COMMENT 'x' AFTER c",
        edit(new_name="b", type="BIGINT", comment="x", place=ColumnPlace("c")),
    ),
    ("CHANGE COLUMN a comment STRING", edit(new_name="comment", type="STRING")),
    ("CHANGE COLUMN a TYPE BIGINT", edit(type="BIGINT")),
    ("CHANGE COLUMN a COMMENT 'x'", edit(comment="x")),
    ("REPLACE COLUMNS (a INT, b MAP<STRING, INT>)", ReplaceColumns("a INT, b MAP<STRING, INT>")),
    ("SET TBLPROPERTIES ('a.b' = 'c', d = true)", SetTableProperties((("a.b", "c"), ("d", "true")))),
    ("UNSET TBLPROPERTIES ('a.b')", UnsetTableProperties(("a.b",))),
    ("UNSET TBLPROPERTIES IF EXISTS ('a', b.c)", UnsetTableProperties(("a", "b.c"), if_exists=True)),
    ("ADD CONSTRAINT c CHECK (a > 0 AND b IN (1, 2))", AddConstraint("c", SqlText("a > 0 AND b IN (1, 2)"))),
    ("DROP CONSTRAINT c", DropConstraint("c")),
    ("DROP CONSTRAINT IF EXISTS `c d` CASCADE", DropConstraint("c d", if_exists=True)),
    ("CLUSTER BY (a, b.c)", ClusterTableBy(("a", "b.c"))),
    ("CLUSTER BY NONE", ClusterTableBy()),
    ("CLUSTER BY AUTO", ClusterTableBy(is_auto=True)),
    ("DROP FEATURE deletionVectors", DropFeature("deletionVectors")),
    ("DROP FEATURE 'v2Checkpoint' TRUNCATE HISTORY", DropFeature("v2Checkpoint", truncates_history=True)),
    ("SET DOMAIN 'acme.x' '{\"a\": 1}'", SetTableDomain("acme.x", '{"a": 1}')),
    ("SET DOMAIN 'acme.x' = 'y'", SetTableDomain("acme.x", "y")),
    ("DROP DOMAIN 'acme.x'", UnsetTableDomain("acme.x")),
    ("UNSET DOMAIN IF EXISTS 'acme.x'", UnsetTableDomain("acme.x", if_exists=True)),
    ("SET OWNER TO `ann@acme.com`", SetOwner("ann@acme.com")),
    ("OWNER TO ann", SetOwner("ann")),
    ("SET LOCATION '/x'", SetTableLocation("/x")),
)
REFUSED = (
    ("ADD PARTITION (a = 1)", "ALTER TABLE … ADD PARTITION"),
    ("ADD IF NOT EXISTS PARTITION (a = 1)", "ALTER TABLE … ADD IF NOT EXISTS PARTITION"),
    ("DROP PARTITION (a = 1)", "ALTER TABLE … DROP PARTITION"),
    ("DROP IF EXISTS PARTITION (a = 1)", "ALTER TABLE … DROP IF EXISTS PARTITION"),
    ("PARTITION (a = 1) RENAME TO PARTITION (a = 2)", "ALTER TABLE … PARTITION"),
    ("RECOVER PARTITIONS", "ALTER TABLE … RECOVER PARTITIONS"),
    ("ADD CONSTRAINT p PRIMARY KEY (a)", "ALTER TABLE … ADD CONSTRAINT … PRIMARY KEY"),
    ("ADD CONSTRAINT f FOREIGN KEY (a) REFERENCES u", "ALTER TABLE … ADD CONSTRAINT … FOREIGN KEY"),
    ("SET SERDE 'x'", "ALTER TABLE … SET SERDE"),
    ("SET TAGS ('a' = 'b')", "ALTER TABLE … SET TAGS"),
    ("ALTER COLUMN a SET TAGS ('a' = 'b')", "ALTER COLUMN … SET TAGS"),
    ("DEFAULT COLLATION UNICODE", "ALTER TABLE … DEFAULT COLLATION"),
)


@pytest.mark.parametrize(("clause", "change"), CHANGES)
def test_a_clause_changes(clause: str, change: TableChangeClause) -> None:
    found = parse_statement(f"ALTER TABLE s.t {clause};").command

    assert found == AlterTable(TableRef(("s", "t")), change)


@pytest.mark.parametrize(("clause", "form"), REFUSED)
def test_a_clause_that_is_known_and_not_supported_has_a_name(clause: str, form: str) -> None:
    found = parse_statement(f"ALTER TABLE t {clause}").command

    assert isinstance(found, AlterTable)
    assert isinstance(found.change, UnsupportedChange)
    assert found.change.form == form


def test_views_are_altered_by_spark() -> None:
    assert parse_statement("ALTER VIEW v RENAME TO w").command == Foreign()
