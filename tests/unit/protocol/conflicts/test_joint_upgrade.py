"""Two upgrades of the protocol at once: which stand together, and what the later one writes then."""

import pytest

from headgate.protocol import protocol_upgrade, table_features
from headgate.protocol.actions import Protocol
from headgate.protocol.conflicts import joint_upgrade, rebase
from headgate.protocol.transaction.attempt import Attempt
from tests.support.attempts import side, table

PLAIN = Protocol(min_reader_version=1, min_writer_version=2)
NAMELESS = Protocol(min_reader_version=1, min_writer_version=7, writer_features=())
ALL = ["appendOnly", "changeDataFeed", "clustering", "domainMetadata", "inCommitTimestamp"]
NAMED = protocol_upgrade.with_features(PLAIN, ["domainMetadata"])


def followed(ours: list[str], theirs: list[str], on: list[str] | None = None) -> Attempt:
    state = table(on or [])
    lost = side("theirs", theirs, state).as_winner()
    return rebase.rebase(rebase.prepare(side("ours", ours, state).attempt), [lost])


def test_an_upgrade_that_the_winner_made_is_not_made_again() -> None:
    moved = followed(["feature:+domainMetadata", "domain:a=1", "append"], ["feature:+domainMetadata"])

    assert moved.writes.protocol is None
    assert [found.domain for found in moved.writes.domains] == ["a"]
    assert len(moved.writes.adds) == 1


def test_what_the_winner_lacks_is_added_to_its_protocol() -> None:
    moved = followed(
        ["feature:+changeDataFeed", "append"], ["feature:+clustering"], ["feature:domainMetadata"]
    )

    assert moved.writes.protocol is not None
    assert table_features.writer_features(moved.writes.protocol) >= {
        "changeDataFeed",
        "clustering",
        "domainMetadata",
    }
    assert len(moved.writes.adds) == 1
    assert moved.writes.protocol == protocol_upgrade.with_features(moved.follows.protocol, ["changeDataFeed"])


def test_a_feature_that_ours_drops_is_dropped_behind_who_does_not_speak_of_the_protocol() -> None:
    moved = followed(["feature:-inCommitTimestamp"], ["app:etl=1"], ["feature:inCommitTimestamp"])

    assert moved.writes.protocol is not None
    assert not moved.writes.protocol.has("inCommitTimestamp")


def test_an_upgrade_without_a_rival_stays_as_it_is() -> None:
    moved = followed(["feature:+domainMetadata"], ["append"])

    assert moved.writes.protocol is not None
    assert moved.writes.protocol.has("domainMetadata")
    assert followed(["append"], ["feature:+domainMetadata"]).writes.protocol is None


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (PLAIN, PLAIN, True),
        (PLAIN, NAMED, True),
        (NAMED, PLAIN, False),
        (NAMELESS, protocol_upgrade.with_features(NAMELESS, ALL), True),
        (PLAIN, protocol_upgrade.with_features(PLAIN, ["rowTracking"]), False),
        (PLAIN, protocol_upgrade.with_features(PLAIN, ["deletionVectors"]), False),
        (PLAIN, protocol_upgrade.with_features(PLAIN, ["domainMetadata", "checkConstraints"]), False),
        (PLAIN, Protocol(min_reader_version=1, min_writer_version=3), False),
        (
            NAMED,
            protocol_upgrade.with_features(NAMED, ["changeDataFeed", "appendOnly", "inCommitTimestamp"]),
            True,
        ),
        (
            NAMED,
            Protocol(min_reader_version=2, min_writer_version=7, writer_features=NAMED.writer_features),
            False,
        ),
    ],
    ids=[
        "the same", "a domain", "a feature less", "all", "ids", "readers", "a check too", "a version",
        "three", "a version of readers",
    ],
)  # fmt: skip
def test_only_independent_features_of_writers_are_additive(
    before: Protocol, after: Protocol, expected: bool
) -> None:
    assert joint_upgrade.adds_independent_features_only(before, after) is expected


def test_independent_features_are_of_writers_alone() -> None:
    rows = [table_features.find_feature(name) for name in joint_upgrade.INDEPENDENT_FEATURES]

    assert all(row is not None and not row.reader and row.can_write for row in rows)
