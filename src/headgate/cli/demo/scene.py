"""What every chapter of the demo works with."""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from headgate.catalog.ports.catalog import LakeCatalog
from headgate.cli.demo import retail
from headgate.cli.demo.narrator import Narrator
from headgate.cli.demo.retail import Day
from headgate.cli.folder import OpenedLake
from headgate.clock import SystemWorld
from headgate.errors import TableNotFound
from headgate.lake.lake import Lake
from headgate.lake.table import Table
from headgate.settings import Publish, Settings

FIRST_DAY = date(2026, 3, 2)
# Nothing is published before the story comes to it, so that the difference can be seen.
_INLINE = Settings(publish=Publish.ON_DEMAND)
_STAGED = Settings(publish=Publish.ON_DEMAND, inline_limit_bytes=0)


@dataclass(frozen=True, slots=True)
class Scene:
    """The session, the lake and its three tables, and the day whose orders arrive."""

    spark: SparkSession
    say: Narrator
    opened: OpenedLake
    bronze: Table
    silver: Table
    gold: Table
    day: Day
    rows: int

    def read(self, table: Table, **when: Any) -> DataFrame:
        """The rows of a table, by this session."""
        return table.read(spark=self.spark, **when)

    def count(self, table: Table, **when: Any) -> int:
        """How many rows a table has, counted by reading it."""
        return self.read(table, **when).count()


def build(spark: SparkSession, catalog: LakeCatalog, say: Narrator, *, rows: int, seed: int) -> Scene:
    """Make the tables, or go on with those of an earlier run and its next day."""
    lake = Lake(catalog, settings=_INLINE, world=SystemWorld())
    reporting = Lake(catalog, settings=_STAGED, world=SystemWorld())
    silver = open_or_create(lake, "silver.orders", retail.SILVER)
    return Scene(
        spark=spark,
        say=say,
        opened=OpenedLake(lake, catalog),
        bronze=open_or_create(lake, "bronze.orders", retail.BRONZE),
        silver=silver,
        gold=open_or_create(reporting, "gold.revenue", retail.GOLD),
        day=Day(_next_day(silver.read(spark=spark)), seed),
        rows=rows,
    )


def open_or_create(lake: Lake, name: str, columns: str) -> Table:
    """A table of the demo, that of an earlier run if there is one."""
    try:
        return lake.table(name)
    except TableNotFound:
        lake.create_schema(name.split(".", maxsplit=1)[0])
        return lake.create_table(name, columns)


def _next_day(silver: DataFrame) -> date:
    latest: date | None = silver.select(F.to_date(F.max("ordered_at"))).collect()[0][0]
    return FIRST_DAY if latest is None else latest + timedelta(days=1)
