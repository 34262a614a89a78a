"""The actions of a Delta commit, as frozen structs with the names of the log."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NewType

import msgspec
from typing_extensions import override

Int = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
Long = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
"""Numbers that every reader of a log can hold: one that is larger makes a whole commit unreadable."""

Version = NewType("Version", int)
EpochMillis = NewType("EpochMillis", Long)
TxnId = NewType("TxnId", str)


class Action(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """One line of a commit, without its envelope.

    What comes from JSON has no cycles, so the garbage collector need not look at it; when a large
    log is replayed, it would do little else.
    """


class Damage(Exception):
    """Why an action of a log cannot be used; nothing in JSON becomes one."""


class CommitInfo(Action, frozen=True, kw_only=True):
    """Who committed what, when and how; the first action of a commit with in-commit timestamps."""

    in_commit_timestamp: EpochMillis | None = None
    timestamp: EpochMillis | None = None
    user_id: str | None = None
    user_name: str | None = None
    operation: str | None = None
    operation_parameters: Mapping[str, Any] | None = None  # other writers put any JSON here
    job: Any = None
    notebook: Any = None
    cluster_id: str | None = None
    read_version: Long | None = None
    isolation_level: str | None = None
    is_blind_append: bool | None = None
    operation_metrics: Mapping[str, Any] | None = None
    user_metadata: str | None = None
    engine_info: str | None = None
    txn_id: TxnId | None = None
    tags: Mapping[str, Any] | None = None
    group_id: Any = None
    group_tables: Any = None


class Protocol(Action, frozen=True, kw_only=True):
    """What a client must understand to read and write the table; its features are sets."""

    min_reader_version: Int
    min_writer_version: Int
    reader_features: tuple[str, ...] | None = None
    writer_features: tuple[str, ...] | None = None
    damage: Damage | None = None

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Protocol) and self._parts == other._parts

    @override
    def __hash__(self) -> int:
        return hash(self._parts)

    @property
    def _parts(self) -> tuple[int, int, frozenset[str], frozenset[str]]:
        readers, writers = frozenset(self.reader_features or ()), frozenset(self.writer_features or ())
        return self.min_reader_version, self.min_writer_version, readers, writers

    def has(self, feature: str) -> bool:
        """Whether ``feature`` is named by this protocol."""
        return feature in (self.writer_features or ()) or feature in (self.reader_features or ())

    @property
    def is_catalog_managed(self) -> bool:
        """Whether a catalog decides the versions; also under the name of that feature's preview."""
        return self.has("catalogManaged") or self.has("catalogOwned-preview")


class Format(Action, frozen=True, kw_only=True):
    """How data files are encoded; always parquet."""

    provider: str
    options: Mapping[str, str]


class Metadata(Action, frozen=True, kw_only=True):
    """The table's identity, columns and properties."""

    id: str
    name: str | None = None
    description: str | None = None
    format: Format
    schema_string: str
    partition_columns: tuple[str, ...]
    configuration: Mapping[str, str]
    created_time: EpochMillis | None = None
    damage: Damage | None = None


class DeletionVector(Action, frozen=True, kw_only=True):
    """Where the bitmap of a file's deleted rows is."""

    storage_type: str
    path_or_inline_dv: str
    offset: Int | None = None
    size_in_bytes: Int
    cardinality: Long


class AddFile(Action, frozen=True, kw_only=True):
    """A data file that becomes part of the table."""

    path: str
    partition_values: Mapping[str, str | None]
    size: Long
    modification_time: EpochMillis
    data_change: bool
    stats: str | None = None
    tags: Mapping[str, str | None] | None = None
    deletion_vector: DeletionVector | None = None
    base_row_id: Long | None = None
    default_row_commit_version: Long | None = None
    clustering_provider: str | None = None


class RemoveFile(Action, frozen=True, kw_only=True):
    """A data file that leaves the table, kept on disk for readers of older versions."""

    path: str
    deletion_timestamp: EpochMillis | None = None
    data_change: bool
    extended_file_metadata: bool | None = None
    partition_values: Mapping[str, str | None] | None = None
    size: Long | None = None
    tags: Mapping[str, str | None] | None = None
    deletion_vector: DeletionVector | None = None
    base_row_id: Long | None = None
    default_row_commit_version: Long | None = None


class AddCdcFile(Action, frozen=True, kw_only=True):
    """A file with the changed rows of a version, for readers of the change data feed."""

    path: str
    partition_values: Mapping[str, str | None]
    size: Long
    data_change: bool | None = None
    """False, where a writer says it, as it must."""


class AppTransaction(Action, frozen=True, kw_only=True):
    """An application's own sequence number, for exactly-once writes."""

    app_id: str
    version: Long
    last_updated: EpochMillis | None = None


class DomainMetadata(Action, frozen=True, kw_only=True):
    """A named configuration, owned by users or, under ``delta.``, by the client itself."""

    domain: str
    configuration: str
    removed: bool

    @property
    def is_system(self) -> bool:
        return self.domain.lower().startswith("delta.")


class Sidecar(Action, frozen=True, kw_only=True):
    """A file that holds a part of a checkpoint's file actions."""

    path: str
    size_in_bytes: Long
    modification_time: EpochMillis | None = None


@dataclass(frozen=True, slots=True)
class Commit:
    """The actions of one version, sorted by kind."""

    version: Version
    info: CommitInfo | None
    protocol: Protocol | None
    metadata: Metadata | None
    adds: tuple[AddFile, ...]
    removes: tuple[RemoveFile, ...]
    txns: tuple[AppTransaction, ...]
    domains: tuple[DomainMetadata, ...]
    modified_ms: EpochMillis | None = None
    """When its file was written, where somebody asked for that."""

    @property
    def is_blind_append(self) -> bool:
        """Whether its writer said that it read nothing; silence means no."""
        return self.info is not None and self.info.is_blind_append is True


def commit_from_actions(version: Version, actions: Iterable[Action]) -> Commit:
    """Sort the actions of one version by kind."""
    kinds: dict[type[Action], list[Any]] = {}  # the key is the value's type, which a checker cannot follow
    for action in actions:
        kinds.setdefault(type(action), []).append(action)

    return Commit(
        version=version,
        info=_last(kinds.get(CommitInfo)),
        protocol=_last(kinds.get(Protocol)),
        metadata=_last(kinds.get(Metadata)),
        adds=tuple(kinds.get(AddFile, ())),
        removes=tuple(kinds.get(RemoveFile, ())),
        txns=tuple(kinds.get(AppTransaction, ())),
        domains=tuple(kinds.get(DomainMetadata, ())),
    )


def _last(found: list[Any] | None) -> Any:
    return found[-1] if found else None
