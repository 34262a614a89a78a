"""Many writers and readers on one table of a coordinator, each with a memory of its own."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from headgate.catalog.coordinator.ledger import MemoryLedger
from headgate.catalog.coordinator.ledger_coordinator import LedgerCoordinator
from headgate.clock import SystemWorld
from headgate.errors import ConflictError
from headgate.protocol.actions import Version
from headgate.protocol.log import codec, file_names
from headgate.storage.locate import locate
from headgate.table.alter import coordination
from tests.support import owned
from tests.support.faulty_store import DictStore
from tests.support.owned import CONF, NAME, Place, append
from tests.support.tables import create_filesystem
from tests.support.versions import paths

WRITERS = COMMITS = 11


@pytest.mark.parametrize("batch", [2])
def test_eleven_writers_of_eleven_commits_lose_and_double_nothing(tmp_path: Path, batch: int) -> None:
    """S062"""
    store = locate(str(tmp_path / "table"))
    place = Place(store, SystemWorld(), {}, str(tmp_path / "table"))
    place.owners[NAME] = owned.owner("database", tmp_path, batch=batch)
    create_filesystem(store)
    coordination.coordinate(place.opened(), place.find, NAME, CONF)
    done, seen = threading.Event(), [0]

    def write(number: int) -> list[int]:
        own = {NAME: owned.owner("database", tmp_path, batch=batch)}
        table = place.opened(owners=own)
        return append(table, [f"{number}-{commit}" for commit in range(COMMITS)])

    def read() -> None:
        while not done.is_set():
            fresh = place.opened().snapshot()
            assert fresh.version >= seen[-1]
            assert fresh.files.columns.num_rows == fresh.version - 1  # contiguous: one file a version
            published = place.published()
            assert published == list(range(len(published)))
            seen.append(fresh.version)

    with ThreadPoolExecutor(WRITERS + 1) as pool:
        reading = pool.submit(read)
        versions = [version for found in pool.map(write, range(WRITERS)) for version in found]
        done.set()
        reading.result()

    last = WRITERS * COMMITS + 1
    assert sorted(versions) == list(range(2, last + 1))
    assert len(set(paths(place.opened()))) == WRITERS * COMMITS
    assert place.opened().publish() == last
    ids = [
        codec.decode(Version(version), store.read(file_names.published_path(Version(version)))).info.txn_id  # type: ignore[union-attr]
        for version in range(last + 1)
    ]
    assert len(set(ids)) == last + 1


@pytest.mark.parametrize("batch", [1, 3])
def test_a_table_that_changes_hands_under_load_loses_and_doubles_nothing(batch: int) -> None:
    """S130, W11: two owners take turns while others write and read; a lost race is run again."""
    place = Place(DictStore(SystemWorld().now_ms()), SystemWorld())
    for name in ("one", "two"):
        place.owners[name] = LedgerCoordinator(MemoryLedger(), batch)
    create_filesystem(place.store)
    done = threading.Event()

    def again(operation: Callable[[], object]) -> None:
        for _ in range(10_000):
            with suppress(ConflictError):
                operation()
                return
        raise AssertionError("never succeeded")

    def write(number: int) -> None:
        table = place.opened()
        for commit in range(25):
            again(lambda file=f"{number}-{commit}": append(table, [file]))  # type: ignore[misc]

    def change_hands() -> None:
        table = place.opened()
        for turn in range(6):
            name = ("one", "two")[turn % 2]
            again(lambda owner=name: coordination.coordinate(table, place.find, owner, {}))  # type: ignore[misc]
            again(lambda: coordination.uncoordinate(table))

    def read() -> None:
        table, seen = place.opened(), 0
        while not done.is_set():
            for reader in (table, place.opened()):
                found = reader.snapshot()
                assert found.version >= seen
                seen = found.version
            published = place.published()
            assert published == list(range(len(published)))

    with ThreadPoolExecutor(6) as pool:
        reading = pool.submit(read)
        working = [pool.submit(change_hands), *(pool.submit(write, number) for number in range(4))]
        try:
            for work in working:
                work.result()
        finally:
            done.set()
        reading.result()

    table = place.opened()
    assert sorted(paths(table)) == sorted(f"{number}-{commit}" for number in range(4) for commit in range(25))
    assert table.publish() == 4 * 25 + 6 * 2
    assert len(table.history()) == 4 * 25 + 6 * 2 + 1
