"""Feature and coordinator go together: neither is made without the other, and both states are found."""

from pathlib import Path

import msgspec
import pytest

import headgate
from headgate.errors import InvalidRequest
from headgate.protocol import protocol_upgrade
from headgate.protocol.actions import Version
from headgate.protocol.features import coordinated_commits
from headgate.protocol.features.coordinated_commits import CURRENT, FEATURES
from headgate.protocol.log import codec, file_names
from headgate.table.alter import coordination, set_properties
from headgate.table.alter.create import TableDefinition
from headgate.table.transaction import Change, Operation
from tests.support.altered import named
from tests.support.owned import CONF, NAME, Place, append, coordinated, ordinary
from tests.support.tables import SCHEMA

MISMATCH = "DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH"


def write_past_the_rules(place: Place, *, feature: bool) -> None:
    """The next version, as a client wrote it that knows no better: the feature alone, or the owner alone."""
    state = place.opened(owners={}).snapshot().state
    protocol, metadata = coordinated_commits.with_coordinator(
        state.metadata, state.protocol, NAME, CONF, {"tableId": "t"}
    )
    content = codec.encode((protocol,) if feature else (metadata,))
    place.store.put(file_names.published_path(Version(state.version + 1)), content)


@pytest.mark.parametrize("feature", sorted(FEATURES))
def test_the_feature_alone_is_refused_with_the_call_that_takes_over(feature: str) -> None:
    place, watched = ordinary()
    key = f"delta.feature.{feature}"

    for ask in (
        lambda: set_properties.add_feature(place.opened(), feature),
        lambda: set_properties.set_properties(place.opened(), {key: "supported"}),
        lambda: coordination.create_table(
            Place().opened(), TableDefinition(SCHEMA, properties={key: "supported"}), place.find
        ),
    ):
        with pytest.raises(InvalidRequest, match=r"table\.coordinate\(name, conf\)") as refused:
            ask()
        assert refused.value.code == MISMATCH

    assert (place.published(), watched.asked) == ([0], [])


def test_the_feature_that_a_table_has_with_its_owner_may_be_asked_for_again() -> None:
    place, _ = coordinated(1)

    assert set_properties.add_feature(place.opened(), CURRENT.feature) == 2


def test_no_commit_brings_the_feature_without_an_owner_by_any_other_way() -> None:
    """As one that leaves the owner and keeps the feature."""
    place, _ = coordinated(1)
    base = place.opened().snapshot()
    _, released = coordinated_commits.without_coordinator(base.state.metadata, base.state.protocol)

    with pytest.raises(InvalidRequest, match="name no coordinator") as refused:
        place.opened().commit(Change(Operation("X"), (released,)), base=base)

    assert refused.value.code == MISMATCH


@pytest.mark.parametrize("feature", [True, False])
def test_check_reports_both_invalid_states(feature: bool) -> None:
    place, _ = ordinary(1)
    write_past_the_rules(place, feature=feature)

    report = place.opened(owners={}).check("t", data=False)

    rule = "feature-without-owner" if feature else "owner-without-feature"
    assert rule in {finding.rule for finding in report.findings}
    assert not report.is_clean
    assert place.opened(owners={}).check("t", data=False).version == 2


def test_check_finds_nothing_wrong_with_a_table_of_an_owner_or_a_released_one() -> None:
    place, _ = coordinated(2)
    assert place.opened().check("t", data=False).is_clean

    coordination.uncoordinate(place.opened())

    assert place.opened().check("t", data=False).is_clean


def test_a_table_with_the_feature_alone_is_mended_by_a_release() -> None:
    """Delta Spark leaves it so between the two commits of its own release."""
    place, _ = ordinary(1)
    write_past_the_rules(place, feature=True)
    assert append(place.opened(), "x") == [3]

    assert coordination.uncoordinate(place.opened()) == 4

    assert not FEATURES & named(place.opened())
    assert place.opened().check("t", data=False).is_clean


def test_a_release_is_one_commit_without_an_invalid_state_in_between() -> None:
    """Seed 002: the commit removes the owner from the metadata and the feature from the protocol."""
    place, _ = coordinated(1)

    assert coordination.uncoordinate(place.opened()) == 3

    written = codec.decode(Version(3), place.store.read(file_names.published_path(Version(3))))
    assert written.protocol is not None
    assert written.metadata is not None
    assert not coordinated_commits.leftover_features(written.protocol)
    assert coordinated_commits.coordinator_of(written.metadata) is None
    assert not written.protocol.has("vacuumProtocolCheck")
    assert written.protocol.reader_features is None


def test_dropping_the_feature_releases_the_table() -> None:
    """As DROP FEATURE does in Delta Spark."""
    place, watched = coordinated(1, batch=100)

    assert set_properties.drop_feature(place.opened(), CURRENT.feature) == 3

    assert place.published() == [0, 1, 2, 3]
    assert append(place.opened(owners={}), "z") == [4]
    assert watched.count("commit") == 2


def test_setting_name_and_conf_takes_over() -> None:
    """As ALTER TABLE SET TBLPROPERTIES does in Delta Spark."""
    place, watched = ordinary(1)
    said = {CURRENT.coordinator: NAME, CURRENT.conf: '{"endpoint":"here"}'}

    with pytest.raises(InvalidRequest, match="set acme in another call"):
        coordination.coordinate_by_properties(place.opened(), place.find, {**said, "acme": "x"})
    assert coordination.coordinate_by_properties(place.opened(), place.find, said) == 2

    found = coordinated_commits.coordinator_of(place.opened().snapshot().state.metadata)
    assert found is not None
    assert (found.name, found.conf) == (NAME, CONF)
    assert append(place.opened(), "x") == [3]
    assert watched.count("commit") == 1


def test_timestamps_go_only_if_that_is_asked() -> None:
    place, _ = coordinated(1)

    assert coordination.uncoordinate(place.opened(), keep_timestamps=False) == 4

    protocol = place.opened().snapshot().state.protocol
    assert (protocol.min_writer_version, protocol.has("inCommitTimestamp")) == (2, False)
    assert append(place.opened(), "x") == [5]


def test_an_existing_table_is_not_opened_as_that_of_an_owner_it_does_not_have(tmp_path: Path) -> None:
    place, conf = tmp_path / "table", {"lake": str(tmp_path / "lake")}
    table = headgate.at_path(place, columns="id BIGINT")

    with pytest.raises(InvalidRequest, match=r"has no coordinator.*coordinate\('headgate'"):
        headgate.at_path(place, columns="id BIGINT", owner=("headgate", conf))
    said = {CURRENT.coordinator: "headgate", CURRENT.conf: msgspec.json.encode(conf).decode()}
    assert table.set_properties(said) == 1
    assert headgate.at_path(place, columns="id BIGINT", owner=("headgate", conf)).version() == 1
    with pytest.raises(InvalidRequest, match="its coordinator is 'headgate' with"):
        headgate.at_path(place, columns="id BIGINT", owner=("headgate", {**conf, "batch": "2"}))


def test_a_table_by_the_name_without_preview_is_written_through_its_owner() -> None:
    """The name of the seed, ``coordinatedCommits``; what the protocol names stays."""
    place, watched = coordinated(batch=100)
    state = place.opened().snapshot().state
    plain = next(
        naming for naming in coordinated_commits.FEATURE_NAMINGS if naming.feature == "coordinatedCommits"
    )
    said = dict(zip(CURRENT.properties, plain.properties, strict=True))
    configuration = {said.get(key, key): value for key, value in state.metadata.configuration.items()}
    metadata = msgspec.structs.replace(state.metadata, configuration=configuration)
    protocol = protocol_upgrade.with_features(
        protocol_upgrade.without_feature(state.protocol, CURRENT.feature), ("coordinatedCommits",)
    )
    taken = codec.decode(Version(1), place.store.read(file_names.published_path(Version(1))))
    place.store.put(file_names.published_path(Version(1)), codec.encode((taken.info, protocol, metadata)))

    assert append(place.opened(), "ab") == [2, 3]

    assert watched.count("commit") == 2
    assert "coordinatedCommits" in named(place.opened())
    assert coordination.uncoordinate(place.opened()) == 4
    assert not FEATURES & named(place.opened())
