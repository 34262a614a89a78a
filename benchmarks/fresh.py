"""One call in a process of its own, so that neither imports nor caches of an earlier one count.

``python -m benchmarks.fresh module:function argument`` is what that process runs.
"""

import importlib
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa

_STATUS = Path("/proc/self/status")


@dataclass(frozen=True, slots=True)
class Call:
    """What a call took, imports left out, and what it answered."""

    seconds: float
    peak_bytes: int
    answer: Any


def call(function: Callable[[str], Any], argument: str) -> Call:
    """Call a function of a module in a new process; its answer must be JSON."""
    name = f"{function.__module__}:{function.__qualname__}"
    command = [sys.executable, "-m", "benchmarks.fresh", name, argument]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return Call(**json.loads(done.stdout))


def middle(calls: list[Call]) -> Call:
    """The median of the times and of the peaks."""
    return Call(
        median(call.seconds for call in calls),
        int(median(call.peak_bytes for call in calls)),
        calls[0].answer,
    )


def described(ours: Call, peer: Call) -> str:
    """Both times, and how far memory grew beyond what imports take."""
    sides = (("ours", ours), ("theirs", peer))
    return "; ".join(
        f"{who} {1000 * call.seconds:,.0f} ms, {call.peak_bytes / 1e6:,.0f} MB" for who, call in sides
    )


def _peak_bytes() -> int:
    if _STATUS.exists():  # what getrusage says includes the process this one was started from
        lines = _STATUS.read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _main(name: str, argument: str) -> None:
    module, _, function = name.partition(":")
    function = getattr(importlib.import_module(module), function)
    pa.scalar(1)  # with it pyarrow imports pandas, if it is installed
    imported = _peak_bytes()
    began = time.perf_counter()
    answer = function(argument)
    seconds = time.perf_counter() - began
    print(json.dumps({"seconds": seconds, "peak_bytes": _peak_bytes() - imported, "answer": answer}))


if __name__ == "__main__":
    _main(*sys.argv[1:])
