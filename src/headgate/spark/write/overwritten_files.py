"""Which files an overwrite takes away, and what it read to know that.

All of them, those of some partitions, or those of the partitions that get new rows. A predicate on
partition columns is evaluated by Spark itself, on the partitions that there are, so it means here
what it means in any query.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from headgate.protocol.actions import Metadata
from headgate.protocol.predicates import from_sql, tree
from headgate.protocol.predicates.spark_strings import quote
from headgate.protocol.predicates.tree import Opaque, Predicate
from headgate.protocol.schema import column_mapping, partition_values
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Field, Struct
from headgate.protocol.transaction.attempt import ReadSet
from headgate.spark.parquet import logical_columns
from headgate.spark.rules import char_varchar
from headgate.spark.session import internal_names
from headgate.table.read.snapshot import Snapshot

_FEW = 100
PartitionValues = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class RemovedFiles:
    """What goes, and what had to be read to know that."""

    files: pa.Table
    reads: ReadSet


def all_files(base: Snapshot) -> RemovedFiles:
    """All files."""
    return RemovedFiles(base.files.without_stats, ReadSet(whole_table=True))


def files_by_partition_predicate(
    spark: SparkSession, base: Snapshot, condition: str, predicate: Predicate
) -> RemovedFiles:
    """The files of the partitions that a condition on partition columns alone selects."""
    live = base.files.without_stats
    found = _partition_values(live, base.state.metadata)
    distinct = list(dict.fromkeys(found))
    selected = {distinct[number] for number in _matching(spark, distinct, base.state.metadata, condition)}
    files = live.filter(pa.array([values in selected for values in found], pa.bool_()))
    return RemovedFiles(files, ReadSet(predicates=(predicate,), files=frozenset(files["path"].to_pylist())))


def files_by_partition_values(
    base: Snapshot, written: Iterable[Mapping[str, str | None]], *, with_nulls: bool = True
) -> RemovedFiles:
    """The files of the partitions that were just written to, given by their values."""
    metadata = base.state.metadata
    live = base.files.without_stats
    fields = partition_fields(metadata)
    wanted = {_normalized_values(values, fields, metadata) for values in written}
    if not with_nulls:
        wanted = {values for values in wanted if None not in values}
    found = _partition_values(live, metadata)
    files = live.filter(pa.array([values in wanted for values in found], pa.bool_()))
    reads = ReadSet(
        predicates=(_any_of(wanted, fields, metadata),), files=frozenset(files["path"].to_pylist())
    )
    return RemovedFiles(files, reads)


def partition_fields(metadata: Metadata) -> tuple[Field, ...]:
    """The columns that the table is partitioned by."""
    schema = schema_json.parse(metadata.schema_string)
    return tuple(field for name in metadata.partition_columns if (field := schema.find(name)) is not None)


def _partition_values(files: pa.Table, metadata: Metadata) -> list[PartitionValues]:
    fields = partition_fields(metadata)
    return [
        _normalized_values(dict(pairs), fields, metadata) for pairs in files["partition_values"].to_pylist()
    ]


def _normalized_values(
    given: Mapping[str, str | None], fields: Sequence[Field], metadata: Metadata
) -> PartitionValues:
    """Partition values as text that is the same for all spellings of one value."""
    mode = column_mapping.mapping_mode(metadata)
    return tuple(
        partition_values.canonical_text(given.get(column_mapping.physical_name(field, mode)), field.type)
        for field in fields
    )


def _matching(
    spark: SparkSession, distinct: Sequence[PartitionValues], metadata: Metadata, condition: str
) -> list[int]:
    if not distinct:
        return []
    fields = partition_fields(metadata)
    own = internal_names.free_names(Struct(fields)).partition
    places = [f"c{position}" for position in range(len(fields))]
    known = [dict(zip(places, values, strict=True), n=number) for number, values in enumerate(distinct)]
    types = ", ".join(["n: bigint", *(f"{place}: string" for place in places)])
    listed = F.from_json(F.lit(msgspec.json.encode(known).decode()), f"array<struct<{types}>>")
    rows = spark.range(1).select(F.inline(listed))
    typed: DataFrame = rows.select(
        F.col("n").alias(own),
        *(
            char_varchar.with_declared_type(
                char_varchar.pad(F.col(place).cast(logical_columns.spark_type(field.type)), field), field
            )
            for place, field in zip(places, fields, strict=True)
        ),
    )
    return [row[0] for row in typed.where(condition).select(own).collect()]


def _any_of(wanted: Iterable[PartitionValues], fields: Sequence[Field], metadata: Metadata) -> Predicate:
    """The predicate of these partitions; of very many, all."""
    few = list(wanted)
    if len(few) > _FEW:
        return Opaque("many partitions")
    return tree.any_of(
        tree.all_of(_equals(field, text, metadata) for field, text in zip(fields, values, strict=True))
        for values in few
    )


def _equals(field: Field, text: str | None, metadata: Metadata) -> Predicate:
    name = f"`{field.name.replace('`', '``')}`"
    schema = schema_json.parse(metadata.schema_string)
    if text is None:
        return from_sql.parse(f"{name} IS NULL", schema, time_zone="UTC")
    type_name = logical_columns.spark_type(field.type).simpleString()
    return from_sql.parse(f"{name} = CAST({quote(text)} AS {type_name})", schema, time_zone="UTC")
