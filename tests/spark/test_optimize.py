"""Files put together and purged of deleted rows: the same rows, in other files."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import headgate
from headgate import Lake, Table
from headgate.catalog.ports.maintenance import Permission
from headgate.errors import ConflictError, HeadgateError, InvalidRequest, NotAllowed
from headgate.spark.optimize import rewrite_files
from tests.support import duck, rows

pytestmark = [pytest.mark.spark, pytest.mark.interop]


def made(spark: SparkSession, lake: Lake, *, files: int = 4, **asked: Any) -> Table:
    """A table of so many files of ten rows each, half of them in either partition if it has any."""
    table = lake.create_table("s.t", "id BIGINT, p INT", **asked)
    for number in range(files):
        some = f"SELECT id, CAST({number % 2} AS INT) AS p FROM range({number * 10}, {number * 10 + 10})"
        table.append(spark.sql(some).coalesce(1))
    lake.permit("s.t", "data reorganisation")
    return table


def live(table: Table) -> list[str]:
    return sorted(table.log.snapshot().files.columns["path"].to_pylist())


def ids(table: Table, **asked: Any) -> list[int]:
    return sorted(row.id for row in table.read(**asked).select("id").collect())


def before_commit(monkeypatch: pytest.MonkeyPatch, table: Table, act: Callable[[], object]) -> None:
    commit = table.log.commit

    def delayed(change: Any, *, base: Any) -> object:
        monkeypatch.undo()
        act()
        return commit(change, base=base)

    monkeypatch.setattr(table.log, "commit", delayed)


def test_small_files_become_one(spark: SparkSession, lake: Lake) -> None:
    table = made(spark, lake)
    before = table.version()

    done = table.optimize()

    assert len(live(table)) == 1
    assert ids(table) == ids(table, version=before) == list(range(40))
    assert (done.version, done.metrics["numRemovedFiles"], done.metrics["numAddedFiles"]) == (
        before + 1,
        4,
        1,
    )
    told = table.history(limit=1).collect()[0]
    assert told["operation"] == "OPTIMIZE"
    assert told["operationMetrics"]["numRemovedFiles"] == "4"
    assert told["isolationLevel"] == "SnapshotIsolation"


def test_nothing_to_do_is_no_version(spark: SparkSession, lake: Lake) -> None:
    table = made(spark, lake, files=1)

    assert table.optimize().version == table.version() == 1


def test_partitions_stay_apart_and_can_be_chosen(spark: SparkSession, lake: Lake) -> None:
    table = made(spark, lake, files=6, partition_by=["p"])

    table.optimize("p = 1")
    assert len(live(table)) == 4
    table.optimize()

    assert len(live(table)) == 2
    assert ids(table) == list(range(60))
    assert ids(table, where="p = 1") == [number for number in range(60) if number // 10 % 2]
    for condition in ("id = 1", "p = 1 AND id > 0", "p + 1 = 2"):
        with pytest.raises(InvalidRequest, match="whole partitions"):
            table.optimize(condition)


def test_a_catalog_must_permit_it(spark: SparkSession, lake: Lake, tmp_path: Path) -> None:
    """S119"""
    made(spark, lake)
    lake.forbid("s.t", "data reorganisation")
    lake.grant("MAINTAIN", on="s.t", to="ada")
    table = headgate.connect(tmp_path / "lake", principal="ada").table("s.t")
    version = table.version()

    with pytest.raises(NotAllowed, match="OPTIMIZE"):
        table.optimize()
    with pytest.raises(NotAllowed, match="REORG"):
        table.purge()
    with pytest.raises(NotAllowed, match="VACUUM"):
        table.vacuum()

    assert table.version() == version


def test_an_owner_needs_no_permission_and_is_told_so(spark: SparkSession, lake: Lake) -> None:
    table = made(spark, lake)
    assert table.optimize().permission is Permission.CATALOG
    lake.forbid("s.t", "data reorganisation")

    done = table.optimize()
    purged = table.purge()

    assert (done.permission, purged.permission) == (Permission.OWNER, Permission.OWNER)
    assert table.vacuum().permission is Permission.OWNER


def test_what_is_forbidden_while_files_are_written_is_not_committed(
    spark: SparkSession, lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(spark, lake)
    lake.grant("MAINTAIN", on="s.t", to="ada")
    table = headgate.connect(tmp_path / "lake", principal="ada").table("s.t")
    version, before = table.version(), {path.name for path in Path(table.location).rglob("*.parquet")}
    write = rewrite_files._write

    def then_forbidden(*asked: Any) -> Any:
        written = write(*asked)
        lake.forbid("s.t", "data reorganisation")
        return written

    monkeypatch.setattr(rewrite_files, "_write", then_forbidden)

    with pytest.raises(NotAllowed, match="OPTIMIZE is data reorganisation"):
        table.optimize()

    assert table.version() == version
    assert {path.name for path in Path(table.location).rglob("*.parquet")} == before


def test_deleted_rows_are_purged(spark: SparkSession, lake: Lake) -> None:
    table = made(spark, lake, properties={"delta.enableDeletionVectors": "true"})
    table.delete("id = 3 OR id = 12")
    marked = table.log.snapshot().files.columns["deletion_vector"]
    assert marked.null_count == 2

    done = table.purge()

    assert table.log.snapshot().files.columns["deletion_vector"].null_count == 4
    assert ids(table) == [number for number in range(40) if number not in (3, 12)]
    assert done.metrics["numDeletionVectorsRemoved"] == 2
    assert table.purge().version == done.version


def test_rows_keep_their_ids(spark: SparkSession, lake: Lake) -> None:
    table = made(spark, lake, properties={"delta.enableRowTracking": "true"})
    before = sorted(tuple(row) for row in table.read(row_ids=True).collect())

    table.optimize()

    assert sorted(tuple(row) for row in table.read(row_ids=True).collect()) == before


def test_an_append_is_not_disturbed(spark: SparkSession, lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    table = made(spark, lake)
    before_commit(monkeypatch, table, lambda: table.append(spark.sql("SELECT 99L AS id, 1 AS p")))

    table.optimize()

    assert ids(table) == [*range(40), 99]
    assert len(live(table)) == 2


def test_whoever_deletes_rows_of_the_files_wins(
    spark: SparkSession, lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = made(spark, lake)
    before_commit(monkeypatch, table, lambda: lake.table("s.t").delete("id = 5"))

    with pytest.raises(ConflictError):
        table.optimize()

    assert ids(table) == [number for number in range(40) if number != 5]
    left = {str(path.relative_to(table.location)) for path in Path(table.location).rglob("*.parquet")}
    assert len(left) == 5  # what it wrote itself is gone again


def test_a_lost_answer_loses_no_file(
    spark: SparkSession, lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = made(spark, lake)

    def unanswered(*_args: object, **_kwargs: object) -> int:
        raise HeadgateError("nobody knows")

    monkeypatch.setattr(table.log, "commit", unanswered)
    with pytest.raises(HeadgateError, match="nobody knows"):
        table.optimize()

    left = {str(path.relative_to(table.location)) for path in Path(table.location).rglob("*.parquet")}
    assert len(left) == 5


def test_others_read_the_same_rows(spark: SparkSession, tmp_path: Path) -> None:
    table = headgate.at_path(tmp_path / "t", columns="id BIGINT, name STRING")
    for number in range(3):
        table.append(spark.sql(f"SELECT {number}L AS id, 'n{number}' AS name"))
    table.set_properties({"delta.enableDeletionVectors": "true"})

    table.optimize()

    ours = rows.of_arrow(table.read().toArrow())
    with duck.connect() as connection:
        theirs = connection.sql(f"SELECT * FROM delta_scan('{table.location}')").to_arrow_table()
    place = deltalake.DeltaTable(table.location)
    found = deltalake.QueryBuilder().register("t", place).execute("SELECT * FROM t").read_all()
    assert rows.of_arrow(theirs) == rows.of_arrow(pa.table(found)) == ours


def test_what_was_put_together_is_vacuumed_and_leases_are_kept(spark: SparkSession, lake: Lake) -> None:
    table = made(spark, lake)
    lake.permit("s.t", "data cleanup")
    before = table.version()
    now = timedelta(0)
    with lake.lease("s.t", version=before):
        table.optimize()
        assert table.vacuum(now, enforce_retention=False).paths == ()
        assert ids(table, version=before) == list(range(40))

    done = table.vacuum(now, enforce_retention=False)

    assert len(done.paths) == 4
    assert ids(table) == list(range(40))
