"""Proposals by hand, right ones and wrong ones."""

import time
import uuid
from dataclasses import replace

import msgspec

from headgate.catalog.ports.commits import InlineCommit, Proposal, StagedCommit, TableId
from headgate.protocol.actions import CommitInfo, EpochMillis, Metadata, TxnId, Version
from headgate.protocol.log import codec, file_names, timestamps
from headgate.protocol.transaction import fresh_file_names
from headgate.storage.store import Store
from tests.support.tables import named_file

_LATER_MS = time.time_ns() // 1_000_000 + timestamps.MAX_AHEAD_MS * 9 // 10


def stamp(version: int) -> EpochMillis:
    """A timestamp for each version, after that of any version 0 of this run, and not too far ahead."""
    return EpochMillis(_LATER_MS + version)


def content(version: int, txn_id: str, *, at: int | None = None) -> bytes:
    """A commit that adds one file."""
    info = CommitInfo(
        in_commit_timestamp=EpochMillis(stamp(version) if at is None else at), txn_id=TxnId(txn_id)
    )
    return codec.encode((info, named_file(f"{txn_id}.parquet")))


def inline(table_id: TableId, version: int, txn_id: str, *, data: bytes | None = None) -> Proposal:
    """An inline proposal."""
    return Proposal(table_id, Version(version), TxnId(txn_id), InlineCommit(data or content(version, txn_id)))


def fresh(table_id: TableId, version: int, txn_id: str) -> Proposal:
    """An inline proposal of a file that is known to be new, as an append must be."""
    info = CommitInfo(in_commit_timestamp=stamp(version), txn_id=TxnId(txn_id))
    add = named_file(f"{fresh_file_names.transaction_prefix(table_id, TxnId(txn_id))}/a")
    return inline(table_id, version, txn_id, data=codec.encode((info, add)))


def open_version(table_id: TableId, version: int, txn_id: str, *, data: bytes | None = None) -> Proposal:
    """An inline proposal for any version from this one on."""
    return replace(inline(table_id, version, txn_id, data=data), any_version=True)


def staged(table_id: TableId, version: int, txn_id: str, store: Store) -> Proposal:
    """A staged proposal whose file is written."""
    file_name = file_names.staged_file_name(Version(version), str(uuid.uuid4()))
    store.put(file_names.STAGED_FOLDER + file_name, content(version, txn_id))
    return Proposal(table_id, Version(version), TxnId(txn_id), StagedCommit(file_name))


def altered(store: Store, **properties: str) -> Metadata:
    """The metadata of version 0 with more properties; keywords have ``_`` for ``.``."""
    first = codec.decode(Version(0), store.read(file_names.published_path(Version(0)))).metadata
    assert first is not None
    more = {key.replace("_", "."): value for key, value in properties.items()}
    return msgspec.structs.replace(first, configuration={**first.configuration, **more})


def publish(store: Store, version: int, txn_id: str) -> None:
    """Write the published file of a version."""
    store.put_if_absent(file_names.published_path(Version(version)), content(version, txn_id))
