"""Which ids and physical names do the columns of a table with column mapping get, and keep?

An id is never given twice: ``delta.columnMapping.maxColumnId`` is the highest ever given, and only
rises. A column that is there keeps what it has, whatever it is called by now.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from headgate.errors import InvalidRequest
from headgate.protocol import property_values
from headgate.protocol.actions import Metadata
from headgate.protocol.schema import column_mapping
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.column_mapping import COLUMN_ID, PHYSICAL_NAME, ColumnMappingMode
from headgate.protocol.schema.types import Array, DataType, Field, Map, Primitive, Struct, with_structs

_KEYS = frozenset({COLUMN_ID, PHYSICAL_NAME, "parquet.field.id", "parquet.field.nested.ids"})


@dataclass(slots=True)
class _IdAssigner:
    """Gives ids, counting up."""

    highest: int
    name: Callable[[Field], str]

    def schema(self, schema: Struct) -> Struct:
        return Struct(tuple(map(self._field, schema.fields)))

    def _field(self, field: Field) -> Field:
        given = dict(field.metadata)
        if COLUMN_ID not in given:
            self.highest += 1
            given[COLUMN_ID] = self.highest
        if PHYSICAL_NAME not in given:
            given[PHYSICAL_NAME] = self.name(field)
        return replace(field, type=with_structs(field.type, self.schema), metadata=given)


def assign_column_ids(metadata: Metadata, uuid: Callable[[], str]) -> Metadata:
    """The metadata with an id and a physical name for each column that has none; nothing new otherwise.

    For columns that no data file has yet: their physical names are made up, so that a column that
    once had the same name is not taken for them.
    """
    if column_mapping.mapping_mode(metadata) is ColumnMappingMode.NONE:
        return metadata
    return _assign(metadata, lambda _: f"col-{uuid()}")


def assign_on_mode_change(before: Metadata, after: Metadata) -> Metadata:
    """The metadata ``after`` a change of properties, with what it takes if that maps the columns from now on.

    The files of such a table were written without mapping, so their columns keep the names they have.
    """
    modes = column_mapping.mapping_mode(before), column_mapping.mapping_mode(after)
    if modes[0] is modes[1]:
        return after
    if modes != (ColumnMappingMode.NONE, ColumnMappingMode.NAME):
        raise InvalidRequest(
            f"{property_values.COLUMN_MAPPING_MODE} cannot go from {modes[0].value!r} to {modes[1].value!r}, "
            "because the files of the table would have to be written anew: only 'none' can become 'name'; or "
            "make a new one",
            code="DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE",
        )
    bare = schema_json.render(without_column_ids(schema_json.parse(after.schema_string)))
    return _assign(msgspec.structs.replace(after, schema_string=bare), lambda field: field.name)


def keep_column_ids(schema: Struct, before: Struct) -> Struct:
    """The schema, columns that were there before, by their names, with the ids and names they had.

    Not those whose type is another: whoever goes by the id would take their values for those of before.
    """
    return Struct(tuple(_keep_field_ids(field, before.find(field.name)) for field in schema.fields))


def without_column_ids(schema: Struct) -> Struct:
    """The schema as if nothing were mapped: ids and names of another table mean nothing in this one."""
    return Struct(
        tuple(
            replace(
                field, type=with_structs(field.type, without_column_ids), metadata=_unmapped(field.metadata)
            )
            for field in schema.fields
        )
    )


def _assign(metadata: Metadata, name: Callable[[Field], str]) -> Metadata:
    schema = schema_json.parse(metadata.schema_string)
    giver = _IdAssigner(
        max(property_values.whole_number(metadata, property_values.MAX_COLUMN_ID), _max_id(schema)), name
    )
    mapped = giver.schema(schema)
    configuration = {**metadata.configuration, property_values.MAX_COLUMN_ID: str(giver.highest)}
    if mapped == schema and configuration == metadata.configuration:
        return metadata
    return msgspec.structs.replace(
        metadata, schema_string=schema_json.render(mapped), configuration=configuration
    )


def _max_id(data_type: DataType) -> int:
    match data_type:
        case Struct(fields):
            ids = (max(int(field.metadata.get(COLUMN_ID, 0)), _max_id(field.type)) for field in fields)
            return max(ids, default=0)
        case Array(element, _):
            return _max_id(element)
        case Map(key, value, _):
            return max(_max_id(key), _max_id(value))
        case Primitive():
            return 0


def _keep_field_ids(field: Field, before: Field | None) -> Field:
    if before is None:
        return field
    keys = (COLUMN_ID, PHYSICAL_NAME) if _is_same_type(field.type, before.type) else ()
    had = {key: value for key, value in before.metadata.items() if key in keys}
    return replace(
        field, type=_keep_type_ids(field.type, before.type), metadata={**_unmapped(field.metadata), **had}
    )


def _is_same_type(now: DataType, before: DataType) -> bool:
    """Whether both have the same parts, whichever of them may be null."""
    match now, before:
        case Struct(fields), Struct(others):
            return len(fields) == len(others) and all(
                part.name.lower() == other.name.lower() and _is_same_type(part.type, other.type)
                for part, other in zip(fields, others, strict=True)
            )
        case Array(element, _), Array(other, _):
            return _is_same_type(element, other)
        case Map(key, value, _), Map(other_key, other_value, _):
            return _is_same_type(key, other_key) and _is_same_type(value, other_value)
        case _:
            return now == before


def _keep_type_ids(now: DataType, before: DataType) -> DataType:
    match now, before:
        case Struct(), Struct():
            return keep_column_ids(now, before)
        case Array(element, contains_null), Array(had, _):
            return Array(_keep_type_ids(element, had), contains_null)
        case Map(key, value, contains_null), Map(had_key, had_value, _):
            return Map(_keep_type_ids(key, had_key), _keep_type_ids(value, had_value), contains_null)
        case _:
            return now


def _unmapped(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    return {key: value for key, value in metadata.items() if key not in _KEYS}
