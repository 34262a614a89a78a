"""Adding rows to a table, and replacing all or some of them; with what that does to its metadata."""

from collections.abc import Sequence
from dataclasses import replace

import msgspec
from pyspark.sql import DataFrame

from headgate.errors import (
    ConflictError,
    InvalidRequest,
    MetadataChanged,
    ProtocolChanged,
    SchemaMismatch,
    UserError,
)
from headgate.protocol import property_values
from headgate.protocol.actions import (
    Action,
    DomainMetadata,
    Version,
)
from headgate.protocol.domains import lifecycle
from headgate.protocol.features import clustering, identity_columns
from headgate.protocol.metadata.implicit_changes import MetadataOutcome, WriteIntent
from headgate.protocol.schema.types import Struct
from headgate.protocol.transaction.attempt import BLIND, ReadSet
from headgate.spark.calls import errors
from headgate.spark.data_files import data_file_writer
from headgate.spark.data_files.data_file_writer import WrittenFiles
from headgate.spark.data_files.write_options import WriteOptions
from headgate.spark.rules import identity_columns as spark_identity
from headgate.spark.scan import self_reads
from headgate.spark.session import retry_lost_rows
from headgate.spark.session import schema as spark_schema
from headgate.spark.write import identity_high_water, replace_where
from headgate.spark.write.identity_high_water import NO_RESERVATION, HighWaterConflict, IdentityReservation
from headgate.spark.write.overwritten_rows import RemovedRows
from headgate.table.commit import app_transaction, prepared_write
from headgate.table.commit.prepared_write import PreparedWrite
from headgate.table.opened_table import OpenedTable
from headgate.table.read.snapshot import Snapshot
from headgate.table.transaction import Change, Operation

_PLAIN = WriteOptions()
_MOST_LOSSES = 10
"""How often rows are written again because others gave the values of their identity columns."""


@errors.translated_errors(errors.unreadable_file)
def append(table: OpenedTable, df: DataFrame, options: WriteOptions = _PLAIN) -> Version:
    """Add the rows of ``df``; an append of no rows is a version too.

    Unless ``df`` reads the table itself it is blind, so it starts from the newest version this process
    knows, and once more if the table has changed since. With ``domains`` it also sets these, and whoever
    sets the same after the latest version, or after ``since``, is its rival. If others gave the values of
    identity columns that it gave, it writes its rows again, with values it has reserved.
    """
    _check_append(options)
    try:
        done = _append(table, df, options, NO_RESERVATION)
    except (MetadataChanged, ProtocolChanged):
        if options.domains or options.since is not None or options.txn is not None:
            raise
        done = _append(table, df, options, NO_RESERVATION)
    for _ in range(_MOST_LOSSES):
        if not isinstance(done, HighWaterConflict):
            return done
        done = _append(table, df, options, identity_high_water.reserve(table, done))
    if isinstance(done, HighWaterConflict):
        raise done.conflict
    return done


def _append(
    table: OpenedTable, df: DataFrame, options: WriteOptions, held: IdentityReservation
) -> Version | HighWaterConflict:
    base = _base_of_append(table, options)
    if app_transaction.is_committed(base, options.txn):
        return base.version
    base, read = _base_and_reads(table, base, df, options)
    prepared = _prepared_append(table, base, df, options, may_follow=read.is_blind)
    _check_same_clustering(prepared, options)
    written = _write_rows(table, replace(prepared, metadata=held.starting(prepared.metadata)), df, options)
    held.check(table, written)
    prepared = prepared.with_values(written.farthest)
    meta = _metadata_actions(prepared, options)
    if _is_empty_batch(options, prepared.base, *meta, *written.adds):
        return prepared.base.version
    operation = _operation("Append", prepared, options, written)
    actions = (*meta, *app_transaction.actions(table.world, options.txn), *written.adds)
    change = Change(
        operation, actions, reads=_reads_with_app_id(read, options), user_metadata=_user_metadata(df, options)
    )
    try:
        return commit_or_discard(table, prepared.base, change, written=[written])
    except MetadataChanged as exc:
        if not prepared.moves_high_water_marks_only or options.domains or options.since is not None:
            raise
        return identity_high_water.high_water_conflict(
            exc, df, prepared.base.state.metadata, prepared.metadata
        )


@errors.translated_errors(errors.unreadable_file)
@retry_lost_rows.retry_when_checkpoint_lost
def overwrite(table: OpenedTable, df: DataFrame, options: WriteOptions = _PLAIN) -> Version:
    """Replace all rows by those of ``df``, which may itself read the table; or those that options select."""
    base = table.snapshot(version=options.since)
    if app_transaction.is_committed(base, options.txn):
        return base.version
    _check_not_append_only(base)
    base, read = _base_and_reads(table, base, df, options)
    prepared = prepare_write(table, base, df, options, overwrite=True)
    clustered = _clustering_change(prepared, options)
    written = _write_rows(table, prepared, df, options)
    prepared = prepared.with_values(written.farthest)
    try:
        gone = replace_where.remove_old_rows(table, prepared.base, prepared.metadata, df, written, options)
    except Exception:
        data_file_writer.discard(table.store, written)  # nothing was proposed
        raise
    meta, rows = (*_metadata_actions(prepared, options), *clustered), (*gone.actions, *written.adds)
    if _is_empty_batch(options, base, *meta, *rows):
        return base.version
    operation = _operation("Overwrite", prepared, options, written, gone)
    actions = (*meta, *app_transaction.actions(table.world, options.txn), *rows)
    change = Change(
        operation,
        actions,
        reads=_reads_with_app_id(gone.reads.union(read), options),
        user_metadata=_user_metadata(df, options),
    )
    try:
        return commit_or_discard(table, base, change, written=[written])
    except (ConflictError, UserError):
        gone.discard(table.store)
        raise


def prepare_write(
    table: OpenedTable, base: Snapshot, df: DataFrame, options: WriteOptions, *, overwrite: bool = False
) -> PreparedWrite:
    """What the write does to the metadata of the table; raises if it cannot be."""
    clustered = overwrite and bool(options.cluster_by)
    found = prepared_write.plan_metadata_change(
        table.world, base, write_intent(df, options, overwrite=overwrite), clustered=clustered
    )
    if options.data_change:  # else these are rows of the table, which keep their values
        spark_identity.check_no_explicit_values(df, found.metadata)
    return found


def write_intent(df: DataFrame, options: WriteOptions, *, overwrite: bool) -> WriteIntent:
    """What the decision about metadata is to know of a write."""
    return WriteIntent(
        incoming_schema(df),
        options.partition_by,
        overwrite=overwrite,
        can_merge=options.can_merge(df.sparkSession),
        can_overwrite_schema=options.overwrite_schema and overwrite and not options.replaces_some,
        keeps_rows=not options.data_change,
        casts=options.implicit_casts,
    )


def incoming_schema(df: DataFrame) -> Struct:
    """The columns of rows, without what only the table they are from means by their metadata."""
    return spark_schema.without_writer_metadata(spark_schema.frame_schema(df))


def commit_or_discard(
    table: OpenedTable, base: Snapshot, change: Change, *, written: Sequence[WrittenFiles]
) -> Version:
    """Commit a change; if that is proven not to have happened, the files that were written for it go."""
    try:
        return table.commit(replace(change, written_as=data_file_writer.txn_id_of_files(written)), base=base)
    except (ConflictError, UserError):
        # Proven not to be committed; after any other error the files may belong to a version (I7).
        for part in written:
            data_file_writer.discard(table.store, part)
        raise


def _base_of_append(table: OpenedTable, options: WriteOptions) -> Snapshot:
    if options.domains or options.since is not None:
        return table.snapshot(version=options.since)
    if options.txn is not None:
        return table.snapshot()
    known = table.newest_known()
    # Where values are given out, an old mark is a race that is lost already.
    return table.snapshot() if identity_columns.PREFIX in known.state.metadata.schema_string else known


def _base_and_reads(
    table: OpenedTable, base: Snapshot, df: DataFrame, options: WriteOptions
) -> tuple[Snapshot, ReadSet]:
    """From which version a write begins, and what its rows read of the table."""
    if options.read_at is not None:
        return table.snapshot(version=options.read_at), ReadSet(whole_table=True)
    return (base, BLIND) if options.epoch is not None else self_reads.base_and_reads(df, table, base)


def _prepared_append(
    table: OpenedTable, base: Snapshot, df: DataFrame, options: WriteOptions, *, may_follow: bool
) -> PreparedWrite:
    """From what this process knows; if that would change or refuse something, from what is there now."""
    stays = options.since is not None or not may_follow
    try:
        prepared = prepare_write(table, base, df, options)
    except SchemaMismatch:
        newest = base if stays else table.snapshot()
        if newest.version == base.version:
            raise
        return prepare_write(table, newest, df, options)
    if prepared.planned.outcome is MetadataOutcome.KEEP or stays:
        return prepared
    newest = table.snapshot()
    return prepared if newest.version == base.version else prepare_write(table, newest, df, options)


def _is_empty_batch(options: WriteOptions, base: Snapshot, *changes: Action) -> bool:
    """Whether it is a batch of a stream without rows: queries have many, and none is worth a version.

    That a domain is to be what it is says nothing either.
    """
    if options.epoch is None:
        return False
    live = base.state.domains
    return all(isinstance(action, DomainMetadata) and live.get(action.domain) == action for action in changes)


def _reads_with_app_id(reads: ReadSet, options: WriteOptions) -> ReadSet:
    return reads if options.txn is None else replace(reads, app_ids=frozenset({options.txn[0]}))


def _metadata_actions(prepared: PreparedWrite, options: WriteOptions) -> tuple[Action, ...]:
    """What changes besides rows, with the domains that are set beside them."""
    return options.domain_settings.beside(prepared.base.state.protocol, prepared.actions)


def _user_metadata(df: DataFrame, options: WriteOptions) -> str | None:
    return options.said(df.sparkSession)


def _write_rows(
    table: OpenedTable, prepared: PreparedWrite, df: DataFrame, options: WriteOptions
) -> WrittenFiles:
    columns = lifecycle.clustering_columns(prepared.base.state.domains)
    if options.cluster_by is not None:
        columns = clustering.physical_columns(options.cluster_by, prepared.metadata)
    by_property = property_values.flag(prepared.metadata, property_values.OPTIMIZE_WRITE)
    asked = replace(
        options.files,
        rules=replace_where.replace_where_constraints(options),
        optimize=options.optimize_write or by_property,
    )
    return data_file_writer.write_files(df, table, prepared.metadata, clustering=columns, options=asked)


def _operation(
    mode: str,
    prepared: PreparedWrite,
    options: WriteOptions,
    written: WrittenFiles,
    gone: RemovedRows | None = None,
) -> Operation:
    if options.epoch is not None:
        return options.epoch.operation(written, removed=0 if gone is None else len(gone.actions))
    parameters = {
        "mode": mode,
        "partitionBy": msgspec.json.encode(list(prepared.planned.partition_columns)).decode(),
    }
    condition = replace_where.condition_sql(options)
    if condition is not None:
        parameters["predicate"] = condition
    if options.is_dynamic and prepared.metadata.partition_columns:
        parameters["isDynamicPartitionOverwrite"] = "true"
    if prepared.planned.outcome is MetadataOutcome.MERGE:
        parameters["canMergeSchema"] = "true"
    if prepared.planned.outcome is MetadataOutcome.OVERWRITE:
        parameters["canOverwriteSchema"] = "true"
    metrics = written.metrics if gone is None else gone.metrics(written)
    return Operation("WRITE", parameters, metrics, changes_data=options.data_change)


def _check_append(options: WriteOptions) -> None:
    if options.replaces_some or options.is_dynamic or options.overwrite_schema:
        raise InvalidRequest(
            "an append replaces nothing, so replace_where, replace_using, replace_on, partition_overwrite "
            "and overwrite_schema mean nothing to it: overwrite instead, or leave them out"
        )


def _check_same_clustering(prepared: PreparedWrite, options: WriteOptions) -> None:
    if options.cluster_by is not None:
        columns = clustering.physical_columns(options.cluster_by, prepared.metadata)
        lifecycle.check_same_clustering(prepared.base.state.domains, columns)


def _check_not_append_only(base: Snapshot) -> None:
    if property_values.flag(base.state.metadata, property_values.APPEND_ONLY):
        raise InvalidRequest(
            "the table is append-only (its property delta.appendOnly is true), so its rows cannot be "
            "replaced: append instead",
            code="DELTA_CANNOT_MODIFY_APPEND_ONLY",
        )


def _clustering_change(prepared: PreparedWrite, options: WriteOptions) -> tuple[DomainMetadata, ...]:
    """What becomes of the clustering: with overwrite_schema it ends, unless columns are named."""
    live = prepared.base.state.domains
    replaces = options.overwrite_schema and not options.replaces_some
    if options.cluster_by is None:
        return lifecycle.domains_after_replace(live, ()) if replaces else ()
    columns = clustering.physical_columns(options.cluster_by, prepared.metadata)
    if not replaces:
        lifecycle.check_same_clustering(live, columns)
        return ()
    return lifecycle.domains_after_replace(live, (lifecycle.clustering_domain(columns),))
