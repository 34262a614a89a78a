"""By which columns is a table partitioned, as its log names them, and which values may its files have?"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from headgate.errors import CorruptLog
from headgate.protocol.actions import Metadata
from headgate.protocol.schema import column_mapping, partition_values
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.column_mapping import ColumnMappingMode
from headgate.protocol.schema.types import DataType, describe_type

Values = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Partitioning:
    """The partition columns of a table, by the names they have in the log."""

    types: Mapping[str, DataType]

    def has_wrong_columns(self, values: Values) -> bool:
        """Whether these are values of other columns."""
        return values.keys() != self.types.keys()

    def unreadable_value(self, values: Values) -> str | None:
        """Which of these values no reader could make sense of."""
        for name, data_type in self.types.items():
            if not _is_readable(text := values.get(name), data_type):
                return f"{text!r} for {name}, which is no {describe_type(data_type)}"
        return None

    def fits(self, values: Values) -> bool:
        """Whether a file of the table may have these values."""
        return not self.has_wrong_columns(values) and self.unreadable_value(values) is None


def partitioning_of(metadata: Metadata) -> Partitioning:
    """That of a table with this metadata."""
    if not metadata.partition_columns:
        return _NONE
    return _cached_partitioning(
        metadata.schema_string, metadata.partition_columns, column_mapping.mapping_mode(metadata)
    )


_NONE = Partitioning({})


@lru_cache(maxsize=128)
def _cached_partitioning(schema_string: str, names: tuple[str, ...], mode: ColumnMappingMode) -> Partitioning:
    schema = schema_json.parse(schema_string)
    columns = [column for column in schema.find_all(names) if column is not None]
    return Partitioning({column_mapping.physical_name(column, mode): column.type for column in columns})


@lru_cache(maxsize=4096)
def _is_readable(text: str | None, data_type: DataType) -> bool:
    try:
        partition_values.canonical_text(text, data_type)
    except CorruptLog:
        return False
    return True
