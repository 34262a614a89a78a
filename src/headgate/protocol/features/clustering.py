"""Which columns a table is clustered by: what users name, and what the log keeps of it.

Users name columns, nested ones with dots; the log keeps paths of physical names, which outlive a rename.
"""

from collections.abc import Iterable, Sequence

from headgate.errors import InvalidRequest
from headgate.protocol import property_values
from headgate.protocol.actions import DomainMetadata, Metadata
from headgate.protocol.domains import lifecycle
from headgate.protocol.domains.lifecycle import Column
from headgate.protocol.schema import column_mapping
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.column_path import sql_path
from headgate.protocol.schema.types import Field, Struct, describe_type
from headgate.protocol.stats import file_stats, indexed_columns
from headgate.protocol.stats.indexed_columns import parse_stats_columns

FEATURE = lifecycle.CLUSTERING_FEATURE
_MOST = 4


def physical_columns(names: Iterable[str], metadata: Metadata) -> tuple[Column, ...]:
    """The columns of these names, as the log keeps them; refused if the table cannot be clustered so."""
    paths = [path for name in names for path in parse_stats_columns(name)]
    if len(paths) > _MOST:
        raise InvalidRequest(
            f"a table is clustered by at most {_MOST} columns, not {len(paths)}: name the most "
            "selective ones",
            code="DELTA_CLUSTER_BY_INVALID_NUM_COLUMNS",
        )
    if paths and metadata.partition_columns:
        raise InvalidRequest(
            "a table is either partitioned or clustered, not both: leave out one of the two",
            code="DELTA_CLUSTER_BY_WITH_PARTITIONED_BY",
        )
    schema, mode = schema_json.parse(metadata.schema_string), column_mapping.mapping_mode(metadata)
    found = [_fields_on_path(schema, path) for path in paths]
    columns = tuple(tuple(column_mapping.physical_name(field, mode) for field in fields) for fields in found)
    if len(set(columns)) < len(columns):
        raise InvalidRequest(
            "a column to cluster by is named twice: name it once", code="DELTA_DUPLICATE_COLUMNS_FOUND"
        )
    _check_statistics(columns, found, metadata)
    return columns


def logical_names(columns: Iterable[Column], metadata: Metadata) -> tuple[str, ...]:
    """The columns as users name them in SQL, given how the log keeps them."""
    schema, mode = schema_json.parse(metadata.schema_string), column_mapping.mapping_mode(metadata)
    logical = {theirs: ours for ours, theirs in column_mapping.physical_paths(schema, mode).items()}
    return tuple(sql_path(logical.get(column, column)) for column in columns)


def domain_from_names(names: Sequence[str], metadata: Metadata) -> DomainMetadata:
    """The domain of a table that is to be clustered by the columns of these names."""
    return lifecycle.clustering_domain(physical_columns(names, metadata))


def _fields_on_path(schema: Struct, path: Column) -> list[Field]:
    fields: list[Field] = []
    inside: object = schema
    for part in path:
        field = inside.find(part) if isinstance(inside, Struct) else None
        if field is None:
            raise InvalidRequest(
                f"the table has no column {'.'.join(path)!r} to cluster by: correct the name",
                code="DELTA_COLUMN_NOT_FOUND_IN_SCHEMA",
            )
        fields.append(field)
        inside = field.type
    return fields


def _check_statistics(columns: Sequence[Column], found: Sequence[list[Field]], metadata: Metadata) -> None:
    named = property_values.STATS_COLUMNS in metadata.configuration
    with_statistics = indexed_columns.indexed_paths(metadata)
    for column, fields in zip(columns, found, strict=True):
        if not file_stats.has_bounds(fields[-1].type):
            raise InvalidRequest(
                f"{_named(fields)!r} is {describe_type(fields[-1].type)}, of which there are no statistics "
                "to skip files by: cluster by a column of numbers, text, dates or timestamps",
                code="DELTA_CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED",
            )
        if named and column not in with_statistics:
            raise InvalidRequest(
                f"{_named(fields)!r} is not among the columns of {property_values.STATS_COLUMNS}, so there "
                "would be no statistics to skip files by: add it there",
                code="DELTA_CLUSTERING_COLUMN_MISSING_STATS",
            )


def _named(fields: Sequence[Field]) -> str:
    return ".".join(field.name for field in fields)


def partitioning_error() -> InvalidRequest:
    """Why a table that was ever clustered gets no partitions."""
    return InvalidRequest(
        "the table has the feature clustering, with which a table cannot be partitioned: leave the "
        "partitioning out, or make another table",
        code="DELTA_CLUSTERING_REPLACE_TABLE_WITH_PARTITIONED_TABLE",
    )
