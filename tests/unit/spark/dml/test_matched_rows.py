"""Rows that a statement found come to the driver as places or as words; both ways they are the same rows."""

from collections.abc import Sequence

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from headgate.spark.dml import matched_rows
from headgate.spark.dml.matched_rows import MatchedRows

Row = tuple[int | None, int | None, int]
"""Position, index, kind; a new row is in no file."""
PLACES = st.tuples(st.integers(0, 4), st.integers(0, 200) | st.integers(0, 2_000_000), st.integers(0, 5))
ROWS = st.lists(PLACES | st.tuples(st.none(), st.none(), st.just(2)), max_size=40)


def as_places(rows: Sequence[Row]) -> pa.Table:
    places = [None if file is None or index is None else file << 40 | index for file, index, _ in rows]
    kinds = [kind for _, _, kind in rows]
    return pa.table({"place": pa.array(places, pa.int64()), "kind": pa.array(kinds, pa.int8())})


def as_words(rows: Sequence[Row]) -> pa.Table:
    words: dict[tuple[int | None, int, int | None], tuple[int, int]] = {}
    for file, index, kind in rows:
        key = (file, kind, None if index is None else index // 64)
        bits, count = words.get(key, (0, 0))
        words[key] = (bits | 1 << (0 if index is None else index % 64), count + 1)
    signed = [bits - (1 << 64) if bits >> 63 else bits for bits, _ in words.values()]
    columns = {
        "file": pa.array([file for file, _, _ in words], pa.int32()),
        "kind": pa.array([kind for _, kind, _ in words], pa.int32()),
        "word": pa.array([word for _, _, word in words], pa.int64()),
        "bits": pa.array(signed, pa.int64()),
        "count": pa.array([count for _, count in words.values()], pa.int64()),
    }
    return pa.table(columns)


def expected(rows: Sequence[Row]) -> dict[int, tuple[int, dict[int, set[int]]]]:
    found: dict[int, tuple[int, dict[int, set[int]]]] = {}
    for file, index, kind in rows:
        count, files = found.get(kind, (0, {}))
        if file is not None and index is not None:
            files.setdefault(file, set()).add(index)
        found[kind] = (count + 1, files)
    return found


def plain(found: dict[int, MatchedRows]) -> dict[int, tuple[int, dict[int, set[int]]]]:
    return {
        kind: (some.count, {file: set(rows.rows) for file, rows in some.rows.items()})
        for kind, some in found.items()
    }


@given(ROWS)
def test_places_and_words_tell_the_same_rows(rows: list[Row]) -> None:
    assert plain(dict(matched_rows._from_positions(as_places(rows)))) == expected(rows)
    assert plain(dict(matched_rows._from_words(as_words(rows)))) == expected(rows)


def test_a_row_found_twice_counts_twice_and_is_one() -> None:
    (found,) = matched_rows._from_positions(as_places([(1, 7, 0), (1, 7, 0), (0, 3, 0)])).values()

    assert (found.count, found.distinct) == (3, 2)
    assert set(found.of(1).rows) == {7}
    assert not found.of(5).cardinality
