"""How is ALTER TABLE read? By the words behind the table's name, of which there is a row for each change."""

from collections.abc import Callable
from dataclasses import dataclass

from headgate.sql.parse.grammar import alter_columns
from headgate.sql.parse.grammar.statement_row import StatementRow
from headgate.sql.parse.reader import StatementReader
from headgate.sql.statements.alter import (
    AddConstraint,
    AlterTable,
    ClusterTableBy,
    DropConstraint,
    DropFeature,
    RenameTable,
    SetOwner,
    SetTableDomain,
    SetTableLocation,
    SetTableProperties,
    TableChangeClause,
    UnsetTableDomain,
    UnsetTableProperties,
    UnsupportedChange,
)
from headgate.sql.statements.statement import Command


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """One change that ALTER TABLE makes, by its first words; rows that say more come first."""

    leads: tuple[str, ...]
    read: Callable[[StatementReader], TableChangeClause]
    form: str = ""
    says: str = ""
    calls: str = ""


def read_alter_table(reader: StatementReader) -> Command:
    """ALTER TABLE t and one change."""
    reader.form = "ALTER TABLE t …"
    table = reader.target()
    for row in CHANGES:
        if reader.accepts(*row.leads):
            reader.form = f"ALTER TABLE t {row.form}" if row.form else reader.form
            return AlterTable(table, row.read(reader))
    raise reader.unexpected("ADD, ALTER, CHANGE, CLUSTER BY, DROP, RENAME, REPLACE COLUMNS, SET or UNSET")


def _read_add_constraint(reader: StatementReader) -> TableChangeClause:
    name = reader.name("the name of a constraint")
    if reader.accepts("check"):
        begin, stop = reader.group()
        condition = reader.piece_between(begin, stop)
        reader.accepts("enforced")
        return AddConstraint(name, condition)
    if reader.word not in ("primary", "foreign", "unique"):
        raise reader.unexpected("CHECK")
    words = "UNIQUE" if reader.word == "unique" else f"{reader.word} KEY".upper()
    return _refuse(reader, f"ADD CONSTRAINT … {words}", "lake.access.add_foreign_key guards a foreign key")


def _read_unnamed_check(reader: StatementReader) -> TableChangeClause:
    raise reader.unexpected("CONSTRAINT and a name before CHECK")


def _read_drop_constraint(reader: StatementReader) -> TableChangeClause:
    if_exists = reader.accepts("if", "exists")
    name = reader.name("the name of a constraint")
    reader.accepts_any("restrict", "cascade")
    return DropConstraint(name, if_exists)


def _read_drop_feature(reader: StatementReader) -> TableChangeClause:
    feature = reader.name_or_string("the name of a feature")
    return DropFeature(feature, reader.accepts("truncate", "history"))


def _read_cluster_by(reader: StatementReader) -> TableChangeClause:
    if reader.accepts("none"):
        return ClusterTableBy()
    if reader.accepts("auto"):
        return ClusterTableBy(is_auto=True)
    if not reader.sees("("):
        raise reader.unexpected("columns in parentheses, NONE or AUTO")
    return ClusterTableBy(reader.in_list(reader.dotted))


def _read_rename_to(reader: StatementReader) -> TableChangeClause:
    return RenameTable(reader.table_ref())


def _read_set_properties(reader: StatementReader) -> TableChangeClause:
    return SetTableProperties(reader.properties())


def _read_unset_properties(reader: StatementReader) -> TableChangeClause:
    if_exists = reader.accepts("if", "exists")
    return UnsetTableProperties(reader.property_keys(), if_exists)


def _read_set_domain(reader: StatementReader) -> TableChangeClause:
    domain = reader.one_string("the name of a domain in quotes")
    reader.accepts("=")
    return SetTableDomain(domain, reader.string("the domain's text in quotes"))


def _read_unset_domain(reader: StatementReader) -> TableChangeClause:
    if_exists = reader.accepts("if", "exists")
    return UnsetTableDomain(reader.name_or_string("the name of a domain in quotes"), if_exists)


def _read_owner(reader: StatementReader) -> TableChangeClause:
    return SetOwner(reader.name_or_string("the name of a principal"))


def _read_location(reader: StatementReader) -> TableChangeClause:
    return SetTableLocation(reader.string())


def _refuse(reader: StatementReader, form: str, instead: str = "") -> UnsupportedChange:
    reader.index = reader.tokens.stop
    return UnsupportedChange(f"ALTER TABLE … {form}", instead)


_PARTITIONS = "a table's files say which partitions there are; write rows, or DELETE them"


def _unsupported(*leads: str, instead: str = "") -> ChangeRow:
    return ChangeRow(leads, lambda reader: _refuse(reader, " ".join(leads).upper(), instead))


CHANGES: tuple[ChangeRow, ...] = (
    ChangeRow(
        ("add", "constraint"),
        _read_add_constraint,
        "ADD CONSTRAINT name CHECK (condition)",
        "Holds all rows to a condition.",
        "`table.add_constraint`",
    ),
    ChangeRow(("add", "check"), _read_unnamed_check),
    _unsupported("add", "partition", instead=_PARTITIONS),
    _unsupported("add", "if", "not", "exists", "partition", instead=_PARTITIONS),
    ChangeRow(
        ("add", "columns"),
        alter_columns.read_add_columns,
        "ADD COLUMNS (a INT [NOT NULL] [DEFAULT …] [COMMENT '…'] [FIRST | AFTER c], s.b INT …)",
        "Adds columns, also fields of structs.",
        "`table.add_columns`",
    ),
    ChangeRow(
        ("add", "column"),
        alter_columns.read_add_columns,
        "ADD COLUMN a INT …",
        "Adds a column.",
        "`table.add_columns`",
    ),
    ChangeRow(
        ("rename", "column"),
        alter_columns.read_rename_column,
        "RENAME COLUMN a TO b",
        "Gives a column another name, without touching files.",
        "`table.rename_column`",
    ),
    ChangeRow(
        ("rename", "to"), _read_rename_to, "RENAME TO s", "Gives the table another name.", "`lake.rename`"
    ),
    ChangeRow(
        ("drop", "columns"),
        alter_columns.read_drop_columns,
        "DROP COLUMNS [IF EXISTS] (a, s.b)",
        "Drops columns, without touching files.",
        "`table.drop_columns`",
    ),
    ChangeRow(
        ("drop", "column"),
        alter_columns.read_drop_columns,
        "DROP COLUMN [IF EXISTS] a",
        "Drops a column.",
        "`table.drop_columns`",
    ),
    ChangeRow(
        ("drop", "constraint"),
        _read_drop_constraint,
        "DROP CONSTRAINT [IF EXISTS] name",
        "Holds rows to a condition no longer.",
        "`table.drop_constraint`",
    ),
    ChangeRow(
        ("drop", "feature"),
        _read_drop_feature,
        "DROP FEATURE name [TRUNCATE HISTORY]",
        "Takes a feature out of the protocol.",
        "`table.drop_feature`",
    ),
    ChangeRow(
        ("drop", "domain"),
        _read_unset_domain,
        "DROP DOMAIN [IF EXISTS] 'acme.x'",
        "Removes a metadata domain.",
        "`table.remove_domain`",
    ),
    _unsupported("drop", "partition", instead=_PARTITIONS),
    _unsupported("drop", "if", "exists", "partition", instead=_PARTITIONS),
    ChangeRow(
        ("alter",),
        alter_columns.read_alter_columns,
        "ALTER [COLUMN] a TYPE BIGINT | COMMENT '…' | FIRST | AFTER c",
        "Widens, comments or moves a column.",
        "`table.widen_column`, `table.set_column_comment`, `table.move_column`",
    ),
    ChangeRow(
        ("alter",),
        alter_columns.read_alter_columns,
        "ALTER [COLUMN] a SET DEFAULT … | DROP DEFAULT | SET NOT NULL | DROP NOT NULL | SYNC IDENTITY",
        "Says what a column gets and takes.",
        "`table.drop_not_null`, `table.sync_identity`",
    ),
    ChangeRow(
        ("change",),
        alter_columns.read_change_columns,
        "CHANGE [COLUMN] a a BIGINT [COMMENT '…'] [FIRST | AFTER c]",
        "The same, as Hive writes it.",
        "`table.widen_column`",
    ),
    ChangeRow(
        ("replace", "columns"),
        alter_columns.read_replace_columns,
        "REPLACE COLUMNS (a INT, …)",
        "Gives the table exactly these columns.",
        "`table.add_columns`, `table.drop_columns`",
    ),
    ChangeRow(
        ("set", "tblproperties"),
        _read_set_properties,
        "SET TBLPROPERTIES ('key' = 'value')",
        "Sets properties.",
        "`table.set_properties`",
    ),
    ChangeRow(
        ("unset", "tblproperties"),
        _read_unset_properties,
        "UNSET TBLPROPERTIES [IF EXISTS] ('key')",
        "Removes properties.",
        "`table.unset_properties`",
    ),
    ChangeRow(
        ("set", "domain"),
        _read_set_domain,
        "SET DOMAIN 'acme.x' '…'",
        "Writes a metadata domain.",
        "`table.set_domain`",
    ),
    ChangeRow(("unset", "domain"), _read_unset_domain),
    ChangeRow(
        ("cluster", "by"),
        _read_cluster_by,
        "CLUSTER BY (a, s.b) | NONE",
        "Says by which columns files are arranged.",
        "`table.cluster_by`",
    ),
    ChangeRow(
        ("set", "owner", "to"), _read_owner, "[SET] OWNER TO principal", "Is refused: grant instead.", ""
    ),
    ChangeRow(("owner", "to"), _read_owner),
    ChangeRow(
        ("set", "location"), _read_location, "SET LOCATION '…'", "Is refused: a table stays at its place.", ""
    ),
    _unsupported("set", "serde"),
    _unsupported("set", "serdeproperties"),
    _unsupported("set", "tags", instead="metadata domains keep what programs say of a table"),
    _unsupported("unset", "tags", instead="metadata domains keep what programs say of a table"),
    _unsupported("set", "managed"),
    _unsupported("set", "row", "filter"),
    _unsupported("default", "collation"),
    _unsupported("recover", "partitions", instead=_PARTITIONS),
    _unsupported("partition", instead=_PARTITIONS),
)
ALTER_ROWS: tuple[StatementRow, ...] = tuple(
    StatementRow(("alter", "table"), read_alter_table, f"ALTER TABLE t {row.form}", row.says, row.calls)
    for row in CHANGES
    if row.form
)
