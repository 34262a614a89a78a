"""How does a Spark session come to know names of a lake in ``spark.sql``, ``spark.table`` and ``df.writeTo``?

This module is the only place where methods of PySpark's own classes are replaced. Each row of
``PATCHED_METHODS`` names some; what takes its place asks first whether the session knows a lake, and
then whether the name is the lake's. If not, Spark's own method is called with the very same arguments,
so that its answers and its errors are Spark's. The methods are replaced once for all sessions, when a
lake is first registered; a session without lakes is served as if nothing had happened. Only public
methods are replaced, of classic Spark and, once there is a session of it, of Spark Connect.
"""

import importlib
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, SparkSession

from headgate.deferred import deferred
from headgate.registration import registered_lakes
from headgate.spark.session import kind
from headgate.sql.run import spark_methods
from headgate.sql.session import builder_calls, named_tables

if TYPE_CHECKING:
    from headgate.sql.run.run import run_in_session
else:
    run_in_session = deferred("headgate.sql.run.run", "run_in_session")  # it brings a parser

Method = Callable[..., Any]
Wrapping = Callable[[Method], Method]


def patch_spark_methods(spark: SparkSession) -> None:
    """Have the classes of this kind of session know lakes; nothing happens if they do."""
    connect = kind.is_connect(spark)
    with _lock:
        for patched in PATCHED_METHODS:
            patched.patch(connect=connect)


def _sql(method: Method) -> Method:
    @wraps(method)
    def sql(self: SparkSession, sqlQuery: str, args: Any = None, **kwargs: Any) -> DataFrame:  # noqa: N803
        if not isinstance(sqlQuery, str) or not registered_lakes.registered_lakes(self):
            return method(self, sqlQuery, args, **kwargs)  # type: ignore[no-any-return]
        return run_in_session(self, sqlQuery, args, kwargs)

    return sql


def _session_table(method: Method) -> Method:
    @wraps(method)
    def table(self: SparkSession, tableName: str) -> DataFrame:  # noqa: N803
        found = named_tables.find_named(self, tableName)
        return method(self, tableName) if found is None else found.read()

    return table


def _reader_table(method: Method) -> Method:
    @wraps(method)
    def table(self: Any, tableName: str) -> DataFrame:  # noqa: N803
        found = named_tables.find_named(_session(self), tableName)
        return method(self, tableName) if found is None else found.read(builder_calls.calls_of(self))

    return table


def _write_to(method: Method) -> Method:
    @wraps(method)
    def writeTo(self: DataFrame, table: str) -> Any:  # noqa: N802
        found = named_tables.find_named(self.sparkSession, table)
        return method(self, table) if found is None else found.writer(self)

    return writeTo


def _save_as_table(method: Method) -> Method:
    @wraps(method)
    def saveAsTable(self: Any, name: str, *args: Any, **kwargs: Any) -> None:  # noqa: N802
        found = named_tables.find_named(_session(self), name)
        if found is None:
            with spark_methods.explained_delta_source(_session(self)):
                return method(self, name, *args, **kwargs)  # type: ignore[no-any-return]
        named_tables.note_save_arguments(self, *args, **kwargs)
        found.save(_rows(self), builder_calls.calls_of(self))
        return None

    return saveAsTable


def _insert_into(method: Method) -> Method:
    @wraps(method)
    def insertInto(self: Any, tableName: str, overwrite: bool | None = None) -> None:  # noqa: N802, N803, FBT001
        found = named_tables.find_named(_session(self), tableName)
        if found is None:
            return method(self, tableName, overwrite)  # type: ignore[no-any-return]
        found.insert(_rows(self), builder_calls.calls_of(self), overwrite)
        return None

    return insertInto


def _table_exists(method: Method) -> Method:
    @wraps(method)
    def tableExists(self: Any, tableName: str, dbName: str | None = None) -> bool:  # noqa: N802, N803
        whole = tableName if dbName is None else f"{dbName}.{tableName}"
        found = named_tables.find_named(_session(self), whole)
        return bool(method(self, tableName, dbName)) if found is None else found.exists()

    return tableExists


@dataclass(frozen=True, slots=True)
class PatchedMethod:
    """One row: a method of classic Spark, the same of Spark Connect, and what takes their place."""

    classic: str
    """The module of the class; that of Spark Connect has ``connect`` in place of ``classic``."""
    connect: str
    owner: str
    methods: tuple[str, ...]
    wrapping: Wrapping

    def patch(self, *, connect: bool) -> None:
        """Replace the methods, unless they are."""
        owner = getattr(importlib.import_module(self.connect if connect else self.classic), self.owner)
        for name in self.methods:
            method = getattr(owner, name, None)  # some versions do not have all
            if method is not None and not hasattr(method, spark_methods.PATCH_MARK):
                replacement = self.wrapping(method)
                setattr(replacement, spark_methods.PATCH_MARK, True)
                setattr(owner, name, replacement)


_SESSION = ("pyspark.sql.session", "pyspark.sql.connect.session", "SparkSession")
_READER = ("pyspark.sql.readwriter", "pyspark.sql.connect.readwriter", "DataFrameReader")
_WRITER = ("pyspark.sql.readwriter", "pyspark.sql.connect.readwriter", "DataFrameWriter")
_FRAME = ("pyspark.sql.classic.dataframe", "pyspark.sql.connect.dataframe", "DataFrame")
_CATALOG = ("pyspark.sql.catalog", "pyspark.sql.connect.catalog", "Catalog")

PATCHED_METHODS: tuple[PatchedMethod, ...] = (
    PatchedMethod(*_SESSION, ("sql",), _sql),
    PatchedMethod(*_SESSION, ("table",), _session_table),
    PatchedMethod(*_READER, builder_calls.READER_CALLS, builder_calls.recording_calls),
    PatchedMethod(*_READER, ("table",), _reader_table),
    PatchedMethod(*_FRAME, ("writeTo",), _write_to),
    PatchedMethod(*_WRITER, builder_calls.WRITER_CALLS, builder_calls.recording_calls),
    PatchedMethod(*_WRITER, ("saveAsTable",), _save_as_table),
    PatchedMethod(*_WRITER, ("insertInto",), _insert_into),
    PatchedMethod(*_CATALOG, ("tableExists",), _table_exists),
)
_lock = threading.Lock()


def _session(held: Any) -> SparkSession:
    """The session of a reader, a writer or a catalog: each kind has it under a name of its own."""
    for name in ("_spark", "_client", "_sparkSession"):
        if name in held.__dict__:
            found: SparkSession = held.__dict__[name]
            return found
    raise AttributeError(f"{type(held).__name__} has no session")


def _rows(writer: Any) -> DataFrame:
    """The rows of a writer, which on Spark Connect has their plan only."""
    rows = writer._df
    if isinstance(rows, DataFrame):
        return rows
    of_connect = importlib.import_module("pyspark.sql.connect.dataframe").DataFrame
    return of_connect(rows, writer._spark)  # type: ignore[no-any-return]
