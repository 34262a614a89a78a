"""Long work tells how far it has come, never fails because of it, and is silent where nobody looks."""

import io
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest
from rich.console import Console
from typing_extensions import override

import headgate
from headgate.progress import reporting
from headgate.progress.reporting import PROGRESS_VARIABLE, Bar, Reporter
from headgate.progress.rich_bars import RichReporter
from headgate.settings import Publish, Settings


@dataclass(slots=True)
class NotedBar(Bar):
    """A bar that remembers."""

    title: str
    total: int
    done: int = 0
    closed: bool = False

    @override
    def advance(self, steps: int) -> None:
        self.done += steps

    @override
    def close(self) -> None:
        self.closed = True


@dataclass(slots=True)
class Notes(Reporter):
    """Every bar there was."""

    bars: list[NotedBar] = field(default_factory=list)

    @override
    def begin(self, title: str, total: int) -> Bar:
        self.bars.append(NotedBar(title, total))
        return self.bars[-1]

    def finished(self) -> dict[str, int]:
        assert all(bar.closed and bar.done == bar.total for bar in self.bars)
        return {bar.title: bar.total for bar in self.bars}


@pytest.fixture
def notes() -> Iterator[Notes]:
    found = Notes()
    with reporting.reporting_to(found):
        yield found


def test_each_item_is_a_step(notes: Notes) -> None:
    with reporting.tracked("count", range(3)) as each:
        assert list(each) == [0, 1, 2]

    assert notes.finished() == {"count": 3}


def test_a_bar_ends_with_the_work_even_if_its_error_is_kept(notes: Notes) -> None:
    def fail() -> None:
        with reporting.tracked("count", range(3)) as each:
            for number in each:
                raise ValueError(number)

    with pytest.raises(ValueError, match="0") as kept:
        fail()

    assert kept.value.__traceback__ is not None
    assert [(bar.done, bar.closed) for bar in notes.bars] == [(0, True)]


def test_one_step_is_not_worth_a_bar(notes: Notes) -> None:
    with reporting.steps("publish", 1) as advance:
        advance(1)

    assert notes.bars == []


class Broken(Reporter):
    """A reporter that fails at everything it is told, or already at the beginning."""

    def __init__(self, *, at_once: bool) -> None:
        self.at_once = at_once
        self.heard = 0

    @override
    def begin(self, title: str, total: int) -> Bar:
        if self.at_once:
            raise OSError("the terminal is gone")
        return self

    def advance(self, steps: int) -> None:
        self.heard += 1
        raise OSError("the terminal is gone")

    def close(self) -> None:
        raise OSError("the terminal is gone")


@pytest.mark.parametrize("at_once", [True, False])
def test_work_goes_on_when_its_progress_cannot_be_shown(at_once: bool) -> None:
    broken = Broken(at_once=at_once)

    with reporting.reporting_to(broken), reporting.tracked("count", range(5)) as each:
        assert list(each) == [0, 1, 2, 3, 4]

    assert broken.heard == (0 if at_once else 1), "who fails once is told no more"


def test_long_work_of_a_lake_is_told(notes: Notes, tmp_path: Path) -> None:
    with headgate.connect(tmp_path, settings=Settings(publish=Publish.ON_DEMAND)) as lake:
        lake.create_schema("s")
        orders = lake.create_table("s.orders", "id BIGINT")
        lake.create_table("s.stock", "id BIGINT")
        for number in range(3):
            orders.append([{"id": number}])
        orders.publish()
        lake.clone("s.orders", "s.copy")
        orders.restore(version=0)
        lake.check()
        lake.worker().run_once()
        orders.vacuum(timedelta(0), enforce_retention=False)
    headgate.recover(tmp_path)

    assert notes.finished() == {
        "publish versions": 3,
        "copy files": 3,
        "check tables": 3,
        "tend tables": 3,
        "delete files": 3,
        "read logs": 3,
        "recover tables": 3,
    }


def test_a_terminal_shows_a_bar_that_vanishes() -> None:
    file = io.StringIO()
    terminal = Console(file=file, force_terminal=True, width=80, color_system=None)

    with (
        reporting.reporting_to(RichReporter(terminal, quiet_seconds=0)),
        reporting.steps("copy [b]files[/b]", 4) as advance,
        reporting.steps("inner", 9) as inner,
    ):
        advance(1)
        inner(2)
    shown = file.getvalue()

    assert "copy [b]files[/b]" in shown
    assert "1/4" in shown
    assert "2/9" in shown
    assert shown.rstrip("\r\n").endswith("\x1b[2K\x1b[?25h"), "the lines are erased, the cursor is back"


def test_short_work_leaves_no_trace_on_a_terminal() -> None:
    file = io.StringIO()
    terminal = Console(file=file, force_terminal=True, width=80)

    reporter = RichReporter(terminal, quiet_seconds=3600)
    with reporting.reporting_to(reporter), reporting.tracked("count", range(1_000)) as each:
        assert len(list(each)) == 1_000

    assert file.getvalue() == ""


PROGRAM = """
import sys
from headgate.progress import reporting
from headgate.progress import rich_bars as bars
bars.RichReporter.__init__.__kwdefaults__["quiet_seconds"] = 0
with reporting.tracked("count", range(3)) as each:
    for number in each:
        print(number, flush=True)
"""


def _run_on_terminal(**environment: str) -> tuple[str, str]:
    """What a program writes to its stdout, a pipe, and to its stderr, a terminal."""
    ours, theirs = os.openpty()
    variables = {**os.environ, "TERM": "xterm", "COLUMNS": "80", **environment}
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=theirs, text=True, env=variables
    ) as program:
        os.close(theirs)
        written, _ = program.communicate()
    with open(ours, "rb", buffering=0) as terminal:
        try:
            shown = terminal.read(65_536)
        except OSError:  # nothing was written, and nobody will
            shown = b""
    return written, shown.decode()


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no terminals")
def test_stderr_has_the_bar_and_stdout_the_data() -> None:
    written, shown = _run_on_terminal()

    assert written == "0\n1\n2\n"
    assert "count" in shown


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no terminals")
def test_the_environment_switches_bars_off() -> None:
    assert _run_on_terminal(**{PROGRESS_VARIABLE: "0"}) == ("0\n1\n2\n", "")


def test_in_a_pipe_nothing_is_drawn_and_rich_is_not_even_loaded() -> None:
    program = (
        "import sys\nfrom headgate.progress import reporting\n"
        "with reporting.tracked('count', range(3)) as each: list(each)\n"
        "assert 'rich' not in sys.modules"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


def test_a_notebook_is_told_by_its_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    class Shell:
        kernel = object()

    class Module:
        get_ipython = staticmethod(Shell)

    assert reporting._default_reporter() is None, "stderr of this test is no terminal"
    monkeypatch.setitem(sys.modules, "IPython", Module)  # type: ignore[arg-type]
    monkeypatch.delenv(PROGRESS_VARIABLE, raising=False)
    assert isinstance(reporting._default_reporter(), RichReporter)

    found: list[Reporter | None] = []
    thread = threading.Thread(target=lambda: found.append(reporting._current_reporter()))
    thread.start()
    thread.join()
    assert found == [None], "what goes on in the background draws nothing"
