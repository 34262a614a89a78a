"""The demo's story with few rows: what it claims must hold, and a claim that does not must show."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from io import StringIO
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from rich.console import Console

from headgate.catalog.embedded import open_catalog
from headgate.cli.demo import handover, retail, scene, served, story, transactions
from headgate.cli.demo.narrator import Narrator
from headgate.cli.demo.retail import Day
from headgate.cli.demo.scene import FIRST_DAY, Scene

pytestmark = pytest.mark.spark


@contextmanager
def staged(spark: SparkSession, folder: Path) -> Iterator[Scene]:
    with closing(open_catalog(folder)) as catalog:
        say = Narrator(Console(file=StringIO(), width=200))
        yield scene.build(spark, catalog, say, rows=5_000, seed=7)


def test_every_claim_of_the_story_holds(spark: SparkSession, tmp_path: Path) -> None:
    with staged(spark, tmp_path) as stage:
        story.run_story(stage)

        assert [claim.text for claim in stage.say.claims if not claim.holds] == []
        assert len(stage.say.claims) >= 12
        assert stage.bronze.version() == 4 + 16
        assert stage.gold.version() == 2


def test_every_claim_of_the_chapters_behind_it_holds_on_each_day(spark: SparkSession, tmp_path: Path) -> None:
    for _ in range(2):
        with staged(spark, tmp_path / "lake") as stage:
            stage.bronze.append(retail.delivery(spark, Day(FIRST_DAY, 7), range(10), "first"))

            transactions.show_lost_race(stage)
            transactions.show_domain_handler(stage)
            handover.show_adoption(stage, tmp_path / "lake")
            handover.show_stream(stage, tmp_path / "lake")

            assert [claim.text for claim in stage.say.claims if not claim.holds] == []
            assert len(stage.say.claims) == 5


@pytest.mark.parametrize("with_duckdb", [True, False])
def test_another_engine_uses_the_table_through_a_server(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_duckdb: bool
) -> None:
    assert served.has_duckdb()
    monkeypatch.setattr(served, "has_duckdb", lambda: with_duckdb)
    with staged(spark, tmp_path) as stage:
        stage.bronze.append(retail.delivery(spark, Day(FIRST_DAY, 7), range(10), "first"))

        served.show_other_engine(stage, tmp_path)

        assert [claim.holds for claim in stage.say.claims] == [True] * (2 if with_duckdb else 1)
        assert stage.bronze.version() == (2 if with_duckdb else 1)


def test_a_kept_lake_goes_on_with_the_next_day(spark: SparkSession, tmp_path: Path) -> None:
    with staged(spark, tmp_path) as stage:
        day = Day(FIRST_DAY, 7)
        stage.silver.overwrite(retail.clean(retail.delivery(spark, day, range(10), "first")))

    with staged(spark, tmp_path) as stage:
        assert (stage.day.date - FIRST_DAY).days == 1


def test_the_same_seed_gives_the_same_day(spark: SparkSession) -> None:
    whole = retail.delivery(spark, Day(FIRST_DAY, 7), range(100), "d").collect()
    parts = [retail.delivery(spark, Day(FIRST_DAY, 7), part, "d") for part in (range(40), range(40, 100))]
    other = retail.delivery(spark, Day(FIRST_DAY, 8), range(100), "d").collect()

    assert parts[0].union(parts[1]).repartition(3).orderBy("order_id").collect() == sorted(
        whole, key=lambda row: row.order_id
    )
    assert whole != other


def test_a_claim_that_does_not_hold_is_told() -> None:
    out = StringIO()
    say = Narrator(Console(file=out, width=200))

    say.claim("two and two are five", expected=5, found=4)

    assert not say.claims[0].holds
    assert "not so: two and two are five (expected 5, found 4)" in out.getvalue()
