"""What options make of a write: which rows go, which columns come, and what is refused."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import headgate
from headgate import Lake, Table
from headgate.errors import (
    ConcurrentAppend,
    ConstraintViolated,
    HeadgateError,
    InvalidRequest,
    SchemaMismatch,
    TableExists,
)
from headgate.protocol.actions import AddFile, RemoveFile
from headgate.spark.data_files import option_rows
from headgate.spark.data_files.option_rows import WriteKind
from headgate.spark.data_files.write_options import AUTO_MERGE, USER_METADATA
from tests.spark.test_write import before_commit, data_files, live_files
from tests.support import rows
from tests.support.handmade import column, write_log

pytestmark = pytest.mark.spark


@pytest.fixture
def table(spark: SparkSession, lake: Lake) -> Table:
    """Ids 0 to 5, in the partitions a (even) and b (odd)."""
    made = lake.create_table("s.t", "id BIGINT, part STRING", partition_by=["part"])
    made.append(parts(spark, "range(6)"))
    return made


def parts(spark: SparkSession, source: str) -> DataFrame:
    return spark.sql(f"SELECT id, IF(id % 2 = 0, 'a', 'b') AS part FROM {source}").coalesce(1)


def ids(table: Table, **options: Any) -> list[int]:
    return sorted(row["id"] for row in table.read(**options).collect())


@contextmanager
def setting(spark: SparkSession, name: str, value: str) -> Iterator[None]:
    spark.conf.set(name, value)
    try:
        yield
    finally:
        spark.conf.unset(name)


def test_a_new_column_comes_with_the_option_or_the_session(spark: SparkSession, table: Table) -> None:
    """S275, S276, S122"""
    extra = spark.sql("SELECT true AS extra, 7L AS id")

    with pytest.raises(SchemaMismatch, match="mergeSchema"):
        table.append(extra)
    with setting(spark, AUTO_MERGE, "true"):
        for refused in ("append", "overwrite"):
            with pytest.raises(SchemaMismatch):
                getattr(table, refused)(extra, merge_schema=False)
        table.append(extra)

    assert table.read().columns == ["id", "part", "extra"]
    assert table.read(where="id = 7").collect()[0].asDict() == {"id": 7, "part": None, "extra": True}
    assert '"extra"' in table.log.describe().metadata.schema_string
    assert table.log.history()[0].info.operation_parameters == {
        "mode": "Append", "partitionBy": '["part"]', "canMergeSchema": "true"
    }  # fmt: skip


def test_an_overwrite_replaces_columns_only_if_told(spark: SparkSession, table: Table) -> None:
    """S277, S279, S282"""
    other = spark.sql("SELECT 'x' AS id, 1 AS day")

    with pytest.raises(SchemaMismatch, match="overwriteSchema"):
        table.overwrite(spark.sql("SELECT 1L AS id, 1 AS day"))
    with pytest.raises(SchemaMismatch, match="partition"):
        table.overwrite(parts(spark, "range(1)"), partition_by=["id"], merge_schema=True)
    table.overwrite(other, overwrite_schema=True, partition_by=["day"])

    assert table.read().dtypes == [("id", "string"), ("day", "int")]
    assert table.log.snapshot().state.metadata.partition_columns == ("day",)
    assert ids(table, version=1) == [0, 1, 2, 3, 4, 5]


def test_columns_that_differ_in_case_or_are_missing_fit(spark: SparkSession, table: Table) -> None:
    """S281, S285, S284"""
    table.overwrite(spark.sql("SELECT 9L AS ID"))

    assert rows.of_frame(table.read()) == [{"id": 9, "part": None}]
    with pytest.raises(SchemaMismatch):
        table.append(spark.sql("SELECT 9L AS ID, 1L AS id"))


def test_fields_of_structs_fit_by_name(spark: SparkSession, lake: Lake) -> None:
    """S286, S287"""
    nested = lake.create_table(
        "s.n", "id BIGINT, l ARRAY<STRUCT<a: INT, b: STRING>>, m MAP<STRING, STRUCT<a: INT>>"
    )
    frame = spark.sql(
        "SELECT 1L AS id, array(named_struct('new', 1.5D, 'B', 'x', 'a', 1), null) AS l, "
        "map('k', named_struct('c', 2, 'a', 3)) AS m"
    )

    nested.append(frame.selectExpr("id", "transform(l, s -> named_struct('B', s.b, 'a', s.a)) AS l"))
    nested.append(frame, merge_schema=True)

    first, second = sorted(nested.read().collect(), key=lambda row: row.m is not None)
    assert first.l[0].asDict() == {"a": 1, "b": "x", "new": None}
    assert second.l[0].asDict() == {"a": 1, "b": "x", "new": 1.5}
    assert second.l[1] is None
    assert second.m["k"].asDict() == {"a": 3, "c": 2}


def test_a_partition_is_replaced_by_a_condition_on_it(spark: SparkSession, table: Table) -> None:
    """S278"""
    before = live_files(table)

    table.overwrite(parts(spark, "range(10, 14, 2)"), replace_where="part = 'a'")

    assert ids(table) == [1, 3, 5, 10, 12]
    assert len(live_files(table) & before) == 1
    assert table.log.history()[0].info.operation_parameters["predicate"] == "part = 'a'"  # type: ignore[index]
    with_more = parts(spark, "range(20, 22, 2)").withColumn("n", F.lit(1))
    with pytest.raises(SchemaMismatch):
        table.overwrite(with_more, replace_where="part = 'a'", overwrite_schema=True)
    table.overwrite(with_more, replace_where=F.col("part") == "a", merge_schema=True)
    assert ids(table) == [1, 3, 5, 20]


def test_new_rows_must_be_among_those_they_replace(spark: SparkSession, table: Table) -> None:
    """S301"""
    before = data_files(table)

    with pytest.raises(ConstraintViolated, match="part = b") as caught:
        table.overwrite(parts(spark, "range(2)"), replace_where="part = 'a'")

    assert caught.value.code == "DELTA_REPLACE_WHERE_MISMATCH"
    assert (table.version(), data_files(table)) == (1, before)


@pytest.mark.parametrize("feed", ["true", "false"])
def test_rows_are_replaced_by_a_condition_on_any_column(spark: SparkSession, lake: Lake, feed: str) -> None:
    """S278; a change feed has both what went and what came."""
    table = lake.create_table("s.d", "id BIGINT, v STRING", properties={"delta.enableChangeDataFeed": feed})
    table.append(spark.range(6).selectExpr("id", "'old' AS v").coalesce(1))

    table.overwrite(spark.range(3, 5).selectExpr("id", "'new' AS v"), replace_where="id BETWEEN 2 AND 4")

    assert [(row["id"], row["v"]) for row in rows.of_frame(table.read())] == [
        (0, "old"), (1, "old"), (3, "new"), (4, "new"), (5, "old")
    ]  # fmt: skip
    if feed == "true":
        changes = sorted((row["id"], row["_change_type"]) for row in table.changes(2).collect())
        assert changes == [(2, "delete"), (3, "delete"), (3, "insert"), (4, "delete"), (4, "insert")]
    with pytest.raises(InvalidRequest, match="dataChange"):
        table.overwrite(
            spark.range(0).selectExpr("id", "'x' AS v"), replace_where="id = 1", data_change=False
        )


def test_rows_replace_those_with_the_same_keys(spark: SparkSession, table: Table) -> None:
    extra = spark.createDataFrame([(4, "b"), (9, "b"), (None, "a")], "id BIGINT, part STRING")

    table.overwrite(extra, replace_using=["ID"])
    assert [(row["id"], row["part"]) for row in table.read(where="id IN (4, 9)").collect()] == [
        (4, "b"),
        (9, "b"),
    ]
    assert table.read().count() == 8

    table.overwrite(spark.sql("SELECT 0L AS id, 'z' AS part"), replace_on="t.id <= s.id + 2")
    assert sorted(str(row["id"]) for row in table.read().collect()) == ["0", "3", "4", "5", "9", "None"]


def test_a_dynamic_overwrite_replaces_the_partitions_that_get_rows(spark: SparkSession, table: Table) -> None:
    """S299, S302"""
    table.append(spark.sql("SELECT 7L AS id, CAST(NULL AS STRING) AS part"))

    table.overwrite(
        spark.sql("SELECT 8L AS id, 'b' AS part UNION ALL SELECT 9L, NULL"), partition_overwrite="dynamic"
    )

    assert ids(table) == [0, 2, 4, 8, 9]
    table.overwrite(
        spark.sql("SELECT 5L AS id, CAST(NULL AS STRING) AS part"),
        partition_overwrite="dynamic",
        keep_null_partitions=True,
    )
    assert ids(table) == [0, 2, 4, 5, 8, 9]
    with pytest.raises(InvalidRequest, match="dynamic"):
        table.overwrite(parts(spark, "range(1)"), keep_null_partitions=True)
    with pytest.raises(InvalidRequest) as caught:
        table.overwrite(parts(spark, "range(1)"), partition_overwrite="dynamic", overwrite_schema=True)
    assert caught.value.code == "DELTA_OVERWRITE_SCHEMA_WITH_DYNAMIC_PARTITION_OVERWRITE"


def test_without_partitions_a_dynamic_overwrite_is_one_of_all(spark: SparkSession, lake: Lake) -> None:
    """S299"""
    table = lake.create_table("s.u", "id BIGINT")
    table.append(spark.range(3))

    table.overwrite(spark.range(5, 6), partition_overwrite="dynamic")

    assert ids(table) == [5]


@pytest.mark.parametrize("how", ["replace_where", "dynamic"])
def test_overwrites_of_different_partitions_both_land(
    spark: SparkSession, lake: Lake, table: Table, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    rival = lake.table("s.t")

    def replace(target: Table, first: int) -> None:
        frame = parts(spark, f"range({first}, {first + 1})")
        part = "a" if first % 2 == 0 else "b"
        if how == "dynamic":
            target.overwrite(frame, partition_overwrite="dynamic")
        else:
            target.overwrite(frame, replace_where=f"part = '{part}'")

    with monkeypatch.context() as patched:
        before_commit(patched, table, lambda: replace(rival, 100))
        replace(table, 101)
    assert ids(table) == [100, 101]

    with monkeypatch.context() as patched:
        before_commit(patched, table, lambda: replace(rival, 200))
        with pytest.raises(ConcurrentAppend):
            replace(table, 300)
    assert ids(table) == [101, 200]


def test_an_application_writes_a_batch_once(spark: SparkSession, table: Table) -> None:
    """S303"""
    more = parts(spark, "range(10, 12)")

    assert table.append(more, txn=("loader", 4)) == 2
    assert table.append(more, txn=("loader", 4)) == 2
    assert table.append(more, txn=("loader", 3)) == 2
    assert table.overwrite(more, txn=("loader", 4)) == 2
    assert table.append(more, txn=("loader", 5)) == 3
    assert table.append(more, txn=("other", 0)) == 4
    assert table.log.snapshot().state.txns["loader"].version == 5
    with pytest.raises(InvalidRequest, match="txnAppId"):
        option_rows.parse({"TXNappID": "loader"}, WriteKind.APPEND)


def test_what_the_user_says_is_in_the_history(spark: SparkSession, table: Table) -> None:
    """S304"""
    with setting(spark, USER_METADATA, "from the session"):
        table.append(parts(spark, "range(1)"))
        table.append(parts(spark, "range(1)"), user_metadata="from the option")

    said = [entry.info.user_metadata for entry in table.log.history(limit=3)]
    assert said == ["from the option", "from the session", None]


def test_a_rearranging_write_says_so(
    spark: SparkSession, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S298"""
    seen: list[Any] = []
    commit = table.log.commit
    monkeypatch.setattr(
        table.log,
        "commit",
        lambda change, *, base: (seen.extend(change.actions), commit(change, base=base))[1],
    )

    table.overwrite(table.read().coalesce(1), data_change=False)

    files = [action for action in seen if isinstance(action, (AddFile, RemoveFile))]
    assert len(files) == 4 and not any(file.data_change for file in files)
    assert ids(table) == [0, 1, 2, 3, 4, 5]


def test_writes_of_all_kinds_in_one_transaction(spark: SparkSession, lake: Lake, table: Table) -> None:
    other = lake.create_table("s.other", "id BIGINT")

    with lake.transaction() as tx:
        tx.table("s.t").append(parts(spark, "range(6, 8)"), user_metadata="all or none")
        tx.table("s.t").overwrite(parts(spark, "range(20, 22, 2)"), replace_where="part = 'a'")
        tx.table("s.other").append(spark.sql("SELECT 1L AS id, 'x' AS new"), merge_schema=True)
        assert ids(table) == [0, 1, 2, 3, 4, 5]

    assert ids(table) == [1, 3, 5, 7, 20]
    assert rows.of_frame(other.read()) == [{"id": 1, "new": "x"}]


def test_save_modes(spark: SparkSession, lake: Lake) -> None:
    """S317"""
    first = lake.write(spark.range(3), "s.new", user_metadata="first")

    assert first.log.history()[0].info.operation == "CREATE TABLE AS SELECT"
    assert (first.version(), ids(first)) == (0, [0, 1, 2])
    with pytest.raises(TableExists):
        lake.write(spark.range(1), "s.new")
    assert lake.write(spark.range(1), "s.new", mode="ignore").version() == 0
    assert ids(lake.write(spark.range(3, 4), "s.new", mode="append")) == [0, 1, 2, 3]
    assert ids(lake.write(spark.range(1), "s.new", mode="overwrite")) == [0]
    with pytest.raises(InvalidRequest):
        lake.write(spark.range(1), "s.new", mode="upsert")  # type: ignore[arg-type]
    lake.write(spark.range(1), "s.only", properties={"delta.appendOnly": "true"}, mode="append")
    with pytest.raises(InvalidRequest) as caught:
        lake.write(spark.range(1), "s.only", mode="overwrite")
    assert caught.value.code == "DELTA_CANNOT_MODIFY_APPEND_ONLY"


def test_save_modes_of_a_path(spark: SparkSession, tmp_path: Path) -> None:
    """S317"""
    path = tmp_path / "t"

    made = headgate.write_path(parts(spark, "range(4)"), path, mode="append", partition_by=["part"])

    assert (made.version(), ids(made)) == (0, [0, 1, 2, 3])
    with pytest.raises(TableExists):
        headgate.write_path(parts(spark, "range(1)"), path)
    assert headgate.write_path(parts(spark, "range(1)"), path, mode="ignore").version() == 0
    assert ids(headgate.write_path(parts(spark, "range(9, 10)"), path, mode="overwrite")) == [9]
    assert headgate.at_path(path).log.snapshot().state.metadata.partition_columns == ("part",)


def test_a_table_is_made_of_rows_with_everything_it_needs(spark: SparkSession, lake: Lake) -> None:
    """S314; rows have ids from the first version on."""
    properties = {"delta.enableRowTracking": "true", "comment": "of rows", "delta.columnMapping.mode": "name"}

    made = lake.write(parts(spark, "range(4)"), "s.made", partition_by=["PART"], properties=properties)

    metadata = made.log.snapshot().state.metadata
    assert (metadata.description, metadata.partition_columns) == ("of rows", ("part",))
    assert "comment" not in metadata.configuration
    found = rows.of_frame(made.read(row_ids=True))
    assert sorted(row["_row_id"] for row in found) == [0, 1, 2, 3]
    with pytest.raises(InvalidRequest) as caught:
        lake.write(spark.range(1), "s.empty", data_change=False)
    assert caught.value.code == "DELTA_DATA_CHANGE_FALSE"
    with pytest.raises(HeadgateError):
        lake.table("s.empty")


def test_clustering_columns_can_be_restated_and_not_changed(spark: SparkSession, lake: Lake) -> None:
    """S209, S215"""
    table = lake.create_table(
        "s.c",
        "id BIGINT, s STRUCT<x: BIGINT>",
        cluster_by=["s.X"],
        properties={"delta.columnMapping.mode": "name"},
    )
    frame = spark.sql("SELECT 1L AS id, named_struct('x', 2L) AS s")

    table.append(frame, cluster_by=["s.x"])
    table.overwrite(frame, merge_schema=True)

    with pytest.raises(InvalidRequest) as caught:
        table.append(frame, cluster_by=["id"])
    assert caught.value.code == "DELTA_CLUSTERING_COLUMNS_MISMATCH"
    (paths,) = json.loads(table.domains()["delta.clustering"])["clusteringColumns"]
    assert len(paths) == 2 and all(part.startswith("col-") for part in paths)
    with pytest.raises(InvalidRequest) as both:
        lake.create_table("s.both", "id BIGINT, p STRING", partition_by=["p"], cluster_by=["id"])
    assert both.value.code == "DELTA_CLUSTER_BY_WITH_PARTITIONED_BY"


def test_void_columns_are_kept_and_not_stored(spark: SparkSession, lake: Lake) -> None:
    """S293, S294, S296"""
    frame = spark.sql(
        "SELECT id, NULL AS `v``oid`, IF(id = 0, NULL, named_struct('a', id, 'n', NULL)) AS s FROM range(2)"
    )

    table = lake.write(frame, "s.v", properties={"delta.columnMapping.mode": "name"})

    assert [(row["id"], row["s"]) for row in rows.of_frame(table.read())] == [
        (0, None),
        (1, {"a": 1, "n": None}),
    ]
    table.append(spark.sql("SELECT 2L AS id, 5 AS `v``oid`"), merge_schema=True)
    assert dict(table.read().dtypes)["v`oid"] == "int"
    assert [row["v`oid"] for row in rows.of_frame(table.read())] == [None, None, 5]
    with pytest.raises(SchemaMismatch) as caught:
        lake.write(spark.sql("SELECT 1 AS id, array(NULL) AS a").limit(0), "s.w")
    assert caught.value.code == "DELTA_COMPLEX_TYPE_COLUMN_CONTAINS_NULL_TYPE"
    with pytest.raises(HeadgateError):
        lake.write(spark.sql("SELECT NULL AS only"), "s.x")


def test_rows_that_break_a_constraint_are_shown(spark: SparkSession, tmp_path: Path) -> None:
    invariant = json.dumps({"expression": {"expression": "v < 100"}})
    columns = [column("id", "long"), column("v", "long", delta_invariants=invariant)]
    features = ["checkConstraints", "invariants"]
    write_log(tmp_path / "t", columns, [], features=features, delta_constraints_Positive="id > 0")
    table = _opened(tmp_path / "t")

    for query, constraint in (
        ("SELECT 1L AS id, 1L AS v UNION ALL SELECT -5L, 2L", "CHECK Positive (id > 0)"),
        ("SELECT CAST(NULL AS BIGINT) AS id, 1L AS v", "CHECK Positive (id > 0)"),
        ("SELECT 1L AS id, 100L AS v", "INVARIANT v (v < 100)"),
    ):
        with pytest.raises(ConstraintViolated) as caught:
            table.append(spark.sql(query))
        assert caught.value.code == "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES"
        assert caught.value.fields["constraint"] == constraint
    assert caught.value.fields["row"] == "v = 100, id = 1"
    assert data_files(table) == set()
    assert table.append(spark.sql("SELECT 1L AS id, 99L AS v")) == 1


def _opened(path: Path) -> Table:
    log = path / "_delta_log" / f"{0:020d}.json"
    log.write_text(
        log.read_text().replace('"readerFeatures":["checkConstraints","invariants"]', '"readerFeatures":[]')
    )
    return headgate.at_path(path)


def test_generated_columns_are_computed_or_verified(spark: SparkSession, tmp_path: Path) -> None:
    """S311"""
    table = _special(tmp_path, "generatedColumns", "twice", {"delta.generationExpression": "id * 2"})

    table.append(spark.range(3))
    table.append(spark.sql("SELECT 5L AS id, 10L AS twice"))

    assert [row["twice"] for row in rows.of_frame(table.read())] == [0, 2, 4, 10]
    with pytest.raises(ConstraintViolated, match="'twice' is generated as id"):
        table.append(spark.sql("SELECT 5L AS id, 11L AS twice"))


def test_defaults_fill_what_is_absent(spark: SparkSession, tmp_path: Path) -> None:
    table = _special(tmp_path, "allowColumnDefaults", "d", {"CURRENT_DEFAULT": "40 + 2"})

    table.append(spark.range(1))
    table.append(spark.sql("SELECT 1L AS id, CAST(NULL AS BIGINT) AS d"))

    assert [row["d"] for row in rows.of_frame(table.read())] == [42, None]


def _special(tmp_path: Path, feature: str, name: str, metadata: dict[str, Any]) -> Table:
    special = {**column(name, "long"), "metadata": metadata}
    write_log(tmp_path / "t", [column("id", "long"), special], [], features=[feature])
    log = tmp_path / "t" / "_delta_log" / f"{0:020d}.json"
    log.write_text(log.read_text().replace(f'"readerFeatures":["{feature}"]', '"readerFeatures":[]'))
    return headgate.at_path(tmp_path / "t")


def test_texts_have_the_length_that_is_declared(spark: SparkSession, lake: Lake) -> None:
    table = lake.create_table("s.l", "id BIGINT, v VARCHAR(3), c CHAR(3)")

    table.append(spark.sql("SELECT 1L AS id, 'ab   ' AS v, 'a' AS c"))

    assert [(row["v"], row["c"]) for row in rows.of_frame(table.read())] == [("ab ", "a  ")]
    for name in ("v", "c"):
        with pytest.raises(ConstraintViolated, match=r"'abcd'.*char\(3\)"):
            table.append(spark.sql(f"SELECT 1L AS id, 'abcd' AS {name}"))


INSIDE = "a ARRAY<CHAR(2)>, d STRUCT<e: VARCHAR(2), f: CHAR(3), n: INT>, m MAP<CHAR(2), VARCHAR(3)>"
FITTING = "array('a', NULL) AS a, named_struct('e', 'xy  ', 'f', 'y', 'n', 1) AS d, map('k', 'v') AS m"
"""Rows of such columns, by their ids."""
TOO_LONG = (
    "array('abc') AS a", "named_struct('e', 'abc', 'f', 'y', 'n', 1) AS d", "map('kkk', 'v') AS m",
    "map('k', 'vvvv') AS m",
)  # fmt: skip


@pytest.mark.parametrize("properties", [{}, {"delta.columnMapping.mode": "name"}], ids=["plain", "mapped"])
def test_texts_inside_others_have_the_length_that_is_declared(
    spark: SparkSession, lake: Lake, properties: dict[str, str]
) -> None:
    table = lake.create_table("s.l", f"id BIGINT, {INSIDE}", properties=properties)
    table.append(spark.sql(f"SELECT id, {FITTING} FROM range(2)"))

    table.update({"d.f": "'z'"}, where="id = 1", spark=spark)
    table.merge(
        spark.sql(f"SELECT 2L AS id, {FITTING}"), "t.id = s.id"
    ).when_not_matched_insert_all().execute()

    stored = {"a": ["a ", None], "d": {"e": "xy", "f": "y  ", "n": 1}, "m": [("k ", "v")]}
    found = sorted(rows.of_frame(table.read(spark=spark)), key=lambda row: row["id"])
    assert [row["d"]["f"] for row in found] == ["y  ", "z  ", "y  "]
    assert [found[0], found[2]] == [{"id": 0, **stored}, {"id": 2, **stored}]


@pytest.mark.parametrize("too_long", TOO_LONG)
def test_texts_inside_others_that_are_too_long_are_refused_however_they_come(
    spark: SparkSession, lake: Lake, tmp_path: Path, too_long: str
) -> None:
    table = lake.create_table("s.l", f"id BIGINT, {INSIDE}")
    table.append(spark.sql(f"SELECT 1L AS id, {FITTING}"))
    given, _, name = too_long.rpartition(" AS ")
    source = spark.sql(f"SELECT 1L AS id, {too_long}")
    spark.sql(f"SELECT 1L AS id, {too_long}").write.parquet(str(tmp_path / "files"))
    stream = spark.readStream.schema(source.schema).parquet(str(tmp_path / "files"))
    streamed = table.write_stream(stream, checkpoint=tmp_path / "checkpoint", available_now=True)

    attempts: tuple[Callable[[], object], ...] = (
        lambda: table.append(source),
        lambda: table.update({name: given}, where="id = 1", spark=spark),
        lambda: table.merge(source, "t.id = s.id").when_matched_update(set={name: f"s.{name}"}).execute(),
        lambda: table.overwrite(source),
    )
    for attempt in attempts:
        with pytest.raises(
            ConstraintViolated, match=r"does not fit into a column of type (var)?char"
        ) as caught:
            attempt()
        assert caught.value.code == "DELTA_EXCEED_CHAR_VARCHAR_LIMIT"
    with pytest.raises(StreamingQueryException, match="DELTA_EXCEED_CHAR_VARCHAR_LIMIT"):
        streamed.awaitTermination()
    assert table.version() == 1


def test_values_are_cast_only_if_asked_and_never_cut(spark: SparkSession, lake: Lake) -> None:
    table = lake.create_table("s.i", "id INT, t STRING")
    frame = spark.sql("SELECT 5L AS id, 7 AS t")

    with pytest.raises(SchemaMismatch, match="implicit_casts=True"):
        table.append(frame)
    table.append(frame, implicit_casts=True)
    with setting(spark, "spark.sql.ansi.enabled", "false"), pytest.raises(ConstraintViolated) as caught:
        table.append(spark.sql("SELECT 3000000000L AS id"), implicit_casts=True)

    assert rows.of_frame(table.read()) == [{"id": 5, "t": "7"}]
    assert caught.value.code == "DELTA_CAST_OVERFLOW_IN_TABLE_WRITE"


def test_types_widen_where_the_table_allows_it(spark: SparkSession, lake: Lake) -> None:
    """S306"""
    table = lake.create_table("s.w", "id INT", properties={"delta.enableTypeWidening": "true"})
    table.append(spark.sql("SELECT 1 AS id"))

    table.append(spark.sql("SELECT 3000000000L AS id"), merge_schema=True)

    assert ids(table) == [1, 3_000_000_000]
    assert '"delta.typeChanges"' in table.log.describe().metadata.schema_string


def test_a_write_is_explained_before_it_is_done(spark: SparkSession, table: Table) -> None:
    frame = spark.sql("SELECT 1L AS ID, 2 AS extra")

    plan = table.plan_write(frame, overwrite=True)

    assert not plan.allowed and "mergeSchema" in str(plan.problem)
    assert plan.allowed_by == ("merge_schema=True", "overwrite_schema=True")
    assert [(diff.name, diff.table, diff.rows) for diff in plan.columns] == [
        ("id", "long", "long"), ("part", "string", None), ("extra", None, "integer")
    ]  # fmt: skip
    assert "with merge_schema=True: the new columns are added, types are widened" in str(plan).splitlines()
    assert table.plan_write(frame.drop("extra")).allowed
    assert table.version() == 1


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT 'x' AS name", "'id' is NOT NULL"),
        ("SELECT 1L AS id, 2 AS `odd name`", "column name 'odd name'"),
    ],
)
def test_a_plan_refuses_what_the_write_would(spark: SparkSession, lake: Lake, sql: str, why: str) -> None:
    table = lake.create_table("s.t", "id BIGINT NOT NULL, name STRING")
    frame = spark.sql(sql)

    plan = table.plan_write(frame, merge_schema=True)

    assert not plan.allowed
    assert why in str(plan.problem)
    with pytest.raises(HeadgateError, match=why):
        table.append(frame, merge_schema=True)
