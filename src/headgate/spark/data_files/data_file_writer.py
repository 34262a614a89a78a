"""DataFrame → data files and their add actions: the only place that writes data.

Spark's own writer writes into a folder nobody else knows, one per transaction; the files stay
there. Their statistics come from the footers, read here on the driver. Spark does not sync
local files, so that is done here too, before anybody can commit them.
"""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F

from headgate import tracing
from headgate.deferred import deferred
from headgate.errors import InvalidRequest, StorageError, StorageUnavailable
from headgate.protocol.actions import AddCdcFile, AddFile, EpochMillis, Metadata, TxnId
from headgate.protocol.features import identity_columns
from headgate.protocol.schema.column_mapping import Path
from headgate.protocol.schema.types import Field, Primitive
from headgate.protocol.stats.indexed_columns import indexed_paths
from headgate.spark.jvm import call_sites
from headgate.spark.parquet import parquet_options
from headgate.spark.session import schema as spark_schema
from headgate.storage import location_spelling
from headgate.storage.location_spelling import is_local
from headgate.storage.store import ObjectMeta, Store
from headgate.table.location import TableLocation

if TYPE_CHECKING:
    from headgate.protocol.stats import operation_metrics
    from headgate.spark.calls import errors
    from headgate.spark.data_files import partition_folders, physical_columns
    from headgate.spark.data_files.physical_columns import PhysicalRows
    from headgate.spark.parquet import footers
    from headgate.spark.rules import checks
    from headgate.spark.rules import identity_columns as spark_identity
    from headgate.spark.rules.checks import RowConstraint
    from headgate.spark.session import hadoop_paths, kind, observation, vended_access
    from headgate.storage.fsync import sync_files, sync_while_writing
else:
    operation_metrics = deferred("headgate.protocol.stats", "operation_metrics")
    errors = deferred("headgate.spark.calls", "errors")
    partition_folders, physical_columns = deferred(
        "headgate.spark.data_files", "partition_folders", "physical_columns"
    )
    PhysicalRows = deferred("headgate.spark.data_files.physical_columns", "PhysicalRows")
    footers = deferred("headgate.spark.parquet", "footers")
    checks = deferred("headgate.spark.rules", "checks")
    spark_identity = deferred("headgate.spark.rules", "identity_columns")
    RowConstraint = deferred("headgate.spark.rules.checks", "RowConstraint")
    hadoop_paths, kind, observation, vended_access = deferred(
        "headgate.spark.session", "hadoop_paths", "kind", "observation", "vended_access"
    )
    sync_files, sync_while_writing = deferred("headgate.storage.fsync", "sync_files", "sync_while_writing")

_MARK_SUCCESS = "mapreduce.fileoutputcommitter.marksuccessfuljobs"
_SUCCESS = ("_SUCCESS", "._SUCCESS.crc")
_OPTIONS = {
    # Spark's default, INT96, has no bounds in the footer.
    parquet_options.TIMESTAMP_TYPE: parquet_options.MICROS,
    "spark.sql.variant.inferShreddingSchema": "false",
    _MARK_SUCCESS: "false",
    # With 2, files of a task that failed while it finished would be among those of the others.
    "mapreduce.fileoutputcommitter.algorithm.version": "1",
}
_FOOTER_READERS = 8
_ROWS = "rows"
CDC_FOLDER = "_change_data"
CHANGE_TYPE = Field("_change_type", Primitive("string"))


@dataclass(frozen=True, slots=True)
class DataFileOptions:
    """How files are written."""

    max_records: int | None = None
    """The most rows a file may have."""
    compression: str | None = None
    """One of parquet's codecs, such as ``zstd``; Spark's default if not given."""
    data_change: bool = True
    """Whether the rows are new to the table; False for those that are only put elsewhere."""
    optimize: bool = False
    """Whether to shuffle the rows first, so that there are few files of a good size."""
    rules: tuple[RowConstraint, ...] = ()
    """What the rows must be beyond what the table demands of them."""


DEFAULT_OPTIONS = DataFileOptions()


@dataclass(frozen=True, slots=True)
class WrittenFiles:
    """The files of one transaction, not yet committed."""

    folder: str
    adds: tuple[AddFile, ...]
    rows: int
    changes: tuple[AddCdcFile, ...] = ()
    farthest: Mapping[str, int] = field(default_factory=dict)
    """By name, the value of each identity column that is farthest in the direction of its step."""
    txn_id: TxnId | None = None
    """The transaction as which they are to be committed, so that they are known to be new."""

    @property
    def metrics(self) -> Mapping[str, str]:
        """What was written, in Delta's names."""
        return operation_metrics.written_metrics(self.adds, self.rows)


@dataclass(frozen=True, slots=True)
class _WrittenFile:
    """A file that was just written, as its footer and its folder describe it."""

    path: str
    size: int
    modified_ms: int
    partition_values: Mapping[str, str | None]
    footer: pq.FileMetaData


@call_sites.without_call_sites
def write_files(
    df: DataFrame,
    table: TableLocation,
    metadata: Metadata,
    *,
    clustering: Iterable[Path] = (),
    options: DataFileOptions = DEFAULT_OPTIONS,
    extra: Sequence[Field] = (),
) -> WrittenFiles:
    """Write the rows of ``df`` as new files of ``table`` under ``metadata``; nothing is committed.

    ``df`` has the table's columns by their own (logical) names, in any order and case, and of fitting
    types: a nested field or column that is absent is null, or its default, or computed if it is
    generated. ``metadata`` is that of the version to be: its schema, partition columns, column mapping,
    constraints and properties count. ``clustering`` is what the table is clustered by, as
    ``lifecycle.clustering_columns`` gives it. ``extra`` are columns of ``df`` that are stored
    beside those of the table under just their names, such as the materialized ids of rows.

    The files are in a folder of their own, which ``discard`` deletes. Raises ``ConstraintViolated`` if
    a row breaks a rule of the table; then no file is left.
    """
    folder = table.new_folder()
    if options.optimize and identity_columns.PREFIX in metadata.schema_string:
        # Values are given behind every shuffle, so that a task which is run again gives the same.
        df, options = _rebalance(df, metadata), replace(options, optimize=False)
    arranged = physical_columns.to_physical(df, metadata, extra=extra, rules=options.rules)
    with tracing.span("headgate.write_files"):
        files = _write_and_list(table, arranged, folder.name, options)
    indexed = indexed_paths(metadata, clustering)
    adds = tuple(
        AddFile(
            path=location_spelling.relative_log_path(file.path),
            partition_values=file.partition_values,
            size=file.size,
            modification_time=EpochMillis(file.modified_ms),
            data_change=options.data_change,
            stats=footers.render_stats(file.footer, arranged.stored, indexed),
        )
        for file in files
    )
    access = vended_access.access_options(table.location)
    stored = hadoop_paths.escape_glob(hadoop_paths.folder(table.location, folder.name))
    farthest = spark_identity.farthest_values(
        [file.footer for file in files],
        metadata,
        lambda: df.sparkSession.read.options(**access).parquet(stored),
    )
    rows = sum(file.footer.num_rows for file in files)
    return WrittenFiles(folder.name, adds, rows, farthest=farthest, txn_id=folder.txn_id)


def write_cdc_files(
    df: DataFrame, table: TableLocation, metadata: Metadata, *, options: DataFileOptions = DEFAULT_OPTIONS
) -> WrittenFiles:
    """Write the rows of ``df`` as files of the change data feed; nothing is committed.

    ``df`` has the table's columns, as for ``write_files``, and ``_change_type``. No rule is checked.
    """
    folder = f"{CDC_FOLDER}/{table.world.uuid()}"
    arranged = physical_columns.to_physical(df, metadata, extra=(CHANGE_TYPE,), checked=False)
    found = _write_and_list(table, arranged, folder, options)
    changes = tuple(
        AddCdcFile(
            path=location_spelling.relative_log_path(file.path),
            partition_values=file.partition_values,
            size=file.size,
            data_change=False,
        )
        for file in found
    )
    return WrittenFiles(folder, (), sum(file.footer.num_rows for file in found), changes)


def txn_id_of_files(parts: Iterable[WrittenFiles]) -> TxnId | None:
    """The transaction for which the files of these parts were written."""
    return next((part.txn_id for part in parts if part.txn_id is not None), None)


def discard(store: Store, written: WrittenFiles) -> None:
    """Delete files that are proven to belong to no commit."""
    # Leftovers cost space only, and the failure that led here must be the one that is told.
    with suppress(StorageError):
        for item in store.list_from(f"{written.folder}/"):
            store.delete(item.path)


def _rebalance(df: DataFrame, metadata: Metadata) -> DataFrame:
    present = spark_schema.schema_without_void(df)
    found = (present.find(name) for name in metadata.partition_columns)
    return df.hint("rebalance", *(spark_schema.column(column.name) for column in found if column is not None))


def _write_and_list(
    table: TableLocation, arranged: PhysicalRows, folder: str, options: DataFileOptions
) -> list[_WrittenFile]:
    """The files with rows that Spark makes of these in a new folder, durable."""
    vended_access.remember_store(table.location, table.store)
    elsewhere = is_local(table.location) and kind.has_executors(arranged.rows.sparkSession)
    counted = Observation() if elsewhere else None
    violation = partial(checks.constraint_violation, given=arranged.rules)
    with (
        errors.translated_errors(violation, spark_identity.values_exhausted),
        sync_while_writing(table.location, folder),
    ):
        _write_parquet(arranged, table, folder, options, counted)
    listed = list(table.store.list_from(f"{folder}/"))
    if kind.is_connect(arranged.rows):
        _check_visible_here(table, listed)
    items = [item for item in listed if _is_data_file(item)]
    with ThreadPoolExecutor(_FOOTER_READERS) as pool:
        described = list(pool.map(lambda item: _describe_file(table.store, item, arranged), items))
    files = [file for file in described if file is not None]
    if counted is not None:
        _check_row_count(table, files, observation.observed_metrics(counted, arranged.rows).get(_ROWS, 0))
    sync_files(table.location, (file.path for file in files))
    return files


def _write_parquet(
    arranged: PhysicalRows,
    table: TableLocation,
    folder: str,
    options: DataFileOptions,
    counted: Observation | None,
) -> None:
    rows = arranged.rows
    folders = [column.folder for column in arranged.partitioned_by]
    if options.optimize:
        rows = rows.hint("rebalance", *map(spark_schema.column, folders))
    if counted is not None:
        rows = rows.observe(counted, F.count(F.lit(1)).alias(_ROWS))
    access = vended_access.access_options(table.location)
    settings = {**_OPTIONS, **access, _MARK_SUCCESS: str(kind.is_connect(rows)).lower()}
    if options.max_records is not None:
        settings["maxRecordsPerFile"] = str(options.max_records)
    if options.compression is not None:
        settings["compression"] = options.compression
    with parquet_options.for_writing(rows.sparkSession):
        rows.write.mode("error").options(**settings).partitionBy(*folders).parquet(
            hadoop_paths.folder(table.location, folder)
        )


def _check_visible_here(table: TableLocation, listed: Sequence[ObjectMeta]) -> None:
    """That what a Spark Connect server has written is here: if nothing else, the mark of its success."""
    if not listed:
        raise InvalidRequest(
            f"the Spark Connect server has written into {table.location}, and from here its files are not "
            "there; nothing was committed: put the table where both see it, such as a bucket"
        )
    for item in listed:
        if item.path.rpartition("/")[2] in _SUCCESS:
            table.store.delete(item.path)


def _check_row_count(table: TableLocation, found: Sequence[_WrittenFile], rows: int) -> None:
    """That what executors have written is here: Spark asks only whether they could write."""
    here = sum(file.footer.num_rows for file in found)
    if here < rows:
        raise InvalidRequest(
            f"executors have written {rows} rows into {table.location}, and from here {here} of them are "
            "there; nothing was committed: put the table where driver and executors all see it, such as a "
            "bucket or a folder that they share"
        )


def _is_data_file(item: ObjectMeta) -> bool:
    name = item.path.rpartition("/")[2]
    return name.endswith(".parquet") and not name.startswith((".", "_"))


def _describe_file(store: Store, item: ObjectMeta, arranged: PhysicalRows) -> _WrittenFile | None:
    footer = footers.read(store, item.path)
    if footer is None:
        raise StorageUnavailable(
            f"{item.path!r} was just written and is no whole parquet file; nothing was committed: run the "
            "operation again",
            path=item.path, operation="read",
        )  # fmt: skip
    if footer.num_rows == 0:
        folder, _, name = item.path.rpartition("/")
        store.delete(item.path)
        store.delete(f"{folder}/.{name}.crc")
        return None
    values = partition_folders.values_from_path(item.path, arranged.partitioned_by)
    return _WrittenFile(item.path, item.size, item.modified_ms, values, footer)
