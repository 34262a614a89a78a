"""VACUUM of Delta Spark keeps what Headgate wrote, whatever the files are called.

It compares the paths of the log with those of the disk as texts, so they have to be spelled as Hadoop does.
"""

import string
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import headgate
from headgate import Table
from tests.support.delta_spark import DeltaSpark

pytestmark = [pytest.mark.interop, pytest.mark.spark]

SIGNS = sorted({*string.punctuation, " ", "ü", "☃", "\u00a0", "\t"} - {"/", "\\", ":"})
"""Of which names of files and folders are made; Hadoop lists no file with a colon in its name."""
NAMES = [f"a{sign}b" for sign in SIGNS]


def appended_by_spark(folder: Path, spark: SparkSession) -> Table:
    table = headgate.at_path(folder, columns="id BIGINT, p STRING", partition_by=["p"])
    table.append(spark.createDataFrame([*enumerate(NAMES)], "id BIGINT, p STRING"))
    return table


def appended_by_arrow(folder: Path, _: SparkSession) -> Table:
    table = headgate.at_path(folder, columns="id BIGINT, p STRING", partition_by=["p"])
    table.append([{"id": number, "p": name} for number, name in enumerate(NAMES)])
    return table


def converted(folder: Path, _: SparkSession) -> Table:
    folder.mkdir()
    for number, name in enumerate(NAMES):
        pq.write_table(pa.table({"id": [number], "p": [name]}), folder / f"{name}.parquet")
    return headgate.convert(str(folder))


@pytest.mark.parametrize("made", [appended_by_spark, appended_by_arrow, converted])
def test_no_file_is_taken_for_one_that_nobody_needs(
    delta: DeltaSpark, spark: SparkSession, tmp_path: Path, made: Callable[[Path, SparkSession], Table]
) -> None:
    folder = tmp_path / "table"
    made(folder, spark)
    wanted = sorted(enumerate(NAMES))

    delta.sql(f"VACUUM delta.`{folder}` RETAIN 0 HOURS")

    assert sorted((row.id, row.p) for row in headgate.at_path(folder).read(spark=spark).collect()) == wanted
    assert sorted(delta.read(folder).rows) == wanted
