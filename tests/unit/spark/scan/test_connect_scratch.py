"""Lists of files in a bucket: put through Headgate's own store, named as Spark names them, deleted again."""

from pathlib import Path

import pytest
from obstore.store import MemoryStore

from headgate.errors import AccessDenied
from headgate.spark.scan import connect_scratch
from headgate.storage.object_store import ObjectStore
from headgate.storage.store import Store

LIST = {"decoy.parquet": b"no", "_spark_metadata/0": b"v1"}
BUCKET = "s3://bucket/some table"


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Store:
    """What is in the bucket."""
    held = ObjectStore(MemoryStore())
    monkeypatch.setattr(connect_scratch, "locate", lambda _: held)
    monkeypatch.setattr(connect_scratch, "_swept", set())
    return held


def paths_in(store: Store) -> list[str]:
    return [item.path for item in store.list_from("_headgate/")]


def test_a_list_in_a_bucket_is_put_named_and_deleted(store: Store) -> None:
    placed = connect_scratch.put(BUCKET, LIST)

    assert placed.path.startswith("s3a://bucket/some table/_headgate/scans/")
    assert paths_in(store) == [f"{placed.folder}/_spark_metadata/0", f"{placed.folder}/decoy.parquet"]
    assert store.read(f"{placed.folder}/_spark_metadata/0") == b"v1"
    placed.remove()
    assert paths_in(store) == []


def test_only_what_is_a_week_old_is_swept_and_only_once(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = connect_scratch.put(BUCKET, LIST)
    second = connect_scratch.put(BUCKET, LIST)
    assert len(paths_in(store)) == 4

    monkeypatch.setattr(connect_scratch, "_ABANDONED_S", -60)
    third = connect_scratch.put(BUCKET, LIST)
    assert {path.split("/")[2] for path in paths_in(store)} == {
        placed.folder.rpartition("/")[2] for placed in (left, second, third)
    }
    monkeypatch.setattr(connect_scratch, "_swept", set())
    fourth = connect_scratch.put(BUCKET, LIST)

    assert {path.split("/")[2] for path in paths_in(store)} == {fourth.folder.rpartition("/")[2]}


def test_removing_a_list_twice_or_where_it_never_was_is_no_error(store: Store, tmp_path: Path) -> None:
    placed = connect_scratch.put(str(tmp_path), LIST)

    placed.remove()
    placed.remove()
    connect_scratch.ScratchFolder(BUCKET, "_headgate/scans/x", ("a",)).remove()

    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_the_table_is_removed_only_when_nobody_uses_it(store: Store, tmp_path: Path) -> None:
    first, second = connect_scratch.put(str(tmp_path), LIST), connect_scratch.put(str(tmp_path), LIST)

    first.remove()

    assert (tmp_path / second.folder / "_spark_metadata" / "0").read_bytes() == b"v1"
    second.remove()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_said_to_be(store: Store, tmp_path: Path) -> None:
    (tmp_path / "_headgate").touch()

    with pytest.raises(AccessDenied, match="cannot be written"):
        connect_scratch.put(str(tmp_path), LIST)


def test_nothing_is_swept_through_a_link(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path_factory.mktemp("of others")
    (elsewhere / "scans" / "photos").mkdir(parents=True)
    (elsewhere / "scans" / "photos" / "one.jpg").write_bytes(b"dear")
    (tmp_path / "_headgate").symlink_to(elsewhere)
    monkeypatch.setattr(connect_scratch, "_swept", set())
    monkeypatch.setattr(connect_scratch, "_ABANDONED_S", -60)

    connect_scratch.put(str(tmp_path), LIST)

    assert (elsewhere / "scans" / "photos" / "one.jpg").read_bytes() == b"dear"
