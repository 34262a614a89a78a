"""The Delta API of Unity Catalog, ``/delta/v1``, as a client: tables by name, commits as updates of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from headgate.catalog.ports.commits import (
    RatifiedCommit,
    StagedCommit,
    TableId,
    Tail,
    txn_id_from_file_name,
)
from headgate.catalog.ports.directory import StagingTable, TableEntry, TableName
from headgate.catalog.unity import delta_updates
from headgate.catalog.unity.http_calls import Answered, UnityAnswer, UnityServer, segment
from headgate.catalog.unity.refusals import refusal
from headgate.catalog.unity.table_api import StagedTable, UnityProposal, UnityTableState
from headgate.catalog.wire import delta_api, delta_columns
from headgate.catalog.wire.delta_api import (
    FEATURE_PREFIX,
    MANAGED,
    SUPPORTED,
    AddCommit,
    AssertTableUuid,
    CommitBody,
    CreateTableRequest,
    DeltaApiBody,
    RenameRequest,
    SetLatestBackfilledVersion,
    StagingRequest,
    TableMetadata,
    Updates,
    UpdateTableRequest,
)
from headgate.errors import CatalogUnavailable, InvalidRequest, UnsupportedFeature
from headgate.protocol.actions import Commit, EpochMillis, Version
from headgate.protocol.schema import json as schema_json
from headgate.storage import location_spelling
from headgate.storage.credentials import NO_EXPIRY_MS, StorageOperation, VendedCredential

Body = TypeVar("Body")
BASE = "/api/2.1/unity-catalog"
DELTA = f"{BASE}/delta/v1"


class VendedBody(DeltaApiBody, frozen=True, kw_only=True):
    """A credential, whose end some servers leave out."""

    prefix: str
    operation: str
    expiration_time_ms: int | None = None
    config: dict[str, str] = msgspec.field(default_factory=dict)


class VendedAnswer(DeltaApiBody, frozen=True, kw_only=True):
    """What a server vends, as leniently as it can be read."""

    storage_credentials: tuple[VendedBody, ...] = ()


class ReservedAnswer(DeltaApiBody, frozen=True, kw_only=True):
    """A place, and of what a table there must be what is needed here."""

    table_id: str
    location: str
    storage_credentials: tuple[VendedBody, ...] = ()
    required_protocol: dict[str, Any] = msgspec.field(default_factory=dict)
    required_properties: dict[str, str | None] = msgspec.field(default_factory=dict)


class StateAnswer(DeltaApiBody, frozen=True, kw_only=True):
    """A table as any server of this API answers; what it need not say may be missing."""

    metadata: TableMetadata
    commits: tuple[CommitBody, ...] = ()
    latest_table_version: int = 0
    allowed_maintenance_operations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DeltaCalls:
    """The port ``TableApi`` for one catalog of a server."""

    server: UnityServer
    catalog: str

    def stage(self, name: TableName) -> StagedTable:
        answer = self.server.send_safely(
            "POST",
            f"{self._schema(name)}/staging-tables",
            msgspec.json.encode(StagingRequest(name=name.table)),
        )
        found = decode_answer(answer, ReservedAnswer, f"a place for {name}")
        place = location_spelling.without_slash(found.location)
        return StagedTable(
            StagingTable(TableId(found.table_id), place, _required(found)), _vended(found.storage_credentials)
        )

    def create(self, staging: StagingTable, name: TableName, first: Commit) -> Answered:
        assert first.metadata is not None
        assert first.protocol is not None
        metadata = first.metadata
        asked = CreateTableRequest(
            name=name.table,
            location=location_spelling.location_url(staging.location),
            table_type=MANAGED,
            comment=metadata.description,
            columns=delta_columns.columns_to_wire(schema_json.parse(metadata.schema_string)),
            partition_columns=metadata.partition_columns or None,
            protocol=delta_api.protocol_body(first.protocol),
            properties=dict(metadata.configuration),
            domain_metadata=delta_updates.domains_body(first.domains),
            last_commit_timestamp_ms=(first.info.in_commit_timestamp if first.info else None) or 0,
        )
        return self.server.send("POST", f"{self._schema(name)}/tables", msgspec.json.encode(asked))

    def load(self, name: TableName) -> UnityTableState:
        answer = self.server.send_safely("GET", self._table(name))
        return table_state(name, decode_answer(answer, StateAnswer, f"table {name}"))

    def commit(self, table: TableEntry, proposal: UnityProposal, before: Mapping[str, str]) -> Answered:
        body = CommitBody(
            version=proposal.version,
            timestamp=proposal.timestamp,
            file_name=proposal.staged.file_name,
            file_size=proposal.size,
            file_modification_timestamp=proposal.modified_ms,
        )
        changes = delta_updates.updates_of(proposal.commit, before)
        return self._update(table, (AddCommit(commit=body), *changes))

    def report_published(self, table: TableEntry, version: Version) -> Answered:
        # What the answer says of commits may be older than the report, so nobody looks at it.
        return self._update(table, (SetLatestBackfilledVersion(latest_published_version=version),))

    def drop(self, name: TableName) -> Answered:
        return self.server.send("DELETE", self._table(name))

    def rename(self, name: TableName, to: TableName) -> Answered:
        body = msgspec.json.encode(RenameRequest(new_name=to.table))
        return self.server.send("POST", f"{self._table(name)}/rename", body)

    def credentials(self, table: TableEntry, operation: StorageOperation) -> tuple[VendedCredential, ...]:
        answer = self.server.send_safely(
            "GET", f"{self._table(table.name)}/credentials", query={"operation": operation.value}
        )
        found = decode_answer(answer, VendedAnswer, f"access to the files of {table.name}")
        return _vended(found.storage_credentials)

    def staging_credentials(self, table_id: TableId) -> tuple[VendedCredential, ...]:
        answer = self.server.send_safely("GET", f"{DELTA}/staging-tables/{segment(table_id)}/credentials")
        return _vended(decode_answer(answer, VendedAnswer, "access to a reserved place").storage_credentials)

    def _update(self, table: TableEntry, updates: tuple[Updates, ...]) -> Answered:
        asked = UpdateTableRequest(requirements=(AssertTableUuid(uuid=table.table_id),), updates=updates)
        return self.server.send("POST", self._table(table.name), msgspec.json.encode(asked))

    def _schema(self, name: TableName) -> str:
        return f"{DELTA}/catalogs/{segment(self.catalog)}/schemas/{segment(name.schema)}"

    def _table(self, name: TableName) -> str:
        return f"{self._schema(name)}/tables/{segment(name.table)}"


def decode_answer(answer: UnityAnswer, kind: type[Body], asked: str) -> Body:
    """The body of a successful answer; whatever else it is, as an error."""
    if not answer.is_success:
        raise refusal(answer, asked)
    try:
        return msgspec.json.decode(answer.body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
        raise CatalogUnavailable(
            f"{asked}: the server's answer is not one of this API ({exc}); is there a Unity Catalog server "
            "at this address?"
        ) from exc


def table_state(name: TableName, found: StateAnswer) -> UnityTableState:
    """What an answer says of a table; ``UnsupportedFeature`` if no catalog decides its versions."""
    metadata = found.metadata
    if metadata.properties.get(f"{FEATURE_PREFIX}catalogManaged") != SUPPORTED:
        raise UnsupportedFeature(
            f"{name} is not a catalog-managed table, so its versions are files of its log alone: open it by "
            f"its path, headgate.at_path({metadata.location!r})",
            code="DELTA_UNSUPPORTED_CATALOG_MANAGED_TABLE_OPERATION",
        )
    entry = TableEntry(
        TableId(metadata.table_uuid),
        name,
        location_spelling.without_slash(metadata.location),
        EpochMillis(metadata.created_time),
    )
    commits = tuple(
        to_ratified_commit(commit) for commit in sorted(found.commits, key=lambda each: each.version)
    )
    tail = build_tail(found.latest_table_version, commits)
    allowed = frozenset(found.allowed_maintenance_operations)
    return UnityTableState(entry, tail, metadata.properties, allowed)


def build_tail(latest: int, commits: tuple[RatifiedCommit, ...]) -> Tail:
    """How far a table has come, and is published as far as the server was told."""
    bound = max((latest, *(commit.version for commit in commits)))
    return Tail(Version(bound), Version(commits[0].version - 1 if commits else bound), commits)


def to_ratified_commit(commit: CommitBody) -> RatifiedCommit:
    """A commit as the server has it: by the name of its file, whose UUID stands for its transaction."""
    if commit.file_name is None:
        raise InvalidRequest(
            f"version {commit.version} has no file, by the answer of this server: is it one of Unity Catalog?"
        )
    return RatifiedCommit(
        Version(commit.version),
        txn_id_from_file_name(commit.file_name),
        EpochMillis(commit.timestamp),
        StagedCommit(commit.file_name),
    )


def _required(found: ReservedAnswer) -> dict[str, str]:
    """What version 0 must say: properties with a value, and features as properties say them."""
    features = [
        *(found.required_protocol.get("reader-features") or ()),
        *(found.required_protocol.get("writer-features") or ()),
    ]
    stated = {key: value for key, value in found.required_properties.items() if value is not None}
    return {**stated, **{f"{FEATURE_PREFIX}{feature}": SUPPORTED for feature in features}}


def _vended(bodies: tuple[VendedBody, ...]) -> tuple[VendedCredential, ...]:
    return tuple(
        VendedCredential(
            each.prefix,
            StorageOperation(each.operation),
            NO_EXPIRY_MS if each.expiration_time_ms is None else each.expiration_time_ms,
            each.config,
        )
        for each in bodies
        if each.config and each.operation in StorageOperation.__members__
    )
