"""Rows kept without their lineage; and when is the server told that nobody wants them any more?

With Spark Connect PySpark tells it from a finalizer, by a call over the network. Python's collector may run
that anywhere, inside another such call too, whose lock it then waits for, for ever. So here a finalizer
only makes a note, and the next who keeps rows tells the server.
"""

import weakref
from queue import Empty, SimpleQueue
from typing import Any

from pyspark.sql import DataFrame

from headgate.spark.session import kind

# Of this queue's methods a finalizer may call one whoever else is inside another.
_unwanted: SimpleQueue[tuple[Any, str, Any]] = SimpleQueue()


def checkpoint_rows(rows: DataFrame) -> DataFrame:
    """The rows as they are computed now, for as long as somebody holds the answer."""
    kept = rows.localCheckpoint(eager=True)
    if kind.is_connect(rows):
        _release_unwanted()
        _release_with_frame(kept)
    return kept


def _release_with_frame(kept: DataFrame) -> None:
    relation: Any = getattr(kept, "_plan", None)
    session, name = (getattr(relation, part, None) for part in ("_spark_session", "_relation_id"))
    if session is None or name is None:  # another form than those known: then it is PySpark's alone
        return
    relation._spark_session = None  # without which PySpark's finalizer does nothing
    weakref.finalize(relation, _unwanted.put, (type(relation), name, session)).atexit = False


def _release_unwanted() -> None:
    while True:
        try:
            relation, name, session = _unwanted.get_nowait()
        except Empty:
            return
        relation(name, session)  # nobody holds it, so PySpark tells the server at once
