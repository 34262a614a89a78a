"""MERGEs of one table that run at the same time, by deletion vectors and by copying."""

from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from headgate import Lake, Table
from headgate.errors import ConflictError
from tests.support.changed_tables import FEED, VECTORS

pytestmark = pytest.mark.spark
NAMED = {"DELTA_CONCURRENT_APPEND", "DELTA_CONCURRENT_DELETE_READ", "DELTA_CONCURRENT_DELETE_DELETE"}
SHARES = range(5)
"""Ids are dealt out: number % 5 says whose an id is."""


def made(spark: SparkSession, lake: Lake, **rest: object) -> None:
    """Ids 0 to 49 in two files, or in one for each share if it is partitioned by that."""
    table = lake.create_table("s.t", "id BIGINT, share INT, v STRING", **rest)  # type: ignore[arg-type]
    table.append(spark.range(0, 50, 1, 2).selectExpr("id", "CAST(id % 5 AS INT) share", "'old' v"))


def source(spark: SparkSession, ids: list[int], text: str) -> DataFrame:
    columns = {"id": ids, "share": pa.array([one % 5 for one in ids], pa.int32()), "v": [text] * len(ids)}
    return spark.createDataFrame(pa.table(columns))


def merge(table: Table, rows: DataFrame) -> str:
    """Update, delete and insert; "landed", or the code of the conflict."""
    try:
        (
            table.merge(rows, "t.share = s.share AND t.id = s.id")
            .when_matched_delete("s.id < 5")
            .when_matched_update_all()
            .when_not_matched_insert_all()
            .execute()
        )
    except ConflictError as error:
        return error.code
    return "landed"


def at_once(lake: Lake, sources: list[DataFrame]) -> list[str]:
    """Merge each source through a table of its own, all of them from the same version."""
    tables = [lake.table("s.t") for _ in sources]
    for table in tables:
        base = table.log.snapshot()
        table.log.snapshot = lambda base=base, **_: base  # type: ignore[method-assign, misc]
    with ThreadPoolExecutor(len(sources)) as pool:
        return list(pool.map(merge, tables, sources))


def found(lake: Lake) -> dict[int, str]:
    rows = [(row.id, row.v) for row in lake.table("s.t").read().collect()]
    assert len(rows) == len(dict(rows)), "an id is there twice"
    return dict(rows)


def expected(winners: dict[int, str]) -> dict[int, str]:
    """By share, the text of whoever merged it: 0 to 4 deleted, 5 to 9 updated, 50 to 54 inserted."""
    rows = dict.fromkeys(range(50), "old")
    for share, text in winners.items():
        del rows[share]
        rows |= {share + 5: text, share + 50: text}
    return rows


@pytest.mark.parametrize(
    "rest",
    [{"properties": VECTORS | FEED}, {"partition_by": ["share"]}],
    ids=["hidden", "copied by partition"],
)
def test_on_other_keys_all_land(spark: SparkSession, lake: Lake, rest: dict[str, object]) -> None:
    """Keys that lie between each other in the same files; without vectors, in partitions of their own."""
    made(spark, lake, **rest)

    outcomes = at_once(lake, [source(spark, [n, n + 5, n + 50], f"w{n}") for n in SHARES])

    assert outcomes == ["landed"] * len(SHARES)
    assert found(lake) == expected({n: f"w{n}" for n in SHARES})
    assert lake.table("s.t").version() == 1 + len(SHARES)


@pytest.mark.parametrize(
    "rest", [{"properties": VECTORS}, {"partition_by": ["share"]}], ids=["hidden", "copied by partition"]
)
def test_on_the_same_keys_one_of_each_pair_lands(
    spark: SparkSession, lake: Lake, rest: dict[str, object]
) -> None:
    """The other is told which conflict it is, leaves nothing behind, and lands when it is run again."""
    made(spark, lake, **rest)
    pairs = [(n % 3, f"w{n}") for n in range(6)]
    sources = [source(spark, [share, share + 5, share + 50], text) for share, text in pairs]

    outcomes = at_once(lake, sources)

    landed = {share: text for (share, text), told in zip(pairs, outcomes, strict=True) if told == "landed"}
    assert len(landed) == outcomes.count("landed") == 3
    assert {told for told in outcomes if told != "landed"} <= NAMED
    assert found(lake) == expected(landed)
    loser = next(n for n, told in enumerate(outcomes) if told != "landed")
    again = source(spark, [pairs[loser][0] + 5], "again")
    assert merge(lake.table("s.t"), again) == "landed"
    assert found(lake)[pairs[loser][0] + 5] == "again"


def test_by_copying_one_file_only_one_lands(spark: SparkSession, lake: Lake) -> None:
    """Both would write its other rows anew, with what the other one changed as it was before."""
    made(spark, lake)

    outcomes = at_once(lake, [source(spark, [n, n + 5, n + 50], f"w{n}") for n in range(2)])

    assert sorted(told in NAMED for told in outcomes) == [False, True]
    assert found(lake) == expected({outcomes.index("landed"): f"w{outcomes.index('landed')}"})
