"""The history of a table as a DataFrame, in Delta's columns."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from headgate.spark.session import local_frame
from headgate.table.read.history import HistoryEntry

_JOB = ("jobId", "jobName", "jobRunId", "runId", "jobOwnerId", "triggerType")
_NOTEBOOK = ("notebookId",)
_TEXTS = pa.map_(pa.string(), pa.string())
COLUMNS = pa.schema(
    [
        ("version", pa.int64()),
        ("timestamp", pa.timestamp("us", tz="UTC")),
        ("userId", pa.string()),
        ("userName", pa.string()),
        ("operation", pa.string()),
        ("operationParameters", _TEXTS),
        ("job", pa.struct([(name, pa.string()) for name in _JOB])),
        ("notebook", pa.struct([(name, pa.string()) for name in _NOTEBOOK])),
        ("clusterId", pa.string()),
        ("readVersion", pa.int64()),
        ("isolationLevel", pa.string()),
        ("isBlindAppend", pa.bool_()),
        ("operationMetrics", _TEXTS),
        ("userMetadata", pa.string()),
        ("engineInfo", pa.string()),
    ]
)


def frame(spark: SparkSession, entries: Sequence[HistoryEntry]) -> DataFrame:
    """One row per version, in the order of ``entries``."""
    # As Arrow: rows of Python objects would start a Python worker, which takes seconds.
    return local_frame.local_frame(spark, pa.Table.from_pylist([_row(entry) for entry in entries], COLUMNS))


def _row(entry: HistoryEntry) -> Mapping[str, Any]:
    info = entry.info
    return {
        "version": entry.version,
        "timestamp": entry.timestamp * 1000,
        "userId": info.user_id,
        "userName": info.user_name,
        "operation": info.operation,
        "operationParameters": _texts(info.operation_parameters),
        "job": _parts(info.job, _JOB),
        "notebook": _parts(info.notebook, _NOTEBOOK),
        "clusterId": info.cluster_id,
        "readVersion": info.read_version,
        "isolationLevel": info.isolation_level,
        "isBlindAppend": info.is_blind_append,
        "operationMetrics": _texts(info.operation_metrics),
        "userMetadata": info.user_metadata,
        "engineInfo": info.engine_info,
    }


def _texts(values: Mapping[str, Any] | None) -> Sequence[tuple[str, str | None]] | None:
    return None if values is None else [(name, _text(value)) for name, value in values.items()]


def _parts(value: Any, names: Sequence[str]) -> Mapping[str, str | None] | None:
    """The named parts of what other writers put here as any JSON."""
    return {name: _text(value.get(name)) for name in names} if isinstance(value, dict) else None


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return msgspec.json.encode(value).decode()
