"""``headgate.delta`` does what ``delta.tables`` does: one module of behaviours, tried on both."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import headgate
from tests.delta.behaviours import BEHAVIOURS
from tests.delta.places import LakePlace, PathPlace
from tests.support.delta_spark import DeltaSpark
from tests.support.foreign_environments import DELTA_SPARK

pytestmark = [pytest.mark.interop, pytest.mark.spark]


Seen = dict[str, Any]
FULL_LENGTH = "HEADGATE_TESTS_REFEREE"
"""Set it, and every behaviour is compared; else those that say most of error classes and results."""
SHORT = (
    "merge_updates_and_inserts",
    "statements_are_refused",
    "builders_refuse",
    "exceptions_have_their_names",
)
COMPARED = tuple(BEHAVIOURS) if os.environ.get(FULL_LENGTH) else SHORT


@pytest.fixture(scope="module")
def seen() -> Seen:
    """What was seen of each behaviour with a lake, for others to be compared with."""
    return {}


@pytest.fixture(scope="module")
def lake_place(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LakePlace]:
    folder = tmp_path_factory.mktemp("lake-place")
    with headgate.connect(folder / "lake") as lake:
        lake.create_schema("s")
        lake.register(spark)
        yield LakePlace(spark, lake, folder)
        lake.unregister(spark)


@pytest.fixture(scope="module")
def path_place(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> PathPlace:
    return PathPlace(spark, tmp_path_factory.mktemp("path-place"))


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_a_behaviour_holds_for_tables_of_a_lake(name: str, lake_place: LakePlace, seen: Seen) -> None:
    seen[name] = _as_json(BEHAVIOURS[name](lake_place))

    assert seen[name] is not None


@pytest.mark.parametrize("name", COMPARED)
def test_paths_and_delta_spark_behave_the_same(
    name: str,
    lake_place: LakePlace,
    path_place: PathPlace,
    delta: DeltaSpark,
    seen: Seen,
    tmp_path: Path,
) -> None:
    DELTA_SPARK.require()
    named = seen[name] if name in seen else _as_json(BEHAVIOURS[name](lake_place))
    theirs = delta.behave(DELTA_SPARK.site_packages, name, tmp_path / "delta")

    assert _as_json(BEHAVIOURS[name](path_place)) == named
    assert _comparable(named, theirs) == theirs


def _as_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


def _comparable(ours: Any, theirs: Any) -> Any:
    """Ours, without the names of exceptions where PySpark has none for the JVM's."""
    if not isinstance(ours, list) or not isinstance(theirs, list) or len(ours) != len(theirs):
        return ours
    if len(theirs) == 3 and theirs[0] is None and isinstance(theirs[1], str):
        return [None, ours[1], None]
    return [_comparable(mine, other) for mine, other in zip(ours, theirs, strict=True)]
