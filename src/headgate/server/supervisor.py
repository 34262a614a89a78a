"""How do several processes serve one lake? Each listens on the same port, and one sees that all are there.

A process that ends by itself is started again, after a pause that grows; they all end with the first.
"""

import logging
import multiprocessing
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.process import BaseProcess

from headgate.server import run
from headgate.server.operations import logs
from headgate.server.run import ServerPlan

_LOG = logging.getLogger(__name__)
_POLL_SECONDS = 0.1
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
_QUICK_SECONDS = 10.0


def supervise(plan: ServerPlan, tell: Callable[[str], None]) -> None:
    """Serve with as many processes as the settings say, until this one gets SIGTERM or SIGINT."""
    settings = replace(plan.settings, port=plan.settings.port or run.free_port(plan.settings.host))
    run.require_free_port(settings)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    slots = [_WorkerSlot(replace(plan, settings=settings)) for _ in range(settings.workers)]
    told = False
    try:
        while not stop.wait(_POLL_SECONDS):
            for slot in slots:
                slot.keep_alive()
            if not told and run.is_listening(settings):
                told = True
                tell(run.address(settings))
    finally:
        for slot in slots:
            slot.terminate()
        for slot in slots:
            slot.join(settings.drain_seconds * 2 + 30)


class _WorkerSlot:
    """One process of several, started again if it ends."""

    def __init__(self, plan: ServerPlan) -> None:
        self._plan = plan
        self._pause, self._not_before, self._started = _FIRST_PAUSE, 0.0, 0.0
        self._process = self._start()

    def _start(self) -> BaseProcess:
        self._started = time.monotonic()
        # A new interpreter: one that was forked would share locks and connections with this one.
        process = multiprocessing.get_context("spawn").Process(target=_work, args=(self._plan,))
        process.start()
        return process

    def keep_alive(self) -> None:
        """Start it again if it has ended, and its pause is over."""
        if self._process.is_alive():
            return
        now = time.monotonic()
        if not self._not_before:
            self._pause = (
                min(self._pause * 2, _LONGEST_PAUSE) if now - self._started < _QUICK_SECONDS else _FIRST_PAUSE
            )
            self._not_before = now + self._pause
            _LOG.error("a process of the server ended with %s; it is started again", self._process.exitcode)
        elif now >= self._not_before:
            self._not_before, self._process = 0.0, self._start()

    def terminate(self) -> None:
        """Have it stop in good order."""
        if self._process.is_alive():
            self._process.terminate()

    def join(self, seconds: float) -> None:
        """Wait for its end, and make it end after so long."""
        self._process.join(seconds)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


def _work(plan: ServerPlan) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # until it listens: the first process passes on what it gets
    logs.set_up_logs(plan.settings.log_level, plan.settings.log_format)
    run.serve_worker(plan)
