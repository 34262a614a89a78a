"""What every store owes: each sentence of the port ``Store``, asked of every implementation."""

import errno
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from obstore.store import MemoryStore

from headgate.errors import AccessDenied, ObjectExists, ObjectNotFound, StorageUnavailable
from headgate.storage import make_folder
from headgate.storage import store as store_port
from headgate.storage.local import LocalStore
from headgate.storage.object_store import ObjectStore
from headgate.storage.store import Store
from tests.support import s3
from tests.support.faulty_store import DictStore, FaultyStore, PerfectWire
from tests.support.waiting import PATIENCE_SECONDS

KINDS = ("local", "memory", "s3", "faulty")


@pytest.fixture(scope="module")
def s3_url() -> Iterator[str]:
    with s3.server() as url:
        yield url


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    match request.param:
        case "local":
            return LocalStore(str(tmp_path / "root"))
        case "memory":
            return ObjectStore(MemoryStore())
        case "faulty":
            return FaultyStore(DictStore(), PerfectWire())
    return s3.bucket(request.getfixturevalue("s3_url"))


def test_what_was_put_is_read(store: Store) -> None:
    store.put("a/b.json", b"content")

    assert store.read("a/b.json") == b"content"


def test_an_empty_object_is_an_object(store: Store) -> None:
    store.put("empty", b"")

    assert store.read("empty") == b""
    assert store.read("empty", last=8) == b""
    assert store.head("empty").size == 0


@pytest.mark.parametrize(("last", "expected"), [(3, b"456"), (6, b"123456"), (100, b"123456"), (0, b"")])
def test_the_last_bytes_can_be_read_alone(store: Store, last: int, expected: bytes) -> None:
    store.put("numbers", b"123456")

    assert store.read("numbers", last=last) == expected


@pytest.mark.parametrize(("at", "expected"), [(range(2), b"12"), (range(2, 6), b"3456"), (range(3, 3), b"")])
def test_some_bytes_can_be_read_alone(store: Store, at: range, expected: bytes) -> None:
    store.put("numbers", b"123456")

    assert store.read("numbers", at=at) == expected


def test_reading_what_does_not_exist_says_so(store: Store) -> None:
    for path in ("absent", "absent/too", "_delta_log/00000000000000000000.json"):
        with pytest.raises(ObjectNotFound):
            store.read(path)
        with pytest.raises(ObjectNotFound):
            store.read(path, last=8)
        with pytest.raises(ObjectNotFound):
            store.read(path, at=range(1, 8))
        with pytest.raises(ObjectNotFound):
            store.head(path)


def test_put_replaces(store: Store) -> None:
    store.put("a", b"old and longer")

    store.put("a", b"new")

    assert store.read("a") == b"new"


def test_put_if_absent_creates(store: Store) -> None:
    store.put_if_absent("a/b", b"first")

    assert store.read("a/b") == b"first"


def test_a_new_object_is_there_once_it_was_put(store: Store) -> None:
    store_port.put_new(store, "a/new", b"content")

    assert store.read("a/new") == b"content"
    assert [found.path for found in store.list_from("a/")] == ["a/new"]


def test_a_local_store_puts_a_new_object_over_none_that_is_there(tmp_path: Path) -> None:
    store = LocalStore(str(tmp_path))
    store.put("log/a", b"x")

    with pytest.raises(ObjectExists):
        store.put_new("log/a", b"y")

    assert store.read("log/a") == b"x"


def test_a_local_store_syncs_a_new_object_and_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = list[str]()
    before = os.fsync

    def fsync(file: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{file}"))
        before(file)

    monkeypatch.setattr(os, "fsync", fsync)

    LocalStore(str(tmp_path)).put_new("new", b"y")

    assert synced == [str(tmp_path / "new"), str(tmp_path)]


def test_an_object_that_may_be_lost_is_there_once_it_was_put(store: Store) -> None:
    store_port.put_losable(store, "log/a", b"content")

    with pytest.raises(ObjectExists):
        store_port.put_losable(store, "log/a", b"other")

    assert store.read("log/a") == b"content"
    assert [found.path for found in store.list_from("log/")] == ["log/a"]


def test_of_an_object_that_may_be_lost_a_local_store_syncs_the_content_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced, before = list[bool](), os.fsync

    def fsync(file: int) -> None:
        synced.append((tmp_path / "a").exists())
        before(file)

    monkeypatch.setattr(os, "fsync", fsync)

    LocalStore(str(tmp_path)).put_losable("a", b"y")

    assert synced == [False], "whole before it has its name"
    assert (tmp_path / "a").read_bytes() == b"y"


def test_of_a_new_object_that_cannot_be_synced_nothing_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fsync(_file: int) -> None:
        raise OSError(errno.EIO, "the disk is broken")

    monkeypatch.setattr(os, "fsync", fsync)

    with pytest.raises(StorageUnavailable):
        LocalStore(str(tmp_path)).put_new("new", b"y")

    assert list(tmp_path.iterdir()) == []


def test_put_if_absent_changes_nothing_if_there_is_something(store: Store) -> None:
    store.put("a", b"first")
    before = store.head("a")

    with pytest.raises(ObjectExists):
        store.put_if_absent("a", b"second")

    assert store.read("a") == b"first"
    assert store.head("a") == before


def test_of_32_who_put_if_absent_exactly_one_wins_and_its_bytes_stay(store: Store) -> None:
    barrier = threading.Barrier(32)

    def race(number: int) -> int | None:
        barrier.wait()
        try:
            store.put_if_absent("race/0.json", b"%d" % number * 100)
        except ObjectExists:
            return None
        return number

    with ThreadPoolExecutor(32) as pool:
        winners = [number for number in pool.map(race, range(32)) if number is not None]

    assert len(winners) == 1
    assert store.read("race/0.json") == b"%d" % winners[0] * 100


def test_a_listing_is_sorted_and_goes_down_into_folders(store: Store) -> None:
    for path in ("log/b", "log/a/2", "log/a/1", "log/c", "other/x", "logs", "log/a.json"):
        store.put(path, b"x")

    listed = [found.path for found in store.list_from("log/")]

    assert listed == sorted(["log/a.json", "log/a/1", "log/a/2", "log/b", "log/c"])


def test_a_listing_starts_after_the_path_it_is_told(store: Store) -> None:
    for number in range(5):
        store.put(f"log/{number}.json", b"x")
    store.put("log/_nested/2.json", b"x")

    assert [found.path for found in store.list_from("log/", after="log/2.json")] == [
        "log/3.json", "log/4.json", "log/_nested/2.json",
    ]  # fmt: skip
    assert [found.path for found in store.list_from("log/", after="log/3")] == [
        "log/3.json", "log/4.json", "log/_nested/2.json",
    ]  # fmt: skip
    assert list(store.list_from("log/", after="log/zzz")) == []


def test_a_listing_of_nothing_is_empty(store: Store) -> None:
    assert list(store.list_from("nowhere/")) == []


def test_a_listing_may_start_at_the_root(store: Store) -> None:
    store.put("a", b"x")
    store.put("b/c", b"x")

    assert [found.path for found in store.list_from("")] == ["a", "b/c"]


def test_head_and_listing_agree_about_an_object(store: Store) -> None:
    store.put("log/a", b"12345")

    (listed,) = store.list_from("log/")

    assert listed == store.head("log/a")
    assert (listed.path, listed.size) == ("log/a", 5)
    assert listed.modified_ms > 0


def test_what_was_deleted_is_gone(store: Store) -> None:
    store.put("log/a", b"x")

    store.delete("log/a")

    with pytest.raises(ObjectNotFound):
        store.read("log/a")
    assert list(store.list_from("log/")) == []
    store.put_if_absent("log/a", b"again")


def test_deleting_what_does_not_exist_is_no_error(store: Store) -> None:
    store.put("present", b"x")

    store.delete("absent")
    store.delete("absent/too")

    assert [found.path for found in store.list_from("")] == ["present"]


@pytest.mark.parametrize("name", ["día/文件 1.parquet", "with space", "a=b/c%20d", "x+y&z", "ü#?.json"])
def test_names_may_have_spaces_and_any_letters(store: Store, name: str) -> None:
    path = f"data/{name}"
    store.put_if_absent(path, b"x")

    assert store.read(path) == b"x"
    assert store.head(path).path == path
    assert [found.path for found in store.list_from("data/")] == [path]
    with pytest.raises(ObjectExists):
        store.put_if_absent(path, b"y")


def test_an_object_is_never_seen_half_written(store: Store) -> None:
    size, done, torn = 200_000, threading.Event(), []
    store.put("log/big", b"0" * size)

    def look() -> None:
        while not done.is_set():
            seen = store.read("log/big")
            listed = [found.path for found in store.list_from("log/")]
            if len(seen) != size or len(set(seen)) != 1 or listed != ["log/big"]:
                torn.append((len(seen), set(seen), listed))

    with ThreadPoolExecutor(2) as pool:
        looking = pool.submit(look)
        for number in range(15):
            store.put("log/big", b"%d" % (number % 10) * size)
        done.set()
        looking.result()

    assert torn == []


def test_a_local_store_lists_no_temporary_file(tmp_path: Path) -> None:
    store = LocalStore(str(tmp_path))
    store.put("log/a", b"x")
    (tmp_path / "log" / ".headgate-1-0-b").write_bytes(b"half")

    assert [found.path for found in store.list_from("log/")] == ["log/a"]


def test_a_local_store_leaves_no_temporary_file_behind(tmp_path: Path) -> None:
    store = LocalStore(str(tmp_path))
    store.put("log/a", b"x")
    with pytest.raises(ObjectExists):
        store.put_if_absent("log/a", b"y")

    assert [path.name for path in (tmp_path / "log").iterdir()] == ["a"]


def test_two_local_stores_of_one_process_do_not_meet_in_their_temporary_files(tmp_path: Path) -> None:
    rounds = 200
    stores = [LocalStore(str(tmp_path)) for _ in range(4)]
    barrier = threading.Barrier(len(stores))

    def write(store: Store) -> None:
        for number in range(rounds):
            barrier.wait(timeout=PATIENCE_SECONDS)
            store.put(f"log/{number}", b"x")

    with ThreadPoolExecutor(len(stores)) as pool:
        for done in [pool.submit(write, store) for store in stores]:
            done.result()

    assert len(list(stores[0].list_from("log/"))) == rounds


@pytest.mark.parametrize("path", ["../outside", "a/../../outside", "/etc/passwd", "..", "."])
def test_a_local_store_does_not_leave_its_root(tmp_path: Path, path: str) -> None:
    (tmp_path / "outside").write_bytes(b"secret")
    store = LocalStore(str(tmp_path / "root"))

    for call in (store.read, store.head, store.delete):
        with pytest.raises(AccessDenied):
            call(path)
    for write in (store.put, store.put_if_absent):
        with pytest.raises(AccessDenied):
            write(path, b"x")
    assert (tmp_path / "outside").read_bytes() == b"secret"


def test_the_folders_below_the_root_are_known_without_a_listing(store: Store) -> None:
    for path in ("b/_delta_log/0.json", "a b/c/d.json", "at-the-root"):
        store.put(path, b"x")

    assert make_folder.folder_names(store) == ["a b", "b"]


def test_a_root_that_does_not_exist_has_no_folders(store: Store) -> None:
    assert make_folder.folder_names(store) == []
