"""Small data without Spark: appending one row from a dict, reading ten million, and showing the first ten.

Both sides begin with the row, or with the table, as a user has it: the file is written, made durable and
committed by each in its own way. They take turns, a block each. What Headgate still has to publish at the end
of a block is published before the other's turn.
"""

import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

import numpy as np
import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

import headgate
from benchmarks.import_time import environment
from benchmarks.report import Measure, Result, latencies
from headgate import Table
from headgate.settings import Settings

BLOCK = 25
COLUMNS = "id BIGINT, kind STRING, amount DOUBLE"
SCHEMA = pa.schema([("id", pa.int64()), ("kind", pa.string()), ("amount", pa.float64())])
FILES = 8


def run(place: Path, *, quick: bool) -> Iterator[Result]:
    yield _appends(place, 10 if quick else 300)
    yield _reads(place, 10_000 if quick else 10_000_000, 1 if quick else 3)
    yield _shows(place, 1 if quick else 5)


def _row(number: int) -> dict[str, object]:
    return {"id": number, "kind": "click", "amount": number / 4}


def _appends(place: Path, rows: int) -> Result:
    theirs = str(place / "their-events")
    DeltaTable.create(theirs, schema=SCHEMA)

    def append_there(number: int) -> None:
        write_deltalake(theirs, pa.Table.from_pylist([_row(number)], schema=SCHEMA), mode="append")

    with headgate.connect(place / "lake", settings=Settings()) as lake:
        lake.create_schema("s")
        events = lake.create_table("s.events", COLUMNS)
        events.append([_row(-1)])
        append_there(-1)
        ours, peer = list[float](), list[float]()
        for start in range(0, rows, BLOCK):
            block = range(start, min(start + BLOCK, rows))
            ours += _timed(lambda number: events.append([_row(number)]), block)
            events.publish()
            peer += _timed(append_there, block)
        assert events.to_arrow(["id"]).num_rows == rows + 1
    return Result(
        "append of a dict",
        Measure(1 / median(ours)),
        Measure(1 / median(peer)),
        (f"{rows} rows each; ours {latencies(ours)}", f"theirs {latencies(peer)}"),
    )


def _timed(work: Callable[[int], object], numbers: range) -> list[float]:
    spent = []
    for number in numbers:
        began = time.perf_counter()
        work(number)
        spent.append(time.perf_counter() - began)
    return spent


def _reads(place: Path, rows: int, turns: int) -> Result:
    where = place / "many"
    table = headgate.at_path(where, columns=COLUMNS)
    each = rows // FILES
    for start in range(0, rows, each):
        numbers = pa.array(np.arange(start, min(start + each, rows)), pa.int64())
        kinds = pa.array(["click", "view", "buy", "leave"]).take(pa.array(np.arange(len(numbers)) % 4))
        table.append(pa.table([numbers, kinds, numbers.cast(pa.float64())], schema=SCHEMA))
    ours, peer = list[float](), list[float]()
    for _ in range(turns):
        ours += _timed(lambda _: _read_here(table, rows), range(1))
        peer += _timed(lambda _: _read_there(where, rows), range(1))
    return Result(
        f"to_arrow of {rows:,} rows",
        Measure(1 / median(ours)),
        Measure(1 / median(peer)),
        (f"ours {median(ours):.2f} s, theirs {median(peer):.2f} s, of {FILES} files",),
    )


def _read_here(table: Table, rows: int) -> None:
    assert table.to_arrow().num_rows == rows


def _read_there(where: Path, rows: int) -> None:
    assert DeltaTable(str(where)).to_pyarrow_table().num_rows == rows


def _shows(place: Path, turns: int) -> Result:
    """The table of the appends, of which a new process shows the first rows."""
    told = ["headgate", "show", "s.events", "--rows", "10", "--lake", str(place / "lake")]
    ours = [sys.executable, "-c", f"import sys; from headgate.cli.main import app; sys.argv = {told}; app()"]
    read = f"DeltaTable({str(place / 'their-events')!r}).to_pyarrow_dataset().head(10)"
    # It ends at once: threads of a scan that was not read to its end can keep its interpreter from ending.
    shown = f"print({read}.to_pylist(), flush=True); os._exit(0)"
    peer = [sys.executable, "-c", f"import os; from deltalake import DeltaTable; {shown}"]
    found: dict[int, list[tuple[float, float]]] = {0: [], 1: []}
    for _ in range(turns + 1):
        for side, command in enumerate((ours, peer)):
            found[side].append(_process_seconds(command, place))
    (took, used), (theirs, their_cpu) = (
        (median(seconds for seconds, _ in side[1:]), median(cpu for _, cpu in side[1:]))
        for side in found.values()
    )
    said = f"ours {took:.2f} s, {used:.2f} s of CPU; theirs {theirs:.2f} s, {their_cpu:.2f} s of CPU"
    return Result(
        "headgate show --rows 10", Measure(1 / took), Measure(1 / theirs), (said, "goal: below 1.5 s")
    )


def _process_seconds(command: list[str], place: Path) -> tuple[float, float]:
    """How long a program takes, and its CPU time."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, env=environment(place), stdout=subprocess.DEVNULL, check=True)
    took, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
