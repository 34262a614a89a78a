"""One table in two hands: steps that Headgate and Delta Spark take by turns, each in its own words.

A step means the same to both, so who begins must not matter: what one does in the one direction the other
does in the other one, and rows and columns have to be the same after each.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

import headgate
from headgate import Table
from headgate.settings import Publish, Settings
from tests.support.delta_spark import DeltaSpark
from tests.support.plain_rows import Row, plain_rows

AT_ONCE = Settings(publish=Publish.NOW)
"""A version has its checksum, and its checkpoint if one is due, when the commit returns."""


_IDS = ("_row_id", "_row_commit_version")


class Engine(Enum):
    """Who takes a step."""

    HEADGATE = "Headgate"
    DELTA = "Delta Spark"

    @property
    def other(self) -> "Engine":
        return Engine.DELTA if self is Engine.HEADGATE else Engine.HEADGATE


@dataclass
class Site:
    """Where the table is, and both engines."""

    folder: Path
    spark: SparkSession
    delta: DeltaSpark
    opened: dict[str, Table] = field(default_factory=dict)

    @property
    def path(self) -> str:
        return str(self.folder / "table")

    @property
    def table(self) -> Table:
        """As Headgate has it open all the time, so that it has to notice what Delta commits."""
        if self.path not in self.opened:
            self.opened[self.path] = headgate.at_path(self.path, settings=AT_ONCE)
        return self.opened[self.path]

    def sql(self, text: str) -> None:
        """Have Delta run a statement, in which ``{t}`` is the table and ``{s}`` another one beside it."""
        beside = self.folder / "beside"
        self.delta.sql(text.replace("{t}", f"delta.`{self.path}`").replace("{s}", f"delta.`{beside}`"))

    def latest(self) -> int:
        """The latest version that is published."""
        logged = Path(self.path, "_delta_log").glob("[0-9]*.json")
        return max(int(file.stem) for file in logged if file.stem.isdecimal())  # not v2 checkpoints


Act = Callable[[Site], object]


@dataclass(frozen=True)
class Step:
    """What is done, by either of them; by the other one where an engine has no words for it."""

    name: str
    ours: Act | None
    theirs: Act | None

    def by(self, engine: Engine) -> tuple[Engine, Act]:
        """Who takes it if it is this one's turn."""
        acts = {Engine.HEADGATE: self.ours, Engine.DELTA: self.theirs}
        taken, otherwise = acts[engine], acts[engine.other]
        if taken is not None:
            return engine, taken
        assert otherwise is not None
        return engine.other, otherwise


@dataclass(frozen=True)
class Seen:
    """What an engine reads: names and types of columns, and rows."""

    columns: tuple[tuple[str, str], ...]
    rows: Counter[Row]

    @property
    def without_ids(self) -> "Seen":
        """The user's columns alone: which row has which id is up to whoever gives them."""
        own = [place for place, (name, _) in enumerate(self.columns) if name not in _IDS]
        rows = Counter(tuple(row[place] for place in own) for row in self.rows.elements())
        return Seen(tuple(self.columns[place] for place in own), rows)


@dataclass(frozen=True)
class Taken:
    """A step that was taken, the versions it made, and what either reads then."""

    name: str
    by: Engine
    versions: range
    ours: Seen
    theirs: Seen


@dataclass(frozen=True)
class Feature:
    """A row: how a table with the feature is made, and what then happens to it."""

    name: str
    made: Step
    steps: Sequence[Step]
    in_log: Callable[[Table], object] = field(default=lambda table: True)
    """Whether the table really has it at the end."""
    feed: bool = False
    """It has a change data feed, from its first version."""
    tracked: bool = False
    """Its rows have ids."""
    past: bool = True
    """Older versions can be read to the end."""
    short: bool = False
    """It is part of the suite that always runs."""
    told_otherwise: frozenset[str] = frozenset()
    """The steps that either calls by another name in the history, or does without a version."""

    @property
    def begun_by(self) -> Sequence[Engine]:
        """Who can make such a table."""
        return [engine for engine in Engine if self.made.by(engine)[0] is engine]

    @property
    def compared(self) -> Sequence[str]:
        """What has to be the same to both."""
        rows = "rows at every version" if self.past else "rows"
        optional = {"ids of rows": self.tracked, "change feed": self.feed}
        told = ["history", "detail", *(name for name, on in optional.items() if on), "checksums"]
        return [rows, *told]


def play(feature: Feature, first: Engine, site: Site) -> Sequence[Taken]:
    """Take the steps by turns, beginning with the one that makes the table."""
    taken: list[Taken] = []
    turn = first
    for step in (feature.made, *feature.steps):
        before = site.latest() if taken else -1
        by, act = step.by(turn)
        act(site)
        versions = range(before + 1, site.latest() + 1)
        taken.append(Taken(step.name, by, versions, ours(feature, site), theirs(feature, site)))
        turn = turn.other
    return taken


def ours(feature: Feature, site: Site, version: int | None = None) -> Seen:
    """What Headgate reads, now or at a version."""
    frame = site.table.read(version=version, row_ids=feature.tracked, spark=site.spark)
    columns = tuple((each.name, each.dataType.simpleString()) for each in frame.schema.fields)
    return Seen(columns, Counter(plain_rows(frame)))


def theirs(feature: Feature, site: Site, version: int | None = None) -> Seen:
    """What Delta Spark reads, with ids of rows under Headgate's names for them."""
    ids = ", _metadata.row_id AS _row_id, _metadata.row_commit_version AS _row_commit_version"
    then = "" if version is None else f" VERSION AS OF {version}"
    found = site.delta.sql(f"SELECT *{ids if feature.tracked else ''} FROM delta.`{site.path}`{then}")
    return Seen(found.columns, found.counted)


# ---- steps -----------------------------------------------------------------------------------------------


def sql(*statements: str) -> Act:
    """Statements of Delta."""

    def act(site: Site) -> None:
        for statement in statements:
            site.sql(statement)

    return act


def make(
    columns: str,
    *,
    properties: Mapping[str, str] | None = None,
    partition_by: Sequence[str] = (),
    cluster_by: Sequence[str] = (),
    ours: StructType | None = None,
) -> Step:
    """An empty table; ``ours`` are its columns where Headgate has no DDL for them."""
    settings = ", ".join(f"'{key}' = '{value}'" for key, value in (properties or {}).items())
    parts = [f"CREATE TABLE {{t}} ({columns}) USING delta"]
    parts += [f"PARTITIONED BY ({', '.join(partition_by)})"] if partition_by else []
    parts += [f"CLUSTER BY ({', '.join(cluster_by)})"] if cluster_by else []
    parts += [f"TBLPROPERTIES ({settings})"] if settings else []
    return Step(
        "create",
        lambda site: headgate.at_path(
            site.path, columns=ours or columns, properties=properties, partition_by=partition_by,
            cluster_by=cluster_by, settings=AT_ONCE,
        ),
        sql(" ".join(parts)),
    )  # fmt: skip


def append(select: str) -> Step:
    """Add the rows of a query."""
    return Step(
        "append",
        lambda site: site.table.append(site.spark.sql(select)),
        sql(f"INSERT INTO {{t}} BY NAME {select}"),
    )


def overwrite(select: str) -> Step:
    """Have the rows of a query and no other."""
    return Step(
        "overwrite",
        lambda site: site.table.overwrite(site.spark.sql(select)),
        sql(f"INSERT OVERWRITE {{t}} BY NAME {select}"),
    )


def replace_where(where: str, select: str) -> Step:
    """Replace rows by those of a query."""
    return Step(
        "replace where",
        lambda site: site.table.overwrite(site.spark.sql(select), replace_where=where),
        sql(f"INSERT INTO {{t}} REPLACE WHERE {where} {select}"),
    )


def delete(where: str) -> Step:
    """Delete rows."""
    return Step(
        "delete",
        lambda site: site.table.delete(where, spark=site.spark),
        sql(f"DELETE FROM {{t}} WHERE {where}"),
    )


def update(values: Mapping[str, str], where: str) -> Step:
    """Change rows."""
    changed = ", ".join(f"{name} = {value}" for name, value in values.items())
    return Step(
        "update",
        lambda site: site.table.update(values, where, spark=site.spark),
        sql(f"UPDATE {{t}} SET {changed} WHERE {where}"),
    )


def merge(
    select: str,
    values: Mapping[str, str],
    *,
    by_source: str = "t.id = 0",
    inserted: Mapping[str, str] | None = None,
) -> Step:
    """Change the rows that match by their id, insert the others, and delete one that has no match."""
    changed = ", ".join(f"{name} = {value}" for name, value in values.items())
    columns = "*" if inserted is None else f"({', '.join(inserted)}) VALUES ({', '.join(inserted.values())})"
    clauses = f"WHEN MATCHED THEN UPDATE SET {changed} WHEN NOT MATCHED THEN INSERT {columns} "
    clauses += f"WHEN NOT MATCHED BY SOURCE AND {by_source} THEN DELETE"

    def ours(site: Site) -> None:
        merging = site.table.merge(site.spark.sql(select), "t.id = s.id").when_matched_update(set=values)
        if inserted is None:
            merging = merging.when_not_matched_insert_all()
        else:
            merging = merging.when_not_matched_insert(values=inserted)
        merging.when_not_matched_by_source_delete(by_source).execute()

    return Step("merge", ours, sql(f"MERGE INTO {{t}} AS t USING ({select}) AS s ON t.id = s.id {clauses}"))


def set_properties(properties: Mapping[str, str]) -> Step:
    """Give the table properties."""
    settings = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
    return Step(
        "set properties",
        lambda site: site.table.set_properties(properties),
        sql(f"ALTER TABLE {{t}} SET TBLPROPERTIES ({settings})"),
    )


def alter(name: str, ours: Callable[[Table], object], theirs: str) -> Step:
    """Change what the table is; of Delta's statement only what comes after the table."""
    return Step(name, lambda site: ours(site.table), sql(f"ALTER TABLE {{t}} {theirs}"))


def checkpoint() -> Step:
    """Write a checkpoint, and forget what is known of the log."""

    def ours(site: Site) -> None:
        site.table.checkpoint()
        site.opened.clear()

    return Step("checkpoint", ours, lambda site: site.delta.checkpoint(site.path))


Attempt = tuple[type[Exception], Act]


def refused(name: str, ours: Attempt, theirs: Attempt | None = None) -> Step:
    """What they do not do, or what Headgate alone does not."""

    def refusing(error: type[Exception], act: Act) -> Act:
        def attempt(site: Site) -> None:
            try:
                act(site)
            except error:
                return
            raise AssertionError(f"{name} is not refused")

        return attempt

    return Step(name, refusing(*ours), None if theirs is None else refusing(*theirs))


def only_theirs(step: Step) -> Step:
    """What Headgate does not do with such a table."""
    return Step(step.name, None, step.theirs)


def only_ours(name: str, act: Act) -> Step:
    """What Delta Spark has no words for."""
    return Step(name, act, None)
