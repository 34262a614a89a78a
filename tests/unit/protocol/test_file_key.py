"""Two actions are about one file if the path and the deleted rows are the same."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.protocol import file_key
from headgate.protocol.actions import DeletionVector, RemoveFile
from headgate.table.read import match_path_keys
from tests.support.commits import add


def vector(storage: str, place: str, offset: int | None) -> DeletionVector:
    return DeletionVector(
        storage_type=storage, path_or_inline_dv=place, offset=offset, size_in_bytes=1, cardinality=1
    )


@pytest.mark.parametrize(
    ("found", "written"),
    [(None, None), (vector("u", "ab", 0), "uab@0"), (vector("i", "ab", None), "iab")],
)
def test_a_vector_is_told_by_its_storage_its_place_and_its_offset(
    found: DeletionVector | None, written: str | None
) -> None:
    assert file_key.deletion_vector_id(found) == written


def test_an_add_and_a_remove_of_one_file_have_one_key() -> None:
    gone = RemoveFile(path="a", data_change=True, deletion_vector=vector("u", "ab", 1))

    assert file_key.file_key(add("a")) == ("a", None)
    assert file_key.file_key(gone) == ("a", "uab@1")


@pytest.mark.parametrize(
    "spellings",
    [
        ("/x/y", "file:/x/y", "file:///x/y", "FILE:/x/y", "file://localhost/x/y"),
        ("/x", "/x/", "/x/.", "/x/y/.."),
        ("x/y", "x//y"),
        ("/x/y", "/x//y", "/x/./y", "/x/z/../y", "file:////x/y"),
        ("a b", "a%20b", "%61%20b", "./a b", "c/../a%20b"),
        ("p=1:2/f", "p=1%3A2/f", "p=1%3a2/f", "p=1:2//f"),
        ("s3://b/x", "s3a://b/x", "s3n://b//x", "s3://b/%78"),
        ("é", "%C3%A9", "%c3%a9"),
        ("../x", "./../x", "a/../../x", "../a/../x"),
    ],
    ids=lambda spellings: spellings[0],
)  # fmt: skip
def test_a_place_has_one_key_however_it_is_spelled(spellings: tuple[str, ...]) -> None:
    assert len({file_key.canonical_path(path) for path in spellings}) == 1


@pytest.mark.parametrize(
    "paths",
    [
        ("x", "/x", "file://host/x", "s3://b/x", "s3://c/x", "../x", "../../x"),
        ("s3://b/../x", "s3://x"),
        ("%FF", "%FE"),
        ("100%", "100%25%", "100%%"),
        ("a+b", "a%20b"),
        ("A", "a", "A/a"),
    ],
    ids=lambda paths: paths[0],
)
def test_places_that_differ_have_keys_that_differ(paths: tuple[str, ...]) -> None:
    assert len({file_key.canonical_path(path) for path in paths}) == len(paths)


@given(st.lists(st.text("ab./%:2e0", max_size=12), max_size=8), st.data())
def test_paths_in_arrow_are_found_by_their_keys(paths: list[str], data: st.DataObject) -> None:
    keys = set(data.draw(st.lists(st.sampled_from(paths or ["a"])))) | {"a", "b"}
    wanted = {file_key.canonical_path(path) for path in keys}

    found = match_path_keys.match_keys(pa.array(paths, pa.string()), wanted).to_pylist()

    assert all(was for path, was in zip(paths, found, strict=True) if file_key.canonical_path(path) in wanted)
