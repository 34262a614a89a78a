"""Tables with columns of type VARIANT: made, written and changed by Spark, and refused by name without it."""

import json
from collections.abc import Iterable
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from headgate import Lake, Table
from headgate.errors import SchemaMismatch, UnsupportedFeature

pytestmark = pytest.mark.spark
COLUMNS = "id INT, v VARIANT, n STRUCT<a: VARIANT, b: ARRAY<VARIANT>, m: MAP<STRING, VARIANT>>"
PARSED = "parse_json(concat('{\"a\":', id, ',\"c\":[1,2]}'))"
VECTORS = {"delta.enableDeletionVectors": "true", "delta.enableChangeDataFeed": "true"}


def documents(spark: SparkSession, ids: Iterable[int]) -> DataFrame:
    nested = f"named_struct('a', {PARSED}, 'b', array({PARSED}, NULL), 'm', map('k', {PARSED}))"
    given = spark.createDataFrame([(number,) for number in ids], "id INT").coalesce(1)
    return given.selectExpr("id", f"{PARSED} AS v", f"{nested} AS n")


def found(table: Table) -> dict[int, Any]:
    rows = table.read().selectExpr("id", "to_json(v) AS v").collect()
    return {row.id: None if row.v is None else json.loads(row.v) for row in rows}


def document(number: int) -> dict[str, Any]:
    return {"a": number, "c": [1, 2]}


@pytest.fixture
def table(lake: Lake) -> Table:
    return lake.create_table("s.t", COLUMNS)


@pytest.mark.parametrize(
    ("binder", "properties"),
    [("classic", VECTORS), ("portable", {})],
    ids=["classic, vectors", "portable, copied"],
)
def test_documents_are_written_changed_and_read_back(
    binder: str, properties: dict[str, str], spark: SparkSession, lake: Lake
) -> None:
    table = lake.create_table("s.t", COLUMNS, properties=properties)
    spark.conf.set("spark.headgate.binder", binder)
    try:
        table.append(documents(spark, range(5)))
        table.update({"v": "parse_json('[7]')"}, "variant_get(v, '$.a', 'int') = 1")
        table.delete("variant_get(n.b[0], '$.a', 'int') = 2")
        merge = table.merge(documents(spark, [3, 9]), "t.id = s.id")
        merge = merge.when_matched_update(set={"v": "s.v", "n.a": "parse_json('\"x\"')"})
        merge.when_not_matched_insert_all().execute()
        table.optimize()

        assert found(table) == {0: document(0), 1: [7], 3: document(3), 4: document(4), 9: document(9)}
        (nested,) = table.read(where="n.a::string = 'x'").selectExpr("id", "to_json(n) AS n").collect()
        assert (nested.id, json.loads(nested.n)) == (
            3, {"a": "x", "b": [document(3), None], "m": {"k": document(3)}}
        )  # fmt: skip
    finally:
        spark.conf.unset("spark.headgate.binder")


def test_the_feature_and_the_statistics_are_those_of_delta(spark: SparkSession, table: Table) -> None:
    rows = documents(spark, range(4)).unionByName(spark.sql("SELECT 9 AS id"), allowMissingColumns=True)

    table.append(rows.coalesce(1))

    state = table._opened.snapshot()
    (stats,) = (json.loads(text) for text in state.files.columns["stats"].to_pylist())
    assert "variantType" in (state.state.protocol.reader_features or ())
    assert (stats["minValues"], stats["maxValues"]) == ({"id": 0}, {"id": 9})
    assert stats["nullCount"] == {"id": 0, "v": 1, "n": {"a": 1}}
    assert table.read(where="v IS NULL").count() == 1


def test_a_column_of_documents_is_added(spark: SparkSession, lake: Lake) -> None:
    added, merged = (lake.create_table(name, "id INT") for name in ("s.added", "s.merged"))
    rows = documents(spark, [1]).select("id", "v")

    added.add_columns("v VARIANT")
    added.append(rows)
    merged.append(rows, merge_schema=True)

    assert found(added) == found(merged) == {1: document(1)}
    assert "variantType" in (merged._opened.snapshot().state.protocol.writer_features or ())


def test_without_spark_documents_are_refused_by_name(spark: SparkSession, table: Table) -> None:
    table.append(documents(spark, [1]))

    assert table.to_arrow(columns=["id"]).to_pylist() == [{"id": 1}]
    with pytest.raises(UnsupportedFeature, match="'v' is of type variant"):
        table.to_arrow()
    with pytest.raises((UnsupportedFeature, SchemaMismatch), match="'v'"):
        table.append([{"id": 2, "v": "{}"}])
