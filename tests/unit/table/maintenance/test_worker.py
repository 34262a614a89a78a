"""The worker: does what is due, once, under the rules of the catalog, and survives whatever happens."""

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import TypeVar

import pytest

from headgate.catalog.ports.directory import TableEntry, TableName
from headgate.catalog.ports.events import EventKind
from headgate.catalog.ports.maintenance import NEEDS_PERMISSION, Maintenance, Permission
from headgate.errors import CatalogUnavailable, NotAllowed, TableNotFound
from headgate.protocol.actions import Version
from headgate.protocol.log import file_names
from headgate.storage.locate import locate
from headgate.table.alter import create
from headgate.table.alter.create import TableDefinition
from headgate.table.maintenance.maintenance_tasks import WorkerPolicy
from headgate.table.maintenance.worker import LAKE, TaskOutcome, TaskResult, Worker
from headgate.table.opened_table import OpenedTable
from headgate.table.upkeep.permissions import CatalogGuard
from tests.support.catalogs import a_catalog
from tests.support.faulty_store import FaultyStore
from tests.support.tables import NAME, SCHEMA, create_managed
from tests.support.tended import DAY_MS, MovableWorld, Place, opened
from tests.support.waiting import PATIENCE_SECONDS, until

Answer = TypeVar("Answer")
LOSER = "123e4567-e89b-12d3-a456-426614174000"
DONE, DUE, FAILED, LEFT = TaskOutcome.DONE, TaskOutcome.DUE, TaskOutcome.FAILED, TaskOutcome.LEFT


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with opened(tmp_path) as found:
        create_managed(found.catalog)
        yield found


def outcomes(results: tuple[TaskResult, ...]) -> list[tuple[str, str, TaskOutcome]]:
    return [(result.subject, result.task, result.outcome) for result in results]


def tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "catalog.sqlite" not in path.name
    }


def test_what_is_due_is_done_once(place: Place) -> None:
    place.append(12)

    results = place.worker().run_once()

    assert [(result.task, result.detail) for result in results] == [
        ("publish", "versions 1 to 12"),
        ("checkpoint", "version 12"),
    ]
    assert {result.outcome for result in results} == {DONE}
    assert place.catalog.tail(place.catalog.resolve(NAME).table_id).published == 12
    assert file_names.classic_checkpoint_path(Version(12)).removeprefix(file_names.LOG_FOLDER) in place.log()
    assert file_names.checksum_path(Version(12)).removeprefix(file_names.LOG_FOLDER) in place.log()
    assert place.worker().run_once() == ()


def test_few_versions_are_published_compacted_and_summed_up_without_a_checkpoint(place: Place) -> None:
    place.append(9)

    results = place.worker().run_once()

    assert [(result.task, result.detail) for result in results] == [
        ("publish", "versions 1 to 9"),
        ("compact the log", "versions 4 to 7"),
        ("checksum", "version 9"),
    ]
    assert (
        file_names.compaction_path(Version(4), Version(7)).removeprefix(file_names.LOG_FOLDER) in place.log()
    )
    assert place.table().verify() == ()
    assert place.rows() == list(range(1, 10))
    assert place.worker().run_once() == ()


def test_what_the_policy_leaves_out_is_not_done(place: Place) -> None:
    place.append(12)

    results = place.worker(WorkerPolicy(publish=False, checkpoint=False, checksum=False)).run_once()

    assert results == ()
    assert place.log()[1:] == [path for path in place.log() if path.startswith("_staged_commits/")]


def test_a_dry_run_says_what_is_due_and_changes_nothing(place: Place, tmp_path: Path) -> None:
    place.append(12)
    before = tree(tmp_path)

    results = place.worker().run_once(dry_run=True)

    assert outcomes(results) == [("test.t", task, DUE) for task in ("publish", "checkpoint", "checksum")]
    assert tree(tmp_path) == before
    assert place.catalog.leases.live() == ()
    assert outcomes(place.worker().run_once()) == [("test.t", c, DONE) for c in ("publish", "checkpoint")]


def test_tables_that_are_named_are_tended_without_listing_all(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_managed(place.catalog, TableName("test", "other"))
    place.append(3)
    monkeypatch.setattr(type(place.catalog), "tables", None)

    results = place.worker().run_once(tables=["test.t", "test.none", "no name"], dry_run=True)

    assert outcomes(results) == [("test.t", task, DUE) for task in ("publish", "checksum")]


def test_the_log_is_cleaned_up_only_if_that_is_permitted(place: Place) -> None:
    """S119, U8"""
    place.append(12)
    place.worker().run_once()
    place.world.days = 60
    place.append(1)
    assert "clean up the log" not in {result.task for result in place.worker().run_once()}
    with pytest.raises(NotAllowed, match="cleanup_log is metadata cleanup") as refused:
        place.unasked().cleanup_log()
    assert refused.value.fields["operation"] == "cleanup_log"

    place.catalog.permissions.permit(place.catalog.resolve(NAME).table_id, Maintenance.METADATA_CLEANUP)
    (result,) = place.worker().run_once()

    assert (result.task, result.outcome) == ("clean up the log", DONE)
    assert place.log()[0] == file_names.classic_checkpoint_path(Version(12)).removeprefix(
        file_names.LOG_FOLDER
    )
    assert place.rows() == list(range(1, 14))
    assert place.worker().run_once() == ()


@pytest.mark.parametrize("kind", [kind for kind in Maintenance if kind in NEEDS_PERMISSION])
def test_each_kind_of_maintenance_needs_its_own_permission(place: Place, kind: Maintenance) -> None:
    """S119, U8: whoever is to do it asks the table, and is told which operation is refused."""
    table_id = place.catalog.resolve(NAME).table_id
    for other in {Maintenance.DATA_CLEANUP, Maintenance.METADATA_CLEANUP, Maintenance.DATA_REORGANISATION} - {
        kind
    }:
        place.catalog.permissions.permit(table_id, other)

    with pytest.raises(
        NotAllowed, match=f"THE OPERATION is {kind.value} of a catalog-managed table"
    ) as refused:
        place.unasked().check_permitted(kind, "THE OPERATION")

    assert refused.value.code == "DELTA_UNSUPPORTED_CATALOG_MANAGED_TABLE_OPERATION"
    place.catalog.permissions.permit(table_id, kind)
    assert place.unasked().check_permitted(kind, "THE OPERATION").permission is Permission.CATALOG


def test_versions_that_somebody_has_leased_stay(place: Place) -> None:
    table_id = place.catalog.resolve(NAME).table_id
    place.catalog.permissions.permit(table_id, Maintenance.METADATA_CLEANUP)
    for _ in range(3):
        place.append(10)
        place.worker().run_once()
    place.world.days = 60
    held = place.catalog.leases.on_version(table_id, Version(14), holder="reader", ttl_ms=60_000)

    place.worker().run_once()

    assert place.log()[0] == file_names.classic_checkpoint_path(Version(10)).removeprefix(
        file_names.LOG_FOLDER
    )
    assert len(place.table().snapshot(version=14).files.columns) == 14
    place.catalog.leases.release(held)
    place.worker().run_once()
    assert place.log()[0] == file_names.classic_checkpoint_path(Version(30)).removeprefix(
        file_names.LOG_FOLDER
    )


def test_a_lease_taken_while_the_cleanup_is_about_to_delete_wins_or_is_refused(place: Place) -> None:
    """The clean-up decided without the lease; asked once more before it deletes, it leaves everything."""
    table_id = place.catalog.resolve(NAME).table_id
    place.append(10)
    place.worker().run_once()
    place.world.days = 60
    opened = place.table()
    late: list[object] = []

    class Overtaken(CatalogGuard):
        def check(self, kind: Maintenance, operation: str) -> Permission:
            return Permission.CATALOG

        def give_up(self, **asked: object) -> object:  # type: ignore[override]
            late.append(place.catalog.leases.on_version(table_id, Version(3), holder="late", ttl_ms=60_000))
            return super().give_up(**asked)  # type: ignore[arg-type]

    opened.guard = Overtaken(place.catalog.permissions, place.catalog.leases, table_id)
    before = place.log()

    assert opened.cleanup_log() == ()
    assert place.log() == before
    assert len(late) == 1
    assert len(place.table().snapshot(version=3).files.columns) == 3


def test_files_are_vacuumed_once_a_day_if_that_is_permitted(place: Place) -> None:
    entry = place.catalog.resolve(NAME)
    orphan = Path(entry.location) / "part-0.parquet"
    orphan.write_bytes(b"written, and never committed")
    place.append(1)
    place.world.days = 8
    place.worker().run_once()
    assert orphan.exists()

    place.catalog.permissions.permit(entry.table_id, Maintenance.DATA_CLEANUP)
    held = place.catalog.leases.on_version(entry.table_id, Version(1), holder="reader", ttl_ms=60_000)
    assert place.worker(WorkerPolicy(vacuum_every=None)).run_once() == ()
    assert place.worker().run_once() == ()
    assert orphan.exists()  # written when the leased version was, for all that anybody knows
    place.catalog.leases.release(held)
    (result,) = place.worker().run_once()

    assert (result.task, result.detail) == ("vacuum", "1 file")
    assert not orphan.exists()
    orphan.write_bytes(b"again")
    os.utime(orphan, (1, 1))
    assert place.worker().run_once() == ()
    place.world.days = 9
    assert [result.task for result in place.worker().run_once()] == ["vacuum"]


def staged_by_a_loser(place: Place, version: int, *, days_old: float = 0) -> Path:
    location = Path(place.catalog.resolve(NAME).location)
    file = location / file_names.STAGED_FOLDER / file_names.staged_file_name(Version(version), LOSER)
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(b"{}\n")
    moment = (place.world.now_ms() - days_old * DAY_MS) / 1000
    os.utime(file, (moment, moment))
    return file


def test_only_old_staged_files_of_proven_losers_are_swept(place: Place) -> None:
    place.append(3)
    ratified = {path for path in place.log() if path.startswith("_staged_commits/")}
    old = staged_by_a_loser(place, 2, days_old=2)
    young = staged_by_a_loser(place, 3, days_old=0.5)
    next_one = staged_by_a_loser(place, 4, days_old=2)

    (result,) = [result for result in place.worker().run_once() if result.task == "sweep staged files"]

    assert (result.outcome, result.detail) == (DONE, "1 file")
    assert (old.exists(), young.exists(), next_one.exists()) == (False, True, True)
    assert ratified <= set(place.log())
    place.world.days = 3
    place.worker().run_once()
    assert (young.exists(), next_one.exists()) == (False, True)
    assert ratified <= set(place.log())


def test_nothing_is_swept_that_is_not_published_or_that_a_writer_may_need(place: Place) -> None:
    table_id = place.catalog.resolve(NAME).table_id
    place.append(2)
    unpublished = staged_by_a_loser(place, 2, days_old=2)
    place.worker(WorkerPolicy(publish=False, checksum=False)).run_once()
    assert unpublished.exists()

    held = place.catalog.leases.on_version(table_id, None, holder="writer", ttl_ms=60_000)
    place.world.days = 3
    leased = staged_by_a_loser(place, 1, days_old=2)
    renewed = place.catalog.leases.on_version(table_id, None, holder="writer", ttl_ms=60_000)
    place.worker().run_once()

    assert not unpublished.exists()  # written before any lease that lives
    assert not leased.exists()
    place.catalog.leases.release(renewed)
    place.catalog.leases.release(held)


def test_a_writers_lease_keeps_what_it_stages(place: Place) -> None:
    table_id = place.catalog.resolve(NAME).table_id
    place.append(2)
    place.catalog.leases.on_version(table_id, None, holder="writer", ttl_ms=20 * 60 * 60 * 1000)
    mine = staged_by_a_loser(place, 2)
    policy = WorkerPolicy(staged_grace=timedelta(0))

    place.worker(policy).run_once()
    assert mine.exists()

    place.world.days = 1
    place.worker(policy).run_once()
    assert not mine.exists()


def test_the_place_of_a_table_that_was_never_made_is_deleted_when_its_time_is_over(place: Place) -> None:
    place.worker().run_once()
    staging = place.catalog.stage(TableName("test", "never"))
    (Path(staging.location) / file_names.LOG_FOLDER).mkdir(parents=True)
    (Path(staging.location) / file_names.published_path(Version(0))).write_bytes(b"{}\n")
    (Path(staging.location) / "part.parquet").write_bytes(b"rows")

    assert place.worker().run_once() == ()
    place.world.days = 2
    assert outcomes(place.worker().run_once(dry_run=True)) == [(LAKE, "delete an abandoned place", DUE)]
    assert outcomes(place.worker().run_once())[0] == (LAKE, "delete an abandoned place", DONE)

    assert list(Path(staging.location).rglob("*.*")) == []
    with pytest.raises(TableNotFound):
        place.catalog.disposal.condemn(staging.table_id)
    assert place.worker().run_once() == ()


def test_a_table_is_tended_by_one_worker_at_a_time(place: Place) -> None:
    place.append(2)
    table_id = place.catalog.resolve(NAME).table_id
    held = place.catalog.leases.on_work(f"worker/{table_id}", holder="other", ttl_ms=60_000)
    assert held is not None

    assert outcomes(place.worker().run_once()) == [("test.t", "tend", LEFT)]

    place.catalog.leases.release(held)
    assert [result.outcome for result in place.worker().run_once()] == [DONE, DONE]
    assert place.catalog.leases.live() == ()


def test_a_worker_that_died_is_succeeded_when_its_lease_has_ended(place: Place) -> None:
    place.append(2)
    table_id = place.catalog.resolve(NAME).table_id
    place.catalog.leases.on_work(f"worker/{table_id}", holder="dead", ttl_ms=60_000)

    place.world.days = 1

    assert ("test.t", "publish", DONE) in outcomes(place.worker().run_once())


def test_trouble_with_one_table_is_told_and_the_others_are_tended(place: Place) -> None:
    other = TableName("test", "u")
    create_managed(place.catalog, other)
    place.append(2)
    place.append(2, other)
    stray = Path(place.catalog.resolve(NAME).location) / file_names.published_path(Version(1))
    stray.write_bytes(b"stray")

    results = place.worker().run_once()
    again = place.worker().run_once()

    assert ("test.t", "publish", FAILED) in outcomes(results)
    assert ("test.t", "publish", FAILED) in outcomes(again)
    assert ("test.u", "publish", DONE) in outcomes(results)
    incidents = [event for event in place.catalog.events.after(0) if event.kind is EventKind.INCIDENT]
    assert [(event.table, event.version) for event in incidents] == [("test.t", 1)]
    stray.unlink()
    assert ("test.t", "publish", DONE) in outcomes(place.worker().run_once())


def test_old_events_and_ended_leases_are_forgotten(place: Place) -> None:
    place.append(2)
    place.worker().run_once()
    table_id = place.catalog.resolve(NAME).table_id
    place.catalog.leases.on_version(table_id, Version(1), holder="dead", ttl_ms=1_000)
    place.world.days = 31

    results = place.worker().run_once()

    assert [(result.task, result.detail) for result in results if result.subject == LAKE] == [
        ("forget events", "4"),
        ("sweep leases", "1"),
    ]
    assert place.catalog.events.after(0) == ()


def test_only_the_tables_asked_for_are_tended(place: Place) -> None:
    other = TableName("test", "u")
    create_managed(place.catalog, other)
    place.append(1)
    place.append(1, other)

    results = place.worker().run_once(tables=["test.u"])

    assert {result.subject for result in results} == {"test.u"}


def test_a_table_dropped_meanwhile_is_no_trouble(place: Place) -> None:
    place.append(2)

    def open_and_drop(entry: TableEntry) -> OpenedTable:
        found = place.open(entry)
        place.catalog.drop(entry.name)
        return found

    worker = Worker(place.catalog, open_and_drop, place.world, "worker")

    assert worker.run_once() == ()


def test_a_catalog_that_cannot_be_reached_is_told_and_tried_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.append(1)

    def away(*_: object) -> None:
        raise CatalogUnavailable("no answer")

    with monkeypatch.context() as broken:
        broken.setattr(place.catalog._database, "reading", away)
        assert outcomes(place.worker().run_once()) == [(LAKE, "list the tables", FAILED)]

    assert ("test.t", "publish", DONE) in outcomes(place.worker().run_once())


def test_it_goes_on_until_it_is_stopped(place: Place) -> None:
    stop, told = threading.Event(), list[TaskResult]()
    thread = threading.Thread(
        target=lambda: place.worker().run(every=0.01, stop=stop, tell=told.append), daemon=True
    )
    thread.start()
    for rounds in (1, 2):
        place.append(1)
        until(lambda rounds=rounds: [result.task for result in told].count("publish") == rounds)
    stop.set()
    thread.join(PATIENCE_SECONDS)

    assert not thread.is_alive()


@pytest.mark.parametrize("kind", ["postgresql"])
def test_the_same_on_a_database_server(kind: str, tmp_path: Path) -> None:
    with a_catalog(kind, tmp_path) as catalog:
        create_managed(catalog)
        place = Place(catalog, MovableWorld())
        place.append(12)
        loser = staged_by_a_loser(place, 3, days_old=2)

        results = place.worker().run_once()

        assert [result.task for result in results] == ["publish", "checkpoint", "sweep staged files"]
        assert not loser.exists()
        assert place.worker().run_once() == ()


class NthFails:
    """Carries every call but the nth: that one is lost on its way, or its answer is."""

    def __init__(self, number: int, *, performed: bool) -> None:
        self.left = number
        self.performed = performed

    def call(
        self,
        name: str,
        perform: Callable[[], Answer],
        *,
        unanswered: Callable[[bool], Answer],
        writes: bool,
    ) -> Answer:
        self.left -= 1
        if self.left != 0:
            return perform()
        if self.performed:
            perform()
        return unanswered(False)


def model(folder: Path) -> Path:
    """A lake where there is something to publish, to checkpoint, to clean up and to sweep; what is swept."""
    with opened(folder) as place:
        place.catalog.create_schema(NAME.schema)
        staging = place.catalog.stage(NAME)
        definition = TableDefinition(SCHEMA, properties={"delta.checkpointInterval": "3"})
        create.write_version_0(locate(staging.location), definition, managed=True, world=place.world)
        place.catalog.register(staging, NAME)
        place.catalog.permissions.permit(staging.table_id, Maintenance.METADATA_CLEANUP)
        place.append(3)
        place.worker().run_once()
        place.world.days = 60
        place.append(3)
        return staged_by_a_loser(place, 5, days_old=2)


def survives(folder: Path, number: int, *, performed: bool) -> bool:
    """Lose the nth call of a round, and see that the next one finishes; False if there are fewer calls."""
    with opened(folder) as place:
        place.world.days = 60
        wire = NthFails(number, performed=performed)
        place.through = lambda store: FaultyStore(store, wire)
        interrupted = place.worker().run_once()
        place.through = lambda store: store
        place.worker().run_once()

        assert interrupted != ()
        assert place.rows() == list(range(1, 7))
        assert place.worker().run_once() == (), number
        assert place.log()[0] == file_names.classic_checkpoint_path(Version(3)).removeprefix(
            file_names.LOG_FOLDER
        )
        assert not any(LOSER in path for path in place.log())
    return wire.left <= 0


STEP = 5


def test_whichever_call_to_the_store_fails_the_next_round_finishes_and_nothing_is_lost(
    tmp_path: Path,
) -> None:
    """Some of the calls; ``make chaos`` loses each of them, both ways."""
    model(tmp_path / "model")
    numbers = []
    for number in count(1, STEP):
        numbers.append(number)
        shutil.copytree(tmp_path / "model", tmp_path / str(number))
        if not survives(tmp_path / str(number), number, performed=len(numbers) % 2 == 0):
            break

    assert numbers[-1] > 40
