"""Streams of files with JSON lines, one batch a file, and a program that dies while it writes one.

``python -m tests.support.streams lake source checkpoint point number`` streams the source into a lake's
table ``s.t``, which the first batch makes if there is none, and dies at that point of the batch of that
number: before it is committed, or after.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

import headgate
from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.directory import StagingTable, TableEntry, TableName
from headgate.protocol.actions import AppTransaction, Version
from headgate.table.opened_table import OpenedTable
from headgate.table.read.snapshot import Snapshot
from headgate.table.transaction import Change
from tests.conftest import JAVA

IDS = "id BIGINT, writer STRING"
BEFORE, AFTER = "before", "after"


def feed(folder: Path, *batches: Iterable[Mapping[str, Any]]) -> Path:
    """Add files to a source, the batches of its stream in their order."""
    folder.mkdir(exist_ok=True)
    there = len(list(folder.iterdir()))
    for number, rows in enumerate(batches, start=there):
        path = folder / f"{number:04}.json"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        os.utime(path, (1_700_000_000 + number,) * 2)  # Spark takes the oldest first
    return folder


def ids(start: int, stop: int) -> list[dict[str, Any]]:
    """Rows with these ids."""
    return [{"id": number, "writer": f"w{number}"} for number in range(start, stop)]


def of(spark: SparkSession, folder: Path, *, files: int = 1) -> DataFrame:
    """The stream of a source, with so many files in a batch."""
    return spark.readStream.schema(IDS).option("maxFilesPerTrigger", files).json(str(folder))


def forget(checkpoint: Path, number: int) -> None:
    """Leave a checkpoint as a crash does after the batch was committed to the table."""
    for name in (f"{number}", f".{number}.crc"):
        (checkpoint / "commits" / name).unlink(missing_ok=True)


def run_and_die(lake: Path | str, source: Path, checkpoint: Path, point: str, number: int) -> None:
    """Run the program in a process of its own, and see it die."""
    ran = _run(lake, source, checkpoint, point, number)
    said, _ = ran.communicate()
    assert ran.returncode == -signal.SIGKILL, said[-5_000:]


def run_and_kill(lake: Path | str, source: Path, checkpoint: Path, *, after_s: float) -> None:
    """Run the program in a process of its own, and kill it after some time, if it is not done by then."""
    ran = _run(lake, source, checkpoint, "never", -1)
    try:
        said, _ = ran.communicate(timeout=after_s)
        assert ran.returncode == 0, said[-5_000:]
    except subprocess.TimeoutExpired:
        os.killpg(ran.pid, signal.SIGKILL)
        ran.communicate()


def _run(lake: Path | str, source: Path, checkpoint: Path, point: str, number: int) -> subprocess.Popen[str]:
    java = {"JAVA_HOME": JAVA.read_text().strip()} if JAVA.exists() else {}
    told = [str(lake), str(source), str(checkpoint), point, str(number)]
    return subprocess.Popen(
        [sys.executable, "-m", "tests.support.streams", *told],
        cwd=Path(__file__).parents[2],
        env={**java, **os.environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,  # Spark, which runs in a process of its own, dies with it
    )


def _main(lake: str, source: str, checkpoint: str, point: str, number: str) -> None:
    spark = _session()
    commit, register = OpenedTable.commit, Catalog.register

    def committed(self: OpenedTable, change: Change, *, base: Snapshot) -> Version:
        numbers = [action.version for action in change.actions if isinstance(action, AppTransaction)]
        dies = numbers == [int(number)]
        _die_at(BEFORE, point, dies=dies)
        version = commit(self, change, base=base)
        _die_at(AFTER, point, dies=dies)
        return version

    def registered(self: Catalog, staging: StagingTable, name: TableName) -> TableEntry:
        _die_at(BEFORE, point, dies=number == "0")
        entry = register(self, staging, name)
        _die_at(AFTER, point, dies=number == "0")
        return entry

    OpenedTable.commit = committed  # type: ignore[method-assign]  # where the program dies
    Catalog.register = registered  # type: ignore[method-assign]
    opened = headgate.connect(lake)
    stream = of(spark, Path(source))
    opened.write_stream(stream, "s.t", checkpoint=checkpoint, available_now=True).awaitTermination()
    opened.close()
    spark.stop()


def _session() -> SparkSession:
    settings = {
        "spark.driver.memory": "512m",
        "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
        "spark.ui.enabled": "false",
        "spark.log.level": "OFF",
    }
    builder = SparkSession.builder.master("local[1]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _die_at(here: str, point: str, *, dies: bool) -> None:
    if dies and here == point:
        os.killpg(os.getpgrp(), signal.SIGKILL)


if __name__ == "__main__":
    _main(*sys.argv[1:])
