"""A log with a damaged byte anywhere gives its rows or an error with a name, never a foreign one."""

from random import Random
from uuid import UUID

import pytest

from headgate.errors import HeadgateError
from headgate.protocol.actions import Protocol, Version
from headgate.protocol.log import deletion_vectors, file_names
from headgate.protocol.log.deletion_vectors import DeletedRows
from headgate.storage.store import Store
from tests.support.checkpointed import V2, V2_PROTOCOL, table
from tests.support.commits import PROTOCOL, add, remove
from tests.support.tables import open_filesystem

FLIPS = 40
PATHS = ["b", "c", "d"]
HINTS = ("crc", "_last_checkpoint")
"""Files that only tell where to look, or what to expect: rows are right whatever they say."""


def log(*, v2: bool, commits: bool) -> Store:
    """A table of three files with a checkpoint, with the commits before it or without."""
    features: Protocol = V2_PROTOCOL if v2 else PROTOCOL
    opened = table([add("a"), add("b")], [remove("a"), add("c")], features=features, **(V2 if v2 else {}))
    opened.checkpoint()
    store = opened.store
    if not commits:
        for version in range(3):
            store.delete(file_names.published_path(Version(version)))
    store.put(file_names.published_path(Version(3)),
              b'{"commitInfo":{}}\n{"add":{"path":"d","partitionValues":{},'
              b'"size":1,"modificationTime":1,"dataChange":true}}\n')  # fmt: skip
    return store


def files(store: Store) -> list[str]:
    return [meta.path for meta in store.list_from(file_names.LOG_FOLDER)]


def read(store: Store) -> list[str]:
    return sorted(open_filesystem("", store=store).snapshot().files.columns["path"].to_pylist())


def _body(path: str, content: bytes) -> int:
    """Where the footer of a parquet file begins: of some that are damaged Arrow ends the process."""
    if not path.endswith(".parquet"):
        return len(content)
    return len(content) - 8 - int.from_bytes(content[-8:-4], "little")


@pytest.mark.parametrize("v2", [False, True], ids=["classic", "v2"])
@pytest.mark.parametrize("commits", [False, True], ids=["checkpoint only", "with commits"])
def test_a_damaged_byte_of_a_log_is_named_or_harmless(v2: bool, commits: bool) -> None:
    whole = log(v2=v2, commits=commits)
    assert read(whole) == PATHS
    for path in files(whole):
        random, content = Random(path), whole.read(path)
        for _ in range(FLIPS):
            damaged = bytearray(content)
            damaged[random.randrange(_body(path, content))] ^= 1 << random.randrange(8)
            whole.put(path, bytes(damaged))
            try:
                found = read(whole)
                open_filesystem("", store=whole).check("t", data=False)
            except HeadgateError:
                assert not path.endswith(HINTS), path
            else:
                assert found == PATHS or not path.endswith(HINTS)
        whole.put(path, content)


@pytest.mark.parametrize("cut", [0, 1, 4, 40])
def test_a_file_of_a_log_that_was_cut_short_is_named_or_harmless(cut: int) -> None:
    whole = log(v2=True, commits=False)
    for path in files(whole):
        content = whole.read(path)
        whole.put(path, content[:cut])
        try:
            assert read(whole) == PATHS or not path.endswith(HINTS)
        except HeadgateError:
            assert not path.endswith(HINTS)
        whole.put(path, content)


def test_a_damaged_byte_of_a_stored_vector_is_named_or_harmless() -> None:
    rows, random = DeletedRows.from_rows(range(0, 5_000, 7)), Random(1)
    content, (vector,) = deletion_vectors.encode_file([rows], UUID(int=7))
    for _ in range(5 * FLIPS):
        damaged = bytearray(content)
        damaged[random.randrange(len(damaged))] ^= 1 << random.randrange(8)
        try:
            found = deletion_vectors.parse_stored(vector, bytes(damaged))
        except HeadgateError:
            continue
        assert found == rows
