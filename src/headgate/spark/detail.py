"""What a table is, as a DataFrame of one row in Delta's columns."""

from collections.abc import Sequence

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from headgate.protocol.actions import EpochMillis
from headgate.spark import state
from headgate.table.opened import OpenedTable
from headgate.table.snapshot import Snapshot

_MOMENT = pa.timestamp("us", tz="UTC")
_TEXTS = pa.list_(pa.string())
COLUMNS = pa.schema(
    [
        ("format", pa.string()),
        ("id", pa.string()),
        ("name", pa.string()),
        ("description", pa.string()),
        ("location", pa.string()),
        ("createdAt", _MOMENT),
        ("lastModified", _MOMENT),
        ("partitionColumns", _TEXTS),
        ("clusteringColumns", _TEXTS),
        ("numFiles", pa.int64()),
        ("sizeInBytes", pa.int64()),
        ("properties", pa.map_(pa.string(), pa.string())),
        ("minReaderVersion", pa.int32()),
        ("minWriterVersion", pa.int32()),
        ("tableFeatures", _TEXTS),
    ]
)


def frame(
    spark: SparkSession, table: OpenedTable, snapshot: Snapshot, *, name: str | None, modified: EpochMillis
) -> DataFrame:
    """One row: the table at this version, last modified at this moment."""
    metadata, protocol = snapshot.state.metadata, snapshot.state.protocol
    files, size = _totals(spark, table, snapshot)
    row = {
        "format": "delta",
        "id": metadata.id,
        "name": name,
        "description": metadata.description,
        "location": table.location,
        "createdAt": None if metadata.created_time is None else metadata.created_time * 1000,
        "lastModified": modified * 1000,
        "partitionColumns": list(metadata.partition_columns),
        "clusteringColumns": clustering_columns(snapshot),
        "numFiles": files,
        "sizeInBytes": size,
        "properties": list(metadata.configuration.items()),
        "minReaderVersion": protocol.min_reader_version,
        "minWriterVersion": protocol.min_writer_version,
        "tableFeatures": sorted({*(protocol.reader_features or ()), *(protocol.writer_features or ())}),
    }
    return spark.createDataFrame(pa.Table.from_pylist([row], COLUMNS))


def _totals(spark: SparkSession, table: OpenedTable, snapshot: Snapshot) -> tuple[int, int]:
    if state.is_beyond(table, snapshot):
        return state.totals(spark, table, snapshot.version)
    files = snapshot.files.without_stats
    return files.num_rows, pc.sum(files["size"]).as_py() or 0


def clustering_columns(snapshot: Snapshot) -> Sequence[str]:
    """The clustering columns by their stored names, nested ones with dots; both forms are read (P38)."""
    domain = snapshot.state.domains.get("delta.clustering")
    if domain is None:
        return []
    columns = msgspec.json.decode(domain.configuration).get("clusteringColumns", [])
    return [column if isinstance(column, str) else ".".join(column) for column in columns]
