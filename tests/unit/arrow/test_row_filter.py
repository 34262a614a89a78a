"""Which rows a predicate is true for: random conditions against what they mean, worked out in Python."""

from random import Random
from typing import Any

import pyarrow as pa
import pytest

from headgate.arrow import arrow_types, row_filter
from headgate.errors import UnsupportedFeature
from headgate.protocol.predicates import from_sql
from tests.support import conditions
from tests.support.conditions import SCHEMA

SEEDS = 40
CONDITIONS = 50
ROWS = 60


def _rows(random: Random) -> list[dict[str, Any]]:
    return [
        {field.name: conditions.value(random, field.name) for field in SCHEMA.fields} for _ in range(ROWS)
    ]


def _columns(rows: list[dict[str, Any]]) -> dict[str, pa.ChunkedArray]:
    found = {}
    for field in SCHEMA.fields:
        values = [row[field.name] for row in rows]
        if field.name == "st":
            values = [None if value is None else {"X.y": value} for value in values]
        found[field.name] = pa.chunked_array(
            [pa.array(values, arrow_types.arrow_type(field.type, field.name))]
        )
    return found


@pytest.mark.parametrize("seed", range(SEEDS))
def test_just_the_rows_for_which_a_condition_is_true(seed: int) -> None:
    random = Random(seed)
    rows = _rows(random)
    columns = _columns(rows)
    evaluated = 0
    for _ in range(CONDITIONS):
        condition = conditions.condition(random)
        predicate = from_sql.parse(condition.sql, SCHEMA, time_zone="UTC")
        if row_filter.first_opaque(predicate) is not None:
            continue
        evaluated += 1
        mask = row_filter.true_for(predicate, columns, ROWS)
        found = [True] * ROWS if mask is None else mask.to_pylist()
        assert found == [condition.truth(row) is True for row in rows], condition.sql

    assert evaluated >= CONDITIONS // 5


def test_what_only_spark_evaluates_is_refused_by_name() -> None:
    sql = "i > 5 AND upper(s) = 'A'"

    with pytest.raises(UnsupportedFeature, match=r"upper\(s\).* without Spark.* or use table.read"):
        row_filter.require_exact(from_sql.parse(sql, SCHEMA), sql, "use table.read(where=…)")


def test_a_moment_without_a_zone_is_refused_where_no_zone_is_known() -> None:
    found = from_sql.parse("ts > '2026-01-01'", SCHEMA, time_zone="")

    assert row_filter.first_opaque(found) is not None
    assert (
        row_filter.first_opaque(from_sql.parse("ts > '2026-01-01T00:00:00Z'", SCHEMA, time_zone="")) is None
    )
