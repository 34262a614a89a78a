"""Who runs a statement? The catalog and the logs where they suffice; else Spark, started when it is needed.

All that goes to Spark goes there from one thread, so that whoever waits can be interrupted: then the jobs of
the statement are cancelled, and its end is awaited. A commit that is under way is not cut off.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event
from types import TracebackType

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.logger import PySparkLogger
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    CalendarIntervalType,
    DataType,
    MapType,
    StructType,
    UserDefinedType,
    VariantType,
    YearMonthIntervalType,
)

from headgate.cli.shell.answer import StatementAnswer, arrow_answer
from headgate.cli.shell.spark_errors import explain_spark_error
from headgate.lake.lake import Lake
from headgate.sql.run import session_state
from headgate.sql.run.commands.without_spark import answer_without_spark

_CANCEL_EVERY = 0.5
"""Seconds between two attempts to cancel: a statement may begin another job."""

_SPARK_LIMIT = 2**31 - 1
"""No answer of Spark has more rows than this, and none can be asked for."""

_QUERY_LOG = "SQLQueryContextLogger"
_NOT_IN_ARROW = (VariantType, CalendarIntervalType, YearMonthIntervalType, UserDefinedType)


@dataclass(frozen=True, slots=True)
class SparkStarter:
    """How a session is had, and what is said before."""

    start: Callable[[], SparkSession]
    announce: Callable[[], None] = lambda: None


class StatementEngine:
    """Runs the statements of one shell, one after the other."""

    def __init__(self, lake: Lake, starter: SparkStarter) -> None:
        self._lake = lake
        self._starter = starter
        self._spark: SparkSession | None = None
        self._thread = ThreadPoolExecutor(1, "headgate-sql")
        self._is_cancelled = Event()

    def run(self, text: str, most_rows: int | None) -> StatementAnswer:
        """What a statement answers, up to so many rows; KeyboardInterrupt if it was cancelled."""
        if self._spark is None:
            one_more = None if most_rows is None else most_rows + 1
            found = answer_without_spark(self._lake, text, one_more)
            if found is not None:
                return arrow_answer(found, most_rows)
        self._is_cancelled.clear()
        return self._wait(self._thread.submit(self._run_on_spark, text, most_rows))

    @property
    def is_in_transaction(self) -> bool:
        """Whether BEGIN was said, and neither COMMIT nor ROLLBACK."""
        if self._spark is None:
            return False
        return self._thread.submit(session_state.running_transaction, self._spark).result() is not None

    def roll_back(self) -> bool:
        """Roll back what BEGIN began and nothing ended; whether there was such a transaction."""
        is_pending = self.is_in_transaction
        if is_pending:
            self.run("ROLLBACK", None)
        return is_pending

    def __enter__(self) -> "StatementEngine":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._thread.shutdown()

    def _run_on_spark(self, text: str, most_rows: int | None) -> StatementAnswer:
        if self._spark is None:
            self._starter.announce()
            self._spark = self._starter.start()
        if self._is_cancelled.is_set():
            raise KeyboardInterrupt
        try:
            with _quiet_query_log():
                return collect_answer(self._lake.sql(text, spark=self._spark), most_rows)
        except (PySparkException, Py4JError) as exc:
            if self._is_cancelled.is_set():
                raise KeyboardInterrupt from exc
            raise explain_spark_error(exc) from exc

    def _wait(self, job: Future[StatementAnswer]) -> StatementAnswer:
        while True:
            try:
                return job.result(_CANCEL_EVERY if self._is_cancelled.is_set() else None)
            except KeyboardInterrupt:
                if job.done():
                    return job.result()  # it was too late to cancel, or it says that it was
                self._is_cancelled.set()
                self._cancel()
            except TimeoutError:
                if job.done():
                    raise
                self._cancel()

    def _cancel(self) -> None:
        if self._spark is not None:
            self._spark.sparkContext.cancelAllJobs()


@contextmanager
def _quiet_query_log() -> Iterator[None]:
    """Keep PySpark from logging the error of a statement, with the trace of the JVM: the shell tells it."""
    log = PySparkLogger.getLogger(_QUERY_LOG)
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before


def collect_answer(frame: DataFrame, most_rows: int | None) -> StatementAnswer:
    """The rows of a frame, up to so many."""
    names = tuple(frame.columns)
    if not names:
        return StatementAnswer()
    places = [f"c{index}" for index in range(len(names))]  # two columns may have one name
    limited = frame if most_rows is None or most_rows >= _SPARK_LIMIT else frame.limit(most_rows + 1)
    kinds = [field.dataType for field in frame.schema.fields]
    rows: pa.Table = limited.toDF(*places).select(*map(_readable, places, kinds)).toArrow()
    shown = arrow_answer(rows, most_rows)
    return StatementAnswer(names, shown.rows, shown.has_more)


def _readable(place: str, kind: DataType) -> Column:
    """The column, as text if Arrow has no such type."""
    column = F.col(place)
    if not _is_strange(kind):
        return column
    return (F.to_json(column) if isinstance(kind, VariantType) else column.cast("string")).alias(place)


def _is_strange(kind: DataType) -> bool:
    match kind:
        case StructType():
            return any(_is_strange(field.dataType) for field in kind.fields)
        case ArrayType():
            return _is_strange(kind.elementType)
        case MapType():
            return _is_strange(kind.keyType) or _is_strange(kind.valueType)
        case _:
            return isinstance(kind, _NOT_IN_ARROW)
