"""Depth and width of JSON are told as a decoder would find them, and fast for whoever sends the worst."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.server.operations.json_shape import has_more_values, is_deeper

Json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet='a"\\[]{},'),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(alphabet='k"[{,'), inner, max_size=4),
    max_leaves=30,
)


def _depth(value: object) -> int:
    if isinstance(value, dict):
        value = list(value.values())
    return 1 + max(map(_depth, value), default=0) if isinstance(value, list) else 0


@given(Json, st.integers(0, 6))
def test_depth_is_that_of_the_value(value: object, depth: int) -> None:
    assert is_deeper(json.dumps(value).encode(), depth) is (_depth(value) > depth)


@given(st.lists(st.integers(), max_size=20), st.integers(0, 30))
def test_values_of_a_list_are_counted(value: list[int], count: int) -> None:
    assert has_more_values(json.dumps(value).encode(), count) is (max(len(value), 1) > count)


@given(st.binary(max_size=200))
def test_any_bytes_have_an_answer(text: bytes) -> None:
    assert is_deeper(text, 3) in (True, False)
    assert has_more_values(text, 3) in (True, False)


@pytest.mark.parametrize(
    "text",
    [
        b"[" * 4_000_000,
        b'"' * 4_000_000,
        b'["' + b"\\" * 4_000_000,
        b'[[[["' + b'\\"[' * 1_300_000,
        b"[]," * 1_300_000,
    ],
    ids=["lists", "quotes", "backslashes", "escapes", "pairs"],
)
def test_the_worst_of_4_megabytes_takes_a_moment(text: bytes) -> None:
    began = time.process_time()
    is_deeper(text, 100)
    has_more_values(text, 200_000)

    assert time.process_time() - began < 30  # hours if it grew with the square
