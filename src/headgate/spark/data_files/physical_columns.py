"""The rows of a DataFrame as a table's files store them: which columns, under which names, checked.

First come the table's columns under their own names: given ones fitted, absent ones computed, by
default, or null. The table's rules are conditions on these. Then they get the names and field ids
of files; partition columns become the texts that folders are named after, and void ones go.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from headgate.errors import SchemaMismatch
from headgate.protocol.actions import Metadata
from headgate.protocol.features import identity_columns
from headgate.protocol.metadata.char_varchar import TYPE_STRING_KEY
from headgate.protocol.metadata.stored_expressions import DEFAULT, GENERATED
from headgate.protocol.schema import column_mapping, enforcement, partition_values
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.column_mapping import ColumnMappingMode
from headgate.protocol.schema.types import Array, DataType, Field, Map, Primitive, Struct, as_nullable
from headgate.spark.data_files import fit_schema, partition_folders
from headgate.spark.data_files.partition_folders import PartitionColumn
from headgate.spark.parquet import logical_columns
from headgate.spark.rules import char_varchar, checks, stored_sql
from headgate.spark.rules import identity_columns as spark_identity
from headgate.spark.rules.checks import RowConstraint
from headgate.spark.session import schema as spark_schema

_FIELD_ID = "parquet.field.id"
_VOID = Primitive("void")


@dataclass(frozen=True, slots=True)
class PhysicalRows:
    """Rows ready to be written, and how they are."""

    rows: DataFrame
    stored: Struct
    """The columns of the files, in their order and under their names."""
    partitioned_by: tuple[PartitionColumn, ...]
    rules: tuple[RowConstraint, ...]


def to_physical(
    df: DataFrame,
    metadata: Metadata,
    *,
    extra: Sequence[Field] = (),
    rules: Sequence[RowConstraint] = (),
    checked: bool = True,
) -> PhysicalRows:
    """The rows of ``df``, whose columns fit those of the table, as its files store them.

    The table's rules, if ``checked``, and those given are enforced. Columns of ``df`` with exactly the
    names of ``extra`` are stored too, under these names.
    """
    schema = schema_json.parse(metadata.schema_string)
    logical = _with_empty_as_null(_with_table_columns(df, schema, extra), schema, metadata)
    rules = (*(checks.row_constraints(schema, metadata) if checked else ()), *rules)
    mode = column_mapping.mapping_mode(metadata)
    partitioned = _partition_columns(schema, metadata, mode)
    folders = {column.name for column in partitioned}
    written = [field for field in without_void(schema).fields if field.name not in folders]
    _check_stored(written)
    chosen = [_stored_column(field, mode) for field in written]
    chosen += [spark_schema.column(field.name) for field in extra]
    if rules:
        name = written[0].name
        chosen[0] = _stored_column(written[0], mode, checks.enforce(spark_schema.column(name), rules, schema))
    chosen += [
        partition_folders.folder_text(_without_collation(column.name, column.type), column.type).alias(
            column.folder
        )
        for column in partitioned
    ]
    stored = Struct((*(_stored_field(field, mode) for field in written), *extra))
    return PhysicalRows(logical.select(*chosen), stored, partitioned, rules)


def _check_stored(written: Sequence[Field]) -> None:
    """Refuse rows of which files could store nothing, or no reader would read what they store."""
    enforcement.check_depth(written)
    empty = [field.name for field in written if _is_empty(field.type)]
    if empty or not written:
        raise SchemaMismatch(
            f"{f'column {empty[0]!r}' if empty else 'the table'} has parts of type void only, of which data "
            "files can store nothing: cast one to a type",
            code="DELTA_EMPTY_DATA",
        )


def _is_empty(data_type: DataType) -> bool:
    match data_type:
        case Struct(fields):
            return not fields or any(_is_empty(field.type) for field in fields)
        case Array(element, _):
            return _is_empty(element)
        case Map(key, value, _):
            return _is_empty(key) or _is_empty(value)
        case Primitive():
            return False


def without_void(schema: Struct) -> Struct:
    """The columns that files can store: none of type void, at any level."""
    return Struct(
        tuple(
            replace(field, type=_without_void(field.type)) for field in schema.fields if field.type != _VOID
        )
    )


def _with_table_columns(df: DataFrame, schema: Struct, extra: Sequence[Field]) -> DataFrame:
    incoming = spark_schema.schema_without_void(df)
    wanted = without_void(as_nullable(schema))
    kept = [spark_schema.column(field.name) for field in extra]
    chosen = [incoming_or_default(field, incoming) for field in wanted.fields]
    voids = [F.lit(None).alias(field.name) for field in schema.fields if field.type == _VOID]
    absent = {
        name: of
        for name, of in identity_columns.columns_of_schema(wanted).items()
        if incoming.find(name) is None
    }
    rows = spark_identity.fill_identity(df.select(*chosen, *voids, *kept), absent)
    computed = {
        field.name: stored_sql.generation_expression(field).cast(logical_columns.spark_type(field.type))
        for field in wanted.fields
        if GENERATED in field.metadata and incoming.find(field.name) is None
    }
    return rows.withColumns(computed) if computed else rows


def _with_empty_as_null(rows: DataFrame, schema: Struct, metadata: Metadata) -> DataFrame:
    """The rows before any rule looks at them: the log does not tell an empty partition value from null."""
    fields = (schema.find(name) for name in metadata.partition_columns)
    emptied = {
        field.name: char_varchar.with_declared_type(F.when(F.length(column) > 0, column), field)
        for field in fields
        if field is not None and GENERATED not in field.metadata
        if partition_values.has_empty_values(field.type)
        for column in [spark_schema.column(field.name)]
    }
    return rows.withColumns(emptied) if emptied else rows


def incoming_or_default(field: Field, incoming: Struct) -> Column:
    """A column of the table as it will be stored, from rows with these columns, which may not have it."""
    found = incoming.find(field.name)
    if found is not None:
        fitted = fit_schema.fit_column(spark_schema.column(found.name), found.type, field.type)
        return char_varchar.with_declared_type(char_varchar.pad_and_check_length(fitted, field), field)
    if DEFAULT in field.metadata:
        default = stored_sql.default_expression(field).cast(logical_columns.spark_type(field.type))
        return char_varchar.with_declared_type(char_varchar.pad_and_check_length(default, field), field)
    return char_varchar.with_declared_type(F.lit(None).cast(logical_columns.spark_type(field.type)), field)


def _partition_columns(
    schema: Struct, metadata: Metadata, mode: ColumnMappingMode
) -> tuple[PartitionColumn, ...]:
    found = [(schema.find(name), name) for name in metadata.partition_columns]
    stored = [column_mapping.physical_name(field, mode) for field in schema.fields]
    return tuple(
        PartitionColumn(
            field.name,
            physical := column_mapping.physical_name(field, mode),
            field.type,
            partition_folders.folder_name(
                position, physical, stored, mapped=mode is not ColumnMappingMode.NONE
            ),
        )
        for position, (field, _) in enumerate(found)
        if field is not None
    )


def _without_collation(name: str, data_type: DataType) -> Column:
    """The column without how its texts compare, which is not for files to say."""
    return spark_schema.column(name).cast(logical_columns.spark_type(data_type))


def _stored_column(field: Field, mode: ColumnMappingMode, column: Column | None = None) -> Column:
    if column is None:
        told = TYPE_STRING_KEY in field.metadata
        column = _without_collation(field.name, field.type) if told else spark_schema.column(field.name)
    if mode is ColumnMappingMode.NONE:
        return column.alias(field.name)
    stored = _stored_field(field, mode)
    return column.cast(logical_columns.spark_type(stored.type)).alias(
        stored.name, metadata=dict(stored.metadata)
    )


def _stored_field(field: Field, mode: ColumnMappingMode) -> Field:
    identity: Mapping[str, Any] = {}
    if mode is not ColumnMappingMode.NONE and (number := column_mapping.field_id(field)) is not None:
        identity = {_FIELD_ID: number}
    name = column_mapping.physical_name(field, mode)
    return Field(name, _stored_type(field.type, mode), metadata=identity)


def _stored_type(data_type: DataType, mode: ColumnMappingMode) -> DataType:
    match data_type:
        case Struct(fields):
            return Struct(tuple(_stored_field(field, mode) for field in fields))
        case Array(element, _):
            return Array(_stored_type(element, mode), contains_null=True)
        case Map(key, value, _):
            return Map(_stored_type(key, mode), _stored_type(value, mode), value_contains_null=True)
        case Primitive():
            return data_type


def _without_void(data_type: DataType) -> DataType:
    match data_type:
        case Struct():
            return without_void(data_type)
        case Array(element, contains_null):
            return Array(_without_void(element), contains_null)
        case Map(key, value, contains_null):
            return Map(_without_void(key), _without_void(value), contains_null)
        case Primitive():
            return data_type
