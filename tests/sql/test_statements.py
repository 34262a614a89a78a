"""Every statement of the bank gives on Headgate what stands below it in its file."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.sql.bank import Group, load_bank
from tests.sql.engines import OnHeadgate, differences
from tests.support import delta_jars

THROUGH_LAKE = (
    "filters, expressions and aggregates",
    "matched and not matched",
    "DataFrames by name",
    "overwrite",
)
"""Groups that also go through ``lake.sql``, which ``spark.sql`` shares all else with."""

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(not delta_jars.fits(), reason=f"the bank has what Spark {delta_jars.SPARK} gives"),
]


@pytest.mark.parametrize("group", load_bank(), ids=str)
def test_statements_give_what_the_bank_says(group: Group, spark: SparkSession, tmp_path: Path) -> None:
    different = differences(group, OnHeadgate(spark, tmp_path / "group"), group.statements)

    assert not different, "\n\n".join(map(str, different))


@pytest.mark.parametrize("group", [each for each in load_bank() if each.name in THROUGH_LAKE], ids=str)
def test_they_give_the_same_through_the_lake_itself(
    group: Group, spark: SparkSession, tmp_path: Path
) -> None:
    engine = OnHeadgate(spark, tmp_path / "group", through_lake=True)
    different = differences(group, engine, group.statements)

    assert not different, "\n\n".join(map(str, different))
