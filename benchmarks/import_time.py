"""What a program pays before it does anything: CPU seconds of new processes, against importing Spark's SQL.

``import headgate`` is meant to take at most 1.5 times as long as ``import pyspark.sql``, which such a program
imports anyway, and ``headgate --help`` at most 0.6 s. Names are loaded when they are used, so what it takes
until a table can be opened is measured too; it includes Spark's part. The sides take turns.
"""

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.report import Measure, Result

_PEER = "import pyspark.sql"
_HELP = "import sys; from headgate.cli.main import app; sys.argv = ['headgate', '--help']; app()"
_PROGRAMS = {
    "import headgate": "import headgate",
    "… and at_path": "from headgate import at_path",
    "… and connect": "from headgate import connect",
    "headgate --help": _HELP,
}
_GOALS = {"import headgate": "goal: at most 1.5 times the peer", "headgate --help": "goal: at most 0.6 s"}


def run(place: Path, *, quick: bool) -> Iterator[Result]:
    rounds = 1 if quick else 5
    for program in (_PEER, *_PROGRAMS.values()):
        _cpu_seconds(program, place)  # files are in the page cache, and modules compiled, from here on
    spent: dict[str, list[float]] = {program: [] for program in (_PEER, *_PROGRAMS.values())}
    for _ in range(rounds):
        for program, seconds in spent.items():
            seconds.append(_cpu_seconds(program, place))
    peer = median(spent[_PEER])
    for name, program in _PROGRAMS.items():
        ours = median(spent[program])
        said = f"ours {ours:.2f} s of CPU, theirs {peer:.2f} s, {ours / peer:.2f} times as much"
        notes = (said, _GOALS[name]) if name in _GOALS else (said,)
        yield Result(name, Measure(1 / ours), Measure(1 / peer), notes, peer_name="pyspark.sql")


def _cpu_seconds(program: str, place: Path) -> float:
    """The CPU time, of user and system, of a process that runs a program and nothing else."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", program]
    subprocess.run(command, cwd=place, env=environment(place), stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def environment(place: Path) -> dict[str, str]:
    """That of this process, with compiled modules kept as for any program, whatever it says of that."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": str(place)}
