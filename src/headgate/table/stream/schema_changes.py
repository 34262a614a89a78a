"""May a stream go on, if the columns of its table are others than those it reads? Not always.

A stream reads in the columns that the table has when the query starts. Versions before that may have fewer
columns, or narrower types. A version after that with other columns stops the query; once it is started again
it reads in those.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from headgate.errors import SchemaMismatch
from headgate.protocol.actions import Metadata, Version
from headgate.protocol.schema import column_mapping, evolution
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.column_mapping import ColumnMappingMode
from headgate.protocol.schema.types import Array, DataType, Field, Map, Struct

OTHER_TABLE = "DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE"


@dataclass(frozen=True, slots=True)
class ReadColumns:
    """In which columns a stream reads: those of its table at a version."""

    metadata: Metadata
    version: Version


def check_metadata(found: Metadata, version: int, read: ReadColumns) -> None:
    """That rows of a version, at which this is the metadata, can be read in the columns of the stream."""
    if version > read.version:
        _check_same_columns(found, version, read)
    else:
        _check_readable(found, version, read)


def has_same_columns(found: Metadata, read: ReadColumns) -> bool:
    """Whether the columns are those in which a stream reads."""
    return _columns(found) == _columns(read.metadata)


def column_names(metadata: Metadata) -> list[str]:
    """The names of a table's columns."""
    return [column.name for column in schema_json.parse(metadata.schema_string).fields]


class ColumnChange(Enum):
    """What can be done to a column that a query knows."""

    DROP = "drop"
    RENAME = "rename"
    TYPE = "type change"


def column_changes(before: Metadata, after: Metadata) -> Iterator[tuple[ColumnChange, str]]:
    """What was done to columns that were there before, each by its old name."""
    mode = column_mapping.mapping_mode(after)
    if mode is not column_mapping.mapping_mode(before):  # where mapping begins, names stay
        mode = ColumnMappingMode.NONE
    was, now = (schema_json.parse(metadata.schema_string) for metadata in (before, after))
    yield from _struct_changes(was, now, mode, "")


def _struct_changes(
    was: Struct, now: Struct, mode: ColumnMappingMode, where: str
) -> Iterator[tuple[ColumnChange, str]]:
    known = {_identity(column, mode): column for column in now.fields}
    for column in was.fields:
        path, found = f"{where}{column.name}", known.get(_identity(column, mode))
        if found is None:
            yield ColumnChange.DROP, path
            continue
        if found.name != column.name:
            yield ColumnChange.RENAME, path
        yield from _type_changes(column.type, found.type, mode, path)


def _type_changes(
    was: DataType, now: DataType, mode: ColumnMappingMode, path: str
) -> Iterator[tuple[ColumnChange, str]]:
    match was, now:
        case Struct(), Struct():
            yield from _struct_changes(was, now, mode, f"{path}.")
        case Array(one, _), Array(other, _):
            yield from _type_changes(one, other, mode, f"{path}.element")
        case Map(key, value, _), Map(other_key, other_value, _):
            yield from _type_changes(key, other_key, mode, f"{path}.key")
            yield from _type_changes(value, other_value, mode, f"{path}.value")
        case _:
            if was != now:
                yield ColumnChange.TYPE, path


def _check_same_columns(found: Metadata, version: int, read: ReadColumns) -> None:
    if has_same_columns(found, read):
        return
    raise SchemaMismatch(
        f"version {version} changed the columns of the table, and the stream reads it as it was at version "
        f"{read.version}: start the query again, and it goes on in the new columns",
        code="DELTA_SCHEMA_CHANGED_WITH_VERSION", version=version,
    )  # fmt: skip


def _check_readable(found: Metadata, version: int, read: ReadColumns) -> None:
    why = _lost_column(found, read.metadata) or evolution.unreadable_column(found, read.metadata)
    if why is not None:
        raise SchemaMismatch(
            f"since version {version}, which the stream has yet to read, {why}; a stream reads all versions "
            "in the same columns, so it cannot go on from there. Start a new one, with a new checkpoint and "
            "a starting version after that change, or read the versions before it with table.read(version=…)",
            code="DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE", version=version,
        )  # fmt: skip


def _lost_column(before: Metadata, after: Metadata) -> str | None:
    """A column of older files that is called otherwise, or is gone."""
    was, now = (schema_json.parse(metadata.schema_string) for metadata in (before, after))
    mode = column_mapping.mapping_mode(after)
    return _lost(
        was, now, mode if mode is column_mapping.mapping_mode(before) else ColumnMappingMode.NONE, ""
    )


def _lost(was: Struct, now: Struct, mode: ColumnMappingMode, where: str) -> str | None:
    known = {column.name.lower(): column for column in now.fields}
    for column in was.fields:
        found = known.get(column.name.lower())
        if found is None or _identity(found, mode) != _identity(column, mode):
            return f"the column {where + column.name!r} is gone or has another name"
        if isinstance(column.type, Struct) and isinstance(found.type, Struct):
            inner = _lost(column.type, found.type, mode, f"{where}{column.name}.")
            if inner is not None:
                return inner
    return None


def _identity(column: Field, mode: ColumnMappingMode) -> str:
    return column_mapping.physical_name(column, mode).lower()


def _columns(metadata: Metadata) -> object:
    """What of the columns matters to whoever reads them."""
    return _shape(schema_json.parse(metadata.schema_string), column_mapping.mapping_mode(metadata))


def _shape(data_type: DataType, mode: ColumnMappingMode) -> object:
    match data_type:
        case Struct(fields):
            return tuple(
                (column.name, column_mapping.physical_name(column, mode), _shape(column.type, mode))
                for column in fields
            )
        case Array(element, _):
            return ("array", _shape(element, mode))
        case Map(key, value, _):
            return ("map", _shape(key, mode), _shape(value, mode))
        case _:
            return data_type
