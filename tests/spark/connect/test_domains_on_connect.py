"""Metadata domains in the commit of statements, streams and new tables, on Spark Connect."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

import headgate
from headgate import Lake
from tests.spark.connect.test_streaming_on_connect import ended
from tests.spark.test_domains_beside_rows import NAME, NOTHING_TO_DO, STATEMENTS, filled
from tests.support import streams

pytestmark = pytest.mark.spark


def test_statements_set_domains_with_and_without_rows(spark: SparkSession, lake: Lake) -> None:
    lake.create_table("s.t", "id BIGINT")
    lake.permit("s.t", "data reorganisation")
    table = filled(spark, lambda: lake.table("s.t"))

    for statements in (STATEMENTS, NOTHING_TO_DO):
        for name, statement in statements.items():
            statement(table, {NAME: name})
            assert lake.table("s.t").domain(NAME) == name


def test_a_first_run_makes_the_table_with_its_domain(spark: SparkSession, tmp_path: Path) -> None:
    table = headgate.write_path(
        spark.range(3), tmp_path / "t", mode="overwrite", replace_where="id < 3", domains={NAME: "1"}
    )

    assert (table.version(), table.read().count(), table.domain(NAME)) == (0, 3, "1")


def test_the_server_asks_a_function_for_the_domains_of_a_batch(
    spark: SparkSession, lake: Lake, tmp_path: Path
) -> None:
    source = streams.feed(tmp_path / "source", streams.ids(0, 4))
    stream = streams.of(spark, source)

    def start() -> StreamingQuery:
        return lake.write_stream(
            stream, "s.new", checkpoint=tmp_path / "c", available_now=True,
            domains=lambda batch, number: {NAME: f"{number}: {batch.count()}"},
        )  # fmt: skip

    ended(start)

    assert lake.table("s.new").domain(NAME) == "0: 4"
