"""What does ALTER TABLE say of columns: ADD, RENAME, DROP, ALTER and CHANGE COLUMN, REPLACE COLUMNS?"""

from headgate.sql.parse.reader import StatementReader
from headgate.sql.parse.relations import Place
from headgate.sql.parse.value_end import skip_value
from headgate.sql.statements.alter import (
    AddColumns,
    AlterColumns,
    ColumnEdit,
    ColumnPath,
    ColumnPlace,
    DropColumns,
    NewColumn,
    RenameColumn,
    ReplaceColumns,
    TableChangeClause,
    UnsupportedChange,
)

_COLUMN = "the name of a column"
_OPTION_WORDS = ("not", "comment", "default", "first", "after", "generated", "check", "constraint")


def read_add_columns(reader: StatementReader) -> TableChangeClause:
    """ADD COLUMN[S] c INT …, or several in parentheses."""
    if_not_exists = reader.accepts("if", "not", "exists")
    in_group = reader.accepts("(")
    found = [_read_new_column(reader)]
    while reader.accepts(","):
        found.append(_read_new_column(reader))
    if in_group:
        reader.require(")")
    return AddColumns(tuple(found), if_not_exists)


def _read_new_column(reader: StatementReader) -> NewColumn:
    path = reader.names(_COLUMN)
    reader.accepts(":")
    begin = reader.index
    skip_type(reader)
    pieces: list[str] = []
    place: ColumnPlace | None = None
    while True:
        here = reader.index
        found = read_place(reader)
        if found is not None:
            place = found
            pieces.append(reader.tokens.slice(begin, here))
            begin = reader.index
        elif not _skip_option(reader):
            break
    pieces.append(reader.tokens.slice(begin, reader.index))
    return NewColumn(path, " ".join(piece for piece in pieces if piece), place)


def skip_type(reader: StatementReader) -> None:
    """Go behind a type: DECIMAL(10,2), MAP<STRING, INT>, STRING COLLATE UNICODE."""
    reader.name("a type")
    if reader.sees("("):
        reader.group()
    elif reader.sees("<"):
        _skip_angles(reader)
    else:
        reader.accepts("<>")
    if reader.accepts("collate"):
        reader.name("a collation")


def _skip_angles(reader: StatementReader) -> None:
    depth = 0
    while not reader.is_at_end:
        sign = reader.next.sign
        depth += (sign == "<") - (sign == ">")
        reader.index += 1
        if depth == 0:
            return
    raise reader.unexpected(">")


def _skip_option(reader: StatementReader) -> bool:
    """Go behind what is said of a column after its type; False if nothing is."""
    if reader.accepts("not", "null"):
        return True
    if reader.accepts("comment"):
        reader.string()
    elif reader.accepts("default"):
        _skip_default(reader)
    elif reader.accepts("generated"):
        reader.index = reader.seek(",", ")", *(word for word in _OPTION_WORDS if word != "default"))
    elif reader.accepts("constraint"):
        reader.name("the name of a constraint")
    elif reader.accepts("check"):
        reader.group()
    else:
        return False
    return True


def _skip_default(reader: StatementReader) -> None:
    begin = reader.index
    reader.index = skip_value(reader.tokens, begin)
    if not (reader.is_at_end or reader.word in _OPTION_WORDS or reader.sees(",") or reader.sees(")")):
        reader.index = reader.seek(",", ")", *_OPTION_WORDS)
    if reader.index == begin:
        raise reader.unexpected("an expression")


def read_place(reader: StatementReader) -> ColumnPlace | None:
    """FIRST or AFTER c; None if neither comes."""
    if reader.accepts("first"):
        return ColumnPlace()
    return ColumnPlace(reader.name(_COLUMN)) if reader.accepts("after") else None


def read_rename_column(reader: StatementReader) -> TableChangeClause:
    """RENAME COLUMN a TO b."""
    path = reader.names(_COLUMN)
    reader.require("to")
    return RenameColumn(path, reader.name(_COLUMN))


def read_drop_columns(reader: StatementReader) -> TableChangeClause:
    """DROP COLUMN[S] [IF EXISTS] a, b, or the same in parentheses."""
    if_exists = reader.accepts("if", "exists")
    in_group = reader.accepts("(")
    found: list[ColumnPath] = [reader.names(_COLUMN)]
    while reader.accepts(","):
        found.append(reader.names(_COLUMN))
    if in_group:
        reader.require(")")
    return DropColumns(tuple(found), if_exists)


def read_replace_columns(reader: StatementReader) -> TableChangeClause:
    """REPLACE COLUMNS (…)."""
    return ReplaceColumns(reader.group_text())


def read_alter_columns(reader: StatementReader) -> TableChangeClause:
    """ALTER [COLUMN] a TYPE BIGINT, b COMMENT '…' …"""
    return _read_edits(reader, is_change=False)


def read_change_columns(reader: StatementReader) -> TableChangeClause:
    """CHANGE [COLUMN], which takes a new name and a type as well."""
    return _read_edits(reader, is_change=True)


def _read_edits(reader: StatementReader, *, is_change: bool) -> TableChangeClause:
    edits: list[ColumnEdit] = []
    while True:
        reader.accepts("column")
        path = reader.names(_COLUMN)
        if reader.sees("set", "tags") or reader.sees("unset", "tags") or reader.sees("set", "mask"):
            words = f"{reader.word} {reader.ahead(1)}".upper()
            reader.index = reader.tokens.stop
            return UnsupportedChange(f"ALTER COLUMN … {words}")
        edits.append(_read_edit(reader, path, is_change=is_change))
        if not reader.accepts(","):
            return AlterColumns(tuple(edits))


def _read_edit(reader: StatementReader, path: ColumnPath, *, is_change: bool) -> ColumnEdit:
    if reader.accepts("type"):
        return ColumnEdit(path, type=_read_type(reader))
    if reader.accepts("set", "not", "null"):
        return ColumnEdit(path, nullable=False)
    if reader.accepts("drop", "not", "null"):
        return ColumnEdit(path, nullable=True)
    if reader.accepts("set", "default"):
        return _read_default(reader, path)
    if reader.accepts("drop", "default"):
        return ColumnEdit(path, drops_default=True)
    if reader.accepts("sync", "identity"):
        return ColumnEdit(path, syncs_identity=True)
    place = read_place(reader)
    if place is not None:
        return ColumnEdit(path, place=place)
    if reader.sees("comment") and not reader.tokens.is_name(reader.index + 1):
        reader.require("comment")
        return ColumnEdit(path, comment=reader.string())
    if not is_change:
        raise reader.unexpected(
            "TYPE, COMMENT, FIRST, AFTER, SET or DROP NOT NULL or DEFAULT, or SYNC IDENTITY"
        )
    return _read_change(reader, path)


def _read_default(reader: StatementReader, path: ColumnPath) -> ColumnEdit:
    begin = reader.index
    _skip_default(reader)
    stop, reader.index = reader.index, begin
    return ColumnEdit(path, default=reader.piece(stop, Place.EXPRESSION))


def _read_type(reader: StatementReader) -> str:
    begin = reader.index
    skip_type(reader)
    return reader.tokens.slice(begin, reader.index)


def _read_change(reader: StatementReader, path: ColumnPath) -> ColumnEdit:
    """``b BIGINT [NOT NULL] [COMMENT '…'] [FIRST | AFTER c]``."""
    new_name = reader.name("the name of the column again, and its type")
    reader.accepts(":")
    type_ = _read_type(reader)
    nullable = False if reader.accepts("not", "null") else None
    comment = reader.string() if reader.accepts("comment") else None
    return ColumnEdit(path, new_name, type_, nullable, comment, read_place(reader))
