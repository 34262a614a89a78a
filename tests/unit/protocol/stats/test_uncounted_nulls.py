"""Of many files the counts of nulls are read only if they matter; the answers are those of reading all."""

import json

import pyarrow as pa
import pytest

from headgate.protocol.predicates import from_sql
from headgate.protocol.predicates.tree import Column
from headgate.protocol.schema.types import Field, Primitive, Struct
from headgate.protocol.stats import data_skipping
from headgate.protocol.stats.column_bounds import SLICE_ROWS
from headgate.protocol.stats.file_bounds import FileBounds

LONG = Primitive("long")
SCHEMA = Struct((Field("a", LONG), Field("b", Primitive("binary"))))
A = Column(("a",), LONG)
COUNT = 2 * SLICE_ROWS + 100
WITHOUT_BOUNDS = SLICE_ROWS + 7
CONDITIONS = (
    "a = 5", "a IS NULL", "a IS NOT NULL", "a IS NULL AND a > 16000", "a = 5 OR a IS NULL", "a <> 5",
    "a IN (5, 9000)", "b IS NULL", "a = 5 AND b IS NULL",
)  # fmt: skip


def _text(number: int) -> str:
    """Every third file has a null in ``a``; all of ``b`` is null in every fifth."""
    return json.dumps(
        {
            "numRecords": 10,
            "minValues": {"a": number},
            "maxValues": {"a": number},
            "nullCount": {"a": int(number % 3 == 0), "b": 10 * int(number % 5 == 0)},
        }
    )


FULL = [_text(number) for number in range(COUNT)]
ALL_NULL = json.dumps({"numRecords": 10, "nullCount": {"a": 10, "b": 0}})
HOLES: dict[str, dict[int, str | None]] = {
    "none": {},
    "all-null": {WITHOUT_BOUNDS: ALL_NULL},
    "unknown": {WITHOUT_BOUNDS: None, 3: "{}"},
}


def _bounds(texts: list[str | None]) -> FileBounds:
    return FileBounds(pa.table({"stats": pa.array(texts, pa.string())}))


def _kept(bounds: FileBounds, sql: str) -> list[bool]:
    found: list[bool] = data_skipping.keep_mask(bounds, from_sql.parse(sql, SCHEMA)).to_pylist()
    return found


@pytest.mark.parametrize("holes", HOLES.values(), ids=HOLES)
def test_files_are_kept_as_if_everything_had_been_read(holes: dict[int, str | None]) -> None:
    texts = [holes.get(number, text) for number, text in enumerate(FULL)]
    counted, one_by_one = _bounds(texts), _bounds(texts)
    counted.of(A, nulls=True)

    for sql in CONDITIONS:
        expected = _kept(counted, sql)
        assert _kept(_bounds(texts), sql) == expected, sql
        assert _kept(one_by_one, sql) == expected, f"{sql}, after others"


def test_nulls_are_counted_when_somebody_asks_and_not_before() -> None:
    bounds = _bounds([*FULL])

    assert _kept(bounds, "a = 6").count(True) == 1
    uncounted = bounds.of(A, nulls=False).may_be_null.null_count
    assert _kept(bounds, "a IS NULL") == [number % 3 == 0 for number in range(COUNT)]

    assert uncounted >= SLICE_ROWS
    assert bounds.of(A, nulls=False).may_be_null.null_count == 0


def test_a_file_without_values_is_left_out_by_its_counts_alone() -> None:
    texts: list[str | None] = [*FULL]
    texts[WITHOUT_BOUNDS] = ALL_NULL

    assert [number for number, keep in enumerate(_kept(_bounds(texts), "a = 5")) if keep] == [5]


def test_few_files_are_counted_at_once() -> None:
    bounds = _bounds([*FULL[:10]])

    assert _kept(bounds, "a = 6").count(True) == 1
    assert bounds.of(A, nulls=False).may_be_null.null_count == 0
