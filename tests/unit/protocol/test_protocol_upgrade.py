"""Which protocol a table needs once it has a feature more, or less."""

import pytest

from headgate.errors import InvalidRequest
from headgate.protocol import protocol_upgrade
from headgate.protocol.actions import Metadata, Protocol
from tests.support.commits import metadata

MANY = ("v2Checkpoint", "appendOnly", "timestampNtz", "deletionVectors", "domainMetadata", "typeWidening",
        "vacuumProtocolCheck", "changeDataFeed", "variantType-preview", "typeWidening-preview")  # fmt: skip
MANY_READERS = ("deletionVectors", "timestampNtz", "typeWidening", "typeWidening-preview", "v2Checkpoint",
                "vacuumProtocolCheck", "variantType-preview")  # fmt: skip
DEFAULTED = (
    '{"type":"struct","fields":[{"name":"n","type":"integer","nullable":true,'
    '"metadata":{"CURRENT_DEFAULT":"3"}}]}'
)
NTZ = '{"type":"struct","fields":[{"name":"t","type":"timestamp_ntz","nullable":true,"metadata":{}}]}'


def legacy(reader: int, writer: int) -> Protocol:
    return Protocol(min_reader_version=reader, min_writer_version=writer)


def lists(readers: tuple[str, ...] | None, writers: tuple[str, ...], *, reader: int = 3) -> Protocol:
    return Protocol(
        min_reader_version=reader, min_writer_version=7, reader_features=readers, writer_features=writers
    )


@pytest.mark.parametrize(
    "protocol", [lists(("deletionVectors",), ("deletionVectors",)), lists(MANY_READERS, MANY)]
)
def test_a_protocol_that_has_a_feature_stays_the_same(protocol: Protocol) -> None:
    assert protocol_upgrade.with_features(protocol, ("deletionVectors",)) is protocol


def test_a_feature_comes_to_those_that_are_there() -> None:
    before = lists(("timestampNtz",), ("timestampNtz", "appendOnly"))

    both = ("deletionVectors", "timestampNtz")
    assert protocol_upgrade.with_features(before, ("deletionVectors",)) == lists(both, ("appendOnly", *both))
    assert protocol_upgrade.with_features(before, ("rowTracking",)) == lists(
        ("timestampNtz",), ("appendOnly", "domainMetadata", "rowTracking", "timestampNtz")
    )


def test_readers_are_told_of_a_feature_that_only_writers_were_told_of() -> None:
    before = lists((), ("deletionVectors",))

    after = protocol_upgrade.with_features(before, ("deletionVectors",))

    assert after == lists(("deletionVectors",), ("deletionVectors",))


def test_what_an_old_version_implied_is_named() -> None:
    implied = ("appendOnly", "changeDataFeed", "checkConstraints", "columnMapping")
    others = ("deletionVectors", "generatedColumns", "invariants")

    after = protocol_upgrade.with_features(legacy(2, 5), ("deletionVectors",))

    assert after == lists(("columnMapping", "deletionVectors"), (*implied, *others))
    assert protocol_upgrade.with_features(legacy(1, 2), ("domainMetadata",)) == lists(
        None, ("appendOnly", "domainMetadata", "invariants"), reader=1
    )


def test_features_are_named_in_order() -> None:
    for protocol in (
        protocol_upgrade.with_features(legacy(1, 1), MANY),
        protocol_upgrade.protocol_for_new_table(metadata(), asked=MANY),
        protocol_upgrade.without_feature(lists(MANY_READERS, (*MANY, "rowTracking")), "rowTracking"),
    ):
        assert protocol.reader_features == tuple(sorted(MANY_READERS))
        assert protocol.writer_features == tuple(sorted(MANY))


@pytest.mark.parametrize(
    ("before", "dropped", "after"),
    [
        (lists(None, ("domainMetadata",), reader=1), "domainMetadata", legacy(1, 1)),
        (lists((), ("appendOnly", "domainMetadata", "invariants")), "domainMetadata", legacy(1, 2)),
        (lists(None, ("appendOnly", "domainMetadata"), reader=1), "domainMetadata",
         lists(None, ("appendOnly",), reader=1)),
        (lists(("columnMapping", "deletionVectors"), ("columnMapping", "deletionVectors")), "deletionVectors",
         lists(None, ("columnMapping",), reader=2)),
    ],
    ids=["nothing is left", "an old version says it", "no old version does", "of a mapping of columns"],
)  # fmt: skip
def test_a_feature_less_leaves_the_weakest_protocol(before: Protocol, dropped: str, after: Protocol) -> None:
    assert protocol_upgrade.without_feature(before, dropped) == after


@pytest.mark.parametrize("protocol", [legacy(1, 2), legacy(2, 2), legacy(2, 5), lists((), ("appendOnly",)),
                                      lists(None, ("appendOnly", "invariants"), reader=1)])  # fmt: skip
def test_a_change_that_needs_nothing_changes_nothing(protocol: Protocol) -> None:
    """Readers are not told to know less either, nor are lists given up."""
    assert protocol_upgrade.protocol_for_changed_table(protocol, metadata()) == protocol


@pytest.mark.parametrize(
    ("before", "changed", "after"),
    [
        (legacy(1, 2), metadata(delta_constraints_c="x"), legacy(1, 3)),
        (legacy(2, 2), metadata(delta_constraints_c="x"), legacy(2, 3)),
        (legacy(2, 2), metadata(delta_enableRowTracking="true"),
         lists(None, ("appendOnly", "domainMetadata", "invariants", "rowTracking"), reader=2)),
        (legacy(1, 4), metadata(delta_enableChangeDataFeed="true"), legacy(1, 4)),
    ],
    ids=["the next version", "for the same readers", "a list for the same readers", "implied already"],
)  # fmt: skip
def test_an_old_protocol_is_raised_as_little_as_possible(
    before: Protocol, changed: Metadata, after: Protocol
) -> None:
    assert protocol_upgrade.protocol_for_changed_table(before, changed) == after


def test_a_default_is_named_wherever_it_comes_from() -> None:
    """Clients that do not see the feature write null where the default is meant."""
    new = protocol_upgrade.protocol_for_new_table(metadata(DEFAULTED))
    changed = protocol_upgrade.protocol_for_changed_table(legacy(1, 2), metadata(DEFAULTED))

    assert new == lists(None, ("allowColumnDefaults",), reader=1)
    assert changed == lists(None, ("allowColumnDefaults", "appendOnly", "invariants"), reader=1)


def test_a_column_type_that_shuts_out_readers_must_be_asked_for() -> None:
    with pytest.raises(InvalidRequest, match=r"add_feature\('timestampNtz'\)") as caught:
        protocol_upgrade.protocol_for_changed_table(legacy(1, 2), metadata(NTZ))

    assert caught.value.code == "DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT"
    asked = protocol_upgrade.protocol_for_changed_table(legacy(1, 2), metadata(NTZ), asked=("timestampNtz",))
    assert asked.reader_features == ("timestampNtz",)
