"""``delta.tables`` on Headgate: the classes that programs for Delta Spark are written against.

    table = DeltaTable.forName(spark, "sales.orders")     a table of a lake: lake.register(spark)
    table = DeltaTable.forPath(spark, "/data/orders")     an ordinary one

Signatures, defaults, results and exceptions are those of delta-spark 4.4.
"""

from contextlib import nullcontext
from dataclasses import replace as replaced
from datetime import timedelta
from typing import Any, overload

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, StructField, StructType

from headgate.delta import identifiers, table_creation
from headgate.delta.argument_types import (
    Condition,
    check_assignments,
    check_column,
    check_condition,
    check_source,
    check_texts,
    check_value,
    column_names,
)
from headgate.delta.error_translation import delta_calls
from headgate.delta.identifiers import HeldTable
from headgate.delta.merge_builder import ColumnMapping, DeltaMergeBuilder
from headgate.delta.optimize_builder import DeltaOptimizeBuilder
from headgate.delta.table_creation import CreationMode, TableSpecification
from headgate.errors import InvalidRequest
from headgate.lake import path_table
from headgate.protocol import property_values
from headgate.spark.commands import operation_frames
from headgate.spark.jvm import frame_alias
from headgate.spark.rules.identity_columns import IdentityGenerator
from headgate.spark.session import kind, local_frame

__all__ = [
    "DeltaMergeBuilder",
    "DeltaOptimizeBuilder",
    "DeltaTable",
    "DeltaTableBuilder",
    "IdentityGenerator",
]
_TARGET = "__headgate_target"
"""What a MERGE calls a table that has no name and no alias."""
_RETENTION_CHECK = "spark.databricks.delta.retentionDurationCheck.enabled"
_PARQUET = "parquet"


@delta_calls
class DeltaTable:
    """A Delta table: ``DeltaTable.forName(spark, "sales.orders")``, or ``forPath(spark, "/data/orders")``."""

    def __init__(self, spark: SparkSession, held: HeldTable, alias: str | None = None) -> None:
        self._spark = spark
        self._held = held
        self._table = held.table
        self._alias = alias or held.qualifier

    def toDF(self) -> DataFrame:
        """The rows of the table as they are now, under its alias if it has one."""
        rows = self._table.read(spark=self._spark)
        return rows.alias(self._alias) if self._alias else rows

    def alias(self, aliasName: str) -> "DeltaTable":
        """The same table, which expressions may call by this name."""
        check_texts("an alias", aliasName)
        return DeltaTable(self._spark, self._held, aliasName)

    def generate(self, mode: str) -> None:
        """List the files for engines that read no log; the mode is ``symlink_format_manifest``."""
        self._table.generate(mode)

    def delete(self, condition: Condition = None) -> None:
        """Delete the rows for which a condition is true, or all rows."""
        check_condition(condition)
        self._table.delete(condition, alias=self._alias, spark=self._spark)

    @overload
    def update(self, condition: str | Column, set: ColumnMapping) -> None: ...

    @overload
    def update(self, *, set: ColumnMapping) -> None: ...

    def update(self, condition: Condition = None, set: ColumnMapping | None = None) -> None:
        """Give columns new values in the rows for which a condition is true, or in all rows."""
        values = check_assignments(set, "'set'")
        check_condition(condition)
        if values:
            self._table.update(values, condition, alias=self._alias, spark=self._spark)

    def merge(self, source: DataFrame, condition: str | Column) -> DeltaMergeBuilder:
        """A MERGE of the rows of ``source``, to which clauses are added before it is executed."""
        check_source(source, condition)
        target = self._alias or _TARGET
        named = frame_alias.frame_alias(source)
        begun = self._table.merge(source, condition, target_alias=target, source_alias=named)
        return DeltaMergeBuilder(self._spark, begun)

    def vacuum(self, retentionHours: float | None = None) -> DataFrame:
        """Delete the files that no version younger than the retention needs; an empty frame.

        Less than ``delta.deletedFileRetentionDuration`` is refused while the session has
        ``spark.databricks.delta.retentionDurationCheck.enabled``.
        """
        retention = None if retentionHours is None else timedelta(hours=float(retentionHours))
        is_checked = property_values.is_true(self._spark.conf.get(_RETENTION_CHECK, "true"))
        self._table.vacuum(retention, enforce_retention=is_checked)
        return local_frame.local_frame(
            self._spark, [], StructType([])
        )  # no row and no column, as Delta gives

    def history(self, limit: int | None = None) -> DataFrame:
        """What happened to the table, newest first; only the latest ``limit`` versions, if it is given."""
        if limit is not None and limit <= 0:
            return self._table.history(limit=1, spark=self._spark).limit(0)
        return self._table.history(limit=limit, spark=self._spark)

    def detail(self) -> DataFrame:
        """What the table is, in one row."""
        found = self._table.detail(spark=self._spark)
        return found if self._held.lake else found.withColumn("name", F.lit(None).cast("string"))

    @classmethod
    def convertToDelta(
        cls,
        sparkSession: SparkSession,
        identifier: str,
        partitionSchema: str | StructType | None = None,
    ) -> "DeltaTable":
        """Make a folder of parquet files, ``parquet.`/path```, a Delta table, without writing any anew."""
        path = identifiers.path_in(identifier, _PARQUET)
        if path is None:
            raise InvalidRequest(
                f"{identifier} is no folder of parquet files: write parquet.`/path`; to have it by a name, "
                "call lake.convert(path, 'schema.table')",
                code="DELTA_CONVERT_NON_PARQUET_TABLE",
            )
        given = StructType([]) if partitionSchema is None else partitionSchema  # Delta guesses no type
        return cls(sparkSession, HeldTable(path_table.convert(path, partition_schema=given)))

    @classmethod
    def forPath(
        cls,
        sparkSession: SparkSession,
        path: str,
        hadoopConf: dict[str, str] = dict(),  # noqa: B006, C408 — as Delta has it
    ) -> "DeltaTable":
        """The ordinary Delta table at a path. ``hadoopConf`` is refused: give it to the session."""
        identifiers.check_hadoop_conf(hadoopConf)
        return cls(sparkSession, identifiers.table_by_path(path))

    @classmethod
    def forName(cls, sparkSession: SparkSession, tableOrViewName: str) -> "DeltaTable":
        """The table of that name in a lake that the session knows, or ``delta.`/path```."""
        return cls(sparkSession, identifiers.table_by_name(sparkSession, tableOrViewName))

    @classmethod
    def create(cls, sparkSession: SparkSession | None = None) -> "DeltaTableBuilder":
        """A table to be made, which must not be there."""
        return DeltaTableBuilder(sparkSession, CreationMode.CREATE)

    @classmethod
    def createIfNotExists(cls, sparkSession: SparkSession | None = None) -> "DeltaTableBuilder":
        """A table to be made, unless it is there."""
        return DeltaTableBuilder(sparkSession, CreationMode.CREATE_IF_NOT_EXISTS)

    @classmethod
    def replace(cls, sparkSession: SparkSession | None = None) -> "DeltaTableBuilder":
        """A table to be put in place of one that is there."""
        return DeltaTableBuilder(sparkSession, CreationMode.REPLACE)

    @classmethod
    def createOrReplace(cls, sparkSession: SparkSession | None = None) -> "DeltaTableBuilder":
        """A table to be made, or to be put in place of one that is there."""
        return DeltaTableBuilder(sparkSession, CreationMode.CREATE_OR_REPLACE)

    @classmethod
    def isDeltaTable(cls, sparkSession: SparkSession, identifier: str) -> bool:
        """Whether there is a Delta table at a path, or by a name in a lake that the session knows."""
        return identifiers.is_table(sparkSession, identifier)

    def upgradeTableProtocol(self, readerVersion: int, writerVersion: int) -> None:
        """Have the table ask of its clients what these protocol versions do, at least."""
        check_value(readerVersion, int, "readerVersion")
        check_value(writerVersion, int, "writerVersion")
        self._table.upgrade_protocol(readerVersion, writerVersion)

    def addFeatureSupport(self, featureName: str) -> None:
        """Have the table's protocol name a feature, and those it requires."""
        check_value(featureName, str, "featureName")
        self._table.add_feature(featureName)

    def dropFeatureSupport(self, featureName: str, truncateHistory: bool | None = None) -> None:
        """Switch a feature off and have the protocol no longer name it."""
        check_value(featureName, str, "featureName")
        check_value(False if truncateHistory is None else truncateHistory, bool, "truncateHistory")
        self._table.drop_feature(featureName, truncate_history=bool(truncateHistory))

    def restoreToVersion(self, version: int) -> DataFrame:
        """Make the table what it was at a version; one row with what that did to its files."""
        check_value(version, int, "version")
        return operation_frames.restore_frame(self._spark, self._table.restore(version=version).metrics)

    def restoreToTimestamp(self, timestamp: str) -> DataFrame:
        """Make the table what it was at a moment, ``2026-01-31`` or ``2026-01-31 12:00:00``."""
        check_value(timestamp, str, "timestamp")
        return operation_frames.restore_frame(self._spark, self._table.restore(timestamp=timestamp).metrics)

    def optimize(self) -> DeltaOptimizeBuilder:
        """An OPTIMIZE, which is run by ``executeCompaction`` or ``executeZOrderBy``."""
        return DeltaOptimizeBuilder(self._spark, self._table)

    def clone(  # type: ignore[no-untyped-def]  # as Delta has it
        self, target, isShallow=False, replace=False, properties=None
    ) -> "DeltaTable":
        """Make a table of that name, or at that absolute path, what this one is now."""
        return self._cloned(target, isShallow, replace, properties)

    def cloneAtVersion(  # type: ignore[no-untyped-def]
        self, version, target, isShallow=False, replace=False, properties=None
    ) -> "DeltaTable":
        """Make a table what this one was at a version."""
        check_value(version, int, "version")
        return self._cloned(target, isShallow, replace, properties, version=version)

    def cloneAtTimestamp(  # type: ignore[no-untyped-def]
        self, timestamp, target, isShallow=False, replace=False, properties=None
    ) -> "DeltaTable":
        """Make a table what this one was at a moment."""
        check_value(timestamp, str, "timestamp")
        return self._cloned(target, isShallow, replace, properties, timestamp=timestamp)

    def _cloned(
        self,
        target: str,
        is_shallow: bool,
        replace: bool,
        properties: dict[str, str] | None,
        *,
        version: int | None = None,
        timestamp: str | None = None,
    ) -> "DeltaTable":
        check_value(target, str, "target")
        check_value(is_shallow, bool, "isShallow")
        check_value(replace, bool, "replace")
        wanted = {} if properties is None else properties
        check_value(wanted, dict, "properties")
        for each in (*wanted, *wanted.values()):
            check_value(each, str, "every key and value of the properties")
        wish: dict[str, Any] = {
            "shallow": is_shallow, "version": version, "timestamp": timestamp, "replace": replace,
            "properties": wanted,
        }  # fmt: skip
        path = target if identifiers.is_path(target) else identifiers.path_in(target)
        if path is not None:
            with self._leased(version):
                return DeltaTable(self._spark, HeldTable(path_table.clone_to_path(self._table, path, **wish)))
        found = identifiers.lake_table(self._spark, target)
        if found is None:
            raise identifiers.not_of_a_lake(self._spark, target)
        made = found.lake.clone(self._table, str(found.name), **wish)
        return DeltaTable(self._spark, HeldTable(made, found.lake))

    def _leased(self, version: int | None) -> Any:
        """Copying takes long, in which no VACUUM through the catalog may take what is copied."""
        lake = self._held.lake
        if lake is None:
            return nullcontext()
        return lake.lease(self._table.name, version=self._table.version() if version is None else version)


@delta_calls
class DeltaTableBuilder:
    """A table to be made or replaced; every method but ``execute`` gives the builder back."""

    def __init__(self, spark: SparkSession | None, mode: CreationMode) -> None:
        self._spark = spark or kind.active_session()
        self._wanted = TableSpecification(mode)

    def tableName(self, identifier: str) -> "DeltaTableBuilder":
        """Its name in a lake that the session knows, ``schema.table``."""
        check_texts("the name of a table", identifier)
        return self._with(name=identifier)

    def location(self, location: str) -> "DeltaTableBuilder":
        """Where its files are: without a name an ordinary table, with one a table that the lake adopts."""
        check_texts("the location", location)
        return self._with(location=location)

    def comment(self, comment: str) -> "DeltaTableBuilder":
        """What describes the table in words."""
        check_texts("the comment of a table", comment)
        return self._with(comment=comment)

    def addColumn(
        self,
        colName: str,
        dataType: str | DataType,
        nullable: bool = True,
        generatedAlwaysAs: str | IdentityGenerator | None = None,
        generatedByDefaultAs: IdentityGenerator | None = None,
        comment: str | None = None,
    ) -> "DeltaTableBuilder":
        """A column, whose values may be generated from others or be an identity."""
        check_texts("the name of a column", colName)
        check_column(dataType, nullable, generatedAlwaysAs, generatedByDefaultAs, comment)
        column = table_creation.new_column(
            colName,
            dataType,
            nullable=nullable,
            generated=generatedAlwaysAs if generatedByDefaultAs is None else generatedByDefaultAs,
            by_default=generatedByDefaultAs is not None,
            comment=comment,
        )
        return self._with(columns=(*self._wanted.columns, column))

    def addColumns(self, cols: StructType | list[StructField]) -> "DeltaTableBuilder":
        """Columns that a schema has."""
        fields = cols.fields if isinstance(cols, StructType) else cols
        if not isinstance(fields, list) or not all(isinstance(each, StructField) for each in fields):
            raise TypeError(f"columns must be a StructType or a list of StructField, not {cols!r}")
        return self._with(columns=(*self._wanted.columns, *fields))

    @overload
    def partitionedBy(self, *cols: str) -> "DeltaTableBuilder": ...

    @overload
    def partitionedBy(self, __cols: list[str] | tuple[str, ...]) -> "DeltaTableBuilder": ...

    def partitionedBy(self, *cols: str | list[str] | tuple[str, ...]) -> "DeltaTableBuilder":
        """The columns that it is partitioned by."""
        return self._with(partition_by=column_names("a column to partition by", cols))

    @overload
    def clusterBy(self, *cols: str) -> "DeltaTableBuilder": ...

    @overload
    def clusterBy(self, __cols: list[str] | tuple[str, ...]) -> "DeltaTableBuilder": ...

    def clusterBy(self, *cols: str | list[str] | tuple[str, ...]) -> "DeltaTableBuilder":
        """The columns that it is clustered by."""
        return self._with(cluster_by=column_names("a column to cluster by", cols))

    def property(self, key: str, value: str) -> "DeltaTableBuilder":
        """A property of the table."""
        check_texts("a property and its value", key, value)
        return self._with(properties={**self._wanted.properties, key: value})

    def execute(self) -> DeltaTable:
        """Make or replace the table."""
        return DeltaTable(self._spark, table_creation.make_table(self._spark, self._wanted))

    def _with(self, **told: Any) -> "DeltaTableBuilder":
        self._wanted = replaced(self._wanted, **told)
        return self
