"""Metadata through the Delta API: the log is the truth, and the etag moves with it and with nothing else."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.commits import TableId
from headgate.protocol.actions import DomainMetadata, Metadata, Protocol
from tests.support.commits import MANAGED
from tests.support.delta_api import (
    COLUMNS,
    INVALID,
    NOT_MET,
    PROTOCOL,
    DeltaApi,
    DeltaTable,
    StagedFile,
    backfill,
    error_of,
    publish_file,
    stage_file,
)
from tests.support.tables import named_file

WITH_DOMAINS = Protocol(
    min_reader_version=3,
    min_writer_version=7,
    reader_features=MANAGED.reader_features,
    writer_features=(*(MANAGED.writer_features or ()), "clustering", "domainMetadata", "rowTracking"),
)
CLUSTERED = DomainMetadata(
    domain="delta.clustering", configuration='{"clusteringColumns":[["id"]]}', removed=False
)
WIDER = {
    "type": "struct",
    "fields": [*COLUMNS["fields"], {"name": "more", "type": "string", "nullable": True, "metadata": {}}],
}


@pytest.fixture
def now(catalog: Catalog, table: DeltaTable) -> Metadata:
    """What the table is."""
    told = catalog.tail(TableId(table.uuid)).description
    assert told is not None
    return told.metadata


def set_properties(**properties: str) -> dict[str, Any]:
    return {
        "action": "set-properties",
        "updates": {key.replace("_", "."): value for key, value in properties.items()},
    }


def with_property(metadata: Metadata, name: str, value: str) -> Metadata:
    return msgspec.structs.replace(metadata, configuration={**metadata.configuration, name: value})


def test_properties_columns_and_comment_come_with_their_commit(table: DeltaTable, now: Metadata) -> None:
    changed = msgspec.structs.replace(
        with_property(now, "a.b", "1"),
        schema_string=msgspec.json.encode(WIDER).decode(),
        description="orders of all shops",
    )
    answered = table.update(
        stage_file(table.location, 1, changed).update,
        set_properties(a_b="1"),
        {"action": "set-columns", "columns": WIDER},
        {"action": "set-table-comment", "comment": "orders of all shops"},
        {"action": "set-partition-columns", "partition-columns": []},
        {"action": "set-protocol", "protocol": PROTOCOL},
    )

    assert answered.status_code == 200, answered.text
    assert answered.json() == table.load()
    metadata = answered.json()["metadata"]
    assert metadata["properties"]["a.b"] == "1"
    assert metadata["columns"] == WIDER
    assert metadata["comment"] == "orders of all shops"
    assert metadata["last-commit-version"] == 1


@pytest.mark.parametrize(
    "said",
    [
        set_properties(a_b="2"),
        set_properties(never_set="1"),
        {"action": "remove-properties", "removals": ["delta.enableInCommitTimestamps"]},
        {"action": "set-columns", "columns": WIDER},
        {"action": "set-columns", "columns": {"type": "nonsense"}},
        {"action": "set-columns", "columns": "nonsense"},
        {"action": "set-partition-columns", "partition-columns": ["id"]},
        {"action": "set-protocol", "protocol": {**PROTOCOL, "reader-features": ["catalogManaged"]}},
        {"action": "set-table-comment", "comment": "never said"},
        {
            "action": "set-domain-metadata",
            "updates": {"delta.clustering": {"clusteringColumns": [["id"]]}},
        },
        {
            "action": "update-metadata-snapshot-version",
            "last-commit-version": 1,
            "last-commit-timestamp-ms": 1,
        },
    ],
    ids=lambda said: said["action"],
)
@pytest.mark.parametrize("committed", [True, False], ids=["with-commit", "alone"])
def test_what_the_log_contradicts_is_refused(
    table: DeltaTable, now: Metadata, said: dict[str, Any], committed: bool
) -> None:
    staged = stage_file(table.location, 1, with_property(now, "a.b", "1"))
    before = table.load()

    answered = table.update(*([staged.update] if committed else []), said)

    assert error_of(answered) == INVALID
    assert table.load() == before


def test_metadata_without_a_commit_is_accepted_only_if_it_is_so_already(
    table: DeltaTable, now: Metadata
) -> None:
    table.commit(1, with_property(now, "a.b", "1"))

    assert table.update(set_properties(a_b="1")).status_code == 200
    refused = table.update(set_properties(a_b="2"))
    assert error_of(refused) == INVALID
    assert "add-commit" in refused.json()["error"]["message"]


def test_keys_that_the_server_derives_are_not_compared(table: DeltaTable) -> None:
    answered = table.update(
        stage_file(table.location, 1).update,
        {
            "action": "set-properties",
            "updates": {
                "delta.feature.catalogManaged": "supported",
                "delta.lastUpdateVersion": "77",
                "delta.minReaderVersion": "3",
                "io.unitycatalog.tableId": table.uuid,
            },
        },
    )

    assert answered.status_code == 200
    assert answered.json()["metadata"]["properties"]["delta.lastUpdateVersion"] == "0"


def test_what_is_set_and_removed_at_once_is_refused(table: DeltaTable) -> None:
    staged = stage_file(table.location, 1).update
    both = {"action": "remove-properties", "removals": ["a.b"]}
    domains = {
        "action": "set-domain-metadata",
        "updates": {"delta.clustering": {"clusteringColumns": [["id"]]}},
    }

    assert error_of(table.update(staged, set_properties(a_b="1"), both)) == INVALID
    forget = {"action": "remove-domain-metadata", "domains": ["delta.clustering"]}
    assert error_of(table.update(staged, domains, forget)) == INVALID


def test_a_removed_property_is_gone(table: DeltaTable, now: Metadata) -> None:
    table.commit(1, with_property(now, "a.b", "1"))

    answered = table.update(
        stage_file(table.location, 2, now).update, {"action": "remove-properties", "removals": ["a.b"]}
    )

    assert answered.status_code == 200, answered.text
    assert "a.b" not in answered.json()["metadata"]["properties"]


def test_domains_come_with_their_commit(table: DeltaTable) -> None:
    answered = table.update(
        stage_file(table.location, 1, WITH_DOMAINS, CLUSTERED).update,
        {"action": "set-domain-metadata", "updates": {"delta.clustering": {"clusteringColumns": [["id"]]}}},
    )

    assert answered.status_code == 200, answered.text
    metadata = answered.json()["metadata"]
    assert metadata["properties"]["clusteringColumns"] == '[["id"]]'
    assert metadata["domain-metadata"] == {"delta.clustering": '{"clusteringColumns":[["id"]]}'}
    assert answered.json() == table.load()
    gone = msgspec.structs.replace(CLUSTERED, removed=True)
    answered = table.update(
        stage_file(table.location, 2, gone).update,
        {"action": "remove-domain-metadata", "domains": ["delta.clustering"]},
    )
    assert answered.status_code == 200, answered.text
    assert "clusteringColumns" not in answered.json()["metadata"]["properties"]


def test_data_and_publication_leave_the_etag_and_metadata_moves_it(table: DeltaTable, now: Metadata) -> None:
    def stamps() -> tuple[object, ...]:
        metadata = table.load()["metadata"]
        return (
            metadata["etag"],
            metadata["updated-time"],
            metadata["last-commit-version"],
            metadata["properties"]["delta.lastUpdateVersion"],
            metadata["properties"]["delta.lastCommitTimestamp"],
        )

    first = stamps()
    staged = table.commit(1)
    assert stamps() == first
    publish_file(table.location, staged)
    table.update(backfill(1)).raise_for_status()
    assert stamps() == first

    second = table.commit(2, with_property(now, "a.b", "1"))

    assert stamps()[0] != first[0]
    assert stamps()[1:] == (second.stamp, 2, "2", str(second.stamp))


def test_the_mark_of_row_ids_leaves_the_etag(table: DeltaTable) -> None:
    table.commit(1, WITH_DOMAINS, CLUSTERED)
    etag = table.load()["metadata"]["etag"]
    mark = DomainMetadata(domain="delta.rowTracking", configuration='{"rowIdHighWaterMark":0}', removed=False)
    file = msgspec.structs.replace(named_file("rows.parquet"), base_row_id=0, default_row_commit_version=2)

    answered = table.update(
        stage_file(table.location, 2, file, mark).update,
        {"action": "set-domain-metadata", "updates": {"delta.rowTracking": {"rowIdHighWaterMark": 0}}},
    )

    assert answered.status_code == 200, answered.text
    assert answered.json()["metadata"]["etag"] == etag
    assert answered.json()["metadata"]["properties"]["delta.rowTracking.rowIdHighWaterMark"] == "0"


def test_two_changes_of_one_millisecond_have_two_etags(table: DeltaTable, now: Metadata) -> None:
    stamp = stage_file(table.location, 1).stamp + 50
    etags = set[str]()
    for version in (1, 2, 3):
        staged = stage_file(
            table.location, version, with_property(now, "a.b", str(version)), stamp=stamp + version
        )
        etags.add(table.update(staged.update).raise_for_status().json()["metadata"]["etag"])

    assert len(etags) == 3


def test_an_etag_of_before_a_change_is_refused(table: DeltaTable, now: Metadata) -> None:
    etag = table.load()["metadata"]["etag"]
    table.commit(1, with_property(now, "a.b", "1"))

    assert error_of(table.update(stage_file(table.location, 2).update, etag=etag)) == NOT_MET


def test_a_protocol_cannot_leave_the_catalog(table: DeltaTable) -> None:
    less = Protocol(
        min_reader_version=3,
        min_writer_version=7,
        reader_features=("vacuumProtocolCheck",),
        writer_features=("inCommitTimestamp", "vacuumProtocolCheck"),
    )

    assert error_of(table.update(stage_file(table.location, 1, less).update)) == INVALID


def test_a_partition_column_must_be_a_column(table: DeltaTable, now: Metadata) -> None:
    odd = msgspec.structs.replace(now, partition_columns=("nowhere",))

    assert error_of(table.update(stage_file(table.location, 1, odd).update)) == INVALID


def test_uniform_is_refused(table: DeltaTable) -> None:
    staged: StagedFile = replace(stage_file(table.location, 1))
    update = {**staged.update, "uniform": {"iceberg": {"metadata-location": "x"}}}

    assert error_of(table.update(update)) == INVALID


def test_protocol_and_domains_are_left_out_of_a_strict_answer(strict: DeltaApi) -> None:
    loaded = strict.create().load()

    assert not {"protocol", "domain-metadata", "comment"} & loaded["metadata"].keys()
