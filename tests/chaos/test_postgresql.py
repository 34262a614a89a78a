"""Processes that share a catalog on PostgreSQL, and are killed there."""

import multiprocessing
import os
import signal
import threading
import uuid
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from headgate.catalog.catalog import Catalog
from headgate.catalog.embedded import open_shared_catalog
from headgate.catalog.ports.commits import Ratified, TableId
from headgate.protocol.actions import TxnId, Version
from headgate.protocol.log import codec, file_names
from headgate.settings import Publish, Settings
from headgate.table.opened_table import OpenedTable
from headgate.table.transaction import Change
from tests.support import postgresql, tables
from tests.support.crashing import POINTS, Crash, CrashingCatalog, Route
from tests.support.postgresql import SMALL
from tests.support.proposals import open_version
from tests.support.waiting import PATIENCE_SECONDS

WRITERS, APPENDS = 4, 15
THREADS = 6
STATEMENTS = 4
"""Of a proposal: hold the table, look at it, insert the commit, advance the head."""

AT_THE_DATABASE = ("ratify-before-commit", "ratify-after-commit", "mark-before-commit", "mark-after-commit")
LANDS = {point.name: Route.INLINE in point.lands for point in POINTS if point.name in AT_THE_DATABASE}

_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(["tests.chaos.writer"])


@dataclass(frozen=True, slots=True)
class Errand:
    """What a writer does, where, and where it dies: at a point, or after so many statements."""

    url: str
    warehouse: str
    txn_id: str
    point: str = ""
    statements: int = 0

    def open(self) -> Catalog:
        return open_shared_catalog(self.url, warehouse=self.warehouse, settings=SMALL)

    def table(self, catalog: Any, settings: Settings = tables.ON_DEMAND) -> OpenedTable:
        entry = catalog.resolve(tables.NAME)
        return tables.open_managed(catalog, entry.table_id, entry.location, settings=settings)


@pytest.fixture
def errand(tmp_path: Path) -> Iterator[Errand]:
    server = postgresql.server()
    with server.database() as name:
        made = Errand(server.url(name), str(tmp_path), str(uuid.uuid4()))
        with closing(made.open()) as catalog:
            tables.create_managed(catalog)
        yield made


@pytest.mark.parametrize("point", AT_THE_DATABASE)
def test_a_writer_killed_around_a_database_commit_leaves_the_table_whole(errand: Errand, point: str) -> None:
    killed = Errand(errand.url, errand.warehouse, errand.txn_id, point)

    assert _exit_of(_append, killed) == -signal.SIGKILL

    _check(errand, lands=LANDS[point])


@pytest.mark.parametrize("statements", range(1, STATEMENTS + 1))
def test_a_writer_killed_between_two_statements_has_changed_nothing(errand: Errand, statements: int) -> None:
    """Its row lock goes with it."""
    killed = Errand(errand.url, errand.warehouse, errand.txn_id, statements=statements)

    assert _exit_of(_append, killed) == -signal.SIGKILL

    _check(errand, lands=False)


@pytest.mark.parametrize("point", AT_THE_DATABASE[:2])
def test_proposals_in_one_transaction_that_is_killed_have_one_fate(errand: Errand, point: str) -> None:
    killed = Errand(errand.url, errand.warehouse, errand.txn_id, point)

    assert _exit_of(_propose_together, killed) == -signal.SIGKILL

    with closing(errand.open()) as catalog:
        table_id = catalog.resolve(tables.NAME).table_id
        found = [str(commit.txn_id) for commit in catalog.tail(table_id).commits]
        assert found == ([f"together-{number}" for number in range(THREADS)] if LANDS[point] else [])
        for version, number in enumerate(range(THREADS), 1):
            again = catalog.propose(open_version(table_id, 1, f"together-{number}"))
            assert again == Ratified(Version(version))


def test_every_append_of_many_processes_lands_once_where_its_writer_was_told(tmp_path: Path) -> None:
    """They make the database's schema, too: whoever comes first."""
    server = postgresql.server()
    name = f"test_{uuid.uuid4().hex}"
    server.execute(f"CREATE DATABASE {name}")
    errands = [Errand(server.url(name), str(tmp_path), f"writer-{number}") for number in range(WRITERS)]
    with _PROCESSES.Pool(WRITERS) as writers:
        ids = writers.map_async(_create, errands, chunksize=1).get(PATIENCE_SECONDS)
        told = writers.map_async(_append_all, errands, chunksize=1).get(PATIENCE_SECONDS)

    assert len(set(ids)) == 1
    reports = {file: version for report in told for file, version in report.items()}
    with closing(errands[0].open()) as catalog:
        table = errands[0].table(catalog)
        versions = [Version(number) for number in range(1, table.publish() + 1)]
        logged = [
            codec.decode(version, table.store.read(file_names.published_path(version)))
            for version in versions
        ]
    assert len(versions) == WRITERS * APPENDS
    assert reports == {add.path: commit.version for commit in logged for add in commit.adds}
    server.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _check(errand: Errand, *, lands: bool) -> None:
    """The table goes on, has the killed commit exactly if it landed, and once if the errand is run again."""
    with closing(errand.open()) as catalog:
        table = errand.table(catalog)
        found = catalog.outcome_of(catalog.resolve(tables.NAME).table_id, TxnId(errand.txn_id), Version(1))
        assert isinstance(found, Ratified) == lands
        after = table.commit(tables.append_change(tables.named_file("after")), base=table.snapshot())
        assert after == 1 + lands
        again = table.commit(_change(errand), base=table.newest_known())
        assert again == (1 if lands else 2)
        assert table.publish() == 2
        txn_ids = [entry.info.txn_id or "" for entry in table.history()]
        assert txn_ids.count(TxnId(errand.txn_id)) == 1
        assert len(txn_ids) == 3


def _exit_of(run: Any, errand: Errand) -> int | None:
    process = _PROCESSES.Process(target=run, args=(errand,))
    process.start()
    process.join(PATIENCE_SECONDS)
    return process.exitcode


def _append(errand: Errand) -> None:
    inner = errand.open()
    table = errand.table(CrashingCatalog(inner, Crash(errand.point)), Settings(publish=Publish.NOW))
    base = table.snapshot()
    if errand.statements:
        _die_after(inner, errand.statements)
    table.commit(_change(errand), base=base)


def _die_after(catalog: Catalog, statements: int) -> None:
    left = iter(range(statements - 1))

    @event.listens_for(catalog._database._engine, "after_cursor_execute")
    def executed(*_: object) -> None:
        if next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)


def _propose_together(errand: Errand) -> None:
    """Hold the lane until all wait in it, so that they go in one transaction; die around its commit."""
    catalog = errand.open()
    crashing = CrashingCatalog(catalog, Crash(errand.point))
    table_id = catalog.resolve(tables.NAME).table_id
    grouping = catalog._ratifier._proposals
    work, gate = grouping._work, threading.Event()
    first: list[object] = []

    def held(candidates: Any) -> Any:
        if not first:
            first.append(candidates)
            gate.wait()
            return [Ratified(Version(0)) for _ in candidates]
        assert len(candidates) == THREADS
        return work(candidates)

    grouping._work = held
    threads = [threading.Thread(target=crashing.propose, args=(open_version(table_id, 1, "first"),))]
    threads += [
        threading.Thread(target=crashing.propose, args=(open_version(table_id, 1, f"together-{number}"),))
        for number in range(THREADS)
    ]
    for number, thread in enumerate(threads):
        thread.start()
        while not first or len(grouping._lanes[table_id]) < number:
            threading.Event().wait(0.001)
    gate.set()
    for thread in threads:
        thread.join()


def _create(errand: Errand) -> TableId:
    with closing(errand.open()) as catalog:
        if errand.txn_id == "writer-0":
            tables.create_managed(catalog)
        while not catalog.tables():
            threading.Event().wait(0.01)
        return catalog.resolve(tables.NAME).table_id


def _append_all(errand: Errand) -> dict[str, int]:
    """Append the errand's files through the table layer; the versions reported, by file."""
    with closing(errand.open()) as catalog:
        table = errand.table(catalog, Settings())
        adds = [tables.named_file(f"{errand.txn_id}/{number}") for number in range(APPENDS)]
        told: dict[str, int] = {
            add.path: table.commit(tables.append_change(add), base=table.newest_known()) for add in adds
        }
        table.close()
    return told


def _change(errand: Errand) -> Change:
    change = tables.append_change(tables.named_file("killed"))
    return Change(change.operation, change.actions, txn_id=TxnId(errand.txn_id))
