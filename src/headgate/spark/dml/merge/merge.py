r"""MERGE: update, delete and insert rows by how they match the rows of a source.

The target is read once: joined with the source, which goes to where the target's rows are if it
is small. Rows of the source that matched nothing are found by their numbers afterwards.

A file has the ids 0 to 9. A source of the ids 5 and 11, with WHEN MATCHED UPDATE and WHEN NOT MATCHED
INSERT, on a table with deletion vectors, commits

    {"remove":{"path":"a.parquet",…}}
    {"add":{"path":"a.parquet",…,"deletionVector":{…,"cardinality":1}}}      row 5 is hidden
    {"add":{"path":"new.parquet","stats":"{\"numRecords\":2,…}"}}            5 as updated, and 11

with ``numTargetRowsUpdated`` 1, ``numTargetRowsInserted`` 1 and ``numTargetRowsCopied`` 0.
"""

from dataclasses import dataclass, replace

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from headgate.errors import InvalidRequest
from headgate.protocol import property_values
from headgate.protocol.domains.rules import NO_DOMAINS, DomainSettings
from headgate.protocol.features import identity_columns
from headgate.protocol.predicates.from_sql import JoinSide
from headgate.protocol.predicates.tree import Always
from headgate.spark.calls import errors
from headgate.spark.calls.user_calls import UNKNOWN_SUBJECT, CallSubject, user_calls
from headgate.spark.data_files.write_options import WriteOptions
from headgate.spark.dml import assignments, dml_metrics, edits, matched_rows, rewrite, target_scan
from headgate.spark.dml.assignments import Assignments
from headgate.spark.dml.dml_metrics import OperationResult
from headgate.spark.dml.edits import INSERTS, UPDATES, EditKind, Edits
from headgate.spark.dml.matched_rows import MatchedRows
from headgate.spark.dml.merge import key_prefilter, merge_clauses, merge_columns, merge_metrics, merge_source
from headgate.spark.dml.merge.merge_clauses import Condition, MergeClause, When
from headgate.spark.dml.merge.merge_columns import EvolvedSchema
from headgate.spark.dml.merge.merge_source import MergeSource
from headgate.spark.dml.target_scan import DmlTarget
from headgate.spark.jvm import call_sites
from headgate.spark.rules import checks
from headgate.spark.rules import identity_columns as spark_identity
from headgate.spark.scan import self_reads
from headgate.spark.session import local_checkpoint, observation, retry_lost_rows
from headgate.spark.session import schema as spark_schema
from headgate.table.commit import app_transaction
from headgate.table.commit.app_transaction import AppBatch
from headgate.table.opened_table import OpenedTable
from headgate.table.read.snapshot import Snapshot
from headgate.table.transaction import Operation

_MOST_NUMBERS = 1_000_000
"""How many numbers of rows are sent to where they are looked up."""


@user_calls
@dataclass(frozen=True, slots=True)
class Merge:
    """A MERGE in the making: every method gives a new one with a clause more; ``execute`` runs it.

    Conditions and values call the target ``t`` and the source ``s``, unless other aliases were given.
    Of several clauses about the same rows the first whose condition is true decides.
    """

    spark: SparkSession
    table: OpenedTable
    source: DataFrame
    condition: Column | str
    target_alias: str = "t"
    source_alias: str | None = "s"
    clauses: tuple[MergeClause, ...] = ()
    evolves: bool = False
    batch: AppBatch | None = None
    domains: DomainSettings = NO_DOMAINS
    """What the commit sets beside the rows."""
    subject: CallSubject = UNKNOWN_SUBJECT

    def when_matched_update(self, condition: Condition = None, set: Assignments | None = None) -> "Merge":  # noqa: A002
        """Set columns of rows that match."""
        return self._with(MergeClause(When.MATCHED, EditKind.UPDATED, condition, _or_empty(set)))

    def when_matched_update_all(self, condition: Condition = None) -> "Merge":
        """Set every column of rows that match to the source's column of that name."""
        return self._with(MergeClause(When.MATCHED, EditKind.UPDATED, condition, star=True))

    def when_matched_delete(self, condition: Condition = None) -> "Merge":
        """Delete rows that match."""
        return self._with(MergeClause(When.MATCHED, EditKind.DELETED, condition))

    def when_not_matched_insert(
        self, condition: Condition = None, values: Assignments | None = None
    ) -> "Merge":
        """Insert a row for each of the source that matches none."""
        return self._with(MergeClause(When.NOT_MATCHED, EditKind.INSERTED, condition, _or_empty(values)))

    def when_not_matched_insert_all(self, condition: Condition = None) -> "Merge":
        """Insert the rows of the source that match none, column by column."""
        return self._with(MergeClause(When.NOT_MATCHED, EditKind.INSERTED, condition, star=True))

    def when_not_matched_by_source_update(
        self,
        condition: Condition = None,
        set: Assignments | None = None,  # noqa: A002
    ) -> "Merge":
        """Set columns of rows that no row of the source matches."""
        kind = EditKind.UPDATED_WITHOUT_SOURCE
        return self._with(MergeClause(When.NOT_MATCHED_BY_SOURCE, kind, condition, _or_empty(set)))

    def when_not_matched_by_source_delete(self, condition: Condition = None) -> "Merge":
        """Delete rows that no row of the source matches."""
        return self._with(MergeClause(When.NOT_MATCHED_BY_SOURCE, EditKind.DELETED_WITHOUT_SOURCE, condition))

    def with_schema_evolution(self) -> "Merge":
        """Let columns of the source that the table does not have become columns of the table."""
        return replace(self, evolves=True)

    def once(self, app_id: str, number: int) -> "Merge":
        """Run it once, however often it is repeated: it is batch ``number`` of the application ``app_id``.

        The commit says so too. If it, or a later batch of the same, is in the table, nothing happens.
        """
        return replace(self, batch=(app_id, number))

    def execute(self) -> OperationResult:
        """Run it; the version, and how many rows were inserted, updated and deleted.

        Raises InvalidRequest, code DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE, if several
        rows of the source would change the same row.
        """
        return _execute(self)

    def _subject(self) -> CallSubject:
        return self.subject

    def _with(self, clause: MergeClause) -> "Merge":
        return replace(self, clauses=(*self.clauses, clause))

    def has(self, when: When) -> bool:
        """Whether there is a clause about such rows."""
        return bool(merge_clauses.clauses_when(self.clauses, when))


def _or_empty(given: Assignments | None) -> Assignments:
    if not given:
        raise InvalidRequest("the clause sets no column: give it {'column': 'expression'}")
    return given


@errors.translated_errors(errors.unreadable_file)
@call_sites.without_call_sites
@retry_lost_rows.retry_when_checkpoint_lost
def _execute(merge: Merge) -> OperationResult:
    merge_clauses.check_reachable(merge.clauses)
    merge = replace(merge, evolves=merge.evolves or WriteOptions().can_merge(merge.spark))
    watch = dml_metrics.Stopwatch(merge.table.world)
    base = merge.table.snapshot(version=merge.domains.since)
    if app_transaction.is_committed(base, merge.batch):
        return OperationResult(base.version)
    if merge.has(When.MATCHED) or merge.has(When.NOT_MATCHED_BY_SOURCE):
        target_scan.check_not_append_only(base, "MERGE")
    base, read = self_reads.base_and_reads(merge.source, merge.table, base)
    source, target = _source_and_target(merge, base)
    target = replace(target, reads=read)
    evolved = merge_columns.evolve_schema(merge.clauses, target, source, evolves=merge.evolves)

    def matching(rows: DataFrame) -> DataFrame:
        if merge.has(When.NOT_MATCHED_BY_SOURCE):
            return rows
        condition = assignments.to_column(merge.condition)
        return rows.alias(merge.target_alias).join(source.broadcast_if_small, condition, "left_semi")

    with errors.translated_errors(checks.constraint_violation):
        found = _find_edits(merge, target, source, evolved)
    _check_matched_once(merge, found)
    watch.scanned()
    rewritten = rewrite.write_rewrite(target, found, rewrite.plan_rewrite(target, found), evolved.metadata)
    metrics = merge_metrics.operation_metrics(source, found, rewritten) | watch.times()
    parameters = merge_clauses.parameters(merge.clauses, merge.condition)
    operation = Operation("MERGE", parameters, dml_metrics.as_strings(metrics))
    if found.count(EditKind.INSERTED):
        evolved = evolved.with_values(target.metadata, rewritten.folders)
    changes = merge.domains.beside(base.state.protocol, evolved.actions)
    if rewritten.actions or changes:
        changes = (*changes, *app_transaction.actions(merge.table.world, merge.batch))
    version = rewrite.commit(target, rewritten, operation, matching, *changes)
    return OperationResult(version, metrics)


def _source_and_target(merge: Merge, base: Snapshot) -> tuple[MergeSource, DmlTarget]:
    """The source, computed, and the target, as far as it can be concerned."""
    whole = target_scan.find_target(merge.spark, merge.table, base, Always())
    whole = whole.beside(spark_schema.frame_schema(merge.source))
    row = whole.own.source_row
    # With one file, or if rows without a match are wanted too, there is nothing to choose from.
    several = whole.files.num_rows > 1 or bool(base.state.metadata.partition_columns)
    if not several or merge.has(When.NOT_MATCHED_BY_SOURCE):
        return merge_source.compute_source(merge.source, merge.source_alias, (), row), whole
    schema = whole.columns.schema
    side = JoinSide(merge.target_alias, schema)
    said = merge_source.split_condition(merge.spark, merge.source, merge.source_alias, merge.condition, side)
    source = merge_source.compute_source(merge.source, merge.source_alias, said.equal, row)
    wanted = merge_source.target_predicate(merge.spark, source, said, schema)
    target = target_scan.find_target(merge.spark, merge.table, base, wanted)
    return source, target.beside(source.schema)


def _find_edits(merge: Merge, target: DmlTarget, source: MergeSource, evolved: EvolvedSchema) -> Edits:
    most, own = target.max_row_count(), target.own
    kept = local_checkpoint.checkpoint_rows(_join_edits(merge, target, source, evolved, most))
    # Unless rows match several times, which is refused or deletes them.
    found = matched_rows.collect(kept, own, at_most=None if most is None else most + source.count)
    if not merge.has(When.NOT_MATCHED):
        return Edits(found, kept.drop(source.row))
    clause = merge_clauses.first_true_clause(merge.clauses, When.NOT_MATCHED)
    matched = _matched_source_rows(kept, source, own.clause, sum(some.count for some in found.values()))
    alone = source.aliased.join(matched, F.col(source.row) == F.col(own.clause), "left_anti")
    chosen = alone.withColumn(own.clause, clause).where(F.col(own.clause).isNotNull())
    if any(map(identity_columns.is_identity, evolved.schema.fields)):
        chosen = spark_identity.with_row_numbers(chosen, own)
    values = merge_columns.columns_by_clause(chosen, merge.clauses, INSERTS, evolved, merge)
    with errors.translated_errors(spark_identity.values_exhausted):
        edited = chosen.select(*merge_columns.insert_columns(values, evolved), F.col(own.clause))
        inserted = merge_columns.with_generated_columns(edited, merge.clauses, INSERTS, evolved, merge)
        new, (count,) = observation.checkpoint_and_observe(inserted, {"inserted": F.count(F.lit(1))})
    if count:
        found = {**found, EditKind.INSERTED: MatchedRows(count)}
    rows = kept.drop(source.row).unionByName(new, allowMissingColumns=True)
    return Edits(found, rows.where(F.col(own.kind) != int(EditKind.SEEN)))


def _matched_source_rows(kept: DataFrame, source: MergeSource, name: str, count: int) -> DataFrame:
    """The numbers of the source's rows that match, under this name, of which ``kept`` has so many at most."""
    numbers = kept.where(F.col(source.row).isNotNull()).select(F.col(source.row).alias(name))
    if count <= _MOST_NUMBERS:
        return F.broadcast(numbers)
    return F.broadcast(numbers.distinct()) if source.count <= _MOST_NUMBERS else numbers.distinct()


def _join_edits(
    merge: Merge, target: DmlTarget, source: MergeSource, evolved: EvolvedSchema, most: int | None
) -> DataFrame:
    """The rows of the target that match, or that nothing matches if a clause is about them, edited."""
    how, own = "left" if merge.has(When.NOT_MATCHED_BY_SOURCE) else "inner", target.own
    is_matched = F.col(source.row).isNotNull()
    rows = merge_columns.rows_with_new_columns(target, evolved)
    merge_clauses.check_without_source(rows.alias(merge.target_alias), merge.clauses)
    if how == "inner":
        rows = key_prefilter.prefilter_by_key_bitmap(rows, most, source)
    joined = rows.alias(merge.target_alias).join(
        source.broadcast_if_small, assignments.to_column(merge.condition), how
    )
    matched = merge_clauses.first_true_clause(merge.clauses, When.MATCHED)
    alone = merge_clauses.first_true_clause(merge.clauses, When.NOT_MATCHED_BY_SOURCE)
    joined = joined.withColumn(own.clause, F.when(is_matched, matched).otherwise(alone))
    seen = is_matched if merge.has(When.NOT_MATCHED) else F.lit(False)  # noqa: FBT003
    joined = joined.where(F.col(own.clause).isNotNull() | seen)
    kinds = {number: F.lit(int(clause.kind)) for number, clause in enumerate(merge.clauses)}
    kind = merge_columns.case_by_clause(F.col(own.clause), kinds)
    values = merge_columns.columns_by_clause(joined, merge.clauses, UPDATES, evolved, merge)
    columns = edits.edit_columns(
        target, F.coalesce(kind, F.lit(int(EditKind.SEEN))), values, alias=merge.target_alias
    )
    if target.has(property_values.CHANGE_DATA_FEED):
        columns.append(edits.preimage(target, alias=merge.target_alias))
    edited = joined.select(*columns, F.col(source.row), F.col(own.clause))
    return merge_columns.with_generated_columns(edited, merge.clauses, UPDATES, evolved, merge)


def _check_matched_once(merge: Merge, found: Edits) -> None:
    if merge_clauses.allows_many_matches(merge.clauses):
        return
    updated, deleted = (
        found.matched_rows.get(kind, MatchedRows()) for kind in (EditKind.UPDATED, EditKind.DELETED)
    )
    twice = updated.count > updated.distinct or deleted.count > deleted.distinct
    both = any(rows.rows & deleted.of(position).rows for position, rows in updated.rows.items())
    if twice or both:
        raise InvalidRequest(
            "several rows of the source match the same row of the table and would change it, and it is not "
            "clear which should; nothing was committed: make the source have one row for each, or give the "
            "clauses conditions that only one of them meets",
            code="DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE",
        )
