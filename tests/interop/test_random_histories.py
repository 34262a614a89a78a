"""Random histories of one table in the hands of Headgate and Delta Spark, each version against a plain model.

``make referee`` plays many; ``HEADGATE_TESTS_HISTORIES=17`` plays the one of this seed, ``17-40`` all these.
"""

import os
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.interop.conftest import CHOSEN, FULL_LENGTH
from tests.support.delta_spark import DeltaSpark
from tests.support.histories.play import STEPS, play
from tests.support.histories.steps import Site

pytestmark = [pytest.mark.interop, pytest.mark.spark]

SHORT, LONG = "1-2", "1-200"
SHORT_STEPS = 6


def seeds() -> range:
    """The histories that are played."""
    asked = os.environ.get(CHOSEN) or (LONG if os.environ.get(FULL_LENGTH) else SHORT)
    first, _, last = asked.partition("-")
    return range(int(first), int(last or first) + 1)


@pytest.mark.parametrize("seed", seeds())
def test_both_engines_and_the_model_agree_on_every_version(
    interpreting: SparkSession, delta: DeltaSpark, tmp_path: Path, seed: int
) -> None:
    short = not (os.environ.get(CHOSEN) or os.environ.get(FULL_LENGTH))
    play(seed, Site(str(tmp_path / "table"), interpreting, delta), SHORT_STEPS if short else STEPS)
    delta.forget()
