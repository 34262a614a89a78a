"""What a user can ask of a stream into a table."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypedDict, cast

from pyspark.sql import DataFrame

from headgate.errors import InvalidRequest
from headgate.spark.calls import option_kwargs
from headgate.spark.data_files import option_rows, write_options
from headgate.spark.data_files.option_rows import WriteKind
from headgate.spark.data_files.write_options import WriteKwargs, WriteOptions
from headgate.spark.write.save import SaveMode
from headgate.storage import location_spelling

StreamMode = Literal["append", "complete"]
APPEND, COMPLETE, UPDATE = "append", "complete", "update"
_SAVES: Mapping[str, SaveMode] = {APPEND: "append", COMPLETE: "overwrite"}

BatchDomains = Callable[[DataFrame, int], Mapping[str, str]]
"""``domains(batch, number)`` gives the metadata domains that the commit of this batch sets."""


class BatchKwargs(TypedDict, total=False):
    """The keyword arguments that say how each batch is written."""

    app_id: str
    merge_schema: bool
    overwrite_schema: bool
    partition_by: str | tuple[str, ...] | list[str]
    cluster_by: str | tuple[str, ...] | list[str]
    user_metadata: str
    max_records_per_file: int
    compression: str
    optimize_write: bool
    domains: Mapping[str, str] | BatchDomains


class StreamKwargs(BatchKwargs, total=False):
    """Those, and the ones that say how the query runs."""

    query_name: str
    processing_time: str
    available_now: bool


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """What is asked of a stream, checked for contradictions."""

    mode: str
    write: WriteOptions
    """How each batch is written."""
    app_id: str | None = None
    """By what name the table remembers the batches; None for the id of the query."""
    checkpoint: str | None = None
    query_name: str | None = None
    processing_time: str | None = None
    available_now: bool = False
    domains: BatchDomains | None = None
    """Tells the domains of each batch; None if all batches set the same, as ``write`` says."""

    def __post_init__(self) -> None:
        for row in CONTRADICTIONS:
            if row.holds(self):
                raise InvalidRequest(row.says)

    @property
    def saves(self) -> SaveMode:
        """What a batch does to rows that are there."""
        return _SAVES[self.mode]

    @property
    def overwrites(self) -> bool:
        return self.mode == COMPLETE


def from_kwargs(
    mode: str, asked: BatchKwargs | StreamKwargs, checkpoint: str | Path | None = None
) -> StreamOptions:
    """The options of these keyword arguments."""
    given = option_kwargs.take_options(asked, StreamKwargs, "a stream")
    own = {name: given.pop(name) for name in _QUERY_OPTIONS if name in given}
    if callable(given.get("domains")):
        own["domains"] = given.pop("domains")
    # As INSERT does: a stream of ints may go into a column of longs.
    how = write_options.from_kwargs(cast("WriteKwargs", {**given, "implicit_casts": True}))
    place = None if checkpoint is None else _absolute(str(checkpoint))
    return StreamOptions(mode.lower(), how, checkpoint=place, **own)


_QUERY_OPTIONS = tuple(row.name for row in option_rows.OPTIONS if row.taken_by == {WriteKind.STREAM})


def _absolute(checkpoint: str) -> str:
    # A server of Spark Connect has another working folder.
    return location_spelling.absolute(checkpoint) if checkpoint else checkpoint


@dataclass(frozen=True, slots=True)
class StreamContradiction:
    """One row: what cannot be meant, and what is said of it."""

    holds: Callable[[StreamOptions], bool]
    says: str


def _updates(asked: StreamOptions) -> bool:
    return asked.mode == UPDATE


def _unknown_mode(asked: StreamOptions) -> bool:
    return asked.mode not in _SAVES


def _schema_of_an_append(asked: StreamOptions) -> bool:
    return asked.write.overwrite_schema and not asked.overwrites


def _triggers_twice(asked: StreamOptions) -> bool:
    return asked.available_now and asked.processing_time is not None


def _no_checkpoint(asked: StreamOptions) -> bool:
    return asked.checkpoint == ""


def _no_app_id(asked: StreamOptions) -> bool:
    return asked.app_id == ""


CONTRADICTIONS: tuple[StreamContradiction, ...] = (
    StreamContradiction(
        _updates,
        "the output mode update gives rows that changed, and only you know by which columns they are found "
        "in the table: merge each batch, with df.writeStream.outputMode('update').foreachBatch(upsert), "
        "where upsert(batch, number) runs table.merge(batch, 't.id = s.id').when_matched_update_all()"
        ".when_not_matched_insert_all().once(headgate.query_id(batch), number).execute()",
    ),
    StreamContradiction(_unknown_mode, "the output mode of a stream into a table is append or complete"),
    StreamContradiction(
        _schema_of_an_append,
        "overwriteSchema replaces the whole table, which only a stream in the mode complete does: leave it "
        "out, or add columns with merge_schema",
    ),
    StreamContradiction(
        _triggers_twice,
        "available_now ends the query once it has caught up, and processing_time has it go on: give one",
    ),
    StreamContradiction(
        _no_checkpoint,
        "a stream needs a checkpoint, the folder in which Spark remembers how far it came: name one",
    ),
    StreamContradiction(
        _no_app_id, "app_id is what the table remembers the batches by: give it a name, or none"
    ),
)
