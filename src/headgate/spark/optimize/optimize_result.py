"""What does OPTIMIZE answer? One row: the table's path, and metrics in Delta's names, types and order."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from headgate.spark.dml.dml_metrics import FileSizes, OperationResult, RewrittenFiles
from headgate.spark.session import local_frame

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
METRICS = pa.struct(
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
COLUMNS = pa.schema([("path", pa.string()), ("metrics", METRICS)])
_INDEXED_COLUMNS = 32
_NOTHING = RewrittenFiles()


def optimize_frame(
    spark: SparkSession, location: str, done: OperationResult, *, z_ordered: bool = False
) -> DataFrame:
    """What became of the files of the table there; what nobody counted is zero, as in Delta, or null."""
    metrics = _metrics(done.rewritten or _NOTHING, z_ordered=z_ordered)
    row = {"path": location, "metrics": metrics}
    return local_frame.local_frame(spark, pa.Table.from_pylist([row], COLUMNS))


def _metrics(done: RewrittenFiles, *, z_ordered: bool) -> Mapping[str, Any]:
    return {
        "numFilesAdded": done.added.count,
        "numFilesRemoved": done.removed.count,
        "filesAdded": _sizes(done.added),
        "filesRemoved": _sizes(done.removed),
        "partitionsOptimized": done.partitions,
        "zOrderStats": _z_order_stats(done) if z_ordered else None,
        "numBins": done.partitions,
        "numBatches": 1,
        "totalConsideredFiles": done.considered,
        "totalFilesSkipped": done.considered - done.removed.count,
        "preserveInsertionOrder": False,
        "numFilesSkippedToReduceWriteAmplification": 0,
        "numBytesSkippedToReduceWriteAmplification": 0,
        "startTimeMs": done.started_ms,
        "endTimeMs": done.ended_ms,
        "totalScheduledTasks": 0,
        "deletionVectorStats": _vector_stats(done) if done.vectors else None,
        "numTableColumns": done.columns,
        "numTableColumnsWithStats": min(done.columns, _INDEXED_COLUMNS),
    }


def _sizes(files: FileSizes) -> Mapping[str, Any]:
    return {
        "min": files.least,
        "max": files.most,
        "avg": files.total / files.count if files.count else 0.0,
        "totalFiles": files.count,
        "totalSize": files.total,
    }


def _z_order_stats(done: RewrittenFiles) -> Mapping[str, Any]:
    rewritten = {"num": done.removed.count, "size": done.removed.total}
    return {
        "strategyName": "all",
        "inputCubeFiles": {"num": 0, "size": 0},
        "inputOtherFiles": rewritten,
        "inputNumCubes": 0,
        "mergedFiles": rewritten,
        "numOutputCubes": done.partitions,
    }


def _vector_stats(done: RewrittenFiles) -> Mapping[str, int]:
    return {"numDeletionVectorsRemoved": done.vectors, "numDeletionVectorRowsRemoved": done.vector_rows}
