"""What stays of a table's properties when another table takes its place."""

from dataclasses import replace

import msgspec
import pytest

from headgate.protocol import protocol_upgrade
from headgate.protocol.log.replay import State
from headgate.protocol.metadata import kept_on_replace
from tests.support import attempts

STAMPS = {
    "delta.enableInCommitTimestamps": "true",
    "delta.inCommitTimestampEnablementVersion": "3",
    "delta.inCommitTimestampEnablementTimestamp": "9",
}
HIGHEST = {"delta.columnMapping.maxColumnId": "7"}
TAKEN = {
    "io.unitycatalog.tableId": "t",
    "ucTableId": "t",
    "delta.ofNewerClients": "x",
}
ORDINARY = {
    "delta.appendOnly": "true",
    "Delta.constraints.a": "b",
    "delta.constraints.positive": "id > 0",
    "owner": "sales",
}


def table(*features: str, **added: str) -> State:
    state = attempts.table()
    configuration = {**STAMPS, **HIGHEST, **TAKEN, **ORDINARY, **added}
    metadata = msgspec.structs.replace(state.metadata, configuration=configuration)
    return replace(
        state, metadata=metadata, protocol=protocol_upgrade.with_features(state.protocol, features)
    )


def test_of_an_ordinary_table_only_the_ids_of_columns_go_on() -> None:
    """No id is given twice: old files are still read by them."""
    assert kept_on_replace.kept_properties(table("inCommitTimestamp")) == HIGHEST
    assert kept_on_replace.kept_properties(attempts.table()) == {}


@pytest.mark.parametrize("managed", [(), ("catalogManaged",)])
def test_versions_before_stay_protected(managed: tuple[str, ...]) -> None:
    protected = {"delta.requireCheckpointProtectionBeforeVersion": "5"}
    kept = kept_on_replace.kept_properties(table("checkpointProtection", *managed, **protected))

    assert protected.items() <= kept.items()


def test_a_managed_table_keeps_its_timestamps_its_id_and_what_only_newer_clients_know() -> None:
    """P52"""
    assert kept_on_replace.kept_properties(table("catalogManaged")) == {**STAMPS, **HIGHEST, **TAKEN}


@pytest.mark.parametrize("owner", ["delta.coordinatedCommits.commitCoordinator-preview"])
def test_a_coordinated_table_keeps_its_owner_and_its_timestamps(owner: str) -> None:
    kept = kept_on_replace.kept_properties(table("coordinatedCommits-preview", **{owner: "one"}))

    assert kept == {**STAMPS, **HIGHEST, owner: "one"}
