"""Which rows does an overwrite replace? What its options select, in whole files or row by row."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from headgate.errors import InvalidRequest
from headgate.protocol.actions import EpochMillis, Metadata
from headgate.protocol.schema import expression_columns
from headgate.protocol.schema import json as schema_json
from headgate.spark.data_files.data_file_writer import WrittenFiles
from headgate.spark.data_files.write_options import WriteOptions
from headgate.spark.predicates import from_column, sql_forms
from headgate.spark.rules.checks import RowConstraint
from headgate.spark.write import overwritten_files, overwritten_rows
from headgate.spark.write.overwritten_files import RemovedFiles
from headgate.spark.write.overwritten_rows import RemovedRows
from headgate.table.commit import remove_actions
from headgate.table.opened_table import OpenedTable
from headgate.table.read.snapshot import Snapshot


def condition_sql(options: WriteOptions) -> str | None:
    """What rows that are replaced must meet, as SQL."""
    given = options.replace_where
    return given if given is None or isinstance(given, str) else from_column.to_sql(given)


def _is_by_partitions(base: Snapshot, options: WriteOptions) -> bool:
    """Whether partitions alone tell which rows go."""
    partitioned = {name.lower() for name in base.state.metadata.partition_columns}
    found = condition_sql(options)
    if found is None or sql_forms.UNKNOWN in found:
        return False
    named = expression_columns.top_level_columns(found)
    by_partitions = named is not None and named <= partitioned
    if not by_partitions and not options.data_change:
        raise InvalidRequest(
            "with dataChange=false rows are only put elsewhere, and a condition on columns that the table is "
            "not partitioned by would take some away: leave dataChange out",
            code="DELTA_REPLACE_WHERE_WITH_FILTER_DATA_CHANGE_UNSET",
        )
    return by_partitions


def replace_where_constraints(options: WriteOptions) -> tuple[RowConstraint, ...]:
    """That new rows are among those which they replace."""
    given = options.replace_where
    if given is None:
        return ()
    selected = F.expr(given) if isinstance(given, str) else given
    return (
        RowConstraint(
            str(condition_sql(options)),
            f"the rows that are replaced are those where {condition_sql(options)}, and a new row is not one "
            "of them (replaceWhere)",
            ~F.coalesce(selected, F.expr("false")),
            "DELTA_REPLACE_WHERE_MISMATCH",
        ),
    )


def remove_old_rows(
    table: OpenedTable,
    base: Snapshot,
    metadata: Metadata,
    df: DataFrame,
    written: WrittenFiles,
    options: WriteOptions,
) -> RemovedRows:
    """What takes the old rows away: whole files where partitions tell, else row by row."""
    if options.replaces_some and not _is_by_partitions(base, options):
        selected = (
            overwritten_rows.select_by_condition(base, df, options)
            if options.replace_where is not None
            else overwritten_rows.select_by_new_rows(table, metadata, df, written, options)
        )
        return overwritten_rows.remove_rows(table, base, df, selected, metadata=metadata, written=written)
    found = _removed_files(base, df, written, options)
    now = EpochMillis(table.world.now_ms())
    removes = remove_actions.removals(found.files, now, data_change=options.data_change)
    return RemovedRows(tuple(removes), found.reads, ())


def _removed_files(
    base: Snapshot, df: DataFrame, written: WrittenFiles, options: WriteOptions
) -> RemovedFiles:
    if options.is_dynamic and base.state.metadata.partition_columns:
        written_to = (add.partition_values for add in written.adds)
        return overwritten_files.files_by_partition_values(
            base, written_to, with_nulls=not options.keep_null_partitions
        )
    selecting = condition_sql(options)
    if selecting is None:
        return overwritten_files.all_files(base)
    schema = schema_json.parse(base.state.metadata.schema_string)
    predicate = from_column.to_predicate(selecting, schema, df.sparkSession)
    return overwritten_files.files_by_partition_predicate(df.sparkSession, base, selecting, predicate)
