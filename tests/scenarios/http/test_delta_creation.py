"""Tables made through the Delta API: staged, written, declared, named; and found, renamed, dropped."""

from collections.abc import Mapping
from typing import Any

import httpx
import msgspec
import pytest

from headgate.catalog.catalog import Catalog
from headgate.protocol.actions import Protocol
from tests.support.commits import MANAGED
from tests.support.delta_api import (
    COLUMNS,
    EXISTS,
    INVALID,
    NO_TABLE,
    NOT_MET,
    PROTOCOL,
    DeltaApi,
    DeltaTable,
    create_body,
    error_of,
    file_path,
    first_metadata,
    published,
    stage_file,
    write_version_0,
)
from tests.support.http_server import EverybodyIs, serving

NESTED = {
    "kebab": {
        "type": "struct",
        "fields": [
            {"name": "a", "type": {"type": "array", "element-type": "long", "contains-null": True}},
            {
                "name": "m",
                "type": {
                    "type": "map",
                    "key-type": "string",
                    "value-type": {"type": "array", "element-type": "decimal(10,2)", "contains-null": False},
                    "value-contains-null": True,
                },
            },
        ],
    },
    "camel": {
        "type": "struct",
        "fields": [
            {"name": "a", "type": {"type": "array", "elementType": "long", "containsNull": True}},
            {
                "name": "m",
                "type": {
                    "type": "map",
                    "keyType": "string",
                    "valueType": {"type": "array", "elementType": "decimal(10,2)", "containsNull": False},
                    "valueContainsNull": True,
                },
            },
        ],
    },
}


def whole(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Columns with all that each must say."""
    fields = [{**field, "nullable": True, "metadata": {"key-type": "kept"}} for field in columns["fields"]]
    return {**columns, "fields": fields}


def test_what_is_required_is_what_the_catalog_needs(api: DeltaApi) -> None:
    staging = api.stage("orders")

    assert staging["table-type"] == "MANAGED"
    assert staging["required-protocol"] == {
        "min-reader-version": 3,
        "min-writer-version": 7,
        "reader-features": ["catalogManaged", "vacuumProtocolCheck"],
        "writer-features": ["catalogManaged", "vacuumProtocolCheck", "inCommitTimestamp"],
    }
    assert staging["required-properties"] == {
        "delta.enableInCommitTimestamps": "true",
        "io.unitycatalog.tableId": staging["table-id"],
    }
    assert {"deletionVectors", "v2Checkpoint"} <= set(staging["suggested-protocol"]["reader-features"])
    assert staging["location"].startswith("file:///")
    assert not staging["location"].endswith("/")
    assert (file_path(staging["location"]) / "_delta_log/_staged_commits").is_dir()
    (credential,) = staging["storage-credentials"]
    assert credential["config"] == {}
    assert credential["operation"] == "READ_WRITE"
    assert credential["prefix"] == staging["location"]
    assert credential["expiration-time-ms"] > 4_000_000_000_000


@pytest.mark.parametrize("missing", ["catalogManaged", "vacuumProtocolCheck", "inCommitTimestamp"])
def test_a_table_without_a_required_feature_is_refused(api: DeltaApi, missing: str) -> None:
    staging = api.stage("orders")
    less = Protocol(
        min_reader_version=3,
        min_writer_version=7,
        reader_features=tuple(f for f in MANAGED.reader_features or () if f != missing),
        writer_features=tuple(f for f in MANAGED.writer_features or () if f != missing),
    )
    write_version_0(staging, protocol=less)
    body = create_body(
        "orders",
        staging,
        protocol={
            **PROTOCOL,
            "reader-features": list(less.reader_features or ()),
            "writer-features": list(less.writer_features or ()),
        },
    )

    assert error_of(api.post(f"{api.schema_path}/tables", body)) == INVALID


def test_a_table_without_the_required_property_is_refused(api: DeltaApi) -> None:
    staging = api.stage("orders")
    metadata = msgspec.structs.replace(first_metadata(), configuration={})
    write_version_0(staging, metadata=metadata)

    answered = api.post(f"{api.schema_path}/tables", create_body("orders", staging, properties={}))

    assert error_of(answered) == INVALID


def test_a_table_is_registered_after_version_0_is_written(api: DeltaApi) -> None:
    staging = api.stage("orders")

    assert error_of(api.post(f"{api.schema_path}/tables", create_body("orders", staging))) == INVALID
    for content in (b"", b"nonsense", b'{"commitInfo":{}}\n'):
        published(staging["location"], 0).write_bytes(content)
        assert error_of(api.post(f"{api.schema_path}/tables", create_body("orders", staging))) == INVALID


@pytest.mark.parametrize(
    "declared",
    [
        {"columns": {"type": "struct", "fields": []}},
        {"columns": "nonsense"},
        {"columns": {"type": "struct", "fields": [{"name": "id"}]}},
        {"columns": {"type": "struct", "fields": "none"}},
        {"protocol": {"min-reader-version": 1, "min-writer-version": 2}},
        {"properties": {"never.set": "1"}},
        {"partition-columns": ["id"]},
        {"comment": "never said"},
        {"domain-metadata": {"delta.clustering": {"clusteringColumns": [["id"]]}}},
        {"table-type": "EXTERNAL"},
        {"uniform": {"iceberg": {}}},
        {"properties": {"a": None}},
        {"name": "not a name"},
        {"last-commit-timestamp-ms": None},
    ],
    ids=str,
)
def test_what_is_declared_must_be_what_version_0_says(api: DeltaApi, declared: dict[str, Any]) -> None:
    staging = api.stage("orders")
    write_version_0(staging)

    answered = api.post(f"{api.schema_path}/tables", {**create_body("orders", staging), **declared})

    assert error_of(answered) == INVALID
    api.post(f"{api.schema_path}/tables", create_body("orders", staging)).raise_for_status()


def test_a_table_of_another_id_is_refused(api: DeltaApi) -> None:
    staging = api.stage("orders")
    write_version_0(staging, metadata=first_metadata(io_unitycatalog_tableId="another"))

    assert error_of(api.post(f"{api.schema_path}/tables", create_body("orders", staging))) == INVALID


@pytest.mark.parametrize("spelling", list(NESTED))
def test_nested_types_are_read_in_both_spellings_and_written_in_one(api: DeltaApi, spelling: str) -> None:
    staging = api.stage("orders")
    metadata = msgspec.structs.replace(
        first_metadata(io_unitycatalog_tableId=staging["table-id"]),
        schema_string=msgspec.json.encode(whole(NESTED["camel"])).decode(),
    )
    write_version_0(staging, metadata=metadata)

    answered = api.post(
        f"{api.schema_path}/tables", create_body("orders", staging, columns=whole(NESTED[spelling]))
    )

    assert answered.status_code == 200, answered.text
    assert answered.json()["metadata"]["columns"] == whole(NESTED["kebab"])


def test_a_repeated_creation_is_the_same_table(api: DeltaApi) -> None:
    staging = api.stage("orders")
    write_version_0(staging)
    body = create_body("orders", staging)
    first = api.post(f"{api.schema_path}/tables", body)

    second = api.post(f"{api.schema_path}/tables", body)

    assert second.status_code == 200
    assert second.json() == first.json()
    assert error_of(api.post(f"{api.schema_path}/tables", create_body("other", staging))) == INVALID


def test_a_place_is_reserved_for_each_who_asks(api: DeltaApi) -> None:
    first, second = api.stage("orders"), api.stage("orders")
    assert first["location"] != second["location"]
    for staging in (first, second):
        write_version_0(staging)

    api.post(f"{api.schema_path}/tables", create_body("orders", first)).raise_for_status()

    assert error_of(api.post(f"{api.schema_path}/tables", create_body("orders", second))) == EXISTS
    assert error_of(api.post(f"{api.schema_path}/staging-tables", {"name": "orders"})) == EXISTS


@pytest.mark.parametrize(
    "location", ["file:///elsewhere/{id}", "s3://bucket/{id}", "file:///", "relative", "file://host/{id}"]
)
def test_nothing_is_staged_elsewhere(api: DeltaApi, location: str) -> None:
    staging = api.stage("orders")
    write_version_0(staging)
    body = create_body("orders", {**staging, "location": location.format(id=staging["table-id"])})

    assert api.post(f"{api.schema_path}/tables", body).status_code in (400, 404)
    assert api.get(f"{api.schema_path}/tables/orders").status_code == 404


@pytest.mark.parametrize("spelling", ["{url}/", "file:{path}", "file:{path}/", "{path}"])
def test_a_location_is_understood_however_it_is_spelled(api: DeltaApi, spelling: str) -> None:
    staging = api.stage("orders")
    write_version_0(staging)
    location = spelling.format(url=staging["location"], path=file_path(staging["location"]))

    answered = api.post(f"{api.schema_path}/tables", create_body("orders", {**staging, "location": location}))

    assert answered.status_code == 200, answered.text
    assert answered.json()["metadata"]["location"] == staging["location"]


def test_credentials_of_a_place_are_for_who_reserved_it(catalog: Catalog, api: DeltaApi) -> None:
    staging = api.stage("orders")
    path = f"/staging-tables/{staging['table-id']}/credentials"

    vended = api.get(path)

    assert vended.status_code == 200
    assert vended.json()["storage-credentials"] == staging["storage-credentials"]
    assert error_of(api.get("/staging-tables/unheard-of/credentials")) == NO_TABLE
    catalog.granting.grant("CREATE", "sales", "eve")
    with serving(catalog, name="unity", authenticator=EverybodyIs("eve")) as url:
        assert error_of(DeltaApi(url).get(path)) == NO_TABLE
        write_version_0(staging)
        answered = DeltaApi(url).post(f"{api.schema_path}/tables", create_body("orders", staging))
        assert error_of(answered) == NO_TABLE


def test_credentials_of_a_table(table: DeltaTable) -> None:
    for operation in ("READ", "READ_WRITE"):
        vended = table.api.get(f"{table.path}/credentials", params={"operation": operation}).json()
        (credential,) = vended["storage-credentials"]
        assert credential == {
            "prefix": table.location,
            "operation": operation,
            "expiration-time-ms": credential["expiration-time-ms"],
            "config": {},
        }
    assert error_of(table.api.get(f"{table.path}/credentials")) == INVALID
    assert error_of(table.api.get(f"{table.path}/credentials", params={"operation": "OWN"})) == INVALID
    assert error_of(table.api.get(f"{table.path}x/credentials", params={"operation": "READ"})) == NO_TABLE


def test_head_tells_whether_there_is_a_table(table: DeltaTable) -> None:
    base = table.api.url + "/api/2.1/unity-catalog/delta/v1"

    assert table.api.http.head(base + table.path).status_code == 204
    assert table.api.http.head(base + table.path + "x").status_code == 404


def test_a_table_is_renamed_in_its_schema(table: DeltaTable, api: DeltaApi) -> None:
    api.create("taken")

    assert api.post(f"{table.path}/rename", {"new-name": "orders"}).status_code == 204
    assert error_of(api.post(f"{table.path}/rename", {"new-name": "taken"})) == EXISTS
    assert error_of(api.post(f"{table.path}/rename", {"new-name": "a.b"})) == INVALID
    assert api.post(f"{table.path}/rename", {"new-name": "sold"}).status_code == 204
    assert error_of(api.get(table.path)) == NO_TABLE
    assert error_of(api.post(f"{table.path}/rename", {"new-name": "sold"})) == NO_TABLE
    moved = DeltaTable(api, "sold", table.uuid, table.location)
    moved.commit(1)
    assert moved.load()["metadata"]["table-uuid"] == table.uuid


def test_a_dropped_table_is_gone(table: DeltaTable) -> None:
    base = table.api.url + "/api/2.1/unity-catalog/delta/v1"
    staged = stage_file(table.location, 1)

    assert table.api.http.delete(base + table.path).status_code == 204
    assert table.api.http.delete(base + table.path).status_code == 404
    assert error_of(table.api.get(table.path)) == NO_TABLE
    assert error_of(table.update(staged.update)) == NO_TABLE
    assert published(table.location, 0).exists()


def test_who_holds_a_dropped_table_cannot_commit_to_the_next_of_its_name(
    table: DeltaTable, api: DeltaApi
) -> None:
    stale = stage_file(table.location, 1)
    api.http.delete(api.url + "/api/2.1/unity-catalog/delta/v1" + table.path)
    again = api.create("orders")

    assert again.uuid != table.uuid
    assert error_of(table.update(stale.update)) == NOT_MET
    assert again.load()["latest-table-version"] == 0
    again.commit(1)


def test_metrics_are_of_the_table(table: DeltaTable) -> None:
    report: dict[str, Any] = {
        "commit-report": {
            "num-files-added": 1,
            "file-size-histogram": {
                "sorted-bin-boundaries": [0, 8],
                "file-counts": [1, 0],
                "total-bytes": [7, 0],
                "commit-version": 1,
            },
        }
    }
    metrics = f"{table.path}/metrics"

    assert table.api.post(metrics, {"table-id": table.uuid, "report": report}).status_code == 204
    assert table.api.post(metrics, {"table-id": table.uuid}).status_code == 204
    shown = httpx.get(f"{table.api.url}/metrics").text
    assert 'headgate_reported_total{lake="unity",what="files_added"} 1.0' in shown
    assert error_of(table.api.post(metrics, {"table-id": "another"})) == INVALID
    report["commit-report"]["file-size-histogram"]["file-counts"] = [1]
    assert error_of(table.api.post(metrics, {"table-id": table.uuid, "report": report})) == INVALID
    assert error_of(table.api.post(metrics, {})) == INVALID


def test_schemas_and_lakes_that_are_not_there(api: DeltaApi) -> None:
    nowhere = DeltaApi(api.url, schema="nowhere")
    unserved = DeltaApi(api.url, lake="unserved")

    assert nowhere.post(f"{nowhere.schema_path}/staging-tables", {"name": "t"}).status_code == 404
    assert error_of(unserved.get(f"{unserved.schema_path}/tables/t")) == (404, "NoSuchCatalogException")
    assert COLUMNS["type"] == "struct"
