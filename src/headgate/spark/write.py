"""Adding rows to a table, and replacing all of them."""

from collections.abc import Mapping

from pyspark.sql import DataFrame

from headgate.errors import ConflictError, InvalidRequest, SchemaMismatch, UnsupportedFeature, UserError
from headgate.protocol import domains as domain_rules
from headgate.protocol import features
from headgate.protocol.actions import DeletionVector, EpochMillis, Metadata, RemoveFile, Version
from headgate.protocol.attempt import Reads
from headgate.protocol.domains import Set
from headgate.protocol.schema import enforce
from headgate.protocol.schema import json as schema_json
from headgate.spark import files
from headgate.spark import schema as spark_schema
from headgate.spark.files import Written
from headgate.table.opened import OpenedTable
from headgate.table.snapshot import Snapshot
from headgate.table.transaction import Change, Operation


def append(
    table: OpenedTable,
    df: DataFrame,
    *,
    domains: Mapping[str, str] | None = None,
    since: int | None = None,
) -> Version:
    """Add the rows of ``df``; an append of no rows is a version too.

    It reads nothing, so it starts from the newest version this process knows and loses to nobody
    but a change of the schema. With ``domains`` it also sets these, and whoever sets the same after
    the latest version, or after ``since``, is its rival.
    """
    if since is not None and not domains:
        raise InvalidRequest("since says from which version the domains were decided: give domains too")
    base = table.snapshot(version=since) if domains else table.newest_known()
    moved = domain_rules.actions(
        base.state.protocol,
        base.state.domains,
        [Set(name, configuration) for name, configuration in (domains or {}).items()],
    )
    written = _write(table, base, df)
    operation = Operation("WRITE", {"mode": "Append", "partitionBy": "[]"}, written.metrics)
    return _commit(table, base, Change(operation, (*moved, *written.adds)), written=written)


def overwrite(table: OpenedTable, df: DataFrame) -> Version:
    """Replace all rows by those of ``df``, which may itself read the table."""
    base = table.snapshot()
    _check_removable(base)
    written = _write(table, base, df)
    operation = Operation("WRITE", {"mode": "Overwrite", "partitionBy": "[]"}, written.metrics)
    removes = _removes(base, EpochMillis(table.world.now_ms()))
    change = Change(operation, (*removes, *written.adds), reads=Reads(whole_table=True))
    return _commit(table, base, change, written=written)


def _write(table: OpenedTable, base: Snapshot, df: DataFrame) -> Written:
    metadata = base.state.metadata
    features.check_writable(base.state.protocol, metadata)
    _check_unpartitioned(metadata)
    schema = schema_json.parse(metadata.schema_string)
    _check_distinct(df)
    enforce.check_fits(spark_schema.present(df), schema)
    return files.write_files(df, table, schema)


def _commit(table: OpenedTable, base: Snapshot, change: Change, *, written: Written) -> Version:
    try:
        return table.commit(change, base=base)
    except (ConflictError, UserError):
        # Proven not to be committed; after any other error the files may belong to a version (I7).
        files.discard(table.store, written)
        raise


def _check_unpartitioned(metadata: Metadata) -> None:
    if metadata.partition_columns:
        raise UnsupportedFeature(
            "this version of Headgate cannot write the rows of partitioned tables; reading them works",
            code="DELTA_UNSUPPORTED_FEATURES_FOR_WRITE",
            features=("partitionColumns",), operation="write",
        )  # fmt: skip


def _check_distinct(df: DataFrame) -> None:
    names = [name.lower() for name in df.columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SchemaMismatch(
            f"the rows have more than one column {', '.join(map(repr, twice))} (names are compared ignoring "
            "case): drop or rename all but one",
            code="DELTA_DUPLICATE_COLUMNS_FOUND",
        )


def _check_removable(base: Snapshot) -> None:
    if base.state.metadata.configuration.get("delta.appendOnly", "").lower() == "true":
        raise InvalidRequest(
            "the table is append-only (its property delta.appendOnly is true), so its rows cannot be "
            "replaced: append instead",
            code="DELTA_CANNOT_MODIFY_APPEND_ONLY",
        )


def _removes(base: Snapshot, now: EpochMillis) -> list[RemoveFile]:
    live = base.files.without_stats
    return [
        RemoveFile(
            path=file["path"],
            deletion_timestamp=now,
            data_change=True,
            extended_file_metadata=True,
            partition_values=dict(file["partition_values"]),
            size=file["size"],
            deletion_vector=DeletionVector(**vector) if (vector := file["deletion_vector"]) else None,
            base_row_id=file["base_row_id"],
            default_row_commit_version=file["default_row_commit_version"],
        )
        for file in live.to_pylist()
    ]
