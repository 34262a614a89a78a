"""Two short histories of writes and changes of rows, each version against a list of tuples.

``make chaos`` plays random ones, on tables of every shape: ``tests/chaos/test_write_histories.py``.
"""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from headgate.spark.dml.merge import key_prefilter
from tests.support import differential
from tests.support.row_model import (
    Rows,
    Shape,
    keep,
    merge,
    replace,
    replace_partitions,
    update,
    where,
)

pytestmark = pytest.mark.spark

FIRST: Rows = [(number, ("0", "1", "x y/%", None)[number % 4], number % 5) for number in range(12)]
MORE: Rows = [(4, "x y/%", 0), (5, None, 2), (6, "0", None), (7, "0", 4), (20, "1", 1), (21, "0", 2)]
HISTORIES = {
    "clustered": (
        Shape(vectors=True, mapped=True, layout="clustered", feed=True),
        [
            merge(MORE, deletes=True, inserts=True, alone="update"),
            replace(MORE, where(0, "p")),
            keep("optimize full"),
        ],
    ),
    "partitioned": (
        Shape(vectors=True, layout="partitioned", tracked=True),
        [
            update(where(5, "ids")),
            replace_partitions([(1, "0", 1), (2, None, 2)]),
        ],
    ),
}


@pytest.fixture(autouse=True)
def marks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a MERGE leave rows out before it joins them, as it does on tables that are large."""
    monkeypatch.setattr(key_prefilter, "_FEW_ROWS", 0)


@pytest.mark.parametrize("layout", HISTORIES)
def test_the_table_is_what_the_model_says(spark: SparkSession, tmp_path: Path, layout: str) -> None:
    shape, statements = HISTORIES[layout]

    differential.check(spark, str(tmp_path), shape, FIRST, statements)
