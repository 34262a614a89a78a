"""One history of a table, compared with what a list of tuples says of every version of it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

import deltalake
import pyarrow as pa
from pyspark.sql import SparkSession

from headgate import Table
from tests.support import duck
from tests.support.row_model import Row, Rows, Shape, Statement, frame

ALWAYS: Rows = [(1, "0", 1), (2, "1", None), (3, None, 3)]
"""So that no history begins with nothing."""


def check(
    spark: SparkSession, location: str, shape: Shape, first: Rows, statements: Sequence[Statement]
) -> None:
    """Play the statements on a new table, and have everybody read what became of it."""
    table = shape.make(location)
    rows = [*first, *ALWAYS]
    table.append(frame(spark, rows))
    expected = {table.version(): rows}
    for statement in statements:
        statement.run(spark, table)
        rows = statement.model(rows)
        expected[table.version()] = rows

    for version, wanted in expected.items():
        assert _found(table, version) == Counter(wanted), (version, statements)
    if shape.tracked:
        ids = [row["_row_id"] for row in table.read(row_ids=True).collect()]
        assert len(set(ids)) == len(ids) == len(rows)
    if shape.feed:
        _check_feed(table, expected)
    if not (shape.mapped and shape.layout == "partitioned"):
        # There DuckDB finds no partition value (its issue 343).
        assert _by_duckdb(location) == Counter(rows), statements
    assert _by_deltalake(location) == Counter(rows), statements


def _found(table: Table, version: int) -> Counter[Row]:
    return Counter(tuple(row) for row in table.read(version=version).collect())


def _by_duckdb(location: str) -> Counter[Row]:
    with duck.connect() as connection:
        return Counter(connection.sql(f"SELECT id, p, v FROM delta_scan('{location}')").fetchall())


def _by_deltalake(location: str) -> Counter[Row]:
    query = deltalake.QueryBuilder().register("t", deltalake.DeltaTable(location))
    found = pa.table(query.execute("SELECT id, p, v FROM t").read_all()).to_pylist()
    return Counter((row["id"], row["p"], row["v"]) for row in found)


def _check_feed(table: Table, expected: Mapping[int, Rows]) -> None:
    """The changes of each version lead from the rows before it to those after it."""
    changes = table.changes(0).collect()
    for before, after in pairwise(expected):
        balance = Counter(expected[before])
        for row in changes:
            if before < row["_commit_version"] <= after:
                sign = 1 if row["_change_type"] in ("insert", "update_postimage") else -1
                balance[row["id"], row["p"], row["v"]] += sign
        assert {row: count for row, count in balance.items() if count} == dict(Counter(expected[after])), (
            after
        )
