"""Vectors that we write: those of a commit together in one file, small ones too, all of them readable."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.protocol.actions import DeletionVector
from headgate.protocol.log import deletion_vectors
from headgate.protocol.log.deletion_vectors import DeletedRows
from headgate.spark.dml import deletion_vector_files
from headgate.spark.dml.deletion_vector_files import DeletionVectorWriter
from headgate.storage.locate import locate
from headgate.table.opened_table import OpenedTable
from tests.support.tables import create_filesystem, named_file, open_filesystem

SMALL, LARGE, DENSE = (DeletedRows.from_rows(rows) for rows in ([0, 7], range(0, 10_000, 7), range(100_000)))


@pytest.fixture
def table(tmp_path: Path) -> OpenedTable:
    create_filesystem(locate(str(tmp_path)))
    return open_filesystem(str(tmp_path))


def files(table: OpenedTable) -> list[Path]:
    return sorted(Path(table.location).glob("deletion_vector_*.bin"))


def test_a_commit_has_one_file_for_all_vectors_small_ones_too(table: OpenedTable) -> None:
    writer = DeletionVectorWriter(table)

    small, one, dense = written = writer.write([SMALL, LARGE, DENSE])

    assert {vector.storage_type for vector in written} == {"u"}
    assert len({vector.path_or_inline_dv for vector in written}) == 1
    assert (small.offset, one.offset) == (1, 1 + 4 + small.size_in_bytes + 4)
    assert (small.cardinality, dense.cardinality) == (2, 100_000)
    assert len(files(table)) == 1
    assert writer.hidden(written) == [SMALL, LARGE, DENSE]


@given(st.lists(st.sets(st.integers(0, 1 << 40), max_size=60), min_size=1, max_size=5))
def test_what_is_written_is_read_back(rows: list[set[int]]) -> None:
    wanted = [DeletedRows.from_rows(some) for some in rows]
    content, descriptors = deletion_vectors.encode_file(wanted, deletion_vectors.UUID(int=7))

    assert [deletion_vectors.parse_stored(one, content) for one in descriptors] == wanted
    assert [deletion_vectors.parse_inline(deletion_vectors.encode_inline(some)) for some in wanted] == wanted


def test_a_commit_that_failed_leaves_no_vector_file(table: OpenedTable) -> None:
    writer = DeletionVectorWriter(table)
    writer.write([LARGE])
    writer.hide(LARGE)
    assert len(files(table)) == 2

    writer.discard()

    assert files(table) == []


def test_a_file_is_added_again_with_wide_bounds_and_all_else_as_it_was(table: OpenedTable) -> None:
    stats = '{"numRecords":10,"minValues":{"d":12345678901234567890.123456789},"tightBounds":true}'
    file = msgspec.structs.replace(named_file("a"), stats=stats, tags={"k": "v"}, base_row_id=7)

    (again,) = deletion_vector_files.adds_with_vectors(DeletionVectorWriter(table), [(file, SMALL)])

    assert again.stats is not None
    assert '"d":12345678901234567890.123456789' in again.stats
    assert msgspec.json.decode(again.stats)["tightBounds"] is False
    assert (again.tags, again.base_row_id, again.path) == ({"k": "v"}, 7, "a")


def test_the_rows_of_files_are_those_of_their_vectors(table: OpenedTable) -> None:
    plain, hiding = named_file("a"), named_file("b")
    hiding = msgspec.structs.replace(hiding, deletion_vector=deletion_vectors.encode_inline(SMALL))

    found = deletion_vector_files.deleted_rows_by_path(DeletionVectorWriter(table), [plain, hiding])

    assert found == {"a": DeletedRows.from_rows(()), "b": SMALL}


def test_a_descriptor_names_the_file_as_the_protocol_does(table: OpenedTable) -> None:
    (vector,) = DeletionVectorWriter(table).write([LARGE])

    place = deletion_vectors.vector_location(vector)
    assert isinstance(vector, DeletionVector)
    assert isinstance(place, deletion_vectors.StoredVector)
    assert files(table)[0].name == place.path
