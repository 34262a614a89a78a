"""A step of a history: what either engine is told, and what the model makes of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from random import Random

from pyspark.sql import DataFrame, SparkSession

import headgate
from headgate import Table
from tests.support.delta_spark import DeltaSpark
from tests.support.histories.model import State
from tests.support.histories.shapes import AT_ONCE


class Engine(Enum):
    """Who takes a step."""

    HEADGATE = "Headgate"
    DELTA = "Delta"


@dataclass
class Site:
    """Where the table is, and both engines."""

    path: str
    spark: SparkSession
    delta: DeltaSpark
    kept: list[Table] = field(default_factory=list)

    def at(self, path: str) -> "Site":
        """Another table, in the same hands."""
        return Site(path, self.spark, self.delta)

    @property
    def table(self) -> Table:
        """As Headgate has it open for several steps, so that it has to notice what Delta commits."""
        if not self.kept:
            self.kept.append(headgate.at_path(self.path, settings=AT_ONCE))
        return self.kept[0]

    def frame(self, query: str) -> DataFrame:
        return self.spark.sql(query)

    def sql(self, text: str) -> None:
        """Have Delta run a statement, in which ``{t}`` is the table."""
        self.delta.sql(text.replace("{t}", f"delta.`{self.path}`"))

    def properties(self, version: int) -> Mapping[str, str]:
        """What the table had for properties in a version; several of one step may differ."""
        return self.table.log.snapshot(version=version).state.metadata.configuration

    def latest(self) -> int:
        """The latest version that is published."""
        commits = Path(self.path, "_delta_log").glob("[0-9]*.json")
        return max(int(file.stem) for file in commits if file.stem.isdecimal())


Act = Callable[[Site], object]
_ROW_IDS = "delta.rowTracking.materializedRowIdColumnName"


@dataclass(frozen=True)
class Step:
    """What is done; None where an engine has no words for it."""

    name: str
    ours: Act | None
    theirs: Act | None
    after: State
    metrics: Mapping[str, int] = field(default_factory=dict)
    """What the history has to say of it, whoever did it."""
    closes: bool = False
    """What was before it is better looked at before it."""
    forgets: bool = False
    """The versions before it can no longer be read."""
    refusable: bool = False
    """Either engine may have a reason not to do it, which the model does not know."""
    forbidden: bool = False
    """Both refuse it."""


@dataclass(frozen=True)
class Now:
    """The table at the moment, as far as the next step depends on it."""

    state: State
    properties: Mapping[str, str]
    features: frozenset[str]
    version: int
    past: Mapping[int, State]
    """The versions that can still be read."""
    past_properties: Mapping[int, Mapping[str, str]] = field(default_factory=dict)

    @property
    def mapped(self) -> bool:
        return self.properties.get("delta.columnMapping.mode", "none") != "none"

    def on(self, key: str) -> bool:
        return self.properties.get(key) == "true"

    def has_row_ids_of(self, version: int) -> bool:
        """Whether ids of rows then are none that other rows have now: each time they begin from zero."""
        then = self.past_properties[version]
        return then.get(_ROW_IDS) == self.properties.get(_ROW_IDS)


Draw = Callable[[Random, Now], Step | None]
"""A step by chance, None if the table is not one for it."""


def sql(*statements: str) -> Act:
    """Statements of Delta."""

    def act(site: Site) -> None:
        for statement in statements:
            site.sql(statement)

    return act
