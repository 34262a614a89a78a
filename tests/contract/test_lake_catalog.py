"""What a lake asks of any catalog beside commits: names, disposal, events, leases, permissions, books.

A sentence or two of each port, asked of every catalog by its ports alone. What only a catalog over a database
owes (privileges, crashes, logs that others write) is asked of those in the suites beside this one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from headgate.catalog.ports import integrity
from headgate.catalog.ports.catalog import LakeCatalog
from headgate.catalog.ports.commits import InlineCommit, Ratified, TableId
from headgate.catalog.ports.directory import StagingTable, TableName
from headgate.catalog.ports.events import EventKind
from headgate.catalog.ports.maintenance import ALWAYS_PERMITTED, Maintenance, Permission
from headgate.catalog.ports.serving import LogHints
from headgate.errors import (
    InvalidRequest,
    NotAllowed,
    SchemaNotFound,
    TableExists,
    TableNotFound,
    VersionNotFound,
)
from headgate.protocol.actions import EpochMillis, Version
from headgate.protocol.features.rearrangement import DEFAULTS
from headgate.protocol.log import file_names
from headgate.protocol.log.file_names import LogFile
from headgate.storage.locate import locate
from headgate.table.maintenance import purge
from tests.support.catalogs import ALL_KINDS, any_catalog
from tests.support.proposals import content, inline, publish, staged, stamp
from tests.support.tables import create_managed

ORDERS, LINES = TableName("sales", "orders"), TableName("sales", "lines")
MINUTE_MS = 60_000


@dataclass(frozen=True)
class Case:
    """A catalog with the table ``sales.orders`` at version 0."""

    catalog: LakeCatalog
    staging: StagingTable

    @property
    def table_id(self) -> TableId:
        return self.staging.table_id

    def ratify(self, *txn_ids: str) -> None:
        for txn_id in txn_ids:
            version = self.catalog.tail(self.table_id).latest + 1
            answer = self.catalog.propose(inline(self.table_id, version, txn_id))
            assert answer == Ratified(Version(version))

    def publish(self, *txn_ids: str) -> None:
        for version, txn_id in enumerate(txn_ids, 1):
            publish(locate(self.staging.location), version, txn_id)
        self.catalog.mark_published(self.table_id, Version(len(txn_ids)))


@pytest.fixture(params=ALL_KINDS)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Case]:
    with any_catalog(request.param, tmp_path) as catalog:
        yield Case(catalog, create_managed(catalog, ORDERS))


# --- TableRenaming


def test_a_renamed_table_is_the_same_table(case: Case) -> None:
    before = case.catalog.resolve(ORDERS)

    after = case.catalog.rename(ORDERS, TableName("sales", "Bills"))

    assert (after.table_id, after.location) == (before.table_id, before.location)
    assert after.etag > before.etag
    assert [str(entry.name) for entry in case.catalog.tables()] == ["sales.bills"]


def test_a_rename_needs_a_schema_and_a_free_name(case: Case) -> None:
    create_managed(case.catalog, LINES)

    with pytest.raises(TableExists):
        case.catalog.rename(ORDERS, LINES)
    with pytest.raises(SchemaNotFound):
        case.catalog.rename(ORDERS, TableName("nowhere", "orders"))


def test_the_last_one_dropped_comes_back_unless_another_is_asked_for(case: Case) -> None:
    case.catalog.drop(ORDERS)
    second = create_managed(case.catalog, ORDERS)
    case.catalog.drop(ORDERS)

    assert [entry.table_id for entry in case.catalog.dropped()] == [second.table_id, case.table_id]
    assert case.catalog.undrop(ORDERS).table_id == second.table_id
    assert case.catalog.undrop(ORDERS, table_id=case.table_id, to=LINES).name == LINES
    with pytest.raises(TableNotFound):
        case.catalog.undrop(ORDERS)


def test_several_names_are_resolved_at_once_or_not_at_all(case: Case) -> None:
    lines = create_managed(case.catalog, LINES)

    found = case.catalog.resolve_all([LINES, ORDERS])

    assert [entry.table_id for entry in found] == [lines.table_id, case.table_id]
    with pytest.raises(TableNotFound):
        case.catalog.resolve_all([LINES, TableName("sales", "nothing")])


# --- TableDisposal


def test_only_a_dropped_table_is_purged_and_then_nothing_is_left(case: Case) -> None:
    with pytest.raises(TableNotFound):
        purge.purge(case.catalog, ORDERS, None, files=locate)
    with pytest.raises(NotAllowed):
        case.catalog.disposal.condemn(case.table_id)
    case.catalog.drop(ORDERS)

    assert purge.purge(case.catalog, ORDERS, None, files=locate) == case.table_id

    assert list(locate(case.staging.location).list_from("")) == []
    assert case.catalog.dropped() == ()
    with pytest.raises(TableNotFound):
        case.catalog.undrop(ORDERS)


def test_a_purge_that_stopped_is_finished_by_the_same_call(case: Case) -> None:
    case.catalog.drop(ORDERS)
    case.catalog.disposal.condemn(case.table_id)

    assert case.catalog.disposal.condemned(ORDERS) == (case.table_id,)
    assert case.staging in case.catalog.disposal.abandoned()
    assert purge.purge(case.catalog, ORDERS, None, files=locate) == case.table_id
    assert case.catalog.disposal.condemned(ORDERS) == ()


def test_files_that_stay_must_be_a_whole_table(case: Case) -> None:
    case.ratify("a")
    case.catalog.drop(ORDERS)

    with pytest.raises(NotAllowed):
        purge.purge(case.catalog, ORDERS, None, files=None)

    case.catalog.undrop(ORDERS)
    case.publish("a")
    case.catalog.drop(ORDERS)
    purge.purge(case.catalog, ORDERS, None, files=None)
    assert locate(case.staging.location).read(file_names.published_path(Version(1))) == content(1, "a")


# --- ReaderCatalog


def test_a_table_is_loaded_with_all_that_belongs_to_it(case: Case) -> None:
    case.ratify("a", "b")
    case.publish("a")

    loaded = case.catalog.load(TableName("SALES", "orders"))

    assert loaded.entry == case.catalog.resolve(ORDERS)
    assert loaded.tail == case.catalog.tail(case.table_id)
    assert loaded.as_of <= case.catalog.writes
    with pytest.raises(TableNotFound):
        case.catalog.load(LINES)


def test_what_is_written_through_it_is_counted(case: Case) -> None:
    before = case.catalog.writes

    case.ratify("a")

    assert case.catalog.writes > before


def test_of_two_checkpoints_the_newer_one_is_remembered(case: Case) -> None:
    case.ratify("a", "b")
    case.publish("a", "b")

    for version in (2, 1):
        case.catalog.note_log(case.table_id, LogHints((checkpoint(version),), Version(version)))

    known = case.catalog.load(ORDERS).hints
    assert [file.version for file in known.checkpoint] == [2]
    assert known.checksum == 2


def test_a_moment_means_the_last_version_before_it(case: Case) -> None:
    case.ratify("a", "b")

    assert case.catalog.version_at(case.table_id, stamp(1)) == 1
    assert case.catalog.version_at(case.table_id, EpochMillis(stamp(2) + 9)) in (2, None)  # it may not know
    assert case.catalog.version_at(case.table_id, EpochMillis(1)) is None


def test_the_commits_of_a_table_are_told_from_the_latest_on(case: Case) -> None:
    case.ratify("a", "b")

    records = case.catalog.commits(case.table_id, limit=2)

    assert [(record.version, record.txn_id) for record in records] == [(2, "b"), (1, "a")]
    assert records[0].size == len(content(2, "b"))
    assert [each.version for each in case.catalog.commits(case.table_id, before=Version(1))] == [0]


def test_what_nobody_published_beside_it_changes_nothing(case: Case) -> None:
    case.ratify("a")

    assert case.catalog.import_external_versions(case.table_id) == 1
    assert case.catalog.ahead() == ()


# --- EventFeed


def test_events_come_in_the_order_of_what_happened_and_none_is_left_out(case: Case) -> None:
    case.ratify("a")
    case.catalog.rename(ORDERS, LINES)
    case.catalog.drop(LINES)

    events = case.catalog.events.after(0)

    told = [(event.kind, event.version) for event in events if event.table_id == case.table_id]
    assert told[0] == (EventKind.CREATE, 0)
    assert told[-3:] == [(EventKind.COMMIT, 1), (EventKind.RENAME, 1), (EventKind.DROP, 1)]
    cursors = [event.cursor for event in events]
    assert cursors == sorted(set(cursors))
    assert case.catalog.events.newest() == cursors[-1]
    assert case.catalog.events.after(cursors[0], limit=1) == events[1:2]


def test_who_looks_at_events_gets_a_window_of_them(case: Case) -> None:
    case.ratify("a", "b", "c")
    feed = case.catalog.events
    told = feed.after(0)

    latest = feed.window(limit=2)
    before = feed.window(latest.end - 2, limit=2)

    assert (latest.events, latest.end, latest.newest) == (told[-2:], feed.newest() + 1, feed.newest())
    assert (before.events, before.end, before.newest) == (told[-4:-2], feed.newest() - 1, feed.newest())
    assert feed.window().events == told
    assert feed.window(-(10**12)).events == ()
    assert feed.window(10**12, limit=2) == latest
    assert not (latest.is_forgotten or latest.is_behind)


def test_a_follower_is_remembered_by_its_name(case: Case) -> None:
    events = case.catalog.events
    assert events.load_cursor("mirror") is None

    events.save_cursor("mirror", 3)
    events.save_cursor("mirror", 2)

    assert events.load_cursor("mirror") == 3


def test_a_cursor_from_before_what_is_forgotten_is_refused(case: Case) -> None:
    case.ratify("a", "b")
    events = case.catalog.events
    events.list_pending()

    assert events.forget(-10 * MINUTE_MS) > 0
    assert events.after(0) == ()
    with pytest.raises(InvalidRequest):
        events.after(1)
    assert (events.window().events, events.window().is_forgotten) == ((), True)


# --- TableLeases


def test_what_a_lease_keeps_is_not_given_up(case: Case) -> None:
    case.ratify("a", "b", "c")
    leases = case.catalog.leases
    held = leases.on_version(case.table_id, Version(1), holder="reader", ttl_ms=MINUTE_MS)

    assert leases.horizon(case.table_id).version == 1
    assert leases.give_up(case.table_id, before=Version(3)).version == 1
    leases.release(held)
    assert leases.give_up(case.table_id, before=Version(3)).version == 3
    with pytest.raises(VersionNotFound):
        leases.on_version(case.table_id, Version(1), holder="late", ttl_ms=MINUTE_MS)


def test_there_is_no_lease_on_a_version_that_does_not_exist(case: Case) -> None:
    with pytest.raises(VersionNotFound):
        case.catalog.leases.on_version(case.table_id, Version(9), holder="reader", ttl_ms=MINUTE_MS)


def test_work_is_done_by_one_at_a_time_and_the_next_has_a_later_token(case: Case) -> None:
    leases, subject = case.catalog.leases, f"worker/{case.table_id}"
    first = leases.on_work(subject, holder="one", ttl_ms=MINUTE_MS)
    assert first is not None
    assert leases.on_work(subject, holder="two", ttl_ms=MINUTE_MS) is None
    leases.check(leases.renew(first, ttl_ms=MINUTE_MS))
    assert [held.holder for held in leases.live(subject)] == ["one"]

    leases.release(first)
    second = leases.on_work(subject, holder="two", ttl_ms=MINUTE_MS)

    assert second is not None
    assert second.token > first.token
    with pytest.raises(NotAllowed):
        leases.check(first)
    with pytest.raises(NotAllowed):
        leases.renew(first, ttl_ms=MINUTE_MS)


def test_up_to_where_files_were_given_up_is_remembered(case: Case) -> None:
    leases = case.catalog.leases
    assert leases.vacuumed(case.table_id) == 0

    leases.give_up(case.table_id, moment=EpochMillis(5))

    assert leases.vacuumed(case.table_id) == 5
    assert leases.now_ms() > 5
    assert leases.sweep() == 0


# --- MaintenancePermissions


def test_who_acts_unasked_needs_a_permission_and_the_owner_needs_none(case: Case) -> None:
    permissions, cleanup = case.catalog.permissions, Maintenance.DATA_CLEANUP
    worker = permissions.for_background_work()
    assert permissions.check(case.table_id, cleanup, "VACUUM") is Permission.OWNER
    assert worker.check(case.table_id, Maintenance.CHECKPOINT, "checkpoint") is Permission.ALWAYS
    with pytest.raises(NotAllowed, match="VACUUM"):
        worker.check(case.table_id, cleanup, "VACUUM")

    assert permissions.permit(case.table_id, cleanup) is True
    assert permissions.permit(case.table_id, cleanup) is False

    assert worker.check(case.table_id, cleanup, "VACUUM") is Permission.CATALOG
    assert permissions.permitted_kinds(case.table_id) == ALWAYS_PERMITTED | {cleanup}
    assert permissions.forbid(case.table_id, cleanup) is True
    assert permissions.forbid(case.table_id, cleanup) is False
    with pytest.raises(InvalidRequest):
        permissions.forbid(case.table_id, Maintenance.CHECKPOINT)


def test_thresholds_are_for_data_reorganisation(case: Case) -> None:
    permissions = case.catalog.permissions
    assert permissions.thresholds(case.table_id) is None

    permissions.permit(case.table_id, Maintenance.DATA_REORGANISATION, DEFAULTS)

    assert permissions.thresholds(case.table_id) == DEFAULTS
    with pytest.raises(InvalidRequest):
        permissions.permit(case.table_id, Maintenance.DATA_CLEANUP, DEFAULTS)


# --- StagedFiles, TableBooks


def test_ratified_staged_files_are_told_from_others(case: Case) -> None:
    proposal = staged(case.table_id, 1, "a", locate(case.staging.location))
    assert not isinstance(proposal.content, InlineCommit)
    case.catalog.propose(proposal)
    name, other = proposal.content.file_name, file_names.staged_file_name(Version(1), case.table_id)

    assert case.catalog.publications.ratified_names(case.table_id, [name, other]) == {name}


def test_the_books_of_a_whole_table_are_consistent(case: Case) -> None:
    case.ratify("a", "b")
    case.publish("a")

    books = case.catalog.books(case.table_id).read()

    assert (books.latest, books.published) == (2, 1)
    assert [row.version for row in books.rows] == [0, 1, 2]
    assert books.by_version[Version(1)].has_content(content(1, "a"))
    assert list(books.held) == [2]
    assert list(integrity.check_records(books)) == []


def test_the_watermark_of_the_books_moves_only_over_files_that_are_there(case: Case) -> None:
    case.ratify("a")
    keeper = case.catalog.books(case.table_id)

    with pytest.raises(InvalidRequest):
        keeper.mark_published(Version(1))
    publish(locate(case.staging.location), 1, "a")
    keeper.mark_published(Version(1))

    assert case.catalog.tail(case.table_id).published == 1


# --- the catalog as a whole


def test_it_says_where_its_tables_are_and_for_whom_it_acts(case: Case) -> None:
    again = case.catalog.acting_as("owner")

    assert again.principal == case.catalog.principal == "owner"
    assert case.staging.location.startswith(again.warehouse)
    assert again.tables() == case.catalog.tables()


def test_nothing_is_lost_of_it(case: Case) -> None:
    case.catalog.copies.write_now()

    assert case.catalog.copies.find_lost_tables() == (False, ())
    assert case.catalog.copies.is_new() is False
    assert case.catalog.granting.grants() == ()


def checkpoint(version: int) -> LogFile:
    found = file_names.parse(f"_delta_log/{version:020d}.checkpoint.parquet", size=1)
    assert found is not None
    return found
