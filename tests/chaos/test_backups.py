"""A backup taken while ten writers run, by the commands of the page; then all is lost, and restored."""

import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from headgate import Publish, Settings
from headgate.protocol.log import file_names
from headgate.settings import DatabaseSettings
from tests.chaos.counts import AT_A_POINT, LONG
from tests.support import lost, postgresql, tables
from tests.support.lost import LosableLake
from tests.support.waiting import until

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "back-up-and-restore.md"
BLOCK = re.compile(r"^```sh\n# (.*?)\n(.*?)^```", re.DOTALL | re.MULTILINE)
WRITERS, TABLES = 10, ("a.one", "a.two", "b.three")
BEFORE, AFTER = (200, 200) if LONG else (20, 20)
"""How many commits are made before the backup begins, and after it has ended."""
ROUNDS = max(1, AT_A_POINT // 10)

_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(["tests.support.lost"])


@dataclass(frozen=True, slots=True)
class Commit:
    """What a writer was told."""

    table: str
    file: str
    version: int
    is_published: bool
    """Whether the writer was told only after it was published."""


@dataclass(frozen=True, slots=True)
class Fleet:
    """Ten writers, half of which publish at once and half never; each writes down what it was told."""

    lake: LosableLake
    folder: Path
    processes: tuple[BaseProcess, ...]

    def told(self) -> list[Commit]:
        found = []
        for path in sorted(self.folder.glob("*.told")):
            lines = path.read_text().splitlines(keepends=True)
            for line in (line for line in lines if line.endswith("\n")):
                table, file, version = line.split()
                found.append(Commit(table, file, int(version), path.name.startswith("now")))
        return found

    def wait_for(self, more: int) -> None:
        wanted = len(self.told()) + more
        until(lambda: len(self.told()) >= wanted or not all(each.is_alive() for each in self.processes))
        assert all(each.is_alive() for each in self.processes), "a writer failed"

    def stop(self) -> None:
        """Kill a few of each kind, and have the others close their lakes."""
        for process in self.processes[:4]:
            os.kill(process.pid or 0, signal.SIGKILL)
            process.join()
        (self.folder / "stop").touch()
        for process in self.processes[4:]:
            process.join()
            assert process.exitcode == 0


@contextmanager
def a_fleet(lake: LosableLake, folder: Path) -> Iterator[Fleet]:
    folder.mkdir()
    with lake.connect() as found:
        for name in TABLES:
            lost.create_table(found._catalog, name)
    processes = tuple(
        _PROCESSES.Process(target=_write, args=(lake, folder, f"{('now', 'late')[number % 2]}-{number}"))
        for number in range(WRITERS)
    )
    for process in processes:
        process.start()
    try:
        yield Fleet(lake, folder, processes)
    finally:
        for process in processes:
            process.kill()
            process.join()


@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="the page uses the command sqlite3")
@pytest.mark.parametrize("warehouse", ["kept", "lost"] if LONG else ["lost"])
def test_a_folder_backed_up_under_ten_writers_comes_back(tmp_path: Path, warehouse: str) -> None:
    for number in range(ROUNDS):
        place = tmp_path / str(number)
        _play(LosableLake(place / "lake"), place, "folder", loses_files=warehouse == "lost")


@pytest.mark.parametrize("warehouse", ["kept", "lost"] if LONG else ["kept"])
def test_a_postgresql_database_backed_up_under_ten_writers_comes_back(tmp_path: Path, warehouse: str) -> None:
    for number in range(ROUNDS):
        place = tmp_path / str(number)
        with lost.a_lake("postgresql", place / "lake") as lake:
            _play(lake, place, "database", loses_files=warehouse == "lost")


def test_every_command_of_the_page_is_run() -> None:
    found = {title for title, _ in BLOCK.findall(PAGE.read_text())}

    assert found == {f"{verb} a {kind}" for verb in ("back up", "restore") for kind in ("folder", "database")}


def _play(lake: LosableLake, place: Path, kind: str, *, loses_files: bool) -> None:
    backup = place / "backup"
    backup.mkdir(parents=True)
    with a_fleet(lake, place / "told") as fleet:
        fleet.wait_for(BEFORE)
        before = fleet.told()
        _run(f"back up a {kind}", lake, backup)
        if kind == "database" and loses_files:
            _copy_files(lake, backup)
        fleet.wait_for(AFTER)
        fleet.stop()
        told = fleet.told()
    published = _published(lake)

    lake.lose()
    if loses_files:
        shutil.rmtree(lake.warehouse)
        if kind == "database":
            shutil.copytree(backup / "warehouse", lake.warehouse)
    named = _named(_run(f"restore a {kind}", lake, backup))

    assert not lake.recover().changed
    if loses_files:
        told = [each for each in before if each.is_published]
        published = dict.fromkeys(TABLES, 0)
    _compare(lake, told, published, named)


def _named(said: str) -> dict[str, range]:
    """The versions of each table that a recovery says are lost."""
    lost_versions, name = dict.fromkeys(TABLES, range(0)), ""
    for line in said.splitlines():
        if not line.startswith(" "):
            name = line.partition(" ")[0]
        elif found := re.search(r"lost: versions? (\d+)(?: to (\d+))?", line):
            lost_versions[name] = range(int(found[1]), int(found[2] or found[1]) + 1)
    return lost_versions


def _compare(
    lake: LosableLake, told: list[Commit], published: dict[str, int], named: dict[str, range]
) -> None:
    """Nothing that was published is lost or there twice, and what was not is named."""
    with lake.connect() as found:
        for name in TABLES:
            table = lost.opened(found, name)
            version = table.snapshot().version
            assert version >= published[name]
            commits = {commit.version: commit for commit in _commits(table)}
            live = Counter(lost.files(table))
            assert set(live.values()) <= {1}, "doubled"
            for each in (each for each in told if each.table == name):
                if each.version <= version:
                    assert live[each.file] == 1, "lost"
                    assert [add.path for add in commits[each.version].adds] == [f"{each.file}.parquet"]
                else:
                    assert not each.is_published, "lost"
                    assert each.version in named[name], "lost, and not named"
            assert lost.append(table, "after") == version + 1
            assert table.publish() == version + 1
        for report in found.check():
            assert report.is_clean, report.findings


def _commits(table: lost.OpenedTable) -> Iterator[lost.Commit]:
    table.publish()
    for entry in table.history():
        yield lost.published_commit(table, entry.version)


def _published(lake: LosableLake) -> dict[str, int]:
    """How far each table is published."""
    with lake.connect() as found:
        return {
            name: max(
                int(path.stem)
                for path in (Path(lost.opened(found, name).location) / file_names.LOG_FOLDER).glob("0*.json")
            )
            for name in TABLES
        }


def _write(lake: LosableLake, folder: Path, name: str) -> None:
    """Append to all tables in turn until told to stop."""
    publish = Publish.NOW if name.startswith("now") else Publish.ON_DEMAND
    settings = Settings(publish=publish, checkpoints=False, database=DatabaseSettings(connections=2))
    with lake.connect(settings) as found, (folder / f"{name}.told").open("a") as told:
        opened = [(table, lost.opened(found, table)) for table in TABLES]
        for number in range(100_000):
            table, log = opened[number % len(opened)]
            file = f"{name}-{number}"
            add = tables.parquet_file(log.location, f"{file}.parquet", [number])
            version = log.commit(tables.append_change(add), base=log.newest_known())
            told.write(f"{table} {file} {version}\n")
            told.flush()
            if (folder / "stop").exists():
                return
            threading.Event().wait(0.01)


def _copy_files(lake: LosableLake, backup: Path) -> None:
    """What a store does for a warehouse; a file that vanishes meanwhile was hidden, and none of a table's."""
    subprocess.run(["cp", "-a", lake.warehouse, backup], check=False, capture_output=True)


def _run(title: str, lake: LosableLake, backup: Path) -> str:
    """Run the commands of the page as they are; of a recovery, that something may be lost is no failure."""
    commands = dict(BLOCK.findall(PAGE.read_text()))[title]
    programs = [str(Path(sys.executable).parent)]
    if lake.url is not None:
        programs.append(str(postgresql._programs()))
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([*programs, os.environ["PATH"]]),
        "LAKE": str(lake.folder),
        "LAKE_URL": lake.url or "",
        "BACKUP": str(backup),
    }
    ran = subprocess.run(["sh", "-c", commands], env=environment, capture_output=True, text=True, check=False)
    missing = [line for line in ran.stderr.splitlines() if "No such file" not in line]
    assert ran.returncode in (0, 1) and not missing, ran.stdout + ran.stderr
    return ran.stdout
