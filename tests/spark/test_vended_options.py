"""What a catalog vends for a table is in the configuration with which Spark opens its files."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import headgate
from headgate.spark.session import kind, vended_access

pytestmark = pytest.mark.spark
OPTION, VALUE = "fs.file.impl.disable.cache", "true"


def test_options_of_a_table_reach_its_scans_and_its_writes(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind.is_connect(spark):
        pytest.skip("the plan of a Connect session is not seen from here")
    asked: list[str] = []

    def options(location: str) -> dict[str, str]:
        asked.append(location)
        return {OPTION: VALUE}

    monkeypatch.setattr(vended_access, "access_options", options)
    with headgate.connect(tmp_path / "lake") as lake:
        lake.create_schema("s")
        table = lake.write(spark.range(3), "s.t")
        written = len(asked)
        rows = table.read()

        assert rows.count() == 3
        assert written > 0
        relation = rows._jdf.queryExecution().analyzed().collectLeaves().apply(0).relation()
        assert relation.options().apply(OPTION) == VALUE
        assert set(asked) == {table.log.location}
