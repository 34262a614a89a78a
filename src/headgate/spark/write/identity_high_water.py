"""Moving the high-water mark of identity columns by itself: to reserve values, and to follow the rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import msgspec
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from headgate.errors import InvalidRequest, MetadataChanged
from headgate.protocol.actions import Metadata, Version
from headgate.protocol.features import identity_columns
from headgate.protocol.features.identity_columns import IdentitySpec
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.column_path import format_path, parse_path
from headgate.protocol.transaction.attempt import ReadSet
from headgate.spark.calls import errors
from headgate.spark.data_files import data_file_writer
from headgate.spark.data_files.data_file_writer import WrittenFiles
from headgate.spark.scan import scan
from headgate.spark.session import schema as spark_schema
from headgate.table.opened_table import OpenedTable
from headgate.table.transaction import Change, Operation

_RESERVE = "RESERVE IDENTITY VALUES"


@dataclass(frozen=True, slots=True)
class IdentityReservation:
    """Values that nobody else is given: those between the marks before and after they were reserved."""

    before: Mapping[str, int | None] = field(default_factory=dict)
    after: Mapping[str, IdentitySpec] = field(default_factory=dict)

    def starting(self, metadata: Metadata) -> Metadata:
        """The metadata as it was when they were reserved, so that whoever gives values gives these."""
        return identity_columns.with_high_water_marks(metadata, self.before) if self.before else metadata

    def check(self, table: OpenedTable, written: WrittenFiles) -> None:
        """That the rows took no more than these; if a query gives other rows each time, they may have."""
        if any(of.is_beyond_mark(written.farthest.get(name, of.start)) for name, of in self.after.items()):
            data_file_writer.discard(table.store, written)  # nothing was proposed
            raise MetadataChanged(
                "the rows were written again, because others wrote to the table meanwhile, and there were "
                "more of them than values of the identity column were reserved; nothing was committed, run "
                "the operation again",
                operation=_RESERVE,
            )


NO_RESERVATION = IdentityReservation()


@dataclass(frozen=True, slots=True)
class HighWaterConflict:
    """Values that were given to rows in vain, because others gave the same: how many to reserve of each."""

    counts: Mapping[str, int]
    conflict: MetadataChanged


def high_water_conflict(
    conflict: MetadataChanged, rows: DataFrame, before: Metadata, after: Metadata
) -> HighWaterConflict:
    """What to do about a race that was lost for the values between two marks.

    Of a column for which the rows bring values nothing is reserved: its mark just moves again.
    """
    brought = spark_schema.schema_without_void(rows)
    was, now = identity_columns.columns_of_table(before), identity_columns.columns_of_table(after)
    counts = {
        name: (now[name].following - known.following) // known.step
        for name, known in was.items()
        if now[name].mark != known.mark and brought.find(name) is None
    }
    return HighWaterConflict(counts, conflict)


def reserve(table: OpenedTable, lost: HighWaterConflict) -> IdentityReservation:
    """Move marks on by so many values, in a commit of its own.

    What is not used of them leaves a gap. It takes a moment only, so it goes on as long as others win,
    within reason.
    """
    counts = lost.counts
    if not counts:
        return NO_RESERVATION
    for _ in range(table.settings.max_attempts):
        base = table.snapshot()
        before = base.state.metadata
        columns = identity_columns.columns_of_table(before)
        if not counts.keys() <= columns.keys():
            break
        after = {name: columns[name].beyond(count) for name, count in counts.items()}
        marks = {name: of.mark for name, of in after.items()}
        change = Change(Operation(_RESERVE), (identity_columns.with_high_water_marks(before, marks),))
        try:
            table.commit(change, base=base)
        except MetadataChanged:
            continue
        return IdentityReservation({name: columns[name].mark for name in counts}, after)
    raise lost.conflict


@errors.translated_errors(errors.unreadable_file)
def sync(spark: SparkSession, table: OpenedTable, column: str, *, may_lower: bool = False) -> Version:
    """Set the mark of an identity column to the farthest value that its rows have.

    Whoever adds rows meanwhile wins, because nobody has looked at those.
    """
    path = parse_path(column)
    base = table.snapshot()
    before = base.state.metadata
    field = schema_json.parse(before.schema_string).find(path[0])
    if len(path) > 1 or field is None or not identity_columns.is_identity(field):
        raise InvalidRequest(
            f"{format_path(path)} is no identity column of the table, so it has no mark to set: name one "
            "that is",
            code="DELTA_IDENTITY_COLUMNS_ALTER_NON_IDENTITY_COLUMN", column=format_path(path),
        )  # fmt: skip
    known = identity_columns.identity_spec(field)
    last = F.max if known.step > 0 else F.min
    row = scan.read(spark, table, base).agg(last(spark_schema.column(field.name))).first()
    if row is None or row[0] is None:
        return base.version
    after = (replace(known, mark=None) if may_lower else known).covering(row[0])
    metadata = identity_columns.with_high_water_marks(before, {field.name: after.mark})
    if metadata == before:
        return base.version
    told = msgspec.json.encode({"name": format_path(path), "highWaterMark": after.mark}).decode()
    change = Change(
        Operation("CHANGE COLUMN", {"column": told}), (metadata,), reads=ReadSet(whole_table=True)
    )
    return table.commit(change, base=base)
