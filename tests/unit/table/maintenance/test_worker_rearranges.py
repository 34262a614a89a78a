"""A worker puts files together where that is ordered: once, under its lease, and never for another table."""

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from headgate import Thresholds
from headgate.catalog.ports.maintenance import Maintenance
from headgate.errors import InvalidRequest, TableNotFound
from headgate.lake.lake import Lake
from headgate.settings import Settings
from headgate.table.maintenance.maintenance_tasks import WorkerPolicy
from headgate.table.maintenance.worker import TaskOutcome, TaskResult
from tests.support.arrow_rearranger import ArrowRearranger, ids_in
from tests.support.tables import NAME, append_change, create_managed, parquet_file
from tests.support.tended import Place, opened
from tests.support.waiting import PATIENCE_SECONDS, until

FILES = 4
ROWS_ONLY = WorkerPolicy(
    publish=False, checkpoint=False, checksum=False, sweep=False, rearrange=Thresholds(small_files=FILES)
)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A table of four files of one row, of which the reorganisation is permitted."""
    with opened(tmp_path) as found:
        create_managed(found.catalog)
        append(found, range(FILES))
        found.catalog.permissions.permit(
            found.catalog.resolve(NAME).table_id, Maintenance.DATA_REORGANISATION
        )
        yield found


def append(place: Place, numbers: range) -> None:
    table = place.table()
    for number in numbers:
        add = parquet_file(table.location, f"{number}-{place.world.uuid()}.parquet", [number])
        table.commit(append_change(add), base=table.snapshot())


def ids(place: Place) -> list[int]:
    table = place.table()
    paths = table.snapshot().files.columns["path"].to_pylist()
    return sorted(number for path in paths for number in ids_in(Path(table.location) / path))


def optimized(place: Place) -> int:
    """How many versions of the table are an OPTIMIZE."""
    return [entry.info.operation for entry in place.table().history()].count("OPTIMIZE")


def run(place: Place, rearranger: ArrowRearranger | None, holder: str = "worker") -> list[TaskResult]:
    return list(place.worker(ROWS_ONLY, holder=holder, rearranger=rearranger).run_once(tables=["test.t"]))


def outcomes(results: list[TaskResult]) -> list[tuple[str, TaskOutcome]]:
    return [(result.task, result.outcome) for result in results]


def test_what_is_due_is_told_and_left_by_a_worker_without_spark(place: Place) -> None:
    before = place.table().snapshot().version

    (result,) = run(place, None)
    (due,) = place.worker(ROWS_ONLY).run_once(tables=["test.t"], dry_run=True)

    assert (result.task, result.outcome) == ("optimize", TaskOutcome.LEFT)
    assert result.detail == "4 small files; a worker with --spark does it"
    assert (due.task, due.outcome, due.detail) == ("optimize", TaskOutcome.DUE, "4 small files")
    assert place.table().snapshot().version == before


def test_what_is_left_is_told_once_and_not_in_every_round(place: Place) -> None:
    stop, told = threading.Event(), list[TaskResult]()
    rounds = 0

    class Counted(Place):
        def open(self, entry):  # type: ignore[no-untyped-def]
            nonlocal rounds
            rounds += 1
            return super().open(entry)

    counted = Counted(place.catalog, place.world)
    worker = counted.worker(ROWS_ONLY)
    thread = threading.Thread(target=lambda: worker.run(every=0.01, stop=stop, tell=told.append), daemon=True)
    thread.start()
    until(lambda: rounds > 3)
    stop.set()
    thread.join(PATIENCE_SECONDS)

    assert [result.task for result in told].count("optimize") == 1


def test_what_is_due_is_done_once_and_no_row_changes(place: Place) -> None:
    before = ids(place)

    (result,) = run(place, ArrowRearranger())

    assert (result.task, result.outcome, result.detail) == (
        "optimize",
        TaskOutcome.DONE,
        "version 5, 4 files became 1",
    )
    assert ids(place) == before
    assert len(place.table().snapshot().files.columns) == 1
    assert run(place, ArrowRearranger()) == []


def test_nothing_is_done_or_said_where_nobody_ordered_it(place: Place) -> None:
    """Not even by a worker of the lake's owner, whose own call would be permission."""
    place.catalog.permissions.forbid(place.catalog.resolve(NAME).table_id, Maintenance.DATA_REORGANISATION)

    assert run(place, ArrowRearranger()) == []
    assert place.worker(ROWS_ONLY).run_once(tables=["test.t"], dry_run=True) == ()
    assert optimized(place) == 0


def test_a_table_may_have_thresholds_of_its_own(place: Place) -> None:
    table_id, permissions = place.catalog.resolve(NAME).table_id, place.catalog.permissions

    assert permissions.permit(table_id, Maintenance.DATA_REORGANISATION, Thresholds(small_files=5))
    assert not permissions.permit(table_id, Maintenance.DATA_REORGANISATION, Thresholds(small_files=5))
    assert run(place, ArrowRearranger()) == []
    permissions.permit(table_id, Maintenance.DATA_REORGANISATION, Thresholds(small_files=None))
    assert run(place, ArrowRearranger()) == []
    permissions.permit(table_id, Maintenance.DATA_REORGANISATION)

    assert permissions.thresholds(table_id) is None
    assert outcomes(run(place, ArrowRearranger())) == [("optimize", TaskOutcome.DONE)]
    details = [event.details for event in place.catalog.events.after(0) if event.kind.value == "permission"]
    assert [each.get("thresholds", {}).get("small_files", "") for each in details] == ["", 5, None, ""]


def test_thresholds_that_make_no_sense_are_refused(place: Place) -> None:
    permit, table_id = place.catalog.permissions.permit, place.catalog.resolve(NAME).table_id
    for thresholds in (
        Thresholds(small_files=1),
        Thresholds(deleted_share=0),
        Thresholds(unclustered_share=1.5),
        Thresholds(deleted_share=float("nan")),
    ):
        with pytest.raises(InvalidRequest, match="None for never"):
            permit(table_id, Maintenance.DATA_REORGANISATION, thresholds)
    with pytest.raises(InvalidRequest, match="data cleanup has no thresholds"):
        permit(table_id, Maintenance.DATA_CLEANUP, Thresholds())


def test_of_two_workers_at_once_one_does_it(place: Place) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def pause() -> None:
        begun.set()
        assert go_on.wait(PATIENCE_SECONDS)

    with ThreadPoolExecutor() as pool:
        first = pool.submit(run, place, ArrowRearranger(written=pause), "one")
        assert begun.wait(PATIENCE_SECONDS)
        second = run(place, ArrowRearranger(), "two")
        go_on.set()

        assert outcomes(first.result()) == [("optimize", TaskOutcome.DONE)]
    assert outcomes(second) == [("tend", TaskOutcome.LEFT)]
    assert optimized(place) == 1
    assert ids(place) == list(range(FILES))


def steal(place: Place) -> list[TaskResult]:
    """Take the lease on the table's work away, as if it had ended, and do the work as somebody else."""
    for held in place.catalog.leases.live():
        place.catalog.leases.release(held)
    return run(place, ArrowRearranger(), "thief")


@pytest.mark.parametrize("moment", ["first", "written"])
def test_a_lease_that_is_lost_in_the_middle_ends_the_work_without_a_commit(place: Place, moment: str) -> None:
    (result,) = run(place, ArrowRearranger(**{moment: lambda: steal(place)}))

    assert (result.task, result.outcome) == ("optimize", TaskOutcome.FAILED)
    assert "has ended" in result.detail
    assert optimized(place) == 1
    assert ids(place) == list(range(FILES))


def test_a_lease_that_is_lost_after_everything_was_asked_makes_a_conflict(place: Place) -> None:
    (result,) = run(place, ArrowRearranger(committing=lambda: steal(place)))

    assert (result.task, result.outcome) == ("optimize", TaskOutcome.LEFT)
    assert "somebody was quicker" in result.detail
    assert optimized(place) == 1
    assert ids(place) == list(range(FILES))


@pytest.mark.parametrize("moment", ["first", "written"])
def test_a_permission_that_is_taken_back_in_the_middle_ends_the_work(place: Place, moment: str) -> None:
    """Though the worker acts for the lake's owner, whose own call would need none."""
    table_id = place.catalog.resolve(NAME).table_id

    def forbid() -> None:
        place.catalog.permissions.forbid(table_id, Maintenance.DATA_REORGANISATION)

    (result,) = run(place, ArrowRearranger(**{moment: forbid}))

    assert (result.task, result.outcome) == ("optimize", TaskOutcome.FAILED)
    assert "has not permitted" in result.detail
    assert optimized(place) == 0


def drop(place: Place) -> None:
    place.catalog.drop(NAME)


def recreate(place: Place) -> None:
    place.catalog.drop(NAME)
    create_managed(place.catalog)
    append(place, range(100, 100 + FILES))


def release(place: Place) -> None:
    Lake(place.catalog, settings=Settings(), world=place.world).release("test.t")


def release_and_adopt(place: Place) -> None:
    lake = Lake(place.catalog, settings=Settings(), world=place.world)
    location = lake.release("test.t").location
    lake.adopt(location, "test.t")


@pytest.mark.parametrize("moment", ["first", "written", "committing"])
@pytest.mark.parametrize("change_hands", [drop, recreate, release, release_and_adopt])
def test_a_table_that_changed_hands_is_not_touched(
    place: Place, change_hands: Callable[[Place], None], moment: str
) -> None:
    """Between the decision and the work, in the middle of it, and right before the commit."""
    gone = place.catalog.resolve(NAME)
    logged: list[str] = []

    def act() -> None:
        change_hands(place)
        logged.extend(published(gone.location))

    assert run(place, ArrowRearranger(**{moment: act})) == []

    assert published(gone.location) == logged
    with pytest.raises(TableNotFound):
        place.catalog.tail(gone.table_id)
    if change_hands in (recreate, release_and_adopt):
        assert optimized(place) == 0
        assert len(place.table().snapshot().files.columns) == FILES
        assert place.catalog.resolve(NAME).table_id != gone.table_id


def published(location: str) -> list[str]:
    return sorted(path.name for path in (Path(location) / "_delta_log").glob("*.json"))


@pytest.mark.parametrize("moment", ["first", "written", "committing"])
def test_appends_in_the_middle_all_land(place: Place, moment: str) -> None:
    (result,) = run(place, ArrowRearranger(**{moment: lambda: append(place, range(10, 13))}))

    assert result.outcome is TaskOutcome.DONE
    assert ids(place) == [*range(FILES), 10, 11, 12]


KILLED = """
import os, sys
from pathlib import Path
from tests.support.arrow_rearranger import ArrowRearranger
from tests.support.tended import opened
from tests.unit.table.maintenance.test_worker_rearranges import run

with opened(Path(sys.argv[1])) as place:
    run(place, ArrowRearranger(**{sys.argv[2]: lambda: os._exit(9)}), "killed")
"""


@pytest.mark.parametrize("moment", ["first", "written", "committing"])
def test_a_worker_that_is_killed_is_succeeded_by_another_when_its_lease_ends(
    place: Place, tmp_path: Path, moment: str
) -> None:
    before = place.table().snapshot().version
    assert subprocess.run([sys.executable, "-c", KILLED, tmp_path, moment], check=False).returncode == 9
    assert place.table().snapshot().version == before
    assert outcomes(run(place, ArrowRearranger())) == [("tend", TaskOutcome.LEFT)]

    place.world.days = 1

    assert outcomes(run(place, ArrowRearranger())) == [("optimize", TaskOutcome.DONE)]
    assert ids(place) == list(range(FILES))
    assert optimized(place) == 1
