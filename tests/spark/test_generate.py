"""Lists of files for engines that read no log: what such an engine sees is what the table has."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import duckdb
import pytest
from pyspark.sql import SparkSession

import headgate
from headgate import Lake, Publish, Settings, Table
from headgate.errors import InvalidRequest

pytestmark = pytest.mark.spark

FOLDER = "_symlink_format_manifest"
AT_ONCE = Settings(publish=Publish.NOW)


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    with headgate.connect(tmp_path / "la ke", settings=AT_ONCE) as opened:
        opened.create_schema("s")
        yield opened


def by_lists(table: Table) -> list[tuple[object, ...]]:
    """The rows that an engine sees which reads the lists, with the partition that their folders tell."""
    found: list[tuple[object, ...]] = []
    root = Path(table.location) / FOLDER
    for listed in root.rglob("manifest"):
        folder = listed.parent.relative_to(root).as_posix()
        value = None if folder == "." else unquote(folder.partition("=")[2])
        for line in listed.read_text().splitlines():
            rows = duckdb.read_parquet(line.removeprefix("file:"), hive_partitioning=False).fetchall()
            found += [(*row, *([] if value is None else [value])) for row in rows]
    return sorted(found)


def test_the_files_of_each_partition_are_listed(spark: SparkSession, lake: Lake) -> None:
    table = lake.create_table("s.t", "id BIGINT, p STRING", partition_by=["p"])
    table.append(spark.sql("SELECT id, IF(id < 3, 'a b', 'x/ü=%') AS p FROM range(6)").coalesce(1))
    expected = sorted(tuple(row) for row in table.read().collect())

    done = table.generate("symlink_format_manifest")

    assert by_lists(table) == expected
    assert done.version == 1
    assert done.manifests == (f"{FOLDER}/p=a b/manifest", f"{FOLDER}/p=x%2Fü%3D%25/manifest")
    table.delete("p = 'a b'")
    table.append(spark.sql("SELECT 7L AS id, CAST(NULL AS STRING) AS p"))
    done = table.generate()
    assert done.manifests == (
        f"{FOLDER}/p=__HIVE_DEFAULT_PARTITION__/manifest",
        f"{FOLDER}/p=x%2Fü%3D%25/manifest",
    )
    assert [row[0] for row in by_lists(table)] == [3, 4, 5, 7]
    assert not lake.check("s.t")[0].findings


def test_a_shallow_clone_lists_files_where_they_are(spark: SparkSession, lake: Lake) -> None:
    table = lake.create_table("s.t", "id BIGINT")
    table.append(spark.range(5).coalesce(1))
    clone = lake.clone("s.t", "s.c", shallow=True)
    clone.append(spark.range(5, 7).coalesce(1))

    clone.generate()

    assert by_lists(clone) == [(number,) for number in range(7)]
    clone.delete()
    assert clone.generate().manifests == (f"{FOLDER}/manifest",)
    assert by_lists(clone) == []


def test_what_such_engines_would_read_wrong_is_refused(spark: SparkSession, lake: Lake) -> None:
    deleted = lake.create_table("s.v", "id BIGINT", properties={"delta.enableDeletionVectors": "true"})
    deleted.append(spark.range(100).coalesce(1))
    deleted.delete("id = 7")
    mapped = lake.create_table("s.m", "id BIGINT", properties={"delta.columnMapping.mode": "name"})

    with pytest.raises(InvalidRequest) as vectors:
        deleted.generate()
    with pytest.raises(InvalidRequest) as names:
        mapped.generate()
    with pytest.raises(InvalidRequest) as mode, lake.transaction() as tx:
        tx.table("s.v").generate()
    with pytest.raises(InvalidRequest) as unknown:
        deleted.generate("iceberg")

    assert vectors.value.code == "DELTA_UNSUPPORTED_GENERATE_WITH_DELETION_VECTORS"
    assert names.value.code == "DELTA_UNSUPPORTED_MANIFEST_GENERATION_WITH_COLUMN_MAPPING"
    assert "inside a transaction" in mode.value.message
    assert unknown.value.code == "DELTA_MODE_NOT_SUPPORTED"
    assert not (Path(deleted.location) / FOLDER).exists()
    lake.permit("s.v", "data reorganisation")
    deleted.purge()
    deleted.generate()
    assert len(by_lists(deleted)) == 99
