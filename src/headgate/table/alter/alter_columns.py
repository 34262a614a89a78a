"""Changing the columns of a table without touching its rows, one commit each."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from headgate.protocol.actions import Metadata, Version
from headgate.protocol.metadata import alter_columns, stored_expressions
from headgate.protocol.metadata.alter_columns import After, ColumnPosition, First
from headgate.protocol.schema import column_ids
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.column_path import Path, format_path
from headgate.protocol.schema.types import DataType, Field, Struct
from headgate.table.alter import set_properties
from headgate.table.opened_table import OpenedTable
from headgate.table.read.snapshot import Snapshot
from headgate.table.transaction import Operation


def add_columns(
    table: OpenedTable, columns: Sequence[Field], *, parent: Path = (), place: ColumnPosition = None
) -> Version:
    """Add columns, null in the rows that are there; the version that has them."""
    base = table.snapshot()
    told = [
        {"column": schema_json.to_json_value(Struct((column,)))["fields"][0], **_position(place, parent)}
        for column in columns
    ]
    metadata = alter_columns.add_columns(base.state, parent, columns, place)
    return _commit(table, base, Operation("ADD COLUMNS", {"columns": _json(told)}), metadata)


def rename_column(table: OpenedTable, path: Path, to: str) -> Version:
    """Give a column another name; the version from which it has it."""
    base = table.snapshot()
    paths = {"oldColumnPath": format_path(path), "newColumnPath": format_path((*path[:-1], to))}
    return _commit(
        table, base, Operation("RENAME COLUMN", paths), alter_columns.rename_column(base.state, path, to)
    )


def drop_columns(table: OpenedTable, paths: Iterable[Path]) -> Version:
    """Take columns away; the version without them."""
    base, paths = table.snapshot(), tuple(paths)
    operation = Operation("DROP COLUMNS", {"columns": _json(list(map(format_path, paths)))})
    return _commit(table, base, operation, alter_columns.drop_columns(base.state, paths))


def move_column(table: OpenedTable, path: Path, place: First | After) -> Version:
    """Put a column elsewhere in its struct; the version in which it is there."""
    base = table.snapshot()
    told = {"column": _json({"name": format_path(path)}), **_position(place, path[:-1])}
    return _commit(
        table, base, Operation("CHANGE COLUMN", told), alter_columns.move_column(base.state, path, place)
    )


def change_column_type(table: OpenedTable, path: Path, to: DataType) -> Version:
    """Give a column a wider type; the version from which it has it."""
    base = table.snapshot()
    told = schema_json.to_json_value(Struct((Field(format_path(path), to),)))["fields"][0]["type"]
    return _commit(
        table,
        base,
        _column_operation(path, {"type": told}),
        alter_columns.change_column_type(base.state, path, to),
    )


def drop_not_null(table: OpenedTable, path: Path) -> Version:
    """Let a column be null from now on; the version from which it may be."""
    base = table.snapshot()
    metadata = alter_columns.drop_not_null(base.state, path)
    return _commit(table, base, _column_operation(path, {"nullable": True}), metadata)


def set_column_comment(table: OpenedTable, path: Path, comment: str | None) -> Version:
    """Set a column's comment, or remove it with None; the version that says so."""
    base = table.snapshot()
    metadata = alter_columns.set_column_comment(base.state, path, comment)
    return _commit(table, base, _column_operation(path, {"comment": comment}), metadata)


def set_column_default(table: OpenedTable, path: Path, expression: str | None) -> Version:
    """Say what a column is by default, or with None nothing; the version that says so."""
    base = table.snapshot()
    metadata = alter_columns.set_column_default(base.state, path, expression)
    stored_expressions.check_new_expressions(metadata, base.state.metadata)
    return _commit(table, base, _column_operation(path, {"default": expression}), metadata)


def _column_operation(path: Path, what: Mapping[str, object]) -> Operation:
    return Operation("CHANGE COLUMN", {"column": _json({"name": format_path(path), **what})})


def _commit(table: OpenedTable, base: Snapshot, operation: Operation, metadata: Metadata) -> Version:
    return set_properties.change_metadata(
        table, base, operation, column_ids.assign_column_ids(metadata, table.world.uuid)
    )


def _position(place: ColumnPosition, parent: Path) -> Mapping[str, str]:
    match place:
        case First():
            return {"position": "FIRST"}
        case After(name):
            return {"position": f"AFTER {format_path((*parent, name))}"}
        case None:
            return {}


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
