"""Tables in stores where every answer takes a while: how often a reader waits."""

import io
from collections.abc import Callable

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headgate.errors import CorruptLog
from headgate.protocol.actions import EpochMillis, Version
from headgate.protocol.log import codec, file_names
from headgate.table.opened_table import OpenedTable
from headgate.table.read.change_files import VersionRange
from tests.support import s3
from tests.support.commits import PROTOCOL, add, commit, metadata
from tests.support.distant import DistantStore
from tests.support.faulty_store import DictStore
from tests.support.tables import open_filesystem
from tests.support.versions import paths

COMMITS, AT_ONCE, SECONDS = 48, 16, 0.05
FEED = metadata(delta_enableChangeDataFeed="true")


def filled(store: DictStore) -> DictStore:
    """An ordinary table of version 0 and as many appends as COMMITS."""
    store.put(file_names.published_path(Version(0)), codec.encode((PROTOCOL, FEED)))
    for number in range(1, COMMITS + 1):
        info = commit(number).info
        assert info is not None
        store.put(file_names.published_path(Version(number)), codec.encode((info, add(f"{number:03d}"))))
    return store


def distant(store: DictStore) -> DistantStore:
    return DistantStore(store, at_once=AT_ONCE, seconds=SECONDS)


@pytest.mark.parametrize(
    "ask",
    [
        lambda table: [entry.version for entry in table.history()],
        lambda table: table.snapshot(timestamp=EpochMillis(COMMITS // 2)).files.columns["path"].to_pylist(),
        lambda table: [change.inserted for change in table.changes(VersionRange(0))[1]],
        paths,
    ],
    ids=["history", "timestamp", "changes", "latest"],
)
def test_commits_are_awaited_together_and_nothing_else_changes(
    ask: Callable[[OpenedTable], list[object]],
) -> None:
    near = filled(DictStore())
    far = distant(near)

    found = ask(open_filesystem("memory", store=far))

    assert found == ask(open_filesystem("memory", store=near))
    assert AT_ONCE // 2 < far.peak <= AT_ONCE
    assert far.alone < far.reads / 2


def test_a_commit_that_is_damaged_is_named() -> None:
    near = filled(DictStore())
    near.put(file_names.published_path(Version(30)), b"{")
    near.put(file_names.published_path(Version(20)), b"{")

    with pytest.raises(CorruptLog, match="version 20 cannot be parsed"):
        open_filesystem("memory", store=distant(near)).snapshot()


def test_a_commit_that_goes_away_while_others_are_read_is_named() -> None:
    near = filled(DictStore())
    far = distant(near)
    table = open_filesystem("memory", store=far)
    table.snapshot(version=10)
    near.delete(file_names.published_path(Version(30)))

    with pytest.raises(CorruptLog, match="version 30 is missing"):
        table.snapshot()


def test_the_sidecars_of_a_checkpoint_are_awaited_together() -> None:
    near, number = filled(DictStore()), 24
    sidecars = []
    for part in range(number):
        sink = io.BytesIO()
        file = {"path": f"old {part:02d}", "size": 1, "modificationTime": 1, "dataChange": True}
        pq.write_table(pa.Table.from_pylist([{"add": file}]), sink)
        near.put(f"{file_names.SIDECAR_FOLDER}{part}.parquet", sink.getvalue())
        said = f'"path":"{part}.parquet","sizeInBytes":{len(sink.getvalue())},"modificationTime":1'
        sidecars.append(f'{{"sidecar":{{{said}}}}}\n'.encode())
    manifest = codec.encode((PROTOCOL, FEED)) + b"".join(sidecars)
    name = f"{COMMITS:020d}.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json"
    near.put(file_names.LOG_FOLDER + name, manifest)
    far = distant(near)

    found = paths(open_filesystem("memory", store=far))

    assert found == [f"old {part:02d}" for part in range(number)]
    assert AT_ONCE // 2 < far.peak <= AT_ONCE


def test_a_table_in_s3_reads_like_the_same_one_at_hand() -> None:
    near = filled(DictStore())
    with s3.server() as url:
        bucket = s3.bucket(url)
        for item in near.list_from(""):
            bucket.put(item.path, near.read(item.path))

        table = open_filesystem("s3", store=bucket)

        assert paths(table) == paths(open_filesystem("memory", store=near))
        assert [entry.version for entry in table.history()] == list(range(COMMITS, -1, -1))
        assert paths(table, 7) == [f"{number:03d}" for number in range(1, 8)]
