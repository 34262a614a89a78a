"""A project written for Delta Spark runs on Headgate: its imports change, and one line."""

import importlib
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import headgate
from tests.support.delta_spark import DeltaSpark
from tests.support.foreign_environments import DELTA_SPARK

pytestmark = [pytest.mark.interop, pytest.mark.spark]

PROJECT = Path(__file__).parents[1] / "delta" / "project"
THE_LINE = 'spark.sql("CREATE SCHEMA IF NOT EXISTS shop")'


@pytest.fixture
def migrated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The project after the changes of docs/how-to/migrate-from-delta-spark.md, and its lake."""
    lake = tmp_path / "lake"
    with headgate.connect(lake) as made:
        made.create_schema("shop")
    copy = tmp_path / "project"
    shutil.copytree(PROJECT, copy, ignore=shutil.ignore_patterns("__pycache__"))
    _migrate(copy, lake)
    monkeypatch.syspath_prepend(str(copy))
    names = [path.stem for path in copy.glob("*.py")]
    yield importlib.import_module("main")
    for name in names:
        sys.modules.pop(name, None)


def _migrate(project: Path, lake: Path) -> None:
    for path in project.glob("*.py"):
        text = path.read_text().replace("from delta", "from headgate.delta")
        if THE_LINE in text:
            text = text.replace(THE_LINE, f'headgate.connect("{lake}").register(spark)')
            text = text.replace("from headgate.delta import", "import headgate\nfrom headgate.delta import")
        path.write_text(text)


def test_only_imports_and_one_line_change(migrated: Any, tmp_path: Path) -> None:
    changed = {
        (path.name, line)
        for path in PROJECT.glob("*.py")
        for line in set((tmp_path / "project" / path.name).read_text().splitlines())
        - set(path.read_text().splitlines())
    }

    assert len([line for _, line in changed if not line.startswith(("import ", "from "))]) == 1


def test_the_project_runs_on_headgate(migrated: Any, spark: SparkSession, tmp_path: Path) -> None:
    seen = migrated.main(spark, tmp_path / "run")

    updated, rows, operations = seen[-3:]
    assert updated == [2, 0, 2]
    assert [row[0] for row in rows] == [0, 2, 3, 4, 5, 6, 7, 20]
    assert rows[-1] == [20, "last", 7, 14]
    assert "MERGE" in operations


def test_delta_spark_gives_the_same(
    migrated: Any, delta: DeltaSpark, spark: SparkSession, tmp_path: Path
) -> None:
    DELTA_SPARK.require()
    theirs = delta.run(DELTA_SPARK.site_packages, PROJECT, tmp_path / "theirs")

    assert json.loads(json.dumps(migrated.main(spark, tmp_path / "ours"))) == theirs
