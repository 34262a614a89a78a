"""Which rows does an overwrite replace? What its options select, in whole files or row by row."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from headgate.errors import InvalidRequest
from headgate.protocol.actions import EpochMillis, Metadata
from headgate.protocol.schema import expression_columns
from headgate.protocol.schema import json as schema_json
from headgate.spark.data_files.data_file_writer import Written
from headgate.spark.data_files.write_options import WriteOptions
from headgate.spark.predicates import from_column, sql_forms
from headgate.spark.rules.checks import Rule
from headgate.spark.write import overwritten_files, overwritten_rows
from headgate.spark.write.overwritten_files import Replaced
from headgate.spark.write.overwritten_rows import Taken
from headgate.table.commit import remove_actions
from headgate.table.opened_table import OpenedTable
from headgate.table.read.snapshot import Snapshot


def condition(options: WriteOptions) -> str | None:
    """What rows that are replaced must meet, as SQL."""
    given = options.replace_where
    return given if given is None or isinstance(given, str) else from_column.render(given)


def _is_by_partitions(base: Snapshot, options: WriteOptions) -> bool:
    """Whether partitions alone tell which rows go."""
    partitioned = {name.lower() for name in base.state.metadata.partition_columns}
    found = condition(options)
    if found is None or sql_forms.UNKNOWN in found:
        return False
    named = expression_columns.columns(found)
    by_partitions = named is not None and named <= partitioned
    if not by_partitions and not options.data_change:
        raise InvalidRequest(
            "with dataChange=false rows are only put elsewhere, and a condition on columns that the table is "
            "not partitioned by would take some away: leave dataChange out",
            code="DELTA_REPLACE_WHERE_WITH_FILTER_DATA_CHANGE_UNSET",
        )
    return by_partitions


def rules(options: WriteOptions) -> tuple[Rule, ...]:
    """That new rows are among those which they replace."""
    given = options.replace_where
    if given is None:
        return ()
    selected = F.expr(given) if isinstance(given, str) else given
    return (
        Rule(
            str(condition(options)),
            f"the rows that are replaced are those where {condition(options)}, and a new row is not one of "
            "them (replaceWhere)",
            ~F.coalesce(selected, F.expr("false")),
            "DELTA_REPLACE_WHERE_MISMATCH",
        ),
    )


def gone(
    table: OpenedTable,
    base: Snapshot,
    metadata: Metadata,
    df: DataFrame,
    written: Written,
    options: WriteOptions,
) -> Taken:
    """What takes the old rows away: whole files where partitions tell, else row by row."""
    if options.replaces_some and not _is_by_partitions(base, options):
        selected = (
            overwritten_rows.where(base, df, options)
            if options.replace_where is not None
            else overwritten_rows.matching(table, metadata, df, written, options)
        )
        return overwritten_rows.take(table, base, df, selected, metadata=metadata, written=written)
    found = _whole_files(base, df, written, options)
    now = EpochMillis(table.world.now_ms())
    removes = remove_actions.removals(found.files, now, data_change=options.data_change)
    return Taken(tuple(removes), found.reads, ())


def _whole_files(base: Snapshot, df: DataFrame, written: Written, options: WriteOptions) -> Replaced:
    if options.is_dynamic and base.state.metadata.partition_columns:
        written_to = (add.partition_values for add in written.adds)
        return overwritten_files.by_partitions(base, written_to, with_nulls=not options.keep_null_partitions)
    selecting = condition(options)
    if selecting is None:
        return overwritten_files.everything(base)
    schema = schema_json.parse(base.state.metadata.schema_string)
    predicate = from_column.predicate(selecting, schema, df.sparkSession)
    return overwritten_files.by_partition_predicate(df.sparkSession, base, selecting, predicate)
