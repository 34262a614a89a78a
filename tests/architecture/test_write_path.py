"""The path of a write that the architecture page tells is the one that a write takes: calls, not only names.

One append is carried out under a profiler, which notes who calls the functions of the page. They are to be
called in the order of the page, each by the row that it says, through exactly the functions that it names.
"""

import re
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest
from pyspark.sql import SparkSession

import headgate
from headgate.catalog.embedded import open_catalog
from headgate.settings import Publish, Settings
from tests.support import tables

ROOT = Path(__file__).parents[2]
SOURCE = f"{ROOT / 'src' / 'headgate'}/"
ROW = re.compile(r"^\| (\d+) \| `([\w/.]+\.py)` \| `([\w.]+)` \| ([^|]+) \|", re.MULTILINE)
THREAD = "a thread"
"""What the page says of a row that no other row calls: it is called where a thread begins."""
_SOON = Settings(publish=Publish.SOON, publish_quiet_seconds=0.0)

Function = tuple[str, str]
"""A file below the package, and the name of a function in it, with its class."""


@dataclass(frozen=True, slots=True)
class Hop:
    """A row of the page."""

    number: int
    function: Function
    caller: int | None
    """The row that calls it; None where a thread or the user's program does."""
    between: tuple[str, ...]
    """The functions through which it is called, outermost first."""
    begins_thread: bool


@dataclass(slots=True)
class Recorder:
    """Notes each call of some functions, with the functions of the package that led to it."""

    wanted: frozenset[Function]
    calls: list[tuple[Function, tuple[Function, ...]]] = field(default_factory=list)

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call":
            return
        function = _function(frame.f_code)
        if function in self.wanted:
            self.calls.append((function, tuple(_callers(frame))))

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record what this thread does, and threads that it starts."""
        before = sys.getprofile()
        threading.setprofile(self)
        sys.setprofile(self)
        try:
            yield
        finally:
            sys.setprofile(before)
            threading.setprofile(None)


def _function(code: CodeType) -> Function | None:
    """A named function of the package; lambdas, comprehensions and inner functions are part of another."""
    if not code.co_filename.startswith(SOURCE) or "<" in code.co_qualname:
        return None
    return code.co_filename.removeprefix(SOURCE), code.co_qualname


def _callers(frame: FrameType) -> list[Function]:
    found: list[Function] = []
    above = frame.f_back
    while above is not None:
        if (function := _function(above.f_code)) is not None:
            found.append(function)
        above = above.f_back
    return found[::-1]


def _page() -> tuple[Hop, ...]:
    page = (ROOT / "ARCHITECTURE.md").read_text()
    rows = ROW.findall(page.partition("## One append, file by file\n")[2].partition("\n## ")[0])
    return tuple(_hop(int(number), (file, function), said) for number, file, function, said in rows)


def _hop(number: int, function: Function, said: str) -> Hop:
    row = re.match(r"\d+", said)
    between = tuple(re.findall(r"`([\w.]+)`", said))
    return Hop(number, function, int(row[0]) if row else None, between, said.startswith(THREAD))


def _problems(hops: Sequence[Hop], recorder: Recorder) -> list[str]:
    """What the page says and the calls do not show; of the first row the caller is outside."""
    functions = {hop.number: hop.function for hop in hops}
    problems, reached = [], 0
    for hop in hops:
        later = range(reached, len(recorder.calls))
        is_it = (at for at in later if recorder.calls[at][0] == hop.function)
        at = next((at for at in is_it if _fits(hop, recorder.calls[at][1], functions)), None)
        if at is None:
            paths = [stack[-4:] for function, stack in recorder.calls if function == hop.function]
            problems.append(f"{hop.number}: {hop.function[1]} is not called as the page says, but by {paths}")
        else:
            reached = at + 1
    return problems


def _fits(hop: Hop, stack: tuple[Function, ...], functions: dict[int, Function]) -> bool:
    names = tuple(name for _, name in stack)
    if hop.begins_thread:
        return names == hop.between
    if hop.caller is None or hop.caller not in functions:
        return True
    direct = len(stack) - len(hop.between) - 1
    return direct >= 0 and stack[direct] == functions[hop.caller] and names[direct + 1 :] == hop.between


def _record_commit(folder: Path, hops: Sequence[Hop]) -> Recorder:
    recorder = Recorder(frozenset(hop.function for hop in hops))
    with closing(open_catalog(folder)) as catalog:
        staging = tables.create_managed(catalog)
        table = tables.open_managed(catalog, staging.table_id, staging.location, settings=_SOON)
        base = table.snapshot()
        change = tables.append_change(tables.named_file("a.parquet"))
        with recorder.recording():
            assert table.commit(change, base=base) == 1
            table._after_commit.close()
    return recorder


def _without_spark(hops: Sequence[Hop]) -> tuple[Hop, ...]:
    return tuple(hop for hop in hops if not hop.function[0].startswith(("lake/", "spark/")))


def test_a_commit_takes_the_path_of_the_page(tmp_path: Path) -> None:
    hops = _without_spark(_page())

    assert len(hops) >= 15
    assert [hop.number for hop in _page()] == list(range(1, len(_page()) + 1))
    assert _problems(hops, _record_commit(tmp_path, hops)) == []


@pytest.mark.parametrize(
    ("file", "function"),
    [
        ("catalog/ratification/shared_log.py", "SharedLogRatifier.ratify"),  # exists, and is not called
        ("catalog/catalog.py", "Catalog.tail"),  # is called, but later, and by others
    ],
)
def test_a_row_that_is_not_on_the_path_is_noticed(tmp_path: Path, file: str, function: str) -> None:
    hops = list(_without_spark(_page()))
    place = next(at for at, hop in enumerate(hops) if hop.function[1] == "Ratifier.ratify")
    hops[place] = replace(hops[place], function=(file, function))

    problems = _problems(hops, _record_commit(tmp_path, hops))

    assert any(problem.startswith(f"{hops[place].number}: {function}") for problem in problems)


@pytest.mark.spark
def test_an_append_takes_the_path_of_the_page(spark: SparkSession, tmp_path: Path) -> None:
    hops = _page()
    recorder = Recorder(frozenset(hop.function for hop in hops))
    lake = headgate.connect(tmp_path, settings=_SOON)
    lake.create_schema("s")
    orders = lake.create_table("s.orders", "id long")
    rows = spark.range(3)
    with recorder.recording():
        orders.append(rows)
        lake.close()

    assert _problems(hops, recorder) == []
