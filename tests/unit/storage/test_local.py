"""What a folder on this machine owes beyond the contract: nothing half written, nothing unsynced."""

import errno
import os
import stat
from pathlib import Path

import pytest

from headgate.errors import ObjectExists, StorageUnavailable
from headgate.storage import local
from headgate.storage.fsync import sync_files
from headgate.storage.local import LocalStore


def full_disk(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = LocalStore(str(tmp_path))
    monkeypatch.setattr(os, "write", full_disk)

    with pytest.raises(StorageUnavailable, match="free some space"):
        store.put_if_absent("log/1.json", b"content")

    monkeypatch.undo()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_content_and_name_are_synced_before_a_write_is_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "log").mkdir()
    steps: list[str] = []
    sync, link = os.fsync, os.link
    kind = lambda descriptor: "folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file"  # noqa: E731
    monkeypatch.setattr(os, "fsync", lambda found: (steps.append(f"sync {kind(found)}"), sync(found)))
    monkeypatch.setattr(os, "link", lambda *names: (steps.append("link"), link(*names)))

    LocalStore(str(tmp_path)).put_if_absent("log/1.json", b"content")

    assert steps == ["sync file", "link", "sync folder"]


def test_whoever_is_told_that_an_object_exists_may_rely_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = LocalStore(str(tmp_path))
    store.put("1.json", b"content")
    synced: list[str] = []
    monkeypatch.setattr(local, "sync_folder", synced.append)

    with pytest.raises(ObjectExists):
        store.put_if_absent("1.json", b"other")

    assert synced == [str(tmp_path)]


def test_settling_syncs_files_and_their_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "a.parquet").write_bytes(b"x")
    synced: list[int] = []
    sync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda found: (synced.append(os.fstat(found).st_ino), sync(found)))

    sync_files(str(tmp_path), ["new/a.parquet"])

    expected = [tmp_path / "new" / "a.parquet", tmp_path, tmp_path / "new"]
    assert sorted(synced) == sorted(path.stat().st_ino for path in expected)
