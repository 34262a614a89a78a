"""A table that has rows from its first version on: CREATE TABLE AS SELECT, or a write to what is not there.

The rows are written first, at the place of the table to be. Then its first commit says all of it, so that
nobody ever sees the table without them.
"""

from dataclasses import replace

import msgspec
from pyspark.sql import DataFrame

from headgate.errors import InvalidRequest
from headgate.protocol.domains import lifecycle
from headgate.protocol.features import identity_columns
from headgate.protocol.metadata.implicit_changes import plan_metadata
from headgate.protocol.schema import enforcement
from headgate.protocol.schema import json as schema_json
from headgate.spark.calls import errors
from headgate.spark.data_files import data_file_writer
from headgate.spark.data_files.data_file_writer import WrittenFiles
from headgate.spark.data_files.write_options import WriteOptions
from headgate.spark.rules import identity_columns as spark_identity
from headgate.spark.write import append_overwrite, replace_where
from headgate.table.alter import coordination, create
from headgate.table.alter.create import InitialRows, InitialState, TableDefinition
from headgate.table.commit import app_transaction
from headgate.table.location import NewTableLocation
from headgate.table.transaction import Operation


def definition_from_rows(
    df: DataFrame, options: WriteOptions, wanted: TableDefinition | None = None
) -> TableDefinition:
    """The table that rows alone define: with their columns, partitioned and clustered as the write says."""
    planned = plan_metadata(None, append_overwrite.write_intent(df, options, overwrite=False), uuid=str)
    base = wanted or TableDefinition(planned.schema)
    return replace(
        base,
        partition_by=options.partition_by or base.partition_by,
        cluster_by=options.cluster_by or base.cluster_by,
        domains=options.domains or base.domains,
    )


@errors.translated_errors(errors.unreadable_file)
def first_commit(
    site: NewTableLocation,
    definition: TableDefinition,
    df: DataFrame,
    options: WriteOptions,
    *,
    managed: bool,
) -> tuple[bytes, WrittenFiles]:
    """The first commit of a table with the rows of ``df``, whose files are written; and these."""
    if options.replace_using or options.replace_on is not None:
        raise InvalidRequest(
            "there is no table yet, so there are no rows that new ones could stand for: leave replace_using "
            "and replace_on out, or make the table first",
            code="DELTA_PATH_DOES_NOT_EXIST",
        )
    if options.since is not None:
        raise InvalidRequest(
            f"there is no table yet, so its domains were not decided from its version {options.since}: leave "
            "since out"
        )
    opening = _opening(site, definition, managed=managed)
    enforcement.check_required_columns(
        append_overwrite.incoming_schema(df), schema_json.parse(opening.metadata.schema_string)
    )
    spark_identity.check_no_explicit_values(df, opening.metadata)
    live = {domain.domain: domain for domain in opening.domains}
    written = data_file_writer.write_files(
        df,
        site,
        opening.metadata,
        clustering=lifecycle.clustering_columns(live),
        options=replace(options.files, rules=replace_where.replace_where_constraints(options)),
    )
    opening = replace(
        opening, metadata=identity_columns.advance_high_water_marks(opening.metadata, written.farthest)
    )
    parameters = {
        "isManaged": str(managed).lower(),
        "partitionBy": msgspec.json.encode(list(opening.metadata.partition_columns)).decode(),
    }
    operation = Operation("CREATE TABLE AS SELECT", parameters, written.metrics)
    if options.epoch is not None:
        operation = options.epoch.operation(written)
    said = options.said(df.sparkSession)
    contents = InitialRows(operation, written.adds, app_transaction.actions(site.world, options.txn), said)
    return create.first_commit_content(opening, contents, world=site.world), written


def _opening(site: NewTableLocation, definition: TableDefinition, *, managed: bool) -> InitialState:
    if site.find is None:
        return create.initial_state(definition, managed=managed, world=site.world)
    return coordination.initial_state_by_path(definition, site.location, site.store, site.find, site.world)
