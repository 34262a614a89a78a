"""What does this client need of a server for tables? The few calls that both APIs have, and their values.

A change is answered by what the server said, or by ``NoAnswer``: what that means is decided in one place for
both APIs, and never by trusting that a repeated request is harmless.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from headgate.catalog.ports.commits import StagedCommit, TableId, Tail
from headgate.catalog.ports.directory import StagingTable, TableEntry, TableName
from headgate.catalog.unity.http_calls import Answered
from headgate.protocol.actions import Commit, EpochMillis, Version
from headgate.storage.credentials import StorageOperation, VendedCredential


@dataclass(frozen=True, slots=True)
class UnityTableState:
    """A table as the server has it at one moment."""

    entry: TableEntry
    tail: Tail
    properties: Mapping[str, str] = field(default_factory=dict)
    maintenance: frozenset[str] = frozenset()
    """What the server lets clients do with its files, such as ``DATA_CLEANUP``."""


@dataclass(frozen=True, slots=True)
class StagedTable:
    """A place that the server reserved, and what it vended for it right away."""

    staging: StagingTable
    credentials: tuple[VendedCredential, ...] = ()


@dataclass(frozen=True, slots=True)
class UnityProposal:
    """A staged commit that the server is asked to ratify."""

    version: Version
    staged: StagedCommit
    size: int
    modified_ms: EpochMillis
    commit: Commit

    @property
    def timestamp(self) -> EpochMillis:
        """Its in-commit timestamp."""
        info = self.commit.info
        return EpochMillis((info.in_commit_timestamp if info is not None else None) or 0)

    @property
    def changes_table(self) -> bool:
        """Whether the server must be told of more than a file."""
        return bool(self.commit.metadata or self.commit.protocol or self.commit.domains)


class TableNamesApi(Protocol):
    """The calls that make tables, and give and take their names."""

    def stage(self, name: TableName) -> StagedTable: ...

    def create(self, staging: StagingTable, name: TableName, first: Commit) -> Answered: ...

    def drop(self, name: TableName) -> Answered: ...

    def rename(self, name: TableName, to: TableName) -> Answered: ...


class TableCredentialsApi(Protocol):
    """The calls that vend what opens the files of tables."""

    def credentials(self, table: TableEntry, operation: StorageOperation) -> tuple[VendedCredential, ...]: ...

    def staging_credentials(self, table_id: TableId) -> tuple[VendedCredential, ...]: ...


class TableApi(TableNamesApi, TableCredentialsApi, Protocol):
    """The calls about tables, in one of the two APIs; safe to share between threads."""

    def load(self, name: TableName) -> UnityTableState: ...

    def commit(self, table: TableEntry, proposal: UnityProposal, before: Mapping[str, str]) -> Answered:
        """Ask for a version; ``before`` are the properties that the table had, if it changes any."""
        ...

    def report_published(self, table: TableEntry, version: Version) -> Answered: ...
