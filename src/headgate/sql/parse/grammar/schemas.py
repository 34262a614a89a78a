"""How are CREATE, ALTER and DROP SCHEMA, USE and COMMENT ON read?"""

from headgate.sql.parse.grammar.statement_row import StatementRow
from headgate.sql.parse.reader import StatementReader
from headgate.sql.statements.create import AlterSchema, CommentOn, CreateSchema, DropSchema, UseSchema
from headgate.sql.statements.query import Foreign
from headgate.sql.statements.sql_text import Properties, TableRef
from headgate.sql.statements.statement import Command

SCHEMA_WORDS = ("schema", "database", "namespace")
_COMMENTED = {"table": "TABLE", "column": "COLUMN", "catalog": "CATALOG", "lake": "CATALOG"} | dict.fromkeys(
    SCHEMA_WORDS, "SCHEMA"
)


def read_create_schema(reader: StatementReader) -> Command:
    """CREATE SCHEMA [IF NOT EXISTS] s …"""
    if_not_exists = reader.accepts("if", "not", "exists")
    name = reader.names("the name of a schema")
    comment: str | None = None
    location: str | None = None
    properties: Properties = ()
    while True:
        if reader.accepts("comment"):
            comment = reader.string()
        elif reader.accepts("managed", "location") or reader.accepts("location"):
            location = reader.string()
        elif reader.accepts("with"):
            if not reader.accepts_any("dbproperties", "properties"):
                raise reader.unexpected("DBPROPERTIES")
            properties = reader.properties()
        else:
            return CreateSchema(name, if_not_exists, comment, location, properties)


def read_drop_schema(reader: StatementReader) -> Command:
    """DROP SCHEMA [IF EXISTS] s [RESTRICT | CASCADE]."""
    if_exists = reader.accepts("if", "exists")
    name = reader.names("the name of a schema")
    return DropSchema(name, if_exists, reader.accepts_any("restrict", "cascade") == "cascade")


def read_alter_schema(reader: StatementReader) -> Command:
    """ALTER SCHEMA s SET DBPROPERTIES (…) | [SET] OWNER TO … and others."""
    name = reader.names("the name of a schema")
    is_set = reader.accepts("set")
    if is_set and reader.accepts_any("dbproperties", "properties"):
        return AlterSchema(name, "SET DBPROPERTIES", reader.properties())
    if reader.accepts("owner", "to"):
        return AlterSchema(name, "OWNER TO", owner=reader.name_or_string("the name of a principal"))
    form = reader.tokens.slice(reader.index - is_set, reader.tokens.stop)
    reader.index = reader.tokens.stop
    return AlterSchema(name, form)


def read_use(reader: StatementReader) -> Command:
    """USE [SCHEMA | DATABASE | NAMESPACE | CATALOG] name."""
    follows = reader.tokens.is_name(reader.index + 1)
    kind = reader.accepts_any(*SCHEMA_WORDS, "catalog") if follows else ""
    if reader.word == "identifier" and reader.tokens.sign(reader.index + 1) == "(":
        return UseSchema(reader.table_ref().parts, kind == "catalog")
    return UseSchema(reader.names("the name of a schema"), kind == "catalog")


def read_set_catalog(reader: StatementReader) -> Command:
    """SET CATALOG name."""
    if reader.sees("="):
        reader.index = reader.tokens.stop
        return Foreign()
    return UseSchema((reader.name_or_string("the name of a catalog"),), is_catalog=True)


def read_comment_on(reader: StatementReader) -> Command:
    """COMMENT ON TABLE | COLUMN | SCHEMA name IS 'text' | NULL."""
    kind = _COMMENTED.get(reader.word)
    if kind is None:
        raise reader.unexpected("TABLE, COLUMN or SCHEMA")
    reader.index += 1
    name = reader.table_ref()
    reader.table = TableRef(name.parts[:-1]) if kind == "COLUMN" else name if kind == "TABLE" else None
    reader.require("is")
    return CommentOn(
        kind, name, None if reader.accepts("null") else reader.string("a text in quotes or NULL")
    )


def _schema_rows(word: str) -> tuple[StatementRow, ...]:
    upper = word.upper()
    return (
        StatementRow(
            ("create", word),
            read_create_schema,
            f"CREATE {upper} [IF NOT EXISTS] s [COMMENT '…'] [LOCATION '…']",
            "Makes a schema.",
            "`lake.create_schema`",
        ),
        StatementRow(
            ("drop", word),
            read_drop_schema,
            f"DROP {upper} [IF EXISTS] s [RESTRICT | CASCADE]",
            "Drops a schema, with CASCADE also its tables.",
            "`lake.drop_schema`",
        ),
        StatementRow(
            ("alter", word),
            read_alter_schema,
            f"ALTER {upper} s SET DBPROPERTIES (…)",
            "Is refused: a schema of a lake has no properties.",
            "",
        ),
    )


SCHEMA_ROWS: tuple[StatementRow, ...] = (
    *(row for word in SCHEMA_WORDS for row in _schema_rows(word)),
    StatementRow(("use",), read_use, "USE [SCHEMA | CATALOG] name", "Says where names are looked up.", ""),
    StatementRow(
        ("set", "catalog"),
        read_set_catalog,
        "SET CATALOG name",
        "Says in which lake names are looked up.",
        "",
    ),
    StatementRow(
        ("comment", "on"),
        read_comment_on,
        "COMMENT ON TABLE t IS '…' | NULL",
        "Says what a table is for.",
        "`table.set_comment`",
    ),
    StatementRow(
        ("comment", "on"),
        read_comment_on,
        "COMMENT ON COLUMN t.c IS '…' | NULL",
        "Says what a column is for.",
        "`table.set_column_comment`",
    ),
)
