"""Statements about rows, each as Headgate runs it and as a list of tuples does: (id, p, v)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession

import headgate
from headgate import Table

Row = tuple[int, str | None, int | None]
Rows = list[Row]
COLUMNS = "id INT, p STRING, v INT"
LAYOUTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "partitioned": {"partition_by": ("p",)},
    "clustered": {"cluster_by": ("id", "p")},
}


@dataclass(frozen=True)
class Shape:
    """How the table is laid out, and so by which ways its rows change."""

    vectors: bool = False
    mapped: bool = False
    layout: str = "plain"
    feed: bool = False
    tracked: bool = False

    @property
    def properties(self) -> dict[str, str]:
        """What the table is told of it."""
        switches = {
            "delta.enableDeletionVectors": self.vectors,
            "delta.enableChangeDataFeed": self.feed,
            "delta.enableRowTracking": self.tracked,
        }
        mapped = {"delta.columnMapping.mode": "name"} if self.mapped else {}
        return {key: "true" for key, on in switches.items() if on} | mapped

    def make(self, location: str) -> Table:
        """A new ordinary table of that shape."""
        return headgate.at_path(location, columns=COLUMNS, properties=self.properties, **LAYOUTS[self.layout])


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
_ROW = st.tuples(_SMALL, st.sampled_from(["0", "1", "x y/%", None]), st.integers(0, 5) | st.none())
ROWS = st.lists(_ROW, max_size=8)


def where(number: int, kind: str) -> Where:
    """The condition of that kind about a number."""
    return {
        "id": Where(f"id = {number}", lambda row: row[0] == number),
        "ids": Where(f"id > {number}", lambda row: row[0] > number),
        "odd": Where(f"id % 3 = {number % 3}", lambda row: row[0] % 3 == number % 3),
        "p": Where(f"p = '{number % 2}'", lambda row: row[1] == str(number % 2)),
        "v": Where(f"v < {number % 6}", lambda row: row[2] is not None and row[2] < number % 6),
        "null": Where("v is null or p is null", lambda row: row[1] is None or row[2] is None),
        "all": Where("true", lambda row: True),
    }[kind]


WHERES = st.builds(where, _SMALL, st.sampled_from(["id", "ids", "odd", "p", "v", "null", "all"]))


def append(rows: Rows) -> Statement:
    """Add rows."""
    return Statement(
        f"append {rows}", lambda spark, table: table.append(frame(spark, rows)), lambda old: old + rows
    )


def overwrite(rows: Rows) -> Statement:
    """Have these rows and no other."""
    return Statement(
        f"overwrite {rows}", lambda spark, table: table.overwrite(frame(spark, rows)), lambda old: rows
    )


def replace(rows: Rows, where: Where) -> Statement:
    """Rows that a condition selects make room for others that it selects."""
    new = [row for row in rows if where.holds(row)]
    return Statement(
        f"replace {where.sql} {new}",
        lambda spark, table: table.overwrite(frame(spark, new), replace_where=where.sql),
        lambda old: [row for row in old if not where.holds(row)] + new,
    )


def replace_using(rows: Rows) -> Statement:
    """Rows make room for others with the same id."""
    ids = {row[0] for row in rows}
    return Statement(
        f"replace the same ids {rows}",
        lambda spark, table: table.overwrite(frame(spark, rows), replace_using=["id"]),
        lambda old: [row for row in old if row[0] not in ids] + rows,
    )


def replace_partitions(rows: Rows) -> Statement:
    """Partitions make room for others of the same value; of partitioned tables only."""
    parts = {row[1] for row in rows}
    return Statement(
        f"replace partitions {rows}",
        lambda spark, table: table.overwrite(frame(spark, rows), partition_overwrite="dynamic"),
        lambda old: [row for row in old if row[1] not in parts] + rows,
    )


def delete(where: Where) -> Statement:
    """Take rows away."""
    return Statement(
        f"delete {where.sql}",
        lambda spark, table: table.delete(where.sql, spark=spark),
        lambda old: [row for row in old if not where.holds(row)],
    )


def update(where: Where) -> Statement:
    """Change rows, some of which go to another partition."""

    def changed(row: Row) -> Row:
        return row[0], str(row[2]) if row[2] in (0, 1) else row[1], row[0]

    return Statement(
        f"update {where.sql}",
        lambda spark, table: table.update(
            {"p": "if(v in (0, 1), string(v), p)", "v": "id"}, where.sql, spark=spark
        ),
        lambda old: [changed(row) if where.holds(row) else row for row in old],
    )


def merge(rows: Rows, deletes: bool, inserts: bool, alone: str) -> Statement:
    """Change rows by others with the same id, and those ``alone`` that none has, as told."""
    source = list({row[0]: row for row in rows}.values())  # one for each id

    def run(spark: SparkSession, table: Table) -> object:
        merge = table.merge(frame(spark, source), "t.id = s.id")
        if deletes:
            merge = merge.when_matched_delete("s.v = 0 or t.v = 1")
        merge = merge.when_matched_update("s.p is not null", {"v": "s.v", "p": "s.p"})
        if inserts:
            merge = merge.when_not_matched_insert_all("s.id % 2 = 0")
        if alone == "update":
            merge = merge.when_not_matched_by_source_update("t.p = '0'", {"v": "9"})
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
        if alone == "update" and row[1] == "0":
            return row[0], row[1], 9
        return None if alone == "delete" and row[0] > 8 else row
    if deletes and (match[2] == 0 or row[2] == 1):
        return None
    return (row[0], match[1], match[2]) if match[1] is not None else row


_MAINTENANCE: dict[str, Callable[[SparkSession, Table], object]] = {
    "optimize": lambda spark, table: table.optimize(spark=spark),
    "optimize full": lambda spark, table: table.optimize(full=True, spark=spark),
    "z-order": lambda spark, table: table.optimize(z_order_by=["v", "id"], spark=spark),
    "purge": lambda spark, table: table.purge(spark=spark),
    "checkpoint": lambda spark, table: table.checkpoint(),
}
_NOT = {"clustered": "z-order", "plain": "optimize full", "partitioned": "optimize full"}
"""What a table of that layout refuses."""


def keep(name: str) -> Statement:
    """Lay the rows out anew, or write down what there is; no row changes."""
    return Statement(name, _MAINTENANCE[name], list)


def statements(layout: str) -> Any:
    """Any statement that a table of that layout takes."""
    kept = [keep(name) for name in _MAINTENANCE if name != _NOT[layout]]
    return st.one_of(
        ROWS.map(append),
        WHERES.map(delete),
        WHERES.map(update),
        st.builds(merge, ROWS, st.booleans(), st.booleans(), st.sampled_from(["", "update", "delete"])),
        ROWS.map(overwrite),
        st.builds(replace, ROWS, WHERES),
        ROWS.map(replace_using),
        st.sampled_from(kept),
        *([ROWS.map(replace_partitions)] if layout == "partitioned" else []),
    )
