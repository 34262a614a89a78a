"""One batch of a stream becomes one commit, once, however often Spark repeats it.

The commit that has the rows also says which batch of which query they are. When Spark starts a query
again after a crash it repeats the last batch, which is then found to be there and passed over.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from typing_extensions import override

from headgate.deferred import deferred
from headgate.errors import InvalidRequest, SchemaMismatch, TableNotFound
from headgate.protocol.actions import Version
from headgate.protocol.schema.types import Array, DataType, Map, Primitive, Struct
from headgate.spark.calls.user_calls import user_calls
from headgate.spark.data_files.write_options import WriteOptions
from headgate.spark.streaming.stream_write_options import StreamOptions
from headgate.spark.write.save import SaveRequest, save
from headgate.table.alter.create import TableDefinition
from headgate.table.opened_table import OpenedTable

if TYPE_CHECKING:
    from headgate.spark.data_files.epoch_metrics import Epoch
    from headgate.spark.scan import self_reads
    from headgate.spark.scan.scan_marks import ScanMark
    from headgate.spark.streaming import query_identity
    from headgate.spark.write import append_overwrite
else:
    Epoch = deferred("headgate.spark.data_files.epoch_metrics", "Epoch")
    self_reads = deferred("headgate.spark.scan", "self_reads")
    ScanMark = deferred("headgate.spark.scan.scan_marks", "ScanMark")
    query_identity = deferred("headgate.spark.streaming", "query_identity")
    append_overwrite = deferred("headgate.spark.write", "append_overwrite")

TableFactory = Callable[[TableDefinition, DataFrame, WriteOptions], OpenedTable]


@dataclass(frozen=True, slots=True)
class Destination:
    """Where the batches of a stream go."""

    name: str
    find: Callable[[], OpenedTable]
    """Raises ``TableNotFound`` if there is no table."""
    make: TableFactory | None = None
    """Makes the table with the rows of the first batch; None if it must be there."""
    properties: Mapping[str, str] = field(default_factory=dict)
    """Those of the table, if it is made."""
    again: "Callable[[], Destination] | None" = None
    """Finds the same from another process, to which it can be sent; None if nothing does."""

    @override
    def __reduce__(self) -> Any:
        return self.sent(), ()

    def sent(self) -> "Callable[[], Destination]":
        """What another process needs to find the same; refused if nothing does."""
        if self.again is None:
            raise InvalidRequest(
                f"{self.name} was opened in a way that another process cannot repeat, so a server of Spark "
                "Connect cannot write to it: open it with headgate.connect or headgate.at_path"
            )
        return self.again


@user_calls
class BatchWriter:
    """Writes each batch of a stream to a table, once: give it to ``foreachBatch``."""

    def __init__(
        self, destination: Destination, asked: StreamOptions, reads: tuple[ScanMark, ...] = ()
    ) -> None:
        self._destination = destination
        self._asked = asked
        self._reads = reads
        self._opened: OpenedTable | None = None
        self._checked: Version | None = None

    def __call__(self, batch: DataFrame, number: int) -> None:
        """Write the batch of that number, in one commit; nothing happens if the table has it already."""
        check_columns(append_overwrite.incoming_schema(batch))
        options = self._read_by(batch, self._options(batch, number))
        destination = self._destination
        asked = SaveRequest(batch, destination.name, self._asked.saves, options, destination.properties)
        self._opened = save(asked, self._find, lambda definition: self._make(definition, asked))

    @override
    def __reduce__(self) -> Any:
        return type(self), (self._destination, self._asked, self._reads)

    def _read_by(self, batch: DataFrame, options: WriteOptions) -> WriteOptions:
        """The options, with the version up to which what the stream reads of the table itself is there."""
        try:
            table = self._find()
        except TableNotFound:
            return options
        found = self._reads or self_reads.self_read_marks(batch, table)
        if not found:
            return options
        newest = table.snapshot().version
        # What a stream out of the table makes of rows that are gone, its own options say.
        static = tuple(mark for mark in found if not mark.is_stream)
        if static:
            after = self._checked if self._checked is not None else min(mark.version for mark in static)
            self_reads.check_nothing_removed(table, static, after=after, until=newest)
            self._checked = newest
        return replace(options, read_at=newest)

    def _options(self, batch: DataFrame, number: int) -> WriteOptions:
        asked = self._asked
        query_id = query_identity.query_id_of_batch(batch, asked.checkpoint)
        app_id = asked.app_id or query_id
        if app_id is None:
            raise InvalidRequest(
                "the table remembers batches by their query, and this batch does not tell which that is (it "
                "does not on Spark Connect): give the writer an app_id that no other query uses"
            )
        epoch = Epoch(query_id or app_id, number, asked.mode)
        domains = asked.write.domains if asked.domains is None else asked.domains(batch, number)
        return replace(asked.write, txn=(app_id, number), epoch=epoch, domains=domains)

    def _find(self) -> OpenedTable:
        # Kept, so that another table which gets the name meanwhile does not get the rest of the rows.
        return self._opened or self._destination.find()

    def _make(self, definition: TableDefinition, asked: SaveRequest) -> OpenedTable:
        make = self._destination.make
        if make is None:
            raise TableNotFound(f"there is no table {asked.name}", name=asked.name)
        return make(definition, asked.df, asked.options)


def check_columns(rows: Struct) -> None:
    """Refuse rows with a column without a type: the next batch might bring any."""
    found = _find_void(rows, ())
    if found is not None:
        raise SchemaMismatch(
            f"column {'.'.join(found)!r} is of type void, which a stream cannot write: cast it to a type",
            code="DELTA_NULL_SCHEMA_IN_STREAMING_WRITE",
        )


def _find_void(data_type: DataType, path: tuple[str, ...]) -> tuple[str, ...] | None:
    match data_type:
        case Primitive("void"):
            return path
        case Struct(fields):
            parts = [(column.name, column.type) for column in fields]
        case Array(element, _):
            parts = [("element", element)]
        case Map(key, value, _):
            parts = [("key", key), ("value", value)]
        case _:
            return None
    voids = (_find_void(part, (*path, name)) for name, part in parts)
    return next((found for found in voids if found is not None), None)
