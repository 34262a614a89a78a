"""What is asked of one write? The options of ``option_rows``, as a value that does not contradict itself."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypedDict

from pyspark.sql import Column, SparkSession

from headgate.deferred import deferred
from headgate.errors import InvalidRequest
from headgate.protocol import property_values
from headgate.protocol.domains.rules import SINCE_WITHOUT_DOMAINS, DomainSettings
from headgate.spark.calls import option_kwargs
from headgate.spark.data_files import data_file_writer, option_rows
from headgate.spark.data_files.option_rows import DYNAMIC, STATIC

if TYPE_CHECKING:
    from headgate.spark.data_files.epoch_metrics import Epoch
else:
    Epoch = deferred("headgate.spark.data_files.epoch_metrics", "Epoch")

AUTO_MERGE = "spark.databricks.delta.schema.autoMerge.enabled"
USER_METADATA = "spark.databricks.delta.commitInfo.userMetadata"


class WriteKwargs(TypedDict, total=False):
    """The keyword arguments of writes, so that editors and type checkers know them."""

    merge_schema: bool
    overwrite_schema: bool
    replace_where: Column | str
    replace_using: str | tuple[str, ...] | list[str]
    replace_on: str
    partition_overwrite: str
    keep_null_partitions: bool
    partition_by: str | tuple[str, ...] | list[str]
    cluster_by: str | tuple[str, ...] | list[str]
    user_metadata: str
    txn: tuple[str, int]
    max_records_per_file: int
    compression: str
    data_change: bool
    optimize_write: bool
    implicit_casts: bool
    domains: Mapping[str, str]
    since: int


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """What is asked of one write, checked for contradictions."""

    merge_schema: bool | None = None
    """None leaves it to the session."""
    overwrite_schema: bool = False
    replace_where: Column | str | None = None
    replace_using: tuple[str, ...] = ()
    replace_on: str | None = None
    partition_overwrite: str = STATIC
    keep_null_partitions: bool = False
    """Whether a dynamic overwrite leaves partitions alone that have a null."""
    partition_by: tuple[str, ...] = ()
    cluster_by: tuple[str, ...] | None = None
    user_metadata: str | None = None
    txn: tuple[str, int] | None = None
    max_records_per_file: int | None = None
    compression: str | None = None
    data_change: bool = True
    optimize_write: bool = False
    implicit_casts: bool = False
    domains: Mapping[str, str] = field(default_factory=dict)
    since: int | None = None
    epoch: Epoch | None = None
    """Of which batch of which stream the rows are; None if they are of no stream."""
    read_at: int | None = None
    """The version up to which what the stream reads of the table is there; None if it reads nothing of it."""

    def __post_init__(self) -> None:
        for row in CONTRADICTIONS:
            if row.holds(self):
                raise InvalidRequest(row.says, code=row.code)
        DomainSettings(self.domains, self.since)  # refuses what cannot be set

    @property
    def domain_settings(self) -> DomainSettings:
        """The metadata domains that the commit of the rows sets."""
        return DomainSettings(self.domains, self.since)

    @property
    def is_dynamic(self) -> bool:
        return self.partition_overwrite == DYNAMIC

    @property
    def replaces_some(self) -> bool:
        """Whether an overwrite keeps the rows that a condition does not select."""
        return self.replace_where is not None or bool(self.replace_using) or self.replace_on is not None

    def for_append(self) -> "WriteOptions":
        """The same without what only an overwrite understands, as the options of a DataFrame writer allow."""
        meaningless = {row.name: row.default for row in option_rows.overwrite_only_options()}
        return replace(self, **meaningless)

    @property
    def files(self) -> data_file_writer.DataFileOptions:
        return data_file_writer.DataFileOptions(
            max_records=self.max_records_per_file,
            compression=self.compression,
            data_change=self.data_change,
            optimize=self.optimize_write,
        )

    def can_merge(self, spark: SparkSession) -> bool:
        """Whether new columns are added to the table: as asked, else as the session says."""
        if self.merge_schema is not None:
            return self.merge_schema
        return property_values.is_true(spark.conf.get(AUTO_MERGE, "false"))

    def said(self, spark: SparkSession) -> str | None:
        """What the history is to say besides: as asked, else as the session says."""
        return self.user_metadata if self.user_metadata is not None else spark.conf.get(USER_METADATA, None)


def from_kwargs(asked: WriteKwargs) -> WriteOptions:
    """The options of these keyword arguments."""
    known = option_kwargs.take_options(asked, WriteKwargs, "a write")
    return WriteOptions(**known)


@dataclass(frozen=True, slots=True)
class WriteContradiction:
    """One row: options that cannot be meant together, and what is said of them."""

    holds: Callable[[WriteOptions], bool]
    says: str
    code: str = "DELTA_ILLEGAL_OPTION"


def _unknown_mode(asked: WriteOptions) -> bool:
    return asked.partition_overwrite not in (STATIC, DYNAMIC)


def _schema_of_some_partitions(asked: WriteOptions) -> bool:
    return asked.is_dynamic and asked.overwrite_schema


def _partitions_said_twice(asked: WriteOptions) -> bool:
    return asked.is_dynamic and asked.replaces_some


def _rows_said_twice(asked: WriteOptions) -> bool:
    return sum((asked.replace_where is not None, bool(asked.replace_using), asked.replace_on is not None)) > 1


def _matches_and_more(asked: WriteOptions) -> bool:
    by_match = bool(asked.replace_using) or asked.replace_on is not None
    return by_match and (asked.overwrite_schema or not asked.data_change)


def _kept_nulls_without_partitions(asked: WriteOptions) -> bool:
    return asked.keep_null_partitions and not asked.is_dynamic


def _negative_transaction(asked: WriteOptions) -> bool:
    return asked.txn is not None and asked.txn[1] < 0


def _no_rows_per_file(asked: WriteOptions) -> bool:
    return asked.max_records_per_file is not None and asked.max_records_per_file < 1


def _since_without_domains(asked: WriteOptions) -> bool:
    return asked.since is not None and not asked.domains


CONTRADICTIONS: tuple[WriteContradiction, ...] = (
    WriteContradiction(_unknown_mode, "the partition overwrite mode is static or dynamic: correct it"),
    WriteContradiction(
        _schema_of_some_partitions,
        "overwriteSchema replaces the whole table, and a dynamic partition overwrite only some partitions: "
        "leave out one of the two",
        "DELTA_OVERWRITE_SCHEMA_WITH_DYNAMIC_PARTITION_OVERWRITE",
    ),
    WriteContradiction(
        _partitions_said_twice,
        "replaceWhere, replaceUsing and replaceOn say which rows are replaced, and so does a dynamic "
        "partition overwrite: leave out one of the two",
        "DELTA_REPLACE_WHERE_WITH_DYNAMIC_PARTITION_OVERWRITE",
    ),
    WriteContradiction(
        _rows_said_twice,
        "replaceWhere, replaceUsing and replaceOn say in different ways which rows are replaced: give one",
    ),
    WriteContradiction(
        _matches_and_more,
        "replaceUsing and replaceOn change rows of the table as it is: leave overwriteSchema and dataChange "
        "out",
    ),
    WriteContradiction(
        _kept_nulls_without_partitions,
        "null partitions can be kept by a dynamic partition overwrite only: ask for that too",
    ),
    WriteContradiction(
        _negative_transaction,
        "the version of an application's transaction is a number from 0 on: correct it",
    ),
    WriteContradiction(_no_rows_per_file, "maxRecordsPerFile is a number from 1 on: correct it"),
    WriteContradiction(_since_without_domains, SINCE_WITHOUT_DOMAINS),
)
