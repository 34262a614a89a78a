"""Deletion vectors: bytes to rows and back, and what happens to damaged bytes."""

import struct
from collections.abc import Iterable
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap

from headgate.errors import CorruptLog
from headgate.protocol.actions import DeletionVector
from headgate.protocol.log import deletion_vectors
from headgate.protocol.log.deletion_vectors import DeletedRows, InlineVector, StoredVector
from tests.support import corpora

FILE = UUID("d2c639aa-8816-431a-aaf6-d3fe2512ff61")
NAME = f"deletion_vector_{FILE}.bin"
ROWS = [3, 4, 7, 11, 18, 29]
IN_THE_LOG = DeletionVector(
    storage_type="i",
    path_or_inline_dv="wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L",
    size_in_bytes=40,
    cardinality=6,
)
row_sets = st.one_of(
    st.sets(st.integers(0, 200)),
    st.sets(st.integers(0, 2**40)),
    st.tuples(st.integers(0, 2**20), st.integers(1, 70_000)).map(lambda run: set(range(run[0], sum(run)))),
)


def descriptor(storage: str, text: str, *, offset: int | None = 4) -> DeletionVector:
    return DeletionVector(
        storage_type=storage, path_or_inline_dv=text, offset=offset, size_in_bytes=40, cardinality=6
    )


def one_file(rows: Iterable[int]) -> tuple[bytes, DeletionVector]:
    content, (vector,) = deletion_vectors.encode_file([DeletedRows.from_rows(rows)], FILE)
    return content, vector


def changed(vector: DeletionVector, **fields: object) -> DeletionVector:
    values = {name: getattr(vector, name) for name in vector.__struct_fields__}
    return DeletionVector(**{**values, **fields})


def test_the_inline_example_of_the_protocol_is_read() -> None:
    assert list(deletion_vectors.parse_inline(IN_THE_LOG).rows) == ROWS


def test_a_last_block_filled_from_the_front_is_read() -> None:
    text = "^Bg9^0rr910000000000iXQKl0rr91000005c8Xg##093"
    vector = DeletionVector(storage_type="i", path_or_inline_dv=text, size_in_bytes=34, cardinality=1)

    assert list(deletion_vectors.parse_inline(vector).rows) == [3]


def test_a_relative_vector_is_in_a_file_named_by_its_uuid() -> None:
    assert deletion_vectors.vector_location(descriptor("u", "ab^-aqEH.-t@S}K{vb[*k^")) == StoredVector(
        f"ab/{NAME}", 4, absolute=False
    )
    assert deletion_vectors.vector_location(descriptor("u", "^-aqEH.-t@S}K{vb[*k^")) == StoredVector(
        NAME, 4, absolute=False
    )


def test_a_vector_without_an_offset_is_the_first_of_its_file() -> None:
    content, vector = one_file(ROWS)

    found = deletion_vectors.parse_stored(changed(vector, offset=None), content)

    assert list(found.rows) == ROWS


def test_an_unknown_storage_type_is_refused() -> None:
    with pytest.raises(CorruptLog, match="storage type 'x'"):
        deletion_vectors.vector_location(descriptor("x", "whatever"))


@given(row_sets)
def test_rows_survive_the_log(rows: set[int]) -> None:
    vector = deletion_vectors.encode_inline(DeletedRows.from_rows(rows))

    assert isinstance(deletion_vectors.vector_location(vector), InlineVector)
    assert list(deletion_vectors.parse_inline(vector).rows) == sorted(rows)


@given(st.lists(row_sets, max_size=4), st.sampled_from(["", "ab"]))
def test_rows_survive_a_file_shared_by_several_vectors(sets: list[set[int]], prefix: str) -> None:
    content, found = deletion_vectors.encode_file(
        [DeletedRows.from_rows(rows) for rows in sets], FILE, prefix=prefix
    )

    assert [set(deletion_vectors.parse_stored(vector, content).rows) for vector in found] == sets
    assert {deletion_vectors.vector_location(vector).path for vector in found} <= {
        f"{prefix}/{NAME}" if prefix else NAME
    }


@pytest.mark.parametrize("order", ["<", ">"])
def test_the_older_form_is_read_in_either_byte_order(order: str) -> None:
    buckets = [bytes(BitMap(rows).serialize()) for rows in (ROWS, [], [5])]
    data = struct.pack(f"{order}II", 1681511376, len(buckets))
    data += b"".join(struct.pack(f"{order}I", len(bucket)) + bucket for bucket in buckets)

    vector = DeletionVector(
        storage_type="i",
        path_or_inline_dv=deletion_vectors._z85_encode(data),
        size_in_bytes=len(data),
        cardinality=7,
    )

    assert list(deletion_vectors.parse_inline(vector).rows) == [*ROWS, (2 << 32) + 5]


@given(st.sets(st.integers(0, 1000)), st.integers(0, 200))
def test_words_are_the_bits_spark_looks_up(rows: set[int], beyond: int) -> None:
    count = max(rows, default=-1) + 1 + beyond

    words = DeletedRows.from_rows(rows).words(count)

    assert len(words) == -(-count // 64)
    assert {row for row in range(len(words) * 64) if words[row // 64] >> (row % 64) & 1} == rows


def test_words_without_a_count_end_with_the_last_deleted_row() -> None:
    assert list(DeletedRows.from_rows([0, 63, 64]).words()) == [1 - (1 << 63), 1]
    assert list(DeletedRows.from_rows([]).words()) == []


def test_a_vector_that_deletes_rows_the_file_does_not_have_is_refused() -> None:
    with pytest.raises(CorruptLog, match="deletes row 29 of a data file with 29 rows") as raised:
        DeletedRows.from_rows(ROWS).words(29)

    assert raised.value.code == "DELTA_DELETION_VECTOR_INVALID_ROW_INDEX"


def test_the_last_row_that_a_file_may_have_can_be_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deletion_vectors, "_MAX_CARDINALITY", 100)

    assert len(DeletedRows.from_rows([99]).words()) == 2
    with pytest.raises(CorruptLog, match="deletes row 100"):
        DeletedRows.from_rows([100]).words()


@pytest.mark.parametrize("count", [None, 1 << 62])
@pytest.mark.parametrize("row", [2_000_000_000, 1 << 33, 1 << 62])
def test_a_vector_that_deletes_rows_no_file_has_is_refused_before_it_fills_the_memory(
    row: int, count: int | None
) -> None:
    with pytest.raises(CorruptLog, match=f"deletes row {row}, and no data file has so many rows") as raised:
        DeletedRows.from_rows([1, row]).words(count)

    assert raised.value.code == "DELTA_DELETION_VECTOR_INVALID_ROW_INDEX"


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"cardinality": 7}, f"of {NAME} deletes 6 rows, the log says 7"),
        ({"size_in_bytes": 12}, "the log says 12"),
        ({"size_in_bytes": 4000}, "but the file ends at byte"),
        ({"size_in_bytes": -1}, "cannot have -1 bytes"),
        ({"offset": -3}, "at byte -3"),
        ({"offset": 2}, "but the file ends at byte"),
    ],
    ids=lambda value: "" if isinstance(value, str) else str(value),
)
def test_a_descriptor_that_does_not_fit_its_file_is_refused(fields: dict[str, int], says: str) -> None:
    content, vector = one_file(ROWS)

    with pytest.raises(CorruptLog, match=says):
        deletion_vectors.parse_stored(changed(vector, **fields), content)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"cardinality": 7}, "DELTA_DELETION_VECTOR_CARDINALITY_MISMATCH"),
        ({"size_in_bytes": 12}, "DELTA_DELETION_VECTOR_SIZE_MISMATCH"),
        ({"size_in_bytes": 4000}, "DELTA_DELETION_VECTOR_SIZE_MISMATCH"),
        ({"offset": -3}, "DELTA_STATE_RECOVER_ERROR"),
    ],
)
def test_each_kind_of_damage_has_its_code(fields: dict[str, int], code: str) -> None:
    content, vector = one_file(ROWS)

    with pytest.raises(CorruptLog) as raised:
        deletion_vectors.parse_stored(changed(vector, **fields), content)

    assert raised.value.code == code


def test_bytes_that_are_not_those_of_the_checksum_are_refused() -> None:
    content, vector = one_file(ROWS)

    with pytest.raises(CorruptLog, match="checksum") as raised:
        deletion_vectors.parse_stored(vector, content[:-1] + bytes([content[-1] ^ 1]))

    assert raised.value.code == "DELTA_DELETION_VECTOR_CHECKSUM_MISMATCH"


def test_a_vector_keeps_its_place_in_a_file_that_is_copied_or_named_by_its_path() -> None:
    content, (_, vector) = deletion_vectors.encode_file(
        [DeletedRows.from_rows([1]), DeletedRows.from_rows(ROWS)], UUID(int=7)
    )

    moved, absolute = (
        deletion_vectors.with_file_id(vector, FILE),
        deletion_vectors.with_absolute_path(vector, "s3://b/v.bin"),
    )

    assert deletion_vectors.vector_location(moved) == StoredVector(NAME, vector.offset or 0, absolute=False)
    assert deletion_vectors.vector_location(absolute) == StoredVector(
        "s3://b/v.bin", vector.offset or 0, absolute=True
    )
    assert deletion_vectors.with_file_id(absolute, FILE) == moved
    for found in (moved, absolute):
        assert list(deletion_vectors.parse_stored(found, content).rows) == ROWS


def test_a_file_of_another_version_is_refused() -> None:
    content, vector = one_file(ROWS)

    with pytest.raises(CorruptLog, match=f"{NAME} is version 2, not version 1"):
        deletion_vectors.parse_stored(vector, b"\x02" + content[1:])
    with pytest.raises(CorruptLog, match="is empty, not version 1"):
        deletion_vectors.parse_stored(vector, b"")


@given(st.data())
def test_no_damage_to_a_file_goes_unnoticed(data: st.DataObject) -> None:
    content, vector = one_file(data.draw(row_sets))
    at = data.draw(st.integers(0, len(content) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda value: value != content[at]))

    with pytest.raises(CorruptLog):
        deletion_vectors.parse_stored(vector, content[:at] + bytes([byte]) + content[at + 1 :])
    with pytest.raises(CorruptLog):
        deletion_vectors.parse_stored(vector, content[:at])


@given(st.data())
def test_damage_in_the_log_is_refused_or_harmless_but_never_a_crash(data: st.DataObject) -> None:
    vector = deletion_vectors.encode_inline(DeletedRows.from_rows(data.draw(row_sets)))
    text = vector.path_or_inline_dv
    at = data.draw(st.integers(0, len(text) - 1))
    damaged = text[:at] + data.draw(st.characters()) + text[at + 1 :]

    try:
        found = deletion_vectors.parse_inline(changed(vector, path_or_inline_dv=damaged))
    except CorruptLog:
        return

    assert found.cardinality == vector.cardinality


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("0000", "not base85"),
        ("0000`", "not base85"),
        ("%nSc1", "not base85"),
        ("\ud80000", "not base85"),
        ("#ZZZZ", "not base85"),
        ("#####", "0 bytes, its size is 4"),
        ("00000", "begins with 0"),
        ("", "0 bytes, its size is 4"),
    ],
)
def test_text_that_encodes_no_vector_is_refused(text: str, says: str) -> None:
    vector = DeletionVector(storage_type="i", path_or_inline_dv=text, size_in_bytes=4, cardinality=0)

    with pytest.raises(CorruptLog, match=says):
        deletion_vectors.parse_inline(vector)


def test_a_name_that_encodes_no_uuid_is_refused() -> None:
    with pytest.raises(CorruptLog, match="names no deletion vector file"):
        deletion_vectors.vector_location(descriptor("u", "00000"))


def test_a_row_beyond_what_a_file_can_have_is_refused() -> None:
    vector = deletion_vectors.encode_inline(DeletedRows.from_rows([1 << 63]))

    with pytest.raises(CorruptLog, match="beyond what a file can have"):
        deletion_vectors.parse_inline(vector)


def test_the_last_row_a_file_can_have_may_be_deleted() -> None:
    last = (1 << 63) - 1

    assert list(
        deletion_vectors.parse_inline(deletion_vectors.encode_inline(DeletedRows.from_rows([last]))).rows
    ) == [last]


@pytest.mark.parametrize("size", [35, 36, 41, 44])
def test_an_inline_vector_has_the_size_that_the_log_says(size: int) -> None:
    """Up to three bytes fill the last block."""
    with pytest.raises(CorruptLog, match="40 bytes") as raised:
        deletion_vectors.parse_inline(changed(IN_THE_LOG, size_in_bytes=size))

    assert raised.value.code == "DELTA_DELETION_VECTOR_SIZE_MISMATCH"


@pytest.mark.parametrize("rest", [b"", b"\x01"])
@pytest.mark.parametrize("magic", [1681511377, 1681511376])
def test_a_vector_that_is_cut_off_is_refused(magic: int, rest: bytes) -> None:
    data = struct.pack("<I", magic) + rest
    vector = changed(
        IN_THE_LOG,
        path_or_inline_dv=deletion_vectors._z85_encode(data),
        size_in_bytes=len(data),
        cardinality=0,
    )

    with pytest.raises(CorruptLog, match="holds no roaring bitmap"):
        deletion_vectors.parse_inline(vector)


def test_a_last_block_with_one_character_to_fill_it_is_read() -> None:
    filled = deletion_vectors._z85_encode(b"\x04\x03\x02\x01") + "#0001"

    assert deletion_vectors._z85_decode(filled, "a vector") == b"\x04\x03\x02\x01\x00\x00\x01"


def test_an_inline_vector_is_not_looked_for_in_a_file() -> None:
    with pytest.raises(CorruptLog, match="has no file"):
        deletion_vectors.parse_stored(IN_THE_LOG, b"\x01")


@corpora.needs_corpora
def test_the_vectors_of_others_are_read() -> None:
    found = [(table, vector) for table, vector in corpora.vectors_on_disk()]
    read = 0

    for table, vector in found:
        place = deletion_vectors.vector_location(vector)
        if isinstance(place, InlineVector):
            deleted = deletion_vectors.parse_inline(vector)
        elif (table.location / place.path).exists():
            deleted = deletion_vectors.parse_stored(vector, (table.location / place.path).read_bytes())
        else:
            continue
        assert deleted.cardinality == vector.cardinality
        assert sum(word.bit_count() for word in map(_unsigned, deleted.words())) == vector.cardinality
        read += 1

    assert read
    assert {table.path for table, _ in found} >= {
        "kernelrs_data/with-short-dv",
        "kernelrs_data/cdf-table-with-dv",
    }


def _unsigned(word: int) -> int:
    return word % (1 << 64)


@pytest.mark.parametrize(
    ("rows", "count", "are_all"),
    [([0, 1, 2], 3, True), ([0, 1], 3, False), ([0, 1, 2, 3], 3, False), ([0, 1, 9], 3, False),
     ([], 0, True), ([0], None, False), ([], None, False)],
)  # fmt: skip
def test_they_are_all_rows_of_a_file_only_if_none_is_missing(
    rows: list[int], count: int | None, are_all: bool
) -> None:
    assert DeletedRows.from_rows(rows).covers_file(count) is are_all
