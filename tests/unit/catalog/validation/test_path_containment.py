"""Paths that stay inside their table, and those that might not."""

import posixpath
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.catalog.validation import path_containment
from headgate.protocol.actions import DeletionVector

_PARTS = st.sampled_from(
    [
        "..",
        ".",
        "%2e",
        "%2E",
        "%2f",
        "%5c",
        "/",
        "//",
        "\\",
        "a",
        "_delta_log",
        "%5fdelta_log",
        ":",
        "s3:",
        "%00",
        "\uff0e",
        "\u2025",
        "=",
        "%25",
    ]
)


@given(st.lists(_PARTS, max_size=8).map("".join) | st.text(max_size=30))
def test_t1_no_path_that_is_let_in_leads_out_however_it_is_read(path: str) -> None:
    """T1: as it is, decoded, with backslashes for slashes."""
    if path_containment.path_problem(path) is not None or path_containment.is_outside(path):
        return

    for reading in (path, unquote(path)):
        found = posixpath.normpath(posixpath.join("/table", reading.replace("\\", "/")))
        assert found.startswith("/table/")
        assert not (found + "/").lower().startswith("/table/_delta_log/")


@pytest.mark.parametrize(
    "path",
    [
        "a.parquet",
        "p=1/q=a%20b/part-0.snappy.parquet",
        "_change_data/cdc-1.parquet",
        "a..b",
        ".hidden/x",
        "ä/ö.parquet",
        "p=..%252F..%252Fx/a",
        "deletion_vector_1.bin",
        "a//b",
        "ts=10%3A00/x",
    ],
)
def test_what_writers_really_name_files_is_let_in(path: str) -> None:
    assert path_containment.path_problem(path) is None
    assert not path_containment.is_outside(path)


@pytest.mark.parametrize(
    ("path", "granted"),
    [
        ("s3://b/source/x", True),
        ("s3://b/source/y/x", True),
        ("file:/data/source/x", False),
        ("s3://b/sourc/x", False),
        ("s3://b/source", False),
        ("/data/here/x", True),
        ("file:///data/here/x", True),
        ("file:/data/here/x", True),
        ("/data/hereafter/x", False),
    ],
)
def test_what_is_granted_is_below_the_place_and_not_beside_it(path: str, granted: bool) -> None:
    assert path_containment.is_below_source(path, ["s3://b/source", "/data/here"]) is granted


def test_a_vector_within_the_log_has_no_file() -> None:
    inline = DeletionVector(storage_type="i", path_or_inline_dv="../..", size_in_bytes=1, cardinality=1)

    assert path_containment.vector_path_problem(inline) is None
