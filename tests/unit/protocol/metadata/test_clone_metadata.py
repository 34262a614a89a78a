"""What a clone is, given its source: what it takes from it, and what it never does."""

from dataclasses import replace

import msgspec
import pytest

from headgate.errors import InvalidRequest, UserError
from headgate.protocol import property_values, protocol_upgrade, table_features
from headgate.protocol.actions import DomainMetadata, EpochMillis
from headgate.protocol.domains import lifecycle
from headgate.protocol.features import coordinated_commits
from headgate.protocol.log.replay import State
from headgate.protocol.log.timestamps import ENABLEMENT_TIMESTAMP, ENABLEMENT_VERSION
from headgate.protocol.metadata import clone_metadata
from headgate.protocol.metadata.clone_metadata import CloneMetadata
from headgate.protocol.property_values import ROW_COMMIT_VERSION_COLUMN, ROW_ID_COLUMN
from tests.support import attempts

NOW = EpochMillis(77)
COUNT = iter(range(10_000))
BY_ID = lifecycle.clustering_domain([("id",)])
OF_A_USER = DomainMetadata(domain="etl", configuration="{}", removed=False)


def uuid() -> str:
    return f"new-{next(COUNT)}"


def table(*words: str, **properties: str) -> State:
    return _with(attempts.table(words), **properties)


def _with(state: State, **properties: str) -> State:
    configuration = {**state.metadata.configuration, **properties}
    return replace(state, metadata=msgspec.structs.replace(state.metadata, configuration=configuration))


def managed(*words: str, **properties: str) -> State:
    state = table("stamped", *words, **properties)
    protocol = protocol_upgrade.with_features(state.protocol, (table_features.CATALOG_MANAGED,))
    metadata = msgspec.structs.replace(state.metadata, id="22222222-2222-2222-2222-222222222222")
    return replace(state, protocol=protocol, metadata=metadata)


def domains(*found: DomainMetadata) -> dict[str, DomainMetadata]:
    return {each.domain: each for each in found}


def clone(source: State, **stated: str) -> CloneMetadata:
    return clone_metadata.new_clone(source, stated, required={}, uuid=uuid, now=NOW)


def over(target: State, source: State, **stated: str) -> CloneMetadata:
    return clone_metadata.replace_with_clone(target, source, stated, uuid=uuid)


@pytest.mark.parametrize("naming", coordinated_commits.FEATURE_NAMINGS, ids=lambda naming: naming.feature)
@pytest.mark.parametrize("replaces", [False, True])
def test_s117_a_clone_never_has_the_coordinator_of_its_source(
    naming: coordinated_commits.FeatureNaming, replaces: bool
) -> None:
    ours = {naming.coordinator: "someone", naming.conf: "{}", naming.table_conf: "{}"}
    source = table("stamped", f"feature:{naming.feature}", **ours)

    made = over(managed(), source) if replaces else clone(source)

    assert not coordinated_commits.PROPERTIES & made.metadata.configuration.keys()
    assert not coordinated_commits.leftover_features(made.protocol)
    assert made.protocol.is_catalog_managed


def test_s117_a_clone_has_no_id_and_no_past_of_its_source() -> None:
    theirs = {
        "io.unitycatalog.tableId": "theirs", "ucTableId": "theirs", ENABLEMENT_VERSION: "4",
        ENABLEMENT_TIMESTAMP: "5", "delta.requireCheckpointProtectionBeforeVersion": "3",
    }  # fmt: skip
    source = replace(
        table("stamped", "feature:checkpointProtection", "feature:domainMetadata", **theirs),
        domains=domains(OF_A_USER),
    )

    made = clone(source)

    assert not theirs.keys() & made.metadata.configuration.keys()
    assert made.metadata.id != source.metadata.id
    assert made.metadata.created_time == NOW
    assert made.metadata.configuration["delta.enableInCommitTimestamps"] == "true"
    assert not made.protocol.has("checkpointProtection")
    assert made.domains == ()


def test_over_a_table_its_id_and_what_its_catalog_depends_on_stay() -> None:
    own = {
        "ucTableId": "ours",
        ENABLEMENT_VERSION: "4",
        ENABLEMENT_TIMESTAMP: "5",
        "delta.appendOnly": "false",
    }
    target = managed(**own, **{"user.own": "1", "delta.fromTheFuture": "x"})
    source = table(**{"user.theirs": "2", "ucTableId": "theirs"})

    made = over(target, source)

    assert made.metadata.id == target.metadata.id
    assert dict(made.metadata.configuration) == {
        "ucTableId": "ours", ENABLEMENT_VERSION: "4", ENABLEMENT_TIMESTAMP: "5", "user.theirs": "2",
        "delta.enableInCommitTimestamps": "true", "delta.fromTheFuture": "x",
    }  # fmt: skip


def test_properties_and_features_come_along_and_can_be_overridden() -> None:
    source = table(
        "feature:v2Checkpoint", **{"delta.enableDeletionVectors": "true", "mine": "a", "yours": "b"}
    )
    source = replace(
        source, protocol=protocol_upgrade.with_features(source.protocol, ("deletionVectors", "appendOnly"))
    )

    made = clone(source, yours="c", comment="a copy", **{"delta.feature.allowColumnDefaults": "supported"})

    found = made.metadata.configuration
    assert (found["mine"], found["yours"]) == ("a", "c")
    assert made.metadata.description == "a copy"
    for feature in ("v2Checkpoint", "deletionVectors", "allowColumnDefaults", "catalogManaged"):
        assert made.protocol.has(feature)
    assert made.metadata.schema_string == source.metadata.schema_string


def test_a_clone_has_what_its_catalog_requires_and_none_without_one() -> None:
    """Whatever the source says of it."""
    source, required = table(acme="theirs"), {"acme": "ours"}

    under, beside = (
        clone_metadata.new_clone(source, {}, required=asks, uuid=uuid, now=NOW) for asks in (required, None)
    )

    assert dict(under.metadata.configuration) == {**required, "delta.enableInCommitTimestamps": "true"}
    assert under.protocol.is_catalog_managed
    assert dict(beside.metadata.configuration) == {"acme": "theirs"}
    assert not beside.protocol.is_catalog_managed


def test_the_comment_of_the_source_is_that_of_the_clone() -> None:
    state = table()
    source = replace(state, metadata=msgspec.structs.replace(state.metadata, description="orders"))

    assert clone(source).metadata.description == "orders"


@pytest.mark.parametrize(
    "stated",
    [
        {"delta.enableInCommitTimestamps": "false"},
        {"ucTableId": "mine"},
        {"delta.coordinatedCommits.commitCoordinator-preview": "someone"},
        {"delta.columnMapping.mode": "name"},
        {"delta.noSuchThing": "1"},
    ],
    ids=lambda stated: next(iter(stated)),
)
@pytest.mark.parametrize("replaces", [False, True])
def test_what_a_clone_cannot_be_told(stated: dict[str, str], replaces: bool) -> None:
    with pytest.raises(InvalidRequest):
        over(managed(), table(), **stated) if replaces else clone(table(), **stated)


def test_ids_of_columns_are_kept_and_never_given_twice() -> None:
    mapped = {"delta.columnMapping.mode": "name"}
    source = table("feature:columnMapping", **mapped, **{property_values.MAX_COLUMN_ID: "7"})
    columns = msgspec.json.decode(source.metadata.schema_string)
    for number, column in enumerate(columns["fields"], 1):
        column["metadata"] = {
            "delta.columnMapping.id": number, "delta.columnMapping.physicalName": f"c{number}"
        }  # fmt: skip
    schema = msgspec.json.encode(columns).decode()
    source = replace(source, metadata=msgspec.structs.replace(source.metadata, schema_string=schema))

    assert clone(source).metadata.configuration[property_values.MAX_COLUMN_ID] == "7"
    assert clone(source).metadata.schema_string == schema
    for own, expected in (("3", "7"), ("12", "12")):
        target = managed("feature:columnMapping", **mapped, **{property_values.MAX_COLUMN_ID: own})
        assert over(target, source).metadata.configuration[property_values.MAX_COLUMN_ID] == expected


def test_row_ids_are_in_columns_of_other_names() -> None:
    tracked = {
        "delta.enableRowTracking": "true",
        ROW_ID_COLUMN: "theirs-id",
        ROW_COMMIT_VERSION_COLUMN: "theirs-v",
    }
    source = table("tracked", **tracked)

    made = clone(source)

    assert made.tracks_rows
    found = made.metadata.configuration
    assert "theirs" not in found[ROW_ID_COLUMN] + found[ROW_COMMIT_VERSION_COLUMN]
    own = {"delta.enableRowTracking": "true", ROW_ID_COLUMN: "own-id", ROW_COMMIT_VERSION_COLUMN: "own-v"}
    again = over(managed("tracked", **own), source).metadata.configuration
    assert (again[ROW_ID_COLUMN], again[ROW_COMMIT_VERSION_COLUMN]) == ("own-id", "own-v")


def test_a_source_that_merely_could_track_rows_says_nothing_of_its_clone() -> None:
    source = table("tracked", **{"delta.rowTrackingSuspended": "true"})

    made = clone(source)

    assert not made.tracks_rows
    assert "delta.rowTrackingSuspended" not in made.metadata.configuration


def test_s208_clustering_comes_along_and_that_of_the_target_ends() -> None:
    clustered = replace(
        table("feature:clustering", "feature:domainMetadata"), domains=domains(BY_ID, OF_A_USER)
    )
    target = replace(
        managed("feature:clustering", "feature:domainMetadata"), domains=domains(BY_ID, OF_A_USER)
    )

    assert clone(clustered).domains == (BY_ID,)
    assert clone(clustered).protocol.has("clustering")
    assert not clone(table("feature:clustering", "feature:domainMetadata")).protocol.has("clustering")
    assert over(managed(), clustered).domains == (BY_ID,)
    assert over(target, clustered).domains == ()  # they are the same
    assert over(target, table()).domains == (lifecycle.clustering_domain(()),)


def test_a_table_that_was_clustered_gets_no_partitions() -> None:
    target = replace(managed("feature:clustering", "feature:domainMetadata"), domains=domains(BY_ID))

    with pytest.raises(InvalidRequest) as refused:
        over(target, table("partitioned:part"))

    assert refused.value.code == "DELTA_CLUSTERING_REPLACE_TABLE_WITH_PARTITIONED_TABLE"


def code(stated: dict[str, str], source: State, *, target: State | None) -> str:
    with pytest.raises(UserError) as refused:
        clone(source, **stated) if target is None else over(target, source, **stated)
    return refused.value.code


each_way = pytest.mark.parametrize("target", [None, managed()], ids=["new", "over"])


@each_way
@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ({"delta.enableInCommitTimestamps": "false"}, "DELTA_CANNOT_MODIFY_CATALOG_MANAGED_DEPENDENCIES"),
        ({"ucTableId": "mine"}, "DELTA_CANNOT_MODIFY_TABLE_PROPERTY"),
        ({"delta.columnMapping.mode": "name"}, "DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE"),
        ({"delta.enableIcebergCompatV2": "true"}, "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE"),
        (
            {"delta.enableRowTracking": "true", "delta.rowTrackingSuspended": "true"},
            "DELTA_ROW_TRACKING_ILLEGAL_PROPERTY_COMBINATION",
        ),
    ],
)
def test_what_a_clone_cannot_be_is_told_by_its_code(
    stated: dict[str, str], expected: str, target: State | None
) -> None:
    assert code(stated, table(), target=target) == expected


@each_way
def test_changes_are_not_recorded_in_a_clone_with_their_columns(target: State | None) -> None:
    state = table()
    schema = state.metadata.schema_string.replace('"q"', '"_change_type"')
    source = replace(state, metadata=msgspec.structs.replace(state.metadata, schema_string=schema))

    refused = code({"delta.enableChangeDataFeed": "true"}, source, target=target)

    assert refused == "DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS"


@each_way
def test_timestamps_may_be_asked_for_and_a_writer_version_brings_what_it_implies(
    target: State | None,
) -> None:
    stated = {"delta.enableInCommitTimestamps": "True", "delta.minWriterVersion": "4"}

    made = clone(table(), **stated) if target is None else over(target, table(), **stated)

    assert made.protocol.has("changeDataFeed")
    assert made.protocol.has("checkConstraints")


def test_a_clone_is_nameless_and_a_table_keeps_its_name_and_age() -> None:
    source, target = table(), managed()
    theirs = msgspec.structs.replace(source.metadata, name="theirs", created_time=EpochMillis(1))
    ours = msgspec.structs.replace(target.metadata, name="ours", created_time=EpochMillis(2))
    source, target = replace(source, metadata=theirs), replace(target, metadata=ours)

    assert clone(source).metadata.name is None
    assert (over(target, source).metadata.name, over(target, source).metadata.created_time) == ("ours", 2)


def test_a_preview_of_catalogs_is_nothing_that_a_clone_takes_over() -> None:
    state = table()
    source = replace(
        state, protocol=protocol_upgrade.with_features(state.protocol, ("catalogOwned-preview",))
    )

    assert not clone(source).protocol.has("catalogOwned-preview")


def test_without_row_ids_no_columns_are_named_for_them() -> None:
    own = {"delta.enableRowTracking": "true", ROW_ID_COLUMN: "own-id", ROW_COMMIT_VERSION_COLUMN: "own-v"}

    made = over(managed("tracked", **own), table())

    assert not {ROW_ID_COLUMN, ROW_COMMIT_VERSION_COLUMN} & made.metadata.configuration.keys()
    assert made.tracks_rows, "a table does not lose a feature by being replaced"


def test_over_a_table_comes_what_is_asked_of_the_source_and_by_the_user() -> None:
    state = table("feature:v2Checkpoint")
    source = replace(state, metadata=msgspec.structs.replace(state.metadata, description="orders"))

    made = over(managed(), source, **{"delta.feature.allowColumnDefaults": "supported"})

    assert made.protocol.has("v2Checkpoint")
    assert made.protocol.has("allowColumnDefaults")
    assert made.metadata.description == "orders"
    assert over(managed(), source, comment="mine").metadata.description == "mine"
    assert over(managed(), table("partitioned:p")).metadata.partition_columns == ("p",)


def test_over_an_ordinary_table_nothing_comes_of_the_catalog_of_the_source() -> None:
    made = over(table(), managed())

    assert not made.protocol.is_catalog_managed
    assert not made.protocol.has("inCommitTimestamp")
    assert not made.protocol.has("vacuumProtocolCheck")


def test_ids_of_columns_go_on_from_whichever_table_has_them() -> None:
    mapped = {"delta.columnMapping.mode": "name", property_values.MAX_COLUMN_ID: "7"}
    plain, numbered = table(), table("feature:columnMapping", **mapped)
    columns = msgspec.json.decode(plain.metadata.schema_string)
    for number, field in enumerate(columns["fields"], 1):
        field["metadata"] = {
            "delta.columnMapping.id": number, "delta.columnMapping.physicalName": f"c{number}"
        }  # fmt: skip
    schema = msgspec.json.encode(columns).decode()
    numbered = replace(numbered, metadata=msgspec.structs.replace(numbered.metadata, schema_string=schema))

    assert over(managed(), numbered).metadata.configuration[property_values.MAX_COLUMN_ID] == "7"
    own = managed("feature:columnMapping", **mapped)
    assert over(own, plain).metadata.configuration[property_values.MAX_COLUMN_ID] == "7"


def test_who_decides_the_commits_of_a_clone_is_not_asked_for() -> None:
    stated = {"delta.coordinatedCommits.commitCoordinator-preview": "someone"}

    assert code(stated, table(), target=None) == "DELTA_MUST_SET_ALL_COORDINATED_COMMITS_CONFS_IN_COMMAND"
    assert code(stated, table(), target=managed()) == "DELTA_CANNOT_OVERRIDE_COORDINATED_COMMITS_CONFS"
