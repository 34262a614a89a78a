"""How the columns of a table lie in its data files: under which names, in which types.

A layout is a schema with the fields of the table's schema, in the same order, and behind them
those that track rows, if asked for. Each has the name and the type to read it by, or the type
void if the file does not store it. Most layouts follow from the log alone. Where they do not,
the footers of the files tell.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pyarrow as pa

from headgate.errors import CorruptLog, ObjectNotFound, UnsupportedFeature
from headgate.protocol.schema import column_mapping, schema_contents
from headgate.protocol.schema.column_mapping import ColumnMappingMode
from headgate.protocol.schema.types import Array, DataType, Field, Map, Primitive, Struct
from headgate.spark.parquet import file_schema, footers
from headgate.spark.session import internal_names
from headgate.spark.session.internal_names import InternalNames
from headgate.table.opened_table import OpenedTable
from headgate.table.read import file_paths

VOID = Primitive("void")
_READERS = 16
_FIELD_ID = b"PARQUET:field_id"
_INTEGERS = {8: "byte", 16: "short", 32: "integer", 64: "long"}


@dataclass(frozen=True, slots=True)
class ScanColumns:
    """The columns of a table, and what tells them apart in files."""

    schema: Struct
    partitioned_by: frozenset[str]
    mode: ColumnMappingMode
    tracked: tuple[str, ...] = ()
    """Names in files of the ids and commit versions of rows, if these are asked for."""
    located: bool = False
    """Whether each row is to say which of the files it is from, and which of its rows it is."""
    named: InternalNames | None = None
    """What is said of rows beside their columns, if names must be free beside other columns too."""

    @property
    def own(self) -> InternalNames:
        """The names of what is said of rows beside their columns."""
        return self.named or internal_names.free_names(self.schema)

    @property
    def usual(self) -> Struct:
        """The layout of a file of which only the log is known."""
        return self.layout(column_mapping.physical_schema(self.schema, self.mode))

    def layout(self, stored: Struct) -> Struct:
        """The layout of a file that stores the columns of the table so."""
        return Struct(
            (
                *(
                    Field(found.name, VOID) if self.is_constant(field) else found
                    for field, found in zip(self.schema.fields, stored.fields, strict=True)
                ),
                *(Field(name, Primitive("long")) for name in self.tracked),
            )
        )

    @property
    def needs_footers(self) -> bool:
        """Whether names or types differ between files in a way that Spark cannot cope with."""
        # Spark reads most types of older files as wider ones, but not every integer as a decimal.
        return self.mode is ColumnMappingMode.ID or any(
            _was_integer(field) for field in schema_contents.all_fields(self.schema)
        )

    def is_constant(self, field: Field) -> bool:
        """Whether a column has one value per file, which is in the log."""
        return field.name in self.partitioned_by


def read_layouts(table: OpenedTable, files: pa.Table, columns: ScanColumns) -> list[Struct]:
    """The layouts of data files, by their footers, each of which is fetched once while the table is open."""
    usual = columns.usual

    def layout(path: str, size: int) -> Struct:
        found = _schema(table, path, size)
        # Without one reading the file will fail, with Spark's own words.
        return usual if found is None else file_layout(columns, found, path)

    with ThreadPoolExecutor(_READERS) as pool:
        return list(pool.map(layout, files["path"].to_pylist(), files["size"].to_pylist()))


def _schema(table: OpenedTable, path: str, size: int) -> pa.Schema | None:
    known = table.file_schemas.get((path, size))
    if known is not None:
        return known
    try:
        footer = footers.read(*file_paths.locate_object(table.store, table.location, path))
        found = None if footer is None else footer.schema.to_arrow_schema()
    except (ObjectNotFound, pa.ArrowException):
        return None
    if found is not None:
        table.file_schemas.put((path, size), found)
    return found


def file_layout(columns: ScanColumns, file: pa.Schema, path: str) -> Struct:
    """The layout of a file with this schema."""
    by_id = columns.mode is ColumnMappingMode.ID
    if by_id and not any(_FIELD_ID in (field.metadata or {}) for field in file):
        raise UnsupportedFeature(
            f"the table finds its columns by field ids, and the data file {path} has none: "
            "have its writer rewrite the file",
            code="DELTA_UNSUPPORTED_FEATURES_FOR_READ",
            features=("columnMapping",), operation="read",
        )  # fmt: skip
    return columns.layout(_struct(columns.schema.fields, list(file), columns.mode, path))


def _struct(fields: Sequence[Field], file: Sequence[pa.Field], mode: ColumnMappingMode, path: str) -> Struct:
    parts = []
    for field in fields:
        found = _find_field(field, file, mode, path)
        parts.append(
            Field(column_mapping.physical_name(field, mode), VOID)
            if found is None
            else Field(found.name, _type(field.type, found.type, mode, path))
        )
    return Struct(tuple(parts))


def _find_field(
    field: Field, file: Sequence[pa.Field], mode: ColumnMappingMode, path: str
) -> pa.Field | None:
    number = column_mapping.field_id(field) if mode is ColumnMappingMode.ID else None
    if number is not None:
        wanted = str(number).encode()
        found = [part for part in file if (part.metadata or {}).get(_FIELD_ID) == wanted]
    else:
        name = column_mapping.physical_name(field, mode)
        found = [part for part in file if part.name == name]
        found = found or [part for part in file if part.name.lower() == name.lower()]
    if len(found) > 1:
        raise CorruptLog(
            f"the data file {path} has column {field.name!r} of the table {len(found)} times",
            code="DELTA_DUPLICATE_COLUMNS_FOUND",
        )
    return found[0] if found else None


def _type(wanted: DataType, found: pa.DataType, mode: ColumnMappingMode, path: str) -> DataType:
    if isinstance(found, pa.BaseExtensionType):
        return _type(wanted, found.storage_type, mode, path)
    match wanted:
        case Struct(fields) if pa.types.is_struct(found):
            return _struct(fields, list(found), mode, path)
        case Array(element, _) if file_schema.is_list(found):
            return Array(_type(element, found.value_type, mode, path), contains_null=True)
        case Map(key, value, _) if pa.types.is_map(found):
            return Map(
                _type(key, found.key_type, mode, path),
                _type(value, found.item_type, mode, path),
                value_contains_null=True,
            )
        case Primitive(name) if name.startswith("decimal") and pa.types.is_signed_integer(found):
            return Primitive(_INTEGERS[found.bit_width])
        case _:
            return wanted


def _was_integer(field: Field) -> bool:
    changes = field.metadata.get("delta.typeChanges") or ()
    return any(
        str(change.get("toType")).startswith("decimal") and change.get("fromType") in _INTEGERS.values()
        for change in changes
    )
