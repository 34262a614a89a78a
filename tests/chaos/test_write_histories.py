"""Any sequence of writes and changes of rows leaves what a plain list of rows would have, at every version.

On tables of every shape: with deletion vectors or without, with mapped columns or without, plain,
partitioned and clustered, and of each of these some with a change feed and with row ids.
"""

import os
import tempfile
from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from headgate.spark.dml.merge import key_prefilter
from tests.support import differential
from tests.support.row_model import LAYOUTS, ROWS, Shape, statements

ROUNDS = int(os.environ.get("HEADGATE_CHAOS_ROUNDS", "0"))
pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(not ROUNDS, reason="takes minutes: make chaos runs it"),
]


@pytest.fixture(autouse=True)
def marks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a MERGE leave rows out before it joins them, as it does on tables that are large."""
    monkeypatch.setattr(key_prefilter, "_FEW_ROWS", 0)


@pytest.mark.parametrize(
    ("vectors", "mapped", "layout"),
    [
        pytest.param(vectors, mapped, layout, id=f"{layout}, {vectors=}, {mapped=}")
        for vectors, mapped, layout in product([False, True], [False, True], LAYOUTS)
    ],
)
@settings(max_examples=max(1, ROUNDS // 20), deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_version_has_the_rows_of_the_model(
    spark: SparkSession, vectors: bool, mapped: bool, layout: str, data: st.DataObject
) -> None:
    shape = Shape(vectors, mapped, layout, feed=data.draw(st.booleans()), tracked=data.draw(st.booleans()))
    steps = data.draw(st.lists(statements(layout), min_size=3, max_size=6))

    with tempfile.TemporaryDirectory() as location:
        differential.check(spark, location, shape, data.draw(ROWS), steps)
