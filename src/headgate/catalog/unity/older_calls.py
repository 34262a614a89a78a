"""The older API of Unity Catalog, as a client: for servers that have no Delta API.

Tables are ``catalog.schema.table`` there, and commits are asked for by the table's id, in the body of a GET,
some versions at a time. It has no word for protocols and domains: the log says them.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from headgate.catalog.ports.commits import (
    RatifiedCommit,
    StagedCommit,
    TableId,
    txn_id_from_file_name,
)
from headgate.catalog.ports.directory import StagingTable, TableEntry, TableName
from headgate.catalog.unity.delta_calls import BASE, build_tail, decode_answer
from headgate.catalog.unity.http_calls import Answered, UnityServer, segment
from headgate.catalog.unity.table_api import StagedTable, UnityProposal, UnityTableState
from headgate.catalog.wire.unity_api import (
    AskTableCredentials,
    AskUnityCommits,
    CreateUnityStagingTable,
    CreateUnityTable,
    ProposeUnityCommit,
    UnityBody,
    UnityCommit,
    UnityCommitMetadata,
    UnityCommits,
)
from headgate.catalog.wire.unity_columns import unity_columns
from headgate.catalog.wire.unity_credentials import credential_config
from headgate.errors import CorruptLog, UnsupportedFeature
from headgate.protocol.actions import Commit, EpochMillis, Version
from headgate.storage import location_spelling
from headgate.storage.credentials import NO_EXPIRY_MS, StorageOperation, VendedCredential

COMMITS = f"{BASE}/delta/preview/commits"


class OlderTable(UnityBody, frozen=True, kw_only=True):
    """A table, as leniently as it can be read."""

    name: str
    table_id: str
    storage_location: str
    schema_name: str = ""
    table_type: str | None = None
    data_source_format: str | None = None
    created_at: int | None = None
    properties: Mapping[str, str] | None = None


class OlderStagingTable(UnityBody, frozen=True, kw_only=True):
    """A reserved place."""

    id: str
    staging_location: str


class OlderCredentials(UnityBody, frozen=True, kw_only=True):
    """What is vended, in one of three forms."""

    aws_temp_credentials: Mapping[str, str | None] | None = None
    azure_user_delegation_sas: Mapping[str, str | None] | None = None
    gcp_oauth_token: Mapping[str, str | None] | None = None
    expiration_time: int | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True)
class OlderCalls:
    """The port ``TableApi`` for one catalog of a server."""

    server: UnityServer
    catalog: str

    def stage(self, name: TableName) -> StagedTable:
        asked = CreateUnityStagingTable(name=name.table, catalog_name=self.catalog, schema_name=name.schema)
        answer = self.server.send_safely("POST", f"{BASE}/staging-tables", msgspec.json.encode(asked))
        found = decode_answer(answer, OlderStagingTable, f"a place for {name}")
        place = location_spelling.without_slash(found.staging_location)
        return StagedTable(StagingTable(TableId(found.id), place))

    def create(self, staging: StagingTable, name: TableName, first: Commit) -> Answered:
        assert first.metadata is not None
        asked = CreateUnityTable(
            name=name.table,
            catalog_name=self.catalog,
            schema_name=name.schema,
            table_type="MANAGED",
            data_source_format="DELTA",
            columns=unity_columns(first.metadata),
            storage_location=location_spelling.location_url(staging.location),
            comment=first.metadata.description,
            properties=dict(first.metadata.configuration),
        )
        return self.server.send("POST", f"{BASE}/tables", msgspec.json.encode(asked))

    def load(self, name: TableName) -> UnityTableState:
        answer = self.server.send_safely("GET", self._table(name))
        found = decode_answer(answer, OlderTable, f"table {name}")
        if found.table_type not in (None, "MANAGED"):
            raise UnsupportedFeature(
                f"{name} is not a managed table, so its versions are files of its log alone: open it by its "
                f"path, headgate.at_path({found.storage_location!r})",
                code="DELTA_UNSUPPORTED_CATALOG_MANAGED_TABLE_OPERATION",
            )
        entry = older_entry(found, name)
        latest, commits = self._commits(entry)
        return UnityTableState(entry, build_tail(latest, commits), found.properties or {})

    def _commits(self, table: TableEntry) -> tuple[int, tuple[RatifiedCommit, ...]]:
        """The unpublished commits: as many pages as it takes to come to the latest version."""
        latest, found = self._page(table, 0)
        commits = {commit.version: commit for commit in found}
        while found and max(commits) < latest:
            latest, found = self._page(table, max(commits) + 1)
            if found and found[-1].version in commits:
                raise CorruptLog(
                    f"the server answers the same commits of {table.name} again, and not those up to its "
                    f"latest version, {latest}",
                    version=latest,
                )
            commits |= {commit.version: commit for commit in found}
        return latest, tuple(_ratified(commits[version]) for version in sorted(commits))

    def _page(self, table: TableEntry, start: int) -> tuple[int, tuple[UnityCommit, ...]]:
        asked = AskUnityCommits(
            table_id=table.table_id,
            table_uri=location_spelling.location_url(table.location),
            start_version=start,
        )
        answer = self.server.send_safely("GET", COMMITS, msgspec.json.encode(asked))
        found = decode_answer(answer, UnityCommits, f"the commits of {table.name}")
        ordered = sorted(found.commits, key=lambda commit: commit.version)
        return max(found.latest_table_version, 0), tuple(ordered)

    def commit(self, table: TableEntry, proposal: UnityProposal, before: Mapping[str, str]) -> Answered:  # noqa: ARG002 — it takes all properties
        told = UnityCommit(
            version=proposal.version,
            timestamp=proposal.timestamp,
            file_name=proposal.staged.file_name,
            file_size=proposal.size,
            file_modification_timestamp=proposal.modified_ms,
        )
        metadata = proposal.commit.metadata
        changed = None
        if metadata is not None:
            changed = UnityCommitMetadata(
                description=metadata.description,
                properties={"properties": dict(metadata.configuration)},
                schema={"columns": unity_columns(metadata)},
            )
        return self._propose(_asked(table, commit_info=told, metadata=changed))

    def report_published(self, table: TableEntry, version: Version) -> Answered:
        return self._propose(_asked(table, latest_backfilled_version=version))

    def _propose(self, asked: ProposeUnityCommit) -> Answered:
        return self.server.send("POST", COMMITS, msgspec.json.encode(asked))

    def drop(self, name: TableName) -> Answered:
        return self.server.send("DELETE", self._table(name))

    def rename(self, name: TableName, to: TableName) -> Answered:
        raise UnsupportedFeature(
            f"{name} cannot become {to}: this server has no Delta API, and the older one renames no tables",
            code="HEADGATE_NOT_OFFERED",
        )

    def credentials(self, table: TableEntry, operation: StorageOperation) -> tuple[VendedCredential, ...]:
        return self._vended(table.table_id, table.location, operation)

    def staging_credentials(self, table_id: TableId) -> tuple[VendedCredential, ...]:
        return self._vended(table_id, "", StorageOperation.READ_WRITE)

    def _vended(
        self, table_id: TableId, location: str, operation: StorageOperation
    ) -> tuple[VendedCredential, ...]:
        asked = AskTableCredentials(table_id=table_id, operation=operation.value)
        answer = self.server.send_safely(
            "POST", f"{BASE}/temporary-table-credentials", msgspec.json.encode(asked)
        )
        found = decode_answer(answer, OlderCredentials, "access to the files of a table")
        config = credential_config(msgspec.structs.asdict(found))
        ends = NO_EXPIRY_MS if found.expiration_time is None else found.expiration_time
        prefix = found.url or location
        return (VendedCredential(prefix, operation, ends, config),) if config and prefix else ()

    def _table(self, name: TableName) -> str:
        return f"{BASE}/tables/{segment(f'{self.catalog}.{name.schema}.{name.table}')}"


def older_entry(found: OlderTable, name: TableName) -> TableEntry:
    """A table as the directory knows it."""
    return TableEntry(
        TableId(found.table_id),
        name,
        location_spelling.without_slash(found.storage_location),
        EpochMillis(found.created_at or 0),
    )


def _asked(
    table: TableEntry,
    *,
    commit_info: UnityCommit | None = None,
    latest_backfilled_version: int | None = None,
    metadata: UnityCommitMetadata | None = None,
) -> ProposeUnityCommit:
    return ProposeUnityCommit(
        table_id=table.table_id,
        table_uri=location_spelling.location_url(table.location),
        commit_info=commit_info,
        latest_backfilled_version=latest_backfilled_version,
        metadata=metadata,
    )


def _ratified(commit: UnityCommit) -> RatifiedCommit:
    return RatifiedCommit(
        Version(commit.version),
        txn_id_from_file_name(commit.file_name),
        EpochMillis(commit.timestamp),
        StagedCommit(commit.file_name),
    )
