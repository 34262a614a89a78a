"""Is the name that a method of Spark is given a lake's, and what does the method do then?"""

from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from headgate.errors import InvalidRequest
from headgate.protocol import property_values
from headgate.protocol.schema import column_path
from headgate.registration import registered_lakes
from headgate.spark.data_files import option_rows
from headgate.spark.data_files.option_rows import WriteKind
from headgate.sql.run import name_scope, saved_rows
from headgate.sql.run.commands import insertions
from headgate.sql.run.name_scope import Found, NameScope
from headgate.sql.run.saved_rows import NewRows
from headgate.sql.session import table_writer
from headgate.sql.session.builder_calls import BuilderCalls
from headgate.sql.session.table_writer import LakeTableWriter

_WRITES = (WriteKind.APPEND, WriteKind.OVERWRITE, WriteKind.CREATE)
_VERSION, _MOMENT = "versionasof", "timestampasof"
_FEED = ("readchangefeed", "readchangedata")
_STARTS, _ENDS = ("startingversion", "startingtimestamp"), ("endingversion", "endingtimestamp")


@dataclass(frozen=True, slots=True)
class NamedTable:
    """A table of a lake, or at a path, whose name a method of Spark was given."""

    scope: NameScope
    table: Found

    def read(self, asked: BuilderCalls | None = None) -> DataFrame:
        """The rows, with the options of the reader: a version, a moment, or the change feed."""
        table, options = self.scope.table(self.table), _lower(asked)
        if any(property_values.is_true(options.get(name, "")) for name in _FEED):
            start, end = _bound(options, _STARTS), _bound(options, _ENDS)
            return table.changes(0 if start is None else start, end, spark=self.scope.spark)
        version, moment = options.get(_VERSION), options.get(_MOMENT)
        if version is not None and moment is not None:
            raise InvalidRequest(
                "versionAsOf and timestampAsOf say in different ways which version is meant: give one",
                code="DELTA_ONEOF_IN_TIMETRAVEL",
            )
        number = None if version is None else int(version)
        return table.read(version=number, timestamp=moment, spark=self.scope.spark)

    def writer(self, rows: DataFrame) -> LakeTableWriter:
        """What ``df.writeTo`` gives."""
        return LakeTableWriter(rows, self.scope, self.table)

    def save(self, rows: DataFrame, asked: BuilderCalls) -> None:
        """What ``df.write.saveAsTable`` does."""
        _check_calls(asked)
        options = option_rows.parse(asked.options, *_WRITES)
        if asked.partition_by:
            options["partition_by"] = asked.partition_by
        if asked.cluster_by:
            options["cluster_by"] = asked.cluster_by
        saved_rows.save(self.scope, self.table, asked.mode or "error", NewRows(rows, options=options))

    def insert(self, rows: DataFrame, asked: BuilderCalls, overwrite: bool | None) -> None:  # noqa: FBT001
        """What ``df.write.insertInto`` does: column by column, whatever they are called."""
        _check_calls(asked)
        if asked.partition_by:
            raise InvalidRequest("insertInto writes to a table that is there, with its own partitioning")
        mode = asked.mode or "append"
        replaces = mode.lower() == "overwrite" if overwrite is None else overwrite
        options = option_rows.parse(asked.options, *_WRITES)
        insertions.insert_by_position(self.scope.table(self.table), rows, overwrite=replaces, options=options)

    def exists(self) -> bool:
        """Whether there is such a table."""
        return self.scope.exists(self.table)


def find_named(spark: SparkSession, name: object) -> NamedTable | None:
    """The table that a name means in the session, whether or not there is one; None if it is Spark's."""
    if not isinstance(name, str) or not registered_lakes.registered_lakes(spark):
        return None
    try:
        parts = column_path.parse_path(name)
    except InvalidRequest:  # what that is, Spark says
        return None
    scope = name_scope.scope_of_session(spark)
    found = scope.find(parts)
    return None if found is None else NamedTable(scope, found)


def note_save_arguments(
    writer: Any,
    format: str | None = None,  # noqa: A002 — the name Spark has for it
    mode: str | None = None,
    partitionBy: Any = None,  # noqa: N803
    **options: Any,
) -> None:
    """Have what ``saveAsTable`` itself is told be as if it had been said before."""
    writer.mode(mode).options(**options)
    if partitionBy is not None:
        writer.partitionBy(partitionBy)
    if format is not None:
        writer.format(format)


def _check_calls(asked: BuilderCalls) -> None:
    if asked.format is not None:
        table_writer.check_format(asked.format)
    if asked.others:
        raise InvalidRequest(
            f"{' and '.join(sorted(asked.others))} mean nothing to a Delta table: use clusterBy",
            code="DELTA_OPERATION_NOT_ALLOWED",
        )


def _lower(asked: BuilderCalls | None) -> dict[str, str]:
    return {} if asked is None else {key.lower(): value for key, value in asked.options.items()}


def _bound(options: dict[str, str], names: tuple[str, str]) -> int | str | None:
    version, moment = (options.get(name) for name in names)
    return int(version) if version is not None else moment
