"""Which properties about a coordinator may be set and unset, by which command; on paper, then on a table."""

from collections.abc import Mapping

import msgspec
import pytest

from headgate.errors import InvalidRequest
from headgate.protocol import protocol_upgrade
from headgate.protocol.actions import Metadata
from headgate.protocol.features import coordinated_commits, coordinator_properties
from headgate.protocol.features.coordinated_commits import CURRENT
from headgate.protocol.features.coordinator_properties import PropertyCommand
from headgate.protocol.log.timestamps import ENABLEMENT_TIMESTAMP, ENABLEMENT_VERSION
from headgate.protocol.property_values import IN_COMMIT_TIMESTAMPS
from headgate.table.alter import set_properties
from tests.support import commits
from tests.support.owned import NAME, coordinated, ordinary

NAMED = {CURRENT.coordinator: NAME}
CONFIGURED = {CURRENT.conf: "{}"}
TABLE = {CURRENT.table_conf: "{}"}
LEGAL = {**NAMED, **CONFIGURED}
STAMPED = {IN_COMMIT_TIMESTAMPS: "true"}
TAKEN = {**LEGAL, **TABLE, **STAMPED, ENABLEMENT_VERSION: "3", ENABLEMENT_TIMESTAMP: "99", "acme": "x"}
OVERRIDE = "DELTA_CANNOT_OVERRIDE_COORDINATED_COMMITS_CONFS"
MISSING = "DELTA_MUST_SET_ALL_COORDINATED_COMMITS_CONFS_IN_COMMAND"
MISSING_DEFAULT = "DELTA_MUST_SET_ALL_COORDINATED_COMMITS_CONFS_IN_SESSION"
TABLE_CONF = "DELTA_CONF_OVERRIDE_NOT_SUPPORTED_IN_COMMAND"
TABLE_CONF_DEFAULT = "DELTA_CONF_OVERRIDE_NOT_SUPPORTED_IN_SESSION"
NEEDED = "DELTA_CANNOT_MODIFY_COORDINATED_COMMITS_DEPENDENCIES"
TOGETHER = "DELTA_CANNOT_SET_COORDINATED_COMMITS_DEPENDENCIES"
UNSET = "DELTA_CANNOT_UNSET_COORDINATED_COMMITS_CONFS"
ILLEGAL = [(NAMED, MISSING), (CONFIGURED, MISSING), ({**LEGAL, **TABLE}, TABLE_CONF), (TABLE, TABLE_CONF)]


def refusal(check: object, *arguments: object, **named: object) -> str | None:
    try:
        check(*arguments, **named)  # type: ignore[operator]
    except InvalidRequest as exc:
        assert exc.sqlstate == "42616"
        assert all(key in exc.message for key in exc.fields["properties"])  # type: ignore[attr-defined]
        return exc.code
    return None


@pytest.mark.parametrize("command", [PropertyCommand.CREATE, PropertyCommand.CLONE])
@pytest.mark.parametrize(
    ("explicit", "code"), [*ILLEGAL, (LEGAL, None), ({**LEGAL, **STAMPED}, None), ({}, None)]
)
def test_a_new_table_has_name_and_conf_or_neither(
    command: PropertyCommand, explicit: Mapping[str, str], code: str | None
) -> None:
    """S145"""
    assert refusal(coordinator_properties.check_set_properties, None, explicit, command) == code


@pytest.mark.parametrize(
    ("defaults", "code"),
    [
        (NAMED, MISSING_DEFAULT), (CONFIGURED, MISSING_DEFAULT), ({**LEGAL, **TABLE}, TABLE_CONF_DEFAULT),
        (LEGAL, None),
    ],
)  # fmt: skip
def test_the_defaults_of_a_session_count_only_where_nothing_is_said(
    defaults: Mapping[str, str], code: str | None
) -> None:
    """S145, S146"""
    create, replace = PropertyCommand.CREATE, PropertyCommand.REPLACE

    assert refusal(coordinator_properties.check_set_properties, None, {}, create, defaults=defaults) == code
    assert (
        refusal(coordinator_properties.check_set_properties, None, LEGAL, create, defaults=defaults) is None
    )
    assert (
        refusal(coordinator_properties.check_set_properties, None, NAMED, create, defaults=defaults)
        == MISSING
    )
    assert (
        refusal(
            coordinator_properties.check_set_properties, None, {}, PropertyCommand.CLONE, defaults=defaults
        )
        == code
    )
    for existing in ({}, TAKEN):
        assert (
            refusal(coordinator_properties.check_set_properties, existing, {}, replace, defaults=defaults)
            is None
        )


@pytest.mark.parametrize("command", [PropertyCommand.REPLACE, PropertyCommand.CLONE])
@pytest.mark.parametrize("existing", [{}, TAKEN], ids=["ordinary", "coordinated"])
def test_a_replacement_keeps_what_the_table_has(
    command: PropertyCommand, existing: Mapping[str, str]
) -> None:
    """S147"""
    for explicit in (LEGAL, NAMED, {**LEGAL, **TABLE}):
        assert refusal(coordinator_properties.check_set_properties, existing, explicit, command) == OVERRIDE
    assert refusal(coordinator_properties.check_set_properties, existing, STAMPED, command) is None
    kept = coordinator_properties.properties_kept_on_replace(existing)
    assert kept == ({key: value for key, value in TAKEN.items() if key != "acme"} if existing else {})
    assert coordinator_properties.properties_kept_on_replace(STAMPED) == {}


@pytest.mark.parametrize(
    ("existing", "changes", "code"),
    [
        ({}, LEGAL, None), *(({}, *row) for row in ILLEGAL), ({}, {**LEGAL, **STAMPED}, TOGETHER),
        ({}, STAMPED, None), (TAKEN, LEGAL, OVERRIDE), (TAKEN, CONFIGURED, OVERRIDE),
        (TAKEN, STAMPED, NEEDED), (TAKEN, {ENABLEMENT_VERSION: "4"}, NEEDED), (TAKEN, {"acme": "y"}, None),
    ],
)  # fmt: skip
def test_alter_sets_a_coordinator_once(
    existing: Mapping[str, str], changes: Mapping[str, str], code: str | None
) -> None:
    """S148"""
    assert (
        refusal(coordinator_properties.check_set_properties, existing, changes, PropertyCommand.ALTER) == code
    )


@pytest.mark.parametrize(
    ("existing", "keys", "code"),
    [
        (TAKEN, {CURRENT.coordinator}, UNSET), (TAKEN, {CURRENT.conf}, UNSET),
        (TAKEN, {CURRENT.table_conf}, UNSET), (TAKEN, {IN_COMMIT_TIMESTAMPS}, NEEDED),
        (TAKEN, {"acme"}, None), ({}, {CURRENT.coordinator}, None), (STAMPED, {IN_COMMIT_TIMESTAMPS}, None),
    ],
)  # fmt: skip
def test_alter_does_not_unset_a_coordinator(
    existing: Mapping[str, str], keys: set[str], code: str | None
) -> None:
    """S148"""
    assert refusal(coordinator_properties.check_unset_properties, existing, frozenset(keys)) == code


def test_a_copy_of_a_table_does_not_belong_to_the_owner_of_the_original() -> None:
    """C6"""
    assert coordinator_properties.properties_copied_by_clone(TAKEN) == {**STAMPED, "acme": "x"}


def test_a_user_cannot_alter_a_coordinated_table_past_the_rules() -> None:
    """S148"""
    place, _ = coordinated(1)
    table = place.opened()

    for properties, code in ((NAMED, OVERRIDE), (STAMPED, NEEDED)):
        assert refusal(set_properties.set_properties, table, properties) == code
        assert refusal(set_properties.unset_properties, table, list(properties)) in (UNSET, NEEDED)
    assert set_properties.set_properties(table, {"acme": "y"}) == 3
    assert table.snapshot().version == 3


def test_setting_the_properties_by_hand_registers_nobody_so_it_is_refused() -> None:
    place, watched = ordinary()

    for properties in (LEGAL, NAMED, TABLE):
        with pytest.raises(InvalidRequest):
            set_properties.set_properties(place.opened(), properties)
    assert (place.published(), watched.asked) == ([0], [])


@pytest.mark.parametrize(
    ("feature", "owner", "folder"),
    [
        ("coordinatedCommits-preview", "coordinatedCommits.commitCoordinator-preview", "_staged_commits"),
        ("coordinatedCommits", "coordinatedCommits.commitCoordinator", "_staged_commits"),
        ("managedCommit-preview", "managedCommit.commitOwner-preview", "_commits"),
        ("managed-commit-preview", "managedCommits.commitOwner-preview", "_commits"),
        ("managed-commit-dev", "managedCommits.commitOwner-dev", "_commits"),
        ("managedCommit", "managedCommit.commitOwner", "_commits"),
    ],
)
def test_an_owner_is_found_by_every_name_the_feature_had(feature: str, owner: str, folder: str) -> None:
    found = coordinated_commits.coordinator_of(commits.metadata(**{f"delta_{owner.replace('.', '_')}": "o"}))
    before = protocol_upgrade.with_features(commits.PROTOCOL, (feature,))

    assert found is not None
    assert (found.naming.feature, found.name, found.naming.staged) == (feature, "o", f"_delta_log/{folder}/")
    assert (found.conf, found.table_conf, found.table_conf_text) == ({}, {}, None)
    assert coordinated_commits.leftover_features(before) == (feature,)
    after, _ = coordinated_commits.without_coordinator(commits.metadata(), before)
    assert (after.reader_features, after.writer_features) == (
        None,
        ("appendOnly", "inCommitTimestamp", "invariants"),
    )


def test_a_table_is_given_to_an_owner_and_taken_from_it() -> None:
    before = commits.metadata(acme="x")

    protocol, after = coordinated_commits.with_coordinator(
        before, commits.PROTOCOL, NAME, {"b": "2", "a": "1"}, {"id": "7"}
    )

    found = coordinated_commits.coordinator_of(after)
    assert found is not None
    assert (found.naming.feature, found.name) == ("coordinatedCommits-preview", NAME)
    assert (found.conf_text, found.conf) == ('{"a":"1","b":"2"}', {"a": "1", "b": "2"})
    assert found.table_conf == {"id": "7"}
    assert after.configuration[IN_COMMIT_TIMESTAMPS] == "true"
    assert all(protocol.has(name) for name in (CURRENT.feature, "inCommitTimestamp", "vacuumProtocolCheck"))
    weakest, released = coordinated_commits.without_coordinator(after, protocol)
    assert dict(released.configuration) == {"acme": "x", IN_COMMIT_TIMESTAMPS: "true"}
    assert not any(weakest.has(name) for name in (CURRENT.feature, "vacuumProtocolCheck"))


def test_a_check_of_vacuums_that_was_there_before_the_owner_stays() -> None:
    had = protocol_upgrade.with_features(commits.PROTOCOL, ("vacuumProtocolCheck",))
    protocol, after = coordinated_commits.with_coordinator(commits.metadata(), had, NAME, {}, {})

    weakest, released = coordinated_commits.without_coordinator(after, protocol)

    assert weakest.has("vacuumProtocolCheck")
    assert not weakest.has(CURRENT.feature)
    assert not coordinated_commits.PROPERTIES & released.configuration.keys()


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ({}, {}, None), (TAKEN, TAKEN, None), (TAKEN, {}, None), ({}, TAKEN, None),
        (TAKEN, {**TAKEN, CURRENT.coordinator: "two"}, "going over to 'two'"),
        (TAKEN, {**TAKEN, CURRENT.conf: '{"a":"1"}'}, "other settings"),
        ({}, LEGAL, "never asked to own the table"),
    ],
)  # fmt: skip
def test_an_owner_follows_the_file_system_and_nobody_else(
    before: Mapping[str, str], after: Mapping[str, str], words: str | None
) -> None:
    found = coordinated_commits.metadata_change_breach(configured(before), configured(after))

    assert found is None if words is None else found is not None and words in found


@pytest.mark.parametrize("broken", [{CURRENT.conf: "[]"}, {CURRENT.table_conf: "{"}])
def test_an_owner_whose_settings_cannot_be_understood_is_refused_by_name(broken: dict[str, str]) -> None:
    with pytest.raises(InvalidRequest, match=next(iter(broken))) as caught:
        coordinated_commits.metadata_change_breach(configured({}), configured({**TAKEN, **broken}))

    assert caught.value.code == "DELTA_ILLEGAL_OPTION"


def test_a_table_that_names_an_owner_names_the_feature_too() -> None:
    named, plain = configured(TAKEN), configured({})
    with_feature = protocol_upgrade.with_features(commits.PROTOCOL, (CURRENT.feature,))

    assert coordinated_commits.feature_breach(plain, commits.PROTOCOL) is None
    assert coordinated_commits.feature_breach(plain, commits.MANAGED) is None
    assert coordinated_commits.feature_breach(named, with_feature) is None
    assert CURRENT.feature in (coordinated_commits.feature_breach(named, commits.PROTOCOL) or "")
    assert "a catalog manages it" in (coordinated_commits.feature_breach(named, commits.MANAGED) or "")


@pytest.mark.parametrize(
    ("before", "after", "broken"),
    [(TAKEN, TAKEN, False), ({}, {}, False), ({}, LEGAL, True), (TAKEN, {}, True), (TAKEN, STAMPED, False)],
)
def test_the_commits_of_an_owner_have_timestamps_up_to_the_release(
    before: Mapping[str, str], after: Mapping[str, str], broken: bool
) -> None:
    found = coordinated_commits.timestamps_breach(configured(before), configured(after))

    assert (found is not None) is broken


def configured(properties: Mapping[str, str]) -> Metadata:
    return msgspec.structs.replace(commits.metadata(), configuration=properties)


def test_who_writes_past_an_owner_is_told_which_one_is_missing() -> None:
    found = coordinated_commits.coordinator_of(configured(TAKEN))
    assert found is not None

    refused = coordinated_commits.unreachable_coordinator_error(found, "a commit")

    assert refused.code == "DELTA_UNSUPPORTED_WRITES_WITHOUT_COORDINATOR"
    assert refused.fields == {
        "features": (CURRENT.feature,), "operation": "a commit", "coordinator": NAME,
    }  # fmt: skip
    assert f"headgate.coordinators.register({NAME!r}, …)" in refused.message


def test_the_rules_have_names_of_their_own() -> None:
    rules = [*coordinator_properties.SET_RULES, *coordinator_properties.UNSET_RULES]

    assert len({rule.name for rule in rules}) == len(rules)
    assert len({naming.feature for naming in coordinated_commits.FEATURE_NAMINGS}) == len(
        coordinated_commits.FEATURE_NAMINGS
    )
