"""What happens to the tables of the referee: rows, properties and the steps that are of one feature only."""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType

import headgate
from headgate import Table, identity_column
from headgate.errors import ConstraintViolated
from tests.support.delta_spark import Refused
from tests.support.referee import (
    AT_ONCE,
    Site,
    Step,
    alter,
    append,
    delete,
    merge,
    refused,
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
    delete("id % 5 = 1"),
    append(rows(12, 20)),
    update({"v": "v + 1"}, "id % 4 = 0"),
    merge(rows(15, 25), {"v": "s.v + 1000"}),
)
"""Each of the statements that change rows; ``CHANGES`` are those for a table that has some."""
CHANGES = (append(rows(30, 36)), update({"v": "-v"}, "id % 2 = 0"), delete("id % 3 = 2"))

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
SIZED = """
    SELECT id, 'p' AS p, concat('c', id) AS c, array(concat('a', id), NULL) AS a,
        named_struct('k', 'k', 'v', concat('v', id)) AS s FROM range(0, 5, 1, 1)
"""
VARIED = """SELECT 20 + id AS id, parse_json('{"a": [1, null], "b": {"c": 1.5}}') AS v FROM range(4)"""
VARIANTS = (
    append("SELECT id, parse_json(CAST(id AS STRING)) AS v FROM range(0, 7, 1, 1)"),
    append("SELECT 9L AS id, CAST(NULL AS VARIANT) AS v"),
    delete("id = 5"),
    update({"v": "parse_json('null')"}, "id = 1"),
)
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
