"""What a user can ask of a write, under Headgate's names and under Delta's."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypedDict

from pyspark.sql import Column, SparkSession

from headgate.errors import InvalidRequest
from headgate.protocol.domains.rules import SINCE_ALONE, DomainSettings
from headgate.spark.calls import arguments
from headgate.spark.data_files import data_file_writer
from headgate.spark.data_files.epoch_metrics import Epoch

AUTO_MERGE = "spark.databricks.delta.schema.autoMerge.enabled"
USER_METADATA = "spark.databricks.delta.commitInfo.userMetadata"
STATIC, DYNAMIC = "static", "dynamic"


class Asked(TypedDict, total=False):
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
        return replace(
            self,
            replace_where=None,
            replace_using=(),
            replace_on=None,
            partition_overwrite=STATIC,
            keep_null_partitions=False,
            overwrite_schema=False,
        )

    @property
    def files(self) -> data_file_writer.Options:
        return data_file_writer.Options(
            max_records=self.max_records_per_file,
            compression=self.compression,
            data_change=self.data_change,
            optimize=self.optimize_write,
        )

    def can_merge(self, spark: SparkSession) -> bool:
        """Whether new columns are added to the table: as asked, else as the session says."""
        if self.merge_schema is not None:
            return self.merge_schema
        return str(spark.conf.get(AUTO_MERGE, "false")).lower() == "true"

    def said(self, spark: SparkSession) -> str | None:
        """What the history is to say besides: as asked, else as the session says."""
        return self.user_metadata if self.user_metadata is not None else spark.conf.get(USER_METADATA, None)


def of(asked: Asked) -> WriteOptions:
    """The options of these keyword arguments."""
    known = arguments.take_options(asked, Asked, "a write")
    return WriteOptions(**known)


def parse(options: Mapping[str, str]) -> WriteOptions:
    """The options of a DataFrame writer, by Delta's names in any case; unknown ones are left out."""
    given = {name.lower(): value for name, value in options.items()}
    app, version = given.get("txnappid"), given.get("txnversion")
    if (app is None) != (version is None):
        raise InvalidRequest(
            "txnAppId and txnVersion belong together: give both, or neither", code="DELTA_ILLEGAL_OPTION"
        )
    mode = given.get("partitionoverwritemode", STATIC).lower()
    return WriteOptions(
        merge_schema=_flag(given, "mergeschema"),
        overwrite_schema=_flag(given, "overwriteschema") or False,
        replace_where=given.get("replacewhere"),
        replace_using=tuple(
            part.strip() for part in given.get("replaceusing", "").split(",") if part.strip()
        ),
        replace_on=given.get("replaceon"),
        partition_overwrite=mode,
        keep_null_partitions=_flag(given, "usenullintolerantequalitywithdpo") or False,
        user_metadata=given.get("usermetadata"),
        txn=None if app is None or version is None else (app, _number("txnVersion", version)),
        max_records_per_file=_number("maxRecordsPerFile", given["maxrecordsperfile"])
        if "maxrecordsperfile" in given
        else None,
        compression=given.get("compression"),
        data_change=_flag(given, "datachange") is not False,
        optimize_write=_flag(given, "optimizewrite") or False,
    )


@dataclass(frozen=True, slots=True)
class Contradiction:
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


CONTRADICTIONS: tuple[Contradiction, ...] = (
    Contradiction(_unknown_mode, "the partition overwrite mode is static or dynamic: correct it"),
    Contradiction(
        _schema_of_some_partitions,
        "overwriteSchema replaces the whole table, and a dynamic partition overwrite only some partitions: "
        "leave out one of the two",
        "DELTA_OVERWRITE_SCHEMA_WITH_DYNAMIC_PARTITION_OVERWRITE",
    ),
    Contradiction(
        _partitions_said_twice,
        "replaceWhere, replaceUsing and replaceOn say which rows are replaced, and so does a dynamic "
        "partition overwrite: leave out one of the two",
        "DELTA_REPLACE_WHERE_WITH_DYNAMIC_PARTITION_OVERWRITE",
    ),
    Contradiction(
        _rows_said_twice,
        "replaceWhere, replaceUsing and replaceOn say in different ways which rows are replaced: give one",
    ),
    Contradiction(
        _matches_and_more,
        "replaceUsing and replaceOn change rows of the table as it is: leave overwriteSchema and dataChange "
        "out",
    ),
    Contradiction(
        _kept_nulls_without_partitions,
        "null partitions can be kept by a dynamic partition overwrite only: ask for that too",
    ),
    Contradiction(
        _negative_transaction,
        "the version of an application's transaction is a number from 0 on: correct it",
    ),
    Contradiction(_no_rows_per_file, "maxRecordsPerFile is a number from 1 on: correct it"),
    Contradiction(_since_without_domains, SINCE_ALONE),
)


def _flag(given: Mapping[str, str], name: str) -> bool | None:
    value = given.get(name)
    if value is None:
        return None
    if value.lower() not in ("true", "false"):
        raise InvalidRequest(f"the option {name} is true or false, not {value!r}: correct it")
    return value.lower() == "true"


def _number(name: str, value: str) -> int:
    if not value.lstrip("-").isdecimal():
        raise InvalidRequest(f"the option {name} is a whole number, not {value!r}: correct it")
    return int(value)
