"""Which features may go, what stands against it, and what the commit that drops one says."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from headgate.errors import InvalidRequest
from headgate.protocol import protocol_upgrade, table_features
from headgate.protocol.actions import DomainMetadata, Metadata, Protocol
from headgate.protocol.log.replay import State
from headgate.protocol.metadata import drop_feature
from headgate.protocol.metadata.drop_feature import DROPPABLE
from headgate.protocol.property_values import PROTECTED_BEFORE, ROW_COMMIT_VERSION_COLUMN, ROW_ID_COLUMN
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Field, Primitive, Struct
from tests.support import attempts

IN_USE = "HEADGATE_FEATURE_IN_USE"
MARK = DomainMetadata(domain="delta.rowTracking", configuration='{"rowIdHighWaterMark":9}', removed=False)
OF_A_USER = DomainMetadata(domain="etl", configuration="{}", removed=False)
CLEARS = {
    "changeDataFeed": {"delta.enableChangeDataFeed"},
    "rowTracking": {
        "delta.enableRowTracking", "delta.rowTrackingSuspended", ROW_ID_COLUMN, ROW_COMMIT_VERSION_COLUMN,
    },
    "inCommitTimestamp": {
        "delta.enableInCommitTimestamps", "delta.inCommitTimestampEnablementVersion",
        "delta.inCommitTimestampEnablementTimestamp",
    },
    "checkpointProtection": {PROTECTED_BEFORE},
    "v2Checkpoint": {"delta.checkpointPolicy"},
    "deletionVectors": {"delta.enableDeletionVectors"},
    "typeWidening": {"delta.enableTypeWidening"},
    "typeWidening-preview": {"delta.enableTypeWidening"},
}  # fmt: skip
IN_HISTORY = {"v2Checkpoint", "deletionVectors", "typeWidening", "typeWidening-preview", "columnMapping"}
each = pytest.mark.parametrize("name", [row.feature for row in DROPPABLE])


def table(*names: str, **properties: str) -> State:
    """A table with these features and these properties; ``_`` is for ``.``."""
    state = attempts.table([f"feature:{name}" for name in names])
    configuration = {key.replace("_", "."): value for key, value in properties.items()}
    return replace(state, metadata=with_configuration(configuration))


def with_configuration(configuration: Mapping[str, str]) -> Metadata:
    return msgspec.structs.replace(attempts.table().metadata, configuration=configuration)


def with_column(said: Mapping[str, Any], *, nullable: bool = True) -> Metadata:
    field = Field("a", Primitive("long"), nullable, said)
    return msgspec.structs.replace(
        attempts.table().metadata, schema_string=schema_json.render(Struct((field,)))
    )


def code(protocol: Protocol, name: str) -> str:
    with pytest.raises(InvalidRequest) as caught:
        drop_feature.find_droppable(protocol, name)
    return caught.value.code


@each
def test_a_feature_that_can_be_dropped_is_found_whatever_its_case(name: str) -> None:
    protocol = protocol_upgrade.with_features(attempts.table().protocol, (name,))

    assert drop_feature.find_droppable(protocol, name.upper()).feature == name


def test_what_can_be_dropped() -> None:
    """What a table cannot lose, or only its catalog can take from it, is not among them."""
    assert {feature.name for feature in table_features.FEATURES} - {row.feature for row in DROPPABLE} == {
        "generatedColumns", "identityColumns", "timestampNtz", "catalogManaged", "catalogOwned-preview",
        "coordinatedCommits", "coordinatedCommits-preview", "managedCommit-preview", "managedCommit",
        "managed-commit-preview", "managed-commit-dev", "clustering", "variantType", "variantType-preview",
        "variantShredding", "variantShredding-preview", "icebergCompatV1", "icebergCompatV2",
        "icebergCompatV3", "materializePartitionColumns",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("named", "name", "expected"),
    [
        ((), "quantumFiles", "DELTA_FEATURE_DROP_UNSUPPORTED_CLIENT_FEATURE"),
        ((), "deletionVectors", "DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT"),
        (("timestampNtz",), "timestampNtz", "DELTA_FEATURE_DROP_NONREMOVABLE_FEATURE"),
        (("catalogManaged",), "catalogManaged", "DELTA_FEATURE_DROP_NONREMOVABLE_FEATURE"),
        (("catalogManaged",), "inCommitTimestamp", "DELTA_FEATURE_DROP_DEPENDENT_FEATURE"),
        (("catalogManaged",), "vacuumProtocolCheck", "DELTA_FEATURE_DROP_DEPENDENT_FEATURE"),
        (("rowTracking",), "domainMetadata", "DELTA_FEATURE_DROP_DEPENDENT_FEATURE"),
        (("clustering",), "domainMetadata", "DELTA_FEATURE_DROP_DEPENDENT_FEATURE"),
    ],
)
def test_what_cannot_be_dropped_is_told_by_its_code(named: tuple[str, ...], name: str, expected: str) -> None:
    assert code(protocol_upgrade.with_features(attempts.table().protocol, named), name) == expected


def test_a_feature_that_nobody_knows_depends_on_nothing() -> None:
    protocol = protocol_upgrade.with_features(attempts.table().protocol, ("domainMetadata", "ofNewerClients"))

    assert drop_feature.find_droppable(protocol, "domainMetadata").feature == "domainMetadata"


@each
def test_nothing_stands_against_what_is_not_used(name: str) -> None:
    row = drop_feature.find_droppable(
        protocol_upgrade.with_features(attempts.table().protocol, (name,)), name
    )

    drop_feature.check_unused(row, attempts.table().metadata)


@pytest.mark.parametrize(
    ("name", "metadata", "expected"),
    [
        ("appendOnly", table(delta_appendOnly="true").metadata, IN_USE),
        ("invariants", with_column({}, nullable=False), IN_USE),
        ("checkConstraints", table(delta_constraints_a="a > 0").metadata, IN_USE),
        ("allowColumnDefaults", with_column({"CURRENT_DEFAULT": "1"}), IN_USE),
        ("typeWidening", with_column({"delta.typeChanges": []}), IN_USE),
        ("typeWidening-preview", with_column({"delta.typeChanges": []}), IN_USE),
        ("columnMapping", with_column({"delta.columnMapping.physicalName": "p"}), IN_USE),
        (
            "checkpointProtection",
            table(**{PROTECTED_BEFORE: "1"}).metadata,
            "DELTA_FEATURE_CAN_ONLY_DROP_CHECKPOINT_PROTECTION_WITH_HISTORY_TRUNCATION",
        ),
    ],
)
def test_what_is_in_use_is_not_dropped(name: str, metadata: Metadata, expected: str) -> None:
    row = next(row for row in DROPPABLE if row.feature == name)

    with pytest.raises(InvalidRequest, match=name) as caught:
        drop_feature.check_unused(row, metadata)
    assert caught.value.code == expected


def test_a_protection_of_no_version_protects_nothing() -> None:
    row = next(row for row in DROPPABLE if row.feature == "checkpointProtection")

    drop_feature.check_unused(row, table(**{PROTECTED_BEFORE: "0"}).metadata)


@each
def test_its_properties_go_with_a_feature_and_others_stay(name: str) -> None:
    row = next(row for row in DROPPABLE if row.feature == name)
    metadata = table(owner="sales").metadata
    mine = dict.fromkeys(CLEARS.get(name, set()), "true")
    used = with_configuration({**mine, "owner": "sales"})

    assert drop_feature.clear_properties(row, metadata) is metadata
    assert drop_feature.clear_properties(row, used).configuration == {"owner": "sales"}
    assert row.clears == mine.keys()


@each
def test_only_what_older_versions_may_need_is_prepared_and_leaves_a_protection_behind(name: str) -> None:
    state = table(name, team="sales")
    row = drop_feature.find_droppable(state.protocol, name)
    mine = dict.fromkeys(CLEARS.get(name, set()), "true")
    used = replace(state, metadata=with_configuration({**mine, "team": "sales"}))
    protected = with_configuration({"team": "sales", PROTECTED_BEFORE: "8"})

    in_history = name in IN_HISTORY
    cleared = (state.metadata,) if mine else ()
    assert row.in_history is in_history
    assert drop_feature.preparation_actions(row, state) == ()
    assert drop_feature.preparation_actions(row, used) == (cleared if in_history else ())
    protocol, *changed = drop_feature.drop_actions(row, used)
    assert isinstance(protocol, Protocol)
    assert not protocol.has(name)
    assert protocol.has("checkpointProtection") is in_history
    assert changed == ([protected] if in_history else list(cleared))


def test_domains_are_removed_before_the_feature_that_they_need() -> None:
    state = replace(table("domainMetadata"), domains={"etl": OF_A_USER})
    row = drop_feature.find_droppable(state.protocol, "domainMetadata")

    assert drop_feature.preparation_actions(row, state) == (msgspec.structs.replace(OF_A_USER, removed=True),)


def test_the_mark_of_the_row_ids_goes_with_their_feature_and_no_other_domain() -> None:
    domains = {"delta.rowTracking": MARK, "etl": OF_A_USER}
    state = replace(table("rowTracking", "changeDataFeed"), domains=domains)

    _, *gone = drop_feature.drop_actions(drop_feature.find_droppable(state.protocol, "rowTracking"), state)
    assert gone == [msgspec.structs.replace(MARK, removed=True)]
    _, *gone = drop_feature.drop_actions(drop_feature.find_droppable(state.protocol, "changeDataFeed"), state)
    assert gone == []
