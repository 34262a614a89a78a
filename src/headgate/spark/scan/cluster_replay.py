"""The live files of a log that is too large for one process: replayed by Spark, as a DataFrame.

Spark reads the checkpoint, the bulk of such a log, and leaves out the files that the commits after
it name. These are few, so the driver reads them and hands over what they say; if they are many,
Spark reads them too. The rules are those of ``table/read/live_files``: a file is its path and its deletion
vector, and the last word about it counts.

A checkpoint of version 10 has five million adds in parquet, and the commits 11 and 12 say

    11   {"remove":{"path":"a"}}  {"add":{"path":"c"}}
    12   {"remove":{"path":"c"}}

The driver reads these two: ``named`` is a and c, ``added`` is nothing. Spark reads the checkpoint and
leaves out what ``named`` has, by an anti join with a broadcast: ``known ANTI JOIN named UNION ALL added``.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import msgspec
import pyarrow as pa
from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, LongType, MapType, StringType, StructField, StructType

from headgate.catalog.ports.commits import InlineCommit, StagedCommit
from headgate.errors import CorruptLog, HeadgateError, InvalidRequest, UnsupportedFeature
from headgate.protocol import file_key
from headgate.protocol.actions import Commit, Version, commit_from_actions
from headgate.protocol.log import file_names
from headgate.protocol.log.file_names import LogFile
from headgate.protocol.log.log_segment import LogSegment
from headgate.spark.parquet import parquet_options
from headgate.spark.predicates.file_filter import STATS, STATS_PARSED, FileFilter
from headgate.spark.predicates.path_key_column import path_key
from headgate.spark.session import hadoop_paths, local_frame, vended_access
from headgate.table.committer import Frontier
from headgate.table.opened_table import OpenedTable
from headgate.table.read import checkpoint_reader, log_reader
from headgate.table.read import live_files as read_live_files
from headgate.table.read.live_files import LiveFiles
from headgate.table.read.snapshot import Snapshot

SHIPPED_BYTES = 32 * 1024 * 1024
"""Up to here the driver reads the commits after a checkpoint; beyond, Spark does."""

_OPTIONS = {
    # Else Spark would infer partition columns from folder names.
    "recursiveFileLookup": "true",
    **parquet_options.READ_OPTIONS,
}
_VECTOR = StructType(
    [
        StructField("storageType", StringType()),
        StructField("pathOrInlineDv", StringType()),
        StructField("offset", IntegerType()),
        StructField("sizeInBytes", IntegerType()),
        StructField("cardinality", LongType()),
    ]
)
_ADD = StructType(  # in the order of files.SCHEMA
    [
        StructField("path", StringType()),
        StructField("partitionValues", MapType(StringType(), StringType())),
        StructField("size", LongType()),
        StructField("modificationTime", LongType()),
        StructField("stats", StringType()),
        StructField("deletionVector", _VECTOR),
        StructField("baseRowId", LongType()),
        StructField("defaultRowCommitVersion", LongType()),
    ]
)
_OUR_VECTOR = StructType(
    [
        StructField(ours.name, theirs.dataType)
        for theirs, ours in zip(_VECTOR, read_live_files.VECTOR_TYPE, strict=True)
    ]
)
_FILE = StructType(
    [
        StructField(ours, _OUR_VECTOR if theirs.name == "deletionVector" else theirs.dataType)
        for theirs, ours in zip(_ADD, read_live_files.SCHEMA.names, strict=True)
    ]
)
_NAME = StructType([_FILE["path"], _FILE["deletion_vector"]])
_REMOVE = StructType([_ADD["path"], _ADD["deletionVector"]])
_LINE = StructType([StructField("add", _ADD), StructField("remove", _REMOVE)])
_STEP, _KIND = "step", "kind"
_NUMBERED = StructType([StructField(_STEP, LongType()), StructField("value", StringType())])
_REMOVED, _ADDED = 0, 1
"""Removes of a commit come before its adds, as in process."""
_BETWEEN_ACTIONS = r'(?<=\})\s*(?=\{\s*"[A-Za-z]+"\s*:)'
"""Careless writers put several on one line. Inside an action no brace follows another without a comma, and
inside a string no quote stands bare."""
_DAMAGED = re.compile(r"\[(PATH_NOT_FOUND|FAILED_READ_FILE|MALFORMED_RECORD_IN_PARSING).*")


def is_needed(table: OpenedTable, snapshot: Snapshot) -> bool:
    """Whether the log of a snapshot is for Spark to replay."""
    return snapshot.files.checkpoint_bytes > table.settings.spark_replay_bytes


def live_files(
    spark: SparkSession, table: OpenedTable, version: Version, *, parsed: StructType | None = None
) -> DataFrame:
    """One row per live file, in the columns of ``live_files.SCHEMA``.

    With ``parsed`` there is one more, STATS_PARSED: so much of the statistics that a checkpoint
    has as columns.
    """
    return _replay(spark, table, version).live(parsed)


def candidates(
    spark: SparkSession, table: OpenedTable, version: Version, chosen: FileFilter | None = None
) -> LiveFiles:
    """The live files, on the driver; with a filter only those that may have rows it selects.

    Statistics are there only if the filter looks at them. Raises InvalidRequest if there are more
    files than the settings allow.
    """
    replay = _replay(spark, table, version)
    with _damaged_log_errors(version):
        if chosen is not None and chosen.leaves:
            parsed = replay.parsed_stats(chosen)
            return _collect_files(replay.live(parsed).where(chosen.condition(parsed)), table)
        found = replay.live().withColumn(STATS, F.lit(None).cast("string"))
        return _collect_files(found if chosen is None else found.where(chosen.condition(None)), table)


def totals(spark: SparkSession, table: OpenedTable, version: Version) -> tuple[int, int]:
    """How many live files there are, and their bytes."""
    with _damaged_log_errors(version):
        live = live_files(spark, table, version)
        (row,) = live.agg(F.count("*"), F.coalesce(F.sum("size"), F.lit(0))).collect()
    return row[0], row[1]


def _replay(spark: SparkSession, table: OpenedTable, version: Version) -> "_Replay":
    segment, frontier = table.segment(version)
    return _Replay(
        spark, table, segment, frontier, checkpoint_reader.checkpoint_sources(table.store, segment.checkpoint)
    )


@dataclass(frozen=True, slots=True)
class _CommitChanges:
    """What the commits after a checkpoint come to: live files, and every file they name."""

    added: DataFrame
    named: DataFrame


@dataclass(frozen=True, slots=True)
class _Replay:
    """One version's log, in the hands of Spark."""

    spark: SparkSession
    table: OpenedTable
    segment: LogSegment
    frontier: Frontier
    sources: checkpoint_reader.CheckpointSources

    def live(self, parsed: StructType | None = None) -> DataFrame:
        """The live files; see ``live_files``."""
        changes = self._changes(commit_from_actions(self.segment.version, self.sources.actions))
        if not self.sources.parquet:
            return _with_parsed(changes.added, parsed)
        stored = StructType([*_ADD, StructField(STATS_PARSED, parsed)]) if parsed is not None else _ADD
        wanted = StructType([StructField("add", stored)])
        read = self._reader().schema(wanted).parquet(*self._at(self.sources.parquet))
        adds = read.where(F.col("add.path").isNotNull())
        more = [] if parsed is None else [F.col("add").getField(STATS_PARSED).alias(STATS_PARSED)]
        known = adds.select(*_file_columns(F.col("add")), *more)
        return (
            known.alias("known")
            .join(changes.named.alias("named"), _same_file("known", "named"), "left_anti")
            .unionByName(_with_parsed(changes.added, parsed))
        )

    def parsed_stats(self, chosen: FileFilter) -> StructType | None:
        """What the checkpoint has as columns of the statistics needed; one of its files tells for all."""
        if not self.sources.parquet:
            return None
        adds = self._reader().parquet(*self._at(self.sources.parquet[-1:])).schema
        stored = adds["add"].dataType if "add" in adds.names else StructType()
        if not isinstance(stored, StructType) or STATS_PARSED not in stored.names:
            return None
        return chosen.parsed(stored[STATS_PARSED].dataType)

    def _reader(self) -> DataFrameReader:
        vended_access.remember_store(self.table.location, self.table.store)
        return self.spark.read.options(**_OPTIONS, **vended_access.access_options(self.table.location))

    def _at(self, named: Sequence[str]) -> list[str]:
        hidden = next((path for path in named if path.rpartition("/")[2].startswith((".", "_"))), None)
        if hidden is not None:
            raise UnsupportedFeature(
                f"{hidden} has a name that starts with '.' or '_', and Spark would skip it silently: open "
                "the table with a larger spark_replay_bytes to have its log read in process",
                features=("hiddenLogFiles",), operation="read",
            )  # fmt: skip
        return [hadoop_paths.escape_glob(hadoop_paths.folder(self.table.location, path)) for path in named]

    def _changes(self, own: Commit) -> _CommitChanges:
        """What follows the files in parquet: those that a JSON checkpoint has itself, and the commits."""
        if self._commit_bytes() > SHIPPED_BYTES:
            return self._changes_by_spark(own)
        commits = [own, *log_reader.fold_commits(self.table.store, self.segment.commits, self.frontier)]
        added = read_live_files.reconcile(read_live_files.SCHEMA.empty_table(), commits)
        return _CommitChanges(
            self._handed_over(added, _FILE), F.broadcast(self._handed_over(_named_files(commits), _NAME))
        )

    def _handed_over(self, rows: pa.Table, schema: StructType) -> DataFrame:
        if rows.num_rows:
            return local_frame.local_frame(self.spark, rows)
        # Spark Connect cannot tell the columns of a table without rows, and a list takes Python on executors.
        nulls = [F.lit(None).cast(field.dataType).alias(field.name) for field in schema]
        return self.spark.range(0).select(*nulls)

    def _commit_bytes(self) -> int:
        commits = self.segment.commits
        alone = [piece for piece in commits if not isinstance(piece, LogFile)]
        listed = log_reader.list_log(self.table.store, since=alone[0]) if alone else ()
        sizes = {file.path: file.size for file in listed}
        return sum(
            piece.size if isinstance(piece, LogFile) else self._commit_size(piece, sizes) for piece in commits
        )

    def _commit_size(self, version: Version, sizes: dict[str, int]) -> int:
        match self._place(version):
            case bytes() as content:
                return len(content)
            case path:
                return sizes[path] if path in sizes else self.table.store.head(path).size

    def _place(self, version: Version) -> str | bytes:
        """Where a commit is, or its content if the catalog has that."""
        held = self.frontier.unpublished.get(version)
        match held.where if held is not None else None:
            case InlineCommit(content):
                return content
            case StagedCommit() as staged:
                return staged.path
            case None:
                return file_names.published_path(version)

    def _changes_by_spark(self, own: Commit) -> _CommitChanges:
        actions = self._lines().select(_STEP, F.from_json("value", _LINE, {"mode": "FAILFAST"}).alias("line"))
        add, remove = F.col("line.add"), F.col("line.remove")
        own_adds = self._handed_over(read_live_files.adds_as_table(own.adds), _FILE)
        first = own_adds.select(F.lit(-1).cast("bigint").alias(_STEP), F.lit(_ADDED).alias(_KIND), "*")
        found = actions.where(add.getField("path").isNotNull()).select(
            _STEP, F.lit(_ADDED).alias(_KIND), *_file_columns(add)
        )
        gone = actions.where(add.isNull() & remove.getField("path").isNotNull()).select(
            _STEP,
            F.lit(_REMOVED).alias(_KIND),
            remove.getField("path").alias("path"),
            _vector_struct(remove).alias("deletion_vector"),
        )
        said = first.unionByName(found).unionByName(gone, allowMissingColumns=True)
        last = F.max_by(F.struct(*said.columns), F.struct(_STEP, _KIND)).alias("last")
        key = path_key(F.col("path"))
        words = said.groupBy(key, _vector_id(F.col("deletion_vector"))).agg(last).select("last.*")
        return _CommitChanges(
            words.where(F.col(_KIND) == _ADDED).select(*read_live_files.SCHEMA.names),
            words.select(key.alias("path"), "deletion_vector"),
        )

    def _lines(self) -> DataFrame:
        """Every line of every commit with the version it belongs to.

        Not of compactions: whether one is reconciled only whoever reads all of it could tell.
        """
        at = [(version, self._place(version)) for version in self.segment.versions]
        split = [
            (version, line)
            for version, place in at
            if isinstance(place, bytes)
            for line in _decoded(version, place).split("\n")
        ]
        shipped = pa.table(
            {
                _STEP: pa.array([number for number, _ in split], pa.int64()),
                "value": pa.array([line for _, line in split], pa.string()),
            }
        )
        lines = self._handed_over(shipped, _NUMBERED)
        stored = [place for _, place in at if isinstance(place, str)]
        if stored:
            read = self._reader().text(self._at(stored))
            version = F.substring(F.col("_metadata.file_name"), 1, 20).cast("bigint")
            lines = lines.unionByName(read.select(version.alias(_STEP), "value"))
        apart = F.explode(F.split("value", _BETWEEN_ACTIONS)).alias("value")
        return lines.select(_STEP, apart).where(F.trim("value") != "")


def _decoded(version: Version, content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as exc:
        raise CorruptLog(
            f"version {version} cannot be parsed: {exc}; the commit is damaged",
            code="DELTA_TXN_LOG_FAILED_INTEGRITY", version=version,
        ) from exc  # fmt: skip


def _file_columns(add: Column) -> list[Column]:
    columns = {"deletionVector": _vector_struct(add)}
    return [
        columns.get(theirs.name, add.getField(theirs.name)).alias(ours)
        for theirs, ours in zip(_ADD, read_live_files.SCHEMA.names, strict=True)
    ]


def _vector_struct(action: Column) -> Column:
    vector = action.getField("deletionVector")
    parts = [
        vector.getField(theirs.name).alias(ours.name)
        for theirs, ours in zip(_VECTOR, read_live_files.VECTOR_TYPE, strict=True)
    ]
    # Some writers leave an empty struct where there is no vector.
    return F.when(vector.getField("storageType").isNotNull(), F.struct(*parts))


def _same_file(known: str, named: str) -> Column:
    """That a file is one of those named, whose paths are keys."""
    ours, theirs = (_vector_id(F.col(f"{side}.deletion_vector")) for side in (known, named))
    return (path_key(F.col(f"{known}.path")) == F.col(f"{named}.path")) & ours.eqNullSafe(theirs)


def _vector_id(vector: Column) -> Column:
    offset = F.concat(F.lit("@"), vector.getField("offset").cast("string"))
    return F.concat(
        vector.getField("storage_type"), vector.getField("path_or_inline_dv"), F.coalesce(offset, F.lit(""))
    )


def _named_files(commits: Sequence[Commit]) -> pa.Table:
    """Every file that some commit adds or removes, by the key of its path."""
    every = [(add.path, add.deletion_vector) for commit in commits for add in commit.adds]
    every += [(remove.path, remove.deletion_vector) for commit in commits for remove in commit.removes]
    known = [None if vector is None else msgspec.structs.asdict(vector) for _, vector in every]
    return pa.table(
        {
            "path": pa.array([file_key.canonical_path(path) for path, _ in every], pa.string()),
            "deletion_vector": pa.array(known, read_live_files.VECTOR_TYPE),
        }
    )


def _with_parsed(added: DataFrame, parsed: StructType | None) -> DataFrame:
    return added if parsed is None else added.withColumn(STATS_PARSED, F.lit(None).cast(parsed))


def _collect_files(found: DataFrame, table: OpenedTable) -> LiveFiles:
    most = table.settings.scan_files_limit
    collected = found.limit(most + 1).toArrow()
    if collected.num_rows > most:
        raise InvalidRequest(
            f"the scan would read more than {most} files, whose names must fit into the driver: ask for "
            "fewer rows with where=…, or raise scan_files_limit in the settings"
        )
    known = collected.select(read_live_files.SCHEMA.names).cast(read_live_files.SCHEMA)
    if STATS_PARSED in collected.column_names:
        known = known.append_column(STATS_PARSED, collected[STATS_PARSED])
    return LiveFiles(lambda: known)


@contextmanager
def _damaged_log_errors(version: Version) -> Iterator[None]:
    """A file of the log that Spark cannot read is a damaged log."""
    try:
        yield
    except HeadgateError:
        raise
    except Exception as exc:  # the same failure has another class in every kind of session
        found = _DAMAGED.search(str(exc))
        if found is None:
            raise
        raise CorruptLog(
            f"the log of version {version} cannot be replayed: {found[0]}",
            code="DELTA_STATE_RECOVER_ERROR", version=version,
        ) from exc  # fmt: skip
