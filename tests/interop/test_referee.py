"""Delta Spark as referee: a table in two hands is the same table to both, whoever began."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import headgate
from tests.support.delta_spark import DeltaSpark
from tests.support.plain_rows import plain_rows
from tests.support.referee import Engine, Feature, Site, Taken, ours, play, theirs
from tests.support.referee_features import FEATURES

pytestmark = [pytest.mark.interop, pytest.mark.spark, pytest.mark.timeout(900)]

FULL_LENGTH = "HEADGATE_TESTS_REFEREE"
CHOSEN = [row for row in FEATURES if row.short or os.environ.get(FULL_LENGTH)]
"""``make referee`` takes all of them."""
BY_EITHER = [row for row in CHOSEN if len(row.begun_by) > 1]
COUNTS = {
    "WRITE": ["numOutputRows"],
    "DELETE": ["numDeletedRows"],
    "UPDATE": ["numUpdatedRows"],
    "MERGE": ["numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted"],
}
"""What is counted of each kind of operation."""


@dataclass(frozen=True)
class Played:
    """A table after its steps."""

    feature: Feature
    site: Site
    taken: Sequence[Taken]

    def made_by(self, engine: Engine) -> set[int]:
        """The versions with which steps of one of them ended."""
        return {taken.versions[-1] for taken in self.taken if taken.by is engine and taken.versions}


@dataclass
class Plays:
    """Each table is played once, when a test first asks for it."""

    site: Callable[[], Site]
    done: dict[tuple[str, Engine], Played | Exception] = field(default_factory=dict)

    def get(self, feature: Feature, first: Engine) -> Played:
        key = feature.name, first
        if key not in self.done:
            site = self.site()
            try:
                self.done[key] = Played(feature, site, play(feature, first, site))
            except Exception as exc:
                self.done[key] = exc
        found = self.done[key]
        if isinstance(found, Exception):
            raise found
        return found


@pytest.fixture(scope="module")
def plays(interpreting: SparkSession, delta: DeltaSpark, tmp_path_factory: pytest.TempPathFactory) -> Plays:
    return Plays(lambda: Site(tmp_path_factory.mktemp("referee"), interpreting, delta))


@pytest.fixture(scope="module")
def played(request: pytest.FixtureRequest, plays: Plays) -> Played:
    return plays.get(*request.param)


def each(features: Iterable[Feature]) -> pytest.MarkDecorator:
    """Tables with these features, made by either."""
    directions = [(row, first) for row in features for first in row.begun_by]
    names = [f"{row.name}, {first.value} begins" for row, first in directions]
    return pytest.mark.parametrize("played", directions, ids=names, indirect=True)


@each(CHOSEN)
def test_the_feature_is_there(played: Played) -> None:
    assert played.feature.in_log(played.site.table)


@each(CHOSEN)
def test_both_read_the_same_rows_after_every_step(played: Played) -> None:
    for taken in played.taken:
        assert taken.ours == taken.theirs, f"after {taken.name} by {taken.by.value}"


@each(row for row in CHOSEN if row.past)
def test_both_read_the_same_rows_at_older_versions(played: Played) -> None:
    """Headgate at each, as it was read then; Delta at every third and at those that no step ended with."""
    then = {taken.versions[-1]: taken.ours for taken in played.taken if taken.versions}
    for version in range(played.site.latest() + 1):
        seen = ours(played.feature, played.site, version)
        assert then.get(version, seen) == seen
        if version % 3 == 1 or version not in then:
            assert theirs(played.feature, played.site, version) == seen


@each(CHOSEN)
def test_both_tell_the_same_history(played: Played) -> None:
    history = plain_rows(played.site.table.history(spark=played.site.spark))

    assert history == played.site.delta.sql(f"DESCRIBE HISTORY delta.`{played.site.path}`").rows


@each(CHOSEN)
def test_both_tell_the_same_details(played: Played) -> None:
    frame = played.site.table.detail(spark=played.site.spark)
    ours = dict(zip(frame.columns, plain_rows(frame)[0], strict=True))
    theirs = played.site.delta.detail(played.site.path)

    location = Path(theirs.pop("location").removeprefix("file:"))
    assert (Path(ours.pop("location")), ours.pop("name")) == (location, f"delta.`{played.site.path}`")
    assert theirs.pop("name") is None
    assert ours == theirs


@each(row for row in CHOSEN if row.feed)
def test_both_tell_the_same_changes(played: Played) -> None:
    latest = played.site.latest()
    frame = played.site.table.changes(0, spark=played.site.spark)
    theirs = played.site.delta.changes(played.site.path, 0, latest)

    assert tuple(frame.columns) == tuple(name for name, _ in theirs.columns)
    assert Counter(plain_rows(frame)) == theirs.counted


@each(CHOSEN)
def test_delta_finds_every_checksum_of_headgate_right(played: Played) -> None:
    """New tables have none, nor has a version whose totals its commit alone does not tell."""
    versions = played.made_by(Engine.HEADGATE) - {0}
    complaints = played.site.delta.verify(played.site.path, versions)

    assert bool(complaints) == bool(versions)
    assert [complaint for complaint in complaints.values() if complaint] == []


@each(CHOSEN)
def test_headgate_finds_the_table_whole(played: Played) -> None:
    """But for what failed attempts left behind."""
    report = headgate.check_path(played.site.path)

    assert [finding for finding in report.findings if finding.rule != "orphans"] == []


@pytest.mark.parametrize("feature", BY_EITHER, ids=lambda row: row.name)
def test_it_does_not_matter_who_begins(plays: Plays, feature: Feature) -> None:
    """What either engine makes of a step are the same columns and rows."""
    one, other = (
        [(taken.name, taken.ours.without_ids) for taken in way.taken] for way in _ways(plays, feature)
    )

    assert one == other


@pytest.mark.parametrize("feature", BY_EITHER, ids=lambda row: row.name)
def test_both_call_what_they_do_the_same(plays: Plays, feature: Feature) -> None:
    """And count the rows that they wrote, changed and deleted alike."""
    one, other = (
        [_told(way, taken) for taken in way.taken if taken.name not in feature.told_otherwise]
        for way in _ways(plays, feature)
    )

    assert one == other


def _ways(plays: Plays, feature: Feature) -> list[Played]:
    return [plays.get(feature, first) for first in feature.begun_by]


def _told(played: Played, taken: Taken) -> tuple[str, str, dict[str, str | None]] | None:
    if not taken.versions:
        return None
    history = played.site.table.history(spark=played.site.spark)
    row = history.where(f"version = {taken.versions[-1]}").collect()[0]
    operation, metrics = row["operation"], row["operationMetrics"] or {}
    return taken.name, operation, {name: metrics.get(name) for name in COUNTS.get(operation, ())}
