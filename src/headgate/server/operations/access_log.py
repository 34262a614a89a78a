"""When is the line of a request written? After its answer, with those of the requests that follow at once.

A line costs as much as a tenth of a commit, and nobody waits for it: unlike the audit log, which is written
before the answer leaves, this one tells of what is over. So lines are gathered for a moment and written by a
thread, in the order and with the times of their requests. A server that is killed loses that moment's.
"""

import asyncio
import time
from collections.abc import Mapping
from typing import Any

from headgate import tracing
from headgate.server.operations import logs

_GATHERED_SECONDS = 0.1
_MOST_GATHERED = 1_000


class AccessLog:
    """Gathers the lines of requests; for the thread of one event loop."""

    def __init__(self) -> None:
        self._gathered: list[tuple[float, Mapping[str, Any]]] = []
        self._timer: asyncio.TimerHandle | None = None

    def add(self, fields: Mapping[str, Any]) -> None:
        """A request has its answer: write that down soon."""
        if not logs.writes_access():
            return
        trace = tracing.trace_id()
        self._gathered.append((time.time(), fields if trace is None else {**fields, "trace_id": trace}))
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(_GATHERED_SECONDS, self._write_in_thread, loop)
        elif len(self._gathered) >= _MOST_GATHERED:
            self._timer.cancel()
            self._write_in_thread(asyncio.get_running_loop())

    def write(self) -> None:
        """Write what was gathered now, because the server stops."""
        _write(self._taken())

    def _write_in_thread(self, loop: asyncio.AbstractEventLoop) -> None:
        loop.run_in_executor(None, _write, self._taken())

    def _taken(self) -> list[tuple[float, Mapping[str, Any]]]:
        taken, self._gathered, self._timer = self._gathered, [], None
        return taken


def _write(lines: list[tuple[float, Mapping[str, Any]]]) -> None:
    for moment, fields in lines:
        logs.log_access(fields, moment)
