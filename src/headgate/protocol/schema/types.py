"""The types a column can have."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Primitive:
    """A type without parts, by the log's name for it: ``long``, ``string``, ``decimal(10,2)`` …"""

    name: str


@dataclass(frozen=True, slots=True)
class Array:
    """A list of elements of one type."""

    element: "DataType"
    contains_null: bool


@dataclass(frozen=True, slots=True)
class Map:
    """Keys of one type, values of another."""

    key: "DataType"
    value: "DataType"
    value_contains_null: bool


@dataclass(frozen=True, slots=True)
class Field:
    """A named column of a struct."""

    name: str
    type: "DataType"
    nullable: bool = True
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)  # any JSON, kept as it is


@dataclass(frozen=True, slots=True)
class Struct:
    """Columns in order; the schema of a table is one of these."""

    fields: tuple[Field, ...]

    def find(self, name: str) -> Field | None:
        """The column of that name, ignoring case as Spark does; one of just that name comes first."""
        same = next((found for found in self.fields if found.name == name), None)
        return same or next((found for found in self.fields if found.name.lower() == name.lower()), None)

    def find_all(self, names: Iterable[str]) -> tuple[Field | None, ...]:
        """``find`` for each of these names, looking through the columns once."""
        exactly = {column.name: column for column in reversed(self.fields)}
        loosely = {column.name.lower(): column for column in reversed(self.fields)}
        return tuple(exactly.get(name) or loosely.get(name.lower()) for name in names)


DataType = Primitive | Array | Map | Struct


def leaf_columns(schema: Struct, prefix: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], DataType]]:
    """Every column that is not a struct, with its path, in schema order."""
    for column in schema.fields:
        path = (*prefix, column.name)
        if isinstance(column.type, Struct):
            yield from leaf_columns(column.type, path)
        else:
            yield path, column.type


def parquet_depth(data_type: DataType) -> int:
    """How deep a column of this type is nested in a Parquet file, where lists and maps take two levels."""
    match data_type:
        case Primitive("variant"):  # a group of two
            return 1
        case Primitive():
            return 0
        case Struct(fields):
            return 1 + max((parquet_depth(part.type) for part in fields), default=0)
        case Array(element, _):
            return 2 + parquet_depth(element)
        case Map(key, value, _):
            return 2 + max(parquet_depth(key), parquet_depth(value))


def with_structs(data_type: DataType, change: Callable[[Struct], Struct]) -> DataType:
    """The type, with every struct in it changed; ``change`` looks into the columns of a struct itself."""
    match data_type:
        case Struct():
            return change(data_type)
        case Array(element, contains_null):
            return Array(with_structs(element, change), contains_null)
        case Map(key, value, contains_null):
            return Map(with_structs(key, change), with_structs(value, change), contains_null)
        case Primitive():
            return data_type


def describe_type(data_type: DataType) -> str:
    """The type as a person would write it."""
    match data_type:
        case Primitive(name):
            return name
        case Array(element, _):
            return f"array<{describe_type(element)}>"
        case Map(key, value, _):
            return f"map<{describe_type(key)}, {describe_type(value)}>"
        case Struct(fields):
            return f"struct<{', '.join(f'{part.name}: {describe_type(part.type)}' for part in fields)}>"


def as_nullable(schema: Struct) -> Struct:
    """The same columns, every one and every part of one nullable."""
    return Struct(
        tuple(
            Field(field.name, _nullable_type(field.type), metadata=field.metadata) for field in schema.fields
        )
    )


def _nullable_type(data_type: DataType) -> DataType:
    match data_type:
        case Struct():
            return as_nullable(data_type)
        case Array(element, _):
            return Array(_nullable_type(element), contains_null=True)
        case Map(key, value, _):
            return Map(_nullable_type(key), _nullable_type(value), value_contains_null=True)
        case Primitive():
            return data_type
