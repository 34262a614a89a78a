"""DataFrame → data files and their add actions: the only place that writes data.

Spark's own writer writes into a folder nobody else knows, one per transaction; the files stay
there. Their statistics come from the footers, read here on the driver. Spark does not sync
local files, so that is done here too, before anybody can commit them.
"""

import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from urllib.parse import quote

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from headgate.errors import InvalidRequest, StorageError, StorageUnavailable
from headgate.protocol.actions import AddFile, EpochMillis
from headgate.protocol.schema.types import Struct
from headgate.spark import checks, footers, paths, sessions
from headgate.spark import schema as spark_schema
from headgate.storage.api import ObjectMeta, Store
from headgate.storage.settle import settle
from headgate.table.opened import OpenedTable

_TIMESTAMPS = "spark.sql.parquet.outputTimestampType"
_MARK_SUCCESS = "mapreduce.fileoutputcommitter.marksuccessfuljobs"
_SUCCESS = ("_SUCCESS", "._SUCCESS.crc")
_OPTIONS = {
    # Spark's default, INT96, has no bounds in the footer.
    _TIMESTAMPS: "TIMESTAMP_MICROS",
    "spark.sql.variant.inferShreddingSchema": "false",
    _MARK_SUCCESS: "false",
}
_FOOTER_READERS = 8
_session_conf = threading.Lock()


@dataclass(frozen=True, slots=True)
class Written:
    """The files of one transaction, not yet committed."""

    folder: str
    adds: tuple[AddFile, ...]
    rows: int

    @property
    def metrics(self) -> Mapping[str, str]:
        """What was written, in Delta's names."""
        return {
            "numFiles": str(len(self.adds)),
            "numOutputRows": str(self.rows),
            "numOutputBytes": str(sum(add.size for add in self.adds)),
        }


def write_files(df: DataFrame, table: OpenedTable, schema: Struct) -> Written:
    """Write the rows of ``df``, whose columns fit ``schema``, as new files below the table's location.

    Raises ``ConstraintViolated`` if a row breaks a rule of the table; then no file is left.
    """
    folder = table.world.uuid()
    try:
        _write_parquet(_arranged(df, schema), paths.folder(table.location, folder))
    except Exception as exc:  # Spark's failures have no common class
        violated = checks.violation(exc)
        if violated is None:
            raise
        raise violated from exc
    listed = list(table.store.list_from(f"{folder}/"))
    if sessions.is_connect(df):
        _check_shared(table, listed)
    found = [item for item in listed if _is_data(item)]
    with ThreadPoolExecutor(_FOOTER_READERS) as pool:
        described = list(pool.map(lambda item: _described(table.store, item, schema), found))
    settle(table.location, (item.path for item, (add, _) in zip(found, described, strict=True) if add))
    return Written(
        folder,
        tuple(add for add, _ in described if add is not None),
        sum(rows for _, rows in described),
    )


def discard(store: Store, written: Written) -> None:
    """Delete files that are proven to belong to no commit."""
    # Leftovers cost space only, and the failure that led here must be the one that is told.
    with suppress(StorageError):
        for item in store.list_from(f"{written.folder}/"):
            store.delete(item.path)


def _arranged(df: DataFrame, schema: Struct) -> DataFrame:
    """The table's columns, in its order and spelling; absent ones are null."""
    incoming = spark_schema.present(df)
    wanted = spark_schema.to_spark(spark_schema.nullable(schema))
    columns: list[Column] = []
    for field, spark_field in zip(schema.fields, wanted.fields, strict=True):
        found = incoming.find(field.name)
        column = F.lit(None) if found is None else spark_schema.column(found.name)
        columns.append(checks.not_null(column.cast(spark_field.dataType), field).alias(field.name))
    return df.select(*columns)


def _write_parquet(df: DataFrame, folder: str) -> None:
    with _session_timestamps(df.sparkSession):
        marked = {_MARK_SUCCESS: str(sessions.is_connect(df)).lower()}
        df.write.mode("error").options(**{**_OPTIONS, **marked}).parquet(folder)


def _check_shared(table: OpenedTable, listed: Sequence[ObjectMeta]) -> None:
    """That what a Spark Connect server has written is here: if nothing else, the mark of its success."""
    if not listed:
        raise InvalidRequest(
            f"the Spark Connect server has written into {table.location}, and from here its files are not "
            "there; nothing was committed: put the table where both see it, such as a bucket"
        )
    for item in listed:
        if item.path.rpartition("/")[2] in _SUCCESS:
            table.store.delete(item.path)


@contextmanager
def _session_timestamps(spark: SparkSession) -> Iterator[None]:
    """Before 4.2 Spark takes this option from the session only, so there writes wait for each other."""
    if _honours_write_options(spark.version):
        yield
        return
    with _session_conf:
        before = spark.conf.get(_TIMESTAMPS, None)
        spark.conf.set(_TIMESTAMPS, _OPTIONS[_TIMESTAMPS])
        try:
            yield
        finally:
            if before is None:
                spark.conf.unset(_TIMESTAMPS)
            else:
                spark.conf.set(_TIMESTAMPS, before)


def _honours_write_options(version: str) -> bool:
    major, minor = version.split(".")[:2]
    return (int(major), int(minor)) >= (4, 2)


def _is_data(item: ObjectMeta) -> bool:
    name = item.path.rpartition("/")[2]
    return name.endswith(".parquet") and not name.startswith((".", "_"))


def _described(store: Store, item: ObjectMeta, schema: Struct) -> tuple[AddFile | None, int]:
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
        return None, 0
    add = AddFile(
        path=quote(item.path),
        partition_values={},
        size=item.size,
        modification_time=EpochMillis(item.modified_ms),
        data_change=True,
        stats=footers.render_stats(footer, schema),
    )
    return add, footer.num_rows
