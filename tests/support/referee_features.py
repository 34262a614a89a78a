"""What the referee looks at: a row for each feature, how a table with it is made and what happens to it."""

from collections.abc import Sequence

from headgate.errors import UnsupportedFeature
from tests.support.referee import (
    Feature,
    alter,
    append,
    checkpoint,
    delete,
    make,
    merge,
    only_ours,
    only_theirs,
    overwrite,
    refused,
    replace_where,
    set_properties,
    update,
)
from tests.support.referee_steps import (
    BY_ID,
    BY_NAME,
    CHANGES,
    COLUMNS,
    CONSTRAINED,
    COUNTED,
    DEFAULTS,
    DML,
    DOMAINS,
    FEED,
    GENERATED,
    MAPPED,
    PURGE,
    STAMPS,
    TRACKED,
    V2,
    VACUUM,
    VARIANTS,
    VARIED,
    VECTORS,
    WIDENED,
    WIDENING,
    clone,
    compact,
    domain,
    drop,
    has,
    has_files,
    keeps,
    optimize,
    restore,
    rows,
)

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
        (append(rows(0, 4)), set_properties(BY_NAME), delete("id = 1"), *CHANGES),
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
            merge(
                "SELECT id, 3 AS v FROM range(3, 12, 1, 1)",
                {"v": "s.v"},
                by_source="t.id = 1",
                inserted={"id": "s.id", "v": "s.v"},
            ),
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
        (*DML[:4], checkpoint(), *DML[4:], checkpoint(), *CHANGES),
        has_files("*.parquet", below="_delta_log/_sidecars"),
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
        (*DML[:4], checkpoint(), *DML[4:], checkpoint(), *CHANGES),
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
    ),
    Feature(
        "variant",
        only_theirs(make("id BIGINT, v VARIANT")),
        (
            *map(only_theirs, VARIANTS),
            refused(
                "an append by Headgate",
                (UnsupportedFeature, lambda site: site.table.append(site.spark.sql(VARIED))),
            ),
            checkpoint(),
            only_theirs(append(VARIED)),
            checkpoint(),
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
        told_otherwise=frozenset({"set a domain"}),
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
        told_otherwise=frozenset({"clone"}),
    ),
    Feature("deep clones", clone(shallow=False), CHANGES),
    Feature(
        "restore",
        make(COLUMNS, properties=VECTORS),
        (*DML, restore(2), append(rows(50, 52)), restore(5), delete("id = 2")),
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
        told_otherwise=frozenset({"vacuum"}),
    ),
    Feature(
        "drop feature",
        make(COLUMNS, properties={**VECTORS, **TRACKED}),
        (append(rows(0, 9)), drop("rowTracking"), append(rows(9, 12)), drop("deletionVectors"), *CHANGES),
        has("checkpointProtection"),
    ),
    Feature(
        "drop feature with vectors",
        make(COLUMNS, properties=VECTORS),
        (*DML, only_theirs(drop("deletionVectors")), *CHANGES),
        has("checkpointProtection"),
    ),
)
