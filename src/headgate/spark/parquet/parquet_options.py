"""How is parquet read and written, whatever the session asks for? With its settings rows might be others.

What a reader takes as an option is one. What a writer takes from the session alone is set there for as long
as anybody writes.
"""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from weakref import WeakKeyDictionary

from pyspark.sql import SparkSession

READ_OPTIONS: Mapping[str, str] = {
    # The session may have these on, and rows would be lost without a word.
    "ignoreMissingFiles": "false",
    "ignoreCorruptFiles": "false",
    "mergeSchema": "false",
    # Delta's days and instants are of the proleptic Gregorian calendar. Spark asks these only of files that
    # do not say that a Spark of the other calendar wrote them.
    "datetimeRebaseMode": "CORRECTED",
    "int96RebaseMode": "CORRECTED",
}
TIMESTAMP_TYPE = "spark.sql.parquet.outputTimestampType"
MICROS = "TIMESTAMP_MICROS"
_CALENDAR = "spark.sql.parquet.datetimeRebaseModeInWrite"


class _SavedSettings:
    """Which settings each session had before those who write changed them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._writers: WeakKeyDictionary[SparkSession, tuple[int, Mapping[str, str | None]]] = (
            WeakKeyDictionary()
        )

    def enter(self, spark: SparkSession) -> None:
        with self._lock:
            count, before = self._writers.get(spark, (0, {}))
            if not count:
                wanted = _settings(spark)
                had = {name: spark.conf.get(name, None) for name in wanted}
                before = {name: had[name] for name, value in wanted.items() if had[name] != value}
                for name in before:
                    spark.conf.set(name, wanted[name])
            self._writers[spark] = (count + 1, before)

    def leave(self, spark: SparkSession) -> None:
        with self._lock:
            count, before = self._writers[spark]
            self._writers[spark] = (count - 1, before)
            if count > 1:
                return
            for name, value in before.items():
                if value is None:
                    spark.conf.unset(name)
                else:
                    spark.conf.set(name, value)


_saved = _SavedSettings()


@contextmanager
def for_writing(spark: SparkSession) -> Iterator[None]:
    """A session in which parquet is written as Delta has it."""
    _saved.enter(spark)
    try:
        yield
    finally:
        _saved.leave(spark)


def _settings(spark: SparkSession) -> Mapping[str, str]:
    calendar = {_CALENDAR: "CORRECTED"}
    return calendar if _honours_write_options(spark.version) else {TIMESTAMP_TYPE: MICROS, **calendar}


def _honours_write_options(version: str) -> bool:
    """Whether Spark takes the type of timestamps from the writer: before 4.2 from the session only."""
    major, minor = version.split(".")[:2]
    return (int(major), int(minor)) >= (4, 2)
