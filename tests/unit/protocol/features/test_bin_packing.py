"""Which files are put together."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.protocol.features import bin_packing
from headgate.protocol.features.bin_packing import PackableFile
from tests.support import attempts


def files(*sizes: int, partition: str = "a") -> list[PackableFile]:
    return [PackableFile(position, size, partition) for position, size in enumerate(sizes)]


def test_small_files_make_up_files_of_the_wished_size() -> None:
    assert bin_packing.pack_files(files(40, 30, 200, 30, 60), 100) == [[1, 3, 0]]
    assert bin_packing.pack_files(files(50, 50, 50, 50), 100) == [[0, 1], [2, 3]]


def test_a_file_that_has_no_company_stays() -> None:
    assert bin_packing.pack_files(files(10), 100) == []
    assert bin_packing.pack_files(files(60, 60), 100) == []
    assert bin_packing.pack_files(files(100, 200), 100) == []
    assert bin_packing.pack_files(files(50, 51), 100) == []


def test_every_file_is_as_large_as_wished_at_most_and_not_only_the_first() -> None:
    assert bin_packing.pack_files(files(33, 33, 33, 33, 34, 34), 100) == [[0, 1, 2], [3, 4]]


def test_a_file_that_is_large_enough_stays_even_beside_an_empty_one() -> None:
    assert bin_packing.pack_files(files(0, 100), 100) == []
    assert bin_packing.pack_files([PackableFile(0, 0, "a"), PackableFile(1, 100, "a", 0.05)], 100) == []


def test_partitions_are_not_mixed() -> None:
    mixed = [
        PackableFile(0, 10, "a"),
        PackableFile(1, 10, "b"),
        PackableFile(2, 10, "a"),
        PackableFile(3, 10, None),
    ]

    assert bin_packing.pack_files(mixed, 100) == [[0, 2]]
    one, same, other, none = bin_packing.partition_keys(
        [{"p": "1", "q": None}, {"q": None, "p": "1"}, {"p": "2", "q": None}, {}]
    )
    assert one == same
    assert len({one, other, none}) == 3


def test_many_deleted_rows_are_reason_enough() -> None:
    some = [
        PackableFile(0, 500, "a", 0.06),
        PackableFile(1, 500, "a", 0.05),
        PackableFile(2, 20, "a"),
        PackableFile(3, 30, "a", 0.5),
    ]

    assert bin_packing.pack_files(some, 100) == [[2, 3], [0]]
    assert bin_packing.pack_files([PackableFile(0, 50, "a", 0.05)], 100) == []
    assert bin_packing.pack_files([PackableFile(0, 50, "a", 0.06)], 100) == [[0]]


@given(st.lists(st.tuples(st.integers(0, 150), st.sampled_from("ab"), st.floats(0, 1)), max_size=30))
def test_no_file_is_in_two_bins_and_none_grows_too_large(found: list[tuple[int, str, float]]) -> None:
    some = [PackableFile(at, size, partition, hidden) for at, (size, partition, hidden) in enumerate(found)]

    bins = bin_packing.pack_files(some, 100)

    chosen = [position for positions in bins for position in positions]
    assert len(chosen) == len(set(chosen))
    for positions in bins:
        assert len({some[position].partition for position in positions}) == 1
        assert len(positions) == 1 or sum(some[position].size for position in positions) <= 100
    assert all(file.hidden <= 0.05 or file.position in chosen for file in some)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1048576", 2**20),
        ("100mb", 100 * 2**20),
        ("2GB", 2**31),
        ("5k", 5 * 1024),
        ("7b", 7),
        ("1tb", 2**40),
        ("", 2**28),
        ("0", 2**28),
        ("5kk", 2**28),
    ],
)
def test_the_wished_size_is_a_property(text: str, size: int) -> None:
    metadata = msgspec.structs.replace(
        attempts.table().metadata, configuration={bin_packing.TARGET_FILE_SIZE: text}
    )

    assert bin_packing.target_file_size(metadata) == size
