"""Clones with rows in them: read, changed and maintained, and never at the cost of their source."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import StringType, StructField, StructType

import headgate
from headgate import Lake, Publish, Settings, Table
from headgate.protocol.domains import lifecycle
from headgate.protocol.integrity_findings import Finding
from tests.support import duck, rows

pytestmark = [pytest.mark.spark, pytest.mark.interop]

VECTORS = {"delta.enableDeletionVectors": "true"}
ODD = "a b/ü%=?"
"""A value that its folder cannot be named after as it is."""
AT_ONCE = Settings(publish=Publish.NOW)
"""So that no check sees a version that is being published."""


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    with headgate.connect(tmp_path / "la ke", settings=AT_ONCE) as opened:
        opened.create_schema("s")
        yield opened


def made(spark: SparkSession, lake: Lake, **asked: Any) -> Table:
    """Two partitions of a file of 300 rows each, with vectors in the log and in a file."""
    table = lake.create_table(
        "s.t", "id BIGINT, p STRING", partition_by=["p"], properties={**VECTORS, **asked}
    )
    some = f"SELECT id, IF(id < 300, 'x', '{ODD}') AS p FROM range(600)"
    table.append(spark.sql(some).coalesce(1))
    table.delete("id = 5 OR (id > 300 AND id % 3 = 0)")
    return table


def ids(table: Table, **asked: Any) -> list[int]:
    return sorted(row.id for row in table.read(**asked).select("id").collect())


def paths(table: Table) -> list[str]:
    return sorted(table.log.snapshot().files.columns["path"].to_pylist())


def findings(lake: Lake, *names: str) -> list[Finding]:
    return [finding for name in names for report in lake.check(name) for finding in report.findings]


def everywhere(place: str) -> dict[str, bytes]:
    """Every file of a table but those of its log."""
    found = (path for path in Path(place).rglob("*") if path.is_file() and "_delta_log" not in path.parts)
    return {str(path): path.read_bytes() for path in found}


def by_deltalake(place: str) -> rows.Rows:
    query = deltalake.QueryBuilder().register("t", deltalake.DeltaTable(place))
    return rows.of_arrow(pa.table(query.execute("SELECT id, p FROM t").read_all()))


def test_a_deep_clone_has_the_rows_in_files_of_its_own(spark: SparkSession, lake: Lake) -> None:
    source = made(spark, lake)
    expected = rows.of_frame(source.read())

    clone = lake.clone("s.t", "s.c")

    names = [path.split("/", 2)[-1] for path in paths(source)]
    assert [path.split("/", 2)[-1] for path in paths(clone)] == names
    lake.drop_table("s.t")
    lake.purge("s.t", files=True)
    assert rows.of_frame(clone.read()) == expected
    assert not findings(lake, "s.c")
    seen = duck.read_managed(clone.location, clone.publish(), [])
    assert [dict(zip(("id", "p"), row, strict=True)) for row in seen] == expected
    assert by_deltalake(lake.release("s.c", keep_timestamps=False).location) == expected


def test_a_shallow_clone_reads_and_changes_without_touching_its_source(
    spark: SparkSession, lake: Lake
) -> None:
    source = made(spark, lake)
    known, before = ids(source), everywhere(source.location)
    clone = lake.clone("s.t", "s.c", shallow=True)
    assert ids(clone) == known
    assert everywhere(clone.location) == {}

    clone.delete("id = 10 OR id BETWEEN 400 AND 450")
    clone.update({"id": "id + 10000"}, "id = 11")
    given = spark.sql("SELECT 12L AS id, 'x' AS p UNION ALL SELECT 5000L, 'new'")
    clone.merge(given, "t.id = s.id").when_matched_delete().when_not_matched_insert_all().execute()
    changed = [each for each in known if each not in (10, 11, 12) and not 400 <= each <= 450]
    assert ids(clone) == sorted([*changed, 10011, 5000])
    lake.permit("s.c", "data reorganisation")
    clone.optimize()
    assert not [path for path in paths(clone) if path.startswith("file:")]
    lake.permit("s.c", "data cleanup")
    for lite in (False, True):
        clone.vacuum(timedelta(0), enforce_retention=False, lite=lite)

    assert ids(clone) == sorted([*changed, 10011, 5000])
    assert everywhere(source.location) == before
    assert ids(clone, version=0) == known
    assert not findings(lake, "s.t", "s.c")


def test_a_clone_of_a_clone_names_the_original(spark: SparkSession, lake: Lake) -> None:
    """Which deltalake follows; DuckDB does not, it takes every path for one below the table."""
    source = made(spark, lake)
    clone = lake.clone("s.t", "s.c", shallow=True)
    clone.delete("id = 10")
    expected = rows.of_frame(clone.read())

    second = lake.clone("s.c", "s.d", shallow=True)

    original = Path(source.location).as_uri().replace("file:///", "file:/")
    assert all(path.startswith(original) for path in paths(second))
    lake.drop_table("s.c")
    assert rows.of_frame(second.read()) == expected
    third = lake.clone("s.d", "s.e")
    assert rows.of_frame(third.read()) == expected
    assert not findings(lake, "s.d", "s.e")
    assert by_deltalake(lake.release("s.d", keep_timestamps=False).location) == expected


def test_older_versions_and_paths_are_cloned(spark: SparkSession, lake: Lake, tmp_path: Path) -> None:
    """S117: whatever the source is, the clone is the catalog's."""
    place = tmp_path / "plain table"
    deltalake.write_deltalake(str(place), pa.table({"id": [1, 2]}))
    deltalake.write_deltalake(str(place), pa.table({"id": [3]}), mode="append")

    first = lake.clone(place, "s.a", version=0)
    latest = lake.clone(str(place), "s.b", shallow=True, properties={"delta.appendOnly": "true"})

    assert (ids(first), ids(latest)) == ([1, 2], [1, 2, 3])
    for clone in (first, latest):
        assert clone.log.snapshot().state.protocol.is_catalog_managed
    assert latest.log.snapshot().state.metadata.configuration["delta.appendOnly"] == "true"
    assert not findings(lake, "s.a", "s.b")


def test_rows_of_a_clone_have_ids_of_their_own(spark: SparkSession, lake: Lake) -> None:
    """Those that files have in them are of the source, and would be given twice."""
    source = made(spark, lake, **{"delta.enableRowTracking": "true"})
    source.update({"id": "id + 10000"}, "id < 20")  # these keep their ids, in a column of their new file

    clone = lake.clone("s.t", "s.c", shallow=True)

    given = [row._row_id for row in clone.read(row_ids=True).collect()]
    assert len(given) == len(set(given)) == len(ids(source))
    clone.append(spark.sql("SELECT 1L AS id, 'x' AS p"))
    clone.update({"id": "id + 1"}, "id = 10001")
    more = [row._row_id for row in clone.read(row_ids=True).collect()]
    assert len(more) == len(set(more)) == len(given) + 1
    assert set(given) < set(more)


def test_a_clustered_table_is_cloned_over_another(spark: SparkSession, lake: Lake) -> None:
    """S208: its clustering comes along, and that of a table goes if its new source has none."""
    clustered = lake.create_table("s.k", "id BIGINT, x INT", cluster_by=["x"])
    clustered.append(spark.sql("SELECT id, CAST(id AS INT) AS x FROM range(10)"))
    plain = lake.create_table("s.p", "id BIGINT, name STRING")
    plain.append(spark.sql("SELECT 1L AS id, 'a' AS name"))

    def clustering(table: Table) -> object:
        return lifecycle.clustering_columns(table.log.snapshot().state.domains)

    target = lake.clone("s.k", "s.c")
    assert clustering(target) == (("x",),)
    target = lake.clone("s.p", "s.c", replace=True)
    assert clustering(target) == ()
    assert [row.asDict() for row in target.read().collect()] == [{"id": 1, "name": "a"}]
    target = lake.clone("s.k", "s.c", replace=True, shallow=True)
    assert clustering(target) == (("x",),)
    assert ids(target) == list(range(10))
    assert ids(target, version=0) == list(range(10))
    assert not findings(lake, "s.c")


def test_a_deep_clone_is_kept_up_to_date_by_copying_what_is_new(spark: SparkSession, lake: Lake) -> None:
    source = made(spark, lake)
    lake.clone("s.t", "s.c")
    source.append(spark.sql("SELECT 7000L AS id, 'x' AS p"))
    source.delete("id = 20")

    clone = lake.clone("s.t", "s.c", replace=True)

    assert ids(clone) == ids(source)
    metrics = clone.log.history(limit=1)[0].info.operation_metrics or {}
    assert (metrics["numCopiedFiles"], metrics["sourceNumOfFiles"]) == ("1", "3")
    assert metrics["numRemovedFiles"] == "1"  # once with other deleted rows
    again = lake.clone("s.t", "s.c", replace=True)
    metrics = again.log.history(limit=1)[0].info.operation_metrics or {}
    assert (metrics["numCopiedFiles"], metrics["numRemovedFiles"]) == ("0", "0")
    clone.delete("id < 100 OR id = 7000")
    assert ids(lake.clone("s.t", "s.c", replace=True)) == ids(source)
    assert not findings(lake, "s.c")


def test_columns_keep_their_ids(spark: SparkSession, lake: Lake) -> None:
    mapped = {"delta.columnMapping.mode": "name"}
    source = lake.create_table("s.m", "id BIGINT, a STRING, gone INT", properties=mapped)
    source.append(spark.sql("SELECT 1L AS id, 'x' AS a, 9 AS gone"))
    source.rename_column("a", "b")
    source.drop_columns("gone")

    for shallow in (False, True):
        clone = lake.clone("s.m", "s.c", shallow=shallow, replace=True)
        clone.add_columns("gone STRING")  # another column of that name, which no file has

        assert [row.asDict() for row in clone.read().collect()] == [{"id": 1, "b": "x", "gone": None}]
        assert clone.log.snapshot().state.metadata.id != source.log.snapshot().state.metadata.id
    assert source.read().columns == ["id", "b"]


def test_identity_columns_go_on_where_their_source_was(spark: SparkSession, lake: Lake) -> None:
    columns = StructType([headgate.identity_column("id"), StructField("name", StringType())])
    source = lake.create_table("s.t", columns)
    source.append(spark.sql("SELECT 'a' AS name"))

    lake.clone("s.t", "s.a", shallow=True)
    with lake.transaction() as tx:
        tx.clone("s.t", "s.b")

    for name in ("s.a", "s.b"):
        clone = lake.table(name)
        clone.append(spark.sql("SELECT 'b' AS name"))
        assert sorted(map(tuple, clone.read().collect())) == [(1, "a"), (2, "b")]
