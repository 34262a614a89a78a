"""Syncing what Spark's tasks have finished while others still write."""

import errno
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from headgate.errors import StorageUnavailable
from headgate.storage import fsync as settle_module
from headgate.storage.fsync import sync_files, sync_while_writing
from tests.support.waiting import PATIENCE_SECONDS


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settle_module, "_LOOK_AGAIN_SECONDS", 0.001)


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were synced, by their names."""
    names: list[str] = []
    really = os.fsync

    def fsync(file: int) -> None:
        names.append(os.path.basename(os.readlink(f"/proc/self/fd/{file}")))
        really(file)

    monkeypatch.setattr(os, "fsync", fsync)
    return names


def finish(job: Path, task: str, *files: str) -> None:
    """Have a task finish as Hadoop's committer does: its folder appears as a whole."""
    attempt = job / "_temporary" / "0" / "_temporary" / f"attempt_{task}"
    for file in files:
        (attempt / file).parent.mkdir(parents=True, exist_ok=True)
        (attempt / file).write_bytes(b"rows")
    attempt.rename(job / "_temporary" / "0" / f"task_{task}")


def until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.001)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="names of open files are told by Linux")
def test_files_of_finished_tasks_are_synced_once_while_others_write(
    tmp_path: Path, synced: list[str]
) -> None:
    job = tmp_path / "job"
    with sync_while_writing(str(tmp_path), "job"):
        unfinished = job / "_temporary" / "0" / "_temporary" / "attempt_9"
        unfinished.mkdir(parents=True)
        (unfinished / "half.parquet").write_bytes(b"ro")
        finish(job, "1", "a.parquet", ".a.parquet.crc", "day=1/b.parquet")
        until(lambda: len(synced) == 2)
        finish(job, "2", "c.parquet")
        until(lambda: len(synced) == 3)

    assert sorted(synced) == ["a.parquet", "b.parquet", "c.parquet"]


def test_a_failure_is_told_though_a_second_sync_succeeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = [OSError(errno.EIO, "the disk is gone")]
    really = os.fsync

    def fsync(file: int) -> None:
        if failures:
            raise failures.pop()
        really(file)

    monkeypatch.setattr(os, "fsync", fsync)
    with (
        pytest.raises(StorageUnavailable, match="the disk is gone"),
        sync_while_writing(str(tmp_path), "job"),
    ):
        finish(tmp_path / "job", "1", "a.parquet")
        until(lambda: not failures)
    sync_files(str(tmp_path), ["job/_temporary/0/task_1/a.parquet"])


def test_the_failure_of_the_job_is_the_one_that_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[int] = []

    def fsync(file: int) -> None:
        tried.append(file)
        raise OSError(errno.EIO, "the disk is gone")

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(ZeroDivisionError), sync_while_writing(str(tmp_path), "job"):
        finish(tmp_path / "job", "1", "a.parquet")
        until(lambda: bool(tried))
        _ = 1 / 0


def test_files_that_are_moved_meanwhile_are_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, looked = tmp_path / "job", list[str]()
    listed = os.listdir

    def listdir(path: str) -> list[str]:
        names = listed(path)
        if path.endswith("0") and "task_1" in names:
            (job / "_temporary" / "0" / "task_1" / "a.parquet").rename(job / "a.parquet")
            looked.extend(names)
        return names

    monkeypatch.setattr(os, "listdir", listdir)
    with sync_while_writing(str(tmp_path), "job"):
        finish(job, "1", "a.parquet")
        until(lambda: bool(looked))

    assert (job / "a.parquet").exists()
