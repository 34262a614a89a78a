"""Which table is meant by what a user of ``delta.tables`` calls it?

"sales.orders", "main.sales.orders"     a table of a lake that the session knows: lake.register(spark)
"orders"                                the one in the session's current schema, if that is a lake's
"delta.`/data/orders`"                  the ordinary table at that path
"/data/orders"                          the same, where a path is expected
"""

from dataclasses import dataclass

from pyspark.sql import SparkSession

from headgate.errors import InvalidRequest, TableNotFound
from headgate.lake.lake import Lake
from headgate.lake.path_table import open_path, table_at_path
from headgate.lake.table import Table
from headgate.registration.registered_lakes import LakeTable, find_lake, registered_lakes
from headgate.settings import Settings
from headgate.spark.dml.assignments import split_name
from headgate.storage.location_spelling import is_local
from headgate.table.read import table_not_found

_DELTA = "delta"
_HADOOP_KEYS = ("fs.", "dfs.")


@dataclass(frozen=True, slots=True)
class HeldTable:
    """A table, and the lake that it is of; None if it was opened by its path."""

    table: Table
    lake: Lake | None = None

    @property
    def qualifier(self) -> str | None:
        """What expressions may call the table by if it was given no alias: the last part of its name."""
        return None if self.lake is None else self.table.name.rpartition(".")[2]


def table_by_name(spark: SparkSession, name: str) -> HeldTable:
    """The table of that name; ``TableNotFound`` if it is none of a registered lake."""
    path = path_in(name)
    if path is not None:
        return table_by_path(path)
    found = lake_table(spark, name)
    if found is None:
        raise not_of_a_lake(spark, name)
    return HeldTable(found.lake.table(str(found.name)), found.lake)


def table_by_path(path: str) -> HeldTable:
    """The ordinary Delta table at a path; ``TableNotFound`` if there is none."""
    opened = open_path(path, Settings())
    if not opened.exists():
        raise table_not_found.no_table_at(opened.location)
    opened.snapshot()  # refused here and not at the first use, if only its catalog knows it
    return HeldTable(table_at_path(opened))


def is_table(spark: SparkSession, identifier: str) -> bool:
    """Whether a path, or a name of a registered lake, is that of a Delta table."""
    path = identifier if is_path(identifier) else path_in(identifier)
    if path is not None:
        return open_path(path, Settings()).exists()
    found = lake_table(spark, identifier)
    return found is not None and found.lake.table_exists(str(found.name))


def lake_table(spark: SparkSession, name: str) -> LakeTable | None:
    """Whose a name is; that of a table alone is one of the session's current schema."""
    parts = split_name(name)
    if len(parts) == 1:
        parts = (spark.catalog.currentDatabase(), *parts)
    return find_lake(spark, parts)


def path_in(name: str, source: str = _DELTA) -> str | None:
    """The path in a name such as ``delta.`/data/orders```; None if it is another name."""
    parts = split_name(name)
    return parts[1] if len(parts) == 2 and parts[0].lower() == source and "`" in name else None


def is_path(identifier: str) -> bool:
    """Whether this is an absolute path, or a URL, and not a name."""
    return identifier.startswith("/") or not is_local(identifier) or identifier.startswith("file:")


def not_of_a_lake(spark: SparkSession, name: str) -> TableNotFound:
    """The error for a name that is no registered lake's."""
    known = ", ".join(registered_lakes(spark))
    lakes = f"none of the lakes it knows ({known}) has this schema" if known else "it knows no lake"
    return TableNotFound(
        f"the session finds no Delta table by the name {name}: {lakes}. Correct the name, or have the "
        "session know a lake, headgate.connect(…).register(spark); a path is opened by DeltaTable.forPath",
        name=name,
    )


def check_hadoop_conf(conf: dict[str, str]) -> None:
    """Refuse settings of a file system: Headgate reads logs without Hadoop, and would not heed them."""
    if not conf:
        return
    other = [key for key in conf if not key.startswith(_HADOOP_KEYS)]
    if other:
        raise InvalidRequest(
            f"hadoopConf takes keys that begin with fs. or dfs., and not {other[0]!r}: leave it out",
            code="DELTA_TABLE_FOR_PATH_UNSUPPORTED_HADOOP_CONF",
        )
    raise InvalidRequest(
        f"the settings {', '.join(sorted(conf))} are for Hadoop alone, and the log of the table is read "
        "without it: give the session its own by spark.hadoop.…, and Headgate credentials by the environment",
        code="DELTA_TABLE_FOR_PATH_UNSUPPORTED_HADOOP_CONF",
    )
