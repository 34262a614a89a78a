"""Writes that race, through the operations themselves and in both orders: who wins, and what is in the table.

In each, the second has written its files before the first commits, and commits after it.
"""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from pyspark.sql import DataFrame, SparkSession

from headgate import Lake, Table
from headgate.errors import ConcurrentAppend, ConcurrentDeleteRead, ConflictError
from headgate.table.transaction import Change, Operation
from tests.support import altered
from tests.support.changed_tables import VECTORS, before_commit, files, made, on_disk, tuples

pytestmark = pytest.mark.spark

MOMENT = "TIMESTAMP'2026-01-31 10:00:00'"
OTHER_MOMENT = "TIMESTAMP'2026-01-31 11:00:00'"
SPELLINGS = ["2026-01-31 10:00:00", "2026-01-31T10:00:00.000000Z"]
BOTH_ORDERS = pytest.mark.parametrize("swapped", [False, True], ids=["in order", "the other way round"])
Act = Callable[[Table], object]


class Race:
    """Two acts on one table, of which the second is told after the first has committed."""

    def __init__(self, lake: Lake, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self._lake = lake
        self._name = name
        self._monkeypatch = monkeypatch

    def run(self, first: Act, second: Act) -> type[ConflictError] | None:
        """What the second gets to hear; None if both have their way."""
        table, rival = self._lake.table(self._name), self._lake.table(self._name)
        before_commit(self._monkeypatch, table, lambda: first(rival))
        written = on_disk(table)
        try:
            second(table)
        except ConflictError as error:
            assert on_disk(table) - written <= set(files(rival)) | _vectors(rival)  # its own files are gone
            return type(error)
        return None


def _vectors(table: Table) -> set[str]:
    return {path for path in on_disk(table) if path.endswith(".bin")}


@pytest.fixture
def race(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> Race:
    return Race(lake, "s.t", monkeypatch)


def rows(spark: SparkSession, *values: tuple[int, int]) -> DataFrame:
    listed = ", ".join(f"({number}L, {part})" for number, part in values)
    return spark.sql(f"SELECT * FROM VALUES {listed} AS rows(id, p)").coalesce(1)


def replaces(frame: DataFrame, condition: str) -> Act:
    return lambda table: table.overwrite(frame, replace_where=condition)


@BOTH_ORDERS
def test_replacing_ranges_that_are_empty(spark: SparkSession, lake: Lake, race: Race, swapped: bool) -> None:
    """S227: of two that overlap each would have had to see the other's rows."""
    table = lake.create_table("s.t", "id BIGINT, p INT", partition_by=["p"])
    table.append(rows(spark, (1, 1)))
    low = replaces(rows(spark, (4, 4)), "p >= 2 AND p <= 4")
    high = replaces(rows(spark, (44, 4)), "p >= 4 AND p <= 6")
    apart = replaces(rows(spark, (7, 7)), "p >= 7")

    assert race.run(*((high, low) if swapped else (low, high))) is ConcurrentAppend
    assert tuples(table) == [(1, 1), (44 if swapped else 4, 4)]

    low_again = replaces(rows(spark, (3, 3)), "p >= 2 AND p <= 4")
    assert race.run(*((apart, low_again) if swapped else (low_again, apart))) is None
    assert tuples(table) == [(1, 1), (3, 3), (7, 7)]


@BOTH_ORDERS
def test_replacing_the_same_partition(spark: SparkSession, lake: Lake, race: Race, swapped: bool) -> None:
    """S228"""
    table = lake.create_table("s.t", "id BIGINT, p INT", partition_by=["p"])
    table.append(rows(spark, (1, 1), (2, 2)))
    one, two = (replaces(rows(spark, (number, 1)), "p = 1") for number in (10, 20))

    assert race.run(*((two, one) if swapped else (one, two))) is ConcurrentAppend

    assert tuples(table) == [(2, 2), (20 if swapped else 10, 1)]


@BOTH_ORDERS
def test_replacing_a_partition_whose_rows_move_to_another(
    spark: SparkSession, lake: Lake, race: Race, swapped: bool
) -> None:
    """S228: the rows that moved are not where they were read, so only their files tell."""
    table = lake.create_table("s.t", "id BIGINT, p INT", partition_by=["p"])
    table.append(rows(spark, (1, 1), (2, 2)))

    def moves(target: Table) -> object:
        return target.update({"p": "3"}, "p = 1")

    anew = replaces(rows(spark, (10, 1)), "p = 1")
    if swapped:
        assert race.run(anew, moves) is ConcurrentAppend
        assert tuples(table) == [(2, 2), (10, 1)]
    else:
        assert race.run(moves, anew) is ConcurrentDeleteRead
        assert tuples(table) == [(1, 3), (2, 2)]


@BOTH_ORDERS
def test_putting_files_together_while_rows_are_hidden(
    spark: SparkSession, lake: Lake, race: Race, swapped: bool
) -> None:
    """S233: no deleted row comes back, and no other is lost."""
    table = made(lake, "s.t", "id BIGINT, p INT", VECTORS)
    lake.permit("s.t", "data reorganisation")
    for first in (0, 10):
        table.append(rows(spark, *((number, 0) for number in range(first, first + 10))))
    everything = [(number, 0) for number in range(20)]

    def delete(target: Table) -> object:
        return target.delete("id = 5")

    def optimize(target: Table) -> object:
        return target.optimize()

    if swapped:  # the row to delete is in a file that was not there when it was looked for
        assert race.run(optimize, delete) is ConcurrentAppend
    else:
        assert race.run(delete, optimize) is ConcurrentDeleteRead
    assert tuples(table) == (everything if swapped else [row for row in everything if row[0] != 5])
    hidden = [row["deletion_vector"] is not None for row in files(table).values()]
    assert sorted(hidden) == ([False] if swapped else [False, True])

    (delete if swapped else optimize)(table)  # run again, as the error says
    assert tuples(table) == [row for row in everything if row[0] != 5]


def moments(spark: SparkSession, number: int, moment: str) -> DataFrame:
    return spark.sql(f"SELECT {number}L AS id, {moment} AS at").coalesce(1)


def spelled(table: Table, text: str) -> None:
    """Have the rows of version 1 once more, by another client, in a partition of this spelling."""
    (add,) = altered.adds(table.log, 1)
    copy = f"copy-{len(files(table))}.parquet"
    Path(table.location, copy).write_bytes(Path(table.location, add.path).read_bytes())
    theirs = msgspec.structs.replace(add, path=copy, partition_values={"at": text})
    table.log.commit(Change(Operation("WRITE"), (theirs,)), base=table.log.snapshot())


def overwrites(frame: DataFrame) -> Act:
    return lambda table: table.overwrite(frame, partition_overwrite="dynamic")


@pytest.fixture
def at_moments(spark: SparkSession, lake: Lake) -> Table:
    table = lake.create_table("s.t", "id BIGINT, at TIMESTAMP", partition_by=["at"])
    table.append(moments(spark, 1, MOMENT))
    return table


@pytest.mark.parametrize("text", SPELLINGS)
def test_a_partition_is_overwritten_in_either_spelling(
    spark: SparkSession, at_moments: Table, text: str
) -> None:
    """S261"""
    spelled(at_moments, text)
    at_moments.append(moments(spark, 2, OTHER_MOMENT))
    assert [row[0] for row in tuples(at_moments)] == [1, 1, 2]

    at_moments.overwrite(moments(spark, 3, MOMENT), partition_overwrite="dynamic")

    assert [row[0] for row in tuples(at_moments)] == [2, 3]


@pytest.mark.parametrize("text", SPELLINGS)
def test_overwriting_a_partition_that_gets_rows_in_either_spelling(
    spark: SparkSession, at_moments: Table, race: Race, text: str
) -> None:
    """S261"""
    ours = overwrites(moments(spark, 3, MOMENT))

    assert race.run(lambda rival: spelled(rival, text), ours) is ConcurrentAppend
    assert [row[0] for row in tuples(at_moments)] == [1, 1]


@BOTH_ORDERS
def test_overwriting_partitions_concerns_those_alone(
    spark: SparkSession, at_moments: Table, race: Race, swapped: bool
) -> None:
    """S261: rows that come to other partitions, or leave them, are nothing to it."""
    ours = overwrites(moments(spark, 3, MOMENT))
    others: list[Act] = [
        lambda table: table.append(moments(spark, 4, OTHER_MOMENT)),
        lambda table: table.delete(f"at = {OTHER_MOMENT}"),
    ]

    for theirs in others:
        assert race.run(*((ours, theirs) if swapped else (theirs, ours))) is None

    assert [row[0] for row in tuples(at_moments)] == [3]


@BOTH_ORDERS
def test_overwriting_a_partition_whose_rows_are_deleted(
    spark: SparkSession, at_moments: Table, race: Race, swapped: bool
) -> None:
    """S261"""
    ours = overwrites(moments(spark, 3, MOMENT))

    def delete(table: Table) -> object:
        return table.delete(f"at = {MOMENT}")

    if swapped:
        assert race.run(ours, delete) is ConcurrentAppend
    else:
        assert race.run(delete, ours) is ConcurrentDeleteRead
    assert [row[0] for row in tuples(at_moments)] == ([3] if swapped else [])
