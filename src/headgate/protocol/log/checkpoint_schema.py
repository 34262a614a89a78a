"""The columns of a checkpoint, as Arrow types; statistics and partition values have those of the table.

A table of ``id BIGINT, day DATE``, partitioned by ``day``, with ``delta.checkpoint.writeStatsAsStruct``,
has in its column ``add``, beside path, size and the like,

    partitionValues          map<string, string>    {"day": "2026-01-01"}
    stats                    string                 '{"numRecords":3,"minValues":{"id":1},…}'
    partitionValues_parsed   struct<day: date32>
    stats_parsed             struct<numRecords: int64, minValues: struct<id: int64>,
                             maxValues: struct<id: int64>, nullCount: struct<id: int64>, tightBounds: bool>

Without that property the last two are left out.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa

from headgate.protocol.actions import Metadata
from headgate.protocol.log.log_retention import LogSettings
from headgate.protocol.predicates.comparisons import precision_and_scale
from headgate.protocol.predicates.tree import Column
from headgate.protocol.schema import column_mapping
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.arrow_kinds import PRIMITIVES
from headgate.protocol.schema.types import DataType, Primitive, Struct, leaf_columns
from headgate.protocol.stats import file_stats

STRING_MAP = pa.map_(pa.string(), pa.string())
DELETION_VECTOR = pa.struct(
    [
        ("storageType", pa.string()),
        ("pathOrInlineDv", pa.string()),
        ("offset", pa.int32()),
        ("sizeInBytes", pa.int32()),
        ("cardinality", pa.int64()),
    ]
)
_FEATURES = pa.list_(pa.field("element", pa.string()))
_FILE = [
    ("path", pa.string()),
    ("partitionValues", STRING_MAP),
    ("size", pa.int64()),
    ("modificationTime", pa.int64()),
    ("dataChange", pa.bool_()),
    ("tags", STRING_MAP),
    ("deletionVector", DELETION_VECTOR),
    ("baseRowId", pa.int64()),
    ("defaultRowCommitVersion", pa.int64()),
    ("clusteringProvider", pa.string()),
]
REMOVE = pa.struct(
    [
        ("path", pa.string()),
        ("deletionTimestamp", pa.int64()),
        ("dataChange", pa.bool_()),
        ("extendedFileMetadata", pa.bool_()),
        ("partitionValues", STRING_MAP),
        ("size", pa.int64()),
        ("deletionVector", DELETION_VECTOR),
        ("baseRowId", pa.int64()),
        ("defaultRowCommitVersion", pa.int64()),
    ]
)
NON_FILE_ACTIONS = {
    "txn": pa.struct([("appId", pa.string()), ("version", pa.int64()), ("lastUpdated", pa.int64())]),
    "metaData": pa.struct(
        [
            ("id", pa.string()),
            ("name", pa.string()),
            ("description", pa.string()),
            ("format", pa.struct([("provider", pa.string()), ("options", STRING_MAP)])),
            ("schemaString", pa.string()),
            ("partitionColumns", _FEATURES),
            ("configuration", STRING_MAP),
            ("createdTime", pa.int64()),
        ]
    ),
    "protocol": pa.struct(
        [
            ("minReaderVersion", pa.int32()),
            ("minWriterVersion", pa.int32()),
            ("readerFeatures", _FEATURES),
            ("writerFeatures", _FEATURES),
        ]
    ),
    "domainMetadata": pa.struct(
        [("domain", pa.string()), ("configuration", pa.string()), ("removed", pa.bool_())]
    ),
}
V2_ONLY = {
    "checkpointMetadata": pa.struct([("version", pa.int64()), ("tags", STRING_MAP)]),
    "sidecar": pa.struct(
        [
            ("path", pa.string()),
            ("sizeInBytes", pa.int64()),
            ("modificationTime", pa.int64()),
            ("tags", STRING_MAP),
        ]
    ),
}

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileColumns:
    """The columns of the adds of one table, under their physical names."""

    json: bool
    """Whether statistics are written as text."""
    typed: bool
    """Whether statistics and partition values are written as columns of their own."""
    partitions: tuple[tuple[str, DataType], ...]
    leaves: tuple[tuple[Path, DataType], ...]

    @property
    def bounded(self) -> tuple[tuple[Path, DataType], ...]:
        """The columns that have a minimum and a maximum."""
        return tuple((path, kind) for path, kind in self.leaves if file_stats.has_bounds(kind))

    @property
    def files(self) -> dict[str, pa.DataType]:
        """The columns of file actions."""
        return {"add": self.add, "remove": REMOVE}

    @property
    def add(self) -> pa.DataType:
        """The type of the column ``add``."""
        fields = list(_FILE)
        if self.json:
            fields.append(("stats", pa.string()))
        if self.typed and self.partitions:
            fields.append(("partitionValues_parsed", self.partition_values))
        if self.typed:
            fields.append(("stats_parsed", self.stats))
        return pa.struct(fields)

    @property
    def partition_values(self) -> pa.DataType:
        """The type of the partition values as columns."""
        return pa.struct([(name, arrow_type(kind)) for name, kind in self.partitions])

    @property
    def stats(self) -> pa.DataType:
        """The type of the statistics as columns."""
        bounds = _struct_of_leaves((path, arrow_type(kind)) for path, kind in self.bounded)
        nulls = _struct_of_leaves((path, pa.int64()) for path, _ in self.leaves)
        sections = (("minValues", bounds), ("maxValues", bounds), ("nullCount", nulls))
        # Parquet has no struct without fields.
        present = [(name, kind) for name, kind in sections if kind.num_fields]
        return pa.struct([("numRecords", pa.int64()), *present, ("tightBounds", pa.bool_())])


def file_columns(metadata: Metadata, upkeep: LogSettings) -> FileColumns:
    """The columns of a table's adds, as its properties want them."""
    logical, mode = schema_json.parse(metadata.schema_string), column_mapping.mapping_mode(metadata)
    names = {name.lower() for name in metadata.partition_columns}
    pairs = list(zip(logical.fields, column_mapping.physical_schema(logical, mode).fields, strict=True))
    stored = tuple(physical for field, physical in pairs if field.name.lower() not in names)
    return FileColumns(
        json=upkeep.stats_as_json,
        typed=upkeep.stats_as_struct,
        partitions=tuple(
            (physical.name, physical.type) for field, physical in pairs if field.name.lower() in names
        ),
        leaves=tuple(
            (path, kind) for path, kind in leaf_columns(Struct(stored)) if kind != Primitive("void")
        ),
    )


def arrow_type(data_type: DataType) -> pa.DataType:
    """The Arrow type of a column that can partition a table or have bounds."""
    match data_type:
        case Primitive(name) if name in PRIMITIVES:
            return PRIMITIVES[name]
        case Primitive(name) if name.startswith("decimal"):
            return pa.decimal128(*precision_and_scale(Column((), data_type)))
        case _:
            return pa.string()


def _struct_of_leaves(found: Iterable[tuple[Path, pa.DataType]]) -> pa.DataType:
    """A struct of structs with these leaves."""
    groups: dict[str, dict[Path, pa.DataType]] = {}
    for path, kind in found:
        groups.setdefault(path[0], {})[path[1:]] = kind
    return pa.struct(
        [
            (name, inner[()] if () in inner else _struct_of_leaves(inner.items()))
            for name, inner in groups.items()
        ]
    )


def parquet_leaves(name: str, kind: pa.DataType) -> Iterable[str]:
    """The paths under which parquet knows the leaves of a column."""
    if pa.types.is_struct(kind):
        return [leaf for field in kind for leaf in parquet_leaves(f"{name}.{field.name}", field.type)]
    if pa.types.is_map(kind):
        return [f"{name}.key_value.key", f"{name}.key_value.value"]
    return [f"{name}.list.element" if pa.types.is_list(kind) else name]
