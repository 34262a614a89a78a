"""What is in a schema, at any depth: columns, the keys of their metadata, types, and places without nulls."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache

from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Array, DataType, Field, Map, Primitive, Struct


@dataclass(frozen=True, slots=True)
class SchemaContents:
    """What a schema has that features are about."""

    keys: frozenset[str]
    types: frozenset[str]
    required: bool


class Items(Enum):
    """What an array or a map has many of."""

    ELEMENTS = auto()
    KEYS = auto()
    VALUES = auto()


@dataclass(frozen=True, slots=True)
class FieldStep:
    """From a struct to one of its fields."""

    at: int
    name: str


Step = FieldStep | Items
"""From a value to what is within it."""


@dataclass(frozen=True, slots=True)
class RequiredPlace:
    """Where in a column a null must not be: ``lines.element.price``."""

    path: str
    steps: tuple[Step, ...]
    """How it is reached from the column, the outermost first."""


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


def required_places(field: Field) -> Iterator[RequiredPlace]:
    """Every place in a column that must not be null, each before those within it."""
    return _required(field.name, field.type, (), nullable=field.nullable)


def _required(
    path: str, data_type: DataType, steps: tuple[Step, ...], *, nullable: bool
) -> Iterator[RequiredPlace]:
    if not nullable:
        yield RequiredPlace(path, steps)
    match data_type:
        case Struct(parts):
            for at, part in enumerate(parts):
                within = (*steps, FieldStep(at, part.name))
                yield from _required(f"{path}.{part.name}", part.type, within, nullable=part.nullable)
        case Array(element, contains_null):
            within = (*steps, Items.ELEMENTS)
            yield from _required(f"{path}.element", element, within, nullable=contains_null)
        case Map(key, value, contains_null):
            # A key is never null itself, by its type, but something within it may have to have a value.
            yield from _required(f"{path}.key", key, (*steps, Items.KEYS), nullable=True)
            yield from _required(f"{path}.value", value, (*steps, Items.VALUES), nullable=contains_null)
        case _:
            return


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
