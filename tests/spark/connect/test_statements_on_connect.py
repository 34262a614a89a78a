"""Statements of the bank give on Spark Connect what they give on classic Spark."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.sql.bank import Group
from tests.sql.engines import OnHeadgate, differences
from tests.sql.sampling import sampled_groups
from tests.support import delta_jars

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(not delta_jars.fits(), reason=f"the bank has what Spark {delta_jars.SPARK} gives"),
]


@pytest.mark.parametrize("group", sampled_groups(), ids=str)
def test_statements_give_what_the_bank_says(group: Group, spark: SparkSession, tmp_path: Path) -> None:
    different = differences(group, OnHeadgate(spark, tmp_path / "group"), group.on_connect)

    assert not different, "\n\n".join(map(str, different))
