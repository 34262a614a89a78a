"""A client of the Delta API by hand: small bodies, staged files, and answers as they came."""

import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import httpx

from headgate.protocol.actions import (
    Action,
    CommitInfo,
    EpochMillis,
    Format,
    Metadata,
    Protocol,
    TxnId,
    Version,
)
from headgate.protocol.log import codec, file_names
from headgate.storage.locate import locate
from tests.support.commits import MANAGED
from tests.support.tables import named_file
from tests.support.waiting import PATIENCE_SECONDS

BASE = "/api/2.1/unity-catalog/delta/v1"
COLUMNS = {
    "type": "struct",
    "fields": [
        {"name": "id", "type": "long", "nullable": True, "metadata": {}},
        {"name": "writer", "type": "string", "nullable": True, "metadata": {}},
    ],
}
SCHEMA_STRING = (
    '{"type":"struct","fields":[{"name":"id","type":"long","nullable":true,"metadata":{}},'
    '{"name":"writer","type":"string","nullable":true,"metadata":{}}]}'
)
PROTOCOL = {
    "min-reader-version": 3,
    "min-writer-version": 7,
    "reader-features": list(MANAGED.reader_features or ()),
    "writer-features": list(MANAGED.writer_features or ()),
}


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def file_path(location: str) -> Path:
    """The folder that a ``file:`` URL names."""
    return Path(unquote(urlsplit(location).path))


def commit_content(stamp: int, *actions: Action, txn_id: str | None = None, **said: Any) -> bytes:
    """A commit of these actions; an added file, if there are none."""
    info = CommitInfo(
        in_commit_timestamp=EpochMillis(stamp), txn_id=None if txn_id is None else TxnId(txn_id), **said
    )
    return codec.encode((info, *(actions or (named_file(f"{uuid.uuid4()}.parquet"),))))


def first_metadata(**configuration: str) -> Metadata:
    """What version 0 says; keywords are properties with ``_`` for ``.``."""
    more = {key.replace("_", "."): value for key, value in configuration.items()}
    return Metadata(
        id=str(uuid.uuid4()),
        format=Format(provider="parquet", options={}),
        schema_string=SCHEMA_STRING,
        partition_columns=(),
        configuration={"delta.enableInCommitTimestamps": "true", **more},
    )


@dataclass(frozen=True, slots=True)
class StagedFile:
    """A staged commit, as an update names it."""

    version: int
    file_name: str
    content: bytes
    stamp: int

    @property
    def body(self) -> dict[str, Any]:
        return {
            "version": self.version,
            "timestamp": self.stamp,
            "file-name": self.file_name,
            "file-size": len(self.content),
            "file-modification-timestamp": now_ms(),
        }

    @property
    def update(self) -> dict[str, Any]:
        return {"action": "add-commit", "commit": self.body}


def stage_file(
    location: str, version: int, *actions: Action, stamp: int | None = None, txn_id: str | None = "new"
) -> StagedFile:
    """Write a staged commit; without a ``txn_id`` it does not say which transaction it is."""
    moment = stamp or now_ms() + version
    content = commit_content(moment, *actions, txn_id=str(uuid.uuid4()) if txn_id == "new" else txn_id)
    name = file_names.staged_file_name(Version(version), str(uuid.uuid4()))
    locate(location).put(file_names.STAGED_FOLDER + name, content)
    return StagedFile(version, name, content, moment)


def publish_file(location: str, staged: StagedFile) -> None:
    """Copy a staged commit into the log, as clients do."""
    locate(location).put(file_names.published_path(Version(staged.version)), staged.content)


def published(location: str, version: int) -> Path:
    return file_path(location) / file_names.published_path(Version(version))


@dataclass
class DeltaTable:
    """A table at the far end, by its name."""

    api: "DeltaApi"
    name: str
    uuid: str
    location: str

    @property
    def path(self) -> str:
        return f"{self.api.schema_path}/tables/{self.name}"

    def load(self, **query: str) -> dict[str, Any]:
        found: dict[str, Any] = self.api.get(self.path, params=query).raise_for_status().json()
        return found

    def update(
        self, *updates: Mapping[str, Any], etag: str | None = None, uuid: str | None = None, **query: str
    ) -> httpx.Response:
        requirements: list[dict[str, str]] = [{"type": "assert-table-uuid", "uuid": uuid or self.uuid}]
        if etag is not None:
            requirements.append({"type": "assert-etag", "etag": etag})
        return self.api.post(self.path, {"requirements": requirements, "updates": list(updates)}, **query)

    def commit(self, version: int, *actions: Action, backfilled: int | None = None) -> StagedFile:
        """Stage and commit; it must succeed."""
        staged = stage_file(self.location, version, *actions)
        answered = self.update(staged.update, *([] if backfilled is None else [backfill(backfilled)]))
        assert answered.status_code == 200, answered.text
        return staged


@dataclass
class DeltaApi:
    """A client of one lake and one schema."""

    url: str
    lake: str = "unity"
    schema: str = "sales"
    http: httpx.Client = field(default_factory=lambda: httpx.Client(timeout=PATIENCE_SECONDS))

    @property
    def schema_path(self) -> str:
        return f"/catalogs/{self.lake}/schemas/{self.schema}"

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.http.get(self.url + BASE + path, **options)

    def post(
        self, path: str, body: Any, headers: Mapping[str, str] | None = None, **query: str
    ) -> httpx.Response:
        return self.http.post(self.url + BASE + path, json=body, params=query, headers=headers)

    def stage(self, name: str) -> dict[str, Any]:
        staging: dict[str, Any] = (
            self.post(f"{self.schema_path}/staging-tables", {"name": name}).raise_for_status().json()
        )
        return staging

    def create(self, name: str = "orders", **more: Any) -> DeltaTable:
        """A new table, made as foreign clients make one."""
        staging = self.stage(name)
        write_version_0(staging, **more)
        self.post(f"{self.schema_path}/tables", create_body(name, staging)).raise_for_status()
        return DeltaTable(self, name, staging["table-id"], staging["location"])


def write_version_0(
    staging: Mapping[str, Any],
    *actions: Action,
    protocol: Protocol = MANAGED,
    metadata: Metadata | None = None,
    txn_id: str | None = "new",
) -> None:
    """What a client writes before it has its table registered."""
    described = metadata or first_metadata(io_unitycatalog_tableId=staging["table-id"])
    named = str(uuid.uuid4()) if txn_id == "new" else txn_id
    content = commit_content(now_ms(), protocol, described, *actions, txn_id=named)
    locate(staging["location"]).put(file_names.published_path(Version(0)), content)


def create_body(name: str, staging: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    """The request that gives a table its name."""
    return {
        "name": name,
        "location": staging["location"],
        "table-type": "MANAGED",
        "columns": COLUMNS,
        "protocol": PROTOCOL,
        "properties": {
            "delta.enableInCommitTimestamps": "true",
            "io.unitycatalog.tableId": staging["table-id"],
        },
        "last-commit-timestamp-ms": now_ms(),
        **changes,
    }


def backfill(version: int) -> dict[str, Any]:
    return {"action": "set-latest-backfilled-version", "latest-published-version": version}


def error_of(answered: httpx.Response) -> tuple[int, str]:
    """Status and type of an error."""
    return answered.status_code, answered.json()["error"]["type"]


INVALID = (400, "InvalidParameterValueException")
NO_TABLE = (404, "NoSuchTableException")
EXISTS = (409, "AlreadyExistsException")
TAKEN = (409, "CommitVersionConflictException")
NOT_MET = (409, "UpdateRequirementConflictException")
EXHAUSTED = (429, "ResourceExhaustedException")
UNKNOWN = (500, "CommitStateUnknownException")
