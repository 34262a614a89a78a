"""What do MERGE and RESTORE answer, in SQL and in ``delta.tables``? One row with Delta's columns, in order.

What OPTIMIZE answers is in ``spark/optimize/optimize_result.py``.
"""

from collections.abc import Mapping

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from headgate.spark.session import local_frame

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


def merge_frame(spark: SparkSession, metrics: Mapping[str, int]) -> DataFrame:
    """One row: how many rows a MERGE affected, updated, deleted and inserted."""
    counts = {name: metrics.get(metric, 0) for name, metric in MERGE_COLUMNS if metric is not None}
    return _one_row(spark, {"num_affected_rows": sum(counts.values()), **counts})


def restore_frame(spark: SparkSession, metrics: Mapping[str, int]) -> DataFrame:
    """One row: what a RESTORE did to the files of the table."""
    return _one_row(spark, {name: metrics[metric] for name, metric in RESTORE_COLUMNS})


def _one_row(spark: SparkSession, row: Mapping[str, int]) -> DataFrame:
    return local_frame.local_frame(
        spark, pa.Table.from_pylist([row], pa.schema([(name, pa.int64()) for name in row]))
    )
