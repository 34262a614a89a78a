"""Statements about rows, each as Headgate runs it and as a list of tuples does: (id, p, v), v may be null."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession

import headgate
from headgate import Table
from headgate.clock import SystemWorld
from headgate.protocol.schema.types import Field, Primitive, Struct
from headgate.storage.locate import locate
from headgate.table import create
from headgate.table.create import Definition

Row = tuple[int, int | None, int | None]
Rows = list[Row]
COLUMNS = "id INT, p INT, v INT"
SCHEMA = Struct(tuple(Field(name, Primitive("integer")) for name in ("id", "p", "v")))


@dataclass(frozen=True)
class Shape:
    """How the table is laid out, and so by which ways its rows change."""

    vectors: bool
    mapped: bool
    partitioned: bool
    feed: bool
    tracked: bool

    def make(self, location: str) -> Table:
        """A new ordinary table of that shape."""
        switches = {
            "delta.enableDeletionVectors": self.vectors,
            "delta.enableChangeDataFeed": self.feed,
            "delta.enableRowTracking": self.tracked,
        }
        properties = {key: "true" for key, on in switches.items() if on}
        if self.mapped:
            properties["delta.columnMapping.mode"] = "name"
        definition = Definition(
            SCHEMA, properties=properties, partition_by=("p",) if self.partitioned else ()
        )
        create.write_version_0(locate(location), definition, managed=False, world=SystemWorld())
        return headgate.at_path(location)


@dataclass(frozen=True)
class Where:
    """A condition, as SQL and as a function; what is null is not true."""

    sql: str
    holds: Callable[[Row], bool]


@dataclass(frozen=True)
class Statement:
    """One of them."""

    name: str
    run: Callable[[SparkSession, Table], object]
    model: Callable[[Rows], Rows]

    def __repr__(self) -> str:
        return self.name


def frame(spark: SparkSession, rows: Sequence[Row]) -> DataFrame:
    """Rows as a DataFrame."""
    return spark.createDataFrame(list(rows), COLUMNS).coalesce(1)


_SMALL = st.integers(0, 12)
_ROW = st.tuples(_SMALL, st.sampled_from([0, 1, None]), st.integers(0, 5) | st.none())
ROWS = st.lists(_ROW, max_size=8)
SHAPES = st.builds(Shape, *([st.booleans()] * 5))


def _where(number: int, kind: str) -> Where:
    return {
        "id": Where(f"id = {number}", lambda row: row[0] == number),
        "ids": Where(f"id > {number}", lambda row: row[0] > number),
        "odd": Where(f"id % 3 = {number % 3}", lambda row: row[0] % 3 == number % 3),
        "p": Where(f"p = {number % 2}", lambda row: row[1] == number % 2),
        "v": Where(f"v < {number % 6}", lambda row: row[2] is not None and row[2] < number % 6),
        "null": Where("v is null or p is null", lambda row: row[1] is None or row[2] is None),
        "all": Where("true", lambda row: True),
    }[kind]


WHERES = st.builds(_where, _SMALL, st.sampled_from(["id", "ids", "odd", "p", "v", "null", "all"]))


def _append(rows: Rows) -> Statement:
    return Statement(
        f"append {rows}", lambda spark, table: table.append(frame(spark, rows)), lambda old: old + rows
    )


def _overwrite(rows: Rows) -> Statement:
    return Statement(
        f"overwrite {rows}", lambda spark, table: table.overwrite(frame(spark, rows)), lambda old: rows
    )


def _delete(where: Where) -> Statement:
    return Statement(
        f"delete {where.sql}",
        lambda spark, table: table.delete(where.sql, spark=spark),
        lambda old: [row for row in old if not where.holds(row)],
    )


def _update(where: Where) -> Statement:
    def changed(row: Row) -> Row:
        return row[0], row[2] if row[2] in (0, 1) else row[1], row[0]

    return Statement(
        f"update {where.sql}",
        lambda spark, table: table.update({"p": "if(v in (0, 1), v, p)", "v": "id"}, where.sql, spark=spark),
        lambda old: [changed(row) if where.holds(row) else row for row in old],
    )


def _merge(rows: Rows, deletes: bool, inserts: bool, alone: str) -> Statement:
    source = list({row[0]: row for row in rows}.values())  # one for each id

    def run(spark: SparkSession, table: Table) -> object:
        merge = table.merge(frame(spark, source), "t.id = s.id")
        if deletes:
            merge = merge.when_matched_delete("s.v = 0 or t.v = 1")
        merge = merge.when_matched_update("s.p is not null", {"v": "s.v", "p": "s.p"})
        if inserts:
            merge = merge.when_not_matched_insert_all("s.id % 2 = 0")
        if alone == "update":
            merge = merge.when_not_matched_by_source_update("t.p = 0", {"v": "9"})
        elif alone == "delete":
            merge = merge.when_not_matched_by_source_delete("t.id > 8")
        return merge.execute()

    def model(old: Rows) -> Rows:
        by_id: dict[int, Row] = {row[0]: row for row in source}
        kept = [_merged(row, by_id.get(row[0]), deletes, alone) for row in old]
        known = {row[0] for row in old}
        new = [row for row in source if inserts and row[0] not in known and row[0] % 2 == 0]
        return [row for row in kept if row is not None] + new

    return Statement(f"merge {source} {deletes=} {inserts=} {alone=}", run, model)


def _merged(row: Row, match: Row | None, deletes: bool, alone: str) -> Row | None:
    if match is None:
        if alone == "update" and row[1] == 0:
            return row[0], row[1], 9
        return None if alone == "delete" and row[0] > 8 else row
    if deletes and (match[2] == 0 or row[2] == 1):
        return None
    return (row[0], match[1], match[2]) if match[1] is not None else row


STATEMENTS: Any = st.one_of(
    ROWS.map(_append),
    WHERES.map(_delete),
    WHERES.map(_update),
    st.builds(_merge, ROWS, st.booleans(), st.booleans(), st.sampled_from(["", "update", "delete"])),
    ROWS.map(_overwrite),
)
