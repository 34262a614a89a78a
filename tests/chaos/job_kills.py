"""A driver that dies between its Spark jobs and its commit, and what the survivors then find.

``python -m tests.chaos.job_kills <session> <folder> <point> …`` does an errand for each point, in a child
of its own that is killed there, and prints how each ended. With Spark Connect, ``sc://…``, a child is
a new client of a server that lives on; else it is a driver with a JVM, which dies with it.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

import headgate
from headgate import Lake
from headgate.catalog.catalog import Catalog
from headgate.spark.data_files import data_file_writer
from headgate.spark.dml import cdc_files, deletion_vector_files, rewrite
from headgate.spark.write import identity_high_water
from headgate.table.opened_table import OpenedTable
from tests.chaos.zygote import Zygote
from tests.spark.cluster import operations, slow
from tests.spark.cluster.operations import COLUMNS, MERGED, Rows, content, expected
from tests.support import cluster as clusters
from tests.support.changed_tables import FEED, VECTORS
from tests.support.waiting import until

TABLE, OTHER = "s.t", "s.other"
BEFORE: Rows = slow.rows(0, 40)
RIVAL: Rows = slow.rows(200, 205)


@dataclass(frozen=True, slots=True)
class Point:
    """A moment between the first job of an errand and its end."""

    name: str
    errand: str
    owner: Any
    """What has the function at which the driver dies; None if it dies while tasks write rows."""
    function: str = ""
    after: bool = False
    """Whether the function has returned by then."""
    lands: bool = False
    """Whether the errand has happened by then."""
    rival: bool = False
    """Whether somebody else appends rows just before it would commit, with the numbers it gave its own."""


POINTS = {
    point.name: point
    for point in (
        Point("writing", "append", None),
        Point("written", "append", data_file_writer, "_write_parquet", after=True),
        Point("reserved", "append", identity_high_water, "reserve", after=True, rival=True),
        Point("before-rows", "merge", rewrite, "write_rewrite"),
        Point("before-feed", "merge", cdc_files, "write"),
        Point("before-vectors", "merge", deletion_vector_files, "adds_with_vectors"),
        Point("before-commit", "merge", OpenedTable, "commit"),
        Point("ratified", "merge", Catalog, "propose", after=True, lands=True),
        Point("before-group", "transaction", Catalog, "propose_group"),
        Point("group-ratified", "transaction", Catalog, "propose_group", after=True, lands=True),
    )
}


def prepare(spark: SparkSession, folder: Path) -> None:
    """The lake before anybody dies."""
    with headgate.connect(folder) as lake:
        lake.create_schema("s")
        lake.create_table(TABLE, operations.numbered_columns(), properties={**VECTORS, **FEED})
        lake.create_table(OTHER, COLUMNS)
        lake.table(TABLE).append(slow.numbers(spark, 0, 40, "''"))


def run(spark: SparkSession, lake: Lake, errand: str, *, pause_ms: int = 0) -> None:
    """The errand itself."""
    also = slow.pause(pause_ms) if pause_ms else "''"
    if errand == "append":
        lake.table(TABLE).append(slow.numbers(spark, 100, 120, also))
    elif errand == "merge":
        MERGED.run(lake.table(TABLE), spark)
    else:
        with lake.transaction([TABLE, OTHER]) as tx:
            MERGED.run(tx.table(TABLE), spark)
            tx.table(OTHER).append(slow.numbers(spark, 100, 120, also))


def model(before: Rows, errand: str) -> tuple[Rows, Rows]:
    """What both tables have after it."""
    new = slow.rows(100, 120)
    if errand == "append":
        return before | new, {}
    return MERGED.model(before), new if errand == "transaction" else {}


def judge(spark: SparkSession, folder: Path, point: Point) -> None:
    """All of the errand is there or nothing of it, nothing is locked, and what was left over goes."""
    with headgate.connect(folder) as lake:
        tables = lake.table(TABLE), lake.table(OTHER)
        before = BEFORE | RIVAL if point.rival else BEFORE
        _check(spark, tables, model(before, point.errand) if point.lands else (before, {}), point.name)
        if not point.lands:
            run(spark, lake, point.errand)
            _check(spark, tables, model(before, point.errand), f"{point.name}, and then again")
        for table in tables:
            table.append(slow.numbers(spark, 0, 1, "''", tasks=1))
            slow.check_leftovers(lake, table)


def half_written(folder: Path) -> list[Path]:
    """The files of tasks that are not finished."""
    with headgate.connect(folder) as lake:
        return slow.half_written(lake.table(TABLE))


def await_jobs(folder: Path) -> None:
    """Return when there are none: a server goes on with the job of a client that is gone."""
    until(lambda: not half_written(folder))


def _check(spark: SparkSession, tables: Any, both: tuple[Rows, Rows], when: str) -> None:
    for table, rows in zip(tables, both, strict=True):
        assert content(table.read(spark=spark)) == expected(rows), f"{table.name}: {when}"
    operations.check_numbers(tables[0], spark)


def perform(session: str, folder: str, name: str) -> None:
    """Run into the point, and die there."""
    point, lake = POINTS[name], headgate.connect(folder)
    spark = _session(session)
    if point.rival:
        _let_in_a_rival(spark, folder)
    if point.owner is None:
        threading.Thread(target=_die_while_writing, args=(lake.table(TABLE),), daemon=True).start()
    else:
        setattr(point.owner, point.function, _deadly(getattr(point.owner, point.function), after=point.after))
    run(spark, lake, point.errand, pause_ms=100 if point.owner is None else 0)


def _session(session: str) -> SparkSession:
    if session.startswith("sc:"):
        return SparkSession.builder.remote(session).getOrCreate()
    builder = SparkSession.builder.master(session)
    for key, value in {**clusters.SETTINGS, "spark.cores.max": "1"}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _let_in_a_rival(spark: SparkSession, folder: str) -> None:
    """Have somebody else append before the next commit."""
    commit = OpenedTable.commit

    def outrun(self: OpenedTable, *given: Any, **named: Any) -> Any:
        OpenedTable.commit = commit  # type: ignore[method-assign]
        with headgate.connect(folder) as other:
            other.table(TABLE).append(slow.numbers(spark, min(RIVAL), max(RIVAL) + 1, "''"))
        return commit(self, *given, **named)

    OpenedTable.commit = outrun  # type: ignore[method-assign]


def _deadly(function: Callable[..., Any], *, after: bool) -> Callable[..., Any]:
    def dying(*given: Any, **named: Any) -> Any:
        if after:
            function(*given, **named)
        _die()

    return dying


def _die_while_writing(table: headgate.Table) -> None:
    while not slow.half_written(table):
        time.sleep(0.01)
    _die()


def _die() -> None:
    """As ``kill -9`` of everything the driver is; a JVM of its own is in its group."""
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


def _in_a_group(session: str, folder: str, name: str) -> None:
    os.setpgrp()
    perform(session, folder, name)


def main(session: str, folder: str, *points: str) -> None:
    """Each point in a child; the lake for each is below the folder, by its name."""
    zygote = Zygote()
    for name in points:
        print(name, zygote.run(_in_a_group, session, f"{folder}/{name}", name), flush=True)
    zygote.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
