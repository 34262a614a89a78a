"""Rows that we changed, as others read them: deletion vectors, rewritten files, the change data feed."""

from collections import Counter
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import headgate
from headgate import Table
from tests.support import duck
from tests.support.changed_tables import changes
from tests.support.row_model import Shape, frame

pytestmark = pytest.mark.spark

SHAPES = {
    "hidden": Shape(vectors=True, layout="partitioned", feed=True, tracked=True),
    "rewritten": Shape(feed=True),
}


@pytest.fixture(scope="module", params=SHAPES)
def changed(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Table:
    """A table after a DELETE, an UPDATE and a MERGE, its vectors in the log and in files."""
    table = SHAPES[request.param].make(str(tmp_path_factory.mktemp("dml")))
    many = spark.range(0, 3_000, 1, 1)
    table.append(many.selectExpr("cast(id as int) id", "'1' p", "cast(id % 7 as int) v"))
    table.append(frame(spark, [(n, str(n % 2), None) for n in range(5_000, 5_020)]))
    table.delete("hash(id) % 3 = 0 or id = 5003", spark=spark)
    table.update({"v": "id * 2"}, "id % 100 = 1 or id > 5015", spark=spark)
    source = frame(spark, [(1, "1", 77), (2, "1", 78), (6_000, "0", 79), (6_001, None, None)])
    merge = table.merge(source, "t.id = s.id").when_matched_update_all().when_not_matched_insert_all()
    merge.when_not_matched_by_source_delete("t.id = 5004").execute()
    return table


def ours(table: Table) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row) for row in table.read().collect())


def test_duckdb_reads_the_same_rows(changed: Table) -> None:
    with duck.connect() as connection:
        found = connection.sql(f"SELECT id, p, v FROM delta_scan('{changed.location}')").fetchall()

    assert Counter(found) == ours(changed)


def test_deltalake_reads_the_same_rows(changed: Table) -> None:
    query = deltalake.QueryBuilder().register("t", deltalake.DeltaTable(changed.location))
    found = pa.table(query.execute("SELECT id, p, v FROM t").read_all()).to_pylist()

    assert Counter((row["id"], row["p"], row["v"]) for row in found) == ours(changed)


def test_deltalake_reads_the_same_changes(changed: Table) -> None:
    first = 3
    reader = deltalake.DeltaTable(changed.location).load_cdf(starting_version=first)
    found = pa.table(reader.read_all()).to_pylist()

    theirs = Counter((row["_change_type"], row["id"], row["p"], row["v"]) for row in found)
    assert theirs == Counter(changes(changed, first))
    assert {kind for kind, *_ in theirs} == {"delete", "insert", "update_preimage", "update_postimage"}


def test_what_deltalake_deletes_from_is_read_by_us(spark: SparkSession, tmp_path: Path) -> None:
    """And what it hid nothing of is hidden by us on top of its commits."""
    deltalake.write_deltalake(tmp_path, pa.table({"id": pa.array(range(10), pa.int32())}))
    theirs = deltalake.DeltaTable(tmp_path)
    table = headgate.at_path(tmp_path)

    table.delete("id = 1", spark=spark)
    theirs.update_incremental()
    theirs.delete("id = 2")
    table.update({"id": "id + 100"}, "id = 3", spark=spark)

    assert sorted(row.id for row in table.read().collect()) == [0, 4, 5, 6, 7, 8, 9, 103]
    theirs.update_incremental()
    assert theirs.history()[0]["operation"] == "UPDATE"
