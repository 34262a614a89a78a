"""MERGE as ``delta.tables`` builds it: clauses are added one by one, and ``execute`` runs it.

table.alias("t").merge(changes.alias("c"), "t.id = c.id")
    .whenMatchedUpdate(set={"amount": "c.amount"})
    .whenNotMatchedInsertAll()
    .execute()
"""

from typing import overload

from pyspark.sql import Column, DataFrame, SparkSession

from headgate.delta.argument_types import Condition, check_assignments, check_condition
from headgate.delta.error_translation import delta_calls
from headgate.spark.commands import operation_frames
from headgate.spark.dml.merge.merge import Merge

ColumnMapping = dict[str, str | Column]


@delta_calls
class DeltaMergeBuilder:
    """A MERGE in the making; of several clauses about the same rows the first that is true decides."""

    def __init__(self, spark: SparkSession, merge: Merge) -> None:
        self._spark = spark
        self._merge = merge

    @overload
    def whenMatchedUpdate(self, condition: Condition, set: ColumnMapping) -> "DeltaMergeBuilder": ...

    @overload
    def whenMatchedUpdate(self, *, set: ColumnMapping) -> "DeltaMergeBuilder": ...

    def whenMatchedUpdate(
        self, condition: Condition = None, set: ColumnMapping | None = None
    ) -> "DeltaMergeBuilder":
        """Set columns of rows that match."""
        values = check_assignments(set, "'set' in whenMatchedUpdate")
        check_condition(condition)
        return self._with(self._merge.when_matched_update(condition, values) if values else self._merge)

    def whenMatchedUpdateAll(self, condition: Condition = None) -> "DeltaMergeBuilder":
        """Set every column of rows that match to the source's column of that name."""
        check_condition(condition)
        return self._with(self._merge.when_matched_update_all(condition))

    def whenMatchedDelete(self, condition: Condition = None) -> "DeltaMergeBuilder":
        """Delete rows that match."""
        check_condition(condition)
        return self._with(self._merge.when_matched_delete(condition))

    @overload
    def whenNotMatchedInsert(self, condition: str | Column, values: ColumnMapping) -> "DeltaMergeBuilder": ...

    @overload
    def whenNotMatchedInsert(self, *, values: ColumnMapping = ...) -> "DeltaMergeBuilder": ...

    def whenNotMatchedInsert(
        self, condition: Condition = None, values: ColumnMapping | None = None
    ) -> "DeltaMergeBuilder":
        """Insert a row for each of the source that matches none."""
        given = check_assignments(values, "'values' in whenNotMatchedInsert")
        check_condition(condition)
        return self._with(self._merge.when_not_matched_insert(condition, given))

    def whenNotMatchedInsertAll(self, condition: Condition = None) -> "DeltaMergeBuilder":
        """Insert the rows of the source that match none, column by column."""
        check_condition(condition)
        return self._with(self._merge.when_not_matched_insert_all(condition))

    @overload
    def whenNotMatchedBySourceUpdate(
        self, condition: Condition, set: ColumnMapping
    ) -> "DeltaMergeBuilder": ...

    @overload
    def whenNotMatchedBySourceUpdate(self, *, set: ColumnMapping) -> "DeltaMergeBuilder": ...

    def whenNotMatchedBySourceUpdate(
        self, condition: Condition = None, set: ColumnMapping | None = None
    ) -> "DeltaMergeBuilder":
        """Set columns of rows that no row of the source matches."""
        values = check_assignments(set, "'set' in whenNotMatchedBySourceUpdate")
        check_condition(condition)
        merge = self._merge
        return self._with(merge.when_not_matched_by_source_update(condition, values) if values else merge)

    def whenNotMatchedBySourceDelete(self, condition: Condition = None) -> "DeltaMergeBuilder":
        """Delete rows that no row of the source matches."""
        check_condition(condition)
        return self._with(self._merge.when_not_matched_by_source_delete(condition))

    def withSchemaEvolution(self) -> "DeltaMergeBuilder":
        """Let columns of the source that the table does not have become columns of the table."""
        return self._with(self._merge.with_schema_evolution())

    def execute(self) -> DataFrame:
        """Run it; one row with how many rows were affected, updated, deleted and inserted."""
        return operation_frames.merge_frame(self._spark, self._merge.execute().metrics)

    def _with(self, merge: Merge) -> "DeltaMergeBuilder":
        return DeltaMergeBuilder(self._spark, merge)
