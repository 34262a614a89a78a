"""What a table offers to those who have no Spark, or few rows: Arrow and pandas in this process."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import SparkSession

from headgate.arrow.arrow_types import NEEDS_SPARK
from headgate.arrow.read import scan
from headgate.arrow.read.scan import RowRequest
from headgate.arrow.write.append_plan_cache import AppendPlans
from headgate.arrow.write.new_files import DEFAULT_COMPRESSION
from headgate.deferred import deferred
from headgate.errors import InvalidRequest, UnsupportedFeature
from headgate.spark.calls.option_kwargs import LocalRows
from headgate.spark.data_files.write_options import WriteOptions
from headgate.table.opened_table import OpenedTable

if TYPE_CHECKING:
    from headgate.arrow.write import append
    from headgate.arrow.write.append import AppendOptions
    from headgate.spark.calls import moments
else:
    append = deferred("headgate.arrow.write", "append")
    AppendOptions = deferred("headgate.arrow.write.append", "AppendOptions")
    moments = deferred("headgate.spark.calls", "moments")

_ZONE = "spark.sql.session.timeZone"
_UTC = ("UTC", "GMT")


@dataclass(frozen=True, slots=True)
class SmallData:
    """Rows that fit into this process, without a JVM."""

    opened: OpenedTable
    plans: AppendPlans = field(default_factory=AppendPlans)

    def append_local(self, rows: LocalRows, options: WriteOptions) -> int:
        """Add rows of this process; the version that has them. See ``Table.append``."""
        return append.append(self.opened, rows, _append_options(options), self.plans)

    def to_arrow(
        self,
        columns: Iterable[str] | None = None,
        where: str | None = None,
        limit: int | None = None,
        version: int | None = None,
        timestamp: datetime | str | None = None,
    ) -> pa.Table:
        """The rows as an Arrow table, read in this process: no Spark session is needed, and none is started.

        Some ``columns``, the rows that meet a condition, ``where="amount > 10"``, up to ``limit`` of them;
        now, at a ``version`` or as of a ``timestamp``. A condition that only Spark evaluates exactly is
        refused, and so is a column of a type that Arrow does not have.

            rows = orders.to_arrow(["id", "sku"], where="id > 1", limit=10)
        """
        moment = None if timestamp is None else moments.to_epoch_millis(timestamp)
        snapshot = self.opened.snapshot(version=version, timestamp=moment)
        names = None if columns is None else tuple(columns)
        return scan.to_arrow(self.opened, snapshot, RowRequest(names, where, limit, time_zone))

    def to_pandas(
        self,
        columns: Iterable[str] | None = None,
        where: str | None = None,
        limit: int | None = None,
        version: int | None = None,
        timestamp: datetime | str | None = None,
    ) -> Any:
        """The rows as a pandas DataFrame; pandas must be installed. Arguments are those of ``to_arrow``.

        frame = orders.to_pandas(limit=10)
        """
        rows = self.to_arrow(columns, where, limit, version, timestamp)
        try:
            return rows.to_pandas()
        except ModuleNotFoundError as exc:
            raise InvalidRequest(
                "pandas is not installed: install it, or use to_arrow(), which does without"
            ) from exc


def _append_options(asked: WriteOptions) -> AppendOptions:
    for refused in _NOT_WITHOUT_SPARK:
        if refused.holds(asked):
            raise UnsupportedFeature(
                f"{refused.option} {refused.says}: append a DataFrame of Spark, "
                "table.append(spark.createDataFrame(…)), or leave it out",
                code=NEEDS_SPARK, features=(refused.option,), operation="append",
            )  # fmt: skip
    return AppendOptions(
        merges=bool(asked.merge_schema),
        casts=asked.implicit_casts,
        txn=asked.txn,
        user_metadata=asked.user_metadata,
        domains=asked.domain_settings,
        partition_by=asked.partition_by,
        cluster_by=asked.cluster_by,
        compression=asked.compression or DEFAULT_COMPRESSION,
        max_records=asked.max_records_per_file,
        time_zone=time_zone,
    )


@dataclass(frozen=True, slots=True)
class RefusedOption:
    """One row: an option that an append of rows of this process does not take, and why."""

    option: str
    holds: Callable[[WriteOptions], bool]
    says: str


_NOT_WITHOUT_SPARK = (
    RefusedOption(
        "data_change", lambda asked: not asked.data_change, "says that rows were in the table before"
    ),
    RefusedOption(
        "replace_where",
        lambda asked: asked.replaces_some or asked.is_dynamic or asked.overwrite_schema,
        "and other options of overwrite mean nothing to an append",
    ),
)


def time_zone() -> str:
    """In which zone moments are that name none: that of the Spark session, if there is one.

    Else that of this process, if it is UTC; an empty text, which refuses such moments, if it is another.
    """
    session = SparkSession.getActiveSession()
    if session is not None:
        return session.conf.get(_ZONE) or ""
    return "UTC" if time.timezone == 0 and all(name in _UTC for name in time.tzname) else ""
