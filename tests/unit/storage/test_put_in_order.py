"""Many local files at once: in order, all or the earliest of them, and none overwritten."""

import os
from contextlib import nullcontext
from pathlib import Path

import pytest

from headgate.errors import AccessDenied, ObjectExists, StorageUnavailable
from headgate.storage import local
from headgate.storage.local import LocalStore

OBJECTS = [(f"log/{number:02d}.json", b"%d" % number) for number in range(20)]


def test_all_are_created_and_those_that_are_there_already_stay(tmp_path: Path) -> None:
    store = LocalStore(str(tmp_path))
    store.put("log/03.json", b"3")
    before = _written(tmp_path / "log" / "03.json")

    store.put_in_order(OBJECTS)

    assert {path: store.read(path) for path, _ in OBJECTS} == dict(OBJECTS)
    assert _written(tmp_path / "log" / "03.json") == before
    assert sorted(os.listdir(tmp_path / "log")) == [path.removeprefix("log/") for path, _ in OBJECTS]


def test_one_that_differs_stops_it_and_stays(tmp_path: Path) -> None:
    store = LocalStore(str(tmp_path))
    store.put("log/05.json", b"mine")

    with pytest.raises(ObjectExists, match=r"05\.json"):
        store.put_in_order(OBJECTS)

    assert store.read("log/05.json") == b"mine"
    assert len(os.listdir(tmp_path / "log")) == 6


@pytest.mark.parametrize(("rival", "files"), [(b"rival", 6), (b"5", 20)])
def test_one_that_appears_in_between_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rival: bytes, files: int
) -> None:
    store, link = LocalStore(str(tmp_path)), os.link

    def overtaken(source: str, target: str) -> None:
        if target.endswith("05.json"):
            Path(target).write_bytes(rival)
        link(source, target)

    monkeypatch.setattr(local.os, "link", overtaken)

    with pytest.raises(ObjectExists) if files == 6 else nullcontext():
        store.put_in_order(OBJECTS)

    assert store.read("log/05.json") == rival
    assert len(os.listdir(tmp_path / "log")) == files


@pytest.mark.parametrize("failing", range(0, 20, 3))
def test_a_failure_leaves_the_earliest_and_nothing_hidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    store, link = LocalStore(str(tmp_path)), os.link
    path = OBJECTS[failing][0]

    def broken(source: str, target: str) -> None:
        if target.endswith(path):
            raise OSError(5, "Input/output error")
        link(source, target)

    monkeypatch.setattr(local.os, "link", broken)

    with pytest.raises(StorageUnavailable, match=path):
        store.put_in_order(OBJECTS)

    assert [path for path, _ in OBJECTS[:failing]] == [meta.path for meta in store.list_from("log/")]
    assert len(os.listdir(tmp_path / "log")) == failing


def test_a_content_that_cannot_be_written_stops_those_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, write = LocalStore(str(tmp_path)), local._write_synced

    def full(name: str, data: bytes) -> None:
        if name.endswith("04.json"):
            raise OSError(28, "No space left on device")
        write(name, data)

    monkeypatch.setattr(local, "_write_synced", full)

    with pytest.raises(StorageUnavailable, match=r"04\.json.*free some space"):
        store.put_in_order(OBJECTS)

    assert sorted(os.listdir(tmp_path / "log")) == ["00.json", "01.json", "02.json", "03.json"]


def test_names_are_durable_when_it_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []
    link, sync = os.link, local.sync_folder
    monkeypatch.setattr(local.os, "link", lambda a, b: (events.append("link"), link(a, b))[1])
    monkeypatch.setattr(local, "sync_folder", lambda folder: (events.append("sync"), sync(folder))[1])
    store = LocalStore(str(tmp_path))
    store.put("log/00.json", b"0")
    events.clear()

    store.put_in_order(OBJECTS[:3])
    store.put_in_order(OBJECTS[:1])

    assert events == ["link", "link", "sync", "sync"]


def test_a_path_out_of_the_store_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(AccessDenied):
        LocalStore(str(tmp_path / "root")).put_in_order([("a", b""), ("../b", b"")])

    assert not (tmp_path / "root" / "a").exists()


def _written(path: Path) -> tuple[int, int]:
    """Which file it is and when it was written; when it was last read does not matter."""
    status = os.stat(path)
    return status.st_ino, status.st_mtime_ns
