"""What is a table? Columns with comments, properties, features and domains, as lines."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from headgate.protocol.actions import DomainMetadata, Metadata, Protocol
from headgate.protocol.metadata import type_ddl
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Array, DataType, Field, Map, Struct

_MOST_COLUMNS = 2_000


@dataclass(frozen=True, slots=True)
class ColumnLine:
    """A column, or a part of one, ``depth`` structs down."""

    path: str
    name: str
    depth: int
    type: str
    nullable: bool
    comment: str
    is_partition: bool
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DefinitionView:
    """All that a table says of itself at one version."""

    columns: tuple[ColumnLine, ...]
    left_out: int
    partition_columns: tuple[str, ...]
    properties: tuple[tuple[str, str], ...]
    features: tuple[str, ...]
    reader_version: int
    writer_version: int
    domains: tuple[tuple[str, str], ...]
    comment: str


def definition_view(
    protocol: Protocol, metadata: Metadata, domains: Mapping[str, DomainMetadata]
) -> DefinitionView:
    """What protocol, metadata and domains say."""
    columns = list(column_lines(metadata))
    features = {*(protocol.reader_features or ()), *(protocol.writer_features or ())}
    return DefinitionView(
        tuple(columns[:_MOST_COLUMNS]),
        max(0, len(columns) - _MOST_COLUMNS),
        tuple(metadata.partition_columns),
        tuple(sorted(metadata.configuration.items())),
        tuple(sorted(features)),
        protocol.min_reader_version,
        protocol.min_writer_version,
        tuple(sorted((name, found.configuration) for name, found in domains.items())),
        metadata.description or "",
    )


def column_lines(metadata: Metadata) -> Iterator[ColumnLine]:
    """The columns of a table, each followed by what is in it."""
    partitions = frozenset(metadata.partition_columns)
    schema = schema_json.parse(metadata.schema_string)
    for field in schema.fields:
        yield from _lines(field, (), field.name in partitions)


def _lines(field: Field, parents: tuple[str, ...], is_partition: bool) -> Iterator[ColumnLine]:  # noqa: FBT001
    path = (*parents, field.name)
    comment = field.metadata.get("comment", "")
    yield ColumnLine(
        ".".join(path), field.name, len(parents), _short_type(field.type), field.nullable,
        comment if isinstance(comment, str) else "", is_partition, tuple(_notes(field.metadata)),
    )  # fmt: skip
    for inner in _inner_fields(field.type):
        yield from _lines(inner, path, is_partition=False)


def _inner_fields(data_type: DataType) -> tuple[Field, ...]:
    match data_type:
        case Struct(fields):
            return fields
        case Array(element, _):
            return _inner_fields(element)
        case Map(_, value, _):
            return _inner_fields(value)
        case _:
            return ()


def _short_type(data_type: DataType) -> str:
    """The type, with structs only named: their fields follow on lines of their own."""
    match data_type:
        case Struct():
            return "STRUCT<…>"
        case Array(element, _):
            return f"ARRAY<{_short_type(element)}>"
        case Map(key, value, _):
            return f"MAP<{_short_type(key)}, {_short_type(value)}>"
        case _:
            return type_ddl.sql_text(data_type)


_NOTED: tuple[tuple[str, str], ...] = (
    ("delta.generationExpression", "generated as {}"),
    ("CURRENT_DEFAULT", "default {}"),
    ("delta.identity.start", "identity from {}"),
    ("delta.columnMapping.physicalName", "stored as {}"),
    ("__CHAR_VARCHAR_TYPE_STRING", "declared {}"),
)
"""What else a field says of itself, and how that is put."""


def _notes(metadata: Mapping[str, Any]) -> Iterator[str]:
    for key, sentence in _NOTED:
        if key in metadata:
            yield sentence.format(metadata[key])
