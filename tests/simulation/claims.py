"""What somebody saw of a table, and what a transaction says it saw before it decided."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from headgate.table.read.snapshot import Snapshot
from tests.simulation.serial import Table, vector

PARTITION = "writer"
"""The column by which tables are partitioned, if they are."""


@dataclass(frozen=True, slots=True)
class SeenFile:
    """One live file."""

    partition: str | None
    size: int
    records: int
    vector: str | None
    base_row_id: int | None
    row_version: int | None


@dataclass(frozen=True, slots=True)
class Sight:
    """All that a version shows."""

    version: int
    files: Mapping[str, SeenFile]
    timestamp: int | None
    txns: Mapping[str, int]
    domains: Mapping[str, str]
    properties: Mapping[str, str]
    features: frozenset[str]

    def within(self, partition: str | None) -> frozenset[str]:
        """The live files of a partition."""
        return frozenset(path for path, file in self.files.items() if file.partition == partition)


def shown(snapshot: Snapshot) -> Sight:
    """What the product shows."""
    state = snapshot.state
    files = {
        row["path"]: SeenFile(
            dict(row["partition_values"] or ()).get(PARTITION),
            row["size"],
            json.loads(row["stats"])["numRecords"],
            (row["deletion_vector"] or {}).get("path_or_inline_dv"),
            row["base_row_id"],
            row["default_row_commit_version"],
        )
        for row in snapshot.files.columns.to_pylist()
    }
    return Sight(
        snapshot.version,
        files,
        state.in_commit_timestamp,
        {txn.app_id: txn.version for txn in state.txns.values()},
        {domain.domain: domain.configuration for domain in state.domains.values()},
        dict(state.metadata.configuration),
        frozenset(state.protocol.writer_features or ()),
    )


def truth(table: Table) -> Sight:
    """What the log shows to who replays it plainly."""
    files = {
        path: SeenFile(
            add["partitionValues"].get(PARTITION),
            add["size"],
            json.loads(add["stats"])["numRecords"],
            vector(add),
            add.get("baseRowId"),
            add.get("defaultRowCommitVersion"),
        )
        for path, add in table.files.items()
    }
    return Sight(
        table.version,
        files,
        table.timestamp,
        dict(table.txns),
        dict(table.domains),
        dict(table.properties),
        table.features,
    )


@dataclass(frozen=True, slots=True)
class Claim:
    """What a transaction read, so that a serial history can be asked whether it would have read the same."""

    base: int
    properties: Mapping[str, str]
    partitions: Mapping[str | None, frozenset[str]] = field(default_factory=dict)
    """The rows found in each partition that was read."""
    everything: frozenset[str] | None = None
    """All files, if it read the whole table."""
    files: Mapping[str, str | None] = field(default_factory=dict)
    """Files that were read one by one, with their deletion vectors."""
    apps: Mapping[str, int | None] = field(default_factory=dict)
    domains: Mapping[str, str | None] = field(default_factory=dict)
    """What domains were, of those that nobody merges."""
    counted: int = 0
    """By how much it moved the counter, which a handler merges."""
    collected: frozenset[str] = frozenset()
    """What it put into the collection, which a handler merges."""
