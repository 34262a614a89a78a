"""MERGE: which clause decides, what it refuses, and many of them at once."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StructType

from headgate import Lake, Table
from headgate.errors import ConflictError, ConstraintViolated, InvalidRequest
from headgate.spark.dml.merge import merge_source
from tests.support.changed_tables import FEED, VECTORS, before_commit, changes, files, made, tuples

pytestmark = pytest.mark.spark


def numbers(spark: SparkSession, lake: Lake, *switches: dict[str, str], files: int = 1) -> Table:
    """Ids 0 to 9, each with its own text."""
    table = made(lake, "s.t", "id BIGINT, v STRING", *switches)
    table.append(spark.range(0, 10, 1, files).selectExpr("id", "concat('v', id) v"))
    return table


def source(spark: SparkSession, rows: list[tuple[Any, ...]], columns: str = "id INT, v STRING") -> DataFrame:
    return spark.createDataFrame(rows, columns)


def values(table: Table) -> dict[int, str]:
    return {row[0]: row[1] for row in tuples(table)}


@pytest.mark.parametrize("switches", [{}, VECTORS], ids=["rewritten", "hidden"])
def test_the_first_clause_that_holds_decides(
    spark: SparkSession, lake: Lake, switches: dict[str, str]
) -> None:
    table = numbers(spark, lake, switches, FEED)
    rows = source(spark, [(1, "a"), (2, "b"), (3, "c"), (4, None), (20, "n"), (21, "x"), (22, "y")])

    result = (
        table.merge(rows, "t.id = s.id")
        .when_matched_delete("s.v = 'b'")
        .when_matched_update("s.v <> 'c'", {"v": "concat(t.v, s.v)"})
        .when_not_matched_insert("s.v = 'x'", {"id": "s.id", "v": "'special'"})
        .when_not_matched_insert_all(F.col("s.id") > 20)
        .when_not_matched_by_source_update("t.id = 8", {"v": "'alone'"})
        .when_not_matched_by_source_delete("t.id > 7")
        .execute()
    )

    assert values(table) == {
        0: "v0", 1: "v1a", 3: "v3", 4: "v4", 5: "v5", 6: "v6", 7: "v7", 8: "alone", 21: "special", 22: "y",
    }  # fmt: skip
    counted = {name: result.metrics[name] for name in ("numSourceRows", "numTargetRowsInserted")}
    assert counted == {"numSourceRows": 7, "numTargetRowsInserted": 2}
    assert (result.metrics["numTargetRowsUpdated"], result.metrics["numTargetRowsDeleted"]) == (2, 2)
    assert [row[:2] for row in changes(table, result.version)] == [
        ("delete", 2), ("delete", 9), ("insert", 21), ("insert", 22), ("update_postimage", 1),
        ("update_postimage", 8), ("update_preimage", 1), ("update_preimage", 8),
    ]  # fmt: skip


def test_history_tells_the_clauses(spark: SparkSession, lake: Lake) -> None:
    table = numbers(spark, lake, VECTORS)
    merge = table.merge(source(spark, [(1, "a")]), F.expr("t.id = s.id"))
    result = merge.when_matched_delete("s.v = 'b'").when_matched_update_all().execute()

    info = table.log.history()[0].info
    assert info is not None
    assert info.operation_parameters == {
        "predicate": '["(t.id = s.id\\n)"]',
        "matchedPredicates": '[{"predicate":"s.v = \'b\'","actionType":"delete"},{"actionType":"update"}]',
        "notMatchedPredicates": "[]",
        "notMatchedBySourcePredicates": "[]",
    }
    assert info.operation_metrics == {name: str(value) for name, value in result.metrics.items()}


def test_two_rows_of_the_source_cannot_both_change_one(spark: SparkSession, lake: Lake) -> None:
    table = numbers(spark, lake, VECTORS, FEED)
    rows = source(spark, [(1, "a"), (1, "b"), (2, "c"), (30, "d")])
    merge = table.merge(rows, "t.id = s.id")

    for clauses in (
        merge.when_matched_update_all(),
        merge.when_matched_delete("s.v = 'a'").when_matched_update_all(),
        merge.when_matched_delete("s.v <> 'x'"),
    ):
        with pytest.raises(InvalidRequest, match="MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE") as error:
            clauses.execute()
    assert error.value.sqlstate == "21506"

    merge.when_matched_update("s.v <> 'a'", {"v": "s.v"}).execute()
    assert values(table)[1] == "b"  # only one of the two meets the condition
    done = merge.when_matched_delete().execute()
    assert (done.metrics["numTargetRowsDeleted"], sorted(values(table))) == (2, [0, *range(3, 10)])
    assert [row[:2] for row in changes(table, done.version)] == [("delete", 1), ("delete", 2)]


def test_an_insert_only_merge_adds_files_and_touches_none(spark: SparkSession, lake: Lake) -> None:
    table = numbers(spark, lake, VECTORS, FEED, files=2)
    before = files(table)

    result = (
        table.merge(source(spark, [(9, "x"), (10, "new"), (11, "newer")]), "s.id = t.id")
        .when_not_matched_insert_all()
        .execute()
    )

    assert before.items() <= files(table).items()
    assert (result.metrics["numTargetFilesAdded"], result.metrics["numTargetChangeFilesAdded"]) == (1, 0)
    assert values(table) == {**{n: f"v{n}" for n in range(10)}, 10: "new", 11: "newer"}
    again = table.merge(source(spark, [(10, "x")]), "s.id = t.id").when_not_matched_insert_all().execute()
    assert again.version == result.version  # nothing to say, no version


def test_only_files_that_can_match_are_opened(spark: SparkSession, lake: Lake) -> None:
    """By a part of the condition about the target alone, and by the keys that the source has."""
    table = numbers(spark, lake, VECTORS, files=2)
    low = next(path for path, row in files(table).items() if '"id":0' in row["stats"])
    (Path(table.location) / low).unlink()

    table.merge(source(spark, [(6, "a"), (30, "b")]), "t.id = s.id").when_matched_update_all().execute()
    table.merge(source(spark, [(0, "c")]), "t.id > 5 and s.id + 7 = t.id").when_matched_delete().execute()

    assert tuples(table, where="id > 5") == [(6, "a"), (8, "v8"), (9, "v9")]


@pytest.mark.parametrize("few", [1, 1_000])
@pytest.mark.parametrize(
    ("column", "stored", "given"),
    [
        ("INT", "int(v)", ("'9'", "'10'", "'1500'")),
        ("DATE", "date(v)", ("'2020-11-01'", "'2020-2-01'", "'2021-01-01'")),
        ("DATE", "date(v)", ("date'0001-01-01'", "date'2020-11-01'", "date'+10000-01-01'")),
        ("TIMESTAMP", "timestamp(v)", ("timestamp'-0001-01-01'", "timestamp'2020-11-01'")),
        ("DECIMAL(38,18)", "v + 0.004BD", ("CAST(1 AS DECIMAL(38,2))", "CAST(2 AS DECIMAL(38,2))")),
    ],
)
def test_keys_of_another_type_match_as_spark_compares_them(
    spark: SparkSession, lake: Lake, monkeypatch: pytest.MonkeyPatch, *, few: int, column: str, stored: str,
    given: tuple[str, ...],
) -> None:  # fmt: skip
    """Texts are in another order than what they are texts of, and Spark has days that Python has not."""
    monkeypatch.setattr(merge_source, "_FEW_KEYS", few)
    table = made(lake, "s.keys", f"v {column}")
    for key in given:
        table.append(spark.sql(f"SELECT CAST({stored} AS {column}) v FROM VALUES ({key}) AS k(v)"))

    rows = spark.sql(f"SELECT * FROM VALUES {', '.join(f'({key})' for key in given)} AS k(v)")
    result = table.merge(rows, "t.v = s.v").when_matched_delete().execute()

    assert result.metrics["numTargetRowsDeleted"] == len(given)


def test_names_that_differ_in_case_alone_are_two_where_case_counts(
    spark: SparkSession, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merge_source, "_FEW_KEYS", 1)
    table = numbers(spark, lake, files=5)
    rows = source(spark, [("10", 1, "a"), ("9", 2, "b")], "ID STRING, id INT, v STRING")
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        table.merge(rows, "t.id = s.id").when_matched_update_all().execute()
        table.merge(rows, "t.id = s.ID").when_matched_delete().execute()
    finally:
        spark.conf.unset("spark.sql.caseSensitive")

    assert values(table) == {**{n: f"v{n}" for n in range(9)}, 1: "a", 2: "b"}


def test_a_value_that_does_not_fit_is_refused_by_name(spark: SparkSession, lake: Lake) -> None:
    table = made(lake, "s.small", "id INT, v TINYINT")
    table.append(spark.sql("SELECT 1 id, CAST(1 AS TINYINT) v"))
    merge = table.merge(source(spark, [(1, 1_000), (2, 1_000)], "id INT, v INT"), "t.id = s.id")

    for clauses in (merge.when_matched_update_all(), merge.when_not_matched_insert_all()):
        with pytest.raises(ConstraintViolated, match="1000"):
            clauses.execute()
    assert tuples(table) == [(1, 1)]


def test_fields_come_into_lists_of_rows_that_are_only_copied(spark: SparkSession, lake: Lake) -> None:
    table = made(lake, "s.lists", "id INT, a ARRAY<STRUCT<x: INT>>, m MAP<INT, STRUCT<x: INT>>", FEED)
    nested = "array(named_struct('x', {0})) a, map(1, named_struct('x', {0})) m"
    table.append(spark.sql(f"SELECT CAST(id AS INT) id, {nested.format('CAST(id AS INT)')} FROM range(3)"))
    new = "array(named_struct('y', 7, 'x', 8)) a, map(1, named_struct('y', 7, 'x', 8)) m"

    merge = table.merge(spark.sql(f"SELECT 1 id, {new}"), "t.id = s.id").with_schema_evolution()
    merge.when_matched_update_all().execute()

    shown = table.read().selectExpr("id", "a[0].x", "a[0].y", "m[1].x", "m[1].y").collect()
    assert sorted(map(tuple, shown)) == [(0, 0, None, 0, None), (1, 8, 7, 8, 7), (2, 2, None, 2, None)]


def test_every_part_sees_the_same_source(spark: SparkSession, lake: Lake) -> None:
    """A source that would be other rows each time it is computed is computed once."""
    table = numbers(spark, lake, VECTORS, FEED)
    rows = spark.range(40).select(
        (F.floor(F.rand() * 1_000_000_000) + F.when(F.col("id") < 5, -1_000_000_000_000).otherwise(50)).alias(
            "key"
        ),
        F.when(F.col("id") < 10, F.col("id")).otherwise(F.col("id") + 100).alias("id"),
        F.expr("uuid()").alias("v"),
    )

    done = (
        table.merge(rows, "t.id = s.id and s.key > 0")
        .when_matched_update(set={"v": "s.v"})
        .when_not_matched_insert(values={"id": "s.key", "v": "s.v"})
        .execute()
    )

    assert len(values(table)) == 10 + 35
    new = [row[2] for row in changes(table, done.version) if row[0] in ("insert", "update_postimage")]
    assert sorted(new) == sorted(text for text in values(table).values() if len(text) > 3)


def test_new_columns_come_in_only_if_they_may(spark: SparkSession, lake: Lake) -> None:
    """S275, S286, S287 for MERGE."""
    table = made(lake, "s.t", "id BIGINT, s STRUCT<a: INT>", VECTORS)
    table.append(spark.range(0, 4, 1, 1).selectExpr("id", "named_struct('a', cast(id as int)) s"))
    rows = spark.sql(
        "select 1L id, named_struct('b', 'x', 'a', 10) s, 2.5D extra union all select 9L, null, 1D"
    )
    merge = table.merge(rows, "t.id = s.id")

    with pytest.raises(InvalidRequest, match="no column"):
        table.merge(rows.select("id"), "t.id = s.id").when_matched_update_all().execute()
    with pytest.raises(InvalidRequest, match="no column 'extra'"):
        merge.when_matched_update(set={"extra": "s.extra"}).execute()
    evolving = merge.with_schema_evolution().when_matched_update_all().when_not_matched_insert_all()
    evolving.execute()

    assert table.read().schema.simpleString() == "struct<id:bigint,s:struct<a:int,b:string>,extra:double>"
    found = {row.id: (row.s and (row.s.a, row.s.b), row.extra) for row in table.read().collect()}
    assert found == {
        0: ((0, None), None), 1: ((10, "x"), 2.5), 2: ((2, None), None), 3: ((3, None), None), 9: (None, 1.0),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("clauses", "code"),
    [
        (lambda merge: merge, "DELTA_MERGE_MISSING_WHEN"),
        (
            lambda merge: merge.when_matched_delete().when_matched_update_all(),
            "DELTA_NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION",
        ),
        (
            lambda merge: merge.when_not_matched_insert_all().when_not_matched_insert_all("s.id = 1"),
            "DELTA_NON_LAST_NOT_MATCHED_CLAUSE_OMIT_CONDITION",
        ),
        (
            lambda merge: merge.when_not_matched_by_source_delete().when_not_matched_by_source_delete(),
            "DELTA_NON_LAST_NOT_MATCHED_BY_SOURCE_CLAUSE_OMIT_CONDITION",
        ),
    ],
)
def test_clauses_that_never_decide_are_refused(
    spark: SparkSession, lake: Lake, clauses: Any, code: str
) -> None:
    table = made(lake, "s.t", "id BIGINT, v STRING")

    with pytest.raises(InvalidRequest) as error:
        clauses(table.merge(source(spark, [(1, "a")]), "t.id = s.id")).execute()

    assert error.value.code == code


@pytest.mark.parametrize(
    "clauses",
    [
        lambda merge: merge.when_not_matched_by_source_update(set={"v": "s.v"}),
        lambda merge: merge.when_not_matched_by_source_delete("s.v IS NULL"),
    ],
)
def test_of_rows_without_a_match_nothing_of_the_source_is_known(
    spark: SparkSession, lake: Lake, clauses: Any
) -> None:
    """They would be set to null."""
    table = numbers(spark, lake, VECTORS)
    before = table.version()

    with pytest.raises(InvalidRequest, match="columns of the table only") as error:
        clauses(table.merge(source(spark, [(1, "a")]), "t.id = s.id")).execute()

    assert error.value.code == "DELTA_MERGE_UNRESOLVED_EXPRESSION"
    assert table.version() == before


def test_a_row_that_kept_another_out_must_stay(
    spark: SparkSession, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Were it deleted first, the MERGE would have inserted one."""
    table, other = numbers(spark, lake, VECTORS), lake.table("s.t")
    merge = table.merge(source(spark, [(3, "x"), (40, "y")]), "t.id = s.id").when_not_matched_insert_all()

    before_commit(monkeypatch, table, lambda: other.delete("id = 3"))
    with pytest.raises(ConflictError, match="CONCURRENT_DELETE_READ"):
        merge.execute()
    before_commit(monkeypatch, table, lambda: other.delete("id = 4"))
    merge.execute()

    assert sorted(values(table)) == [0, 1, 2, 3, 5, 6, 7, 8, 9, 40]


def test_merges_on_other_keys_all_land_and_on_the_same_keys_one_of_each_pair(
    spark: SparkSession, lake: Lake
) -> None:
    """Keys that lie between each other, in one file, updated and inserted at the same time."""
    numbers(spark, lake, VECTORS)
    tables = [lake.table("s.t") for _ in range(4)]
    bases = [table.log.snapshot() for table in tables]
    for table, base in zip(tables, bases, strict=True):  # all of them start from the same version
        table.log.snapshot = lambda base=base, **_: base  # type: ignore[method-assign, misc]

    def run(number: int) -> str:
        keys = [number % 2, 2 + number % 2, 20 + number % 2, 22 + number % 2]
        rows = source(spark, [(key, f"w{number}") for key in keys])
        merge = tables[number].merge(rows, "t.id = s.id")
        try:
            merge.when_matched_update_all().when_not_matched_insert_all().execute()
        except ConflictError as error:
            return error.code
        return "landed"

    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(run, range(4)))

    assert sorted(outcomes[0::2]).count("landed") == sorted(outcomes[1::2]).count("landed") == 1
    found = values(lake.table("s.t"))
    for parity in (0, 1):
        (winner,) = (n for n in (parity, parity + 2) if outcomes[n] == "landed")
        assert {found[key] for key in (parity, 2 + parity, 20 + parity, 22 + parity)} == {f"w{winner}"}
    assert len(found) == 14


def test_fields_that_only_the_table_has_stay(spark: SparkSession, lake: Lake) -> None:
    """With evolution; without it nobody said what becomes of them, nor of what only the source has."""
    table = made(lake, "s.t", "id INT, s STRUCT<a: INT, b: STRUCT<c: INT, d: INT>>")
    old = "named_struct('a', 1, 'b', named_struct('c', 2, 'd', 3)) s"
    table.append(spark.sql(f"SELECT CAST(id AS INT) id, IF(id = 2, NULL, s) s FROM range(3), (SELECT {old})"))
    new = "named_struct('b', named_struct('c', 7, 'e', 8)) s"
    rows = spark.sql(
        f"SELECT 1 id, {new} UNION ALL SELECT 2, NULL UNION ALL SELECT 3, {new.removesuffix(' s')}"
    )
    merge = table.merge(rows, "t.id = s.id")

    for clauses in (merge.when_matched_update_all(), merge.when_not_matched_insert_all()):
        with pytest.raises(InvalidRequest, match="DELTA_UPDATE_SCHEMA_MISMATCH_EXPRESSION"):
            clauses.execute()
    merge.with_schema_evolution().when_matched_update_all().when_not_matched_insert_all().execute()

    found = {row.id: row.s and (row.s.a, row.s.b and tuple(row.s.b)) for row in table.read().collect()}
    assert found == {
        0: (1, (2, 3, None)), 1: (1, (7, 3, 8)), 2: None, 3: (None, (7, None, 8)),
    }  # fmt: skip


def test_only_what_clauses_name_comes_in(spark: SparkSession, lake: Lake) -> None:
    """And a column that is set to something else than the source's may be of another type."""
    table = made(lake, "s.t", "id INT, day DATE, n INT, s STRUCT<a: INT>")
    table.append(spark.sql("SELECT CAST(id AS INT) id, DATE'2026-01-01' day, 1 n, NULL s FROM range(2)"))
    rows = spark.sql("SELECT 1 id, '2026-02-02' day, array(1) n, named_struct('a', 5, 'b', 6, 'c', 7) s, 8 m")

    (
        table.merge(rows, "t.id = s.id")
        .with_schema_evolution()
        .when_matched_update(set={"day": "to_date(s.day)", "s.b": "s.s.b", "m": "s.m"})
        .when_not_matched_by_source_update(set={"n": "0"})
        .execute()
    )

    assert table.read().columns == ["id", "day", "n", "s", "m"]
    shown = table.read().selectExpr("id", "cast(day as string)", "n", "to_json(s)", "m").collect()
    assert sorted(map(tuple, shown)) == [(0, "2026-01-01", 0, None, None), (1, "2026-02-02", 1, '{"b":6}', 8)]


def test_a_generated_column_follows_in_the_clauses_that_do_not_set_it(
    spark: SparkSession, lake: Lake
) -> None:
    generated = {"delta.generationExpression": "id * 2"}
    columns = StructType().add("id", LongType()).add("g", LongType(), True, generated)
    table = made(lake, "s.t", columns, FEED)
    table.append(spark.range(0, 4, 1, 1))
    rows = spark.createDataFrame([(1, 202), (2, 0), (8, 16), (9, 0)], "id BIGINT, g BIGINT")

    done = (
        table.merge(rows, "t.id = s.id")
        .when_matched_update("s.id = 1", {"id": "101", "g": "s.g"})
        .when_matched_update(set={"id": "s.id + 200"})
        .when_not_matched_insert_all("s.id = 8")
        .when_not_matched_insert(values={"id": "s.id"})
        .execute()
    )

    assert tuples(table) == [(0, 0), (3, 6), (8, 16), (9, 18), (101, 202), (202, 404)]
    new = [row[1:] for row in changes(table, done.version) if row[0] in ("insert", "update_postimage")]
    assert sorted(new) == [(8, 16), (9, 18), (101, 202), (202, 404)]
