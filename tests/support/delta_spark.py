"""Delta Spark as a peer: a process with a JVM of its own, started once, that does to a table what it is told.

It checks every checksum it meets, and refuses to write where one is wrong.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import JAVA
from tests.support import delta_jars
from tests.support.plain_rows import Row, load

_PROJECT = Path(__file__).parents[2]


class Refused(Exception):
    """Delta Spark did not do it; ``condition`` is its name of the error, if it has one."""

    def __init__(self, message: str, condition: str) -> None:
        super().__init__(message)
        self.condition = condition


@dataclass(frozen=True)
class Answer:
    """The rows of a statement, as plain values."""

    columns: tuple[tuple[str, str], ...]
    """Names and types."""
    rows: list[Row]

    @property
    def counted(self) -> Counter[Row]:
        return Counter(self.rows)

    @property
    def dicts(self) -> list[dict[str, Any]]:
        names = [name for name, _ in self.columns]
        return [dict(zip(names, row, strict=True)) for row in self.rows]


@dataclass(frozen=True)
class LookBack:
    """A version as it is found later, and what is wrong with its checksum."""

    answer: Answer
    complaint: str | None


@dataclass(frozen=True)
class DeltaSpark:
    """The running peer. A path in SQL is written ``delta.`/the/path```."""

    process: subprocess.Popen[str]
    log: Path

    def sql(self, statement: str, args: Any = None, frames: Mapping[str, str] | None = None) -> Answer:
        """Run a statement, with parameters, and DataFrames as the queries that make them; what it gives."""
        said = self._ask("sql", statement, args, dict(frames or {}))
        columns = tuple((name, kind) for name, kind in said["columns"])
        return Answer(columns, [load(row) for row in said["rows"]])

    def read(self, path: str | Path, version: int | None = None) -> Answer:
        """All rows of a table, now or at a version."""
        then = "" if version is None else f" VERSION AS OF {version}"
        return self.sql(f"SELECT * FROM delta.`{path}`{then}")

    def look_back(
        self, path: str | Path, versions: Sequence[int], extra: Sequence[str] = ()
    ) -> list[LookBack]:
        """Each of these versions with its checksum; ``extra`` is what to select besides its columns.

        Cheaper than :meth:`read` and :meth:`verify`, which both work out the state of a version anew.
        """
        return [
            LookBack(
                Answer(tuple((name, kind) for name, kind in columns), [load(row) for row in rows]), complaint
            )
            for columns, rows, complaint in self._ask("look_back", str(path), list(versions), list(extra))
        ]

    def changes(self, path: str | Path, start: int, end: int) -> Answer:
        """The change data feed from one version to another, both included."""
        return self.sql(f"SELECT * FROM table_changes_by_path('{path}', {start}, {end})")

    def history(self, path: str | Path) -> list[dict[str, Any]]:
        """The versions of a table, the newest first."""
        return self.sql(f"DESCRIBE HISTORY delta.`{path}`").dicts

    def detail(self, path: str | Path) -> dict[str, Any]:
        """What the table is."""
        return self.sql(f"DESCRIBE DETAIL delta.`{path}`").dicts[0]

    def write(self, query: str, path: str | Path, mode: str, options: Mapping[str, str]) -> None:
        """Write the rows of a query with a DataFrame's writer."""
        self._ask("write", query, str(path), mode, dict(options))

    def call(self, path: str | Path, method: str, *arguments: str | int | bool) -> None:
        """Call a method of ``DeltaTable``, where there is no SQL for it."""
        self._ask("call", str(path), method, list(arguments))

    def verify(self, path: str | Path, versions: Iterable[int] | None = None) -> Mapping[int, str | None]:
        """What it has against each checksum of the log, by version; None if it is right.

        Only against those of ``versions``, if they are given.
        """
        return dict(self._ask("verify", str(path), None if versions is None else list(versions)))

    def checkpoint(self, path: str | Path) -> None:
        """Have it write a checkpoint, and see that it did."""
        version = self._ask("checkpoint", str(path))
        assert any(Path(path, "_delta_log").glob(f"{version:020d}.checkpoint.*"))

    def domains(self, path: str | Path) -> Mapping[str, str]:
        """The metadata domains and their configurations."""
        found: dict[str, str] = self._ask("domains", str(path))
        return found

    def set_domain(self, path: str | Path, domain: str, configuration: str) -> None:
        """Have it write a metadata domain."""
        self._ask("set_domain", str(path), domain, configuration)

    def behave(self, packages: Path, name: str, folder: Path) -> Any:
        """What it gives for a behaviour of ``delta.tables``, with its Python part from these packages."""
        return self._ask("behave", str(packages), name, str(folder))

    def run(self, packages: Path, project: Path, folder: Path) -> Any:
        """Run a project of Delta's users; what its ``main`` gives back."""
        return self._ask("run", str(packages), str(project), str(folder))

    def forget(self) -> None:
        """Have it let go of all that it knows of tables."""
        self._ask("forget")

    def _ask(self, request: str, *arguments: Any) -> Any:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"request": request, "arguments": arguments}) + "\n")
        self.process.stdin.flush()
        return self._answer()

    def _answer(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"Delta Spark ended:\n{self.log.read_text(errors='replace')[-4000:]}"
        said = json.loads(line)
        if "refusal" in said:
            raise Refused(said["refusal"], said["condition"])
        return said["answer"]


@contextmanager
def started(folder: Path, *, jars: Path = delta_jars.PLACE, long: bool = False) -> Iterator[DeltaSpark]:
    """The peer, ready; its process and JVM are gone at the end. ``long`` says that it has hours of work.

    A test without it is skipped and says why; on CI, where it has to be, it fails.
    """
    try:
        delta_jars.fetch(jars)
    except delta_jars.Unavailable as exc:
        (pytest.fail if os.environ.get("CI") and delta_jars.fits() else pytest.skip)(str(exc))
    environment = {**os.environ, "TZ": "UTC", "LC_ALL": "C.UTF-8"}
    if JAVA.exists():
        environment.setdefault("JAVA_HOME", JAVA.read_text().strip())
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [
                sys.executable, "-m", "tests.support.delta_spark_child", str(jars), str(folder),
                "long" if long else "short",
            ],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=output, text=True, cwd=_PROJECT,
            env=environment,
        )  # fmt: skip
    peer = DeltaSpark(process, log)
    try:
        assert peer._answer() == "ready"
        yield peer
    finally:
        _stop(process)


def _stop(process: subprocess.Popen[str]) -> None:
    """Its JVM ends with it: either reads its input until the end."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
