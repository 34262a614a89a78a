"""Column mapping: under which names the log and the data files know the columns of a table.

With ``delta.columnMapping.mode = name`` the column ``order id`` has the metadata

    {"delta.columnMapping.id": 1, "delta.columnMapping.physicalName": "col-5f42"}

Data files, statistics and partition values call it ``col-5f42``, also after it was renamed. A nested
``a.b`` has a name at each level: its statistics are at ``col-77.col-9c``.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, Protocol

from headgate.errors import CorruptLog, UnsupportedFeature
from headgate.protocol import property_values
from headgate.protocol.actions import Metadata
from headgate.protocol.schema.types import Array, DataType, Field, Map, Primitive, Struct

COLUMN_ID = "delta.columnMapping.id"
PHYSICAL_NAME = "delta.columnMapping.physicalName"
_FIELD_ID = b"PARQUET:field_id"

Path = tuple[str, ...]


class ColumnMappingMode(StrEnum):
    """How columns are found in a data file."""

    NONE = "none"
    NAME = "name"
    ID = "id"


class FileField(Protocol):
    """A field as a data file has it, with its id as Arrow reads it: ``{b"PARQUET:field_id": b"7"}``."""

    @property
    def name(self) -> str: ...

    @property
    def metadata(self) -> Mapping[bytes, bytes] | None: ...


def mapping_mode(metadata: Metadata) -> ColumnMappingMode:
    """The mode of a table."""
    text = property_values.text(metadata, property_values.COLUMN_MAPPING_MODE).lower()
    if text not in tuple(ColumnMappingMode):
        raise UnsupportedFeature(
            f"the table maps its columns by {text!r}; Headgate knows 'none', 'name' and 'id'",
            features=("columnMapping",), operation="read",
        )  # fmt: skip
    return ColumnMappingMode(text)


def physical_schema(schema: Struct, by: ColumnMappingMode) -> Struct:
    """The same columns in the same order under their physical names, without metadata, all nullable."""
    return Struct(
        tuple(Field(physical_name(field, by), _physical_type(field.type, by)) for field in schema.fields)
    )


def physical_name(field: Field, by: ColumnMappingMode) -> str:
    """The name of a column in statistics, partition values and, unless the mode is id, data files."""
    if by is ColumnMappingMode.NONE:
        return field.name
    name = field.metadata.get(PHYSICAL_NAME)
    if not isinstance(name, str):
        raise _unmapped_error(field, PHYSICAL_NAME)
    return name


def field_id(field: Field) -> int | None:
    """The id of a column in data files; None if it is none of the table's own."""
    found = field.metadata.get(COLUMN_ID, "")
    if found is not None and not isinstance(found, int):
        raise _unmapped_error(field, COLUMN_ID)
    return found


def find_field(field: Field, file: Sequence[FileField], mode: ColumnMappingMode, path: str) -> int | None:
    """Where a column, or a part of one, is among the fields of the file at ``path``; None if it has none.

    By its physical name, whose case may differ, or where the mode is id, by its id.
    """
    number = field_id(field) if mode is ColumnMappingMode.ID else None
    if number is not None:
        wanted = str(number).encode()
        found = [at for at, part in enumerate(file) if (part.metadata or {}).get(_FIELD_ID) == wanted]
    else:
        name = physical_name(field, mode)
        found = [at for at, part in enumerate(file) if part.name == name]
        found = found or [at for at, part in enumerate(file) if part.name.lower() == name.lower()]
    if len(found) > 1:
        raise CorruptLog(
            f"the data file {path} has column {field.name!r} of the table {len(found)} times",
            code="DELTA_DUPLICATE_COLUMNS_FOUND",
        )
    return found[0] if found else None


def check_field_ids(file: Iterable[FileField], mode: ColumnMappingMode, path: str) -> None:
    """Refuse a file without field ids where columns are found by these."""
    if mode is ColumnMappingMode.ID and not any(_FIELD_ID in (part.metadata or {}) for part in file):
        raise UnsupportedFeature(
            f"the table finds its columns by field ids, and the data file {path} has none: "
            "have its writer rewrite the file",
            code="DELTA_UNSUPPORTED_FEATURES_FOR_READ",
            features=("columnMapping",), operation="read",
        )  # fmt: skip


def mapped_to_own_name(name: str) -> Mapping[str, Any]:
    """The metadata of a column that every mode finds under its own name, as an operation may add one."""
    return {PHYSICAL_NAME: name, COLUMN_ID: None}


def physical_paths(schema: Struct, by: ColumnMappingMode) -> Mapping[Path, Path]:
    """For every column, nested ones too, its path in statistics; nothing where the two are the same."""
    return {} if by is ColumnMappingMode.NONE else dict(_paths(schema, by, (), ()))


def _paths(schema: Struct, by: ColumnMappingMode, logical: Path, stored: Path) -> Iterator[tuple[Path, Path]]:
    for field in schema.fields:
        ours, theirs = (*logical, field.name), (*stored, physical_name(field, by))
        yield ours, theirs
        if isinstance(field.type, Struct):
            yield from _paths(field.type, by, ours, theirs)


def _physical_type(data_type: DataType, by: ColumnMappingMode) -> DataType:
    match data_type:
        case Struct():
            return physical_schema(data_type, by)
        case Array(element, _):
            return Array(_physical_type(element, by), contains_null=True)
        case Map(key, value, _):
            return Map(_physical_type(key, by), _physical_type(value, by), value_contains_null=True)
        case Primitive():
            return data_type


def _unmapped_error(field: Field, key: str) -> CorruptLog:
    return CorruptLog(
        f"the table maps its columns, but column {field.name!r} has no {key}",
        code="DELTA_STATE_RECOVER_ERROR",
    )
