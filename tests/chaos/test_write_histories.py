"""Any sequence of writes leaves the rows that a plain list of rows would have, at every version.

The tables are of all kinds: partitioned, clustered, mapped, with deletion vectors, with a change feed.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession

import headgate
from headgate import Table

ROUNDS = int(os.environ.get("HEADGATE_CHAOS_ROUNDS", "0"))
pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(not ROUNDS, reason="takes minutes: make chaos runs it"),
]

Row = tuple[int, str | None, int | None]
COLUMNS = "id BIGINT, part STRING, v BIGINT"
PARTS = ["a", "b", "x y/%", None]

rows = st.lists(
    st.tuples(st.integers(0, 9), st.sampled_from(PARTS), st.none() | st.integers(0, 3)), max_size=6
)


@dataclass(frozen=True)
class Step:
    """One write: how the table does it, and how a list of rows would."""

    name: str
    write: Callable[[Table, DataFrame], object]
    model: Callable[[list[Row], Sequence[Row]], list[Row]]
    fitting: Callable[[Row], bool] = lambda _: True


def _dynamic(before: list[Row], new: Sequence[Row]) -> list[Row]:
    written = {row[1] for row in new}
    return [row for row in before if row[1] not in written] + list(new)


def _same_ids(before: list[Row], new: Sequence[Row]) -> list[Row]:
    written = {row[0] for row in new}
    return [row for row in before if row[0] not in written] + list(new)


APPEND = Step("append", lambda table, df: table.append(df), lambda before, new: before + list(new))
ALL = Step("overwrite", lambda table, df: table.overwrite(df), lambda _, new: list(new))
PARTITION = Step(
    "replace a partition",
    lambda table, df: table.overwrite(df, replace_where="part = 'a'"),
    lambda before, new: [row for row in before if row[1] != "a"] + list(new),
    lambda row: row[1] == "a",
)
BY_VALUE = Step(
    "replace by value",
    lambda table, df: table.overwrite(df, replace_where="id > 4 AND v IS NOT NULL"),
    lambda before, new: [row for row in before if not (row[0] > 4 and row[2] is not None)] + list(new),
    lambda row: row[0] > 4 and row[2] is not None,
)
KEYS = Step("replace by key", lambda table, df: table.overwrite(df, replace_using=["id"]), _same_ids)
DYNAMIC = Step("dynamic", lambda table, df: table.overwrite(df, partition_overwrite="dynamic"), _dynamic)
STEPS = (APPEND, APPEND, ALL, PARTITION, BY_VALUE, KEYS)

KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "partitioned": {"partition_by": ["part"]},
    "mapped and partitioned": {
        "partition_by": ["part"],
        "properties": {"delta.columnMapping.mode": "name", "delta.enableDeletionVectors": "true"},
    },
    "clustered, with vectors and a feed": {
        "cluster_by": ["id"],
        "properties": {"delta.enableDeletionVectors": "true", "delta.enableChangeDataFeed": "true"},
    },
    "tracked": {"properties": {"delta.enableRowTracking": "true"}},
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    base = tmp_path_factory.mktemp("histories")
    return (base / str(number) for number in range(10**6))


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=max(1, ROUNDS // 20), deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_version_has_the_rows_of_the_model(
    spark: SparkSession, folders: Iterator[Path], kind: str, data: st.DataObject
) -> None:
    steps = (*STEPS, DYNAMIC) if "partition_by" in KINDS[kind] else STEPS
    table = headgate.at_path(next(folders), columns=COLUMNS, **KINDS[kind])
    history: list[list[Row]] = [[]]

    for step in data.draw(st.lists(st.sampled_from(steps), min_size=3, max_size=6)):
        new = [row for row in data.draw(rows) if step.fitting(row)]
        step.write(table, spark.createDataFrame(new, COLUMNS).coalesce(data.draw(st.sampled_from([1, 2]))))
        history.append(step.model(history[-1], new))

    assert table.version() == len(history) - 1
    for version, expected in enumerate(history):
        assert _counted(table.read(version=version)) == Counter(expected), version
    _check_feed(table, history)
    if kind in ("plain", "partitioned"):
        others = DeltaTable(table.location).to_pyarrow_table().to_pylist()
        assert Counter((row["id"], row["part"], row["v"]) for row in others) == Counter(history[-1])


def _check_feed(table: Table, history: Sequence[Sequence[Row]]) -> None:
    """The changes of each version lead from the rows before it to those after it."""
    if table.properties().get("delta.enableChangeDataFeed") != "true":
        return
    changes = table.changes(0).collect()
    for version, (before, after) in enumerate(pairwise(history), start=1):
        balance = Counter(before)
        for row in changes:
            if row["_commit_version"] == version:
                sign = 1 if row["_change_type"] in ("insert", "update_postimage") else -1
                balance[row["id"], row["part"], row["v"]] += sign
        assert {row: count for row, count in balance.items() if count} == dict(Counter(after)), version


def _counted(df: DataFrame) -> Counter[Row]:
    return Counter((row["id"], row["part"], row["v"]) for row in df.collect())
