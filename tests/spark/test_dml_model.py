"""Any sequence of statements gives the rows that a list of tuples would have, at every version."""

import os
import tempfile
from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from headgate import Table
from tests.support import duck
from tests.support.changed_tables import changes
from tests.support.row_model import ROWS, SHAPES, STATEMENTS, Row, Rows, Shape, Statement, frame

pytestmark = pytest.mark.spark

EXAMPLES = int(os.environ.get("HEADGATE_MODEL_EXAMPLES", "2"))


@settings(
    max_examples=EXAMPLES, deadline=None, derandomize=EXAMPLES < 10, database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.generate],
)  # fmt: skip
@given(shape=SHAPES, first=ROWS, statements=st.lists(STATEMENTS, min_size=3, max_size=5))
def test_the_table_is_what_the_model_says(
    spark: SparkSession, shape: Shape, first: Rows, statements: list[Statement]
) -> None:
    with tempfile.TemporaryDirectory() as location:
        table = shape.make(location)
        rows = [*first, (1, 0, 1), (2, 1, None), (3, None, 3)]
        table.append(frame(spark, rows))
        expected = {table.version(): rows}
        for statement in statements:
            statement.run(spark, table)
            rows = statement.model(rows)
            expected[table.version()] = rows

        for version, wanted in expected.items():
            assert found(table, version) == Counter(wanted), (version, statements)
        if not (shape.mapped and shape.partitioned):  # there DuckDB finds no partition value (its issue 343)
            assert by_duckdb(location) == Counter(rows)
        if shape.feed:
            check_feed(table, expected)


def found(table: Table, version: int) -> Counter[Row]:
    return Counter(tuple(row) for row in table.read(version=version).collect())


def by_duckdb(location: str) -> Counter[Row]:
    with duck.connect() as connection:
        return Counter(connection.sql(f"SELECT id, p, v FROM delta_scan('{location}')").fetchall())


def check_feed(table: Table, expected: dict[int, Rows]) -> None:
    """What came less what went is the difference of any two versions."""
    first, *_, last = expected
    came, went = Counter[Row](), Counter[Row]()
    for kind, *row in changes(table, first + 1) if last > first else []:
        (came if kind in ("insert", "update_postimage") else went)[tuple(row)] += 1  # type: ignore[index]
    before, after = Counter(expected[first]), Counter(expected[last])
    assert before + came == after + went
