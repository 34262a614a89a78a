"""What ratifying commits costs through ``headgate serve``, for 1, 16 and 64 clients at once.

Every client has a table and a handle of its own, and commits names of files, because nobody reads them.
Beside it there are the same commits in process, by as many threads of one process, a bare loop of synced
inserts into SQLite, and bare HTTP, which is as many bytes sent to an echo; the sides take turns, a round
each. What is ratified is published between the rounds and not counted. Clients are threads of a few
processes, so that it is the server that is measured, which takes tokens as always.
"""

import multiprocessing
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from itertools import product
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from pathlib import Path

import headgate
from benchmarks import bare_http
from benchmarks.report import Measure, Result, latencies
from headgate.catalog.ports.directory import TableName
from headgate.lake.lake import Lake
from headgate.settings import Publish, Settings
from headgate.table.opened_table import OpenedTable
from tests.support import postgresql
from tests.support.serve_process import ServeProcess, serve_process
from tests.support.tables import append_change, create_managed, named_file

PATIENCE_SECONDS = 600
CLIENTS = (1, 16, 64)
_MOST_PROCESSES = 4
_PUBLISH_SECONDS = "3600"
_COMMIT_BYTES = 700

_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(["benchmarks.server_commits"])

SETTINGS = {
    "inline": Settings(publish=Publish.ON_DEMAND),
    "staged": Settings(publish=Publish.ON_DEMAND, inline_limit_bytes=0),
}


@dataclass(frozen=True, slots=True)
class _Door:
    """How a lake is reached."""

    place: str
    token: str | None = None
    warehouse: str | None = None

    def open(self, kind: str) -> Lake:
        return headgate.connect(
            self.place, token=self.token, warehouse=self.warehouse, settings=SETTINGS[kind]
        )


@dataclass(frozen=True, slots=True)
class _Share:
    """What the clients of one process do: each its commits, to a table of its own."""

    door: _Door
    kind: str
    tables: tuple[str, ...]
    commits: int
    name: str


@dataclass(slots=True)
class _Side:
    """Rounds of one side: how long each took, and each commit of it."""

    elapsed: float = 0.0
    seconds: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        return len(self.seconds) / self.elapsed

    @property
    def middle(self) -> float:
        return sorted(self.seconds)[len(self.seconds) // 2]

    def add(self, elapsed: float, seconds: list[float]) -> None:
        self.elapsed += elapsed
        self.seconds += seconds


def run(place: Path, *, quick: bool) -> Iterator[Result]:
    counts, commits, rounds = ((1, 4), 4, 1) if quick else (CLIENTS, 768, 4)
    with _lake_in_folder(place / "sqlite") as doors:
        yield from _compared("SQLite", doors, place, counts, commits, rounds)
    if quick:
        return
    server = postgresql._started()
    if isinstance(server, postgresql.Server):
        with _lake_in_postgresql(server, place / "postgresql") as doors:
            yield from _compared("PostgreSQL", doors, place, counts, commits, rounds)


@contextmanager
def _lake_in_folder(folder: Path) -> Iterator[tuple[_Door, _Door]]:
    folder.mkdir()
    headgate.connect(folder).close()
    flags = ("--publish-seconds", _PUBLISH_SECONDS)
    with serve_process(str(folder), folder, *flags) as process:
        yield _served(process), _Door(str(folder))


@contextmanager
def _lake_in_postgresql(server: postgresql.Server, folder: Path) -> Iterator[tuple[_Door, _Door]]:
    folder.mkdir()
    with server.database() as name:
        place, warehouse = server.url(name), str(folder / "warehouse")
        flags = ("--warehouse", warehouse, "--admin-token-file", str(folder / "token"))
        with serve_process(place, folder, *flags, "--publish-seconds", _PUBLISH_SECONDS) as process:
            yield _served(process), _Door(place, warehouse=warehouse)


def _served(process: ServeProcess) -> _Door:
    return _Door(f"{process.url}/main", token=process.token)


def _compared(
    database: str,
    doors: tuple[_Door, _Door],
    place: Path,
    counts: tuple[int, ...],
    commits: int,
    rounds: int,
) -> Iterator[Result]:
    served, inside = doors
    names = tuple(f"s.t{number}" for number in range(max(counts)))
    with closing(inside.open("inline")) as lake:
        for name in names:
            create_managed(lake._catalog, TableName(*name.split(".")))
    for kind, count in product(SETTINGS, counts):
        with bare_http.serving() as echoing:
            through, within, bare, echo = _Side(), _Side(), _Side(), _Side()
            for number in range(rounds):
                each, chosen = max(commits // count, 1), names[:count]
                bare.add(*_bare_inserts(place / "bare.db", min(commits, 256)))
                echo.add(*bare_http.exchanges(echoing, clients=count, each=each, body=b"x" * _COMMIT_BYTES))
                through.add(*_in_processes(_Share(served, kind, chosen, each, f"through-{number}")))
                _settle(inside, chosen)
                within.add(*_in_threads(_Share(inside, kind, chosen, each, f"within-{number}")))
                _settle(inside, chosen)
            yield _result(f"{count} clients, {kind}, {database}", count, (through, within, bare, echo))


def _result(name: str, count: int, sides: tuple[_Side, _Side, _Side, _Side]) -> Result:
    through, within, bare, echo = sides
    notes = (
        f"served: {latencies(through.seconds)}; in process: {latencies(within.seconds)}",
        f"in process {within.rate:,.0f}/s, {through.rate / within.rate:.2f}×; median latency "
        f"{through.middle / within.middle:.2f} times; bare inserts {bare.rate:,.0f}/s, "
        f"{through.rate / bare.rate:.2f}×",
        f"bare HTTP: {latencies(echo.seconds)}; median {echo.middle / within.middle:.2f} times in process; "
        f"{echo.rate:,.0f}/s, bare inserts {echo.rate / bare.rate:.2f}×",
    )
    peer, peer_name = (within, "in process") if count == 1 else (bare, "bare inserts")
    return Result(name, Measure(through.rate), Measure(peer.rate), notes, peer_name=peer_name)


def _bare_inserts(file: Path, count: int) -> tuple[float, list[float]]:
    with closing(sqlite3.connect(file, isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        database.execute("CREATE TABLE IF NOT EXISTS entry (version INTEGER PRIMARY KEY, content BLOB)")
        content = b"x" * _COMMIT_BYTES
        return _repeated(
            lambda _: database.execute("INSERT INTO entry (content) VALUES (?)", (content,)), count
        )


def _in_threads(share: _Share) -> tuple[float, list[float]]:
    """The clients as threads of this process."""
    together, ends = threading.Barrier(len(share.tables)), list[_End]()
    _clients(share, lambda: together.wait(PATIENCE_SECONDS), ends.append)
    return _together(ends)


def _in_processes(share: _Share) -> tuple[float, list[float]]:
    """The clients as threads of a few processes."""
    processes = min(_MOST_PROCESSES, len(share.tables))
    shares = [
        _Share(share.door, share.kind, share.tables[number::processes], share.commits, share.name)
        for number in range(processes)
    ]
    together, answers = _PROCESSES.Barrier(len(share.tables)), _PROCESSES.Queue()
    started = [_PROCESSES.Process(target=_work, args=(each, together, answers)) for each in shares]
    for process in started:
        process.start()
    ends: list[_End] = [answers.get(timeout=PATIENCE_SECONDS) for _ in share.tables]
    for process in started:
        process.join()
    return _together(ends)


@dataclass(frozen=True, slots=True)
class _End:
    """When a client began and ended, and how long each of its commits took."""

    began: float
    ended: float
    seconds: list[float]


def _together(ends: list[_End]) -> tuple[float, list[float]]:
    elapsed = max(end.ended for end in ends) - min(end.began for end in ends)
    return elapsed, [second for end in ends for second in end.seconds]


def _work(share: _Share, together: Barrier, answers: "Queue[_End]") -> None:
    _clients(share, lambda: together.wait(PATIENCE_SECONDS), answers.put)


def _clients(share: _Share, ready: Callable[[], object], ended: Callable[[_End], None]) -> None:
    with ExitStack() as stack:
        lake = stack.enter_context(closing(share.door.open(share.kind)))
        tables = [lake.table(name).log for name in share.tables]
        threads = [threading.Thread(target=_client, args=(table, share, ready, ended)) for table in tables]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def _client(
    table: OpenedTable, share: _Share, ready: Callable[[], object], ended: Callable[[_End], None]
) -> None:
    def commit(number: int) -> None:
        change = append_change(named_file(f"{share.kind}-{share.name}-{number}"))
        table.commit(change, base=table.newest_known())

    for number in range(3):  # makes the connections, and warms up what the first commits need
        commit(-1 - number)
    ready()
    began = time.monotonic()
    _, seconds = _repeated(commit, share.commits)
    ended(_End(began, time.monotonic(), seconds))


def _repeated(action: Callable[[int], object], count: int) -> tuple[float, list[float]]:
    seconds, began = list[float](), time.monotonic()
    for number in range(count):
        start = time.perf_counter()
        action(number)
        seconds.append(time.perf_counter() - start)
    return time.monotonic() - began, seconds


def _settle(door: _Door, names: tuple[str, ...]) -> None:
    with closing(door.open("inline")) as lake:
        for name in names:
            lake.table(name).publish()
