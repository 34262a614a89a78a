"""Folders that are there before anything is in them, where there are folders at all."""

from pathlib import Path

import pytest
from pyspark.sql.types import LongType, StructType

import headgate
from headgate.errors import StorageUnavailable
from headgate.storage import make_folder
from headgate.storage.locate import locate


def test_a_folder_is_made_once_and_is_no_object(tmp_path: Path) -> None:
    for _ in range(2):
        make_folder.make_folder(f"file://{tmp_path}/t", "_delta_log/_staged_commits/")

    assert list((tmp_path / "t" / "_delta_log" / "_staged_commits").iterdir()) == []
    assert list(locate(str(tmp_path / "t")).list_from("")) == []


def test_where_there_are_no_folders_nothing_happens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    make_folder.make_folder("s3://bucket/t", "_delta_log/_staged_commits/")

    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("a file")

    with pytest.raises(StorageUnavailable, match="_staged_commits"):
        make_folder.make_folder(str(tmp_path / "t"), "_staged_commits/")


def test_a_new_managed_table_has_one_for_staged_commits(tmp_path: Path) -> None:
    """S124"""
    with headgate.connect(tmp_path / "lake") as lake:
        lake.create_schema("s")
        table = lake.create_table("s.t", StructType().add("id", LongType()))
        with lake.transaction() as tx:
            tx.create_table("s.u", StructType().add("id", LongType()))

        for made in (table, lake.table("s.u")):
            assert list(Path(made.location, "_delta_log/_staged_commits").iterdir()) == []
            assert made.version() == 0
