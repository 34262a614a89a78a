"""Two actions are about one file if the path and the deleted rows are the same."""

import pytest

from headgate.protocol import file_key
from headgate.protocol.actions import DeletionVector, RemoveFile
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
    assert file_key.vector_id(found) == written


def test_an_add_and_a_remove_of_one_file_have_one_key() -> None:
    gone = RemoveFile(path="a", data_change=True, deletion_vector=vector("u", "ab", 1))

    assert file_key.of(add("a")) == ("a", None)
    assert file_key.of(gone) == ("a", "uab@1")
