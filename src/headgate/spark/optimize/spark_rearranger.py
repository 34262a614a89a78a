"""Rearranging by Spark, which is started when there is something to do and not before."""

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import SparkSession

from headgate.spark.dml.dml_metrics import OperationResult
from headgate.spark.optimize import optimize
from headgate.table.maintenance.rearranger import RearrangeResult
from headgate.table.opened_table import OpenedTable


@dataclass(frozen=True, slots=True)
class SparkRearranger:
    """OPTIMIZE and REORG in the session that ``session`` gives; it is asked for one each time."""

    session: Callable[[], SparkSession]

    def optimize(self, table: OpenedTable) -> RearrangeResult:
        return _to_rearranged(optimize.optimize(self.session(), table))

    def purge(self, table: OpenedTable) -> RearrangeResult:
        return _to_rearranged(optimize.purge(self.session(), table))


def _to_rearranged(done: OperationResult) -> RearrangeResult:
    return RearrangeResult(done.version, done.metrics["numAddedFiles"], done.metrics["numRemovedFiles"])
