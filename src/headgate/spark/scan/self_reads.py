"""Do rows that are written to a table come from that table? Then the write is not blind.

What it read must still be there when it is committed, from the version on that was read: a frame stays at
its version, however much later its rows are written. Rows of a version that was asked for by its number or
moment are another matter: whoever brings back what was deleted wants it back.
"""

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession

from headgate.errors import ConcurrentDeleteRead
from headgate.protocol.actions import Version
from headgate.protocol.transaction.attempt import BLIND, ReadSet
from headgate.spark.scan import scan, scan_marks
from headgate.spark.scan.scan_marks import ScanMark
from headgate.table.opened_table import OpenedTable
from headgate.table.read import file_paths
from headgate.table.read.snapshot import Snapshot


def self_read_marks(df: DataFrame, table: OpenedTable) -> tuple[ScanMark, ...]:
    """The readings of the table that rows come from."""
    return tuple(
        mark
        for mark in scan_marks.marks_in_plan(df)
        if file_paths.is_same_location(mark.location, table.location)
    )


def base_and_reads(df: DataFrame, table: OpenedTable, newest: Snapshot) -> tuple[Snapshot, ReadSet]:
    """The version from which a write of these rows begins, the oldest that was read, and what was read."""
    found = self_read_marks(df, table)
    if not found:
        return newest, BLIND
    oldest = min(mark.version for mark in found)
    base = newest if oldest == newest.version else table.snapshot(version=oldest)
    return base, _reads(df.sparkSession, table, found, base)


def _reads(spark: SparkSession, table: OpenedTable, found: Sequence[ScanMark], at: Snapshot) -> ReadSet:
    predicates = tuple(mark.predicate for mark in found if mark.predicate is not None)
    if len(predicates) < len(found) or any(mark.version != at.version for mark in found):
        return ReadSet(whole_table=True)
    columns = scan.scan_columns(at.state.metadata)
    selected = (scan.select_files(spark, table, at, columns, predicate)[0] for predicate in predicates)
    paths = frozenset(path for files in selected for path in files["path"].to_pylist())
    return ReadSet(predicates=predicates, files=paths)


def check_nothing_removed(
    table: OpenedTable, found: Sequence[ScanMark], *, after: Version, until: Version
) -> None:
    """That the commits in between took away no row which a stream reads.

    A stream computes every batch from the same version. What it and others add to the table meanwhile does
    not concern it; rows that are gone, or have changed, do.
    """
    for commit in table.commits(Version(after + 1), until):
        gone = next((remove.path for remove in commit.removes if remove.data_change), None)
        if gone is not None and any(mark.version < commit.version for mark in found):
            raise ConcurrentDeleteRead(
                f"the stream reads version {min(mark.version for mark in found)} of the table it writes to, "
                f"and version {commit.version} removed {gone}, so rows that it reads may be gone; the batch "
                "was not committed: start the query again with rows that are read anew",
                winner=commit.version, operation="STREAMING UPDATE",
            )  # fmt: skip
