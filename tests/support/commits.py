"""Commits made of a few words, for tests of rules."""

from headgate.protocol.actions import (
    Action,
    AddFile,
    Commit,
    CommitInfo,
    EpochMillis,
    Format,
    Metadata,
    Protocol,
    RemoveFile,
    TxnId,
    Version,
    commit_from_actions,
)

PROTOCOL = Protocol(min_reader_version=1, min_writer_version=2)
MANAGED = Protocol(
    min_reader_version=3,
    min_writer_version=7,
    reader_features=("catalogManaged", "vacuumProtocolCheck"),
    writer_features=("catalogManaged", "inCommitTimestamp", "vacuumProtocolCheck"),
)
ONE_COLUMN = '{"type":"struct","fields":[{"name":"id","type":"long","nullable":true,"metadata":{}}]}'


def metadata(schema: str = ONE_COLUMN, **configuration: str) -> Metadata:
    """The metadata of a table; keywords are properties with ``_`` for ``.``."""
    return Metadata(
        id="11111111-1111-1111-1111-111111111111",
        format=Format(provider="parquet", options={}),
        schema_string=schema,
        partition_columns=(),
        configuration={key.replace("_", "."): value for key, value in configuration.items()},
    )


def add(path: str, stats: str | None = None) -> AddFile:
    return AddFile(
        path=path,
        partition_values={},
        size=1,
        modification_time=EpochMillis(1),
        data_change=True,
        stats=stats,
    )


def remove(path: str) -> RemoveFile:
    return RemoveFile(path=path, data_change=True)


def commit(version: int, *actions: Action, txn_id: str = "", timestamp: int | None = None) -> Commit:
    """A commit with a commitInfo and these actions."""
    info = CommitInfo(
        txn_id=TxnId(txn_id or f"txn-{version}"),
        operation="WRITE",
        in_commit_timestamp=None if timestamp is None else EpochMillis(timestamp),
    )
    return commit_from_actions(Version(version), (info, *actions))
