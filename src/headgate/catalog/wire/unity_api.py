"""The bodies of the older Unity Catalog API, with its names for things.

What a client sends and this server does not know is ignored; what it leaves out is None.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from headgate.catalog.wire.delta_api import FileName, Positive


class UnityBody(msgspec.Struct, frozen=True, kw_only=True):
    """A body of this API; its names are in snake_case already."""


class UnityCatalog(UnityBody, frozen=True, kw_only=True):
    """A lake, which is a catalog there."""

    name: str
    id: str
    comment: str | None = None
    properties: Mapping[str, str] = {}
    owner: str | None = None
    created_at: int | None = None
    updated_at: int | None = None


class UnityCatalogs(UnityBody, frozen=True, kw_only=True):
    """A page of lakes."""

    catalogs: tuple[UnityCatalog, ...]
    next_page_token: str | None = None


class UnitySchema(UnityBody, frozen=True, kw_only=True):
    """A schema of a lake."""

    name: str
    catalog_name: str
    full_name: str
    schema_id: str
    comment: str | None = None
    properties: Mapping[str, str] = {}
    owner: str | None = None
    created_at: int | None = None
    updated_at: int | None = None


class UnitySchemas(UnityBody, frozen=True, kw_only=True):
    """A page of schemas."""

    schemas: tuple[UnitySchema, ...]
    next_page_token: str | None = None


class CreateUnitySchema(UnityBody, frozen=True, kw_only=True):
    """A schema to be made; of comment and properties nothing is kept."""

    name: str
    catalog_name: str


class UnityColumn(UnityBody, frozen=True, kw_only=True):
    """A column as Spark and DuckDB want to read it."""

    name: str
    type_text: str = ""
    type_json: str = ""
    type_name: str = ""
    type_precision: int | None = 0
    type_scale: int | None = 0
    type_interval_type: str | None = None
    position: int | None = 0
    comment: str | None = None
    nullable: bool | None = True
    partition_index: int | None = None


class UnityTable(UnityBody, frozen=True, kw_only=True):
    """A table of a lake."""

    name: str
    catalog_name: str
    schema_name: str
    table_type: str
    data_source_format: str
    columns: tuple[UnityColumn, ...]
    storage_location: str
    table_id: str
    comment: str | None = None
    properties: Mapping[str, str] = {}
    owner: str | None = None
    created_at: int | None = None
    updated_at: int | None = None


class UnityTables(UnityBody, frozen=True, kw_only=True):
    """A page of tables."""

    tables: tuple[UnityTable, ...]
    next_page_token: str | None = None


class CreateUnityTable(UnityBody, frozen=True, kw_only=True):
    """A table whose version 0 was written to the place that was staged for it."""

    name: str
    catalog_name: str
    schema_name: str
    table_type: str
    data_source_format: str | None = None
    columns: tuple[UnityColumn, ...] | None = None
    storage_location: str | None = None
    comment: str | None = None
    properties: Mapping[str, str] | None = None


class CreateUnityStagingTable(UnityBody, frozen=True, kw_only=True):
    """A place asked for."""

    name: str
    catalog_name: str
    schema_name: str


class UnityStagingTable(UnityBody, frozen=True, kw_only=True):
    """The place that was reserved."""

    id: str
    name: str
    catalog_name: str
    schema_name: str
    staging_location: str


class UnityCommit(UnityBody, frozen=True, kw_only=True):
    """A staged commit that is to be ratified, or was."""

    version: Positive
    timestamp: Positive
    file_name: FileName
    file_size: Positive
    file_modification_timestamp: Positive


class UnityCommitMetadata(UnityBody, frozen=True, kw_only=True):
    """What a commit changes besides rows. The commit itself says it too, and that is what counts."""

    description: str | None = None
    properties: Any = None
    schema: Any = None


class ProposeUnityCommit(UnityBody, frozen=True, kw_only=True):
    """A commit to be ratified, a report of how far the log is published, or both."""

    table_id: str
    table_uri: str
    commit_info: UnityCommit | None = None
    latest_backfilled_version: int | None = None
    metadata: UnityCommitMetadata | None = None
    uniform: Any = None


class AskUnityCommits(UnityBody, frozen=True, kw_only=True):
    """Which commits are wanted; the body of a GET."""

    table_id: str
    table_uri: str | None = None
    start_version: int = 0
    end_version: int | None = None


class UnityCommits(UnityBody, frozen=True, kw_only=True):
    """The commits that are ratified and not published, low versions first; and the latest version."""

    commits: tuple[UnityCommit, ...]
    latest_table_version: int


class AskTableCredentials(UnityBody, frozen=True, kw_only=True):
    """For which table, or place reserved for one, and for what."""

    table_id: str
    operation: str


class AskPathCredentials(UnityBody, frozen=True, kw_only=True):
    """For which place, and for what."""

    url: str
    operation: str


class UnityCredentials(UnityBody, frozen=True, kw_only=True, omit_defaults=True):
    """What opens a store; a disk needs none."""

    url: str
    expiration_time: int
    aws_temp_credentials: Mapping[str, str] | None = None
    azure_user_delegation_sas: Mapping[str, str] | None = None
    gcp_oauth_token: Mapping[str, str] | None = None


class MetastoreSummary(UnityBody, frozen=True, kw_only=True):
    """Which server this is, for clients that tell catalogs apart by it."""

    metastore_id: str


class PrivilegeAssignment(UnityBody, frozen=True, kw_only=True):
    """What one principal may do with one thing."""

    principal: str
    privileges: tuple[str, ...]


class PermissionsList(UnityBody, frozen=True, kw_only=True):
    """What everybody was granted on one thing."""

    privilege_assignments: tuple[PrivilegeAssignment, ...]


class PermissionsChange(UnityBody, frozen=True, kw_only=True):
    """What is granted to one principal, and what is taken away."""

    principal: str
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()


class UpdatePermissions(UnityBody, frozen=True, kw_only=True):
    """Changes of what was granted on one thing."""

    changes: tuple[PermissionsChange, ...] = ()
