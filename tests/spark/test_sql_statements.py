"""SQL on tables of a lake: each statement does what the call of the lake or of the table does."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

import headgate
from headgate.errors import InvalidRequest, SchemaNotFound, TableExists, TableNotFound
from headgate.lake.lake import Lake
from headgate.sql.run.run import COMMANDS
from headgate.sql.statements.statement import Command

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Iterator[Lake]:
    """One lake for all, with a schema for each test that needs its own."""
    with headgate.connect(tmp_path_factory.mktemp("sql") / "lake") as opened:
        opened.create_schema("s")
        opened.sql(
            "CREATE TABLE s.people (id INT, name STRING) TBLPROPERTIES ('delta.enableChangeDataFeed'='true')"
        )
        opened.sql("INSERT INTO s.people VALUES (1, 'ada'), (2, 'grace')")
        opened.sql("INSERT INTO s.people VALUES (3, 'linus')")
        yield opened


def rows_of(df: DataFrame) -> list[tuple[object, ...]]:
    return sorted(tuple(row) for row in df.collect())


def views(spark: SparkSession) -> list[str]:
    return [each.name for each in spark.catalog.listTables() if each.isTemporary]


def test_every_statement_has_a_row() -> None:
    assert set(COMMANDS) == set(Command.__args__)


def test_a_time_without_a_zone_from_a_subquery_stays_as_the_clock_shows_it(
    lake: Lake, spark: SparkSession
) -> None:
    lake.sql("CREATE TABLE s.clocks (id INT, shown TIMESTAMP_NTZ)")
    lake.sql("INSERT INTO s.clocks VALUES (1, TIMESTAMP_NTZ '2026-03-08 02:30:00.000001'), (2, NULL)")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")  # which has no such time on that day
    try:
        lake.sql("UPDATE s.clocks SET shown = (SELECT max(shown) FROM s.clocks) WHERE id = 2")
        assert lake.sql("SELECT count(DISTINCT shown), count(shown) FROM s.clocks").first() == (1, 2)
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


def test_a_query_mixes_versions_views_frames_and_parameters(lake: Lake, spark: SparkSession) -> None:
    spark.createDataFrame([(1, "x")], "id INT, mark STRING").createOrReplaceTempView("marks")
    extra = spark.createDataFrame([(2, "y")], "id INT, mark STRING")
    before = views(spark)

    found = lake.sql(
        """
        WITH old AS (SELECT * FROM s.people VERSION AS OF 1 WHERE id < :top)
        SELECT people.name, old.id, m.mark, '{}' AS braces, changes._change_type
        FROM s.people JOIN old ON people.id = old.id JOIN marks m ON m.id = old.id
        JOIN table_changes('s.people', 1) changes ON changes.id = old.id
        """.replace("'{}'", "'{{}}'"),
        {"top": 3},
        extra=extra,
    )
    assert rows_of(found) == [("ada", 1, "x", "{}", "insert")]
    joined = lake.sql("SELECT p.name, e.mark FROM s.people p JOIN {extra} e ON p.id = e.id", extra=extra)
    assert rows_of(joined) == [("grace", "y")]
    assert rows_of(lake.sql("SELECT '{a}' AS a, count(*) FROM s.people a JOIN s.people b USING (id)")) == [
        ("{a}", 3)
    ]
    assert rows_of(lake.sql("SELECT name FROM s.people WHERE id = ? OR id = ?", [1, 3])) == [
        ("ada",),
        ("linus",),
    ]
    moment = lake.sql("DESCRIBE HISTORY s.people").where("version = 1").first().timestamp
    then = lake.sql(
        "SELECT count(*) FROM s.people TIMESTAMP AS OF :moment + INTERVAL 1 MILLISECOND", {"moment": moment}
    )
    assert rows_of(then) == [(2,)]
    assert views(spark) == before
    spark.catalog.dropTempView("marks")


def test_what_is_not_the_lakes_is_sparks(lake: Lake, spark: SparkSession) -> None:
    assert rows_of(lake.sql("SELECT '{x}' AS a, :n AS n", {"n": 1})) == [("{x}", 1)]
    with pytest.raises(InvalidRequest) as nowhere:
        lake.sql("SELECT * FROM nowhere.people")
    assert nowhere.value.code == "TABLE_OR_VIEW_NOT_FOUND"
    with pytest.raises(TableNotFound) as nothing:
        lake.sql("SELECT * FROM s.nothing")
    assert nothing.value.code == "TABLE_OR_VIEW_NOT_FOUND"
    lake.register(spark)
    try:
        with pytest.raises(AnalysisException):
            spark.sql("SELECT * FROM nowhere.people")
        assert rows_of(spark.sql("SELECT id FROM main.s.people WHERE id = 1")) == [(1,)]
        spark.sql("CREATE TEMPORARY VIEW people AS SELECT * FROM s.people WHERE id = 2")
        spark.sql("USE s")
        assert spark.table("people").count() == 1, "a temporary view comes first"
        spark.catalog.dropTempView("people")
        assert spark.sql("SELECT * FROM people").count() == 3
        spark.sql("USE default")
        with pytest.raises(AnalysisException):
            spark.sql("SELECT * FROM people")
        listed = {row[0] for row in spark.sql("SHOW SCHEMAS").collect()}
        assert {"default", "s"} <= listed
    finally:
        spark.sql("USE default")
        lake.unregister(spark)


def test_tables_are_made_replaced_dropped_and_come_back(lake: Lake) -> None:
    lake.sql("CREATE SCHEMA made")
    with pytest.raises(Exception, match="already"):
        lake.sql("CREATE SCHEMA made")
    lake.sql(
        "CREATE TABLE made.t (id BIGINT GENERATED ALWAYS AS IDENTITY, a INT DEFAULT 7 COMMENT 'seven', "
        "b INT GENERATED ALWAYS AS (a + 1), CONSTRAINT small CHECK (a < 100)) COMMENT 'all'"
    )
    lake.sql("INSERT INTO made.t (a) VALUES (DEFAULT), (8)")
    lake.sql("INSERT INTO made.t VALUES (DEFAULT, 9, DEFAULT)")
    assert [tuple(row)[1:] for row in lake.sql("SELECT * FROM made.t ORDER BY a").collect()] == [
        (7, 8),
        (8, 9),
        (9, 10),
    ]
    lake.sql("CREATE TABLE IF NOT EXISTS made.t (x INT)")
    with pytest.raises(TableExists) as there:
        lake.sql("CREATE TABLE made.t (x INT)")
    assert there.value.code == "TABLE_OR_VIEW_ALREADY_EXISTS"
    lake.sql("CREATE TABLE made.like_t LIKE made.t")
    assert lake.sql("SHOW COLUMNS IN made.like_t").collect() == lake.sql("SHOW COLUMNS IN made.t").collect()
    lake.sql("CREATE TABLE made.copy DEEP CLONE made.t")
    lake.sql("CREATE OR REPLACE TABLE made.t PARTITIONED BY (p) AS SELECT 1 AS a, 'x' AS p")
    assert rows_of(lake.sql("SHOW PARTITIONS made.t")) == [("x",)]
    assert lake.sql("SELECT * FROM made.copy").count() == 3
    lake.sql("DROP TABLE made.copy")
    lake.sql("DROP TABLE IF EXISTS made.copy")
    assert [row.tableName for row in lake.sql("SHOW TABLES DROPPED IN made").collect()] == ["copy"]
    lake.sql("UNDROP TABLE made.copy")
    with pytest.raises(InvalidRequest) as full:
        lake.sql("DROP SCHEMA made")
    assert full.value.code == "SCHEMA_NOT_EMPTY"
    lake.sql("DROP SCHEMA made CASCADE")
    with pytest.raises(SchemaNotFound):
        lake.sql("SHOW TABLES IN made")


def test_rows_are_changed(lake: Lake) -> None:
    lake.sql("CREATE TABLE s.r (id INT, p STRING, n BIGINT) PARTITIONED BY (p)")
    lake.sql("INSERT INTO s.r VALUES (1, 'a', 1), (2, 'a', 2), (3, 'b', 3)")
    assert rows_of(lake.sql("UPDATE s.r AS x SET x.n = x.n + :by WHERE x.id <= 2", {"by": 10})) == [(2,)]
    assert rows_of(lake.sql("DELETE FROM s.r WHERE r.id = 2")) == [(1,)]
    lake.sql("INSERT INTO s.r BY NAME SELECT 4 AS n, 9 AS id, 'b' AS p")
    lake.sql("INSERT OVERWRITE s.r PARTITION (p = 'b') SELECT 5, 5")
    assert rows_of(lake.sql("SELECT * FROM s.r")) == [(1, "a", 11), (5, "b", 5)]
    lake.sql("INSERT INTO s.r REPLACE WHERE p = 'a' VALUES (7, 'a', 7)")
    lake.sql("INSERT INTO s.r REPLACE USING (id) VALUES (5, 'c', 50)")
    lake.sql("INSERT INTO s.r AS old REPLACE ON old.id = new.id (SELECT 7 AS id, 'a' AS p, 70L AS n) AS new")
    assert rows_of(lake.sql("SELECT * FROM s.r")) == [(5, "c", 50), (7, "a", 70)]
    lake.sql("INSERT WITH SCHEMA EVOLUTION INTO s.r BY NAME SELECT 8 AS id, true AS extra")
    assert lake.sql("SELECT extra FROM s.r WHERE id = 8").first().extra is True
    done = lake.sql(
        "MERGE INTO s.r USING (SELECT 7 AS id, 1L AS n UNION ALL SELECT 10, 2L) u ON r.id = u.id "
        "WHEN MATCHED THEN UPDATE SET n = u.n WHEN NOT MATCHED THEN INSERT (id, n) VALUES (u.id, u.n) "
        "WHEN NOT MATCHED BY SOURCE AND r.id = 5 THEN DELETE"
    )
    assert rows_of(done) == [(3, 1, 1, 1)]
    with pytest.raises(InvalidRequest) as nested:
        lake.sql("DELETE FROM s.r WHERE id IN (SELECT id FROM s.people)")
    assert nested.value.code == "DELTA_UNSUPPORTED_SUBQUERY"
    lake.sql("TRUNCATE TABLE s.r")
    assert lake.sql("SELECT * FROM s.r").count() == 0


def test_tables_are_altered_and_described(lake: Lake) -> None:
    lake.sql("CREATE TABLE s.a (id INT NOT NULL, name STRING)")
    lake.sql("ALTER TABLE s.a ADD COLUMNS (first_one INT FIRST, z STRUCT<q: INT> COMMENT 'zed')")
    lake.sql("ALTER TABLE s.a ADD COLUMN z.r STRING")
    lake.sql("ALTER TABLE s.a ALTER COLUMN id DROP NOT NULL")
    lake.sql("ALTER TABLE s.a ALTER COLUMN id COMMENT 'the key'")
    lake.sql(
        "ALTER TABLE s.a SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name', "
        "'delta.enableTypeWidening' = 'true', 'delta.feature.allowColumnDefaults' = 'supported')"
    )
    lake.sql("ALTER TABLE s.a ALTER COLUMN id TYPE BIGINT")
    lake.sql("ALTER TABLE s.a RENAME COLUMN name TO called")
    lake.sql("ALTER TABLE s.a DROP COLUMN first_one")
    lake.sql("ALTER TABLE s.a ALTER COLUMN called SET DEFAULT 'nobody'")
    lake.sql("ALTER TABLE s.a ADD CONSTRAINT positive CHECK (id > 0)")
    lake.sql("COMMENT ON TABLE s.a IS 'described'")
    lake.sql("ALTER TABLE s.a SET DOMAIN 'acme.x' '{}'")
    lake.sql("INSERT INTO s.a (id) VALUES (1)")
    assert lake.sql("SELECT called FROM s.a").first().called == "nobody"
    lake.sql("ALTER TABLE s.a ALTER COLUMN called DROP DEFAULT")
    described = [tuple(row) for row in lake.sql("DESCRIBE TABLE s.a").collect()]
    assert described == [
        ("id", "bigint", "the key"), ("called", "string", None), ("z", "struct<q:int,r:string>", "zed")
    ]  # fmt: skip
    assert rows_of(lake.sql("SHOW DOMAINS IN s.a")) == [("acme.x", "{}")]
    lake.sql("ALTER TABLE s.a DROP DOMAIN 'acme.x'")
    lake.sql("ALTER TABLE s.a DROP CONSTRAINT positive")
    assert lake.sql("DESCRIBE DETAIL s.a").first().description == "described"
    assert lake.sql("DESCRIBE HISTORY s.a LIMIT 1").first().operation == "DROP CONSTRAINT"
    lake.sql("ALTER TABLE s.a RENAME TO s.b")
    assert "called STRING" in lake.sql("SHOW CREATE TABLE s.b").first().createtab_stmt
    assert ("delta.columnMapping.mode", "name") in rows_of(lake.sql("SHOW TBLPROPERTIES s.b"))
    with pytest.raises(InvalidRequest, match="NOT NULL"):
        lake.sql("ALTER TABLE s.b ALTER COLUMN id SET NOT NULL")
    with pytest.raises(InvalidRequest, match="not supported"):
        lake.sql("ALTER TABLE s.b SET LOCATION '/x'")


def test_a_shown_statement_makes_the_table_again_whatever_its_columns_are_called(lake: Lake) -> None:
    lake.sql("CREATE TABLE s.odd (`größe` INT, `c-d` STRING, `1a` INT, `a``b` INT, plain INT) "
             "PARTITIONED BY (`größe`, `1a`)")  # fmt: skip
    lake.sql("CREATE TABLE s.near (`größe` INT, `c-d` INT, x STRUCT<`a-b`: INT>) "
             "CLUSTER BY (`größe`, `c-d`, x.`a-b`)")  # fmt: skip
    lake.sql("CREATE TABLE s.sized (a CHAR(3), b ARRAY<CHAR(2)>, c STRUCT<`d-e`: VARCHAR(3)>)")
    for name in ("odd", "near", "sized"):
        shown = lake.sql(f"SHOW CREATE TABLE s.{name}").first().createtab_stmt
        body, _, _ = shown.partition("TBLPROPERTIES")
        lake.sql(body.replace(f"s.{name}", f"s.{name}_again"))
        one, other = (lake.sql(f"SHOW CREATE TABLE s.{each}").first()[0] for each in (name, f"{name}_again"))
        assert one.partition("TBLPROPERTIES")[0] == other.partition("TBLPROPERTIES")[0].replace("_again", "")

    detail = lake.table("s.near").detail().first()
    assert detail.clusteringColumns == ["`größe`", "`c-d`", "x.`a-b`"]  # as Delta Spark writes them


def test_tables_are_kept_up(lake: Lake, tmp_path: Path, spark: SparkSession) -> None:
    lake.sql("CREATE TABLE s.k (id INT)")
    for each in (1, 2, 3):
        lake.sql(f"INSERT INTO s.k VALUES ({each})")
    optimized = lake.sql("OPTIMIZE s.k ZORDER BY (id)")
    assert optimized.columns == ["path", "metrics"]
    metrics = optimized.first().metrics
    assert (metrics.numFilesRemoved, metrics.totalConsideredFiles, metrics.numTableColumns) == (3, 3, 1)
    assert metrics.zOrderStats.inputOtherFiles.num == 3
    assert 0 < metrics.startTimeMs <= metrics.endTimeMs
    restored = lake.sql("RESTORE TABLE s.k TO VERSION AS OF 1")
    assert restored.first().num_of_files_after_restore == 1
    assert lake.sql("VACUUM s.k DRY RUN").columns == ["path"]
    with pytest.raises(InvalidRequest) as short:
        lake.sql("VACUUM s.k RETAIN 0 HOURS")
    assert short.value.code == "DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT"
    lake.sql("REORG TABLE s.k APPLY (PURGE)")
    lake.sql("GENERATE symlink_format_manifest FOR TABLE s.k")
    spark.range(3).write.parquet(str(tmp_path / "files"))
    lake.sql(f"CONVERT TO DELTA parquet.`{tmp_path}/files`")
    assert lake.sql(f"SELECT * FROM delta.`{tmp_path}/files`").count() == 3
    with pytest.raises(InvalidRequest, match="ANALYZE TABLE is not supported"):
        lake.sql("ANALYZE TABLE s.k COMPUTE STATISTICS")


def test_a_purge_tells_how_many_rows_its_vectors_marked(lake: Lake) -> None:
    lake.sql("CREATE TABLE s.v (id INT) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    lake.sql("INSERT INTO s.v SELECT id FROM range(0, 100, 1, 1)")
    lake.sql("DELETE FROM s.v WHERE id < 7")

    metrics = lake.sql("REORG TABLE s.v APPLY (PURGE)").first().metrics

    assert tuple(metrics.deletionVectorStats) == (1, 7)
    assert metrics.filesRemoved.totalFiles == metrics.filesAdded.totalFiles == 1


def test_privileges_are_granted(lake: Lake) -> None:
    lake.sql("GRANT SELECT, MODIFY ON TABLE s.people TO `ada@example.com`")
    lake.sql("GRANT CREATE TABLE ON SCHEMA s TO `ada@example.com`")
    assert {row.ActionType for row in lake.sql("SHOW GRANTS ON TABLE s.people").collect()} == {
        "READ",
        "CHANGE DATA",
    }
    lake.sql("REVOKE MODIFY ON TABLE s.people FROM `ada@example.com`")
    assert [
        row.ActionType for row in lake.sql("SHOW GRANTS `ada@example.com` ON TABLE s.people").collect()
    ] == ["READ"]


def test_a_transaction_is_one_commit_of_each_table(lake: Lake, spark: SparkSession) -> None:
    lake.sql("CREATE TABLE s.x (id INT)")
    lake.sql("CREATE TABLE s.y (id INT)")
    lake.sql("BEGIN")
    lake.sql("INSERT INTO s.x VALUES (1), (2)")
    lake.sql("INSERT INTO s.y SELECT id + 10 FROM s.x")
    lake.sql("DELETE FROM s.x WHERE id = 1")
    lake.sql("CREATE TABLE s.in_it AS SELECT * FROM s.y")
    with pytest.raises(InvalidRequest, match="VACUUM cannot be a part"):
        lake.sql("VACUUM s.x")
    with pytest.raises(InvalidRequest, match="running"):
        lake.sql("BEGIN TRANSACTION")
    assert lake.sql("SELECT * FROM s.y").count() == 2
    assert lake.table("s.y").read(spark=spark).count() == 0
    assert [row.table for row in lake.sql("COMMIT").collect()] == ["s.in_it", "s.x", "s.y"]
    assert lake.table("s.x").version() == 1
    assert rows_of(lake.sql("SELECT * FROM s.in_it")) == [(11,), (12,)]
    lake.sql("START TRANSACTION")
    lake.sql("TRUNCATE TABLE s.y")
    lake.sql("ROLLBACK")
    assert lake.sql("SELECT * FROM s.y").count() == 2
    with pytest.raises(InvalidRequest, match="no transaction"):
        lake.sql("COMMIT")


def test_files_are_copied_once(lake: Lake, tmp_path: Path, spark: SparkSession) -> None:
    lake.sql("CREATE TABLE s.c (id INT, day DATE)")
    (tmp_path / "a.csv").write_text("id,day\n1,2026-01-31\n")
    load = f"COPY INTO s.c FROM '{tmp_path}' FILEFORMAT = CSV FORMAT_OPTIONS ('header' = 'true')"

    assert tuple(lake.sql(load).first()) == (1, 1, 0)
    (tmp_path / "b.csv").write_text("id,day\n2,2026-02-01\n3,2026-02-02\n")
    assert lake.sql(load).first().num_inserted_rows == 2
    assert lake.sql(load).first().num_inserted_rows == 0
    assert lake.sql(f"{load} COPY_OPTIONS ('force' = 'true')").first().num_inserted_rows == 3
    for each in range(4):
        (tmp_path / f"c{each}.csv").write_text(f"id,day\n{10 + each},2026-02-01\n")
    with ThreadPoolExecutor(3) as pool:
        loaded = [
            done.first().num_inserted_rows
            for done in pool.map(lambda _: lake.sql(load, spark=spark), range(3))
        ]
    assert sorted(loaded) == [0, 0, 4]
    (tmp_path / "json").mkdir()
    (tmp_path / "json" / "a.json").write_text('{"n": 7, "when": "2026-03-01"}\n')
    chosen = f"(SELECT n AS id, `when` AS day FROM '{tmp_path}/json')"
    lake.sql(f"COPY INTO s.c FROM {chosen} FILEFORMAT = JSON")
    assert lake.sql("SELECT count(*) AS n FROM s.c WHERE id = 7").first().n == 1
