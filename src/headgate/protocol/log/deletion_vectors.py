"""Which rows of a data file are deleted: a deletion vector, from its descriptor to a bitmap and back.

A vector is a set of row indexes. It lies in the log itself, as base85 text, or in a file that
several vectors share, each with its size in front and its checksum behind.

Rows 1, 3 and 64 of a file, as an add of it says them inline, and the bitmap in words of 64 rows:

    "deletionVector":{"storageType":"i","pathOrInlineDv":"^Bg9^0rr910000000000iXQKl0rr91000625c8Xg0rri4kMy=:",
                      "sizeInBytes":38,"cardinality":3}
    words   [0b1010, 0b1]

``{"storageType":"u","pathOrInlineDv":"ab^-aqEH.-t@S}K{vb[*k^","offset":4,…}`` is what begins at byte 4 of
``ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin``: a prefix, and a uuid in 20 characters.
"""

import re
import struct
import zlib
from array import array
from base64 import b85decode, b85encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote
from uuid import UUID

import msgspec
import numpy as np
from pyroaring import BitMap, BitMap64, FrozenBitMap64

from headgate.errors import CorruptLog
from headgate.protocol import relative_paths
from headgate.protocol.actions import DeletionVector

_FILE_VERSION = 1
_PORTABLE = 1681511377
_NATIVE = 1681511376
_UUID_CHARS = 20
_FILE_NAME = re.compile(r"[^/]*deletion_vector_[^/.]+\.bin")
_MAX_ROW = 1 << 63
_MAX_CARDINALITY = 2_000_000_000
"""Spark takes no bitmap of many more, and no writer makes such files."""
_Z85 = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
_B85 = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
_TO_B85, _TO_Z85 = bytes.maketrans(_Z85, _B85), bytes.maketrans(_B85, _Z85)


@dataclass(frozen=True, slots=True)
class InlineVector:
    """The vector's bytes, out of the log."""

    data: bytes


@dataclass(frozen=True, slots=True)
class StoredVector:
    """The file that holds the vector, and where in it.

    ``path`` is a plain path under the table's location, or, if ``absolute``, a path or URI as the
    ``path`` of an add may be.
    """

    path: str
    offset: int
    absolute: bool


@dataclass(frozen=True, slots=True)
class DeletedRows:
    """The indexes of a file's deleted rows, counted from zero."""

    rows: FrozenBitMap64

    @classmethod
    def from_rows(cls, rows: Iterable[int]) -> "DeletedRows":
        """These rows."""
        return cls(FrozenBitMap64(rows))

    @property
    def cardinality(self) -> int:
        return len(self.rows)

    def covers_file(self, count: int | None) -> bool:
        """Whether they are every row of a file of ``count`` rows; never, if nobody knows how many it has."""
        return self.cardinality == count and (count == 0 or self.rows.max() == count - 1)

    def words(self, count: int | None = None) -> "array[int]":
        """The bitmap of ``count`` rows as signed 64-bit words: row r is bit ``r % 64`` of word ``r // 64``.

        Without ``count`` the words end with the last deleted row. A vector that deletes rows a
        file of ``count`` rows does not have, or that no file has, is a ``CorruptLog``.
        """
        needed = self.rows.max() + 1 if self.cardinality else 0
        if needed > _MAX_CARDINALITY:
            raise _corrupt(
                f"a deletion vector deletes row {needed - 1}, and no data file has so many rows: have its "
                "writer rewrite the file",
                "DELTA_DELETION_VECTOR_INVALID_ROW_INDEX",
            )
        if count is not None and needed > count:
            raise _corrupt(
                f"a deletion vector deletes row {needed - 1} of a data file with {count} rows",
                "DELTA_DELETION_VECTOR_INVALID_ROW_INDEX",
            )
        packed = np.zeros(-(-(needed if count is None else count) // 64), np.uint64)
        if needed:
            rows = np.frombuffer(self.rows.to_array(), np.uint64)
            places, bits = rows >> np.uint64(6), np.uint64(1) << (rows & np.uint64(63))
            # Rows are in order, so those of a word are side by side.
            firsts = np.flatnonzero(np.diff(places, prepend=places[:1] + np.uint64(1)))
            packed[places[firsts]] = np.bitwise_or.reduceat(bits, firsts)
        return array("q", packed.tobytes())


def vector_location(vector: DeletionVector) -> InlineVector | StoredVector:
    """Where the bytes of the vector are."""
    text = vector.path_or_inline_dv
    # Nothing can lie on the version byte, so a missing or zero offset means the first vector.
    offset = vector.offset or 1
    match vector.storage_type:
        case "i":
            return InlineVector(_inline_bytes(vector))
        case "u":
            prefix, encoded = text[:-_UUID_CHARS], text[-_UUID_CHARS:]
            relative_paths.check_inside_table((quote(prefix),))
            name = f"deletion_vector_{_uuid(encoded)}.bin"
            return StoredVector(f"{prefix}/{name}" if prefix else name, offset, absolute=False)
        case "p":
            return StoredVector(text, offset, absolute=True)
        case other:
            raise _corrupt(
                f"a deletion vector has the storage type {other!r}; the protocol knows 'i', 'u' and 'p'"
            )


def is_vector_file(path: str) -> bool:
    """Whether a path of the log is that of a file of deletion vectors.

    Whoever takes the feature from a table may remove such files by actions of their own, so that clients
    that do not know vectors clean them up.
    """
    return _FILE_NAME.fullmatch(unquote(path).rpartition("/")[2]) is not None


def parse_inline(vector: DeletionVector) -> DeletedRows:
    """The rows of a vector that lies in the log."""
    return _check_cardinality(
        _parse_bitmap(_inline_bytes(vector), "the inline deletion vector"), vector, "the inline vector"
    )


def parse_stored(vector: DeletionVector, content: bytes) -> DeletedRows:
    """The rows of a vector, out of the whole ``content`` of its file."""
    place = vector_location(vector)
    if not isinstance(place, StoredVector):
        raise _corrupt("an inline deletion vector has no file")
    label = f"the deletion vector at byte {place.offset} of {place.path}"
    if content[:1] != bytes([_FILE_VERSION]):
        found = f"version {content[0]}" if content else "empty"
        raise _corrupt(f"the deletion vector file {place.path} is {found}, not version {_FILE_VERSION}")
    if place.offset < 1 or vector.size_in_bytes < 0:
        raise _corrupt(f"{label} cannot have {vector.size_in_bytes} bytes there")
    start, end = place.offset + 4, place.offset + 4 + vector.size_in_bytes
    if len(content) < end + 4:
        raise _corrupt(
            f"{label} should end at byte {end + 4}, but the file ends at byte {len(content)}",
            "DELTA_DELETION_VECTOR_SIZE_MISMATCH",
        )
    (size,) = struct.unpack_from(">I", content, place.offset)
    if size != vector.size_in_bytes:
        raise _corrupt(
            f"{label} says it has {size} bytes, the log says {vector.size_in_bytes}",
            "DELTA_DELETION_VECTOR_SIZE_MISMATCH",
        )
    data, (expected,) = content[start:end], struct.unpack_from(">I", content, end)
    if (found_sum := zlib.crc32(data)) != expected:
        raise _corrupt(
            f"{label} has the checksum {found_sum:08x}, not {expected:08x} as written beside it",
            "DELTA_DELETION_VECTOR_CHECKSUM_MISMATCH",
        )
    return _check_cardinality(_parse_bitmap(data, label), vector, label)


def encode_inline(deleted: DeletedRows) -> DeletionVector:
    """The descriptor that carries these rows in the log."""
    data = _serialize(deleted)
    return DeletionVector(
        storage_type="i",
        path_or_inline_dv=_z85_encode(data),
        size_in_bytes=len(data),
        cardinality=deleted.cardinality,
    )


def encode_file(
    vectors: Sequence[DeletedRows], file_id: UUID, *, prefix: str = ""
) -> tuple[bytes, tuple[DeletionVector, ...]]:
    """The content of a file with these vectors, and their descriptors; its path is that of ``where``."""
    content, descriptors = bytearray([_FILE_VERSION]), []
    for deleted in vectors:
        data = _serialize(deleted)
        descriptors.append(
            DeletionVector(
                storage_type="u",
                path_or_inline_dv=prefix + _z85_encode(file_id.bytes),
                offset=len(content),
                size_in_bytes=len(data),
                cardinality=deleted.cardinality,
            )
        )
        content += struct.pack(">I", len(data)) + data + struct.pack(">I", zlib.crc32(data))
    return bytes(content), tuple(descriptors)


def with_file_id(vector: DeletionVector, file_id: UUID) -> DeletionVector:
    """The descriptor of a vector whose file was copied, whole, to that of ``file_id`` in a table."""
    return msgspec.structs.replace(vector, storage_type="u", path_or_inline_dv=_z85_encode(file_id.bytes))


def with_absolute_path(vector: DeletionVector, path: str) -> DeletionVector:
    """The descriptor of a vector by the absolute ``path`` of its file."""
    return msgspec.structs.replace(vector, storage_type="p", path_or_inline_dv=path)


def _check_cardinality(rows: FrozenBitMap64, vector: DeletionVector, label: str) -> DeletedRows:
    deleted = DeletedRows(rows)
    if deleted.cardinality != vector.cardinality:
        raise _corrupt(
            f"{label} deletes {deleted.cardinality} rows, the log says {vector.cardinality}",
            "DELTA_DELETION_VECTOR_CARDINALITY_MISMATCH",
        )
    # spec: deletion-vector-format, the most significant bit of every key is 0
    if deleted.cardinality and rows.max() >= _MAX_ROW:
        raise _corrupt(
            f"{label} deletes row {rows.max()}, beyond what a file can have",
            "DELTA_DELETION_VECTOR_INVALID_ROW_INDEX",
        )
    return deleted


def _parse_bitmap(data: bytes, label: str) -> FrozenBitMap64:
    magic = int.from_bytes(data[:4], "little")
    try:
        if magic == _PORTABLE:
            return FrozenBitMap64.deserialize(data[4:])
        # The older form, little-endian as Spark can read it or big-endian as in the protocol's example.
        if magic == _NATIVE:
            return _parse_native_bitmap(data, "<")
        if int.from_bytes(data[:4], "big") == _NATIVE:
            return _parse_native_bitmap(data, ">")
    except (ValueError, IndexError, struct.error) as exc:
        raise _corrupt(f"{label} holds no roaring bitmap: {exc}") from exc
    raise _corrupt(f"{label} begins with {magic}, not with the magic number {_PORTABLE}")


def _parse_native_bitmap(data: bytes, order: str) -> FrozenBitMap64:
    (count,) = struct.unpack_from(f"{order}I", data, 4)
    rows, at = BitMap64(), 8
    for key in range(count):
        (size,) = struct.unpack_from(f"{order}I", data, at)
        bucket = BitMap.deserialize(data[at + 4 : at + 4 + size])
        rows.update((key << 32) + low for low in bucket)
        at += 4 + size
    return FrozenBitMap64(rows)


def _serialize(deleted: DeletedRows) -> bytes:
    rows = BitMap64(deleted.rows)
    rows.run_optimize()
    return struct.pack("<I", _PORTABLE) + bytes(rows.serialize())


def _inline_bytes(vector: DeletionVector) -> bytes:
    data = _z85_decode(vector.path_or_inline_dv, "the inline deletion vector")
    if not 0 <= len(data) - vector.size_in_bytes < 4:
        raise _corrupt(
            f"the inline deletion vector has {len(data)} bytes, its size is {vector.size_in_bytes}",
            "DELTA_DELETION_VECTOR_SIZE_MISMATCH",
        )
    return data[: vector.size_in_bytes]


def _uuid(encoded: str) -> UUID:
    data = _z85_decode(encoded, "the name of a deletion vector file")
    if len(data) != 16:
        raise _corrupt(f"{encoded!r} names no deletion vector file: it encodes {len(data)} bytes, not 16")
    return UUID(bytes=data)


def _z85_encode(data: bytes) -> str:
    padded = data + bytes(-len(data) % 4)
    return b85encode(padded).translate(_TO_Z85).decode()


def _z85_decode(text: str, label: str) -> bytes:
    raw = text.encode(errors="surrogatepass")  # what is no text at all is refused below
    if len(raw) % 5 or raw.translate(None, _Z85):
        raise _corrupt(f"{label} is not base85 as the protocol writes it: {text!r}")
    whole, tail = raw, b""
    # Some writers fill the last block with '#' in front, which no whole block can begin with,
    # instead of filling the bytes with zeros; n characters of it then stand for n - 1 bytes.
    if raw[-5:].startswith(b"#"):
        whole, tail = raw[:-5], raw[-5:].lstrip(b"#")
    try:
        return b85decode(whole.translate(_TO_B85)) + _tail_bytes(tail)
    except (ValueError, OverflowError) as exc:  # characters can name more than their bytes hold
        raise _corrupt(f"{label} is not base85 as the protocol writes it: {exc}") from exc


def _tail_bytes(tail: bytes) -> bytes:
    value = 0
    for character in tail:
        value = value * 85 + _Z85.index(character)
    return value.to_bytes(max(len(tail) - 1, 0), "big")


def _corrupt(message: str, code: str = "DELTA_STATE_RECOVER_ERROR") -> CorruptLog:
    return CorruptLog(message, code=code)
