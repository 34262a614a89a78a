"""What SQL costs besides the query: ``lake.sql`` against ``spark.sql`` over a frame that is read by hand.

Both sides open the table, read it and collect the same rows; ``lake.sql`` finds the name in the text besides.
It is meant to add at most 10 ms. The second pair is a statement of Spark alone, in a session that knows a
lake and in one that knows none: what everybody pays who registers a lake.
"""

from collections.abc import Iterator
from pathlib import Path
from statistics import median

from pyspark.sql import SparkSession

import headgate
from benchmarks import pairs
from benchmarks.pairs import Paired
from benchmarks.report import Result
from benchmarks.scan import session

_QUERY = "SELECT count(*), sum(o.id) FROM {} AS o JOIN range(100) r ON o.id = r.id WHERE o.id > :low"
_OWN = "SELECT count(*) FROM range(10) WHERE id > 3"
_LOW = {"low": 7}


def run(place: Path, *, quick: bool) -> Iterator[Result]:
    rounds = 3 if quick else 20
    spark = session()
    try:
        with headgate.connect(place / "lake") as lake:
            lake.create_schema("s")
            lake.write(spark.range(1_000), "s.orders")
            yield _of_a_lake(spark, lake, rounds)
            yield _of_spark_alone(spark, lake, rounds)
    finally:
        spark.stop()


def _of_a_lake(spark: SparkSession, lake: headgate.Lake, rounds: int) -> Result:
    def ours() -> object:
        return lake.sql(_QUERY.format("s.orders"), _LOW, spark).collect()

    def by_hand() -> object:
        frame = lake.table("s.orders").read(spark=spark)
        return spark.sql(_QUERY.format("{orders}"), _LOW, orders=frame).collect()

    assert ours() == by_hand()
    found = pairs.compare(ours, by_hand, rounds, warm_up=5)
    return found.result("lake.sql", f"adds {_added(found):.1f} ms; goal: at most 10 ms", peer_name="by hand")


def _of_spark_alone(spark: SparkSession, lake: headgate.Lake, rounds: int) -> Result:
    other = spark.newSession()
    lake.register(spark)
    found = pairs.compare(
        lambda: spark.sql(_OWN).collect(), lambda: other.sql(_OWN).collect(), rounds, warm_up=5
    )
    lake.unregister(spark)
    return found.result("spark.sql of Spark alone", f"adds {_added(found):.1f} ms", peer_name="no lake")


def _added(found: Paired) -> float:
    """How many milliseconds the first side takes longer, as the median of neighbours."""
    return 1000 * median(mine - theirs for mine, theirs in zip(found.ours, found.peer, strict=True))
