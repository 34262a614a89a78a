"""DELETE: take the rows that meet a condition out of a table."""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, SparkSession

from headgate.protocol import property_values
from headgate.protocol.actions import AddFile
from headgate.protocol.domains.rules import NO_DOMAINS, DomainSettings
from headgate.protocol.predicates.tree import Always
from headgate.spark.calls import errors
from headgate.spark.dml import dml_metrics, edits, rewrite, target_scan
from headgate.spark.dml.dml_metrics import OperationResult
from headgate.spark.dml.edits import EditKind, Edits
from headgate.spark.jvm import call_sites
from headgate.spark.predicates import from_column
from headgate.spark.scan import scan
from headgate.spark.session import retry_lost_rows
from headgate.table.opened_table import OpenedTable
from headgate.table.transaction import Operation


@errors.translated_errors(errors.unreadable_file)
@call_sites.without_call_sites
@retry_lost_rows.retry_when_checkpoint_lost
def delete(
    spark: SparkSession,
    table: OpenedTable,
    where: Column | str | None = None,
    domains: DomainSettings = NO_DOMAINS,
    *,
    alias: str | None = None,
) -> OperationResult:
    """Delete the rows for which ``where`` is true, or all rows, and set these domains in the same commit.

    The condition may call the table by an ``alias``.

    Files whose rows all go are not opened where partition values or statistics prove it.
    """
    watch = dml_metrics.Stopwatch(table.world)
    base = table.snapshot(version=domains.since)
    target_scan.check_not_append_only(base, "DELETE")
    schema = scan.scan_columns(base.state.metadata).schema
    wanted = Always() if where is None else from_column.to_predicate(where, schema, spark, alias=alias)
    target = target_scan.find_target(spark, table, base, wanted)

    def matching(rows: DataFrame) -> DataFrame:
        return edits.rows_where(rows, where, alias)

    wholly = target.wholly()
    # The feed takes its changes from whole files only if all of them are whole.
    if target.has(property_values.CHANGE_DATA_FEED) and wholly.false_count:
        searched, removed = target, []
    else:
        searched = target.without(wholly)
        removed = [target_scan.add_action(row) for row in target.files.filter(wholly).to_pylist()]
    found = edits.deletions(searched, matching)
    watch.scanned()
    done = rewrite.write_rewrite(searched, found, rewrite.plan_rewrite(searched, found, removed))
    metrics = _deleted_rows_metric(found, removed) | dml_metrics.file_metrics(done) | watch.times()
    operation = Operation(
        "DELETE", {"predicate": dml_metrics.predicate_parameter(where)}, dml_metrics.as_strings(metrics)
    )
    moved = domains.beside(base.state.protocol, ())
    return OperationResult(rewrite.commit(target, done, operation, matching, *moved), metrics)


def _deleted_rows_metric(found: Edits, removed: Sequence[AddFile]) -> dict[str, int]:
    """How many rows were deleted, unless a file that was not opened does not say how many it had."""
    whole = [target_scan.live_row_count(file) for file in removed]
    known = [count for count in whole if count is not None]
    return {"numDeletedRows": found.count(EditKind.DELETED) + sum(known)} if len(known) == len(whole) else {}
