"""Batches of a stream on paper: whatever the limits, splits and restarts, every file comes once, in order."""

from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from headgate.table.stream import stream_offsets
from headgate.table.stream.admission import FileUnit, ReadLimits, advance
from headgate.table.stream.stream_offsets import StreamOffset, first_offset, slices_between

Place = tuple[int, bool, int]
LIMITS = st.builds(ReadLimits, st.none() | st.integers(1, 4), st.none() | st.integers(1, 40))
SIZES = st.lists(st.integers(0, 20), max_size=4)


@dataclass(frozen=True)
class Log:
    """A log by the sizes of the files of its first snapshot and of each commit after it."""

    snapshot: Sequence[int]
    commits: Sequence[Sequence[int]]
    whole: bool = False
    first: int = 5

    @property
    def latest(self) -> int:
        return self.first + len(self.commits)

    def snapshot_units(self, version: int) -> Sequence[FileUnit]:
        assert version == self.first
        return [FileUnit(size) for size in self.snapshot]

    def commit_units(self, version: int) -> Sequence[FileUnit]:
        sizes = self.commits[version - self.first - 1]
        if self.whole:
            return [FileUnit(sum(sizes), len(sizes), is_whole_version=True)] if sizes else []
        return [FileUnit(size) for size in sizes]

    def places(self) -> list[Place]:
        """Every file of the stream, in order."""
        found = [(self.first, True, index) for index in range(len(self.snapshot))]
        for version in range(self.first + 1, self.latest + 1):
            found += [(version, False, index) for index in range(len(self.commit_units(version)))]
        return found

    def between(self, start: StreamOffset, end: StreamOffset) -> list[Place]:
        """The files of a batch."""
        found = []
        for one in slices_between(start, end):
            units = (
                self.snapshot_units(one.version)
                if one.is_initial_snapshot
                else self.commit_units(one.version)
            )
            stop = len(units) if one.stop is None else one.stop
            found += [(one.version, one.is_initial_snapshot, index) for index in range(one.start, stop)]
        return found


LOGS = st.builds(Log, SIZES, st.lists(SIZES, max_size=6), st.booleans())


@given(LOGS, st.lists(LIMITS, min_size=1), st.data())
def test_no_file_is_skipped_or_doubled_under_any_limits_and_growth(
    log: Log, limits: list[ReadLimits], data: st.DataObject
) -> None:
    """The log is seen to grow while it is read, and the limits change at every restart."""
    here = first_offset("t", log.first, is_initial_snapshot=True)
    seen: list[Place] = []
    latest = log.first
    for number in range(1_000):
        latest = data.draw(st.integers(latest, log.latest)) if number < 20 else log.latest
        end = advance(log, here, limits[number % len(limits)], latest)
        seen += log.between(here, stream_offsets.from_json(stream_offsets.to_json(end)))
        if end == here and latest == log.latest:
            break
        here = end

    assert seen == log.places()
    assert log.between(here.first, here) == log.places()


@given(LOGS, LIMITS)
def test_a_batch_has_one_file_at_least_and_no_more_than_its_limits(log: Log, limits: ReadLimits) -> None:
    here = first_offset("t", log.first, is_initial_snapshot=True)
    while (end := advance(log, here, limits, log.latest)) != here:
        taken = [_unit(log, place) for place in log.between(here, end)]
        units, files = len(taken), sum(unit.files for unit in taken)
        if limits.files is not None and units > 1:
            assert files <= limits.files
        if limits.size_bytes is not None and units > 1:
            before_last = sum(unit.size_bytes for unit in taken[:-1])
            assert before_last < limits.size_bytes or taken[-1].is_whole_version
        if log.between(end, advance(log, end, ReadLimits(), log.latest)):
            assert taken, "there are more files, and the batch has none"
        here = end


def _unit(log: Log, place: Place) -> FileUnit:
    version, initial, index = place
    return (log.snapshot_units(version) if initial else log.commit_units(version))[index]


def test_the_end_of_a_version_is_the_beginning_of_the_next() -> None:
    """So an offset has one text only, and Spark sees by it that there is nothing new."""
    log = Log([], [[1, 1], [], [1]])
    start = first_offset("t", log.first, is_initial_snapshot=False).next_version

    end = advance(log, start, ReadLimits(files=2), log.latest)

    assert (end.version, end.index) == (8, 0)
    assert advance(log, end, ReadLimits(), log.latest) == advance(log, start, ReadLimits(), log.latest)
