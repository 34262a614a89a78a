"""Rows computed once and kept, and what was counted of them while they were."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import Column, DataFrame, Observation

from headgate.spark.session import kind, local_checkpoint

_WAIT_S, _PAUSE_S = 10.0, 0.002


def checkpoint_and_observe(rows: DataFrame, asked: Mapping[str, Column]) -> tuple[DataFrame, Sequence[Any]]:
    """The rows without their lineage, and the values of some aggregates, in their order.

    Without lineage: were rows computed again, they might be others than those that were counted.
    """
    named = [aggregate.alias(name) for name, aggregate in asked.items()]
    if kind.is_connect(rows):  # whose checkpoint does not say what was observed
        kept, found = local_checkpoint.checkpoint_rows(rows), {}
    else:
        observation = Observation()
        kept = local_checkpoint.checkpoint_rows(rows.observe(observation, *named))
        found = observation.get if _has_metrics(observation) else {}
    if asked.keys() - found.keys():
        found = kept.agg(*named).collect()[0].asDict()
    return kept, [found[name] for name in asked]


def observed_metrics(observation: Observation, of: DataFrame) -> Mapping[str, Any]:
    """What was observed when ``of`` was written; nothing if Spark does not say."""
    return observation.get if kind.is_connect(of) or _has_metrics(observation) else {}


def _has_metrics(observation: Observation) -> bool:
    """Whether Spark has said what it observed: a listener does, and one that falls behind may never do."""
    until = time.monotonic() + _WAIT_S
    try:
        told: Any = observation._jo.future()  # type: ignore[union-attr]  # it is observed
        while not told.isCompleted():
            if time.monotonic() > until:
                return False
            time.sleep(_PAUSE_S)
    except (Py4JError, AttributeError):
        return False
    return True
