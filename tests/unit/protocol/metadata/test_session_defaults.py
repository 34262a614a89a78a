"""Defaults of a session: what a table has that its maker did not speak of, and what never comes that way."""

from collections.abc import Mapping

import msgspec
import pytest

from headgate.errors import InvalidRequest
from headgate.protocol import table_features
from headgate.protocol.actions import Metadata, Protocol, Version
from headgate.protocol.features.coordinated_commits import CURRENT, SESSION_DEFAULT_PREFIX
from headgate.protocol.log import codec
from headgate.protocol.metadata import session_defaults
from headgate.table.alter import coordination, create
from headgate.table.alter.create import TableDefinition
from tests.support.owned import CONF, NAME, Place, append, ordinary
from tests.support.routes import CountingWorld
from tests.support.tables import SCHEMA

STAMPS = "delta.enableInCommitTimestamps"
FEATURE = "delta.feature.catalogManaged"
BOTH = pytest.mark.parametrize("managed", [True, False], ids=["managed", "by path"])
OWNER = {CURRENT.coordinator: NAME, CURRENT.conf: msgspec.json.encode(CONF).decode()}
ILLEGAL = [
    ({CURRENT.coordinator: NAME}, "DELTA_MUST_SET_ALL_COORDINATED_COMMITS_CONFS_IN_SESSION"),
    ({CURRENT.conf: "{}"}, "DELTA_MUST_SET_ALL_COORDINATED_COMMITS_CONFS_IN_SESSION"),
    ({**OWNER, CURRENT.table_conf: "{}"}, "DELTA_CONF_OVERRIDE_NOT_SUPPORTED_IN_SESSION"),
    ({**OWNER, CURRENT.conf: "no JSON"}, "DELTA_ILLEGAL_OPTION"),
]
COMFORTS = {
    "delta.enableDeletionVectors": "true",
    "delta.enableRowTracking": "true",
    "delta.checkpointPolicy": "v2",
}


def made(
    defaults: Mapping[str, str], *, managed: bool, properties: Mapping[str, str] | None = None
) -> tuple[Protocol, Metadata]:
    definition = TableDefinition(SCHEMA, properties=properties or {}, defaults=defaults)
    content = create.version_0(definition, managed=managed, world=CountingWorld())
    found = codec.decode(Version(0), content)
    assert found.protocol is not None
    assert found.metadata is not None
    return found.protocol, found.metadata


def empty() -> Place:
    """A place without a table, where the owner is registered."""
    return Place(owners=ordinary()[0].owners)


def settings_of(place: Place) -> Mapping[str, str]:
    return place.opened().snapshot().state.metadata.configuration


def test_settings_with_the_prefix_are_defaults_and_others_are_not() -> None:
    settings = {
        f"{SESSION_DEFAULT_PREFIX}appendOnly": "true",
        "spark.sql.shuffle.partitions": "2",
        "delta.appendOnly": "x",
    }

    assert session_defaults.default_properties(settings) == {"delta.appendOnly": "true"}


@BOTH
def test_what_many_want_of_every_table_comes_by_default_and_an_explicit_false_wins(managed: bool) -> None:
    """S116"""
    protocol, metadata = made(COMFORTS, managed=managed)
    assert {
        "deletionVectors",
        "rowTracking",
        "domainMetadata",
        "v2Checkpoint",
    } <= table_features.writer_features(protocol)
    assert COMFORTS.items() <= dict(metadata.configuration).items()

    said = {"delta.enableDeletionVectors": "false", "delta.checkpointPolicy": "classic"}
    protocol, metadata = made(COMFORTS, managed=managed, properties=said)
    assert {**COMFORTS, **said}.items() <= dict(metadata.configuration).items()
    assert not {"deletionVectors", "v2Checkpoint"} & table_features.writer_features(protocol)
    assert protocol.has("rowTracking")


def test_defaults_may_be_features_and_versions() -> None:
    asked = {"delta.feature.deletionVectors": "supported", "delta.minWriterVersion": "7"}
    protocol, metadata = made(asked, managed=False)

    assert protocol.has("deletionVectors")
    assert metadata.configuration == {}  # E5
    assert made({"delta.minWriterVersion": "4"}, managed=False)[0].min_writer_version == 4
    spoken = {"delta.minWriterVersion": "2"}
    assert made({"delta.minWriterVersion": "4"}, managed=False, properties=spoken)[0].min_writer_version == 2


@BOTH
@pytest.mark.parametrize("status", ["enabled", "disabled"])
def test_a_status_other_than_supported_is_refused_by_default_too(managed: bool, status: str) -> None:
    """S102, E4"""
    with pytest.raises(InvalidRequest, match="default of the session") as caught:
        made({FEATURE: status}, managed=managed)

    assert caught.value.code == "DELTA_UNSUPPORTED_FEATURE_STATUS"


def test_a_default_does_not_put_a_table_by_path_under_a_catalog() -> None:
    """S113: and so it gets neither the timestamps nor the feature that come with it."""
    protocol, metadata = made({FEATURE: "supported"}, managed=False)
    assert table_features.writer_features(protocol) == frozenset({"appendOnly", "invariants"})
    assert metadata.configuration == {}

    assert made({FEATURE: "supported"}, managed=True)[0].is_catalog_managed


def test_the_timestamps_of_a_managed_table_are_no_matter_of_defaults() -> None:
    """E2: only what a command says itself contradicts it."""
    assert made({STAMPS: "false"}, managed=True)[1].configuration == {STAMPS: "true"}
    assert made({STAMPS: "true"}, managed=False)[1].configuration == {STAMPS: "true"}
    with pytest.raises(InvalidRequest):
        made({STAMPS: "true"}, managed=True, properties={STAMPS: "false"})


@BOTH
@pytest.mark.parametrize(
    "defaults",
    [{"delta.appendOnyl": "true"}, {"delta.appendOnly": "yes"}, {"delta.managedCommit.commitOwner": "x"}],
)
def test_a_default_that_cannot_be_followed_is_refused_and_said_to_be_one(
    managed: bool, defaults: Mapping[str, str]
) -> None:
    with pytest.raises(InvalidRequest, match=r"spark\.databricks\.delta\.properties\.defaults\."):
        made(defaults, managed=managed)


def test_a_new_table_is_the_owners_whom_the_defaults_name() -> None:
    """S146, S125: asked before version 0, so that it decides from version 1 on."""
    place = empty()

    coordination.create_table(place.opened(), TableDefinition(SCHEMA, defaults=OWNER), place.find)

    assert place.published() == [0]
    assert {**OWNER, STAMPS: "true"}.items() <= dict(settings_of(place)).items()
    assert CURRENT.table_conf in settings_of(place)
    assert append(place.opened(), "ab") == [1, 2]
    assert place.staged() == [1, 2]


def test_other_defaults_give_a_table_to_nobody() -> None:
    place = empty()

    coordination.create_table(place.opened(), TableDefinition(SCHEMA, defaults=COMFORTS), place.find)

    assert COMFORTS.items() <= dict(settings_of(place)).items()
    assert not {*CURRENT.properties} & settings_of(place).keys()
    assert session_defaults.default_coordinator(OWNER, {**OWNER, CURRENT.coordinator: "another"}) is None
    assert session_defaults.default_coordinator({}, OWNER) == (NAME, CONF)


@pytest.mark.parametrize(("defaults", "code"), ILLEGAL)
def test_what_is_said_of_an_owner_wins_over_defaults(defaults: Mapping[str, str], code: str) -> None:
    """S145, S146"""
    place = empty()
    with pytest.raises(InvalidRequest) as caught:
        coordination.create_table(place.opened(), TableDefinition(SCHEMA, defaults=defaults), place.find)
    assert caught.value.code == code
    assert place.published() == []

    definition = TableDefinition(SCHEMA, defaults=defaults)
    coordination.create_coordinated(place.opened(), definition, place.find, NAME, CONF)
    assert OWNER.items() <= dict(settings_of(place)).items()


@pytest.mark.parametrize(
    "said", [{CURRENT.coordinator: NAME}, {CURRENT.conf: "{}"}, {CURRENT.table_conf: "{}"}]
)
def test_what_cannot_be_said_of_an_owner_is_refused_whatever_the_defaults(said: Mapping[str, str]) -> None:
    """S146"""
    place = empty()
    definition = TableDefinition(SCHEMA, properties=said, defaults=OWNER)

    with pytest.raises(InvalidRequest) as caught:
        coordination.create_table(place.opened(), definition, place.find)

    assert caught.value.code.endswith("_IN_COMMAND")
    assert place.published() == []


def test_an_owner_by_default_that_nobody_registered_makes_no_table() -> None:
    place = Place()

    with pytest.raises(InvalidRequest, match="no coordinator 'one'"):
        coordination.create_table(place.opened(), TableDefinition(SCHEMA, defaults=OWNER), place.find)

    assert place.published() == []


def test_a_catalogs_table_is_not_given_to_an_owner_by_default() -> None:
    protocol, metadata = made(OWNER, managed=True)

    assert metadata.configuration == {STAMPS: "true"}
    assert not protocol.has(CURRENT.feature)
