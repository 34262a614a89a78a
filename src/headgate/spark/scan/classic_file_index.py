r"""How a classic Spark session is handed a list of files: an index that Spark asks while it plans.

The index is a class of Python that Spark calls by py4j, as it calls the functions of foreachBatch;
no jar is shipped, and executors never see it. It is told the filters of a query, so files are
skipped whatever a DataFrame goes through before it runs. It lives as long as the JVM's side of it,
which tells py4j when it collects it; so the index itself must not hold that side.

A table has two files, with the ids 0 to 9 and 100 to 109. For ``WHERE id > 100`` Spark asks ``listFiles``,
its filters are written down as

    [["IsNotNull",["column","id"]],["GreaterThan",["column","id"],["literal","long",100]]]

and ``skip`` answers ``b"\x00\x01"``: Spark is given the second file alone, and plans tasks for that.

``benchmarks/scan.py``, where it plans 20,000 files, and ``benchmarks/many_files.py`` measure it.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache, reduce
from itertools import compress
from threading import Lock, local
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from py4j.clientserver import ClientServer
from py4j.java_gateway import JavaObject
from pyspark import SparkContext
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import LongType, StringType, StructField, StructType

from headgate.spark.jvm.arrays import JvmArrays, MethodHandles, little_endian_longs
from headgate.spark.jvm.proxies import ProxyFactory
from headgate.spark.parquet import parquet_options
from headgate.spark.predicates import catalyst_json
from headgate.spark.scan.scan_cache import SoftReferences
from headgate.spark.scan.scan_marks import ScanMark

FileSkipper = Callable[[str], bytes | None]
"""Which files the filters in a question leave, a byte for each; None if it cannot be said."""

_log = logging.getLogger(__name__)
# Spark's parquet reader fills a column of this name; it is what its _metadata.row_index is made of.
ROW_INDEX = StructField("_tmp_metadata_row_index", LongType())
_MAX_FILTER_JSON = 1 << 20
_MOST_IN_A_SET = 1000
_BETWEEN_VALUES = "\x1f\x1e\x1f"
_INDEX = "org.apache.spark.sql.execution.datasources.FileIndex"
_PATH, _STATUS = "org.apache.hadoop.fs.Path", "org.apache.hadoop.fs.FileStatus"
_DIRECTORY = "org.apache.spark.sql.execution.datasources.PartitionDirectory"
_ROW, _UTF8 = "org.apache.spark.sql.catalyst.InternalRow", "org.apache.spark.unsafe.types.UTF8String"
_GENERIC_ROW = "org.apache.spark.sql.catalyst.expressions.GenericInternalRow"
_PREDICATE = "org.apache.spark.sql.catalyst.expressions.BasePredicate"
_NO_DIRECTORY = (False, 1, 128 * 1024 * 1024)
"""Of a file: that it is no directory, how often it is stored, and in blocks of which size."""
_starting, _answers = Lock(), local()


@dataclass(frozen=True, slots=True)
class FileListing:
    """Files, and numbers that the rows of each have in columns of their own."""

    uris: pa.StringArray
    sizes: pa.Int64Array
    modified_ms: pa.Int64Array
    columns: Sequence[tuple[str, pa.Int64Array]]
    uri_columns: tuple[str, str] | None = None
    """The names of two more columns, with the URI of the file: as Spark's ``_metadata`` spells it, and as
    it is given here."""
    mark: ScanMark | None = None
    """What the plan is to tell of the reading."""
    soft_references: SoftReferences | None = None
    """Where what the JVM makes of them is kept for the next scan of the same files and columns."""
    access: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The options with which they are reached."""
    is_streaming: bool = False
    """Whether they are a batch of a stream, which Spark asks to be told."""

    @property
    def key(self) -> tuple[str, ...]:
        """What tells it from others of the same files."""
        return (*(name for name, _ in self.columns), *(self.uri_columns or ()))


class FileIndexUnavailable(Exception):
    """This session cannot be given such an index."""


def scan(
    spark: SparkSession, wanted: StructType, listing: FileListing, skip: FileSkipper | None
) -> DataFrame:
    """The rows of files as they are stored, with the numbers of their files."""
    driver, session = _driver(spark), spark._jsparkSession
    index = _FileIndex(driver, listing, _jvm_files(driver, spark.sparkContext, listing), skip)
    stored, constants = driver.schema(wanted), index.partitionSchema()
    known = driver.answering(index, index.constants)
    options = driver.scala_options(listing.access) if listing.access else driver.options
    relation = driver.relation(known, constants, stored, driver.nothing, driver.parquet, options, session)
    index.known_as(known)
    if listing.is_streaming:
        return DataFrame(driver.frames.ofRows(session, driver.leaves.apply(relation, True)), spark)  # noqa: FBT003
    return DataFrame(session.baseRelationToDataFrame(relation), spark)


def hide_last_column(df: DataFrame) -> DataFrame:
    """The same frame with its last column there only for those who name it, as ``_metadata`` is."""
    spark = df.sparkSession
    driver = _driver(spark)
    project = driver.jvm.org.apache.spark.sql.catalyst.plans.logical.Project
    everything = df._jdf.queryExecution().analyzed()
    shown = project(everything.output().init(), everything)
    shown.setTagValue(project.hiddenOutputTag(), everything.output().takeRight(1))
    return DataFrame(driver.frames.ofRows(df._jdf.sparkSession(), shown), spark)


class _DriverJvm:
    """What indexes are made of in the JVM of a driver."""

    def __init__(self, gateway: Any) -> None:
        self.jvm = jvm = gateway.jvm
        self.functions = f = MethodHandles(gateway)
        self.arrays = JvmArrays(gateway, f)
        self.nothing = jvm.scala.Option.empty()
        self.seq = jvm.scala.collection.immutable.ArraySeq.unsafeWrapArray
        datasources = jvm.org.apache.spark.sql.execution.datasources
        self.relation, self.parquet = datasources.HadoopFsRelation, datasources.parquet.ParquetFileFormat()
        self.frames, self.leaves = (
            jvm.org.apache.spark.sql.classic.Dataset,
            getattr(getattr(datasources, "LogicalRelation$"), "MODULE$"),
        )
        self.weak, self.soft = jvm.java.lang.ref.WeakReference, jvm.java.lang.ref.SoftReference
        self.objects = f.named("java.lang.Object")
        self.options = self.scala_options({})
        self.types, self.catalyst = jvm.org.apache.spark.sql.types.DataType, jvm.org.apache.spark.sql.catalyst
        self.plans = self.catalyst.trees.TreePattern.PLAN_EXPRESSION()
        self.list, self.answering = self.catalyst.expressions.CreateArray, ProxyFactory(gateway, f, _INDEX)
        self.path, self.directory = f.named(_PATH), f.named(_DIRECTORY)

        path = f.then(
            f.static("java.net.URI", "create", "(Ljava/lang/String;)Ljava/net/URI;"),
            f.constructor(_PATH, "(Ljava/net/URI;)V"),
        )
        file = f.fixed(f.constructor(_STATUS, f"(JZIJJ{_descriptor(_PATH)})V"), 1, *_NO_DIRECTORY)
        path_of = f.method(_STATUS, "getPath", f"(){_descriptor(_PATH)}")
        uri_of = f.then(
            f.method(_PATH, "toUri", "()Ljava/net/URI;"),
            f.method("java.net.URI", "toString", "()Ljava/lang/String;"),
        )
        again = f.then(
            f.method(_PATH, "toString", "()Ljava/lang/String;"),
            f.constructor(_PATH, "(Ljava/lang/String;)V"),
        )
        uri = f.then(path_of, uri_of)
        text = f.static(_UTF8, "fromString", f"(Ljava/lang/String;){_descriptor(_UTF8)}")
        self.new_files, self.uris = f.each(f.with_last(file, path)), f.each(uri)
        self.internal_uris = (f.each(f.then(path_of, again, uri_of, text)), f.each(f.then(uri, text)))
        self._new_row = f.constructor(_GENERIC_ROW, "([Ljava/lang/Object;)V")
        self.new_directory = f.static(
            _DIRECTORY, "apply", f"({_descriptor(_ROW)}[{_descriptor(_STATUS)}){_descriptor(_DIRECTORY)}"
        )
        self.new_directories = f.each(f.spread(self.new_directory, f.named(_STATUS)))
        self.values_of = f.method(_DIRECTORY, "values", f"(){_descriptor(_ROW)}")
        self.is_true = f.method(_PREDICATE, "eval", f"({_descriptor(_ROW)})Z")

    @cache  # noqa: B019 - it lasts as long as what it is a method of
    def new_rows(self, numbers: int, texts: int) -> JavaObject:
        """What makes rows of so many bigints, and strings after them."""
        kinds = [self.jvm.java.lang.Long.TYPE] * numbers + [self.functions.named(_UTF8)] * texts
        return self.functions.each(self.functions.spread(self._new_row, *kinds))

    def scala_options(self, more: Mapping[str, str]) -> JavaObject:
        """The options of every scan, and more."""
        options = {**parquet_options.READ_OPTIONS, **more}
        return self.jvm.org.apache.spark.api.python.PythonUtils.toScalaMap(options)

    def schema(self, of: StructType) -> JavaObject:
        return self.types.fromJson(of.json())


def _descriptor(owner: str) -> str:
    """A class, in a signature."""
    return f"L{owner.replace('.', '/')};"


def _jvm_files(driver: _DriverJvm, context: SparkContext, listing: FileListing) -> JavaObject:
    """An array of the files, their directories, and these as a sequence; kept where the listing says."""
    known = None if listing.soft_references is None else listing.soft_references.get(context, listing.key)
    if known is not None:
        return known
    arrays, count = driver.arrays, len(listing.uris)
    numbers = [arrays.longs(little_endian_longs(some)) for some in (listing.sizes, listing.modified_ms)]
    files = arrays.map(driver.new_files, count, *numbers, arrays.texts(listing.uris))
    directories = (
        _directory_per_file(driver, listing, files) if listing.key else _one_directory(driver, files)
    )
    made = arrays.of(driver.objects, files, directories, driver.seq(directories))
    if listing.soft_references is not None:
        listing.soft_references.put(context, listing.key, driver.soft(made))
    return made


def _one_directory(driver: _DriverJvm, files: JavaObject) -> JavaObject:
    """One directory with all the files, which have no columns of their own."""
    no_values = driver.catalyst.InternalRow.empty()
    made = driver.new_directory.invokeWithArguments([no_values, files])
    return driver.arrays.of(driver.directory, made)


def _directory_per_file(driver: _DriverJvm, listing: FileListing, files: JavaObject) -> JavaObject:
    """A directory for each file, with the values of its columns."""
    arrays, count = driver.arrays, len(listing.uris)
    values = [arrays.longs(little_endian_longs(numbers)) for _, numbers in listing.columns]
    if listing.uri_columns is not None:
        values += [arrays.map(uris, count, files) for uris in driver.internal_uris]
    new_rows = driver.new_rows(len(listing.columns), len(values) - len(listing.columns))
    rows = arrays.map(new_rows, count, *values)
    return arrays.map(driver.new_directories, count, rows, files)


class _FileIndex:
    """The files of a scan, as Spark asks for them."""

    def __init__(
        self, driver: _DriverJvm, listing: FileListing, in_jvm: JavaObject, skip: FileSkipper | None
    ) -> None:
        self._driver, self._skip, self._mark = driver, skip, listing.mark
        self._count, self._bytes = len(listing.uris), pc.sum(listing.sizes).as_py() or 0
        # Each row has all of them, and what cannot be null need not be asked whether it is.
        names = StructType([StructField(name, LongType(), nullable=False) for name, _ in listing.columns])
        for name in listing.uri_columns or ():
            names = names.add(name, StringType())
        self._columns, self._is_apart = driver.schema(names), bool(names.fields)
        # Whatever can fail does so now, while there is another binder to fall back on.
        self._files, self._directories, self._all = (in_jvm[number] for number in range(3))
        self._no_paths = driver.seq(driver.arrays.of(driver.path))
        self._itself: Any = None

    @property
    def constants(self) -> Mapping[str, JavaObject]:
        """What need not be asked here, by the names of methods: some are called many times a query."""
        return {
            "rootPaths": self.rootPaths(),
            "partitionSchema": self.partitionSchema(),
            "metadataOpsTimeNs": self.metadataOpsTimeNs(),
        }

    def known_as(self, proxy: JavaObject) -> None:
        """What this is in the JVM."""
        self._itself = self._driver.weak(proxy)

    def listFiles(self, partitionFilters: JavaObject, dataFilters: JavaObject) -> JavaObject:
        kept = self._kept(dataFilters)
        if kept is None and partitionFilters.isEmpty():
            return self._all
        found = self._directories if kept is None else self._only(kept)
        if not partitionFilters.isEmpty():
            found = self._selected(found, partitionFilters)
        return _keep_alive(self._driver.seq(found))

    def rootPaths(self) -> JavaObject:
        return self._no_paths

    def inputFiles(self) -> JavaObject:
        return _keep_alive(self._driver.arrays.map(self._driver.uris, self._count, self._files))

    def refresh(self) -> None:
        """The files of a version stay what they are."""

    def sizeInBytes(self) -> int:
        return self._bytes

    def partitionSchema(self) -> JavaObject:
        return self._columns

    def metadataOpsTimeNs(self) -> JavaObject:
        return self._driver.nothing

    def toString(self) -> str:
        return "headgate" if self._mark is None else self._mark.text

    def hashCode(self) -> int:
        return id(self) & 0x7FFF_FFFF

    def equals(self, other: Any) -> bool:
        return bool(self._itself.refersTo(other))

    def _kept(self, filters: JavaObject) -> bytes | None:
        """For each file whether it may have rows that filters select; None if any may."""
        if self._skip is None or filters.isEmpty():
            return None
        try:
            text = msgspec.json.encode(_filter_trees(self._driver, filters)).decode()
            answer = None if len(text) > _MAX_FILTER_JSON else self._skip(text)
        except Exception:
            # Files are skipped for speed alone: Spark applies these filters to every row.
            _log.exception("no files are skipped: what the filters of a query say was not understood")
            return None
        is_some = answer is not None and len(answer) == self._count and b"\0" in answer
        return answer if is_some else None

    def _only(self, kept: bytes) -> JavaObject:
        chosen = list(compress(range(self._count), kept))
        if self._is_apart:
            return self._driver.arrays.choose(self._directories, chosen)
        return _one_directory(self._driver, self._driver.arrays.choose(self._files, chosen))

    def _selected(self, directories: JavaObject, filters: JavaObject) -> JavaObject:
        """Those for whose columns all filters are true, to the letter: Spark leaves these to the index."""
        driver, catalyst = self._driver, self._driver.catalyst
        condition = reduce(catalyst.expressions.And, [filters.apply(i) for i in range(filters.size())])
        attributes = catalyst.types.DataTypeUtils.toAttributes(self._columns)
        used = condition.references().toSeq()
        for attribute in (used.apply(i) for i in range(used.size())):
            attributes = attributes.updated(self._columns.fieldIndex(attribute.name()), attribute)
        bound = catalyst.expressions.BindReferences.bindReference(
            condition,
            getattr(catalyst.expressions, "package$AttributeSeq")(attributes),
            False,  # noqa: FBT003 - whether one may be missing
        )
        predicate = catalyst.expressions.Predicate.createInterpreted(bound)
        predicate.initialize(0)
        is_true = driver.functions.then(driver.values_of, driver.is_true.bindTo(predicate))
        flags = driver.arrays.flags(is_true, directories)
        return driver.arrays.choose(directories, list(compress(range(len(flags)), flags)))

    class Java:
        """What py4j asks for."""

        implements = (_INDEX,)


def _keep_alive(answer: JavaObject) -> JavaObject:
    """An answer, kept until the thread's next: py4j may else drop it before the JVM has taken it."""
    _answers.last = answer
    return answer


def _filter_trees(driver: _DriverJvm, filters: JavaObject) -> list[Any]:
    # All in one expression, because every call of the JVM takes its time.
    together = driver.list(filters, False)  # noqa: FBT003 - which type it has if there is none
    if not _is_too_long(driver, together):
        return catalyst_json.parse_expression(together.toJSON(), _JvmLiteralValues(together))[1:]
    alone = [filters.apply(i) for i in range(filters.size())]
    return [
        ["?"]
        if _is_too_long(driver, one)
        else catalyst_json.parse_expression(one.toJSON(), _JvmLiteralValues(one))
        for one in alone
    ]


def _is_too_long(driver: _DriverJvm, expression: JavaObject) -> bool:
    """Whether it has a plan, or the literal with which deleted rows are found: long to write, of no use."""
    names = expression.references().toString()
    return ROW_INDEX.name in names or expression.containsPattern(driver.plans)


@dataclass(frozen=True, slots=True)
class _JvmLiteralValues:
    expression: JavaObject

    def of_literal(self, number: int) -> str:
        return str(self.expression.apply(number).value())

    def of_set(self, number: int) -> list[str | None]:
        values = self.expression.apply(number).hset()
        if not 0 < (size := values.size()) <= _MOST_IN_A_SET:
            return []
        found: list[str | None] = values.mkString(_BETWEEN_VALUES).split(_BETWEEN_VALUES)
        if values.contains(None):
            found[found.index("null")] = None
        return found if len(found) == size else []


def _driver(spark: SparkSession) -> _DriverJvm:
    gateway: Any = spark.sparkContext._gateway
    # Only there a callback runs in the thread whose session planned the query.
    if not isinstance(gateway, ClientServer):
        raise FileIndexUnavailable("PYSPARK_PIN_THREAD is off")
    with _starting:
        ensure_callback_server_started(gateway)  # type: ignore[no-untyped-call]  # Spark's own
        return _new_driver(gateway)


@lru_cache(maxsize=1)
def _new_driver(gateway: Any) -> _DriverJvm:
    return _DriverJvm(gateway)
