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
from headgate.spark.data_files import app_transaction, data_file_writer
from headgate.spark.data_files.data_file_writer import Written
from headgate.spark.data_files.write_options import WriteOptions
from headgate.spark.rules import identity_columns as spark_identity
from headgate.spark.write import append_overwrite, replace_where
from headgate.table.alter import coordination, create
from headgate.table.alter.create import Contents, Definition, Opening
from headgate.table.location import Site
from headgate.table.transaction import Operation


def definition_of(df: DataFrame, options: WriteOptions, wanted: Definition | None = None) -> Definition:
    """The table that rows alone define: with their columns, partitioned and clustered as the write says."""
    planned = plan_metadata(None, append_overwrite.wish_of(df, options, overwrite=False), uuid=str)
    base = wanted or Definition(planned.schema)
    return replace(
        base,
        partition_by=options.partition_by or base.partition_by,
        cluster_by=options.cluster_by or base.cluster_by,
        domains=options.domains or base.domains,
    )


@errors.told(errors.unreadable)
def first_commit(
    site: Site, definition: Definition, df: DataFrame, options: WriteOptions, *, managed: bool
) -> tuple[bytes, Written]:
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
    enforcement.check_present(
        append_overwrite.incoming(df), schema_json.parse(opening.metadata.schema_string)
    )
    spark_identity.check_given(df, opening.metadata)
    live = {domain.domain: domain for domain in opening.domains}
    written = data_file_writer.write_files(
        df,
        site,
        opening.metadata,
        clustering=lifecycle.clustering_columns(live),
        options=replace(options.files, rules=replace_where.rules(options)),
    )
    opening = replace(opening, metadata=identity_columns.marked(opening.metadata, written.farthest))
    parameters = {
        "isManaged": str(managed).lower(),
        "partitionBy": msgspec.json.encode(list(opening.metadata.partition_columns)).decode(),
    }
    operation = Operation("CREATE TABLE AS SELECT", parameters, written.metrics)
    if options.epoch is not None:
        operation = options.epoch.operation(written)
    said = options.said(df.sparkSession)
    contents = Contents(operation, written.adds, app_transaction.actions(site.world, options.txn), said)
    return create.content(opening, contents, world=site.world), written


def _opening(site: Site, definition: Definition, *, managed: bool) -> Opening:
    if site.find is None:
        return create.begin(definition, managed=managed, world=site.world)
    return coordination.begin(definition, site.location, site.store, site.find, site.world)
