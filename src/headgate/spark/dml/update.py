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
from headgate.spark.dml.dml_metrics import Result
from headgate.spark.dml.edits import Edits, Kind
from headgate.spark.dml.target_scan import Target
from headgate.spark.jvm import call_sites
from headgate.spark.predicates import from_column
from headgate.spark.rules import checks
from headgate.spark.scan import scan
from headgate.spark.session import retry_lost_rows
from headgate.spark.session import schema as spark_schema
from headgate.table.opened_table import OpenedTable
from headgate.table.transaction import Operation


@errors.told(errors.unreadable)
@call_sites.untold
@retry_lost_rows.if_rows_are_lost
def update(
    spark: SparkSession,
    table: OpenedTable,
    values: Mapping[str, Column | str],
    where: Column | str | None = None,
    domains: DomainSettings = NO_DOMAINS,
) -> Result:
    """Set columns, or fields of columns, of the rows for which ``where`` is true, or of all rows.

    The values are computed from the row as it was. Generated columns follow. The commit sets these domains
    too.
    """
    if not values:
        raise InvalidRequest("an UPDATE sets at least one column: give set={'column': 'expression'}")
    watch = dml_metrics.Watch(table.world)
    base = table.snapshot(version=domains.since)
    target_scan.check_removable(base, "UPDATE")
    schema = scan.columns_of(base.state.metadata).schema
    wanted = Always() if where is None else from_column.predicate(where, schema, spark)
    target = target_scan.find(spark, table, base, wanted)
    assigned = assignments.updated(schema, values)

    def matching(rows: DataFrame) -> DataFrame:
        return rows if where is None else rows.where(where)

    with errors.told(checks.violation):
        found = _search(target, matching, assigned)
    watch.scanned()
    done = rewrite.carry_out(target, found, rewrite.plan(target, found))
    metrics = {"numUpdatedRows": found.count(Kind.UPDATED)} | dml_metrics.of_files(done) | watch.times()
    operation = Operation("UPDATE", {"predicate": dml_metrics.predicate(where)}, dml_metrics.told(metrics))
    moved = domains.beside(base.state.protocol, ())
    return Result(rewrite.commit(target, done, operation, matching, *moved), metrics)


def _search(target: Target, matching: edits.Matching, assigned: Mapping[str, Column]) -> Edits:
    if not target.files.num_rows:
        return Edits()
    kept = edits.columns(target, F.lit(int(Kind.UPDATED)), assigned)
    if target.has(property_values.CHANGE_DATA_FEED):
        kept.append(edits.before(target))
    schema, changed = target.columns.schema, matching(target.rows(selected=True)).select(*kept)
    found = spark_schema.of_frame(changed)
    for field in schema.fields:
        if (given := found.find(field.name)) is not None:
            enforcement.check_assigned(field.name, given.type, field.type)
    changed = assignments.typed(changed, schema)
    own, kind = {name: F.lit(True) for name in assigned}, F.col(target.own.kind)  # noqa: FBT003
    return edits.gather(target, generated_columns.followed(changed, schema, own, kind), keep=True)
