"""Which versions of which tables does a DataFrame read? Marks in its plan tell.

Every frame that reads the latest version of a table has a mark where the files of the scan are named, and
whatever is made of the frame has it too. Rows that Spark keeps (a checkpoint), and rows that came through
Python, have lost it.
"""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4
from weakref import WeakValueDictionary

from py4j.protocol import Py4JError
from pyspark.sql import DataFrame

from headgate.protocol.actions import Version
from headgate.protocol.predicates.tree import Predicate
from headgate.spark.session import kind

_PREFIX = "headgate-read-"
_TEXT = re.compile(rf"{_PREFIX}[0-9a-f]{{32}}")
_MAX_RETAINED = 10_000
_PARQUET = "parquet"


@dataclass(frozen=True, slots=True, weakref_slot=True)
class ScanMark:
    """One reading of a table: of which version, and of all its rows or those that may meet a predicate."""

    location: str
    version: Version
    predicate: Predicate | None
    is_stream: bool = False
    """Whether the table is read as a stream, from that version on."""
    text: str = field(default_factory=lambda: f"{_PREFIX}{uuid4().hex}")


_known: WeakValueDictionary[str, ScanMark] = WeakValueDictionary()
# Nothing tells when Spark forgets a plan that names a folder.
_retained: deque[ScanMark] = deque(maxlen=_MAX_RETAINED)


def new_mark(location: str, version: Version, predicate: Predicate | None) -> ScanMark:
    """A mark, known for as long as somebody holds it."""
    mark = ScanMark(location, version, predicate)
    _known[mark.text] = mark
    return mark


def new_stream_mark(location: str, version: Version) -> ScanMark:
    """The mark of a stream out of a table."""
    mark = ScanMark(location, version, None, is_stream=True)
    _known[mark.text] = mark
    return mark


def retain_mark(mark: ScanMark) -> None:
    """Hold a mark, until ten thousand others were held after it."""
    _retained.append(mark)


def marks_in_plan(df: DataFrame) -> tuple[ScanMark, ...]:
    """The marks in the plan of a DataFrame."""
    texts = _texts_in_proto(df) if kind.is_connect(df) else _texts_in_leaves(df)
    return tuple(mark for text in dict.fromkeys(texts) if (mark := _known.get(text)) is not None)


def _texts_in_proto(df: Any) -> Iterator[str]:  # its class takes gRPC to import
    written: bytes = df._plan.plan(df._session.client).SerializeToString()
    for found in re.finditer(_TEXT.pattern.encode(), written):
        yield found[0].decode()


def _texts_in_leaves(df: DataFrame) -> Iterator[str]:
    plan = df._jdf.queryExecution().analyzed()
    yield from _texts_in_plan(plan)
    inner = plan.subqueriesAll()
    for number in range(inner.size()):
        yield from _texts_in_plan(inner.apply(number))


def _texts_in_plan(plan: Any) -> Iterator[str]:
    leaves = plan.collectLeaves()
    # One question first: each of the others takes as long, and most plans read no parquet.
    said = leaves.mkString("\n")
    yield from _TEXT.findall(said)  # of streams
    if _PARQUET not in said:
        return
    for number in range(leaves.size()):
        try:
            files = leaves.apply(number).relation().location()
        except (Py4JError, TypeError):  # another kind of leaf
            continue
        yield from _TEXT.findall(f"{files.toString()} {files.rootPaths().mkString(' ')}")
