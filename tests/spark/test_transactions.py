"""Transactions over several tables, with rows: every operation works inside, and all of them land at once."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import headgate
from headgate.errors import ConflictError, GroupConflict
from headgate.lake.lake import Lake
from headgate.protocol.actions import Version
from headgate.protocol.log import file_names
from tests.support import duck

pytestmark = pytest.mark.spark


@pytest.fixture
def lake(spark: SparkSession, tmp_path: Path) -> Iterator[Lake]:
    with headgate.connect(tmp_path / "lake") as opened:
        opened.create_schema("bank")
        for name in ("bank.one", "bank.two"):
            opened.create_table(name, "id BIGINT, amount BIGINT")
        yield opened


def rows(spark: SparkSession, *pairs: tuple[int, int]) -> DataFrame:
    return spark.createDataFrame(list(pairs), "id BIGINT, amount BIGINT").coalesce(1)


def content(df: DataFrame) -> set[tuple[int, int]]:
    return {(row.id, row.amount) for row in df.collect()}


def total(df: DataFrame) -> int:
    return int(df.agg(F.coalesce(F.sum("amount"), F.lit(0))).collect()[0][0])


def files_on_disk(table: headgate.Table) -> set[str]:
    return {path.name for path in Path(table.location).rglob("*.parquet") if "_delta_log" not in path.parts}


def test_every_operation_sees_what_came_before_it_and_all_become_one_version(
    spark: SparkSession, lake: Lake
) -> None:
    lake.table("bank.one").append(rows(spark, (1, 10), (2, 20), (3, 30)))
    lake.table("bank.two").append(rows(spark, (3, 3)))

    with lake.transaction() as tx:
        one, two = tx.table("bank.one"), tx.table("bank.two")
        one.append(rows(spark, (4, 40)))
        one.delete("id = 1")
        one.update({"amount": "amount + 1"}, "id >= 3")
        assert content(one.read()) == {(2, 20), (3, 31), (4, 41)}
        two.merge(one.read(), "t.id = s.id").when_matched_update(
            set={"amount": "s.amount"}
        ).when_not_matched_insert(values={"id": "s.id", "amount": "s.amount"}).execute()
        assert content(two.read(where="id > 2")) == {(3, 31), (4, 41)}
        assert content(lake.table("bank.two").read()) == {(3, 3)}

    assert tx.versions == {"bank.one": 2, "bank.two": 2}
    assert content(lake.table("bank.one").read()) == {(2, 20), (3, 31), (4, 41)}
    assert content(lake.table("bank.two").read()) == {(2, 20), (3, 31), (4, 41)}
    operation = lake.table("bank.one").history(limit=1).collect()[0]
    assert operation.operation == "TRANSACTION"
    assert json.loads(operation.operationParameters["operations"]) == ["WRITE", "DELETE", "UPDATE"]


def test_a_table_is_made_from_others_and_appears_with_its_rows(spark: SparkSession, lake: Lake) -> None:
    lake.table("bank.one").append(rows(spark, (1, 10), (2, 20)))

    with lake.transaction() as tx:
        made = tx.create_table("bank.large", "id BIGINT, amount BIGINT")
        made.append(tx.table("bank.one").read(where="amount > 10"))
        tx.table("bank.one").delete("amount > 10")
        assert content(made.read()) == {(2, 20)}

    assert content(lake.table("bank.large").read()) == {(2, 20)}
    assert content(lake.table("bank.one").read()) == {(1, 10)}


def test_an_overwrite_of_what_was_read_in_the_same_transaction(spark: SparkSession, lake: Lake) -> None:
    lake.table("bank.one").append(rows(spark, (1, 10)))

    with lake.transaction() as tx:
        one = tx.table("bank.one")
        one.append(rows(spark, (2, 20)))
        one.overwrite(one.read().withColumn("amount", F.col("amount") * 2))
        tx.table("bank.two").append(one.read())

    assert content(lake.table("bank.one").read()) == {(1, 20), (2, 40)}
    assert content(lake.table("bank.two").read()) == {(1, 20), (2, 40)}


def test_rows_that_were_read_with_a_condition_are_remembered_by_it(spark: SparkSession, lake: Lake) -> None:
    lake.create_table("bank.days", "id BIGINT, amount BIGINT", partition_by=["id"])
    lake.table("bank.days").append(rows(spark, (1, 10), (2, 20)))

    for other, refused in ((2, False), (1, True)):
        tx = lake.transaction(["bank.days", "bank.one"])
        seen = total(tx.table("bank.days").read(where="id = 1"))
        tx.table("bank.one").append(rows(spark, (other, seen)))
        lake.table("bank.days").append(rows(spark, (other, 5)))
        if refused:
            with pytest.raises(GroupConflict, match=r"bank\.days.*id=1"):
                tx.commit()
        else:
            assert tx.commit() == {"bank.one": 1}

    assert content(lake.table("bank.one").read()) == {(2, 10)}


def test_an_update_that_finds_no_row_has_read_the_table_all_the_same(spark: SparkSession, lake: Lake) -> None:
    lake.table("bank.one").append(rows(spark, (1, 10)))
    tx = lake.transaction(["bank.one", "bank.two"])
    tx.table("bank.one").update({"amount": "0"}, "id = 2")
    tx.table("bank.two").append(rows(spark, (2, 0)))
    lake.table("bank.one").append(rows(spark, (2, 20)))

    with pytest.raises(GroupConflict, match=r"bank\.one"):
        tx.commit()

    assert content(lake.table("bank.two").read()) == set()


def test_a_transaction_that_fails_leaves_no_file(spark: SparkSession, lake: Lake) -> None:
    lake.table("bank.one").append(rows(spark, (1, 10)))
    before = files_on_disk(lake.table("bank.one"))

    with pytest.raises(ZeroDivisionError), lake.transaction() as tx:
        tx.table("bank.one").append(rows(spark, (2, 20)))
        tx.table("bank.one").delete("id = 1")
        tx.table("bank.two").append(rows(spark, (3, 30)))
        raise ZeroDivisionError

    assert files_on_disk(lake.table("bank.one")) == before
    assert files_on_disk(lake.table("bank.two")) == set()
    assert content(lake.table("bank.one").read()) == {(1, 10)}


def test_money_that_moves_between_tables_is_never_lost_or_doubled(spark: SparkSession, lake: Lake) -> None:
    """I19: every snapshot of both tables has the same sum while transactions move amounts."""
    lake.table("bank.one").append(rows(spark, (1, 100)))
    lake.table("bank.two").append(rows(spark, (1, 100)))

    def move(source: str, target: str) -> int:
        moved = 0
        for _ in range(3):
            try:
                with lake.transaction([source, target]) as tx:
                    held = total(tx.table(source).read())
                    tx.table(source).update({"amount": f"{held - 7}"}, "id = 1")
                    tx.table(target).update({"amount": "amount + 7"}, "id = 1")
                moved += 1
            except ConflictError:
                continue
        return moved

    with ThreadPoolExecutor(2) as pool:
        there = pool.submit(move, "bank.one", "bank.two")
        back = pool.submit(move, "bank.two", "bank.one")
        while not (there.done() and back.done()):
            cut = lake.snapshot(["bank.one", "bank.two"])
            assert total(cut.table("bank.one").read()) + total(cut.table("bank.two").read()) == 200
    assert there.result() + back.result() > 0
    assert total(lake.table("bank.one").read()) == 100 - 7 * (there.result() - back.result())


def test_foreign_readers_ignore_what_a_commit_says_of_its_group(spark: SparkSession, lake: Lake) -> None:
    with lake.transaction() as tx:
        tx.table("bank.one").append(rows(spark, (1, 10)))
        tx.table("bank.two").append(rows(spark, (2, 20)))
    lake.table("bank.one").publish()

    published = lake.table("bank.one").log.store.read(file_names.published_path(Version(1)))
    assert {"groupId", "groupTables"} <= json.loads(published.splitlines()[0])["commitInfo"].keys()
    assert duck.read_managed(lake.table("bank.one").location, 1, []) == [(1, 10)]


def test_deletion_vectors_of_several_deletes_become_one(spark: SparkSession, lake: Lake) -> None:
    properties = {"delta.enableDeletionVectors": "true"}
    table = lake.create_table("bank.marked", "id BIGINT, amount BIGINT", properties=properties)
    table.append(rows(spark, *((number, number) for number in range(100))))
    lake.table("bank.one").append(rows(spark, (7, 7)))

    with lake.transaction() as tx:
        inside = tx.table("bank.marked")
        inside.delete("id = 1")
        inside.delete("id = 2")
        inside.append(rows(spark, (100, 100)))
        inside.delete("id = 3 or id = 100")
        tx.table("bank.one").delete("id = 7")
        assert inside.read().count() == 97

    assert table.read().count() == 97
    assert table.version() == 2
    assert not {row.id for row in table.read().collect()} & {1, 2, 3, 100}
    assert content(lake.table("bank.one").read()) == set()


def test_changes_and_row_ids_are_those_of_the_one_version(spark: SparkSession, lake: Lake) -> None:
    properties = {"delta.enableChangeDataFeed": "true", "delta.enableRowTracking": "true"}
    table = lake.create_table("bank.told", "id BIGINT, amount BIGINT", properties=properties)
    table.append(rows(spark, (1, 10), (2, 20)))

    with lake.transaction() as tx:
        tx.table("bank.told").update({"amount": "amount + 1"}, "id = 1")
        tx.table("bank.one").append(rows(spark, (1, 1)))
    with lake.transaction() as tx:
        tx.table("bank.told").append(rows(spark, (3, 30)))
        tx.table("bank.told").append(rows(spark, (4, 40)))
        tx.table("bank.one").append(rows(spark, (2, 2)))

    told = {(row.id, row.amount, row._change_type, row._commit_version) for row in table.changes(2).collect()}
    assert told == {
        (1, 10, "update_preimage", 2), (1, 11, "update_postimage", 2),
        (3, 30, "insert", 3), (4, 40, "insert", 3),
    }  # fmt: skip
    ids = [row._row_id for row in table.read(row_ids=True).collect()]
    assert len(ids) == len(set(ids)) == 4


def test_an_older_version_is_restored_together_with_other_changes(spark: SparkSession, lake: Lake) -> None:
    one = lake.table("bank.one")
    one.append(rows(spark, (1, 10)))
    one.overwrite(rows(spark, (2, 20)))

    with lake.transaction() as tx:
        tx.table("bank.one").restore(version=1)
        tx.table("bank.two").append(tx.table("bank.one").read())
    with pytest.raises(ZeroDivisionError), lake.transaction() as tx:
        tx.table("bank.one").restore(version=2)
        raise ZeroDivisionError

    assert content(one.read()) == content(lake.table("bank.two").read()) == {(1, 10)}
    assert content(one.read(version=2)) == {(2, 20)}  # a file that came back is not one that was written
