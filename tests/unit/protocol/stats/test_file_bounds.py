"""The bounds of files: read once for every column, in any thread, partition columns without reading."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pyarrow as pa
import pytest

from headgate.protocol.predicates.tree import Column
from headgate.protocol.schema.types import Primitive
from headgate.protocol.stats.column_bounds import BoundsRequest, ColumnBounds
from headgate.protocol.stats.file_bounds import FileBounds, Path
from tests.support.waiting import PATIENCE_SECONDS

LONG = Primitive("long")
A, B, P = (Column((name,), LONG) for name in "abp")
PARTS: list[dict[str, str | None]] = [{"p": "7"}, {"p": None}, {"p": "9"}]


class Told:
    """Statistics of three files that remember who asked for what; a column's name is its bound."""

    def __init__(self, meanwhile: Callable[[BoundsRequest], None] = lambda _: None) -> None:
        self.calls: list[list[tuple[str, bool]]] = []
        self._meanwhile = meanwhile

    def __call__(self, wanted: Sequence[BoundsRequest]) -> list[ColumnBounds]:
        self.calls.append([(".".join(asked.column.path), asked.nulls) for asked in wanted])
        for asked in wanted:
            self._meanwhile(asked)
        return [_bounds(asked) for asked in wanted]


def _bounds(asked: BoundsRequest) -> ColumnBounds:
    ends = pa.array([f"{asked.column.path[-1]}{number}" for number in range(3)])
    nulls = pa.array([asked.nulls or None] * 3, pa.bool_())
    return ColumnBounds(ends, ends, nulls, pa.array([True] * 3))


def files(parts: Sequence[dict[str, str | None]] = PARTS) -> pa.Table:
    pairs = [list(row.items()) for row in parts]
    return pa.table({"partition_values": pa.array(pairs, pa.map_(pa.string(), pa.string()))})


def lows(bounds: FileBounds, column: Column, **more: bool) -> list[Any]:
    found: list[Any] = bounds.of(column, **more).low.to_pylist()
    return found


def test_whoever_asks_for_a_column_asks_for_its_nulls_unless_it_says_otherwise() -> None:
    told = Told()
    bounds = FileBounds(files(), statistics=told)

    assert lows(bounds, A) == ["a0", "a1", "a2"]
    assert lows(bounds, B, nulls=False) == ["b0", "b1", "b2"]
    assert told.calls == [[("a", True)], [("b", False)]]


@pytest.mark.parametrize(
    ("loads", "calls"),
    [
        ([[(A, True)], [(A, True)], [(A, False)]], [[("a", True)]]),
        ([[(A, False)], [(A, False)], [(A, True)], [(A, True)]], [[("a", False)], [("a", True)]]),
        ([[(A, True)], [(A, True), (B, True)]], [[("a", True)], [("b", True)]]),
        ([[(A, True), (B, True)], [(B, True)], [(A, True)]], [[("a", True), ("b", True)]]),
        ([[(A, True), (A, False)]], [[("a", True)]]),
        ([[(A, False), (A, True)]], [[("a", True)]]),
        ([[(P, True)], [(P, True), (A, False)]], [[("a", False)]]),
        ([[]], []),
    ],
)
def test_nothing_is_read_twice_except_to_count_nulls(
    loads: list[list[tuple[Column, bool]]], calls: list[list[tuple[str, bool]]]
) -> None:
    told = Told()
    bounds = FileBounds(files(), partition_columns=["p"], statistics=told)

    for wanted in loads:
        bounds.load(BoundsRequest(column, nulls) for column, nulls in wanted)

    assert told.calls == calls


def test_a_partition_column_is_known_without_statistics_and_worked_out_once() -> None:
    told = Told()
    bounds = FileBounds(files(), partition_columns=["P"], statistics=told)

    found = bounds.of(P)

    assert found.low.to_pylist() == found.high.to_pylist() == [7, None, 9]
    assert found.may_be_null.to_pylist() == [False, True, False]
    assert bounds.of(P) is found
    assert told.calls == []


@pytest.mark.parametrize("path", [("a", "p"), ("p", "a"), ("q",)])
def test_only_a_whole_column_of_that_name_is_a_partition_column(path: tuple[str, ...]) -> None:
    told = Told()
    bounds = FileBounds(files(), partition_columns=["p"], statistics=told)

    assert lows(bounds, Column(path, LONG)) == [f"{path[-1]}{number}" for number in range(3)]
    assert told.calls == [[(".".join(path), True)]]


def test_columns_are_looked_for_under_their_names_in_the_files() -> None:
    told = Told()
    physical = {("a",): ("col-1",), ("a", "b"): ("col-1", "col-2"), ("p",): ("col-3",)}
    bounds = FileBounds(
        files([{"col-3": "7", "p": "1"}]), partition_columns=["p"], physical=physical, statistics=told
    )

    assert lows(bounds, A)[0] == "col-10"
    assert lows(bounds, Column(("a", "b"), LONG))[0] == "col-20"
    assert lows(bounds, B)[0] == "b0"
    assert lows(bounds, P) == [7]
    assert told.calls == [[("col-1", True)], [("col-1.col-2", True)], [("b", True)]]


def test_without_statistics_of_their_own_the_files_have_them_in_a_column() -> None:
    texts = ['{"minValues":{"a":1},"maxValues":{"a":2}}', None]
    found = FileBounds(pa.table({"stats": pa.array(texts, pa.string())})).of(A)

    assert (found.low.to_pylist(), found.high.to_pylist()) == ([1, None], [2, None])


def test_some_of_the_files_share_what_is_read_for_all() -> None:
    told = Told()
    physical: dict[Path, Path] = {("a",): ("col-1",), ("p",): ("p",)}
    whole = FileBounds(files(), partition_columns=["p"], physical=physical, statistics=told)
    some = whole.only(pa.array([True, False, True]))

    assert some.files["partition_values"].to_pylist() == [[("p", "7")], [("p", "9")]]
    assert lows(some, A) == ["col-10", "col-12"]
    assert lows(some, P) == [7, 9]
    assert lows(whole, A) == ["col-10", "col-11", "col-12"]
    assert lows(some.only(pa.array([False, True])), A) == ["col-12"]
    assert told.calls == [[("col-1", True)]]


def test_what_is_known_is_answered_while_another_column_is_read() -> None:
    found: list[list[Any]] = []

    def meanwhile(asked: BoundsRequest) -> None:
        if asked.column == B:
            found.append(pool.submit(lows, bounds, A).result(timeout=PATIENCE_SECONDS))

    with ThreadPoolExecutor(1) as pool:
        bounds = FileBounds(files(), statistics=Told(meanwhile))
        bounds.of(A)
        bounds.load([BoundsRequest(B)])

    assert found == [["a0", "a1", "a2"]]


def test_who_comes_second_waits_for_what_the_first_reads() -> None:
    second: list[Future[list[Any]]] = []

    def meanwhile(_: BoundsRequest) -> None:
        if not second:
            second.append(pool.submit(lows, bounds, A))
            time.sleep(0.05)  # enough for it to begin

    told = Told(meanwhile)
    with ThreadPoolExecutor(1) as pool:
        bounds = FileBounds(files(), statistics=told)
        assert lows(bounds, A) == ["a0", "a1", "a2"]
        assert second[0].result(timeout=PATIENCE_SECONDS) == ["a0", "a1", "a2"]

    assert told.calls == [[("a", True)]]
