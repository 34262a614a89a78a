"""Where the behaviours of ``delta.tables`` are tried: a lake, paths, and Delta Spark's own tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

import headgate
import headgate.delta.exceptions
import headgate.delta.tables
from headgate import Lake


@dataclass(frozen=True)
class LakePlace:
    """Tables of a lake that the session knows, by their names."""

    spark: SparkSession
    lake: Lake
    folder: Path
    api: Any = headgate.delta.tables
    exceptions: Any = headgate.delta.exceptions

    def write(self, rows: DataFrame, name: str, partition_by: Sequence[str] = ()) -> Any:
        self.lake.write(rows, f"s.{name}", mode="append", partition_by=tuple(partition_by))
        return self.open(name)

    def named(self, builder: Any, name: str) -> Any:
        return builder.tableName(f"s.{name}")

    def open(self, name: str) -> Any:
        return self.api.DeltaTable.forName(self.spark, f"s.{name}")

    def path(self, name: str) -> str:
        return str(self.folder / name)


@dataclass(frozen=True)
class PathPlace:
    """Ordinary tables in a folder, by their paths."""

    spark: SparkSession
    folder: Path
    api: Any = headgate.delta.tables
    exceptions: Any = headgate.delta.exceptions

    def write(self, rows: DataFrame, name: str, partition_by: Sequence[str] = ()) -> Any:
        headgate.write_path(rows, self.folder / name, mode="append", partition_by=tuple(partition_by))
        return self.open(name)

    def named(self, builder: Any, name: str) -> Any:
        return builder.location(self.path(name))

    def open(self, name: str) -> Any:
        return self.api.DeltaTable.forPath(self.spark, self.path(name))

    def path(self, name: str) -> str:
        return str(self.folder / name)


@dataclass(frozen=True)
class DeltaSparkPlace:
    """Tables of Delta Spark in a folder, by their paths."""

    spark: SparkSession
    folder: Path
    api: Any
    exceptions: Any

    def write(self, rows: DataFrame, name: str, partition_by: Sequence[str] = ()) -> Any:
        rows.write.format("delta").mode("append").partitionBy(*partition_by).save(self.path(name))
        return self.open(name)

    def named(self, builder: Any, name: str) -> Any:
        return builder.location(self.path(name))

    def open(self, name: str) -> Any:
        return self.api.DeltaTable.forPath(self.spark, self.path(name))

    def path(self, name: str) -> str:
        return str(self.folder / name)
