"""When is a table seen to that was committed to? When the burst pauses, and not too late if it does not."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from headgate.errors import CatalogUnavailable
from headgate.protocol.actions import Version
from headgate.settings import Settings
from headgate.table.commit.background import PostCommitScheduler, _ScheduledUpkeep

PATIENCE = 60


class Keeper:
    """A log that only counts how often it is kept."""

    def __init__(self) -> None:
        self.kept: list[int] = []
        self.was_kept = threading.Event()

    def keep(self, version: Version, *, interval: int, urgent: bool, due: bool) -> float | None:
        self.kept.append(version)
        self.was_kept.set()
        return None

    def publish(self) -> bool:
        self.was_kept.set()
        return False

    def end_checkpoint_rest(self) -> None:
        pass


def upkeep(at: float, latest: float) -> _ScheduledUpkeep:
    return _ScheduledUpkeep(Version(1), 10, at, latest, checkpoint=False)


def test_a_burst_puts_it_off_but_not_for_ever() -> None:
    assert upkeep(at=1.0, latest=10.0).due_at(quiet_at=1.2) == 1.2
    assert upkeep(at=1.0, latest=10.0).due_at(quiet_at=99.0) == 10.0


def test_what_is_tried_again_later_does_not_come_earlier_because_it_is_quiet() -> None:
    assert upkeep(at=5.0, latest=5.0).due_at(quiet_at=0.0) == 5.0


def test_commits_to_many_tables_are_one_burst() -> None:
    scheduler = PostCommitScheduler(Settings(publish_quiet_seconds=3_600, publish_batch=3))
    keepers = [Keeper() for _ in range(3)]

    for keeper in keepers:
        scheduler.committed(keeper, Version(1), interval=10)  # type: ignore[arg-type]

    for keeper in keepers:  # the third filled the batch, so nobody waits for the quiet hour
        assert keeper.was_kept.wait(PATIENCE)
    scheduler.close()
    assert [keeper.kept for keeper in keepers] == [[1], [1], [1]]


def test_closing_sees_to_all_that_waits() -> None:
    scheduler = PostCommitScheduler(Settings(publish_quiet_seconds=3_600))
    keeper = Keeper()
    scheduler.committed(keeper, Version(1), interval=10)  # type: ignore[arg-type]

    scheduler.close()

    assert keeper.kept == [1]


def test_what_could_not_be_written_down_is_tried_again() -> None:
    failures = [CatalogUnavailable("gone")]
    again = threading.Event()

    @contextmanager
    def gathering() -> Iterator[None]:
        yield
        if failures:
            raise failures.pop()
        again.set()

    scheduler = PostCommitScheduler(Settings(publish_quiet_seconds=0), gathering=gathering)
    keeper = Keeper()
    scheduler.committed(keeper, Version(1), interval=10)  # type: ignore[arg-type]

    assert again.wait(PATIENCE)
    scheduler.close()
    assert keeper.kept == [1, 1]
