"""A campaign: many spoiled requests to one server, and what must hold for each and after all of them.

No answer is an error that nobody expected, none takes long for other reasons than load, a table that no
request knows of stays as it is, to the byte, and the others stay whole. The memory has a bound.
"""

import asyncio
import json
import random
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

from headgate.catalog.catalog import Catalog
from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import TableName
from headgate.server.app import ServerParts, create_app
from headgate.server.caller import NoAuthentication
from headgate.server.lakes import ServedLakes
from headgate.server.operations.parts import make_operations
from headgate.server.settings import ServerSettings
from tests.fuzz.mutations import mutate
from tests.fuzz.valid_requests import RecordedRequest, valid_requests
from tests.support import proposals
from tests.support.operated_server import served
from tests.support.tables import create_managed, open_managed

WITNESS = TableName("quiet", "witness")
EXPECTED_500 = ("HEADGATE_COMMIT_UNKNOWN", "CommitStateUnknownException", "COMMIT_STATE_UNKNOWN")
AT_ONCE = 8
LOADED = 20
"""So many times as long as one that asks the database for next to nothing may one take besides."""
AGAIN = 8
"""So often is asked again what took long, before the request is blamed, and not the load of the machine."""


@dataclass
class CampaignReport:
    """What was sent, and what should not have come back."""

    sent: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    routes: set[str] = field(default_factory=set)
    slowest: float = 0.0
    grown_kilobytes: int = 0
    failures: list[str] = field(default_factory=list)


def run_campaign(bodies: int, *, seed: int = 0, each: int = 5_000, seconds: float = 30.0) -> CampaignReport:
    """Send so many bodies, to a new lake after ``each`` of them."""
    report = CampaignReport()
    while report.sent < bodies and len(report.failures) < 20:
        count = min(each, bodies - report.sent)
        with tempfile.TemporaryDirectory(prefix="headgate-fuzz-") as folder:
            _run_round(Path(folder), report, range(report.sent, report.sent + count), seed, seconds)
    return report


def _run_round(folder: Path, report: CampaignReport, numbers: range, seed: int, seconds: float) -> None:
    catalog = open_catalog(folder)
    try:
        create_managed(catalog)
        quiet = create_managed(catalog, WITNESS)
        catalog.propose(proposals.inline(quiet.table_id, 1, "witness"))
        before = _witnessed(catalog, quiet.table_id, quiet.location)
        asyncio.run(_attack(catalog, report, numbers, seed, seconds))
        if _witnessed(catalog, quiet.table_id, quiet.location) != before:
            report.failures.append(f"requests {numbers} changed a table that none of them knew of")
        for entry in catalog.tables():
            table = open_managed(catalog, entry.table_id, entry.location)
            checked = table.check(str(entry.name), keeper=catalog.books(entry.table_id), data=False)
            if entry.table_id == quiet.table_id and not checked.is_clean:
                report.failures.append(f"requests {numbers} left {entry.name} broken: {checked.findings}")
    finally:
        catalog.close()


def _witnessed(catalog: Catalog, table_id: TableId, location: str) -> tuple[Any, ...]:
    files = {path.as_posix(): path.read_bytes() for path in Path(location).rglob("*") if path.is_file()}
    return catalog.tail(table_id), catalog.resolve(WITNESS), files


async def _attack(
    catalog: Catalog, report: CampaignReport, numbers: range, seed: int, seconds: float
) -> None:
    operations = make_operations(ServerSettings())
    lake = served(catalog, operations)
    app = create_app(ServerParts(ServedLakes((lake,)), NoAuthentication(), operations=operations))
    status, body = await _send(app, RecordedRequest("GET", "/schema/openapi.json", b""))
    assert status == 200
    entry = catalog.resolve(TableName("test", "t"))
    seeds = valid_requests(json.loads(body), entry)  # type: ignore[arg-type]
    report.routes |= {f"{request.method} {request.path}" for request in seeds}
    warm = numbers.start + len(numbers) // 4
    grown, waiting = 0, iter(numbers)

    async def work() -> None:
        nonlocal grown
        for number in waiting:
            chooser = random.Random(f"{seed}/{number}")
            request = mutate(chooser.choice(seeds), chooser, seeds)
            await _judge(app, request, number, report, seconds)
            if number == warm:
                grown = _memory()

    await asyncio.gather(*(work() for _ in range(AT_ONCE)))
    report.grown_kilobytes = max(report.grown_kilobytes, _memory() - grown if grown else 0)
    lake.after_commit.close()


async def _judge(
    app: Any, request: RecordedRequest, number: int, report: CampaignReport, seconds: float
) -> None:
    began = time.perf_counter()
    status, body = await _send(app, request)
    took = time.perf_counter() - began
    report.sent += 1
    report.statuses[status] += 1
    report.slowest = max(report.slowest, took)
    if status >= 500 and status != 503 and not any(word.encode() in body for word in EXPECTED_500):
        report.failures.append(f"{number}: {status} for {request}: {body[:300]!r}")
    if took > seconds and await _hangs(app, request, seconds):
        report.failures.append(f"{number}: took {took:.1f} s, and as long {AGAIN} times more: {request}")


async def _hangs(app: Any, request: RecordedRequest, seconds: float) -> bool:
    """Whether it takes so long however often it is asked, and not because the machine has much to do."""
    for _ in range(AGAIN):
        idle = await _timed(app, RecordedRequest("GET", "/ready", b""))
        if await _timed(app, request) <= seconds + LOADED * idle:
            return False
    return True


async def _timed(app: Any, request: RecordedRequest) -> float:
    began = time.perf_counter()
    await _send(app, request)
    return time.perf_counter() - began


async def _send(app: Any, request: RecordedRequest) -> tuple[int, bytes]:
    path, _, query = request.path.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": unquote_to_bytes(path).decode(errors="replace"),
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
        "extensions": {},
        "headers": [
            (b"host", b"h"),
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(request.body)),
        ],
    }
    given: list[dict[str, Any]] = []
    waiting: Iterator[dict[str, Any]] = iter(
        [{"type": "http.request", "body": request.body, "more_body": False}]
    )

    async def receive() -> dict[str, Any]:
        return next(waiting, {"type": "http.disconnect"})

    async def send(message: dict[str, Any]) -> None:
        given.append(message)

    await app(scope, receive, send)
    status = next(message["status"] for message in given if message["type"] == "http.response.start")
    return status, b"".join(message.get("body", b"") for message in given)


def _memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


@contextmanager
def timed() -> Iterator[list[float]]:
    """How long the block took, once it has ended."""
    took: list[float] = []
    began = time.monotonic()
    yield took
    took.append(time.monotonic() - began)
