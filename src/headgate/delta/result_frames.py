"""What do the statements of ``delta.tables`` give back? Frames with Delta's columns, in Delta's order.

DELETE and UPDATE give nothing, VACUUM a frame without columns.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from headgate.protocol.schema import json as schema_json
from headgate.spark.session import local_frame
from headgate.table.opened_table import OpenedTable

MERGE_COLUMNS: tuple[tuple[str, str | None], ...] = (
    ("num_affected_rows", None),
    ("num_updated_rows", "numTargetRowsUpdated"),
    ("num_deleted_rows", "numTargetRowsDeleted"),
    ("num_inserted_rows", "numTargetRowsInserted"),
)
"""The columns of a MERGE's result, and the metric of the commit that each is; the first is their sum."""
RESTORE_COLUMNS: tuple[tuple[str, str], ...] = (
    ("table_size_after_restore", "tableSizeAfterRestore"),
    ("num_of_files_after_restore", "numOfFilesAfterRestore"),
    ("num_removed_files", "numRemovedFiles"),
    ("num_restored_files", "numRestoredFiles"),
    ("removed_files_size", "removedFilesSize"),
    ("restored_files_size", "restoredFilesSize"),
)
"""The columns of a RESTORE's result, and the metric of the commit that each is."""
_LONG = pa.int64()
_SIZES = pa.struct(
    [("min", _LONG), ("max", _LONG), ("avg", pa.float64()), ("totalFiles", _LONG), ("totalSize", _LONG)]
)
_CUBE_FILES = pa.struct([("num", _LONG), ("size", _LONG)])
_ZCUBE_FILES = pa.struct([("numFiles", _LONG), ("size", _LONG)])
_Z_ORDER = pa.struct(
    [
        ("strategyName", pa.string()),
        ("inputCubeFiles", _CUBE_FILES),
        ("inputOtherFiles", _CUBE_FILES),
        ("inputNumCubes", _LONG),
        ("mergedFiles", _CUBE_FILES),
        ("numOutputCubes", _LONG),
        ("mergedNumCubes", _LONG),
    ]
)
_CLUSTERING = pa.struct(
    [
        ("inputZCubeFiles", _ZCUBE_FILES),
        ("inputOtherFiles", _ZCUBE_FILES),
        ("inputNumZCubes", _LONG),
        ("mergedFiles", _ZCUBE_FILES),
        ("numOutputZCubes", _LONG),
    ]
)
_PARALLELISM = pa.struct(
    [
        ("maxClusterActiveParallelism", _LONG),
        ("minClusterActiveParallelism", _LONG),
        ("maxSessionActiveParallelism", _LONG),
        ("minSessionActiveParallelism", _LONG),
    ]
)
_VECTORS = pa.struct([("numDeletionVectorsRemoved", _LONG), ("numDeletionVectorRowsRemoved", _LONG)])
OPTIMIZE_METRICS = pa.struct(
    [
        ("numFilesAdded", _LONG),
        ("numFilesRemoved", _LONG),
        ("filesAdded", _SIZES),
        ("filesRemoved", _SIZES),
        ("partitionsOptimized", _LONG),
        ("zOrderStats", _Z_ORDER),
        ("clusteringStats", _CLUSTERING),
        ("numBins", _LONG),
        ("numBatches", _LONG),
        ("totalConsideredFiles", _LONG),
        ("totalFilesSkipped", _LONG),
        ("preserveInsertionOrder", pa.bool_()),
        ("numFilesSkippedToReduceWriteAmplification", _LONG),
        ("numBytesSkippedToReduceWriteAmplification", _LONG),
        ("startTimeMs", _LONG),
        ("endTimeMs", _LONG),
        ("totalClusterParallelism", _LONG),
        ("totalScheduledTasks", _LONG),
        ("autoCompactParallelismStats", _PARALLELISM),
        ("deletionVectorStats", _VECTORS),
        ("numTableColumns", _LONG),
        ("numTableColumnsWithStats", _LONG),
    ]
)
"""What OPTIMIZE tells of itself, in its column ``metrics``."""
_INDEXED_COLUMNS = 32


@dataclass(frozen=True, slots=True)
class OptimizedTable:
    """An OPTIMIZE that was run: on which version of the table, when, and how."""

    table: OpenedTable
    base: int
    """The version before it."""
    version: int
    """The version that it made; the one before it if there was nothing to do."""
    started_ms: int
    z_ordered: bool = False


def merge_frame(spark: SparkSession, metrics: Mapping[str, int]) -> DataFrame:
    """One row: how many rows a MERGE affected, updated, deleted and inserted."""
    counts = {name: metrics.get(metric, 0) for name, metric in MERGE_COLUMNS if metric is not None}
    return _one_row(spark, {"num_affected_rows": sum(counts.values()), **counts})


def restore_frame(spark: SparkSession, metrics: Mapping[str, int]) -> DataFrame:
    """One row: what a RESTORE did to the files of the table."""
    return _one_row(spark, {name: metrics[metric] for name, metric in RESTORE_COLUMNS})


def vacuum_frame(spark: SparkSession) -> DataFrame:
    """No row and no column, which is what Delta gives."""
    return local_frame.local_frame(spark, [], StructType([]))


def optimize_frame(spark: SparkSession, done: OptimizedTable) -> DataFrame:
    """One row: the table's path, and what became of its files."""
    row = {"path": done.table.location, "metrics": _optimize_metrics(done)}
    columns = pa.schema([("path", pa.string()), ("metrics", OPTIMIZE_METRICS)])
    return local_frame.local_frame(spark, pa.Table.from_pylist([row], columns))


def _optimize_metrics(done: OptimizedTable) -> Mapping[str, Any]:
    before = _files(done.table, done.version - 1 if done.version > done.base else done.base)
    after = _files(done.table, done.version)
    added = [file for path, file in after.items() if path not in before]
    removed = [file for path, file in before.items() if path not in after]
    partitions = len({str(sorted(file["partition_values"])) for file in removed})
    vectors = [file["deletion_vector"] for file in removed if file["deletion_vector"] is not None]
    columns = len(schema_json.parse(done.table.describe().metadata.schema_string).fields)
    return {
        "numFilesAdded": len(added),
        "numFilesRemoved": len(removed),
        "filesAdded": _sizes(added),
        "filesRemoved": _sizes(removed),
        "partitionsOptimized": partitions,
        "zOrderStats": _z_order_stats(removed, partitions) if done.z_ordered else None,
        "numBins": partitions,
        "numBatches": 1,
        "totalConsideredFiles": len(before),
        "totalFilesSkipped": len(before) - len(removed),
        "preserveInsertionOrder": False,
        "numFilesSkippedToReduceWriteAmplification": 0,
        "numBytesSkippedToReduceWriteAmplification": 0,
        "startTimeMs": done.started_ms,
        "endTimeMs": done.table.world.now_ms(),
        "totalScheduledTasks": 0,
        "deletionVectorStats": _vector_stats(vectors) if vectors else None,
        "numTableColumns": columns,
        "numTableColumnsWithStats": min(columns, _INDEXED_COLUMNS),
    }


def _files(table: OpenedTable, version: int) -> Mapping[str, Mapping[str, Any]]:
    return {row["path"]: row for row in table.snapshot(version=version).files.without_stats.to_pylist()}


def _sizes(files: list[Mapping[str, Any]]) -> Mapping[str, Any]:
    sizes = [file["size"] for file in files]
    return {
        "min": min(sizes, default=None),
        "max": max(sizes, default=None),
        "avg": sum(sizes) / len(sizes) if sizes else 0.0,
        "totalFiles": len(sizes),
        "totalSize": sum(sizes),
    }


def _z_order_stats(removed: list[Mapping[str, Any]], partitions: int) -> Mapping[str, Any]:
    rewritten = {"num": len(removed), "size": sum(file["size"] for file in removed)}
    return {
        "strategyName": "all",
        "inputCubeFiles": {"num": 0, "size": 0},
        "inputOtherFiles": rewritten,
        "inputNumCubes": 0,
        "mergedFiles": rewritten,
        "numOutputCubes": partitions,
    }


def _vector_stats(vectors: list[Mapping[str, Any]]) -> Mapping[str, int]:
    rows = sum(vector["cardinality"] for vector in vectors)
    return {"numDeletionVectorsRemoved": len(vectors), "numDeletionVectorRowsRemoved": rows}


def _one_row(spark: SparkSession, row: Mapping[str, int]) -> DataFrame:
    return local_frame.local_frame(
        spark, pa.Table.from_pylist([row], pa.schema([(name, _LONG) for name in row]))
    )
