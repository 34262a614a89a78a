"""By which name may expressions call the rows of a DataFrame? By the alias that its user gave it.

    df.alias("s")                      "s"
    df.alias("s").where("amount > 0")  "s": what leaves columns as they are keeps their names
    df.alias("s").withColumn(…)        None: the new column has no qualifier, the others have theirs

A frame does not tell: the plan behind it does, in the JVM or with Spark Connect in Python, and neither is a
public form. Where it cannot be read the answer is None, by which nothing is wrong but slower: a MERGE then
reads files of the target that the keys of its source leave out (``benchmarks/dml.py``).
"""

from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import DataFrame

from headgate.spark.session import kind

_ALIAS = "SubqueryAlias"
_TRANSPARENT = frozenset(
    {
        "Filter",
        "Sort",
        "GlobalLimit",
        "LocalLimit",
        "Limit",
        "Distinct",
        "Deduplicate",
        "Repartition",
        "Sample",
    }
)
"""What gives the columns of its one child on as they are, in either kind of plan."""


def frame_alias(df: DataFrame) -> str | None:
    """The alias of all columns of a frame; None if it has none, or not all of them the same."""
    try:
        return _connect_alias(df) if kind.is_connect(df) else _classic_alias(df)
    except (AttributeError, Py4JError):
        return None


def _classic_alias(df: DataFrame) -> str | None:
    plan: Any = df._jdf.queryExecution().analyzed()
    while (name := plan.nodeName()) in _TRANSPARENT:
        plan = plan.children().head()
    return str(plan.alias()) if name == _ALIAS else None


def _connect_alias(df: DataFrame) -> str | None:
    plan: Any = df._plan
    while (name := type(plan).__name__) in _TRANSPARENT:
        plan = plan._child
    return str(plan._alias) if name == _ALIAS else None
