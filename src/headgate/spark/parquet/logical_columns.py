"""From the columns of data files to those of the table: other names, other types, absent parts."""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import DataType as SparkType
from pyspark.sql.types import StructType

from headgate.protocol.metadata import char_varchar, type_ddl
from headgate.protocol.metadata.char_varchar import TYPE_STRING_KEY
from headgate.protocol.schema import column_mapping
from headgate.protocol.schema.column_mapping import ColumnMappingMode
from headgate.protocol.schema.types import Array, DataType, Field, Map, Primitive, Struct
from headgate.spark.parquet.file_layouts import VOID
from headgate.spark.session import internal_names
from headgate.spark.session import schema as spark_schema

# Spark tells a struct without values from a null one by its fields, so it must be asked for one.
_NO_FIELD = "no_field"
_COLLATIONS = "__COLLATIONS"
_INTERNAL = ("delta.", "parquet.field.", "CURRENT_DEFAULT", "EXISTS_DEFAULT")


def visible_schema(schema: Struct) -> Struct:
    """The columns as a user sees them: nullable, with comments and the like but no orders to writers."""
    return Struct(
        tuple(
            Field(field.name, _visible_type(field.type), metadata=_visible_metadata(field))
            for field in schema.fields
        )
    )


def matches_layout(schema: Struct, layout: Struct) -> bool:
    """Whether files of ``layout`` have just the columns of ``schema``."""
    return not _has_void(layout) and column_mapping.physical_schema(schema, ColumnMappingMode.NONE) == layout


def read_schema(layout: Struct) -> StructType:
    """What to ask of files with this layout."""
    return spark_schema.to_spark(_stored_struct(layout))


def to_logical(column: Column, found: DataType, wanted: DataType) -> Column:
    """A column, or a part of one, as the table has it; null where files do not store it."""
    match found, wanted:
        case Primitive("void"), _:
            return F.lit(None).cast(spark_type(wanted))
        case Struct(parts), Struct(fields) if not _is_same_type(found, wanted):
            rebuilt = F.struct(
                *(
                    to_logical(column.getField(part.name), part.type, field.type).alias(
                        field.name, metadata=dict(field.metadata)
                    )
                    for part, field in zip(parts, fields, strict=True)
                )
            )
            return F.when(column.isNotNull(), rebuilt)
        case Array(part, _), Array(element, _) if _has_void(part):
            return F.transform(column, lambda item: to_logical(item, part, element))
        case Map(old_key, old_value, _), Map(key, value, _) if _has_void(found):
            keys = F.transform(F.map_keys(column), lambda item: to_logical(item, old_key, key))
            values = F.transform(F.map_values(column), lambda item: to_logical(item, old_value, value))
            return F.map_from_arrays(keys, values)
        case _ if _is_same_type(found, wanted):
            return column
        case _:
            return column.cast(spark_type(wanted))


def spark_type(data_type: DataType) -> SparkType:
    """The type as Spark has it."""
    return spark_schema.to_spark(Struct((Field("", data_type),))).fields[0].dataType


def with_collation(column: Column, field: Field) -> Column:
    """A column whose texts compare as the field says: in Spark that is part of their type, in the log not."""
    return (
        column.cast(spark_schema.to_spark(Struct((field,))).fields[0].dataType)
        if _is_collated(field)
        else column
    )


def _is_collated(field: Field) -> bool:
    return _COLLATIONS in field.metadata or _has_collations(field.type)


def _has_collations(data_type: DataType) -> bool:
    match data_type:
        case Struct(fields):
            return any(map(_is_collated, fields))
        case Array(element, _):
            return _has_collations(element)
        case Map(key, value, _):
            return _has_collations(key) or _has_collations(value)
        case Primitive():
            return False


def _visible_type(data_type: DataType) -> DataType:
    match data_type:
        case Struct():
            return visible_schema(data_type)
        case Array(element, _):
            return Array(_visible_type(element), contains_null=True)
        case Map(key, value, _):
            return Map(_visible_type(key), _visible_type(value), value_contains_null=True)
        case Primitive():
            return data_type


def _visible_metadata(field: Field) -> Mapping[str, Any]:
    told = {key: value for key, value in field.metadata.items() if not key.startswith(_INTERNAL)}
    if TYPE_STRING_KEY not in told or isinstance(field.type, Primitive):
        return told
    # Spark makes structs with just the fields that the text has, which may be older than the column.
    declared = char_varchar.declared_type(field)
    others = {key: value for key, value in told.items() if key != TYPE_STRING_KEY}
    return others if declared is None else {**others, TYPE_STRING_KEY: type_ddl.type_text(declared)}


def _stored_struct(layout: Struct, *, nested: bool = False) -> Struct:
    kept = tuple(Field(field.name, _stored_type(field.type)) for field in layout.fields if field.type != VOID)
    return Struct(kept if kept or not nested else (_absent_field(layout),))


def _absent_field(layout: Struct) -> Field:
    prefix = internal_names.free_prefix(
        internal_names.DEFAULT_PREFIX, (field.name for field in layout.fields)
    )
    return Field(f"{prefix}{_NO_FIELD}", Primitive("boolean"))


def _stored_type(data_type: DataType) -> DataType:
    match data_type:
        case Struct():
            return _stored_struct(data_type, nested=True)
        case Array(element, _):
            return Array(_stored_type(element), contains_null=True)
        case Map(key, value, _):
            return Map(_stored_type(key), _stored_type(value), value_contains_null=True)
        case Primitive():
            return data_type


def _is_same_type(found: DataType, wanted: DataType) -> bool:
    return matches_layout(Struct((Field("", wanted),)), Struct((Field("", found),)))


def _has_void(data_type: DataType) -> bool:
    match data_type:
        case Struct(fields):
            return any(_has_void(field.type) for field in fields)
        case Array(element, _):
            return _has_void(element)
        case Map(key, value, _):
            return _has_void(key) or _has_void(value)
        case Primitive():
            return data_type == VOID
