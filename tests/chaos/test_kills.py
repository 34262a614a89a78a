"""A writer killed at any point of the commit path leaves a table that is whole, and tells no lie."""

import hashlib
import multiprocessing
import shutil
import signal
import sqlite3
import tempfile
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest
from deltalake import DeltaTable

from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.commits import Ratified
from headgate.catalog.targets import DATABASE_FILE, WAREHOUSE_FOLDER
from headgate.errors import TableNotFound
from headgate.protocol.actions import TxnId, Version
from headgate.protocol.log import codec, file_names
from headgate.table.opened_table import OpenedTable
from tests.chaos import writer
from tests.chaos.counts import EVERYWHERE_ELSE, IN_A_LAKE_OF_ITS_OWN
from tests.chaos.writer import Assignment
from tests.support import tables
from tests.support.crashing import COMMIT, PAGE, POINTS, Point, Route, page_with_table
from tests.support.waiting import PATIENCE_SECONDS

APPENDS_MEANWHILE = 5  # few enough that no checkpoint is due

CASES = [
    pytest.param(point, route, id=f"{route.value}-{point.name}") for point in POINTS for route in point.routes
]
COMMITS = [case for case in CASES if case.values[1] in COMMIT and case.values[1] is not Route.OPEN]
CREATIONS = [case for case in CASES if case.values[1] is Route.CREATE]

# Each writer is a process of its own, forked from one that has nothing but the imports.
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(["tests.chaos.writer"])


@dataclass(frozen=True, slots=True)
class Found:
    """A table after a kill, as a fresh connection reads it."""

    latest: Version
    txn_ids: tuple[str, ...]
    """By version."""
    files: frozenset[str]


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder in memory where there is one: a kill is no power cut, so syncing would only take time."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)


@pytest.mark.parametrize(("point", "route"), COMMITS)
def test_a_killed_writer_leaves_the_table_whole(point: Point, route: Route, place: Path) -> None:
    for number in range(EVERYWHERE_ELSE if route is Route.FILESYSTEM else IN_A_LAKE_OF_ITS_OWN):
        assignment = _assignment(point, route, place / str(number))
        table = writer.survivor(route, assignment.folder)
        meanwhile = _kill(assignment, table if number % 2 else None)

        appended = {**meanwhile, **_append(table, "after")}
        _check_the_log(assignment, appended, lands=route in point.lands)
        _check_leftovers(assignment, races=len(meanwhile))
        _check_publishing(assignment)
        if route is not Route.FILESYSTEM:
            _check_running_it_again(assignment)
        shutil.rmtree(assignment.folder)


@pytest.mark.parametrize(("point", "route"), CREATIONS)
def test_a_killed_creator_leaves_a_whole_table_or_none(point: Point, route: Route, place: Path) -> None:
    for number in range(IN_A_LAKE_OF_ITS_OWN // 2):
        assignment = _assignment(point, route, place / str(number))
        _kill(assignment, None)

        catalog = open_catalog(assignment.folder)
        if route not in point.lands:
            with pytest.raises(TableNotFound):
                catalog.resolve(writer.NEW)
            tables.create_managed(catalog, writer.NEW)
        entry = catalog.resolve(writer.NEW)
        table = tables.open_managed(catalog, entry.table_id, entry.location)
        appended = _append(table, "after")

        assert _read(table).txn_ids[1:] == tuple(appended)
        assert table.publish() == 1
        assert [found.name for found in catalog.tables()] == [writer.NEW, tables.NAME]
        _check_leftovers(assignment, races=0)
        catalog.close()
        shutil.rmtree(assignment.folder)


def test_the_reference_page_lists_every_point() -> None:
    page = PAGE.read_text()

    assert page == page_with_table(page), "run: python -m tests.support.crashing"


def _assignment(point: Point, route: Route, folder: Path) -> Assignment:
    writer.prepare(route, str(folder))
    return Assignment(route, point.name, str(folder), TxnId(str(uuid.uuid4())))


def _kill(assignment: Assignment, survivor: OpenedTable | None) -> dict[str, int]:
    """Let the writer run into its death; what the survivor appended meanwhile, by txnId."""
    started = _PROCESSES.Event()
    process: ForkServerProcess = _PROCESSES.Process(target=_run, args=(assignment, started))
    process.start()
    assert started.wait(PATIENCE_SECONDS)
    appended: dict[str, int] = {}
    while survivor is not None and process.is_alive() and len(appended) < APPENDS_MEANWHILE:
        appended |= _append(survivor, f"meanwhile-{len(appended)}")
    process.join(PATIENCE_SECONDS)
    assert process.exitcode == -signal.SIGKILL, f"{assignment.point} was not reached"
    return appended


def _run(assignment: Assignment, started: Event) -> None:
    started.set()
    writer.run(assignment)


def _append(table: OpenedTable, file: str) -> dict[str, int]:
    txn_id = TxnId(str(uuid.uuid4()))
    return {txn_id: writer.append(table, f"{file}.parquet", txn_id)}


def _read(table: OpenedTable) -> Found:
    snapshot = table.snapshot()
    infos = [entry.info.txn_id or "" for entry in reversed(table.history())]
    assert len(infos) == snapshot.version + 1
    files = frozenset(snapshot.files.columns["path"].to_pylist())
    missing = {file for file in files if not (Path(table.location) / file).exists()}
    assert not missing
    return Found(snapshot.version, tuple(infos), files)


def _check_the_log(assignment: Assignment, appended: dict[str, int], *, lands: bool) -> None:
    """The log has each survivor's commit where it was told, and the killed one exactly when it landed."""
    found = _read(writer.survivor(assignment.route, assignment.folder))
    assert len(set(found.txn_ids)) == len(found.txn_ids)
    assert {txn: found.txn_ids.index(txn) for txn in appended} == appended
    assert (assignment.txn_id in found.txn_ids) == lands
    assert (assignment.data_file in found.files) == lands
    assert found.latest == writer.ROWS_BEFORE + len(appended) + lands
    if assignment.route is Route.FILESYSTEM:
        return
    catalog = open_catalog(assignment.folder)
    table_id = catalog.resolve(tables.NAME).table_id
    outcome = catalog.outcome_of(table_id, assignment.txn_id, Version(writer.ROWS_BEFORE + 1))
    catalog.close()
    expected = Ratified(Version(found.txn_ids.index(assignment.txn_id))) if lands else None
    assert (outcome if isinstance(outcome, Ratified) else None) == expected


def _check_leftovers(assignment: Assignment, *, races: int) -> None:
    """Nothing is left but what the killed writer had in its hands, and a staged file for each lost race."""
    allowed = {assignment.data_file: 1, "staged": 1 + races, "hidden": 1, "reserved": 1}
    for kind in _leftovers(assignment):
        allowed[kind] = allowed.get(kind, 0) - 1
    assert {kind: left for kind, left in allowed.items() if left < 0} == {}


def _leftovers(assignment: Assignment) -> Iterator[str]:
    if assignment.route is Route.FILESYSTEM:
        table = writer.survivor(assignment.route, assignment.folder)
        yield from _strays(table, _read(table), frozenset())
        return
    catalog = open_catalog(assignment.folder)
    known = {entry.location: entry.table_id for entry in catalog.tables()}
    for found in (Path(assignment.folder) / WAREHOUSE_FOLDER).iterdir():
        if str(found) not in known:
            yield "reserved"
            continue
        table = tables.open_managed(catalog, known[str(found)], str(found))
        yield from _strays(table, _read(table), frozenset(_ratified_files(assignment.folder)))
    catalog.close()


def _strays(table: OpenedTable, found: Found, staged: frozenset[str]) -> Iterator[str]:
    versions = {
        name
        for version in map(Version, range(found.latest + 1))
        for name in (file_names.published_path(version), file_names.checksum_path(version))
    }
    for path in Path(table.location).rglob("*"):
        name = path.relative_to(table.location).as_posix()
        if path.is_dir() or name in versions or name in found.files:
            continue
        if path.name.startswith(".headgate-"):
            yield "hidden"
        elif name.startswith(file_names.STAGED_FOLDER):
            if path.name not in staged:
                yield "staged"
        else:
            yield name


def _check_publishing(assignment: Assignment) -> None:
    """Everything can be published, as it was ratified; another engine reads it where it may."""
    table = writer.survivor(assignment.route, assignment.folder)
    latest = table.publish()
    if assignment.route is Route.FILESYSTEM:
        other = DeltaTable(assignment.folder)
        assert other.version() == latest == len(_read(table).files)
        return
    digests = _query(assignment.folder, "SELECT version, sha256 FROM commits ORDER BY version")
    assert [version for version, _ in digests] == list(range(latest + 1))
    for version, digest in digests:
        content = table.store.read(file_names.published_path(version))
        codec.decode(version, content)
        assert hashlib.sha256(content).hexdigest() == digest
    assert _query(assignment.folder, "SELECT published FROM tables") == [(latest,)]


def _check_running_it_again(assignment: Assignment) -> None:
    """The killed operation, repeated under its own txnId, is one commit at the version reported."""
    table = writer.survivor(assignment.route, assignment.folder)
    version = writer.append(table, assignment.data_file, assignment.txn_id)

    found = _read(writer.survivor(assignment.route, assignment.folder))
    assert [at for at, txn in enumerate(found.txn_ids) if txn == assignment.txn_id] == [version]


def _ratified_files(folder: str) -> set[str]:
    return {name for (name,) in _query(folder, "SELECT file_name FROM commits") if name is not None}


def _query(folder: str, statement: str) -> list[tuple[object, ...]]:
    database = sqlite3.connect(Path(folder) / DATABASE_FILE)
    try:
        return database.execute(statement).fetchall()
    finally:
        database.close()
