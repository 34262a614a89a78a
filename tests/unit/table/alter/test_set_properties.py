"""Properties, features and comments of tables, changed through every route a commit can take."""

import msgspec
import pytest

from headgate.errors import (
    ConflictError,
    InvalidRequest,
    MetadataChanged,
    ProtocolChanged,
    UnsupportedFeature,
    UserError,
)
from headgate.protocol import protocol_upgrade, table_features
from headgate.protocol.actions import Action, Version
from headgate.protocol.log import codec, file_names
from headgate.protocol.log.timestamps import ENABLEMENT_TIMESTAMP, ENABLEMENT_VERSION
from headgate.table.alter import set_properties
from headgate.table.opened_table import OpenedTable
from headgate.table.transaction import Change, Operation
from tests.support.attempts import added
from tests.support.routes import ROUTES, create, open_table

each_route = pytest.mark.parametrize("route", ROUTES)
managed_routes = pytest.mark.parametrize("route", ROUTES[1:])
STAMPS = "delta.enableInCommitTimestamps"


def new(route: str, *words: str) -> OpenedTable:
    return open_table(create(words, managed=route != "filesystem"), route)


def append(table: OpenedTable, *paths: str, base: OpenedTable | None = None) -> Version:
    """Appends as one who last looked at the table before ``base``'s owner changed it."""
    adds: tuple[Action, ...] = tuple(added(path, {}) for path in paths)
    return table.commit(Change(Operation("WRITE"), adds), base=(base or table).newest_known())


def properties(table: OpenedTable) -> dict[str, str]:
    return dict(table.snapshot().state.metadata.configuration)


def named(table: OpenedTable) -> frozenset[str]:
    return table_features.writer_features(table.snapshot().state.protocol)


def operations(table: OpenedTable) -> list[str | None]:
    return [entry.info.operation for entry in reversed(table.history())][1:]


@each_route
def test_properties_are_set_in_one_commit(route: str) -> None:
    table = new(route)

    version = set_properties.set_properties(table, {"team": "sales", "DELTA.appendonly": "true"})

    assert version == 1
    assert properties(table)["team"] == "sales"
    assert properties(table)["delta.appendOnly"] == "true"
    info = table.snapshot().state.info
    assert info is not None
    assert info.operation == "SET TBLPROPERTIES"
    assert info.operation_parameters == {"properties": '{"team":"sales","DELTA.appendonly":"true"}'}


@each_route
def test_setting_what_is_set_is_no_version(route: str) -> None:
    table = new(route)
    set_properties.set_properties(table, {"team": "sales"})

    assert set_properties.set_properties(table, {"team": "sales"}) == 1
    assert set_properties.unset_properties(table, ["colour"], if_exists=True) == 1


@each_route
def test_properties_are_unset(route: str) -> None:
    table = new(route)
    set_properties.set_properties(table, {"team": "sales", "delta.logRetentionDuration": "interval 7 days"})

    set_properties.unset_properties(table, ["team", "delta.LOGretentionDuration"])

    assert not {"team", "delta.logRetentionDuration"} & properties(table).keys()
    assert operations(table)[-1] == "UNSET TBLPROPERTIES"
    with pytest.raises(InvalidRequest, match="if_exists") as caught:
        set_properties.unset_properties(table, ["team"])
    assert caught.value.code == "DELTA_UNSET_NON_EXISTENT_PROPERTY"


@each_route
def test_a_comment_is_the_description(route: str) -> None:
    table = new(route)

    set_properties.set_comment(table, "what we sold")
    assert table.snapshot().state.metadata.description == "what we sold"
    assert "comment" not in properties(table)

    set_properties.set_comment(table, None)
    assert table.snapshot().state.metadata.description is None


@each_route
@pytest.mark.parametrize(
    ("key", "value", "feature"),
    [
        ("delta.appendOnly", "true", "appendOnly"),
        ("delta.enableChangeDataFeed", "true", "changeDataFeed"),
        ("delta.enableDeletionVectors", "true", "deletionVectors"),
        ("delta.enableTypeWidening", "true", "typeWidening"),
        ("delta.checkpointPolicy", "v2", "v2Checkpoint"),
        ("delta.enableRowTracking", "true", "rowTracking"),
    ],
)
def test_a_property_brings_the_feature_it_needs(route: str, key: str, value: str, feature: str) -> None:
    table = new(route)

    set_properties.set_properties(table, {key: value})

    assert feature in named(table)
    assert append(table, "a") == table.snapshot().version


@each_route
def test_wishes_about_the_protocol_are_not_stored(route: str) -> None:
    """E5"""
    table = new(route)

    set_properties.set_properties(
        table,
        {
            "delta.feature.DOMAINMETADATA": "supported",
            "delta.minReaderVersion": "1",
            "delta.minWriterVersion": "3",
        },
    )

    assert named(table) >= {"domainMetadata", "checkConstraints"}
    assert not [key for key in properties(table) if "feature" in key or "Version" in key]


def test_a_legacy_protocol_that_gets_a_feature_names_what_it_implied() -> None:
    """S335"""
    table = new("filesystem")

    set_properties.add_feature(table, "domainMetadata")

    protocol = table.snapshot().state.protocol
    assert (protocol.min_reader_version, protocol.min_writer_version) == (1, 7)
    assert protocol.writer_features == ("appendOnly", "domainMetadata", "invariants")
    assert operations(table) == ["UPGRADE PROTOCOL"]


@each_route
def test_a_feature_brings_those_it_requires(route: str) -> None:
    table = new(route)

    set_properties.add_feature(table, "rowtracking")

    assert named(table) >= {"rowTracking", "domainMetadata"}
    assert set_properties.add_feature(table, "rowTracking") == table.snapshot().version == 1


@each_route
@pytest.mark.parametrize("name", ["clustering", "columnMapping", "variantType", "icebergCompatV2"])
def test_a_table_is_not_made_such_that_it_can_no_longer_be_written(route: str, name: str) -> None:
    """A feature that is merely named is fine; one that asks of writers what we cannot do is not."""
    table = new(route)
    refused = {"icebergCompatV2": "cannot write"}

    if name in refused:
        with pytest.raises(UnsupportedFeature, match=refused[name]):
            set_properties.add_feature(table, name)
        assert table.snapshot().version == 0
    else:
        set_properties.add_feature(table, name)
        append(table, "a")


@each_route
def test_what_a_property_cannot_be_is_refused_before_anything_is_committed(route: str) -> None:
    table = new(route)

    with pytest.raises(UserError):
        set_properties.set_properties(table, {"team": "sales", "delta.appendOnly": "perhaps"})

    assert table.snapshot().version == 0


@each_route
def test_a_table_with_an_unknown_feature_is_not_altered(route: str) -> None:
    """S328"""
    table = new(route, "feature:quantumWrites")

    with pytest.raises(UnsupportedFeature, match="quantumWrites"):
        set_properties.set_properties(table, {"team": "sales"})
    with pytest.raises(UnsupportedFeature, match="quantumWrites"):
        set_properties.add_feature(table, "domainMetadata")
    with pytest.raises(InvalidRequest) as caught:
        set_properties.drop_feature(table, "quantumWrites")

    assert caught.value.code == "DELTA_FEATURE_DROP_UNSUPPORTED_CLIENT_FEATURE"
    assert table.snapshot().version == 0


@managed_routes
@pytest.mark.parametrize("key", [STAMPS, ENABLEMENT_VERSION, ENABLEMENT_TIMESTAMP, STAMPS.upper()])
def test_the_timestamps_of_a_managed_table_cannot_be_touched(route: str, key: str) -> None:
    """S104, E6: not even to the same value."""
    table = new(route)

    with pytest.raises(InvalidRequest):
        set_properties.set_properties(table, {key: "true"})
    with pytest.raises(InvalidRequest) as caught:
        set_properties.unset_properties(table, [key], if_exists=True)

    assert caught.value.code == "DELTA_CANNOT_MODIFY_CATALOG_MANAGED_DEPENDENCIES"
    assert table.snapshot().version == 0


@managed_routes
def test_what_a_catalog_depends_on_cannot_be_dropped(route: str) -> None:
    """S105, E7: three errors, each for its own reason."""
    table, messages = new(route), []
    for name in ("catalogManaged", "inCommitTimestamp", "vacuumProtocolCheck"):
        with pytest.raises(InvalidRequest) as caught:
            set_properties.drop_feature(table, name)
        messages.append(caught.value.message)
        nonremovable = "DELTA_FEATURE_DROP_NONREMOVABLE_FEATURE"
        dependent = "DELTA_FEATURE_DROP_DEPENDENT_FEATURE"
        assert caught.value.code == (nonremovable if name == "catalogManaged" else dependent)

    assert len(set(messages)) == 3
    assert table.snapshot().version == 0


def test_a_table_by_path_is_not_put_under_a_catalog_by_its_features() -> None:
    """S106"""
    table = new("filesystem")

    with pytest.raises(InvalidRequest, match="create it in the catalog"):
        set_properties.add_feature(table, "catalogManaged")
    with pytest.raises(InvalidRequest, match="create it in the catalog"):
        set_properties.set_properties(table, {"delta.feature.catalogManaged": "supported"})

    assert table.snapshot().version == 0


@managed_routes
def test_how_the_catalog_knows_a_table_cannot_change(route: str) -> None:
    """S111, E8: restating it is no change."""
    table = new(route, "set:io.unitycatalog.tableId=abc")

    assert set_properties.set_properties(table, {"io.unitycatalog.tableId": "abc"}) == 0
    with pytest.raises(InvalidRequest, match="how the catalog knows"):
        set_properties.set_properties(table, {"io.unitycatalog.tableId": "xyz"})
    with pytest.raises(InvalidRequest) as caught:
        set_properties.unset_properties(table, ["io.unitycatalog.tableId"])
    assert caught.value.code == "DELTA_CANNOT_MODIFY_TABLE_PROPERTY"


def test_timestamps_that_are_switched_on_later_say_since_when() -> None:
    """I8"""
    table = new("filesystem")
    append(table, "a")

    set_properties.set_properties(table, {STAMPS: "true"})

    found = table.snapshot().state
    assert found.metadata.configuration[ENABLEMENT_VERSION] == "2"
    assert found.metadata.configuration[ENABLEMENT_TIMESTAMP] == str(found.in_commit_timestamp)
    assert "inCommitTimestamp" in table_features.writer_features(found.protocol)

    set_properties.set_properties(table, {STAMPS: "false"})
    assert not {ENABLEMENT_VERSION, ENABLEMENT_TIMESTAMP} & properties(table).keys()


def test_timestamps_that_lose_a_race_say_the_version_they_came_with() -> None:
    """I8"""
    place = create((), managed=False)
    ours, theirs = open_table(place, "filesystem"), open_table(place, "filesystem")
    base = ours.snapshot()
    append(theirs, "a", "b")
    append(theirs, "c")
    metadata = base.state.metadata
    enabled = msgspec.structs.replace(metadata, configuration={**metadata.configuration, STAMPS: "true"})
    protocol = protocol_upgrade.protocol_for_changed_table(base.state.protocol, enabled)

    version = ours.commit(Change(Operation("SET TBLPROPERTIES"), (protocol, enabled)), base=base)

    assert version == 3
    assert properties(ours)[ENABLEMENT_VERSION] == "3"


@each_route
def test_of_two_who_set_properties_at_once_one_has_to_look_again(route: str) -> None:
    place = create((), managed=route != "filesystem")
    ours, theirs = open_table(place, route), open_table(place, route)
    base = ours.snapshot()
    set_properties.set_properties(theirs, {"a": "1"})

    with pytest.raises(MetadataChanged):
        ours.commit(Change(Operation("SET TBLPROPERTIES"), (base.state.metadata,)), base=base)
    set_properties.set_properties(ours, {"b": "2"})

    assert properties(ours).items() >= {"a": "1", "b": "2"}.items()


@each_route
@pytest.mark.parametrize(
    ("key", "value", "error"),
    [
        ("delta.enableDeletionVectors", "true", None),
        ("delta.checkpointPolicy", "v2", None),
        ("delta.appendOnly", "true", MetadataChanged),
    ],
)
def test_an_append_that_loses_to_an_alter(
    route: str, key: str, value: str, error: type[ConflictError] | None
) -> None:
    place = create((), managed=route != "filesystem")
    ours, theirs = open_table(place, route), open_table(place, route)
    base = ours.snapshot()
    set_properties.set_properties(theirs, {key: value})
    change = Change(Operation("WRITE"), (added("a", {}),))

    if error is None:
        assert ours.commit(change, base=base) == 2
    else:
        with pytest.raises(error):
            ours.commit(change, base=base)
    assert properties(ours)[key] == value


@each_route
def test_an_alter_that_loses_to_appends_follows_them(route: str) -> None:
    place = create((), managed=route != "filesystem")
    ours, theirs = open_table(place, route), open_table(place, route)
    base = ours.snapshot()
    append(theirs, "a")
    metadata = msgspec.structs.replace(base.state.metadata, description="new")

    assert ours.commit(Change(Operation("SET TBLPROPERTIES"), (metadata,)), base=base) == 2
    assert ours.snapshot().files.columns.num_rows == 1


@each_route
def test_of_two_who_add_features_at_once_one_has_to_look_again(route: str) -> None:
    """I8, and any other feature that is not independent of what commits contain."""
    place = create((), managed=route != "filesystem")
    ours, theirs = open_table(place, route), open_table(place, route)
    base = ours.snapshot()
    set_properties.add_feature(theirs, "deletionVectors")

    with pytest.raises(ProtocolChanged):
        ours.commit(Change(Operation("UPGRADE PROTOCOL"), (base.state.protocol,)), base=base)


def test_the_protocol_of_every_version_is_well_formed() -> None:
    place = create((), managed=False)
    table = open_table(place, "filesystem")
    set_properties.set_properties(
        table, {"delta.enableDeletionVectors": "true", "delta.enableChangeDataFeed": "true"}
    )
    set_properties.add_feature(table, "rowTracking")
    set_properties.drop_feature(table, "rowTracking")

    for version in range(table.snapshot().version + 1):
        found = codec.decode(Version(version), place.store.read(file_names.published_path(Version(version))))
        state = table.snapshot(version=version).state
        table_features.check_writable(found.protocol or state.protocol, found.metadata or state.metadata)
