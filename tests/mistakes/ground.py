"""On what are the mistakes made? A small lake and an ordinary table, which no mistake changes."""

import shutil
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DoubleType, LongType, StringType, StructType

import headgate
from headgate import Lake, Publish, Settings, Table

COLUMNS = (
    StructType()
    .add("id", LongType(), nullable=False)
    .add("name", StringType())
    .add("day", StringType())
    .add("amount", DoubleType())
)
IDS = StructType().add("id", LongType())


@dataclass(frozen=True)
class Mistake:
    """What somebody does, and the table that the answer must name, if there is one."""

    title: str
    make: Callable[["Ground"], object]
    about: str = "s.orders"


class Ground:
    """A lake with two tables, a table by its path, and what some mistakes need besides."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._open = ExitStack()
        self.lake: Lake = self._open.enter_context(headgate.connect(folder / "lake"))
        self.lake.create_schema("s")
        self.orders = self.lake.create_table("s.orders", COLUMNS, partition_by=["day"])
        self.returns = self.lake.create_table("s.returns", COLUMNS)
        self.plain = headgate.at_path(folder / "plain", columns=COLUMNS)
        self.ann: Lake = self._open.enter_context(headgate.connect(folder / "lake", principal="ann"))

    def close(self) -> None:
        self._open.close()

    def dropped(self) -> Table:
        """A table that is open, and of which somebody has taken the name away."""
        table = self.lake.create_table("s.gone", IDS)
        self.lake.drop_table("s.gone")
        return table

    def with_truncated_commit(self) -> Table:
        """A table of which somebody cut a staged commit short."""
        settings = Settings(inline_limit_bytes=0, publish=Publish.ON_DEMAND)
        lake = self._open.enter_context(headgate.connect(self.folder / "cut", settings=settings))
        lake.create_schema("s")
        table = lake.create_table("s.orders", IDS)
        table.set_comment("to be cut")
        (staged,) = Path(table.location).rglob("_staged_commits/*.json")
        staged.write_bytes(staged.read_bytes()[:50])
        return lake.table("s.orders")

    def without_its_folder(self) -> Lake:
        """A lake that is open, and whose folder somebody has deleted."""
        lake = self._open.enter_context(headgate.connect(self.folder / "deleted"))
        lake.create_schema("s")
        shutil.rmtree(self.folder / "deleted")
        return lake

    def with_folder(self, name: str, content: bytes | None) -> Path:
        """A folder where the database of a lake would be a file with this content, or a folder itself."""
        database = self.folder / name / "catalog.sqlite"
        database.parent.mkdir(mode=0o700)
        if content is None:
            database.mkdir(mode=0o700)
        else:
            database.touch(mode=0o600)
            database.write_bytes(content)
        return database.parent

    def file(self) -> Path:
        """A file where a folder is wanted."""
        path = self.folder / "a-file"
        path.write_text("not a lake")
        return path


class RowsGround(Ground):
    """The same, with rows and a Spark session."""

    def __init__(self, folder: Path, spark: SparkSession) -> None:
        super().__init__(folder)
        self.spark = spark
        rows = [(1, "one", "2026-01-01", 1.0), (2, "two", "2026-01-02", 2.0)]
        self.rows = spark.createDataFrame(rows, COLUMNS)
        for table in (self.orders, self.returns, self.plain):
            table.append(self.rows)
        self.returns.add_constraint("positive", "amount > 0")
        self.log = self.lake.create_table("s.log", IDS, properties={"delta.appendOnly": "true"})

    def frame(self, values: list[Any], ddl: str) -> DataFrame:
        return self.spark.createDataFrame(values, ddl)

    def without_a_file(self) -> Table:
        """A table of which somebody deleted a data file."""
        table = headgate.write_path(self.rows.coalesce(1), self.folder / "holes")
        (file,) = Path(table.location).rglob("*.parquet")
        file.unlink()
        return table
