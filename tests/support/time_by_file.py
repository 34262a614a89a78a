"""Which test files took the time of a run? A plugin that lists them at its end, fixtures included.

Beside the seconds stands what the run used of processors meanwhile, its JVMs and other programs included. The
seconds are those of a busy machine or of a quiet one; what was used is nearly the same on both.
"""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

_LISTED = 40
_SHORT_RUN = 60.0
"""Who runs a few tests wants no table of them; below so many seconds there is none."""
_PROCESSES = Path("/proc")
_TIMES = slice(11, 15)
"""Of the fields behind the name: the time of a process and that of its children that ended."""

_seconds: Counter[str] = Counter()
_used: Counter[str] = Counter()
_so_far = [0.0]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _seconds[Path(report.location[0]).as_posix()] += report.duration


def pytest_collection_finish() -> None:
    _use("(collecting)")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    try:
        yield
    finally:
        if nextitem is None or nextitem.path != item.path:
            _use(Path(item.location[0]).as_posix())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    everything = sum(_seconds.values())
    if everything < _SHORT_RUN:
        return
    terminalreporter.section("seconds by file, and seconds of processors")
    rows = [
        f"{_seconds[name]:7.1f} {used:7.1f} {name}"
        for name, used in sorted(_used.items(), key=lambda row: -max(row[1], _seconds[row[0]]))[:_LISTED]
    ]
    for row in (*rows, f"{everything:7.1f} {sum(_used.values()):7.1f} all {len(_seconds)} files"):
        terminalreporter.write_line(row)


def _use(name: str) -> None:
    """What was used since this was last asked is that file's; what outlives its parent is left out."""
    now = _cpu_seconds(os.getpid())
    _used[name] += max(0.0, now - _so_far[0])
    _so_far[0] = now


def _cpu_seconds(pid: int) -> float:
    """What a process and those that it started used; nothing if the system does not tell or it is gone."""
    used = 0.0
    with suppress(OSError):
        fields = (_PROCESSES / str(pid) / "stat").read_text().rpartition(")")[2].split()
        used += sum(map(int, fields[_TIMES])) / os.sysconf("SC_CLK_TCK")
        for thread in (_PROCESSES / str(pid) / "task").iterdir():
            used += sum(_cpu_seconds(int(child)) for child in (thread / "children").read_text().split())
    return used
