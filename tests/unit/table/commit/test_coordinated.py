"""Tables of a coordinator: committed to, read and published, with and without the owner."""

import logging
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from typing_extensions import Buffer, override

from headgate.catalog.coordinator.ledger import MemoryLedger
from headgate.catalog.coordinator.ledger_coordinator import LedgerCoordinator
from headgate.catalog.ports.commits import Lost, RatifiedCommit, TableState, Unknown
from headgate.catalog.ports.coordinator import CoordinatedProposal, CoordinatedTable, GetCommitsResponse
from headgate.errors import (
    CatalogUnavailable,
    CommitUnknown,
    ConcurrentWrite,
    CorruptLog,
    InvalidRequest,
    MetadataChanged,
    NotAllowed,
    ObjectExists,
    StorageUnavailable,
    UnsupportedFeature,
    UserError,
    VersionNotFound,
)
from headgate.protocol.actions import Metadata, Version
from headgate.protocol.features.coordinated_commits import CURRENT, FEATURE_NAMINGS
from headgate.protocol.log import file_names
from headgate.settings import Publish, Settings
from headgate.storage.store import Store
from headgate.table.alter import coordination, set_properties
from headgate.table.alter.create import TableDefinition
from headgate.table.opened_table import OpenedTable
from headgate.table.read.change_files import VersionRange
from headgate.table.transaction import Change, Operation
from tests.support.delegating_store import DelegatingStore
from tests.support.faulty_store import DictStore
from tests.support.owned import (
    CONF,
    NAME,
    OWNED,
    Place,
    WatchedOwner,
    append,
    coordinated,
    ordinary,
    propose,
    rename,
)
from tests.support.routes import CountingWorld
from tests.support.tables import ON_DEMAND, SCHEMA, append_change, create_filesystem, named_file
from tests.support.versions import paths

STRICT = replace(ON_DEMAND, require_owner=True)
WITHOUT = "DELTA_UNSUPPORTED_WRITES_WITHOUT_COORDINATOR"


def settings_of(table: OpenedTable) -> dict[str, str]:
    return dict(table.snapshot().state.metadata.configuration)


def with_settings(table: OpenedTable, **values: str) -> Metadata:
    metadata = table.snapshot().state.metadata
    said = {getattr(CURRENT, name): value for name, value in values.items()}
    return msgspec.structs.replace(metadata, configuration={**metadata.configuration, **said})


def test_version_0_is_a_file_and_the_owner_decides_the_rest() -> None:
    """S125, S127: with timestamps from the start, so nothing says since when (C3)."""
    place = Place()
    watched = WatchedOwner(LedgerCoordinator(MemoryLedger(), 100, place.world))
    place.owners[NAME] = watched
    table = place.opened()

    coordination.create_coordinated(table, TableDefinition(SCHEMA), place.find, NAME, CONF)

    assert (place.published(), watched.count("commit"), watched.count("register")) == ([0], 0, 1)
    assert append(table, "abc") == [1, 2, 3]
    assert (place.published(), place.staged(), watched.count("commit")) == ([0], [1, 2, 3], 3)
    settings = settings_of(place.opened())
    assert settings[CURRENT.coordinator] == NAME
    assert msgspec.json.decode(settings[CURRENT.conf]) == CONF
    table_conf = msgspec.json.decode(settings[CURRENT.table_conf])
    assert all(told == table_conf for told in watched.told)
    assert not [key for key in settings if "EnablementVersion" in key]
    assert {CURRENT.feature, "inCommitTimestamp", "vacuumProtocolCheck"} <= set(
        place.opened().snapshot().state.protocol.writer_features or ()
    )


@pytest.mark.parametrize("batch", [1, 2, 3])
def test_every_reader_sees_what_is_ratified_however_much_of_it_is_published(batch: int) -> None:
    """S126, P1"""
    place, _ = coordinated(batch=batch)
    table, seen = place.opened(), []

    for version in range(2, 9):
        append(table, [version])
        seen.append(place.opened().snapshot().version)
        assert max(place.published()) == version - version % batch or version < batch

    assert seen == list(range(2, 9))
    assert paths(place.opened()) == [str(version) for version in range(2, 9)]


def test_a_read_asks_the_owner_every_time() -> None:
    """S136: the first answer is that nothing is ratified yet."""
    place, watched = coordinated(batch=100)
    reader = place.opened()
    assert reader.snapshot().version == 1
    asked = watched.count("get_commits")

    append(place.opened(), "ab")

    assert reader.snapshot().version == 3
    assert watched.count("get_commits") > asked


@pytest.mark.parametrize(
    "conf", [{"apikey": "x"}, {"url": "https://ana:hunter2@host/"}, {"my.PassWord": "x"}]
)
def test_a_credential_in_the_conf_of_an_owner_does_not_reach_the_log(conf: dict[str, str]) -> None:
    place, _ = ordinary(2, batch=100)
    before = place.opened().snapshot()

    with pytest.raises(InvalidRequest, match=r"headgate\.coordinators\.register") as no:
        coordination.coordinate(place.opened(), place.find, NAME, {**CONF, **conf})

    assert no.value.code == "HEADGATE_SECRET_IN_LOG"
    assert place.opened().snapshot().state == before.state


def test_a_table_that_another_process_gave_to_an_owner_is_followed_in_one_call() -> None:
    """S137"""
    place, _ = ordinary(2, batch=100)
    stale = place.opened()
    stale.snapshot()
    other = place.opened()
    coordination.coordinate(other, place.find, NAME, CONF)
    append(other, "ab")

    assert stale.snapshot().version == 5
    assert stale.describe().version == 5
    assert place.opened().snapshot(version=5).version == 5
    with pytest.raises(VersionNotFound):
        place.opened().snapshot(version=6)


def test_a_table_that_went_from_owner_to_owner_is_followed_to_the_end() -> None:
    """S134, S130: a client that knew the first asks it, then the second; a new one asks only the second."""
    place, first = coordinated(1, batch=100)
    second = WatchedOwner(LedgerCoordinator(MemoryLedger(), 100, place.world))
    place.owners["two"] = second
    old = place.opened()
    old.snapshot()
    other = place.opened()
    append(other, "x")
    coordination.uncoordinate(other)
    assert place.published() == [0, 1, 2, 3, 4]
    coordination.coordinate(other, place.find, "two", {})
    append(other, "yz")
    asked = first.count("get_commits")

    assert place.opened().snapshot().version == 7
    assert first.count("get_commits") == asked
    assert old.snapshot().version == 7
    assert first.count("get_commits") == asked + 1
    assert paths(old) == ["2", "x", "y", "z"]
    assert [owner.count("register") for owner in (first, second)] == [1, 1]
    # The commits that give a table to an owner are not the owner's; the one that releases it is.
    assert [owner.count("commit") for owner in (first, second)] == [3, 2]


def test_a_table_that_came_back_to_its_owner_is_another_registration() -> None:
    """S134, S139: the same owner, which must be asked about the new one."""
    place, watched = coordinated(1, batch=100)
    old = place.opened()
    old.snapshot()
    other = place.opened()
    coordination.uncoordinate(other)
    coordination.coordinate(other, place.find, NAME, CONF)
    append(other, "xy")

    assert old.snapshot().version == 6
    assert append(old, "z") == [7]
    assert watched.count("register") == 2


@pytest.mark.parametrize("when", [Publish.NOW, Publish.SOON])
def test_what_the_owner_leaves_is_published_like_any_ratified_version(when: Publish) -> None:
    """And checkpoints are made of it."""
    place, _ = coordinated(batch=100)
    table = place.opened(settings=Settings(publish=when))

    append(table, range(2, 14))
    table.close()

    assert place.published() == list(range(14))
    assert [meta.path for meta in place.store.list_from(file_names.LOG_FOLDER) if "checkpoint" in meta.path]
    assert len(paths(place.opened())) == 12


class Meddling:
    """An owner that others disturb right after it has answered what it holds."""

    def __init__(self, owner: WatchedOwner, then: Any) -> None:
        self._owner = owner
        self._then = then

    def __getattr__(self, name: str) -> Any:
        return getattr(self._owner, name)

    def get_commits(
        self, table: CoordinatedTable, *, start: Version | None = None, end: Version | None = None
    ) -> GetCommitsResponse:
        found = self._owner.get_commits(table, start=start, end=end)
        self._then()
        return found


@pytest.mark.parametrize("batch", [1, 2, 3])
@pytest.mark.parametrize("knows", [None, 1, 4])
def test_nothing_is_missed_when_all_is_published_while_a_reader_looks(batch: int, knows: int | None) -> None:
    """P1, R7, R16: whether before or after the owner was asked."""
    for moment in ("before", "after"):
        place, watched = coordinated(3, batch=batch)

        def publish(place: Place = place) -> None:
            place.opened().publish()

        owner = Meddling(watched, publish) if moment == "after" else watched
        reader = place.opened(owners={NAME: owner})
        if knows is not None:
            reader.snapshot(version=knows)
        append(place.opened(), "xy")
        if moment == "before":
            publish()

        assert reader.snapshot().version == 6
        assert len(reader.history()) == 7
        assert len(paths(reader)) == 5


class Hidden(DelegatingStore):
    """A store whose first listings lack the newest files, as if they had been taken before."""

    def __init__(self, store: Store, *, lists: int, hides: str) -> None:
        super().__init__(store)
        self._lists = lists
        self._hides = hides

    @override
    def list_from(self, prefix: str, *, after: str | None = None) -> Any:
        self._lists -= 1
        found = list(super().list_from(prefix, after=after))
        return iter([meta for meta in found if self._lists < 0 or self._hides not in meta.path])


def test_a_listing_that_is_too_old_is_taken_again_once() -> None:
    """R7, P1: that the owner holds nothing is no evidence of the end."""
    place, _ = coordinated(2, batch=1)
    newest = f"{3:020d}.json"
    known = place.opened(store=Hidden(place.store, lists=0, hides=newest))
    known.snapshot(version=2)

    assert place.opened(store=Hidden(place.store, lists=2, hides=newest)).snapshot().version == 3
    with pytest.raises(CorruptLog, match="neither its commits nor the log"):
        place.opened(store=Hidden(place.store, lists=100, hides=newest)).snapshot()


def test_nothing_half_way_is_remembered_when_the_owner_fails() -> None:
    """R12"""
    place, watched = coordinated(2, batch=100)
    calls = iter([True])

    def fail() -> None:
        if next(calls, False):
            raise CatalogUnavailable("the owner is away")

    table = place.opened(owners={NAME: Meddling(watched, fail)})
    with pytest.raises(CatalogUnavailable):
        table.snapshot()

    assert table.loaded_snapshot is None
    assert table.snapshot().version == 3


def test_publishing_changes_no_snapshot() -> None:
    """S140, R14, P6"""
    place, _ = coordinated(3, batch=100)
    reader = place.opened()
    before = reader.snapshot()

    place.opened().publish()

    after = reader.snapshot()
    assert after.state == before.state
    assert after.files is before.files


def test_a_range_of_changes_crosses_the_take_over() -> None:
    """S142, R15: from the log as far as that goes, from the owner what is not published."""
    place, _ = ordinary(2, batch=100)
    table = place.opened()
    set_properties.set_properties(table, {"delta.enableChangeDataFeed": "true"})
    coordination.coordinate(table, place.find, NAME, CONF)
    append(table, "ab")
    reader = place.opened()

    _, found = reader.changes(VersionRange(3, None))
    _, part = reader.changes(VersionRange(3, 4))

    assert [changes.version for changes in found] == [3, 4, 5, 6]
    assert [changes.version for changes in part] == [3, 4]


def test_without_its_owner_a_table_is_read_as_far_as_it_is_published(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """S138, R13"""
    place, _ = coordinated(3, batch=3)
    stranger = place.opened(owners={})

    with caplog.at_level(logging.WARNING):
        assert stranger.snapshot().version == 3
        assert stranger.snapshot().version == 3

    assert [record.getMessage() for record in caplog.records if f"{NAME!r}" in record.getMessage()] != []
    assert sum("not registered" in record.getMessage() for record in caplog.records) == 1
    assert place.opened().snapshot().version == 4


def test_without_its_owner_a_table_is_not_written_nor_kept() -> None:
    """S138: named by the owner's name; nothing is left behind."""
    place, _ = coordinated(3, batch=3)
    stranger = place.opened(owners={})
    before = {meta.path for meta in place.store.list_from("")}
    attempts: tuple[Any, ...] = (
        lambda: append(stranger, "x"),
        stranger.checkpoint,
        stranger.publish,
        stranger.cleanup_log,
        lambda: stranger.compact_log(0, 1),
        lambda: coordination.uncoordinate(stranger),
    )

    for attempt in attempts:
        with pytest.raises(UnsupportedFeature, match=NAME) as caught:
            attempt()
        assert (caught.value.code, caught.value.fields["coordinator"]) == (WITHOUT, NAME)
    assert {meta.path for meta in place.store.list_from("")} == before


def test_by_the_settings_a_table_without_its_owner_is_not_read_either() -> None:
    """S138"""
    place, _ = coordinated(1)
    strict = place.opened(owners={}, settings=STRICT)

    for _ in range(2):
        with pytest.raises(UnsupportedFeature, match="as the settings ask"):
            strict.snapshot()
        with pytest.raises(UnsupportedFeature):
            strict.describe()
    assert place.opened(settings=STRICT).snapshot().version == 2


def test_an_owner_that_is_registered_late_is_found() -> None:
    place, watched = coordinated(3, batch=100)
    owners: dict[str, Any] = {}
    table = place.opened(owners=owners)
    assert table.snapshot().version == 1

    owners[NAME] = watched

    assert table.snapshot().version == 4
    assert append(table, "x") == [5]


def test_settings_that_cannot_be_understood_stop_the_commit_that_would_write_them() -> None:
    """S128"""
    place, _ = ordinary()
    table = place.opened()
    protocol = coordinated()[0].opened().snapshot().state.protocol
    broken = with_settings(table, coordinator=NAME, conf="{not json", table_conf="{}")
    broken = msgspec.structs.replace(
        broken, configuration={**broken.configuration, "delta.enableInCommitTimestamps": "true"}
    )

    with pytest.raises(InvalidRequest, match=CURRENT.conf):
        table.commit(Change(Operation("SET"), (protocol, broken)), base=table.snapshot())

    assert place.published() == [0]


def test_nobody_hands_a_table_from_owner_to_owner() -> None:
    """S129"""
    place, watched = coordinated(1)
    place.owners["two"] = watched
    table = place.opened()

    for values in ({"coordinator": "two"}, {"conf": "{}"}, {"table_conf": "{}"}):
        with pytest.raises(InvalidRequest) as caught:
            table.commit(Change(Operation("SET"), (with_settings(table, **values),)), base=table.snapshot())
        assert caught.value.code == "DELTA_CANNOT_OVERRIDE_COORDINATED_COMMITS_CONFS"
    with pytest.raises(InvalidRequest) as caught:
        coordination.coordinate(table, place.find, "two", {})
    assert caught.value.code == "DELTA_CANNOT_OVERRIDE_COORDINATED_COMMITS_CONFS"
    assert watched.count("register") == 1


def test_an_owner_nobody_asked_is_not_written_into_a_table() -> None:
    place, _ = ordinary()
    table = place.opened()
    protocol = coordinated()[0].opened().snapshot().state.protocol

    with pytest.raises(InvalidRequest, match="never asked"):
        table.commit(
            Change(Operation("SET"), (protocol, with_settings(table, coordinator=NAME))),
            base=table.snapshot(),
        )
    with pytest.raises(InvalidRequest, match="no coordinator 'nobody'") as caught:
        coordination.coordinate(table, place.find, "nobody", {})
    assert caught.value.code == WITHOUT


def test_a_folder_of_staged_commits_that_vanished_is_not_made_again() -> None:
    """S152, F8"""
    place, _ = coordinated(2, batch=1)
    table = place.opened()
    table.snapshot()
    for meta in list(place.store.list_from(file_names.STAGED_FOLDER)):
        place.store.delete(meta.path)

    with pytest.raises(CorruptLog, match="_staged_commits/ is gone"):
        append(table, "x")

    assert (place.published(), place.staged()) == ([0, 1, 2, 3], [])


def test_a_ratified_commit_whose_file_is_gone_is_an_error_for_readers() -> None:
    """R4"""
    place, _ = coordinated(1, batch=100)
    for meta in list(place.store.list_from(file_names.STAGED_FOLDER)):
        place.store.delete(meta.path)

    with pytest.raises(CorruptLog, match="staged file"):
        place.opened().snapshot()


@pytest.mark.parametrize("naming", FEATURE_NAMINGS, ids=lambda naming: naming.feature)
def test_a_table_under_an_older_name_is_owned_all_the_same(naming: Any) -> None:
    """F6, S336: its staged commits are where they were then."""
    place, _ = coordinated(batch=100)
    rename(place, naming)
    table = place.opened()

    assert append(table, "xy") == [2, 3]
    assert paths(place.opened()) == ["x", "y"]
    staged = {meta.path.rpartition("/")[0] + "/" for meta in place.store.list_from(file_names.LOG_FOLDER)}
    assert naming.staged in staged
    place.opened().publish()
    assert place.published() == [0, 1, 2, 3]


def test_a_checkpoint_publishes_first() -> None:
    """U6, R6"""
    place, _ = coordinated(4, batch=100)

    assert place.opened().checkpoint() == 5

    assert place.published() == [0, 1, 2, 3, 4, 5]
    assert len(paths(place.opened(owners={}))) == 4
    assert append(place.opened(), "x") == [6]
    assert place.opened().snapshot().version == 6


class Later(CountingWorld):
    """A year and more after everything else."""

    def now_ms(self) -> int:
        return super().now_ms() + 400 * 24 * 3_600_000


def test_cleaning_up_the_log_leaves_what_is_not_published() -> None:
    """Staged commits go with the published ones, and the folder is still there afterwards."""
    place, _ = coordinated(4, batch=100)
    place.opened().checkpoint()
    append(place.opened(), "xy")
    place.world = Later()
    assert isinstance(place.store, DictStore)
    place.store.first_ms = place.world.now_ms()

    deleted = place.opened().cleanup_log()

    assert place.staged() == [5, 6, 7]  # those of versions whose file is gone go too
    assert place.published() == [5]
    assert any(file_names.STAGED_FOLDER in path for path in deleted)
    assert append(place.opened(), "z") == [8]
    assert len(paths(place.opened())) == 7


@pytest.mark.parametrize("feature", ["inCommitTimestamp", "vacuumProtocolCheck"])
def test_what_the_owner_needs_is_not_dropped(feature: str) -> None:
    """E7"""
    place, _ = coordinated(1)

    with pytest.raises(UserError):
        set_properties.drop_feature(place.opened(), feature)

    assert place.opened().snapshot().version == 2


class Answering:
    """An owner whose answers to commits a test decides."""

    def __init__(self, owner: WatchedOwner, *answers: Any) -> None:
        self._owner = owner
        self._answers = list(answers)
        self.calls = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._owner, name)

    def commit(
        self, table: CoordinatedTable, proposal: CoordinatedProposal
    ) -> RatifiedCommit | Lost[RatifiedCommit] | Unknown:
        self.calls += 1
        answer = self._answers.pop(0) if self._answers else None
        if answer is None:
            return self._owner.commit(table, proposal)
        found: RatifiedCommit | Lost[RatifiedCommit] | Unknown = answer(table, proposal)
        return found


def test_a_file_that_exists_is_no_conflict_when_the_owner_says_so() -> None:
    """S082: not retried; only on an ordinary table does it mean that somebody else was first."""
    place, watched = coordinated(1)

    def exists(table: CoordinatedTable, proposal: CoordinatedProposal) -> Unknown:
        raise ObjectExists("a file exists", path="x", operation="put")

    owner = Answering(watched, exists)
    with pytest.raises(ObjectExists):
        append(place.opened(owners={NAME: owner}), "x")

    assert owner.calls == 1


def test_transient_failures_end_after_ten_in_a_row() -> None:
    """S083: a lost race in between starts the count anew."""
    place, watched = coordinated(1)

    def away(table: CoordinatedTable, proposal: CoordinatedProposal) -> Unknown:
        raise CatalogUnavailable("the owner is away")

    def rival(table: CoordinatedTable, proposal: CoordinatedProposal) -> Any:
        append(place.opened(), ["rival"])
        return watched.commit(table, proposal)

    hopeless = Answering(watched, *[away] * 100)
    with pytest.raises(CatalogUnavailable):
        append(place.opened(owners={NAME: hopeless}), "x")
    patient = Answering(watched, *[away] * 9, rival, *[away] * 9)

    assert append(place.opened(owners={NAME: patient}), "y") == [4]
    assert hopeless.calls == 10
    assert patient.calls == 20


@pytest.mark.parametrize("batch", [1, 2, 3])
def test_a_lost_answer_is_found_by_the_transaction(batch: int) -> None:
    """P13: even if all is published by then, and others came after it."""
    place, watched = coordinated(1, batch=batch)

    def unheard(table: CoordinatedTable, proposal: CoordinatedProposal) -> Unknown:
        watched.commit(table, proposal)
        append(place.opened(), ["rival"])
        return Unknown("no answer")

    table = place.opened(owners={NAME: Answering(watched, unheard)})

    assert append(table, "x") == [3]
    assert paths(place.opened()) == ["2", "rival", "x"]


def test_what_nobody_can_tell_is_reported_as_unknown() -> None:
    """P13"""
    place, watched = coordinated(1)

    def silent(table: CoordinatedTable, proposal: CoordinatedProposal) -> Unknown:
        return Unknown("no answer")

    with pytest.raises(CommitUnknown, match="version 3"):
        append(place.opened(owners={NAME: Answering(watched, *[silent] * 100)}), "x")


def test_a_lost_race_without_a_winner_is_no_licence_to_go_on() -> None:
    """W8"""
    place, watched = coordinated(1)

    def lost(table: CoordinatedTable, proposal: CoordinatedProposal) -> Lost[RatifiedCommit]:
        return Lost(())

    with pytest.raises(ConcurrentWrite, match="winner cannot be found"):
        append(place.opened(owners={NAME: Answering(watched, lost)}), "x")


def test_winners_that_are_not_published_are_found() -> None:
    """W8, P14: all of them, not only those in the log."""
    place, _ = coordinated(1, batch=2)
    late = place.opened()
    base = late.snapshot()
    append(place.opened(), "abc")

    assert late.commit(append_change(named_file("late")), base=base) == 6
    assert paths(place.opened()) == ["2", "a", "b", "c", "late"]


def test_who_writes_while_a_table_changes_hands_starts_again() -> None:
    """W11: the file of the next version is never created past the owner."""
    place, watched = ordinary(1, batch=100)
    caught_up = place.opened()
    base = caught_up.snapshot()
    coordination.coordinate(place.opened(), place.find, NAME, CONF)
    append(place.opened(), "x")

    with pytest.raises(MetadataChanged):
        caught_up.commit(append_change(named_file("y")), base=base)

    assert place.published() == [0, 1, 2]
    assert append(caught_up, "y") == [4]
    assert watched.count("commit") == 2


def test_a_commit_is_not_failed_by_a_publication_that_fails() -> None:
    place, watched = coordinated(1)
    table = CoordinatedTable(place.location, watched.told[-1], _Unwritable(place.store))
    told = TableState(OWNED.protocol, OWNED.metadata)

    found = propose(watched, table, 3, "t", after=told)

    assert isinstance(found, RatifiedCommit)
    assert found.where is not None
    place.opened().publish()
    assert place.published() == [0, 1, 2, 3]


class _Unwritable(DelegatingStore):
    """A store in which no version can be published."""

    @override
    def put_if_absent(self, path: str, data: Buffer) -> None:
        raise StorageUnavailable("no", path=path, operation="put_if_absent")


def test_an_ordinary_table_has_nothing_to_release() -> None:
    place, _ = ordinary()

    with pytest.raises(InvalidRequest, match="none to leave"):
        coordination.uncoordinate(place.opened())


def test_the_owner_agrees_before_anything_is_written() -> None:
    place, watched = ordinary()
    create_filesystem(Place().store)

    def refuse(location: str, current: Version | None, told: TableState) -> Any:
        raise NotAllowed("no")

    watched.register = refuse  # type: ignore[method-assign]
    before = {meta.path for meta in place.store.list_from("")}
    with pytest.raises(NotAllowed):
        coordination.coordinate(place.opened(), place.find, NAME, CONF)

    assert {meta.path for meta in place.store.list_from("")} == before
