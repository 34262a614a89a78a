"""The CPU time of the tasks of an action of Spark, which other work beside it changes little.

A clock says little then."""

from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from pyspark.sql import SparkSession

_SECOND = 1e9


@dataclass(frozen=True, slots=True)
class TaskCpu:
    """Measures each run of an action, for the median."""

    spark: SparkSession
    action: Callable[[], object]
    seconds: list[float] = field(default_factory=list)

    def __call__(self) -> None:
        before = self._so_far()
        self.action()
        self.seconds.append(self._so_far() - before)

    @property
    def middle(self) -> float:
        """The median of the runs but the first, in which the JVM compiles."""
        return median(self.seconds[1:] or self.seconds)

    def _so_far(self) -> float:
        """Of all stages of the session; what the listeners have not heard of yet is waited for."""
        jvm: Any = self.spark._jvm
        context = self.spark.sparkContext._jsc.sc()
        context.listenerBus().waitUntilEmpty()
        nobody, no = jvm.java.util.ArrayList(), False
        quantiles = self.spark.sparkContext._gateway.new_array(jvm.double, 0)
        stages = context.statusStore().stageList(nobody, no, no, quantiles, nobody)
        return sum(stages.apply(number).executorCpuTime() for number in range(stages.size())) / _SECOND
