"""Statements of the bank give on Delta Spark what stands below them, if Delta Spark has them."""

from pathlib import Path

import pytest

from tests.sql.bank import Group
from tests.sql.engines import OnDelta, differences
from tests.sql.sampling import sampled_groups
from tests.support.delta_spark import DeltaSpark

pytestmark = [pytest.mark.interop, pytest.mark.spark, pytest.mark.timeout(900)]
GROUPS = tuple(group for group in sampled_groups() if group.of_delta)


@pytest.mark.parametrize("group", GROUPS, ids=str)
def test_delta_gives_what_the_bank_says(group: Group, delta: DeltaSpark, tmp_path: Path) -> None:
    different = differences(group, OnDelta(delta, tmp_path / "group"), group.of_delta)

    assert not different, "\n\n".join(map(str, different))
