"""What is said in the Delta API of Unity Catalog, ``/delta/v1``? Its bodies, for servers and for clients.

Names are written with hyphens there. What our own server adds is marked as an extension: everybody else
ignores it in answers, and it is sent only to a server that says in its ``config`` that it knows it.
"""

from typing import Annotated, Any

import msgspec

from headgate.protocol.actions import Protocol

Positive = Annotated[int, msgspec.Meta(ge=1, le=2**63 - 1)]
Natural = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
FileName = Annotated[str, msgspec.Meta(min_length=1, max_length=255, pattern=r"^[^/\\]+$")]
"""One segment of a path."""

MANAGED, EXTERNAL = "MANAGED", "EXTERNAL"
PROTOCOL_VERSION = "1.0"
UUID_PROPERTY = "io.unitycatalog.tableId"
FEATURE_PREFIX, SUPPORTED = "delta.feature.", "supported"


class DeltaApiBody(msgspec.Struct, frozen=True, kw_only=True, rename="kebab", omit_defaults=True):
    """A body of the API, or a part of one."""


class ProtocolBody(DeltaApiBody, frozen=True, kw_only=True):
    """A table's protocol."""

    min_reader_version: Natural
    min_writer_version: Natural
    reader_features: tuple[str, ...] | None = None
    writer_features: tuple[str, ...] | None = None


def protocol_body(protocol: Protocol) -> ProtocolBody:
    """A protocol as the API has it."""
    return ProtocolBody(
        min_reader_version=protocol.min_reader_version,
        min_writer_version=protocol.min_writer_version,
        reader_features=protocol.reader_features,
        writer_features=protocol.writer_features,
    )


class SuggestedProtocol(DeltaApiBody, frozen=True, kw_only=True):
    """The features a new table should have, if its writer can."""

    reader_features: tuple[str, ...]
    writer_features: tuple[str, ...]


class StorageCredential(DeltaApiBody, frozen=True, kw_only=True):
    """With what the files below a prefix can be read, or written too."""

    prefix: str
    operation: str
    expiration_time_ms: int
    config: dict[str, str]


class CredentialsAnswer(DeltaApiBody, frozen=True, kw_only=True):
    """Credentials, the most specific prefix counts."""

    storage_credentials: tuple[StorageCredential, ...]


class ConfigAnswer(DeltaApiBody, frozen=True, kw_only=True):
    """What a server can do, as ``METHOD /v1/…``."""

    endpoints: tuple[str, ...]
    protocol_version: str
    extensions: tuple[str, ...] | None = None
    """Extension: what else it understands, by name."""


class StagingRequest(DeltaApiBody, frozen=True, kw_only=True):
    """A place for a table of this name."""

    name: str


class StagingAnswer(DeltaApiBody, frozen=True, kw_only=True):
    """The place, and what version 0 must say there; in properties None leaves the value to the client."""

    table_id: str
    table_type: str
    location: str
    storage_credentials: tuple[StorageCredential, ...]
    required_protocol: ProtocolBody
    suggested_protocol: SuggestedProtocol
    required_properties: dict[str, str | None]
    suggested_properties: dict[str, str | None]


class ClusteringDomain(msgspec.Struct, frozen=True, rename="camel"):
    """By which columns a table is clustered, each a path of physical names."""

    clustering_columns: tuple[tuple[str, ...], ...]


class RowTrackingDomain(msgspec.Struct, frozen=True, rename="camel"):
    """The highest row id that was given."""

    row_id_high_water_mark: int


class DomainsBody(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    rename={"clustering": "delta.clustering", "row_tracking": "delta.rowTracking"},
):
    """The metadata domains that the API knows."""

    clustering: ClusteringDomain | None = None
    row_tracking: RowTrackingDomain | None = None


class CreateTableRequest(DeltaApiBody, frozen=True, kw_only=True):
    """A table whose version 0 is written; all of it is in there too."""

    name: str
    location: str
    table_type: str
    comment: str | None = None
    columns: Any
    partition_columns: tuple[str, ...] | None = None
    protocol: ProtocolBody
    properties: dict[str, str]
    domain_metadata: DomainsBody | None = None
    last_commit_timestamp_ms: Natural
    uniform: Any = None


class CommitBody(DeltaApiBody, frozen=True, kw_only=True):
    """A ratified commit that is not published, or one that shall be ratified.

    Instead of a file it may have its content (an extension).
    """

    version: Positive
    timestamp: Positive
    file_name: FileName | None = None
    file_size: Positive | None = None
    file_modification_timestamp: Positive | None = None
    content: str | None = None
    """Extension: the lines of the commit itself."""


class TableMetadata(DeltaApiBody, frozen=True, kw_only=True):
    """What a table is; ``properties`` are its own and those that a server derives."""

    etag: str
    table_type: str
    table_uuid: str
    location: str
    created_time: int
    updated_time: int
    columns: Any
    partition_columns: tuple[str, ...]
    properties: dict[str, str]
    last_commit_version: int | None = None
    last_commit_timestamp_ms: int | None = None
    protocol: ProtocolBody | None = None
    """Extension."""
    domain_metadata: dict[str, str] | None = None
    """Extension: the configuration of every live domain, by its name."""
    comment: str | None = None
    """Extension."""


class TableAnswer(DeltaApiBody, frozen=True, kw_only=True):
    """A table as it is at its latest version, and the commits, newest first, that are not published."""

    metadata: TableMetadata
    commits: tuple[CommitBody, ...]
    latest_table_version: int


class RenameRequest(DeltaApiBody, frozen=True, kw_only=True):
    """Another name in the same schema."""

    new_name: str


class Requirement(DeltaApiBody, frozen=True, kw_only=True, tag_field="type"):
    """What must hold of the table for an update to be made."""


class AssertTableUuid(Requirement, frozen=True, kw_only=True, tag="assert-table-uuid"):
    """It is this table, and not another of its name."""

    uuid: str


class AssertEtag(Requirement, frozen=True, kw_only=True, tag="assert-etag"):
    """Nobody changed its metadata."""

    etag: str


class AssertLatestVersion(Requirement, frozen=True, kw_only=True, tag="assert-latest-version"):
    """Extension, in transactions, of a table that is only read: this is its latest version."""

    version: Natural


Requirements = AssertTableUuid | AssertEtag | AssertLatestVersion


class Update(DeltaApiBody, frozen=True, kw_only=True, tag_field="action"):
    """One change of a table."""


class AddCommit(Update, frozen=True, kw_only=True, tag="add-commit"):
    """Ratify a commit."""

    commit: CommitBody
    uniform: Any = None
    any_version: bool = False
    """Extension, for content that only adds files: a later version will do."""


class SetLatestBackfilledVersion(Update, frozen=True, kw_only=True, tag="set-latest-backfilled-version"):
    """All versions up to this one are published."""

    latest_published_version: Natural


class SetProperties(Update, frozen=True, kw_only=True, tag="set-properties"):
    """Properties that the commit sets."""

    updates: dict[str, str]


class RemoveProperties(Update, frozen=True, kw_only=True, tag="remove-properties"):
    """Properties that the commit takes away."""

    removals: tuple[str, ...]


class SetProtocol(Update, frozen=True, kw_only=True, tag="set-protocol"):
    """The protocol after the commit, all of it."""

    protocol: ProtocolBody


class SetColumns(Update, frozen=True, kw_only=True, tag="set-columns"):
    """The columns after the commit, all of them."""

    columns: Any


class SetPartitionColumns(Update, frozen=True, kw_only=True, tag="set-partition-columns"):
    """The partition columns after the commit."""

    partition_columns: tuple[str, ...]


class SetTableComment(Update, frozen=True, kw_only=True, tag="set-table-comment"):
    """The comment after the commit."""

    comment: str | None = None


class SetDomainMetadata(Update, frozen=True, kw_only=True, tag="set-domain-metadata"):
    """Domains that the commit writes."""

    updates: DomainsBody


class RemoveDomainMetadata(Update, frozen=True, kw_only=True, tag="remove-domain-metadata"):
    """Domains that the commit removes."""

    domains: tuple[str, ...]


class UpdateSnapshotVersion(Update, frozen=True, kw_only=True, tag="update-metadata-snapshot-version"):
    """How far an external table has come."""

    last_commit_version: Natural
    last_commit_timestamp_ms: Natural


Updates = (
    AddCommit
    | SetLatestBackfilledVersion
    | SetProperties
    | RemoveProperties
    | SetProtocol
    | SetColumns
    | SetPartitionColumns
    | SetTableComment
    | SetDomainMetadata
    | RemoveDomainMetadata
    | UpdateSnapshotVersion
)


class UpdateTableRequest(DeltaApiBody, frozen=True, kw_only=True):
    """All updates are made, if all requirements are met, or none."""

    requirements: tuple[Requirements, ...]
    updates: tuple[Updates, ...]


class FileSizeHistogram(DeltaApiBody, frozen=True, kw_only=True):
    """How many files there are of each size."""

    sorted_bin_boundaries: tuple[int, ...]
    file_counts: tuple[int, ...]
    total_bytes: tuple[int, ...]
    commit_version: int | None = None


class CommitReport(DeltaApiBody, frozen=True, kw_only=True):
    """What a commit did, in numbers."""

    num_files_added: int | None = None
    num_bytes_added: int | None = None
    num_files_removed: int | None = None
    num_bytes_removed: int | None = None
    num_rows_inserted: int | None = None
    num_rows_removed: int | None = None
    num_rows_updated: int | None = None
    file_size_histogram: FileSizeHistogram | None = None


class MetricsReport(DeltaApiBody, frozen=True, kw_only=True):
    """What a client measured."""

    commit_report: CommitReport | None = None


class MetricsRequest(DeltaApiBody, frozen=True, kw_only=True):
    """What a client measured of this table."""

    table_id: str
    report: MetricsReport | None = None


class TableIdentifier(DeltaApiBody, frozen=True, kw_only=True):
    """Extension: a table's name in its lake."""

    schema: str
    name: str


class TableChange(DeltaApiBody, frozen=True, kw_only=True):
    """Extension: what a transaction does with one table; one without updates was only read."""

    identifier: TableIdentifier
    requirements: tuple[Requirements, ...]
    updates: tuple[Updates, ...] = ()


class TransactionRequest(DeltaApiBody, frozen=True, kw_only=True):
    """Extension: changes of several tables, of which all are made or none."""

    table_changes: tuple[TableChange, ...]


class IdentifiedTable(DeltaApiBody, frozen=True, kw_only=True):
    """Extension: a table as an answer about several has it."""

    identifier: TableIdentifier
    table: TableAnswer


class TablesAnswer(DeltaApiBody, frozen=True, kw_only=True):
    """Extension: several tables at one moment."""

    tables: tuple[IdentifiedTable, ...]


class BatchLoadRequest(DeltaApiBody, frozen=True, kw_only=True):
    """Extension: load these tables as they are at one moment."""

    tables: tuple[TableIdentifier, ...]


class TableConflict(DeltaApiBody, frozen=True, kw_only=True):
    """Extension: a table that moved, and the commits that moved it, oldest first."""

    identifier: TableIdentifier
    latest_table_version: int
    winning_commits: tuple[CommitBody, ...]
