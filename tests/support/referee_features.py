"""What the referee looks at: a row for each feature, how a table with it is made and what happens to it."""

import json
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType

import headgate
from headgate import Table, identity_column
from headgate.errors import ConstraintViolated
from tests.support.delta_spark import Refused
from tests.support.referee import (
    AT_ONCE,
    Feature,
    Site,
    Step,
    alter,
    append,
    checkpoint,
    delete,
    joined,
    make,
    merge,
    only_ours,
    overwrite,
    refused,
    replace_where,
    set_properties,
    sql,
    update,
)

COLUMNS = "id BIGINT, p STRING, v INT"


def rows(start: int, end: int, *more: str) -> str:
    """Rows with these ids, in one file."""
    columns = ("id", "concat('p ', id % 3) AS p", "CAST(id * 10 AS INT) AS v", *more)
    return f"SELECT {', '.join(columns)} FROM range({start}, {end}, 1, 1)"


DML = (
    append(rows(0, 12)),
    append(rows(12, 20)),
    delete("id % 5 = 1"),
    update({"v": "v + 1"}, "id % 4 = 0"),
    merge(rows(15, 25), {"v": "s.v + 1000"}),
    delete("id > 22"),
)
"""Each of the statements that change rows; ``CHANGES`` are those for a table that has some."""
CHANGES = (
    append(rows(30, 36)),
    update({"v": "-v"}, "id % 2 = 0"),
    delete("id % 3 = 2"),
    append(rows(40, 42)),
)

VECTORS = {"delta.enableDeletionVectors": "true"}
FEED = {"delta.enableChangeDataFeed": "true"}
TRACKED = {"delta.enableRowTracking": "true"}
BY_NAME = {"delta.columnMapping.mode": "name"}
BY_ID = {"delta.columnMapping.mode": "id"}
WIDENING = {"delta.enableTypeWidening": "true"}
STAMPS = {"delta.enableInCommitTimestamps": "true"}
V2 = {"delta.checkpointPolicy": "v2"}
DOMAINS = {"delta.feature.domainMetadata": "supported"}


def has(*features: str) -> Callable[[Table], bool]:
    """Whether its protocol names these features."""

    def named(table: Table) -> bool:
        protocol = table.log.snapshot().state.protocol
        return {*features} <= {*(protocol.reader_features or ()), *(protocol.writer_features or ())}

    return named


def has_files(pattern: str, *, below: str = "_delta_log") -> Callable[[Table], bool]:
    """Whether there are such files."""
    return lambda table: any(Path(table.location, below).glob(pattern))


def keeps(key: str, value: str) -> Callable[[Table], bool]:
    """Whether it has that property."""
    return lambda table: table.properties().get(key) == value


# ---- steps of one feature --------------------------------------------------------------------------------

MAPPED = (
    append(rows(0, 8)),
    alter("rename a column", lambda t: t.rename_column("v", "value"), "RENAME COLUMN v TO value"),
    alter("add a column", lambda t: t.add_columns("v INT"), "ADD COLUMNS (v INT)"),
    append("SELECT id, 'p' AS p, 1 AS value, 2 AS v FROM range(8, 12, 1, 1)"),
    update({"v": "value + 1"}, "id % 2 = 0"),
    alter("drop a column", lambda t: t.drop_columns("p"), "DROP COLUMN p"),
    append("SELECT id, 3 AS value, 4 AS v FROM range(12, 14, 1, 1)"),
    alter("add it again", lambda t: t.add_columns("p BIGINT"), "ADD COLUMNS (p BIGINT)"),
    delete("value = 0 OR id > 12"),
)
WIDENED = (
    append("SELECT CAST(id AS INT) AS id, CAST(1.5 AS FLOAT) AS f, array(1S) AS a FROM range(0, 6, 1, 1)"),
    alter("widen an integer", lambda t: t.widen_column("id", "BIGINT"), "ALTER COLUMN id TYPE BIGINT"),
    append("SELECT 3000000000 + id AS id, CAST(2.5 AS FLOAT) AS f, array(2S) AS a FROM range(0, 4, 1, 1)"),
    alter("widen a float", lambda t: t.widen_column("f", "DOUBLE"), "ALTER COLUMN f TYPE DOUBLE"),
    update({"f": "f * 1.1D"}, "id % 2 = 1"),
    alter("widen elements", lambda t: t.widen_column("a.element", "INT"), "ALTER COLUMN a.element TYPE INT"),
    append("SELECT 9L AS id, 1.1D AS f, array(70000) AS a"),
    delete("id = 2"),
)
VARIANT = '{"a": [1, null, "x"], "b": {"c": 1.5}}'
BROKEN = "SELECT -1L AS id, 'x' AS p, -5 AS v"
CONSTRAINED = (
    append(rows(0, 5)),
    alter(
        "add a constraint",
        lambda t: t.add_constraint("positive", "v >= 0"),
        "ADD CONSTRAINT positive CHECK (v >= 0)",
    ),
    refused(
        "a row that breaks it",
        (ConstraintViolated, append(BROKEN).ours or print),
        (Refused, append(BROKEN).theirs or print),
    ),
    append(rows(5, 9)),
    update({"v": "v + 7"}, "id < 3"),
    alter("drop the constraint", lambda t: t.drop_constraint("positive"), "DROP CONSTRAINT positive"),
    append(BROKEN),
)


def column(name: str, kind: LongType | IntegerType | StringType, **metadata: str) -> StructField:
    """With what Delta keeps in the metadata of a column."""
    return StructField(name, kind, metadata=metadata)


GENERATED = StructType(
    [
        StructField("id", LongType()),
        StructField("v", IntegerType()),
        column("twice", LongType(), **{"delta.generationExpression": "id * 2"}),
    ]
)
DEFAULTS = StructType(
    [
        StructField("id", LongType()),
        column("p", StringType(), CURRENT_DEFAULT="'none'"),
        column("v", IntegerType(), CURRENT_DEFAULT="40 + 2"),
    ]
)
COUNTED = StructType([identity_column("n"), StructField("id", LongType())])


def compact(site: Site) -> None:
    site.table.compact_log(1, site.latest())


def restore(version: int) -> Step:
    return Step(
        "restore",
        lambda site: site.table.restore(version=version),
        sql(f"RESTORE TABLE {{t}} TO VERSION AS OF {version}"),
    )


def optimize(words: str = "", **options: object) -> Step:
    return Step(
        f"optimize {words}".strip(),
        lambda site: site.table.optimize(spark=site.spark, **options),  # type: ignore[arg-type]
        sql(f"OPTIMIZE {{t}} {words}"),
    )


VACUUM = Step(
    "vacuum",
    lambda site: site.table.vacuum(timedelta(0), enforce_retention=False),
    sql("VACUUM {t} RETAIN 0 HOURS"),
)
PURGE = Step(
    "purge",
    lambda site: site.table.purge(spark=site.spark),
    sql("REORG TABLE {t} APPLY (PURGE)"),
)


def source(site: Site) -> Path:
    """The table that is cloned, beside the clone."""
    place = site.folder / "beside"
    if not place.exists():
        made = headgate.at_path(place, columns=COLUMNS, properties=VECTORS, settings=AT_ONCE)
        made.append(site.spark.sql(rows(0, 10)))
        made.delete("id = 3", spark=site.spark)
    return place


def clone(*, shallow: bool) -> Step:
    """Headgate's clones are tables of a lake, and after a release ordinary ones."""

    def ours(site: Site) -> None:
        with headgate.connect(site.folder / "lake", settings=AT_ONCE) as lake:
            lake.create_schema("s")
            lake.clone(source(site), "s.clone", shallow=shallow)
            Path(site.path).symlink_to(lake.release("s.clone").location)

    def theirs(site: Site) -> None:
        source(site)
        site.sql("CREATE TABLE {t} SHALLOW CLONE {s}")

    return Step("clone", ours, theirs if shallow else None)


def domain(number: int) -> Step:
    configuration = json.dumps({"loaded": number})
    return Step(
        "set a domain",
        lambda site: site.table.set_domain("acme.loaded", configuration),
        lambda site: site.delta.set_domain(site.path, "acme.loaded", configuration),
    )


def drop(feature: str) -> Step:
    return alter(f"drop {feature}", lambda t: t.drop_feature(feature), f"DROP FEATURE {feature}")


# ---- the rows --------------------------------------------------------------------------------------------

FEATURES: Sequence[Feature] = (
    Feature("plain", make(COLUMNS), (*DML, *CHANGES)),
    Feature(
        "partitions",
        make("id BIGINT, p STRING, v INT, d DATE", partition_by=["p", "d"]),
        (
            append(rows(0, 12, "DATE'2026-01-01' + CAST(id % 2 AS INT) AS d")),
            append(
                "SELECT id, nullif('a=/%é ', 'b') AS p, 1 AS v, CAST(NULL AS DATE) AS d FROM range(20, 24)"
            ),
            delete("p = 'p 1'"),
            update({"p": "concat(p, '!')", "v": "v + 1"}, "id % 4 = 0"),
            merge(rows(5, 14, "DATE'1969-12-31' AS d"), {"v": "s.v", "p": "NULL"}),
            delete("d IS NULL AND id = 21"),
            update({"d": "d + 1"}, "p IS NULL"),
        ),
        lambda table: table.log.describe().metadata.partition_columns,
    ),
    Feature(
        "overwrites",
        make(COLUMNS, partition_by=["p"]),
        (
            append(rows(0, 9)),
            overwrite(rows(3, 12)),
            replace_where("p = 'p 1'", "SELECT id, 'p 1' AS p, 5 AS v FROM range(50, 53, 1, 1)"),
            replace_where("v > 80", "SELECT id, 'q' AS p, 90 AS v FROM range(60, 62, 1, 1)"),
            overwrite(rows(1, 4)),
        ),
    ),
    Feature("column mapping by name", make(COLUMNS, properties=BY_NAME), MAPPED, has("columnMapping")),
    Feature("column mapping by id", make(COLUMNS, properties=BY_ID), MAPPED, has("columnMapping")),
    Feature(
        "column mapping switched on",
        make(COLUMNS, partition_by=["p"]),
        joined([append(rows(0, 4)), set_properties(BY_NAME)], [delete("id = 1"), *CHANGES]),
        keeps("delta.columnMapping.mode", "name"),
    ),
    Feature(
        "deletion vectors",
        make(COLUMNS, properties=VECTORS),
        (*DML, *CHANGES, PURGE, delete("id = 30")),
        has_files("*.bin", below="."),
    ),
    Feature(
        "row tracking",
        make(COLUMNS, properties=TRACKED),
        (*DML, optimize(), *CHANGES),
        has("rowTracking"),
        tracked=True,
    ),
    Feature(
        "row tracking switched on",
        make(COLUMNS),
        (append(rows(0, 6)), append(rows(6, 9)), set_properties(TRACKED), *CHANGES),
        has("rowTracking"),
    ),
    Feature(
        "change feed", make(COLUMNS, properties=FEED), (*DML, *CHANGES), has("changeDataFeed"), feed=True
    ),
    Feature(
        "everything at once",
        make(
            COLUMNS,
            properties={**VECTORS, **FEED, **TRACKED, **BY_NAME, **STAMPS, **V2},
            partition_by=["p"],
        ),
        (*DML, checkpoint(), *CHANGES),
        has("deletionVectors", "rowTracking", "columnMapping", "inCommitTimestamp", "v2Checkpoint"),
        feed=True,
        tracked=True,
        short=True,
    ),
    Feature(
        "type widening",
        make("id INT, f FLOAT, a ARRAY<SMALLINT>", properties=WIDENING),
        WIDENED,
        has("typeWidening"),
    ),
    Feature(
        "clustering",
        make(COLUMNS, cluster_by=["id", "v"]),
        (
            *DML,
            optimize(),
            append(rows(30, 40)),
            alter("cluster by another", lambda t: t.cluster_by("p"), "CLUSTER BY (p)"),
            optimize(),
            delete("id < 4"),
            alter("cluster no longer", lambda t: t.cluster_by(), "CLUSTER BY NONE"),
            append(rows(40, 42)),
        ),
        has("clustering"),
    ),
    Feature(
        "clustering by mapped columns",
        make(COLUMNS, cluster_by=["id"], properties=BY_NAME),
        (append(rows(0, 9)), append(rows(9, 15)), optimize(), update({"v": "1"}, "id = 3")),
        has("clustering", "columnMapping"),
    ),
    Feature("constraints", make("id BIGINT NOT NULL, p STRING, v INT"), CONSTRAINED),
    Feature(
        "generated columns",
        make("id BIGINT, v INT, twice BIGINT GENERATED ALWAYS AS (id * 2)", ours=GENERATED),
        (
            append("SELECT id, 1 AS v FROM range(0, 5, 1, 1)"),
            append("SELECT id, 2 AS v, id * 2 AS twice FROM range(5, 9, 1, 1)"),
            update({"id": "id + 100"}, "id % 2 = 0"),
            merge("SELECT id, 3 AS v FROM range(3, 12, 1, 1)", {"v": "s.v"}, by_source="t.id = 1"),
            delete("twice = 6"),
        ),
        has("generatedColumns"),
    ),
    Feature(
        "default columns",
        make(
            "id BIGINT, p STRING DEFAULT 'none', v INT DEFAULT 40 + 2",
            properties={"delta.feature.allowColumnDefaults": "supported"},
            ours=DEFAULTS,
        ),
        (
            append("SELECT id FROM range(0, 4, 1, 1)"),
            append("SELECT id, 'p' AS p FROM range(4, 8, 1, 1)"),
            append("SELECT id FROM range(8, 10, 1, 1)"),
            update({"p": "'x'"}, "id < 2"),
        ),
        has("allowColumnDefaults"),
    ),
    Feature(
        "identity columns",
        make("n BIGINT GENERATED ALWAYS AS IDENTITY, id BIGINT", ours=COUNTED),
        (
            append("SELECT id FROM range(0, 4, 1, 1)"),
            append("SELECT id FROM range(4, 8, 1, 1)"),
            update({"id": "-id"}, "id > 5"),
            append("SELECT id FROM range(8, 10, 1, 1)"),
            delete("id = 2"),
            append("SELECT id FROM range(10, 12, 1, 1)"),
        ),
        has("identityColumns"),
    ),
    Feature(
        "v2 checkpoints",
        make(COLUMNS, properties={**V2, **VECTORS}),
        (*DML[:4], checkpoint(), *DML[4:], checkpoint(), checkpoint(), *CHANGES),
        has_files("*.parquet", below="_delta_log/_sidecars"),
        short=True,
    ),
    Feature(
        "classic checkpoints",
        make(
            COLUMNS,
            properties={
                **VECTORS,
                "delta.checkpoint.writeStatsAsStruct": "true",
                "delta.checkpointInterval": "3",
            },
        ),
        (*DML[:4], checkpoint(), *DML[4:], checkpoint(), checkpoint(), *CHANGES),
        has_files("*.checkpoint.parquet"),
    ),
    Feature(
        "log compaction",
        make(COLUMNS, properties=VECTORS),
        (*DML, only_ours("compact", compact), *CHANGES),
        has_files("*.compacted.json"),
    ),
    Feature(
        "checksums",
        make(COLUMNS, properties=VECTORS),
        (*DML, optimize()),
        has_files("[0-9]*.crc"),
        short=True,
    ),
    Feature(
        "variant",
        make("id BIGINT, v VARIANT"),
        (
            append(f"SELECT id, parse_json('{VARIANT}') AS v FROM range(0, 4, 1, 1)"),
            append("SELECT id, parse_json(CAST(id AS STRING)) AS v FROM range(4, 7, 1, 1)"),
            delete("id = 5"),
            update({"v": "parse_json('null')"}, "id = 1"),
            append("SELECT 9L AS id, CAST(NULL AS VARIANT) AS v"),
        ),
        has("variantType"),
    ),
    Feature(
        "timestampNtz",
        make("id BIGINT, at TIMESTAMP_NTZ, d TIMESTAMP_NTZ", partition_by=["d"]),
        (
            append(
                "SELECT id, TIMESTAMP_NTZ'2026-03-29 02:30:00.000001' + make_interval(0, 0, 0, id) AS at, "
                "TIMESTAMP_NTZ'1969-12-31 23:59:59.5' AS d FROM range(0, 5, 1, 1)"
            ),
            append(
                "SELECT 7L AS id, CAST(NULL AS TIMESTAMP_NTZ) AS at, TIMESTAMP_NTZ'2026-01-01 00:00:00' AS d"
            ),
            delete("at > TIMESTAMP_NTZ'2026-04-01 00:00:00'"),
            update({"at": "at + INTERVAL 1 HOUR", "d": "at"}, "id % 2 = 0"),
            append(
                "SELECT 8L AS id, TIMESTAMP_NTZ'0001-01-01 00:00:00' AS at, CAST(NULL AS TIMESTAMP_NTZ) AS d"
            ),
        ),
        has("timestampNtz"),
    ),
    Feature(
        "user domains",
        make(COLUMNS, properties=DOMAINS),
        (
            append(rows(0, 3)),
            domain(1),
            append(rows(3, 6)),
            checkpoint(),
            domain(2),
            delete("id = 1"),
            domain(3),
        ),
        lambda table: table.domain("acme.loaded") == '{"loaded": 3}',
    ),
    Feature(
        "in-commit timestamps",
        make(COLUMNS),
        (append(rows(0, 3)), set_properties(STAMPS), *CHANGES, checkpoint(), append(rows(60, 62))),
        has("inCommitTimestamp"),
    ),
    Feature(
        "shallow clones",
        clone(shallow=True),
        (*CHANGES, update({"v": "7"}, "id > 5"), merge(rows(5, 45), {"v": "1"})),
    ),
    Feature("deep clones", clone(shallow=False), CHANGES),
    Feature(
        "restore",
        make(COLUMNS, properties=VECTORS),
        (*DML, restore(3), append(rows(50, 52)), restore(5), delete("id = 2"), restore(7)),
    ),
    Feature(
        "optimize",
        make(COLUMNS, properties=VECTORS),
        (*DML, optimize(), *CHANGES, optimize(), delete("id = 4")),
    ),
    Feature(
        "z-order",
        make(COLUMNS),
        (*DML, optimize("ZORDER BY (id, v)", z_order_by=["id", "v"]), *CHANGES),
    ),
    Feature(
        "vacuum",
        make(COLUMNS, properties={**VECTORS, **FEED}, partition_by=["p"]),
        (*DML, PURGE, VACUUM, *CHANGES, VACUUM, delete("id = 4")),
        past=False,
    ),
    Feature(
        "drop feature",
        make(COLUMNS, properties={**VECTORS, **TRACKED}),
        (*DML, drop("rowTracking"), append(rows(30, 33)), drop("deletionVectors"), *CHANGES),
        has("checkpointProtection"),
    ),
)
