"""What does OPTIMIZE answer? The table's path, and metrics in Delta's names and types."""

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from headgate.lake.table import Table
from headgate.spark.dml.dml_metrics import OperationResult
from headgate.spark.session import local_frame

_LONG = pa.int64()
_SIZES = pa.struct(
    [("min", _LONG), ("max", _LONG), ("avg", pa.float64()), ("totalFiles", _LONG), ("totalSize", _LONG)]
)
_FILES = pa.struct([("num", _LONG), ("size", _LONG)])
_ZORDER = pa.struct(
    [
        ("strategyName", pa.string()),
        ("inputCubeFiles", _FILES),
        ("inputOtherFiles", _FILES),
        ("inputNumCubes", _LONG),
        ("mergedFiles", _FILES),
        ("numOutputCubes", _LONG),
        ("mergedNumCubes", _LONG),
    ]
)
_CLUSTERING = pa.struct(
    [
        ("inputZCubeFiles", pa.struct([("numFiles", _LONG), ("size", _LONG)])),
        ("inputOtherFiles", pa.struct([("numFiles", _LONG), ("size", _LONG)])),
        ("inputNumZCubes", _LONG),
        ("mergedFiles", pa.struct([("numFiles", _LONG), ("size", _LONG)])),
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
        ("zOrderStats", _ZORDER),
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
COLUMNS = pa.schema([("path", pa.string()), ("metrics", METRICS)])


def frame(
    spark: SparkSession, table: Table, done: OperationResult, *, z_order_by: tuple[str, ...] = ()
) -> DataFrame:
    """One row: what was written anew; what nobody counted is zero, as in Delta, or null."""
    counted = done.metrics
    added, removed = counted.get("numAddedFiles", 0), counted.get("numRemovedFiles", 0)
    vectors = counted.get("numDeletionVectorsRemoved", 0)
    metrics: dict[str, object] = {
        name: 0 for name in (field.name for field in METRICS) if METRICS.field(name).type == _LONG
    }
    metrics |= {
        "numFilesAdded": added,
        "numFilesRemoved": removed,
        "filesAdded": _sizes(
            added, counted.get("numAddedBytes", 0), counted.get("minFileSize"), counted.get("maxFileSize")
        ),
        "filesRemoved": _sizes(removed, counted.get("numRemovedBytes", 0), None, None),
        "numBatches": 1 if added else 0,
        "totalConsideredFiles": removed,
        "preserveInsertionOrder": not z_order_by,
        "deletionVectorStats": {"numDeletionVectorsRemoved": vectors, "numDeletionVectorRowsRemoved": 0}
        if vectors
        else None,
    }
    row = {"path": table.location, "metrics": metrics}
    return local_frame.local_frame(spark, pa.Table.from_pylist([row], COLUMNS))


def _sizes(count: int, size: int, least: int | None, most: int | None) -> dict[str, float | int | None]:
    return {
        "min": least if count else None,
        "max": most if count else None,
        "avg": size / count if count else 0.0,
        "totalFiles": count,
        "totalSize": size,
    }
