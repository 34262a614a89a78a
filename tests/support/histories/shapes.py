"""What a table is when its history begins: columns, layout and properties, by chance."""

from dataclasses import dataclass
from random import Random
from typing import Any

from pyspark.sql.types import DataType, LongType, StructField, StructType

import headgate
from headgate import identity_column
from headgate.settings import Publish, Settings
from tests.support.histories.model import Cells, Column, State
from tests.support.histories.values import KINDS, NESTED, name, quoted

AT_ONCE = Settings(publish=Publish.NOW)
"""Every version has its checksum when the commit returns."""
_MIXED = ("delta.columnMapping.mode", ("none", "none", "name", "id"))
_SWITCHES = (
    ("delta.enableDeletionVectors", 0.6),
    ("delta.enableChangeDataFeed", 0.45),
    ("delta.enableRowTracking", 0.3),
    ("delta.enableInCommitTimestamps", 0.3),
    ("delta.enableTypeWidening", 0.4),
)
_NAMES = ("Val", "größe", "c-d", "_under", "e$", "x1", "key", "row_id", "path", "Size", "stats")
_ODD_NAMES = ("a b", "x.y", "c;d,e", "t*ck", "(p)", "n=1")
"""Only with mapped columns."""
_PARTITIONS = (
    "STRING",
    "STRING",
    "STRING",
    "DATE",
    "INT",
    "DECIMAL(10,2)",
    "TIMESTAMP",
    "TIMESTAMP_NTZ",
    "BOOLEAN",
)


@dataclass(frozen=True)
class Shape:
    """The table as it is made."""

    state: State
    properties: dict[str, str]

    def __repr__(self) -> str:
        layout = f"partitioned by {self.state.partition_by}, clustered by {self.state.cluster_by}"
        return f"{self.ddl}\n    {layout}\n    {self.properties}"

    @property
    def ddl(self) -> str:
        """The columns as Delta's CREATE TABLE takes them."""
        return ", ".join(_declared(column) for column in self.state.columns)

    @property
    def structs(self) -> StructType:
        """The columns as Headgate takes them."""
        return StructType([_struct_field(column) for column in self.state.columns])

    def make_ours(self, path: str) -> None:
        """Have Headgate make it."""
        headgate.at_path(
            path, columns=self.structs, properties=self.properties, partition_by=self.state.partition_by,
            cluster_by=[name(column) for column in self.state.cluster_by], settings=AT_ONCE,
        )  # fmt: skip

    def make_theirs(self, path: str) -> str:
        """The statement that has Delta make it."""
        settings = ", ".join(f"'{key}' = '{value}'" for key, value in self.properties.items())
        parts = [f"CREATE TABLE delta.`{path}` ({self.ddl}) USING delta"]
        for word, columns in (("PARTITIONED", self.state.partition_by), ("CLUSTER", self.state.cluster_by)):
            parts += [f"{word} BY ({', '.join(map(name, columns))})"] if columns else []
        return " ".join(parts) + (f" TBLPROPERTIES ({settings})" if settings else "")


def draw(random: Random) -> Shape:
    """A shape by chance."""
    properties = {key: "true" for key, chance in _SWITCHES if random.random() < chance}
    mode = random.choice(_MIXED[1])
    properties |= {_MIXED[0]: mode} if mode != "none" else {}
    properties |= {"delta.checkpointPolicy": "v2"} if random.random() < 0.25 else {}
    properties |= (
        {"delta.checkpointInterval": random.choice(["2", "3", "7"])} if random.random() < 0.5 else {}
    )
    properties |= {"delta.feature.domainMetadata": "supported"} if random.random() < 0.3 else {}
    columns = _columns(random, mode)
    layout = random.choice(["plain", "partitioned", "clustered"])
    partition_by: tuple[str, ...] = ()
    cluster_by: tuple[str, ...] = ()
    if layout == "partitioned":
        partition_by, columns = _partitions(random, columns)
    elif layout == "clustered":
        cluster_by = tuple(random.sample(["id", "p", "v"], random.randint(1, 2)))
    if any(column.default for column in columns):
        properties["delta.feature.allowColumnDefaults"] = "supported"
    return Shape(State(tuple(columns), (), partition_by, cluster_by), properties)


def free_name(random: Random, taken: tuple[str, ...], *, mapped: bool) -> str:
    """A name of a new column, odd where columns are mapped."""
    used = {each.lower() for each in taken}
    names = [each for each in (*_NAMES, *(_ODD_NAMES if mapped else ())) if each.lower() not in used]
    return random.choice(names)


def _columns(random: Random, mode: str) -> list[Column]:
    columns = [
        Column("id", KINDS["BIGINT"], fixed=True),
        Column("p", KINDS["STRING"]),
        Column("v", KINDS[random.choice(["INT", "INT", "SMALLINT", "DECIMAL(10,2)"])]),
    ]
    for _ in range(random.randint(1, 4)):
        kind = random.choice([*KINDS.values(), *NESTED, *NESTED])
        called = free_name(random, tuple(column.name for column in columns), mapped=mode != "none")
        columns.append(Column(called, kind))
    special = random.choice(["", "", "generated", "default", "identity"])
    if special == "generated":
        columns.append(Column("g", KINDS["BIGINT"], computed=("id * 2", _twice), fixed=True))
    elif special == "default":
        columns.append(Column("e", KINDS["STRING"], default=("no'ne",), fixed=True))
    elif special == "identity":
        columns.insert(
            random.choice([0, len(columns)]), Column("k", KINDS["BIGINT"], identity=True, fixed=True)
        )
    return columns


def _twice(cells: Cells) -> Any:
    return None if cells["id"] is None else cells["id"] * 2


def _partitions(random: Random, columns: list[Column]) -> tuple[tuple[str, ...], list[Column]]:
    if random.random() < 0.4:
        return ("p",), columns
    kind = KINDS[random.choice(_PARTITIONS)]
    columns = [*columns, Column("part", kind)]
    return (("part",) if random.random() < 0.5 else ("part", "p")), columns


def _declared(column: Column) -> str:
    text = f"{name(column.name)} {column.kind.sql}"
    if column.computed is not None:
        return f"{text} GENERATED ALWAYS AS ({column.computed[0]})"
    if column.default is not None:
        return f"{text} DEFAULT {quoted(column.default[0])}"
    return f"{text} GENERATED ALWAYS AS IDENTITY" if column.identity else text


def _struct_field(column: Column) -> StructField:
    if column.identity:
        return identity_column(column.name)
    metadata: dict[str, Any] = {}
    if column.computed is not None:
        metadata["delta.generationExpression"] = column.computed[0]
    if column.default is not None:
        metadata["CURRENT_DEFAULT"] = metadata["EXISTS_DEFAULT"] = quoted(column.default[0])
    kind = DataType.fromDDL(column.kind.sql) if column.name != "g" else LongType()
    return StructField(column.name, kind, metadata=metadata)
