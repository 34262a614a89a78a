"""OPTIMIZE as ``delta.tables`` builds it.

table.optimize().where("day = '2026-01-31'").executeCompaction()
"""

from pyspark.sql import DataFrame, SparkSession

from headgate.delta.argument_types import check_texts, column_names
from headgate.delta.error_translation import delta_calls
from headgate.lake.table import Table
from headgate.spark.optimize import optimize_result


@delta_calls
class DeltaOptimizeBuilder:
    """An OPTIMIZE in the making, of the whole table or of some partitions."""

    def __init__(self, spark: SparkSession, table: Table) -> None:
        self._spark = spark
        self._table = table
        self._filter: str | None = None

    def where(self, partitionFilter: str) -> "DeltaOptimizeBuilder":
        """Only the partitions that a condition selects; of several conditions all must hold."""
        check_texts("the partition filter", partitionFilter)
        self._filter = (
            partitionFilter if self._filter is None else f"({self._filter}) AND ({partitionFilter})"
        )
        return self

    def executeCompaction(self) -> DataFrame:
        """Put small files together; one row with the table's path and what became of its files."""
        return self._execute(())

    def executeZOrderBy(self, *cols: str | list[str] | tuple[str, ...]) -> DataFrame:
        """Lay rows out anew so that those with values alike in these columns are together."""
        return self._execute(column_names("a column to Z-order by", cols))

    def _execute(self, columns: tuple[str, ...]) -> DataFrame:
        done = self._table.optimize(self._filter, z_order_by=columns, spark=self._spark)
        return optimize_result.optimize_frame(
            self._spark, self._table.location, done, z_ordered=bool(columns)
        )
