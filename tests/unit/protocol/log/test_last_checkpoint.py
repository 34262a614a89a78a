"""The pointer to the last checkpoint: what it says, and the checksum of it."""

import msgspec
import pytest

from headgate.protocol.actions import EpochMillis, Version
from headgate.protocol.log import file_names, last_checkpoint
from headgate.protocol.log.last_checkpoint import LastCheckpoint, V2Checkpoint
from headgate.table.read import log_reader
from tests.support.faulty_store import DictStore


def pointer(v2: V2Checkpoint | None = None) -> LastCheckpoint:
    return LastCheckpoint(version=Version(3), size=6, size_in_bytes=70, num_of_add_files=2, v2_checkpoint=v2)


def test_the_pointer_has_the_names_of_the_specification() -> None:
    plain = msgspec.json.decode(last_checkpoint.render(pointer()))

    assert plain.pop("checksum") == last_checkpoint.checksum(plain)
    assert plain == {"version": 3, "size": 6, "sizeInBytes": 70, "numOfAddFiles": 2}


def test_a_checkpoint_whose_name_cannot_be_guessed_is_named() -> None:
    file = V2Checkpoint(path="a.parquet", size_in_bytes=7, modification_time=EpochMillis(8))

    plain = msgspec.json.decode(last_checkpoint.render(pointer(file)))

    assert plain["v2Checkpoint"] == {"path": "a.parquet", "sizeInBytes": 7, "modificationTime": 8}


def test_the_canonical_form_is_sorted_quoted_and_without_the_checksum() -> None:
    content = {"b": [True, None], "checksum": "x", "a": {"é/": "v 1", "c": 1.5}}

    assert last_checkpoint.canonical_form(content) == (
        '"a"+"%C3%A9%2F"="v%201","a"+"c"=1.5,"b"+0=true,"b"+1=null'
    )


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"null",
        b'{"version":"4"}',
        b"\xff",
        b'{"version":4,"more":' + b"[" * 9_999 + b"]" * 9_999 + b"}",
    ],
)
def test_what_says_nothing_sensible_says_nothing(content: bytes) -> None:
    store = DictStore()
    assert log_reader.last_checkpoint_version(store) is None
    store.put(file_names.LAST_CHECKPOINT, content)

    assert log_reader.last_checkpoint_version(store) is None
