"""Of a long log only what is shortly before an old version is listed, unless that does not suffice."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from headgate.errors import CorruptLog, HeadgateError, VersionNotFound
from headgate.protocol.actions import Version
from headgate.protocol.log import codec, file_names
from headgate.storage.locate import locate
from headgate.storage.store import ObjectMeta
from headgate.table.read import log_reader
from tests.support.commits import PROTOCOL, add, metadata
from tests.support.delegating_store import DelegatingStore
from tests.support.tables import open_filesystem
from tests.support.versions import Managed, managed, paths, write_checkpoint

VERSIONS, LOOKED_BACK = 24, 5


class ListingStore(DelegatingStore):
    """Remembers which objects were listed."""

    def __init__(self, location: str) -> None:
        super().__init__(locate(location))
        self.listed: list[str] = []

    def list_from(self, prefix: str, *, after: str | None = None) -> Iterator[ObjectMeta]:
        for found in super().list_from(prefix, after=after):
            self.listed.append(found.path)
            yield found


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Managed:
    """All versions are published; versions 9 and 20 have checkpoints."""
    monkeypatch.setattr(log_reader, "_LOOKED_BACK", LOOKED_BACK)
    made = managed(tmp_path, VERSIONS, published=VERSIONS)
    for version in (9, 20):
        write_checkpoint(made.location, made.opened(), version)
    return made


def expected(version: int) -> list[str]:
    return sorted(str(number) for number in range(1, version + 1))


@pytest.mark.parametrize("version", [0, 3, 9, 12, 14])
def test_what_is_shortly_before_an_old_version_suffices(table: Managed, version: int) -> None:
    store = ListingStore(table.location)

    found = table.opened(store=store).snapshot(version=version)

    assert sorted(found.files.columns["path"].to_pylist()) == expected(version)
    # A file of each version, the checkpoint, and the one at which the listing ends.
    assert 0 < len(store.listed) <= LOOKED_BACK + 3


def test_every_version_is_what_it_is_by_the_whole_log(table: Managed) -> None:
    for version in range(VERSIONS + 1):
        assert paths(table.opened(), version) == expected(version)


def test_the_whole_log_is_listed_if_no_checkpoint_is_near(table: Managed) -> None:
    store = ListingStore(table.location)

    assert paths(table.opened(store=store), 18) == expected(18)
    assert len(store.listed) > VERSIONS


def test_an_old_version_of_a_table_by_its_path_is_found_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_reader, "_LOOKED_BACK", LOOKED_BACK)
    store = locate(str(tmp_path))
    store.put(file_names.published_path(Version(0)), codec.encode((PROTOCOL, metadata())))
    for number in range(1, VERSIONS + 1):
        store.put(file_names.published_path(Version(number)), codec.encode((add(str(number)),)))
    for version in (9, 20):
        write_checkpoint(tmp_path, open_filesystem(str(tmp_path)), version)

    for version in range(VERSIONS + 1):
        assert paths(open_filesystem(str(tmp_path)), version) == expected(version)


@pytest.mark.parametrize(
    ("gone", "version", "error", "text"),
    [
        (range(9), 4, VersionNotFound, "cleaned up to version 9"),
        (range(11, 12), 13, CorruptLog, "version 11 is missing"),
        (range(16, 17), 18, CorruptLog, "version 16 is missing"),
    ],
    ids=["cleaned up", "missing", "missing, far from a checkpoint"],
)
def test_what_cannot_be_read_is_told_by_the_whole_log(
    table: Managed, gone: range, version: int, error: type[HeadgateError], text: str
) -> None:
    for number in gone:
        locate(table.location).delete(file_names.published_path(Version(number)))

    with pytest.raises(error, match=text):
        table.opened().snapshot(version=version)
