"""CHECK constraints: added over rows that meet them, enforced from then on, and dropped."""

from typing import Any

import pytest
from pyspark.sql import SparkSession

from headgate import Lake, Table
from headgate.errors import ConflictError, ConstraintViolated, InvalidRequest, MetadataChanged

pytestmark = pytest.mark.spark


@pytest.fixture
def table(spark: SparkSession, lake: Lake) -> Table:
    made = lake.create_table("s.t", "id BIGINT, amount INT")
    made.append(spark.sql("SELECT id, CAST(id + 1 AS INT) AS amount FROM range(3)"))
    return made


def test_a_constraint_holds_for_old_rows_and_new_ones(spark: SparkSession, table: Table) -> None:
    table.add_constraint("Positive", "amount > 0")

    assert table.properties()["delta.constraints.positive"] == "amount > 0"
    with pytest.raises(ConstraintViolated, match=r"positive.*amount > 0"):
        table.append(spark.sql("SELECT 9L AS id, 0 AS amount"))
    with pytest.raises(ConstraintViolated):
        table.append(spark.sql("SELECT 9L AS id, CAST(NULL AS INT) AS amount"))
    with pytest.raises(ConstraintViolated):
        table.update(set={"amount": "-1"}, where="id = 1")
    table.append(spark.sql("SELECT 9L AS id, 7 AS amount"))
    assert table.read().count() == 4


def test_rows_that_break_it_are_shown(table: Table) -> None:
    version = table.version()

    with pytest.raises(
        ConstraintViolated, match=r"1 rows of the table break amount > 1, such as .*'id': 0"
    ) as no:
        table.add_constraint("more", "amount > 1")

    assert no.value.code == "DELTA_NEW_CHECK_CONSTRAINT_VIOLATION"
    assert table.version() == version


@pytest.mark.parametrize(
    ("name", "expression", "said"),
    [
        ("a", "amount + 1", "is of type int"),
        ("a", "nowhere > 1", "is not a condition"),
        ("a", "amount >", "is not a condition"),
        ("", "amount > 0", "not a name"),
        ("a.b", "amount > 0", "not a name"),
    ],
)
def test_what_is_no_constraint_is_refused(table: Table, name: str, expression: str, said: str) -> None:
    with pytest.raises(InvalidRequest, match=said):
        table.add_constraint(name, expression)


def test_a_name_is_taken_once_and_dropped_by_any_case(spark: SparkSession, table: Table) -> None:
    table.add_constraint("positive", "amount > 0")
    with pytest.raises(InvalidRequest) as taken:
        table.add_constraint("POSITIVE", "amount > 0")
    assert taken.value.code == "DELTA_CONSTRAINT_ALREADY_EXISTS"

    version = table.drop_constraint("Positive")

    table.append(spark.sql("SELECT 9L AS id, -1 AS amount"))
    assert table.drop_constraint("positive", if_exists=True) == version + 1
    with pytest.raises(InvalidRequest) as absent:
        table.drop_constraint("positive")
    assert absent.value.code == "DELTA_CONSTRAINT_DOES_NOT_EXIST"


def test_rows_that_nobody_looked_at_win(
    spark: SparkSession, lake: Lake, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = table.log.commit

    def delayed(change: Any, *, base: Any) -> object:
        lake.table("s.t").append(spark.sql("SELECT 9L AS id, -1 AS amount"))
        return commit(change, base=base)

    monkeypatch.setattr(table.log, "commit", delayed)
    with pytest.raises(ConflictError):
        table.add_constraint("positive", "amount > 0")

    assert "delta.constraints.positive" not in table.properties()


def test_rows_are_checked_by_a_constraint_that_came_while_they_were_written(
    spark: SparkSession, lake: Lake, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P24: an append writes its rows once more, and overwrites are told."""
    commit, others = table.log.commit, iter(("positive", "small", "odd"))

    def delayed(change: Any, *, base: Any) -> object:
        if name := next(others, None):
            lake.table("s.t").add_constraint(name, "amount > 0")
            monkeypatch.setattr(table.log, "commit", commit)
        return commit(change, base=base)

    monkeypatch.setattr(table.log, "commit", delayed)
    with pytest.raises(ConstraintViolated, match="amount = -1"):
        table.append(spark.sql("SELECT 9L AS id, -1 AS amount"))
    assert table.read().count() == 3
    monkeypatch.setattr(table.log, "commit", delayed)
    table.append(spark.sql("SELECT 9L AS id, 1 AS amount"))
    assert table.read().count() == 4
    monkeypatch.setattr(table.log, "commit", delayed)
    with pytest.raises(MetadataChanged):
        table.overwrite(spark.sql("SELECT 9L AS id, 1 AS amount"))

    assert next(others, None) is None
    assert table.read().count() == 4


def test_a_column_of_a_constraint_is_not_renamed(table: Table) -> None:
    table.set_properties({"delta.columnMapping.mode": "name"})
    table.add_constraint("positive", "amount > 0")

    with pytest.raises(InvalidRequest, match="drop the constraint first"):
        table.rename_column("amount", "sum")
    table.drop_constraint("positive")
    assert table.rename_column("amount", "sum") == table.version()
