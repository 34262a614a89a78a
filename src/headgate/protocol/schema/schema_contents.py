"""What is in a schema, at any depth: its columns, the keys of their metadata, and their types."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Array, DataType, Field, Map, Primitive, Struct


@dataclass(frozen=True, slots=True)
class SchemaContents:
    """What a schema has that features are about."""

    keys: frozenset[str]
    types: frozenset[str]
    required: bool


@lru_cache(maxsize=256)
def of_schema(schema_string: str) -> SchemaContents:
    """What is in the schema that metadata has."""
    # Asked of the same schema at every commit.
    schema = schema_json.parse(schema_string)
    columns = list(_fields(schema))
    return SchemaContents(
        frozenset(key for column in columns for key in column.metadata),
        frozenset(_primitives(schema)),
        any(not column.nullable for column in columns),
    )


def all_fields(schema: Struct) -> Iterator[Field]:
    """Every column of a schema, nested ones too."""
    return _fields(schema)


def _fields(data_type: DataType) -> Iterator[Field]:
    match data_type:
        case Struct(parts):
            for part in parts:
                yield part
                yield from _fields(part.type)
        case Array(element, _):
            yield from _fields(element)
        case Map(key, value, _):
            yield from _fields(key)
            yield from _fields(value)
        case _:
            return


def _primitives(data_type: DataType) -> Iterator[str]:
    match data_type:
        case Struct(parts):
            for part in parts:
                yield from _primitives(part.type)
        case Array(element, _):
            yield from _primitives(element)
        case Map(key, value, _):
            yield from _primitives(key)
            yield from _primitives(value)
        case Primitive(name):
            yield name
