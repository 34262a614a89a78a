"""Tables in memory made of actions, and what is in the checkpoints of them."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from headgate.protocol.actions import Action, CommitInfo, Protocol, Version
from headgate.protocol.log import codec, file_names
from headgate.storage.store import Store
from headgate.table.opened_table import OpenedTable
from headgate.table.read import log_reader
from tests.support.commits import metadata
from tests.support.faulty_store import DictStore
from tests.support.tables import open_filesystem

V2 = {"delta_checkpointPolicy": "v2"}


def protocol(*writer: str, reader: Sequence[str] = ()) -> Protocol:
    """A protocol of features; those of readers are for both."""
    return Protocol(
        min_reader_version=3, min_writer_version=7,
        reader_features=tuple(reader), writer_features=(*reader, *writer),
    )  # fmt: skip


V2_PROTOCOL = protocol("domainMetadata", "inCommitTimestamp", reader=("v2Checkpoint",))


def published(store: Store, *commits: Sequence[Action]) -> None:
    """Publish these commits, each with a commitInfo, after those that are there."""
    there = [
        file.version for file in log_reader.list_log(store) if file.kind is file_names.LogFileKind.PUBLISHED
    ]
    for version, actions in enumerate(commits, max(there, default=-1) + 1):
        info = CommitInfo(operation="TEST")
        store.put_if_absent(file_names.published_path(Version(version)), codec.encode((info, *actions)))


def table(*commits: Sequence[Action], features: Protocol = V2_PROTOCOL, **properties: str) -> OpenedTable:
    """An ordinary table in memory whose version 0 is empty; properties with ``_`` for ``.``."""
    store = DictStore()
    published(store, (features, metadata(**properties)), *commits)
    return open_filesystem("", store=store)


def actions(store: Store, kind: str) -> list[dict[str, Any]]:
    """The actions of one kind in all checkpoints and sidecars, without their fields that are null."""
    paths = [meta.path for meta in store.list_from(file_names.LOG_FOLDER) if meta.path.endswith(".parquet")]
    found = [row for path in paths for row in pq.read_table(pa.BufferReader(store.read(path))).to_pylist()]
    return [
        {name: value for name, value in row[kind].items() if value is not None}
        for row in found
        if row.get(kind) is not None
    ]
