"""How does ``df.write.format("headgate")`` write? Each task its own files, by Arrow, the driver one commit.

The rules of a table are checked where its rows are written. Nothing is deleted after a failure that leaves
open whether there was a commit; what a failed write leaves behind belongs to no version, and ``vacuum``
removes it.
"""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import pyarrow as pa
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage
from typing_extensions import override

from headgate.arrow.write import append_plan, new_files
from headgate.arrow.write.append_plan import AppendPlan, PlanRequest
from headgate.clock import SystemWorld, World
from headgate.data_source import table_finders
from headgate.data_source.table_finders import OWN_OPTIONS, TableFinder
from headgate.errors import ConflictError, InvalidRequest, UnsupportedFeature, UserError
from headgate.protocol import property_values
from headgate.protocol.actions import Action, AddFile, EpochMillis
from headgate.protocol.features import identity_columns
from headgate.protocol.log.replay import State
from headgate.protocol.stats import operation_metrics
from headgate.protocol.transaction.attempt import BLIND, ReadSet
from headgate.spark.data_files import option_rows
from headgate.spark.data_files.option_rows import WriteKind
from headgate.storage.store import Store
from headgate.table.commit import app_transaction, remove_actions
from headgate.table.location import NewFolder
from headgate.table.opened_table import OpenedTable
from headgate.table.read.live_files import LiveFiles
from headgate.table.read.snapshot import Snapshot
from headgate.table.transaction import Change, Operation

_PIECE_BYTES = 128 * 1024 * 1024
_TAKEN = frozenset({"user_metadata", "txn", "max_records_per_file", "compression"})


@dataclass(frozen=True)
class WrittenByTask(WriterCommitMessage):
    """The files of one task."""

    adds: tuple[AddFile, ...]
    rows: int


@dataclass(frozen=True, slots=True)
class TaskPlace:
    """Where a task writes the files of a transaction that the driver began."""

    location: str
    store: Store
    world: World
    folder: NewFolder

    def new_folder(self) -> NewFolder:
        return replace(self.folder, name=f"{self.folder.name}-{uuid.uuid4()}")


def write_options_of(options: Mapping[str, str]) -> dict[str, Any]:
    """What the options of a write ask for; what takes a whole table of Spark is refused by its name."""
    asked = option_rows.parse(
        options, WriteKind.APPEND, WriteKind.OVERWRITE, besides=(*OWN_OPTIONS, "writePartitionColumns")
    )
    other = next((name for name in asked if name not in _TAKEN), None)
    if other is not None:
        raise UnsupportedFeature(
            f"the data source does not take {'/'.join(option_rows.option_row(other).delta)}: use "
            f"table.append(df, …) or table.overwrite(df, {other}=…)",
            features=(other,), operation="write",
        )  # fmt: skip
    return asked


class TableWriter(DataSourceArrowWriter):
    """Writes rows to a table that is there."""

    def __init__(self, find: TableFinder, asked: Mapping[str, Any], *, overwrite: bool) -> None:
        self._find, self._asked, self._overwrite = find, dict(asked), overwrite
        table = find()
        base = table.snapshot()
        _check_writable_here(base.state, overwrite=overwrite)
        self._location, self._open_store = table.location, table_finders.store_opener(table, find)
        self._state, self._folder = base.state, table.new_folder()

    @override
    def write(self, iterator: Iterator[pa.RecordBatch]) -> WrittenByTask:
        world = SystemWorld()
        place = TaskPlace(self._location, self._open_store(), world, self._folder)
        adds: list[AddFile] = []
        count = 0
        for rows in _pieces(iterator):
            plan = self._plan(rows.schema)
            written = new_files.write_files(
                place,
                plan.shape,
                plan.table_rows(rows, world.now_ms() * 1_000),
                compression=str(self._asked.get("compression", new_files.DEFAULT_COMPRESSION)).lower(),
                max_records=self._asked.get("max_records_per_file"),
            )
            adds += written.adds
            count += rows.num_rows
        return WrittenByTask(tuple(adds), count)

    @override
    def commit(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        found = [message for message in messages if isinstance(message, WrittenByTask)]
        adds = tuple(add for message in found for add in message.adds)
        table = self._find()
        base = table.snapshot(version=self._state.version)
        change = self._change(table, base, adds, sum(message.rows for message in found))
        try:
            table.commit(change, base=base)
        except (ConflictError, UserError):
            # Proven not to be committed; after any other error the files may belong to a version (I7).
            new_files.discard(table.store, [add.path for add in adds])
            raise

    @override
    def abort(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Nothing is deleted: Spark also comes here when nobody can say whether there was a commit."""

    def _plan(self, schema: pa.Schema) -> AppendPlan:
        asked = PlanRequest(schema, merges=False, partition_by=(), cluster_by=None)
        return append_plan.make_plan(SystemWorld(), Snapshot(self._state, LiveFiles()), asked, lambda: "")

    def _change(self, table: OpenedTable, base: Snapshot, adds: tuple[AddFile, ...], rows: int) -> Change:
        txn, now = self._asked.get("txn"), EpochMillis(table.world.now_ms())
        removed: tuple[Action, ...] = ()
        if self._overwrite:
            removed = tuple(remove_actions.removals(base.files.columns, now))
        reads = ReadSet(whole_table=True) if self._overwrite else BLIND
        if txn is not None:
            reads = replace(reads, app_ids=frozenset({txn[0]}))
        metrics = operation_metrics.written_metrics(adds, rows)
        return Change(
            Operation("WRITE", _parameters(base.state, overwrite=self._overwrite), metrics),
            (*app_transaction.actions(table.world, txn), *removed, *adds),
            reads=reads,
            user_metadata=self._asked.get("user_metadata"),
            written_as=self._folder.txn_id,
        )


def _pieces(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """The rows in pieces that are a file each, or a few."""
    taken: list[pa.RecordBatch] = []
    for batch in batches:
        taken.append(batch)
        if sum(each.nbytes for each in taken) >= _PIECE_BYTES:
            yield pa.Table.from_batches(taken)
            taken = []
    if taken:
        yield pa.Table.from_batches(taken)


def _check_writable_here(state: State, *, overwrite: bool) -> None:
    if identity_columns.PREFIX in state.metadata.schema_string:
        raise UnsupportedFeature(
            "the table numbers its rows by an identity column, and tasks of the data source do not know of "
            "each other's numbers: use table.append(df)",
            features=("identityColumns",), operation="write",
        )  # fmt: skip
    if overwrite and property_values.flag(state.metadata, property_values.APPEND_ONLY):
        raise InvalidRequest(
            "the table is append-only (its property delta.appendOnly is true), so its rows cannot be "
            "replaced: append instead",
            code="DELTA_CANNOT_MODIFY_APPEND_ONLY",
        )


def _parameters(state: State, *, overwrite: bool) -> dict[str, str]:
    columns = msgspec.json.encode(list(state.metadata.partition_columns)).decode()
    return {"mode": "Overwrite" if overwrite else "Append", "partitionBy": columns}
