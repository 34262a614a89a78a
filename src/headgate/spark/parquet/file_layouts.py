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

from headgate.errors import ObjectNotFound
from headgate.protocol.schema import arrow_kinds, column_mapping, schema_contents
from headgate.protocol.schema.column_mapping import ColumnMappingMode
from headgate.protocol.schema.types import Array, DataType, Field, Map, Primitive, Struct
from headgate.spark.parquet import footers
from headgate.spark.session import internal_names
from headgate.spark.session.internal_names import InternalNames
from headgate.table.opened_table import OpenedTable
from headgate.table.read import file_paths

VOID = Primitive("void")
_READERS = 16
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
    column_mapping.check_field_ids(file, columns.mode, path)
    return columns.layout(_struct(columns.schema.fields, list(file), columns.mode, path))


def _struct(fields: Sequence[Field], file: Sequence[pa.Field], mode: ColumnMappingMode, path: str) -> Struct:
    parts = []
    for field in fields:
        place = column_mapping.find_field(field, file, mode, path)
        parts.append(
            Field(column_mapping.physical_name(field, mode), VOID)
            if place is None
            else Field(file[place].name, _type(field.type, file[place].type, mode, path))
        )
    return Struct(tuple(parts))


def _type(wanted: DataType, found: pa.DataType, mode: ColumnMappingMode, path: str) -> DataType:
    if isinstance(found, pa.BaseExtensionType):
        return _type(wanted, found.storage_type, mode, path)
    match wanted:
        case Struct(fields) if pa.types.is_struct(found):
            return _struct(fields, list(found), mode, path)
        case Array(element, _) if arrow_kinds.is_list(found):
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
