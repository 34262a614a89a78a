"""Which way a commit of a table by its path goes, asked of the router itself."""

import logging

import msgspec
import pytest

from headgate.catalog.coordinator.ledger import MemoryLedger
from headgate.catalog.coordinator.ledger_coordinator import LedgerCoordinator
from headgate.catalog.ports.commits import Lost, Open, Ratified, TableState
from headgate.errors import StorageUnavailable, UnsupportedFeature
from headgate.protocol.actions import Metadata, Version
from headgate.protocol.features import coordinated_commits
from headgate.protocol.features.coordinated_commits import CURRENT
from headgate.protocol.log import file_names
from headgate.settings import Settings
from headgate.table import transaction
from headgate.table.alter import coordination
from headgate.table.authority import Decider
from headgate.table.commit.by_path import PathCommitter
from headgate.table.read import snapshot
from headgate.table.transaction import Change, Operation, Transaction
from tests.support.commits import MANAGED
from tests.support.owned import CONF, NAME, Place, WatchedOwner, append, coordinated, ordinary
from tests.support.tables import append_change, named_file

WITHOUT = "DELTA_UNSUPPORTED_WRITES_WITHOUT_COORDINATOR"


def router(place: Place, *, strict: bool = False) -> PathCommitter:
    return PathCommitter(
        place.location, place.store, place.find, world=place.world, settings=Settings(require_owner=strict)
    )


def metadata(place: Place, version: int | None = None) -> Metadata:
    return place.opened().snapshot(version=version).state.metadata


def begun(place: Place, asked: PathCommitter, name: str = "ours") -> Transaction:
    newest = snapshot.load_snapshot(place.store, asked.frontier())
    return transaction.begin(newest.state, append_change(named_file(name)), world=place.world)


def without_owners(place: Place) -> Place:
    return Place(place.store, place.world, {}, place.location)


def test_a_table_is_looked_at_again_only_where_somebody_else_decides_now() -> None:
    """S137: what was listed without asking the owner may be old."""
    place, _ = coordinated(2, batch=100)
    asked = router(place)
    assert asked.frontier().latest == 1

    assert asked.follow(Version(0), metadata(place, 0)) is False
    assert asked.follow(Version(1), metadata(place)) is True
    assert asked.frontier().latest == 3
    assert asked.follow(Version(3), metadata(place)) is False


def test_what_an_older_version_said_of_the_owner_does_not_count() -> None:
    place, _ = coordinated(2, batch=100)
    asked = router(place)
    asked.follow(Version(3), metadata(place))

    assert asked.follow(Version(0), metadata(place, 0)) is False

    assert asked.frontier().latest == 3


def test_the_newest_version_known_is_the_one_that_counts() -> None:
    """Also if it said what was known."""
    place, _ = coordinated(2, batch=2)
    asked = router(place)
    asked.follow(Version(1), metadata(place))
    asked.follow(Version(3), metadata(place))

    asked.follow(Version(2), metadata(place, 0))

    assert place.published() == [0, 1, 2]
    assert asked.frontier().latest == 3


def saying(said: Metadata, key: str, value: str) -> Metadata:
    return msgspec.structs.replace(said, configuration={**said.configuration, key: value})


def test_another_registration_with_the_same_owner_is_another_to_ask() -> None:
    """S139: and other words for the same conf are not."""
    place, _ = coordinated(1)
    said = metadata(place)
    asked = router(place)
    asked.follow(Version(1), said)

    assert asked.follow(Version(2), saying(said, CURRENT.conf, '{ "endpoint" : "here" }')) is False
    assert asked.follow(Version(3), saying(said, CURRENT.table_conf, '{"tableId":"x"}')) is True


@pytest.mark.parametrize("published", [True, False])
def test_a_released_table_is_its_owners_until_that_is_published(published: bool) -> None:
    """S130: between the two a crash leaves commits that only the owner has."""
    place, watched = coordinated(2, batch=100)
    asked = router(place)
    asked.follow(Version(3), metadata(place))
    ordinary_again = metadata(place, 0)
    if published:
        asked.publish()
    told = watched.count("get_commits")

    assert asked.follow(Version(3), ordinary_again) is False

    asked.frontier()
    assert (watched.count("get_commits") == told) is published


def test_an_owner_that_nobody_registered_is_told_once_and_stops_writers(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """R4"""
    place, _ = coordinated(2)
    said = metadata(place)
    asked = router(without_owners(place))

    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            assert asked.follow(Version(3), said) is False
            assert len([record for record in caplog.records if "not registered" in record.message]) == 1
    assert asked.frontier().latest == 3
    for refused in (
        lambda: asked.propose(begun(place, asked)),
        lambda: asked.outcome_of(begun(place, asked)),
        asked.publish,
    ):
        with pytest.raises(UnsupportedFeature) as caught:
            refused()
        assert caught.value.code == WITHOUT
    protocol = place.opened().snapshot().state.protocol
    assert asked.decider(protocol, said) is Decider.MISSING_COORDINATOR
    assert asked.decider(protocol, metadata(place, 0)) is Decider.FILE_SYSTEM
    assert router(place).decider(protocol, said) is Decider.COORDINATOR
    assert router(place).decider(MANAGED, said) is Decider.MISSING_CATALOG
    assert place.staged() == [2, 3]


def test_only_a_strict_router_does_not_even_read_past_an_owner() -> None:
    place, _ = coordinated(2)
    lenient = PathCommitter(place.location, place.store, without_owners(place).find, world=place.world)
    assert lenient.follow(Version(3), metadata(place)) is False

    with pytest.raises(UnsupportedFeature) as caught:
        router(without_owners(place), strict=True).follow(Version(3), metadata(place))

    assert caught.value.code == WITHOUT


def test_an_owner_whose_conf_makes_no_sense_stops_no_reader() -> None:
    place, _ = coordinated(2)
    broken = {**metadata(place).configuration, CURRENT.conf: "no JSON"}
    asked = router(place)

    assert asked.follow(Version(3), msgspec.structs.replace(metadata(place), configuration=broken)) is False
    assert asked.frontier().latest == 3


def test_what_became_of_a_commit_is_asked_of_whom_it_was_proposed_to() -> None:
    place, watched = coordinated(1, batch=100)
    asked = router(place)
    asked.follow(Version(1), metadata(place))
    ours = begun(place, asked)
    assert asked.outcome_of(ours) == Open()
    assert asked.propose(ours) == Ratified(Version(3))
    assert asked.outcome_of(ours) == Ratified(Version(3))
    assert watched.count("commit") == 2

    plain, _ = ordinary(1)
    files = router(plain)
    ours = begun(plain, files)
    assert files.outcome_of(ours) == Open()
    assert files.propose(ours) == Ratified(Version(2))
    assert files.outcome_of(ours) == Ratified(Version(2))


def test_a_commit_goes_where_its_own_version_says_whatever_the_router_knew() -> None:
    """W11: the router has never looked at the table."""
    place, watched = coordinated(1, batch=100)
    asked = router(place)
    through = router(place)
    through.follow(Version(1), metadata(place))

    assert asked.propose(begun(place, through)) == Ratified(Version(3))

    assert watched.count("commit") == 2
    assert place.published() == [0, 1]


def test_the_commit_that_gives_the_table_away_changes_the_route() -> None:
    place, watched = ordinary(1, batch=100)
    table = place.opened()

    coordination.coordinate(table, place.find, NAME, CONF)

    assert append(table, "x") == [3]
    assert (place.published(), place.staged()) == ([0, 1, 2], [3])
    assert watched.count("commit") == 1


def test_publishing_looks_at_a_table_that_nobody_looked_at() -> None:
    place, watched = coordinated(2, batch=100)

    assert router(place).publish() == 3

    assert place.published() == [0, 1, 2, 3]
    assert watched.count("backfill_to") == 1
    plain, _ = ordinary(2)
    assert router(plain).publish() == 2


def test_what_a_released_table_left_with_its_owner_is_published_before_the_next_commit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """S130: else there would be a gap in the log."""
    place, _ = coordinated(1, batch=100)
    table = place.opened()
    base = table.snapshot()
    without = coordinated_commits.without_coordinator(base.state.metadata, base.state.protocol)
    released = Change(Operation("UNSET TBLPROPERTIES"), without)
    put, last = place.store.put_if_absent, file_names.published_path(Version(3))

    def fails(path: str, data: bytes) -> None:
        if path == last:
            raise StorageUnavailable("no answer", path=path, operation="put")
        put(path, data)

    with monkeypatch.context() as patched:
        patched.setattr(place.store, "put_if_absent", fails)
        assert table.commit(released, base=base) == 3
    assert place.published() == [0, 1, 2]

    assert append(table, ["after"]) == [4]

    assert place.published() == [0, 1, 2, 3, 4]
    assert place.opened(owners={}).snapshot().version == 4


def test_a_commit_that_lost_changes_no_route() -> None:
    """Though it would have given the table away."""
    place, watched = ordinary(1)
    asked = router(place)
    state = snapshot.load_snapshot(place.store, asked.frontier()).state
    table_conf = watched.register(place.location, state.version, TableState(state.protocol, state.metadata))
    taken = coordinated_commits.with_coordinator(state.metadata, state.protocol, NAME, CONF, table_conf)
    ours = transaction.begin(state, Change(Operation("SET"), taken), world=place.world)
    append(place.opened(), ["theirs"])

    assert isinstance(asked.propose(ours), Lost)

    assert asked.frontier().latest == 2
    assert watched.count("get_commits") == 0


def test_what_became_of_a_commit_is_asked_of_the_owner_there_was() -> None:
    """S134"""
    place, first = coordinated(1, batch=100)
    second = WatchedOwner(LedgerCoordinator(MemoryLedger(), 100, place.world))
    place.owners["two"] = second
    asked = router(place)
    asked.follow(Version(1), metadata(place))
    ours = begun(place, asked)
    other = place.opened()
    coordination.uncoordinate(other)
    newest = coordination.coordinate(other, place.find, "two", {})
    asked.follow(Version(newest), metadata(place))
    counts = [owner.count("get_commits") for owner in (first, second)]

    assert isinstance(asked.outcome_of(ours), Lost)

    assert [owner.count("get_commits") for owner in (first, second)] == [counts[0] + 1, counts[1]]
