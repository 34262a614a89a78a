"""A history with faults: processes at work on one catalog, some killed, replies lost, the database busy."""

import ctypes
import os
import random
import signal
import sqlite3
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import TableName
from headgate.catalog.targets import DATABASE_FILE
from tests.linear import checker, cycles, group_worker, history
from tests.linear.checker import History, Violation
from tests.linear.cycles import Transaction
from tests.linear.group_worker import GroupWorker
from tests.linear.history import Operation, Told
from tests.linear.owner_worker import Owned, OwnerWorker
from tests.linear.worker import Assignment, Place, Shared, Worker
from tests.support import postgresql, tables
from tests.support.http_proxy import Fault, faulty_proxy, seeded
from tests.support.http_server import serving
from tests.support.tcp_proxy import Cut, wire
from tests.support.waiting import PATIENCE_SECONDS

HTTP = "http-"
FAULTS = "faults"
"""The file in which a proxy says what it did."""
_DIE_WITH_PARENT = 1
_EVERY_KILL_SECONDS = (0.05, 0.4)
_EVERY_CUT_SECONDS = (0.05, 0.3)
_EVERY_LOCK_SECONDS, _LOCKED_SECONDS = (0.05, 0.3), (0.005, 0.03)


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is done, by how many, on how many tables; everything but time follows from the seed."""

    database: str
    seed: str
    operations: int
    processes: int = 8
    tables: int = 8
    kills: int = 10
    groups: bool = False
    """Whether they commit to several tables at once."""
    owned: bool = False
    """Whether a coordinator decides, and no catalog."""

    @property
    def is_http(self) -> bool:
        """Whether all of them ask a server, half of them through a proxy that loses answers."""
        return self.database.startswith(HTTP)


@dataclass(frozen=True, slots=True)
class Result:
    """What came of it."""

    operations: int
    versions: int
    kinds: Mapping[str, int]
    unanswered: int
    kills: int
    violations: tuple[Violation, ...]
    damaged: tuple[str, ...]
    """What ``headgate check`` found in the end."""
    faults: Mapping[str, int] = field(default_factory=dict)
    """What became of requests and answers on the way to a server, and how often."""


def run(plan: Plan, folder: Path) -> Result:
    """Make the history, and check it."""
    result, faults = _run(plan, folder), folder / FAULTS
    told = faults.read_text().split() if faults.exists() else ()
    return replace(result, faults=Counter(told))


def _run(plan: Plan, folder: Path) -> Result:
    records = folder / "records"
    records.mkdir(parents=True)
    with ExitStack() as stack:
        direct = _place(plan, folder, stack)
        if plan.owned:
            return _run_owned(plan, folder, direct, stack)
        with closing(direct.open()) as catalog:
            shared = tuple(_table(catalog, number) for number in range(plan.tables))
        places = (
            _behind_http(plan, direct, folder, stack)
            if plan.is_http
            else (direct, _faulty(plan, direct, stack))
        )
        kills = _work(plan, _assignments(plan, places, str(records), shared))
        with closing(direct.open()) as catalog:
            if plan.groups:
                return _judge_groups(catalog, shared, group_worker.read(records), kills)
            return _judge(catalog, shared, history.read(records), kills)


def _run_owned(plan: Plan, folder: Path, direct: Place, stack: ExitStack) -> Result:
    owned = Owned(direct)
    locations = [str(folder / "tables" / f"t{number}") for number in range(plan.tables)]
    for location in locations:
        owned.create(location)
    shared = tuple(Shared(number, TableId(""), where) for number, where in enumerate(locations))
    records = folder / "records"
    places = (
        _behind_http(plan, direct, folder, stack) if plan.is_http else (direct, _faulty(plan, direct, stack))
    )
    kills = _work(plan, _assignments(plan, places, str(records), shared))
    logs = {number: owned.log(location) for number, location in enumerate(locations)}
    findings = [f"t{number}: {found}" for number in logs for found in owned.findings(locations[number])]
    return _result(logs, history.read(records), kills, findings)


def _place(plan: Plan, folder: Path, stack: ExitStack) -> Place:
    if plan.database.removeprefix(HTTP) == "sqlite":
        return Place(str(folder / "lake"))
    server = postgresql.server()
    name = stack.enter_context(server.database())
    return Place(str(folder / "warehouse"), server.url(name))


def _table(catalog: Catalog, number: int) -> Shared:
    made = tables.create_managed(catalog, TableName("linear", f"t{number}"))
    return Shared(number, made.table_id, made.location)


def _assignments(
    plan: Plan, places: tuple[Place, Place], records: str, shared: tuple[Shared, ...]
) -> list[Assignment]:
    each = plan.operations // plan.processes
    return [
        Assignment(f"p{number}", places[number % 2], records, shared, each, f"{plan.seed}-{number}")
        for number in range(plan.processes)
    ]


def _faulty(plan: Plan, direct: Place, stack: ExitStack) -> Place:
    """The way of every other process: through a wire that breaks, or to a file that others lock."""
    if direct.url is None:
        stack.enter_context(_in_background(lambda: _keep_locking(direct.folder, plan.seed)))
        return direct
    server = postgresql.server()
    reading, writing = os.pipe()
    stack.enter_context(_in_background(lambda: _keep_cutting(server.port, plan.seed, writing)))
    port = int(os.read(reading, 32))
    return replace(direct, url=direct.url.replace(f":{server.port}/", f":{port}/"))


def _behind_http(plan: Plan, direct: Place, folder: Path, stack: ExitStack) -> tuple[Place, Place]:
    """The ways to a server of the catalog: straight, and through a proxy that loses, cuts and repeats."""
    url = _told(stack, lambda told: _keep_serving(direct, told))
    port = int(urlsplit(url).port or 0)
    through = _told(stack, lambda told: _keep_losing(port, plan.seed, folder / FAULTS, told))
    return replace(direct, server=f"{url}/main"), replace(direct, server=f"{through}/main")


def _told(stack: ExitStack, target: Callable[[int], None]) -> str:
    """What a process in the background says once it is ready."""
    reading, writing = os.pipe()
    stack.enter_context(_in_background(lambda: target(writing)))
    os.close(writing)
    return os.read(reading, 256).decode()


def _keep_serving(direct: Place, told: int) -> None:
    with closing(direct.open()) as catalog, serving(catalog) as url:
        os.write(told, url.encode())
        signal.pause()


def _keep_losing(port: int, seed: str, noted: Path, told: int) -> None:
    weights = {fault: 20 if fault is Fault.NONE else 1 for fault in Fault}
    choose, notes = seeded(f"{seed}-answers", weights), os.open(noted, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def choose_and_note(request: bytes) -> Fault:
        fault = choose(request)
        os.write(notes, fault.name.encode() + b"\n")
        return fault

    with faulty_proxy(port, choose_and_note) as proxy:
        os.write(told, proxy.url.encode())
        signal.pause()


@contextmanager
def _in_background(target: Callable[[], None]) -> Iterator[None]:
    """A process of its own, so that this one has no threads when it forks."""
    child = _fork(target)
    try:
        yield
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _fork(target: Callable[[], None]) -> int:
    child = os.fork()
    if child:
        return child
    # Should this process be killed itself, nobody else would end its children.
    with suppress(AttributeError):
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    try:
        target()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _keep_cutting(port: int, seed: str, told: int) -> None:
    chance = random.Random(f"{seed}-cuts")
    with wire(port) as made:
        os.write(told, str(made.entrance).encode())
        while True:
            time.sleep(chance.uniform(*_EVERY_CUT_SECONDS))
            made.arm(chance.choice([b"COMMIT", b"COMMIT", b"SELECT"]), chance.choice(list(Cut)))


def _keep_locking(folder: str, seed: str) -> None:
    chance = random.Random(f"{seed}-locks")
    database = sqlite3.connect(Path(folder) / DATABASE_FILE, isolation_level=None, timeout=PATIENCE_SECONDS)
    while True:
        time.sleep(chance.uniform(*_EVERY_LOCK_SECONDS))
        with suppress(sqlite3.OperationalError):
            database.execute("BEGIN IMMEDIATE")
            time.sleep(chance.uniform(*_LOCKED_SECONDS))
            database.execute("ROLLBACK")


def _work(plan: Plan, assignments: list[Assignment]) -> int:
    """Run all of them; one that is killed goes on under another name, with what it has left to do."""
    running = {_fork(_worker(plan, assignment)): assignment for assignment in assignments}
    try:
        return _oversee(plan, running)
    finally:
        for child in running:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def _oversee(plan: Plan, running: dict[int, Assignment]) -> int:
    chance = random.Random(f"{plan.seed}-kills")
    kills, killed = 0, set[int]()
    while running:
        # The one that is waited for may be another, which was done just then.
        if kills + len(killed) < plan.kills:
            time.sleep(chance.uniform(*_EVERY_KILL_SECONDS))
            os.kill(victim := chance.choice(sorted(running)), signal.SIGKILL)
            killed.add(victim)
        child, status = os.wait()
        killed.discard(child)
        assignment = running.pop(child, None)
        if assignment is None:
            continue
        if os.WIFSIGNALED(status):
            kills += 1
            heir = _heir(assignment)
            running[_fork(_worker(plan, heir))] = heir
        elif status:
            raise AssertionError(f"{assignment.name} failed, see above; seed {plan.seed}")
    return kills


def _worker(plan: Plan, assignment: Assignment) -> Callable[[], None]:
    """Opens its catalog in the child: no connection may be shared."""
    kind = OwnerWorker if plan.owned else GroupWorker if plan.groups else Worker
    return lambda: kind(assignment).run()


def _heir(killed: Assignment) -> Assignment:
    path = Path(killed.records) / f"{killed.name}.jsonl"
    done = path.read_bytes().count(b'\n["b"') + 1 if path.exists() else 0
    return replace(
        killed,
        name=f"{killed.name}x",
        operations=max(0, killed.operations - done),
        seed=f"{killed.seed}x",
    )


def _judge(catalog: Catalog, shared: tuple[Shared, ...], operations: list[Operation], kills: int) -> Result:
    logs = {one.number: _log(catalog, one) for one in shared}
    return _result(logs, operations, kills, list(_damages(catalog, shared)))


def _result(
    logs: Mapping[int, list[str]], operations: list[Operation], kills: int, damaged: list[str]
) -> Result:
    by_table = checker.by_table(operations)
    violations = [
        violation
        for number, log in logs.items()
        for violation in checker.check(History(number, by_table.get(number, ()), log))
    ]
    return Result(
        len(operations),
        sum(map(len, logs.values())),
        Counter(f"{operation.kind.value} {operation.told.value}" for operation in operations),
        sum(operation.told in (Told.UNKNOWN, Told.FAILED) for operation in operations),
        kills,
        tuple(violations),
        tuple(damaged),
    )


def _judge_groups(
    catalog: Catalog, shared: tuple[Shared, ...], transactions: list[Transaction], kills: int
) -> Result:
    logs = {one.number: _log(catalog, one) for one in shared}
    return Result(
        len(transactions),
        sum(map(len, logs.values())),
        Counter(f"{_size(each)} {each.told.value}" for each in transactions),
        sum(each.told is Told.UNKNOWN for each in transactions),
        kills,
        tuple(cycles.check(transactions, logs)),
        tuple(_damages(catalog, shared)),
    )


def _size(transaction: Transaction) -> str:
    read, written = len(transaction.reads), len(transaction.writes)
    return f"{read} read {written} written"


def _log(catalog: Catalog, one: Shared) -> list[str]:
    rows = catalog.books(one.table_id).read().rows
    return [str(row.txn_id).partition(group_worker.OF)[0] for row in rows]


def _damages(catalog: Catalog, shared: tuple[Shared, ...]) -> Iterator[str]:
    for one in shared:
        report = tables.open_managed(catalog, one.table_id, one.location).check(
            f"t{one.number}", keeper=catalog.books(one.table_id), data=False
        )
        # Timestamps are counted on here from a far day, so that their order can be told.
        others = [finding for finding in report.findings if finding.rule != "timestamp-ahead"]
        yield from (f"t{one.number}: {finding}" for finding in others if not report.is_clean)
