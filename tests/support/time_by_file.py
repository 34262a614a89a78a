"""Which test files took the time of a run? A plugin that lists them at its end, fixtures included."""

from collections import Counter
from pathlib import Path

import pytest

_LISTED = 40
_SHORT_RUN = 60.0
"""Who runs a few tests wants no table of them; below so many seconds there is none."""

_seconds: Counter[str] = Counter()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _seconds[Path(report.location[0]).as_posix()] += report.duration


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    everything = sum(_seconds.values())
    if everything < _SHORT_RUN:
        return
    terminalreporter.section("seconds by file")
    rows = [f"{seconds:7.1f} {name}" for name, seconds in _seconds.most_common(_LISTED)]
    for row in (*rows, f"{everything:7.1f} all {len(_seconds)} files"):
        terminalreporter.write_line(row)
