"""What a commit to several tables at once costs, against as many single commits one after another.

Both sides commit the same names of files to the same number of tables of one lake, in turns, on
SQLite and with the defaults; what waits to be published is published between the turns. A group is
ratified in one database transaction, so it is synced once. The rate is that of tables written.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import headgate
from benchmarks.report import Measure, Result, latencies
from headgate.catalog.ports.directory import TableName
from headgate.lake.lake import Lake
from headgate.table.opened_table import OpenedTable
from tests.support.tables import append_change, create_managed, named_file

SIZES = (2, 5, 20)


def run(place: Path, *, quick: bool) -> Iterator[Result]:
    rounds = 2 if quick else 30
    for size in SIZES:
        with closing(headgate.connect(place / f"{size}")) as lake:
            names = [f"s.t{number}" for number in range(size)]
            for name in names:
                create_managed(lake._catalog, TableName(*name.split(".")))
            yield _compared(lake, names, rounds)


def _compared(lake: Lake, names: list[str], rounds: int) -> Result:
    tables = [lake.table(name).log for name in names]
    together, singly = list[float](), list[float]()
    for number in range(-1, rounds):  # the first round warms up
        spent = _timed(lambda: _group(lake, names, f"group-{number}"))  # noqa: B023 — called at once
        _settle(tables)
        alone = _timed(lambda: _single(tables, f"single-{number}"))  # noqa: B023
        _settle(tables)
        if number >= 0:
            together.append(spent)
            singly.append(alone)
    done = rounds * len(names)
    return Result(
        f"group of {len(names)} tables",
        Measure(done / sum(together)),
        Measure(done / sum(singly)),
        (f"together: {latencies(together)}", f"one by one: {latencies(singly)}"),
        peer_name="single commits",
    )


def _group(lake: Lake, names: list[str], path: str) -> None:
    with lake.transaction(names) as tx:
        for name in names:
            table = tx.table(name).log
            table.commit(append_change(named_file(path)), base=table.newest_known())


def _single(tables: list[OpenedTable], path: str) -> None:
    for table in tables:
        table.commit(append_change(named_file(path)), base=table.newest_known())


def _settle(tables: list[OpenedTable]) -> None:
    for table in tables:
        table.publish()


def _timed(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
