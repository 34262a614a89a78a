"""UPDATE: give columns of the rows that meet a condition new values."""

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from headgate.errors import InvalidRequest
from headgate.protocol import property_values
from headgate.protocol.domains.rules import NO_DOMAINS, DomainSettings
from headgate.protocol.predicates.tree import Always
from headgate.protocol.schema import enforcement
from headgate.spark.calls import errors
from headgate.spark.dml import assignments, dml_metrics, edits, generated_columns, rewrite, target_scan
from headgate.spark.dml.dml_metrics import OperationResult
from headgate.spark.dml.edits import EditKind, Edits
from headgate.spark.dml.target_scan import DmlTarget
from headgate.spark.jvm import call_sites
from headgate.spark.predicates import from_column
from headgate.spark.rules import checks
from headgate.spark.scan import scan
from headgate.spark.session import retry_lost_rows
from headgate.spark.session import schema as spark_schema
from headgate.table.opened_table import OpenedTable
from headgate.table.transaction import Operation


@errors.translated_errors(errors.unreadable_file)
@call_sites.without_call_sites
@retry_lost_rows.retry_when_checkpoint_lost
def update(
    spark: SparkSession,
    table: OpenedTable,
    values: Mapping[str, Column | str],
    where: Column | str | None = None,
    domains: DomainSettings = NO_DOMAINS,
    *,
    alias: str | None = None,
) -> OperationResult:
    """Set columns, or fields of columns, of the rows for which ``where`` is true, or of all rows.

    The values are computed from the row as it was, which they and the condition may call by an ``alias``.
    Generated columns follow. The commit sets these domains too.
    """
    if not values:
        raise InvalidRequest("an UPDATE sets at least one column: give set={'column': 'expression'}")
    watch = dml_metrics.Stopwatch(table.world)
    base = table.snapshot(version=domains.since)
    target_scan.check_not_append_only(base, "UPDATE")
    schema = scan.scan_columns(base.state.metadata).schema
    wanted = Always() if where is None else from_column.to_predicate(where, schema, spark, alias=alias)
    target = target_scan.find_target(spark, table, base, wanted)
    assigned = assignments.updated_columns(schema, values, alias=alias or "")

    def matching(rows: DataFrame) -> DataFrame:
        return edits.rows_where(rows, where, alias)

    with errors.translated_errors(checks.constraint_violation):
        found = _find_updates(target, matching, assigned)
    watch.scanned()
    done = rewrite.write_rewrite(target, found, rewrite.plan_rewrite(target, found))
    metrics = (
        {"numUpdatedRows": found.count(EditKind.UPDATED)} | dml_metrics.file_metrics(done) | watch.times()
    )
    operation = Operation(
        "UPDATE", {"predicate": dml_metrics.predicate_parameter(where)}, dml_metrics.as_strings(metrics)
    )
    moved = domains.beside(base.state.protocol, ())
    return OperationResult(rewrite.commit(target, done, operation, matching, *moved), metrics)


def _find_updates(target: DmlTarget, matching: edits.RowMatcher, assigned: Mapping[str, Column]) -> Edits:
    if not target.files.num_rows:
        return Edits()
    kept = edits.edit_columns(target, F.lit(int(EditKind.UPDATED)), assigned)
    if target.has(property_values.CHANGE_DATA_FEED):
        kept.append(edits.preimage(target))
    schema, changed = target.columns.schema, matching(target.rows(selected=True)).select(*kept)
    found = spark_schema.frame_schema(changed)
    for field in schema.fields:
        if (given := found.find(field.name)) is not None:
            enforcement.check_assignable(field.name, given.type, field.type)
    changed = assignments.with_types_for_nulls(changed, schema)
    own, kind = {name: F.lit(True) for name in assigned}, F.col(target.own.kind)  # noqa: FBT003
    return edits.collect_edits(
        target, generated_columns.recompute_generated(changed, schema, own, kind), keep=True
    )
