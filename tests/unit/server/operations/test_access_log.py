"""Lines about requests come after their answers, together, and none is missing when a server stops."""

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from headgate.server.operations import logs
from headgate.server.operations.access_log import AccessLog


@pytest.fixture
def written(caplog: pytest.LogCaptureFixture) -> Callable[[], list[Any]]:
    caplog.set_level(logging.INFO, logs.ACCESS.name)
    return lambda: [
        (vars(each)[logs.FIELDS]["status"], each.created, each.thread)
        for each in caplog.records
        if each.name == logs.ACCESS.name
    ]


def _run(work: Callable[[AccessLog], Coroutine[Any, Any, None]]) -> AccessLog:
    log = AccessLog()
    asyncio.run(work(log))
    return log


def test_lines_are_written_by_a_thread_in_the_order_and_with_the_times_of_their_requests(
    written: Callable[[], list[Any]],
) -> None:
    async def add(log: AccessLog) -> None:
        for status in range(200, 205):
            log.add({"status": status})
            await asyncio.sleep(0.002)
        assert written() == []
        while len(written()) < 5:
            await asyncio.sleep(0.01)

    _run(add)

    statuses, moments, threads = zip(*written(), strict=True)
    assert statuses == (200, 201, 202, 203, 204)
    assert list(moments) == sorted(set(moments))
    assert threading.get_ident() not in threads


def test_many_lines_do_not_wait_for_their_time(
    written: Callable[[], list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headgate.server.operations.access_log._GATHERED_SECONDS", 3600)
    monkeypatch.setattr("headgate.server.operations.access_log._MOST_GATHERED", 3)

    async def add(log: AccessLog) -> None:
        for status in range(200, 207):
            log.add({"status": status})
        while len(written()) < 6:
            await asyncio.sleep(0.01)

    log = _run(add)

    assert sorted(each[0] for each in written()) == list(range(200, 206))
    log.write()
    assert written()[-1][0] == 206


def test_what_was_gathered_is_written_when_the_server_stops(written: Callable[[], list[Any]]) -> None:
    async def add(log: AccessLog) -> None:
        log.add({"status": 200})

    _run(add).write()

    assert [each[0] for each in written()] == [200]


def test_nothing_is_gathered_if_nobody_reads_it(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, logs.ACCESS.name)

    async def add(log: AccessLog) -> None:
        log.add({"status": 200})

    assert _run(add)._gathered == []
