"""Identity columns: every row gets a value of its own, whoever writes, and however many do at once."""

import shutil
import threading
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

import headgate
from headgate import IdentityGenerator, Lake, Table, identity_column
from headgate.errors import ConstraintViolated, InvalidRequest, MetadataChanged
from headgate.protocol.features import identity_columns
from headgate.protocol.features.identity_columns import IdentitySpec
from headgate.spark.data_files import data_file_writer
from headgate.spark.rules import identity_columns as spark_identity
from headgate.spark.session import internal_names
from headgate.spark.write import identity_high_water
from headgate.table.transaction import Change, Operation
from tests.support import duck
from tests.support.corpora import ROOT, needs_corpora

pytestmark = pytest.mark.spark

NAME = StructField("name", StringType())


@pytest.fixture
def table(spark: SparkSession, lake: Lake) -> Table:
    return made(lake, "s.t")


def made(lake: Lake, name: str, generator: IdentityGenerator = IdentityGenerator(), **how: Any) -> Table:  # noqa: B008
    properties = how.pop("properties", None)
    return lake.create_table(
        name, StructType([identity_column("id", generator, **how), NAME]), properties=properties
    )


def names(spark: SparkSession, *given: str) -> DataFrame:
    return spark.createDataFrame([(name,) for name in given], "name STRING").coalesce(1)


def mark(table: Table, column: str = "id") -> int | None:
    return identity_columns.columns_of_table(table.log.snapshot().state.metadata)[column].mark


def ids(table: Table) -> list[int]:
    return sorted(row["id"] for row in table.read().collect())


def test_rows_get_the_next_values_and_the_commit_says_how_far_they_went(
    spark: SparkSession, table: Table
) -> None:
    table.append(names(spark, "a", "b"))
    table.append(names(spark, "c"))
    table.append(names(spark))

    assert {row["name"]: row["id"] for row in table.read().collect()} == {"a": 1, "b": 2, "c": 3}
    assert mark(table) == 3
    state = table.log.snapshot().state
    assert "identityColumns" in (state.protocol.writer_features or ())
    tags = [entry.info.tags for entry in table.log.history(limit=4)]
    assert tags[1] == tags[2] == {"delta.identity.schemaUpdate": "true"}
    assert not tags[0], "no row, no value"
    assert not tags[3]


def test_values_of_always_are_nobody_elses_business(spark: SparkSession, table: Table, lake: Lake) -> None:
    """S312"""
    table.append(names(spark, "a"))
    version = table.version()
    explicit = spark.sql("SELECT 7L AS ID, 'x' AS name")
    source = spark.sql("SELECT 7L AS id, 'x' AS name")

    def merge() -> Any:
        return table.merge(source, "t.name = s.name")

    refused: dict[str, list[Any]] = {
        "EXPLICIT_INSERT": [
            lambda: table.append(explicit),
            lambda: table.overwrite(explicit),
            lambda: table.overwrite(explicit, replace_where="name = 'x'"),
            lambda: lake.replace_table("s.t", StructType([identity_column("id"), NAME]), rows=explicit),
            lambda: merge().when_not_matched_insert_all().execute(),
            lambda: merge().when_not_matched_insert(values={"id": "s.id", "name": "s.name"}).execute(),
        ],
        "UPDATE": [
            lambda: table.update(set={"id": "9"}),
            lambda: merge().when_matched_update(set={"id": "s.id"}).execute(),
            lambda: merge().when_matched_update_all().execute(),
        ],
    }
    for what, writes in refused.items():
        for write in writes:
            with pytest.raises(InvalidRequest) as caught:
                write()
            assert caught.value.code == f"DELTA_IDENTITY_COLUMNS_{what}_NOT_SUPPORTED"
            assert caught.value.sqlstate == "42808"
    assert (table.version(), ids(table)) == (version, [1])
    assert not table.plan_write(explicit).allowed
    assert table.plan_write(names(spark, "x")).allowed


def test_rows_may_bring_values_by_default_and_nobody_is_given_these_again(
    spark: SparkSession, lake: Lake
) -> None:
    table = made(lake, "s.d", IdentityGenerator(10, 10), by_default=True)

    table.append(names(spark, "a"))
    table.append(spark.sql("SELECT 33L AS id, 'b' AS name"))
    assert mark(table) == 40
    table.append(names(spark, "c"))
    table.append(spark.sql("SELECT 5L AS id, 'before' AS name"))
    table.append(spark.sql("SELECT CAST(NULL AS BIGINT) AS id, 'none' AS name"))

    got = {row["name"]: row["id"] for row in table.read().collect()}
    assert got == {"a": 10, "b": 33, "c": 50, "before": 5, "none": None}
    assert mark(table) == 50
    assert table.log.history(limit=1)[0].info.tags is None


def test_any_number_of_partitions_gives_values_that_are_unique_and_near(
    spark: SparkSession, lake: Lake
) -> None:
    table = made(lake, "s.p", IdentityGenerator(0, -3))
    rows = spark.range(0, 5000, 1, 7).selectExpr("CAST(id AS STRING) AS name")

    table.append(rows)
    table.append(rows.repartition(3))

    found = ids(table)
    assert len(set(found)) == len(found) == 10_000
    assert all(value <= 0 and value % 3 == 0 for value in found)
    assert mark(table) == found[0]
    assert found[0] > -3 * 10_000 * 20


def test_spark_numbers_rows_as_the_paper_does(spark: SparkSession) -> None:
    places = [
        (p, r) for p in (0, 1, 2, 3, 4, 7, 8, 1023, 1024, 99_999) for r in (0, 15, 16, 47, 48, 2**33 - 1)
    ]
    places += [(p, (1 << n) - 1 << identity_columns.RUN_BITS) for p in (0, 5) for n in range(1, 29)]
    own = internal_names.free_names()
    frame = spark.createDataFrame([((p << 33) + r,) for p, r in places], f"{own.number} BIGINT")

    value = spark_identity.identity_value("id", IdentitySpec(0, 1), own.number)
    found = [row[0] for row in spark_identity.with_compact_numbers(frame, own).select(value).collect()]

    assert found == [identity_columns.unique_row_number(p, r) for p, r in places]


def test_values_that_are_used_up_are_refused_and_never_start_again(spark: SparkSession, lake: Lake) -> None:
    table = made(lake, "s.e", IdentityGenerator(2**63 - 3))
    table.append(names(spark, "a", "b"))

    with pytest.raises(InvalidRequest, match="fewer values left") as caught:
        table.append(names(spark, "c", "d"))

    assert caught.value.code == "HEADGATE_IDENTITY_EXHAUSTED"
    table.append(names(spark, "c"))
    assert ids(table) == [2**63 - 3, 2**63 - 2, 2**63 - 1]
    with pytest.raises(InvalidRequest, match="0 values left"):
        table.append(names(spark, "d"))


def test_overwrites_go_on_and_replacing_the_table_begins_anew(
    spark: SparkSession, table: Table, lake: Lake
) -> None:
    table.append(names(spark, "a", "b"))
    table.overwrite(names(spark, "c"))
    table.overwrite(names(spark, "d", "d"), replace_where="name = 'd'")
    assert ids(table) == [3, 4, 5]
    assert mark(table) == 5

    columns = StructType([identity_column("id", IdentityGenerator(100)), NAME])
    lake.replace_table("s.t", columns, rows=names(spark, "e", "f"))
    assert (ids(table), mark(table)) == ([100, 101], 101)
    lake.replace_table("s.new", columns, rows=names(spark, "e"), or_create=True)
    assert mark(lake.table("s.new")) == 100
    lake.replace_table("s.t", columns)
    assert mark(table) is None


def test_statements_keep_values_and_give_them_to_new_rows_only(spark: SparkSession, lake: Lake) -> None:
    table = made(lake, "s.m", properties={"delta.enableChangeDataFeed": "true"})
    table.append(names(spark, "a", "b", "c"))
    table.update(set={"name": "'A'"}, where="name = 'a'")
    table.delete("name = 'b'")
    source = names(spark, "c", "new", "newer")

    merge = table.merge(source, "t.name = s.name")
    done = merge.when_matched_update(set={"name": "upper(s.name)"}).when_not_matched_insert_all().execute()

    got = {row["name"]: row["id"] for row in table.read().collect()}
    assert {name: got[name] for name in ("A", "C")} == {"A": 1, "C": 3}
    assert len({*got.values()}) == 4
    assert min(got["new"], got["newer"]) > 3
    assert mark(table) == max(got.values())
    changes = table.changes(done.version, done.version).where("_change_type = 'insert'")
    assert {row["name"]: row["id"] for row in changes.collect()} == {
        name: got[name] for name in ("new", "newer")
    }


def test_a_merge_takes_values_from_clauses_that_bring_them(spark: SparkSession, lake: Lake) -> None:
    table = made(lake, "s.b", by_default=True)
    source = spark.sql("SELECT * FROM VALUES (50L, 'x'), (60L, 'y') AS s(key, name)")

    merge = table.merge(source, "t.name = s.name")
    merge = merge.when_not_matched_insert("s.name = 'x'", values={"id": "s.key", "name": "s.name"})
    merge.when_not_matched_insert(values={"name": "s.name"}).execute()

    got = {row["name"]: row["id"] for row in table.read().collect()}
    assert got["x"] == 50
    assert got["y"] not in (50, 60, None)
    assert mark(table) == 50


def test_rows_that_only_move_keep_their_values(spark: SparkSession, lake: Lake, table: Table) -> None:
    lake.permit("s.t", "data reorganisation")
    table.append(names(spark, "a"))
    table.append(names(spark, "b"))
    before = table.log.snapshot().state.metadata

    table.optimize()

    assert ids(table) == [1, 2]
    assert table.log.snapshot().state.metadata == before


def test_a_restored_table_does_not_give_values_of_lost_rows_again(spark: SparkSession, table: Table) -> None:
    table.append(names(spark, "a"))
    version = table.version()
    table.append(names(spark, "b", "c"))

    table.restore(version=version)
    table.append(names(spark, "d"))

    assert ids(table) == [1, 4]


def test_mapped_columns_keep_their_values_under_any_name(spark: SparkSession, lake: Lake) -> None:
    table = made(lake, "s.c", properties={"delta.columnMapping.mode": "name"})
    table.append(names(spark, "a"))

    table.rename_column("id", "Key.With Dots")
    table.append(names(spark, "b"))

    assert sorted(row[0] for row in table.read().collect()) == [1, 2]
    assert mark(table, "Key.With Dots") == 2
    table.drop_columns("`Key.With Dots`")
    table.append(names(spark, "c"))
    assert table.read().columns == ["name"]


def test_what_tables_with_values_cannot_do_is_refused(spark: SparkSession, lake: Lake) -> None:
    table = made(lake, "s.r", by_default=True, properties={"delta.enableTypeWidening": "true"})
    nested = StructType([StructField("s", StructType([identity_column("id")])), NAME])
    refused = [
        (lambda: lake.create_table("s.x", StructType([identity_column("id"), NAME]), partition_by=["id"]),
         "PARTITION_NOT_SUPPORTED"),
        (lambda: lake.create_table("s.x", nested), "ALTER_COLUMN_NOT_SUPPORTED"),
        (lambda: identity_column("id", IdentityGenerator(1, 0)), "ILLEGAL_STEP"),
        (lambda: table.add_columns(StructType([identity_column("other")])), "ALTER_COLUMN_NOT_SUPPORTED"),
        (lambda: table.widen_column("id", "DECIMAL(20,0)"), "ALTER_COLUMN_NOT_SUPPORTED"),
        (lambda: table.append(spark.sql("SELECT CAST(1 AS DECIMAL(20,0)) AS id"), merge_schema=True),
         "UNSUPPORTED_DATA_TYPE"),
        (lambda: table.sync_identity("name"), "ALTER_NON_IDENTITY_COLUMN"),
    ]  # fmt: skip
    for act, code in refused:
        with pytest.raises(InvalidRequest) as caught:
            act()
        assert caught.value.code == f"DELTA_IDENTITY_COLUMNS_{code}"


def test_rows_cannot_say_where_a_mark_is(spark: SparkSession, lake: Lake) -> None:
    table = made(lake, "s.q", by_default=True, nullable=False)
    said = {**IdentitySpec(1, 1, mark=900).written()}
    rows = spark.sql("SELECT 5L AS id, 'a' AS name, named_struct('n', 1L) AS more").withMetadata("id", said)
    inner = StructType.fromJson(rows.schema.jsonValue())
    inner["more"].dataType[0].metadata = said

    table.append(spark.createDataFrame(rows.collect(), inner), merge_schema=True)
    copy = lake.create_table(
        "s.copy", StructType([StructField("id", rows.schema["id"].dataType, True, said)])
    )

    assert mark(table) == 5
    assert table.log.snapshot().state.metadata.schema_string.count("delta.identity.start") == 1
    assert mark(copy) is None
    with pytest.raises(ConstraintViolated, match="'id' is NOT NULL"):
        table.append(spark.sql("SELECT CAST(NULL AS BIGINT) AS id, 'n' AS name"))


def test_a_mark_follows_rows_of_writers_that_did_not_move_it(spark: SparkSession, lake: Lake) -> None:
    table = made(lake, "s.sync", by_default=True)
    table.append(spark.sql("SELECT * FROM VALUES (3L, 'a'), (40L, 'b') AS t(id, name)"))
    before = table.log.snapshot()
    lowered = identity_columns.with_high_water_marks(before.state.metadata, {"id": 1})
    table.log.commit(Change(Operation("CHANGE COLUMN"), (lowered,)), base=before)

    table.sync_identity("ID")
    assert mark(table) == 40
    assert table.sync_identity("id") == table.version()
    table.delete("id = 40")
    assert table.sync_identity("id") == table.version(), "rows that are gone had it"
    table.sync_identity("id", may_lower=True)
    assert mark(table) == 3


def test_writers_that_run_at_once_share_no_value(spark: SparkSession, lake: Lake) -> None:
    made(lake, "s.race")
    failed: list[BaseException] = []
    together = threading.Barrier(4)

    def write(number: int) -> None:
        table = lake.table("s.race")
        together.wait()
        try:
            for turn in range(2):
                table.append(names(spark, *(f"{number}.{turn}.{row}" for row in range(5))))
        except BaseException as exc:
            failed.append(exc)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert not failed
    table = lake.table("s.race")
    found = ids(table)
    assert len(set(found)) == len(found) == 40
    assert mark(table) >= max(found)
    marks = [table.log.snapshot(version=version).state.metadata for version in range(table.version() + 1)]
    for was, now in pairwise(marks):
        same = identity_columns.columns_of_table(was) == identity_columns.columns_of_table(now)
        assert same or identity_columns.advances_high_water_mark_only(was, now)


@pytest.fixture
def raced(spark: SparkSession, lake: Lake, monkeypatch: pytest.MonkeyPatch) -> Iterator[Table]:
    """A table to which somebody appends a row just when the first write to it has written its files."""
    table, rival = made(lake, "s.raced", by_default=True), lake.table("s.raced")
    write_files, races = data_file_writer.write_files, iter([True])

    def late(*args: Any, **named: Any) -> Any:
        written = write_files(*args, **named)
        if next(races, False):
            rival.append(names(spark, "first"))
        return written

    monkeypatch.setattr(data_file_writer, "write_files", late)
    yield table
    stored = [path for path in Path(table.log.location).rglob("*.parquet") if "_delta_log" not in path.parts]
    assert sum(pq.read_metadata(path).num_rows for path in stored) == table.read().count(), "no file in vain"


def operations(table: Table) -> list[str | None]:
    return [entry.info.operation for entry in table.log.history()][-2::-1]


def test_the_loser_of_a_race_reserves_values_and_writes_its_rows_again(
    spark: SparkSession, raced: Table
) -> None:
    raced.append(names(spark, "a", "b", "c"))

    assert {row["name"]: row["id"] for row in raced.read().collect()} == {"first": 1, "a": 2, "b": 3, "c": 4}
    assert operations(raced) == ["WRITE", "RESERVE IDENTITY VALUES", "WRITE"]


def test_the_loser_of_a_race_that_brought_its_values_keeps_them(spark: SparkSession, raced: Table) -> None:
    raced.append(spark.sql("SELECT 7L AS id, 'a' AS name"))

    assert {row["name"]: row["id"] for row in raced.read().collect()} == {"first": 1, "a": 7}
    assert mark(raced) == 7
    assert operations(raced) == ["WRITE", "WRITE"]


def test_a_statement_that_loses_the_race_is_told_so(spark: SparkSession, raced: Table) -> None:
    with pytest.raises(MetadataChanged, match="the next values of an identity column") as caught:
        raced.merge(names(spark, "a"), "false").when_not_matched_insert_all().execute()

    assert caught.value.fields["rule"] == "identity-values"
    assert ids(raced) == [1]


def test_rows_that_outgrow_what_was_reserved_are_not_committed(spark: SparkSession, table: Table) -> None:
    table.append(names(spark, "a"))
    base = table.log.snapshot().state.metadata
    after = identity_columns.advance_high_water_marks(base, {"id": 3})
    held = identity_high_water.reserve(
        table.log, identity_high_water.high_water_conflict(MetadataChanged("x"), names(spark), base, after)
    )
    assert (held.before, mark(table)) == ({"id": 1}, 3)

    with pytest.raises(MetadataChanged, match="more of them"):
        written = data_file_writer.write_files(names(spark, "b", "c", "d"), table.log, held.starting(after))
        assert written.farthest == {"id": 4}
        held.check(table.log, written)

    table.append(names(spark, "e"))
    assert ids(table) == [1, 4]


def test_a_transaction_gives_values_across_its_writes(spark: SparkSession, lake: Lake) -> None:
    made(lake, "s.one")
    with lake.transaction(["s.one"]) as transaction:
        transaction.table("s.one").append(names(spark, "a"))
        transaction.table("s.one").append(names(spark, "b"))

    table = lake.table("s.one")
    assert (table.version(), ids(table), mark(table)) == (1, [1, 2], 2)


def test_others_read_the_values(spark: SparkSession, lake: Lake) -> None:
    table = made(lake, "s.i")
    table.append(names(spark, "a", "b"))
    location = lake.release("s.i").location

    arrow = DeltaTable(location).to_pyarrow_table()
    with duck.connect() as connection:
        found = connection.sql(f"SELECT id, name FROM delta_scan('{location}') ORDER BY id").fetchall()

    assert found == [(1, "a"), (2, "b")]
    assert sorted(arrow["id"].to_pylist()) == [1, 2]


def test_values_are_given_after_rows_were_spread_evenly(spark: SparkSession, table: Table) -> None:
    """Behind the shuffle: in front of it, a task that is run again could give a row another value."""
    rows = spark.range(0, 60, 1, 3).selectExpr("CAST(id AS STRING) AS name")

    table.append(rows, optimize_write=True)

    assert len(table.log.snapshot().files.columns) == 1
    assert ids(table)[:3] == [1, 2, 3]
    assert table.read().agg(F.countDistinct("id")).first()[0] == 60


@needs_corpora
def test_a_table_of_databricks_goes_on_where_it_was(spark: SparkSession, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "deltars_data" / "checkpoint-v2-table", tmp_path / "t")
    table = headgate.at_path(tmp_path / "t")
    before, last = ids(table), mark(table)
    assert last is not None
    assert last >= max(before)

    table.append(names(spark, "ours", "too"))

    assert ids(table) == [*before, last + 1, last + 2]
    assert mark(table) == last + 2
    with pytest.raises(InvalidRequest, match="GENERATED ALWAYS AS IDENTITY"):
        table.append(spark.sql("SELECT 5L AS id, 'x' AS name"))
