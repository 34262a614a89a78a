"""What programs written against ``delta.tables`` rely on, once, for whoever offers those names.

Each function is given a place for tables and the names; it asserts what must be, and gives back what it saw,
plain enough to be compared with what another saw. None of them knows whose names these are.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, LongType, StructField, StructType

MERGED = ["num_affected_rows", "num_updated_rows", "num_deleted_rows", "num_inserted_rows"]
RESTORED = [
    "table_size_after_restore", "num_of_files_after_restore", "num_removed_files", "num_restored_files",
    "removed_files_size", "restored_files_size",
]  # fmt: skip
HISTORY = [
    "version", "timestamp", "userId", "userName", "operation", "operationParameters", "job", "notebook",
    "clusterId", "readVersion", "isolationLevel", "isBlindAppend", "operationMetrics", "userMetadata",
    "engineInfo",
]  # fmt: skip
DETAIL = [
    "format", "id", "name", "description", "location", "createdAt", "lastModified", "partitionColumns",
    "clusteringColumns", "numFiles", "sizeInBytes", "properties", "minReaderVersion", "minWriterVersion",
    "tableFeatures",
]  # fmt: skip
_JAVA = re.compile(r"\[(DELTA_[\w.]+)\]")


class Place(Protocol):
    """Where tables are made, and by whose names."""

    spark: SparkSession
    api: Any
    """A module with the names of ``delta.tables``."""
    exceptions: Any
    """A module with the names of ``delta.exceptions``."""

    def write(self, rows: DataFrame, name: str, partition_by: Sequence[str] = ()) -> Any:
        """Make a table of these rows, or add them to it; its DeltaTable."""

    def named(self, builder: Any, name: str) -> Any:
        """The builder, told which table it is about."""

    def open(self, name: str) -> Any:
        """The DeltaTable of that name."""

    def path(self, name: str) -> str:
        """An absolute path of that name."""


def observed(frame: DataFrame) -> Any:
    """The columns of a frame and its rows, in order of their values."""
    columns = [[field.name, field.dataType.simpleString()] for field in frame.schema.fields]
    return [columns, sorted(_plain(row) for row in frame.collect())]


def _plain(value: Any) -> Any:
    match value:
        case tuple() | list():
            return [_plain(part) for part in value]
        case dict():
            return sorted([key, _plain(part)] for key, part in value.items())
        case _:
            return value


def refusal(call: Callable[[], Any]) -> list[str | None]:
    """How a call is refused: the exception's name, its error class and its SQLSTATE."""
    try:
        call()
    except PySparkException as refused:
        return [type(refused).__name__, refused.getCondition(), refused.getSqlState()]
    except Py4JJavaError as refused:  # an exception of the JVM that PySpark has no name for
        found = _JAVA.search(str(refused))
        return [None, found[1] if found else None, None]
    except (TypeError, ValueError, AssertionError) as refused:
        return [type(refused).__name__, None, None]
    raise AssertionError("it was not refused")


def _orders(place: Place, name: str) -> Any:
    rows = place.spark.range(10).selectExpr("id", "id * 10 AS amount", "'old' AS state")
    return place.write(rows.coalesce(1), name)


def _changes(place: Place) -> DataFrame:
    return place.spark.range(8, 12).selectExpr("id", "id * 100 AS amount", "'new' AS state")


def merge_updates_and_inserts(place: Place) -> Any:
    """The MERGE of every tutorial."""
    table = _orders(place, "upserted")
    result = (
        table.alias("t")
        .merge(_changes(place).alias("s"), "t.id = s.id")
        .whenMatchedUpdateAll()
        .whenNotMatchedInsertAll()
        .execute()
    )

    assert result.columns == MERGED
    assert result.collect()[0].asDict() == dict(zip(MERGED, (4, 2, 0, 2), strict=True))
    assert table.toDF().where("state = 'new'").count() == 4
    return [observed(result), observed(table.toDF())]


def merge_takes_conditions_and_columns(place: Place) -> Any:
    """Every clause, as SQL and as Columns, with a source that has no alias."""
    table = _orders(place, "conditioned")
    source = _changes(place).withColumnsRenamed({"id": "key", "amount": "value", "state": "word"})
    result = (
        table.alias("t")
        .merge(source, F.col("t.id") == F.col("key"))
        .whenMatchedDelete("key = 8")
        .whenMatchedUpdate(F.col("key") == 9, {"amount": F.col("t.amount") + 1, "t.state": "word"})
        .whenNotMatchedInsert("key < 11", {"id": "key", "amount": "value", "state": F.lit("in")})
        .whenNotMatchedBySourceUpdate(condition="t.id = 1", set={"state": "concat(t.state, '!')"})
        .whenNotMatchedBySourceDelete(F.col("t.id") == 2)
        .execute()
    )

    assert result.collect()[0].asDict() == dict(zip(MERGED, (5, 2, 2, 1), strict=True))
    return [observed(result), observed(table.toDF())]


def merge_knows_a_source_behind_its_alias(place: Place) -> Any:
    """A source that is filtered or changed once it has its alias."""
    table = _orders(place, "aliased")
    filtered = _changes(place).alias("s").where("s.id <> 10")
    table.alias("t").merge(filtered, "t.id = s.id").whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()
    changed = _changes(place).alias("c").withColumn("amount", F.lit(7).cast("bigint"))
    table.alias("t").merge(changed, "t.id = c.id").whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()
    own = table.toDF().alias("o").where("o.id = 0")
    table.alias("t").merge(own, "t.id = o.id").whenMatchedUpdate(set={"amount": "o.amount + 5"}).execute()

    assert table.toDF().where("amount = 7").count() == 4
    return observed(table.toDF())


def merge_evolves_the_schema(place: Place) -> Any:
    """New columns of the source become the table's, if it is said."""
    table = _orders(place, "evolved")
    source = _changes(place).withColumn("extra", F.lit("x")).alias("s")
    clauses = table.alias("t").merge(source, "t.id = s.id").withSchemaEvolution().whenNotMatchedInsertAll()
    result = clauses.whenMatchedUpdate(set={"t.amount": "s.amount"}).execute()

    assert place.open("evolved").toDF().columns == ["id", "amount", "state", "extra"]
    return [observed(result), observed(place.open("evolved").toDF())]


def merge_refuses(place: Place) -> Any:
    """What no MERGE can be."""
    table = _orders(place, "unmerged")
    source = _changes(place).alias("s")
    twice = source.union(source).alias("s")
    begun = table.alias("t").merge(source, "t.id = s.id")
    refusals = [
        refusal(lambda: table.merge(None, "t.id = s.id")),
        refusal(lambda: table.merge("changes", "t.id = s.id")),
        refusal(lambda: table.merge(source, None)),
        refusal(lambda: table.merge(source, 1)),
        refusal(lambda: begun.whenMatchedUpdate(set=None)),
        refusal(lambda: begun.whenMatchedUpdate(set=[("amount", "1")])),
        refusal(lambda: begun.whenMatchedUpdate(set={"amount": 1})),
        refusal(lambda: begun.whenMatchedUpdate(set={1: "1"})),
        refusal(lambda: begun.whenNotMatchedInsert(values=None)),
        refusal(lambda: begun.whenNotMatchedBySourceUpdate(set=None)),
        refusal(lambda: begun.whenMatchedDelete(1)),
        refusal(begun.execute),
        refusal(lambda: begun.whenMatchedUpdate(set={}).execute()),
        refusal(lambda: begun.whenMatchedDelete().whenMatchedUpdateAll().execute()),
        refusal(lambda: table.alias("t").merge(twice, "t.id = s.id").whenMatchedUpdateAll().execute()),
        refusal(
            lambda: (
                table.alias("t")
                .merge(place.spark.range(3).alias("s"), "t.id = s.id")
                .whenMatchedUpdateAll()
                .execute()
            )
        ),
    ]

    assert [kind for kind, _, _ in refusals[:6]] == [
        "ValueError", "TypeError", "ValueError", "TypeError", "ValueError", "TypeError",
    ]  # fmt: skip
    assert refusals[11][:2] == ["AnalysisException", "DELTA_MERGE_MISSING_WHEN"]
    assert table.toDF().where("state = 'old'").count() == 10
    return refusals


def rows_are_deleted_and_updated(place: Place) -> Any:
    """By SQL, by Columns, by an alias; nothing comes back."""
    table = _orders(place, "changed")

    assert table.delete("id = 0") is None
    assert table.delete(F.col("id") == 1) is None
    assert table.alias("x").delete("x.id = 2") is None
    assert table.update("id = 3", {"state": "'three'"}) is None
    assert table.update(F.col("id") == 4, {"amount": F.col("amount") + 1, "state": F.lit("four")}) is None
    assert table.alias("x").update(condition="x.id = 5", set={"x.state": "upper(x.state)"}) is None
    table.update(set={"amount": "amount + 1000"})
    table.update(set={})
    seen = observed(table.toDF())
    aliased = table.alias("q").toDF().where("q.id = 5").select("q.state")
    assert aliased.collect()[0].state == "OLD"
    table.delete()
    assert table.toDF().count() == 0
    return seen


def statements_are_refused(place: Place) -> Any:
    """Arguments of the wrong kind, columns that do not exist, SQL that is none."""
    table = _orders(place, "refusing")
    return [
        refusal(lambda: table.delete(3)),
        refusal(lambda: table.delete("nothing = 2")),
        refusal(lambda: table.delete("id = = 2")),
        refusal(table.update),
        refusal(lambda: table.update(set=[1])),
        refusal(lambda: table.update(set={1: "1"})),
        refusal(lambda: table.update(set={"amount": 3})),
        refusal(lambda: table.update(set={"nothing": "3"})),
        refusal(lambda: table.update("nothing = 3", {"amount": "3"})),
        refusal(lambda: table.vacuum("long")),
        refusal(lambda: table.generate("nothing")),
        refusal(lambda: table.restoreToVersion("1")),
        refusal(lambda: table.restoreToVersion(100)),
        refusal(lambda: table.restoreToVersion(-1)),
        refusal(lambda: table.restoreToTimestamp(1)),
        refusal(lambda: table.restoreToTimestamp("nothing")),
        refusal(lambda: table.restoreToTimestamp("2000-01-01")),
        refusal(lambda: table.restoreToTimestamp("2100-01-01")),
        refusal(lambda: table.upgradeTableProtocol("1", 2)),
        refusal(lambda: table.upgradeTableProtocol(1, "2")),
        refusal(lambda: table.addFeatureSupport(1)),
        refusal(lambda: table.addFeatureSupport("nothing")),
        refusal(lambda: table.dropFeatureSupport(1)),
        refusal(lambda: table.dropFeatureSupport("deletionVectors", 1)),
        refusal(lambda: table.dropFeatureSupport("nothing")),
        refusal(lambda: table.optimize().executeZOrderBy(1)),
        refusal(lambda: table.optimize().executeZOrderBy("nothing")),
        refusal(lambda: table.optimize().where("id = 1").executeCompaction()),
        refusal(lambda: table.clone(1)),
        refusal(lambda: table.clone(place.path("nowhere"), "yes")),
        refusal(lambda: table.clone(place.path("nowhere"), True, "yes")),
        refusal(lambda: table.clone(place.path("nowhere"), True, True, [])),
        refusal(lambda: table.clone(place.path("nowhere"), True, True, {"key": 1})),
        refusal(lambda: table.cloneAtVersion("1", place.path("nowhere"))),
        refusal(lambda: table.cloneAtVersion(100, place.path("nowhere"), True)),
        refusal(lambda: table.cloneAtTimestamp(1, place.path("nowhere"))),
        refusal(lambda: table.cloneAtTimestamp("2100-01-01", place.path("nowhere"), True)),
    ]


def history_and_detail_have_their_columns(place: Place) -> Any:
    """Names, types and order; the newest version first."""
    table = _orders(place, "told")
    table.update("id = 1", {"state": "'new'"})
    table.delete("id = 2")
    past, now = table.history(), table.detail()
    operations = [row.operation for row in past.collect()]
    row = now.collect()[0]

    assert past.columns == HISTORY
    assert now.columns == DETAIL
    assert operations[:2] == ["DELETE", "UPDATE"]
    assert [each.version for each in table.history(1).collect()] == [len(operations) - 1]
    assert row.format == "delta" and row.numFiles >= 1 and row.partitionColumns == []
    return [
        observed(past.limit(0)),
        observed(now.limit(0)),
        operations[:2],
        table.history(2).count(),
        table.history(0).count(),
    ]


def optimize_tells_what_it_did(place: Place) -> Any:
    """Compaction, of some partitions and of all, and Z-order."""
    rows = place.spark.range(40).selectExpr("id", "id % 2 AS part", "id * 3 AS value")
    place.write(rows.where("id < 20").coalesce(1), "compacted", ["part"])
    table = place.write(rows.where("id >= 20").coalesce(1), "compacted", ["part"])
    some = table.optimize().where("part = 0").executeCompaction()
    rest = table.optimize().executeCompaction()
    idle = table.optimize().executeCompaction()
    ordered = table.optimize().where("part = 1").executeZOrderBy("id", "value")

    assert some.columns == ["path", "metrics"]
    assert some.collect()[0].metrics.numFilesRemoved == 2
    assert table.toDF().count() == 40
    counts = [
        "numFilesAdded", "numFilesRemoved", "filesAdded.totalFiles", "filesRemoved.totalFiles",
        "partitionsOptimized", "numBatches", "preserveInsertionOrder", "totalConsideredFiles",
        "totalFilesSkipped",
    ]  # fmt: skip
    chosen = [f"metrics.{name} AS {name.replace('.', '_')}" for name in counts]
    cubes = ["metrics.zOrderStats.strategyName", "metrics.zOrderStats.inputOtherFiles.num AS files"]
    return [
        observed(some.limit(0)),
        observed(rest.selectExpr(*chosen)),
        observed(idle.selectExpr(*chosen[:5])),
        observed(ordered.selectExpr(*chosen[:5], *cubes)),
    ]


def restore_brings_a_version_back(place: Place) -> Any:
    """By its number and by its moment."""
    table = _orders(place, "restored")
    first = table.history(1).collect()[0]
    table.delete("id > 3")
    result = table.restoreToVersion(first.version)

    assert result.columns == RESTORED
    assert table.toDF().count() == 10
    counts = observed(
        result.selectExpr("num_of_files_after_restore", "num_removed_files", "num_restored_files")
    )
    table.delete("id > 3")
    table.restoreToTimestamp(str(first.timestamp))
    assert table.toDF().count() == 10
    return [observed(result.limit(0)), counts, table.history(1).collect()[0].operation]


def builders_make_tables(place: Place) -> Any:
    """Columns of every kind, partitioning, clustering, properties; and what is there already."""
    names, spark = place.api.DeltaTable, place.spark
    table = (
        place.named(names.create(spark), "built")
        .addColumn("id", "BIGINT", nullable=False, comment="which one")
        .addColumn("doubled", LongType(), generatedAlwaysAs="id * 2")
        .addColumns(StructType([StructField("day", IntegerType()), StructField("note", LongType())]))
        .addColumns([StructField("last", LongType())])
        .partitionedBy("day")
        .property("team", "somebody")
        .comment("built in a test")
        .execute()
    )
    made = table.detail().collect()[0]
    kept = place.named(names.createIfNotExists(spark), "built").addColumn("other", "INT").execute().toDF()
    columns = [[field.name, field.dataType.simpleString()] for field in kept.schema.fields]
    again = refusal(lambda: place.named(names.create(spark), "built").addColumn("id", "INT").execute())
    place.named(names.replace(spark), "built").addColumn("fresh", "INT").clusterBy(["fresh"]).execute()
    clustered = place.named(names.createOrReplace(spark), "clustered").addColumn("a", "INT")
    clustered = clustered.addColumn("b", "STRING").clusterBy("a").execute()

    assert made.description == "built in a test" and made.properties["team"] == "somebody"
    assert [name for name, _ in columns] == ["id", "doubled", "day", "note", "last"]
    return [
        made.partitionColumns,
        again,
        columns,
        place.open("built").toDF().columns,
        clustered.detail().collect()[0].clusteringColumns,
        refusal(lambda: place.named(names.replace(spark), "absent").addColumn("id", "INT").execute()),
    ]


def builders_refuse(place: Place) -> Any:
    """Arguments of the wrong kind, and tables that cannot be."""
    names, spark = place.api.DeltaTable, place.spark
    identity = place.api.IdentityGenerator

    def new() -> Any:
        return names.create(spark)

    return [
        refusal(lambda: new().tableName(1)),
        refusal(lambda: new().location(1)),
        refusal(lambda: new().comment(1)),
        refusal(lambda: new().property("key", 1)),
        refusal(lambda: new().property(1, "value")),
        refusal(lambda: new().addColumn(1, "INT")),
        refusal(lambda: new().addColumn("a", 1)),
        refusal(lambda: new().addColumn("a", "INT", nullable=1)),
        refusal(lambda: new().addColumn("a", "INT", comment=1)),
        refusal(lambda: new().addColumn("a", "INT", generatedAlwaysAs=1)),
        refusal(lambda: new().addColumn("a", "BIGINT", generatedByDefaultAs="b")),
        refusal(lambda: new().addColumn("a", "BIGINT", generatedAlwaysAs=identity(step=0))),
        refusal(lambda: new().addColumn("a", "BIGINT", True, identity(), identity())),
        refusal(lambda: new().addColumns(1)),
        refusal(lambda: new().addColumns(["a"])),
        refusal(lambda: new().partitionedBy(1)),
        refusal(lambda: new().partitionedBy(["a", 1])),
        refusal(lambda: new().clusterBy(1)),
        refusal(lambda: new().addColumn("a", "INT").execute()),
        refusal(
            lambda: (
                place.named(new(), "counted")
                .addColumn("a", "INT", generatedAlwaysAs=identity())
                .addColumn("b", "INT")
                .execute()
            )
        ),
        refusal(
            lambda: (
                place.named(new(), "unknown").addColumn("a", "INT").property("delta.nothing", "1").execute()
            )
        ),
    ]


def identity_columns_count(place: Place) -> Any:
    """An IdentityGenerator says where values start, and by how much they grow."""
    generator = place.api.IdentityGenerator(start=5, step=2)
    builder = place.named(place.api.DeltaTable.create(place.spark), "numbered")
    table = (
        builder.addColumn("id", "BIGINT", generatedByDefaultAs=generator)
        .addColumn("word", "STRING")
        .execute()
    )
    source = place.spark.sql("SELECT 'x' AS word").alias("s")
    table.alias("t").merge(source, "t.word = s.word").whenNotMatchedInsert(
        values={"word": "s.word"}
    ).execute()

    assert place.api.IdentityGenerator() == place.api.IdentityGenerator(1, 1)
    assert table.toDF().collect()[0].id >= 5
    return observed(table.toDF().selectExpr("id % 2 AS odd", "word"))


def protocols_grow(place: Place) -> Any:
    """Versions and features are added, and a feature goes again."""
    table = _orders(place, "featured")
    table.upgradeTableProtocol(1, 3)
    table.upgradeTableProtocol(1, 2)
    table.addFeatureSupport("deletionVectors")
    features = set(table.detail().collect()[0].tableFeatures)
    table.dropFeatureSupport("deletionVectors")
    after = set(table.detail().collect()[0].tableFeatures)

    assert {"checkConstraints", "deletionVectors"} <= features
    assert "deletionVectors" not in after
    return [refusal(lambda: table.dropFeatureSupport("deletionVectors")), "checkpointProtection" in after]


def folders_of_parquet_are_converted(place: Place) -> Any:
    """With the types of its partition columns, which nobody guesses."""
    names, spark = place.api.DeltaTable, place.spark
    path = place.path("parquet")
    spark.range(4).selectExpr("id", "id % 2 AS part").coalesce(1).write.partitionBy("part").parquet(path)
    before = names.isDeltaTable(spark, path)
    untyped = refusal(lambda: names.convertToDelta(spark, f"parquet.`{path}`"))
    table = names.convertToDelta(spark, f"parquet.`{path}`", "part INT")
    again = names.convertToDelta(spark, f"parquet.`{path}`", StructType([StructField("part", IntegerType())]))

    assert before is False and untyped[0] == "AnalysisException"
    assert names.isDeltaTable(spark, path) is True
    return [observed(table.toDF()), observed(again.toDF()), observed(names.forPath(spark, path).toDF())]


def tables_are_found(place: Place) -> Any:
    """By a path, by a path in a name; and what is no table is said to be none."""
    names, spark = place.api.DeltaTable, place.spark
    _orders(place, "found")
    path = place.path("found by path")
    names.create(spark).location(path).addColumn("id", "INT").execute()

    assert names.forName(spark, f"delta.`{path}`").toDF().columns == ["id"]
    assert names.isDeltaTable(spark, path) and not names.isDeltaTable(spark, place.path("nowhere"))
    assert names.forPath(spark, path).detail().collect()[0]["name"] is None
    return [
        refusal(lambda: names.forPath(spark, place.path("nowhere"))),
        refusal(lambda: names.forPath(spark, path, {"key": "value"})),
        refusal(lambda: names.forName(spark, "nowhere.nothing")),
        refusal(lambda: names.forName(spark, "nothing")),
    ]


def tables_are_cloned(place: Place) -> Any:
    """Shallow, to a path, now and at a version."""
    names, spark = place.api.DeltaTable, place.spark
    table = _orders(place, "source")
    version = table.history(1).collect()[0].version
    table.delete("id > 3")
    table.clone(place.path("clone"), True, False, {"team": "somebody"})
    table.cloneAtVersion(version, place.path("older clone"), isShallow=True)
    cloned, older = (names.forPath(spark, place.path(name)) for name in ("clone", "older clone"))
    cloned.update(set={"state": "'cloned'"})

    assert cloned.toDF().count() == 4 and older.toDF().count() == 10
    assert table.toDF().where("state = 'cloned'").count() == 0
    return [
        observed(cloned.toDF()),
        cloned.detail().collect()[0].properties["team"],
        [row.operation for row in older.history().collect()],
    ]


def tables_are_tended(place: Place) -> Any:
    """VACUUM gives an empty frame; manifests list the files."""
    table = _orders(place, "tended")
    swept = table.vacuum()

    assert swept.columns == [] and swept.collect() == []
    assert table.generate("symlink_format_manifest") is None
    return [observed(table.vacuum(1000.0)), Path(_location(table), "_symlink_format_manifest").is_dir()]


def _location(table: Any) -> str:
    return str(table.detail().collect()[0].location).removeprefix("file:")


def exceptions_have_their_names(place: Place) -> Any:
    """Eight, each directly below PySparkException."""
    names = [
        "DeltaConcurrentModificationException", "ConcurrentWriteException", "MetadataChangedException",
        "ProtocolChangedException", "ConcurrentAppendException", "ConcurrentDeleteReadException",
        "ConcurrentDeleteDeleteException", "ConcurrentTransactionException",
    ]  # fmt: skip
    found = [getattr(place.exceptions, name) for name in names]

    assert all(issubclass(each, PySparkException) for each in found)
    return [[each.__name__, [base.__name__ for base in each.__bases__]] for each in found]


BEHAVIOURS: Mapping[str, Callable[[Place], Any]] = {
    each.__name__: each
    for each in (
        merge_updates_and_inserts,
        merge_takes_conditions_and_columns,
        merge_knows_a_source_behind_its_alias,
        merge_evolves_the_schema,
        merge_refuses,
        rows_are_deleted_and_updated,
        statements_are_refused,
        history_and_detail_have_their_columns,
        optimize_tells_what_it_did,
        restore_brings_a_version_back,
        builders_make_tables,
        builders_refuse,
        identity_columns_count,
        protocols_grow,
        folders_of_parquet_are_converted,
        tables_are_found,
        tables_are_cloned,
        tables_are_tended,
        exceptions_have_their_names,
    )
}
