"""Days before 1582 stay the same in sessions that would count them by the Julian calendar."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import headgate
from headgate import Lake
from headgate.spark.scan import binders
from tests.support.changed_tables import files
from tests.support.handmade import column, data_file, write_log

pytestmark = pytest.mark.spark

READS = ("spark.sql.parquet.datetimeRebaseModeInRead", "spark.sql.parquet.int96RebaseModeInRead")
WRITE = "spark.sql.parquet.datetimeRebaseModeInWrite"
DAYS = [date(1400, 2, 28), date(1500, 1, 1), date(1582, 10, 10), date(2026, 1, 31)]
TEXTS = [(str(day), f"{day} 00:00:00") for day in DAYS]
INSTANTS = [datetime(day.year, day.month, day.day, tzinfo=UTC) for day in DAYS]
COLUMNS = [column("day", "date"), column("at", "timestamp")]


@pytest.fixture
def legacy(spark: SparkSession) -> Iterator[None]:
    for name in (*READS, WRITE):
        spark.conf.set(name, "LEGACY")
    yield
    for name in (*READS, WRITE, binders.SETTING):
        spark.conf.unset(name)


@pytest.mark.usefixtures("legacy")
@pytest.mark.parametrize("binder", ["classic", "portable"])
@pytest.mark.parametrize("int96", [True, False], ids=["INT96", "INT64"])
def test_files_that_do_not_say_their_calendar_are_read_by_that_of_delta(
    spark: SparkSession, tmp_path: Path, *, binder: str, int96: bool
) -> None:
    spark.conf.set(binders.SETTING, binder)
    instants = pa.array(INSTANTS, pa.timestamp("us", "UTC"))
    data = pa.table({"day": pa.array(DAYS, pa.date32()), "at": instants})
    add = data_file(tmp_path, "a.parquet", data)
    pq.write_table(data, tmp_path / "a.parquet", use_deprecated_int96_timestamps=int96)
    size = (tmp_path / "a.parquet").stat().st_size
    write_log(tmp_path, COLUMNS, [msgspec.structs.replace(add, size=size)])

    found = headgate.at_path(tmp_path).read().selectExpr("CAST(day AS STRING)", "CAST(at AS STRING)")

    assert [tuple(row) for row in found.collect()] == TEXTS


@pytest.mark.usefixtures("legacy")
def test_files_are_written_by_the_calendar_of_delta(spark: SparkSession, lake: Lake) -> None:
    table = lake.create_table("s.t", "day DATE, at TIMESTAMP")
    values = ", ".join(f"(DATE '{day}', TIMESTAMP '{at}')" for day, at in TEXTS)

    table.append(spark.sql(f"SELECT * FROM VALUES {values} AS v(day, at)").coalesce(1))

    ((path, add),) = files(table).items()
    stored = pq.read_table(Path(table.location) / path)
    assert sorted(stored["day"].to_pylist()) == DAYS
    assert sorted(stored["at"].to_pylist()) == INSTANTS
    assert msgspec.json.decode(add["stats"])["minValues"]["day"] == str(DAYS[0])
    assert spark.conf.get(WRITE) == "LEGACY"
