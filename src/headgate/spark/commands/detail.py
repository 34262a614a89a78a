"""What a table is, as a DataFrame of one row in Delta's columns."""

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from headgate.errors import ObjectNotFound
from headgate.protocol import table_features
from headgate.protocol.actions import EpochMillis
from headgate.protocol.domains import lifecycle
from headgate.protocol.features import clustering
from headgate.protocol.log import file_names
from headgate.spark.scan import cluster_replay
from headgate.spark.session import local_frame
from headgate.table.opened_table import OpenedTable
from headgate.table.read.snapshot import Snapshot

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
    spark: SparkSession, table: OpenedTable, snapshot: Snapshot, *, name: str | None, committed: EpochMillis
) -> DataFrame:
    """One row: the table at this version, which was committed at this moment."""
    metadata, protocol = snapshot.state.metadata, snapshot.state.protocol
    files, size = _totals(spark, table, snapshot)
    clustered = lifecycle.clustering_columns(snapshot.state.domains)
    row = {
        "format": "delta",
        "id": metadata.id,
        "name": name,
        "description": metadata.description,
        "location": table.location,
        "createdAt": None if metadata.created_time is None else metadata.created_time * 1000,
        "lastModified": _modified(table, snapshot, committed) * 1000,
        "partitionColumns": list(metadata.partition_columns),
        "clusteringColumns": list(clustering.logical_names(clustered, metadata)),
        "numFiles": files,
        "sizeInBytes": size,
        "properties": list(metadata.configuration.items()),
        "minReaderVersion": protocol.min_reader_version,
        "minWriterVersion": protocol.min_writer_version,
        "tableFeatures": sorted(table_features.supported_features(protocol)),
    }
    return local_frame.local_frame(spark, pa.Table.from_pylist([row], COLUMNS))


def _modified(table: OpenedTable, snapshot: Snapshot, committed: EpochMillis) -> int:
    """When the file of the version was written, as Delta Spark has it.

    A catalog's versions are there before their files are, and to publish them modifies nothing.
    """
    if snapshot.state.protocol.is_catalog_managed:
        return committed
    try:
        return table.store.head(file_names.published_path(snapshot.version)).modified_ms
    except ObjectNotFound:
        return committed


def _totals(spark: SparkSession, table: OpenedTable, snapshot: Snapshot) -> tuple[int, int]:
    if cluster_replay.is_needed(table, snapshot):
        return cluster_replay.totals(spark, table, snapshot.version)
    files = snapshot.files.without_stats
    return files.num_rows, pc.sum(files["size"]).as_py() or 0
