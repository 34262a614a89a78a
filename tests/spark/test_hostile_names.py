"""Tables whose columns have every name that Headgate, Spark or Delta use for columns of their own."""

from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import LongType, StructField, StructType

import headgate
from headgate import Lake, Table, identity_column
from headgate.errors import InvalidRequest
from headgate.spark.scan import binders
from headgate.spark.session import internal_names
from headgate.spark.session.internal_names import InternalNames
from tests.support.changed_tables import FEED, TRACKED, VECTORS, made

pytestmark = pytest.mark.spark

WORDS = [part.name for part in fields(InternalNames)]
MAPPED = {"delta.columnMapping.mode": "name"}
OTHERS = [
    "_row_id", "_row_commit_version", "_metadata", "_path", "_file", "_position", "_index", "partition-0",
    "partition1-0", "place", "word", "bits", "count", "kind", "file", "n", "c0", "t", "s", "a0", "value",
    "key", "number", "rows", "__metadata", "__headgate_no_field",
]  # fmt: skip
OF_A_FEED = ["_change_type", "_commit_version", "_commit_timestamp"]
Rows = dict[int, tuple[int, ...]]


def spelled(seed: int, *, feed: bool = False) -> list[str]:
    """Every such name, in some case of letters, and one as the next choice would be."""
    chance = Random(seed)
    prefixes = [f"{internal_names.DEFAULT_PREFIX}{number}_" for number in ("", "1")]
    names = [f"{prefixes[0]}{word}" for word in WORDS] + [f"{prefixes[1]}{chance.choice(WORDS)}"] + OTHERS
    names += [] if feed else OF_A_FEED
    chosen = [chance.choice((name, name.upper(), name.title())) for name in names]
    chance.shuffle(chosen)
    return chosen


def schema(names: list[str]) -> StructType:
    return StructType([StructField(name, LongType()) for name in ("id", *names)])


def row(number: int, names: list[str], by: int = 0) -> tuple[int, ...]:
    return (number, *(1000 * number + 2 * place + by for place in range(len(names))))


def frame(spark: SparkSession, names: list[str], numbers: range, by: int = 0) -> DataFrame:
    return spark.createDataFrame([row(number, names, by) for number in numbers], schema(names))


def rows(table: Table) -> Rows:
    return {found["id"]: tuple(found) for found in table.read().collect()}


def quoted(name: str) -> str:
    return f"`{name}`"


@pytest.fixture
def using(spark: SparkSession) -> Iterator[Callable[[str], None]]:
    """Sets the binder."""
    yield lambda name: spark.conf.set(binders.SETTING, name)
    spark.conf.unset(binders.SETTING)


def change(spark: SparkSession, table: Table, names: list[str]) -> Iterator[Rows]:
    """Every statement that changes rows; after each what the table must have."""
    kept = {number: row(number, names) for number in range(12)}
    table.append(frame(spark, names, range(6)))
    table.append(frame(spark, names, range(6, 12)))
    yield kept
    some = names[3]
    table.delete(f"{quoted(some)} = {kept[1][4]}")
    del kept[1]
    yield kept
    table.update({quoted(name): f"{quoted(name)} + 1" for name in names}, where="id IN (2, 7)")
    kept |= {number: row(number, names, by=1) for number in (2, 7)}
    yield kept
    merged = table.merge(frame(spark, names, range(5, 15), by=5), "t.id = s.id")
    merged = merged.when_matched_delete("s.id = 5").when_matched_update_all("s.id < 8")
    merged = merged.when_not_matched_insert_all("s.id > 12")
    merged.when_not_matched_by_source_update("t.id = 0", {quoted(some): "7"}).execute()
    del kept[5]
    kept |= {number: row(number, names, by=5) for number in (6, 7, 13, 14)}
    kept[0] = (*kept[0][:4], 7, *kept[0][5:])
    yield kept
    table.overwrite(frame(spark, names, range(8, 10), by=9), replace_where="id IN (8, 9)")
    table.overwrite(frame(spark, names, range(10, 11), by=9), replace_using=["id"])
    kept |= {number: row(number, names, by=9) for number in (8, 9, 10)}
    yield kept


LIVES = {
    "vectors": ("classic", VECTORS, ()),
    "ids of rows": ("portable", TRACKED, ()),
    "a change feed": ("classic", FEED, ()),
    "mapped columns": ("classic", MAPPED | VECTORS, ()),
    "partitions and vectors": ("portable", VECTORS, (0, 1)),
    "partitions of mapped columns": ("classic", MAPPED | TRACKED | VECTORS, (0, 1)),
    "a change feed of vectors": ("portable", FEED | VECTORS, ()),
}


@pytest.mark.parametrize("seed", range(len(LIVES)), ids=list(LIVES))
def test_every_statement_leaves_columns_of_our_names_alone(
    spark: SparkSession, lake: Lake, using: Callable[[str], None], seed: int
) -> None:
    binder, switches, places = list(LIVES.values())[seed]
    using(binder)
    names = spelled(seed, feed=FEED.items() <= switches.items())
    table = made(lake, "s.t", schema(names), switches, partition_by=[names[place] for place in places])

    for expected in change(spark, table, names):
        found = rows(table)
        assert {number: each for number, each in found.items() if each != expected.get(number)} == {}
        assert found.keys() == expected.keys()


@pytest.mark.parametrize("binder", ["classic", "portable"])
def test_rows_are_laid_out_anew_whatever_columns_are_called(
    spark: SparkSession, lake: Lake, using: Callable[[str], None], binder: str
) -> None:
    using(binder)
    names = spelled(7)
    small = {"delta.targetFileSize": "4kb"}
    table = made(lake, "s.t", schema(names), VECTORS, TRACKED, small, cluster_by=names[:2])
    for start in (0, 40):
        table.append(frame(spark, names, range(start, start + 40)))
    table.delete("id = 3")
    lake.permit("s.t", "data reorganisation")
    expected = {number: row(number, names) for number in range(80) if number != 3}

    table.optimize(full=True)
    assert table.log.snapshot().files.columns.num_rows > 1
    assert rows(table) == expected
    table.cluster_by()
    table.optimize(z_order_by=[quoted(name) for name in names[2:4]])
    assert rows(table) == expected


def test_streams_clones_and_conversions_keep_columns_of_our_names(
    spark: SparkSession, lake: Lake, tmp_path: Path
) -> None:
    names = spelled(8)
    frame(spark, names, range(4)).write.parquet(str(tmp_path / "files"))
    expected = {number: row(number, names) for number in range(4)}

    converted = headgate.convert(str(tmp_path / "files"))
    assert rows(converted) == expected
    converted.delete("id = 1")
    converted.restore(version=0)
    clone = lake.clone(tmp_path / "files", "s.clone")
    assert rows(converted) == rows(clone) == expected
    stream = spark.readStream.schema(schema(names)).parquet(str(tmp_path / "files/part*"))
    streamed = lake.create_table("s.streamed", schema(names))
    streamed.write_stream(stream, checkpoint=tmp_path / "c", available_now=True).awaitTermination()
    assert rows(streamed) == expected


def test_the_change_feed_and_the_values_of_identity_columns_keep_to_themselves(
    spark: SparkSession, lake: Lake
) -> None:
    names = spelled(9, feed=True)
    columns = StructType([*schema(names).fields, identity_column("made")])
    table = made(lake, "s.t", columns, FEED)
    table.append(frame(spark, names, range(3)))
    source = frame(spark, names, range(2, 4), by=1)
    merged = table.merge(source, "t.id = s.id").when_matched_update(set={quoted(names[0]): "0"})
    merged.when_not_matched_insert(
        values={quoted(each): f"s.{quoted(each)}" for each in ("id", *names)}
    ).execute()

    kinds = sorted((each["_change_type"], each["id"]) for each in table.changes(2).collect())
    assert kinds == [("insert", 3), ("update_postimage", 2), ("update_preimage", 2)]
    assert len({each["made"] for each in table.read().collect()}) == 4
    assert [tuple(each)[:-1] for each in table.read(where="id = 3").collect()] == [row(3, names, by=1)]


def test_partitions_are_replaced_by_conditions_on_columns_of_our_names(
    spark: SparkSession, lake: Lake
) -> None:
    names = spelled(10)
    place = next(number for number, name in enumerate(names) if name.lower().endswith("_partition"))
    table = made(lake, "s.t", schema(names), partition_by=[names[place]])
    table.append(frame(spark, names, range(3)))
    new = row(1, names)
    condition = f"{quoted(names[place])} = {new[place + 1]}"

    table.overwrite(spark.createDataFrame([(7, *new[1:])], schema(names)), replace_where=condition)

    assert rows(table) == {0: row(0, names), 2: row(2, names), 7: (7, *new[1:])}


def test_ids_of_rows_are_not_shown_under_the_name_of_a_column(spark: SparkSession, lake: Lake) -> None:
    table = made(lake, "s.t", "id BIGINT, _ROW_ID BIGINT", TRACKED)

    with pytest.raises(InvalidRequest, match="rename the column"):
        table.read(row_ids=True)


@pytest.mark.parametrize("binder", ["classic", "portable"])
def test_what_spark_knows_of_files_is_found_beside_a_column_of_that_name(
    spark: SparkSession, lake: Lake, using: Callable[[str], None], binder: str
) -> None:
    using(binder)
    table = made(lake, "s.t", "id BIGINT, _metadata BIGINT", VECTORS)
    table.append(spark.sql("SELECT id, 10 * id AS _metadata FROM range(0, 4, 1, 1)"))
    table.delete("id = 1")
    found = table.read()

    index = found.metadataColumn("_metadata").getField("row_index").alias("at")
    assert sorted(map(tuple, found.select("id", "_metadata", index).collect())) == [
        (0, 0, 0), (2, 20, 2), (3, 30, 3),
    ]  # fmt: skip
