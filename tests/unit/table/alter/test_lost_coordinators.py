"""An owner that is down or has lost its state: what is published is read, and the table can be taken back."""

import logging
from dataclasses import replace
from typing import Any

import pytest

from headgate.catalog.coordinator.ledger import MemoryLedger
from headgate.catalog.coordinator.ledger_coordinator import LedgerCoordinator
from headgate.catalog.ports.commits import RatifiedCommit
from headgate.catalog.ports.coordinator import CommitCoordinator, CoordinatedTable, GetCommitsResponse
from headgate.errors import (
    CatalogUnavailable,
    ConcurrentWrite,
    CorruptLog,
    HeadgateError,
    InvalidRequest,
    NotAllowed,
    StaleRead,
)
from headgate.protocol.actions import Version
from headgate.protocol.features import coordinated_commits
from headgate.protocol.features.coordinated_commits import FEATURES
from headgate.protocol.log import codec, file_names
from headgate.settings import Settings
from headgate.table.alter import coordination, forced_release
from headgate.table.maintenance.vacuum import VacuumOptions, vacuum
from headgate.table.transaction import Change, Operation
from tests.support.altered import named
from tests.support.owned import NAME, Place, WatchedOwner, append, coordinated
from tests.support.tables import ON_DEMAND
from tests.support.versions import paths

PUBLISHED = replace(ON_DEMAND, read_published=True)


class Down:
    """An owner that nobody reaches."""

    def __getattr__(self, name: str) -> Any:
        def away(*_: object, **__: object) -> None:
            raise CatalogUnavailable("the owner is away")

        return away


class Forgetful(Down):
    """An owner that says how far the table goes, and has lost where its commits are."""

    def __init__(self, latest: int) -> None:
        self._latest = Version(latest)

    def get_commits(self, table: CoordinatedTable, **_: object) -> GetCommitsResponse:
        return GetCommitsResponse((), self._latest)


def stateless() -> CommitCoordinator:
    """An owner that lost all it knew."""
    return LedgerCoordinator(MemoryLedger())


def lost(kind: str) -> Any:
    return {"down": Down, "stateless": stateless, "forgetful": lambda: Forgetful(5)}[kind]()


def half_published() -> Place:
    """Versions up to 3 are published, 4 and 5 only ratified."""
    place, _ = coordinated(2, batch=100)
    place.opened().publish()
    append(place.opened(), ["unpublished", "too"])
    assert place.published() == [0, 1, 2, 3]
    return place


KINDS = ("down", "stateless", "forgetful")


@pytest.mark.parametrize("kind", KINDS)
def test_reads_go_on_as_far_as_it_is_published_by_option_and_with_a_note(
    kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Seed 002: the first choice of readers, which may be stale."""
    place = half_published()
    owners = {NAME: lost(kind)}

    with pytest.raises(HeadgateError, match="read_published=True"):
        place.opened(owners=owners).snapshot()
    reader = place.opened(owners=owners, settings=PUBLISHED)
    with pytest.warns(StaleRead, match="newer versions may exist"), caplog.at_level(logging.WARNING):
        assert paths(reader) == ["2", "3"]
    with pytest.warns(StaleRead):
        assert reader.unanswered() is not None

    assert "newer versions may exist" in caplog.text
    assert reader.snapshot(version=2).version == 2
    assert [entry.version for entry in reader.history()] == [3, 2, 1, 0]


def test_with_the_option_an_owner_that_answers_is_asked_and_nothing_is_stale() -> None:
    place = half_published()
    reader = place.opened(settings=PUBLISHED)

    assert reader.snapshot().version == 5
    assert reader.unanswered() is None
    assert append(reader, ["more"]) == [6]


def test_a_reader_that_saw_more_does_not_go_back_when_the_owner_goes() -> None:
    """I6: and it is told when the owner is there again."""
    place = half_published()
    away: dict[str, Any] = dict(place.owners)
    reader = place.opened(owners=away, settings=PUBLISHED)
    assert reader.snapshot().version == 5

    away[NAME] = Down()
    fresh = place.opened(owners=away, settings=PUBLISHED)
    with pytest.warns(StaleRead):
        assert fresh.snapshot().version == 3
    away[NAME] = place.owners[NAME]
    assert place.opened(owners=away, settings=PUBLISHED).snapshot().version == 5


@pytest.mark.parametrize("kind", KINDS)
def test_nobody_writes_or_maintains_a_table_past_an_owner_that_is_silent(kind: str) -> None:
    place = half_published()
    table = place.opened(owners={NAME: lost(kind)}, settings=PUBLISHED)
    before = {meta.path for meta in place.store.list_from("")}

    with pytest.warns(StaleRead):
        for write in (
            lambda: append(table, ["x"]),
            lambda: vacuum(table, VacuumOptions(None)),
            table.cleanup_log,
            table.checkpoint,
            table.publish,
            lambda: table.compact_log(0, 1),
        ):
            with pytest.raises(HeadgateError, match=r"owner|coordinator|without that setting"):
                write()

    assert place.published() == [0, 1, 2, 3]
    assert before <= {meta.path for meta in place.store.list_from("")}


def test_maintenance_is_refused_by_the_option_itself_which_may_be_stale_any_moment() -> None:
    place = half_published()

    with pytest.raises(InvalidRequest, match="without that setting"):
        place.opened(settings=PUBLISHED).checkpoint()
    assert place.opened().checkpoint() == 5


@pytest.mark.parametrize("kind", KINDS)
def test_check_names_an_owner_that_is_silent(kind: str) -> None:
    place = half_published()

    for settings in (ON_DEMAND, PUBLISHED):
        report = place.opened(owners={NAME: lost(kind)}, settings=settings).check("t", data=False)
        assert [finding.rule for finding in report.findings if finding.rule.startswith("owner")] == [
            "owner-silent"
        ]
        assert report.version == 3


@pytest.mark.parametrize("kind", KINDS)
def test_a_forced_release_goes_on_after_what_is_published_and_names_the_rest(kind: str) -> None:
    place = half_published()
    table = place.opened(owners={NAME: lost(kind)})
    staged = [meta.path for meta in place.store.list_from(file_names.STAGED_FOLDER)]

    done = forced_release.force_release(table, NAME)

    assert done.version == 4
    assert [
        file_names.staged_version(path.removeprefix(file_names.STAGED_FOLDER)) for path in done.staged
    ] == [4, 5]
    assert [meta.path for meta in place.store.list_from(file_names.STAGED_FOLDER)] == staged
    fresh = place.opened(owners={})
    assert paths(fresh) == ["2", "3"]
    assert not FEATURES & named(fresh)
    assert append(fresh, ["on"]) == [5]
    assert fresh.check("t", data=False).is_clean
    assert fresh.history()[1].info.operation == "FORCED RELEASE"


def test_a_forced_release_is_refused_while_the_owner_answers_and_for_another_name() -> None:
    place = half_published()

    with pytest.raises(NotAllowed, match=r"table\.uncoordinate\(\)"):
        forced_release.force_release(place.opened(), NAME)
    with pytest.raises(InvalidRequest, match="not 'two'"):
        forced_release.force_release(place.opened(owners={NAME: Down()}), "two")
    coordination.uncoordinate(place.opened())
    with pytest.raises(InvalidRequest, match="none to leave"):
        forced_release.force_release(place.opened(), NAME)


def test_of_a_forced_release_and_the_owners_publication_the_first_counts() -> None:
    """Its commit is a file that is created or not."""
    place = half_published()
    table = place.opened(owners={NAME: Down()})
    put = table.store.put_if_absent

    def late(path: str, data: bytes) -> None:
        if path == file_names.published_path(Version(4)):
            place.store.put_if_absent = put  # type: ignore[method-assign,attr-defined]
            place.opened().publish()
        put(path, data)

    place.store.put_if_absent = late  # type: ignore[method-assign]
    with pytest.raises(ConcurrentWrite, match="coordinator may be alive"):
        forced_release.force_release(table, NAME)

    assert place.published() == [0, 1, 2, 3, 4, 5]
    assert append(place.opened(), ["on"]) == [6]


def test_who_read_what_was_given_up_does_not_mix_it_with_what_came_after() -> None:
    """I6: two histories part at version 4."""
    place = half_published()
    away: dict[str, Any] = {NAME: Switch(place.owners[NAME])}
    reader = place.opened(owners=away, settings=PUBLISHED)
    assert reader.snapshot().version == 5
    away[NAME].inner = Down()
    forced_release.force_release(place.opened(owners={NAME: Down()}), NAME)
    append(place.opened(owners={}), ["on", "and on"])

    with pytest.raises(CorruptLog, match="given up by a forced release"):
        reader.snapshot()
    assert place.opened(owners=away, settings=PUBLISHED).snapshot().version == 6


class Switch:
    """An owner behind which another can be put."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


@pytest.mark.parametrize("after", ["down", "stateless"])
def test_who_released_a_table_publishes_what_it_left_without_the_owner(after: str) -> None:
    """Seed 002: clients could backfill the required commits themselves to unblock themselves."""
    place, watched = coordinated(2, batch=100)
    owner = Ratifying(watched)
    owner.then = lambda: lost(after)

    assert coordination.uncoordinate(place.opened(owners={NAME: owner})) == 4

    assert place.published() == [0, 1, 2, 3, 4]
    assert paths(place.opened(owners={})) == ["2", "3"]
    assert append(place.opened(owners={}), "x") == [5]


@pytest.mark.parametrize("reads", [True, False])
def test_who_has_seen_a_release_publishes_what_it_left_before_its_own_commit(reads: bool) -> None:
    place, watched = coordinated(2, batch=100)
    owner = Ratifying(watched)
    table = place.opened(owners={NAME: owner})
    base = table.snapshot()
    without = coordinated_commits.without_coordinator(base.state.metadata, base.state.protocol)
    assert table.commit(Change(Operation("UNSET TBLPROPERTIES"), without), base=base) == 4
    assert place.published() == [0, 1]
    other = place.opened(owners={NAME: owner})
    assert other.snapshot().version == 4
    owner.inner = Down()
    if reads:
        assert other.snapshot().version == 4
        assert place.published() == [0, 1, 2, 3, 4]

    assert append(other, "x") == [5]

    assert place.published() == [0, 1, 2, 3, 4, 5]
    written = codec.decode(Version(4), place.store.read(file_names.published_path(Version(4))))
    assert written.info is not None
    assert written.info.operation == "UNSET TBLPROPERTIES"


class Ratifying(Switch):
    """An owner that ratifies a release and publishes nothing, and then may be gone."""

    then: Any = None

    def __init__(self, owner: WatchedOwner) -> None:
        super().__init__(owner)

    def commit(self, table: CoordinatedTable, proposal: Any) -> Any:
        answer = self.inner.inner.ledger.write(
            table.conf["tableId"],
            _commit(proposal),
            accepting=coordinated_commits.coordinator_of(proposal.after.metadata) is not None,
        )
        assert answer
        if self.then is not None:
            self.inner = self.then()
        return _commit(proposal)

    def backfill_to(self, table: CoordinatedTable, version: Version) -> None:
        raise CatalogUnavailable("it does not publish")


def _commit(proposal: Any) -> Any:
    return RatifiedCommit(proposal.version, proposal.txn_id, proposal.timestamp, proposal.staged)


def test_settings_are_off_unless_asked_for() -> None:
    assert Settings().read_published is False
