"""A log replayed by Spark says what it says in process: the same situations, the same files."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

import headgate
from headgate import Settings
from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.directory import TableName
from headgate.errors import CorruptLog
from headgate.protocol.actions import Action, Version
from headgate.protocol.log import codec, file_names
from headgate.settings import Publish
from headgate.spark.scan import cluster_replay
from headgate.storage.locate import locate
from headgate.table.opened_table import OpenedTable
from tests.support import corpora
from tests.support.commits import PROTOCOL, metadata
from tests.support.corpora import Corpus
from tests.support.logs import CHECKPOINTS, added, checkpoint, put_commits, removed, vector
from tests.support.tables import ON_DEMAND, append_change, create_managed, open_managed, parquet_file
from tests.unit.table.read.test_checkpoint_reader import STATS, Row

pytestmark = pytest.mark.spark


@pytest.fixture(params=["shipped", "read by Spark"])
def commits_are(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param != "shipped":
        monkeypatch.setattr(cluster_replay, "SHIPPED_BYTES", -1)


AFTERWARDS: tuple[tuple[Action, ...], ...] = (
    (added("x", stats=STATS), removed("a")),
    (added("a", vector("1", 5)), added("%41 é\n\"'"), removed("x"), added("y", vector("1"))),
    (removed("a", vector("1", 5)), added("a", vector("1", 6)), removed("b", vector("never"))),
    (removed("c"), added("c", stats="{}"), removed("c", vector("x", 1)), removed("d", vector("x", 1))),
    (removed("y"), added("y", vector("1"), stats=STATS), added("x")),
)


def rows_of(files: pa.Table) -> list[Row]:
    return sorted(files.to_pylist(), key=lambda row: (row["path"], str(row["deletion_vector"])))


def replays_agree(spark: SparkSession, log: OpenedTable, version: int | None = None) -> list[Row]:
    snapshot = log.snapshot(version=version)
    expected = snapshot.files.columns.select(cluster_replay.read_live_files.SCHEMA.names)

    found = cluster_replay.live_files(spark, log, snapshot.version).toArrow()

    assert found.column_names == expected.column_names
    assert rows_of(found) == rows_of(expected)
    return rows_of(found)


@pytest.mark.usefixtures("commits_are")
@pytest.mark.parametrize("form", CHECKPOINTS)
def test_every_form_of_log_is_replayed_alike(spark: SparkSession, tmp_path: Path, form: str) -> None:
    place = tmp_path / "k=1 {a,b}[c]*" / "é%20"
    place.mkdir(parents=True)
    store = locate(str(place))
    CHECKPOINTS[form](store)
    put_commits(store, 11, *AFTERWARDS)

    log = headgate.at_path(place).log

    newest = {row["path"] for row in replays_agree(spark, log)}

    assert newest >= {"a", "c", "x", "y", "%41 é\n\"'"}


@pytest.mark.usefixtures("commits_are")
def test_commits_the_catalog_holds_are_read_where_they_are(spark: SparkSession, tmp_path: Path) -> None:
    catalog = open_catalog(tmp_path)
    made = create_managed(catalog, TableName("s", "t"))
    staging = Settings(publish=Publish.ON_DEMAND, inline_limit_bytes=0)
    tables = [
        open_managed(catalog, made.table_id, made.location, settings=some) for some in (ON_DEMAND, staging)
    ]
    for number in range(4):
        table = tables[number % 2]
        table.commit(
            append_change(parquet_file(made.location, f"{number}.parquet", [number])), base=table.snapshot()
        )
    stray = locate(made.location)
    stray.put(file_names.published_path(Version(4)), codec.encode((added("never-ratified"),)))
    stray.put(file_names.published_path(Version(5)), codec.encode((added("beyond-the-latest"),)))

    rows = replays_agree(spark, tables[0])

    assert [row["path"] for row in rows] == [f"{number}.parquet" for number in range(4)]
    catalog.close()


READABLE = [table for table in corpora.tables() if table.path not in corpora.REFUSED and not table.replay.err]
STALE_CHECKSUMS = {"delta_golden/checkpoint", "kernelrs_data/cdf-column-mapping-name-mode-3-7"}
"""Beside a file of these lies a checksum of Hadoop's that is not the file's, so Hadoop cannot read it."""
TELLING = (
    "ckpt-classic", "ckpt-multipart", "ckpt-v2-json", "ckpt-v2-parquet", "ckpt-v2-classicname", "sidecars",
    "stats_parsed", "dv", "dv:i", "cm:name", "cm:id", "abspath", "encodedpath", "rowTracking",
)  # fmt: skip


def telling() -> Iterator[Corpus]:
    """One table for each of the features that matter here."""
    fit = [table for table in READABLE if table.path not in STALE_CHECKSUMS]
    found = {
        table.path: table
        for tag in TELLING
        for table in [next((table for table in fit if tag in table.features), None)]
        if table is not None
    }
    yield from found.values()


def corpus_agrees(spark: SparkSession, table: Corpus) -> None:
    log = headgate.at_path(table.location).log

    rows = replays_agree(spark, log)

    found = cluster_replay.live_files(spark, log, log.snapshot().version).toArrow()
    assert corpora.file_digest(found) == table.replay.digest
    assert len(rows) == table.replay.files


@corpora.needs_corpora
@pytest.mark.interop
@pytest.mark.parametrize("table", [pytest.param(table, id=table.name) for table in telling()])
def test_tables_of_others_are_replayed_as_others_do(spark: SparkSession, table: Corpus) -> None:
    corpus_agrees(spark, table)


@corpora.needs_corpora
@pytest.mark.interop
@pytest.mark.slow
@pytest.mark.skipif(
    "HEADGATE_EVERY_CORPUS" not in os.environ, reason="takes minutes: set HEADGATE_EVERY_CORPUS=1"
)
@pytest.mark.timeout(0)
@pytest.mark.usefixtures("commits_are")
def test_every_table_of_others_is_replayed_as_others_do(spark: SparkSession) -> None:
    for table in READABLE:
        if table.path not in STALE_CHECKSUMS:
            corpus_agrees(spark, table)


FILES = st.tuples(st.sampled_from("abc"), st.sampled_from([None, vector("1"), vector("1", 2), vector("2")]))
HISTORY = st.lists(st.tuples(st.sets(FILES), st.sets(FILES)), min_size=1, max_size=6)


@pytest.mark.usefixtures("commits_are")
@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(HISTORY, st.integers(0, 6), st.integers(0, 2**32))
def test_random_histories_are_replayed_alike(
    spark: SparkSession,
    tmp_path: Path,
    history: list[tuple[set[Any], set[Any]]],
    at: int,
    number: int,
) -> None:
    place = tmp_path / str(number)
    place.mkdir(exist_ok=True)
    for old in place.rglob("*.*"):
        old.unlink()
    store = locate(str(place))
    commits = [
        (*(removed(*file) for file in gone), *(added(*file, f"{version}") for file in new))
        for version, (gone, new) in enumerate(history, 1)
    ]
    put_commits(store, 0, (PROTOCOL, metadata()), *commits)
    if at <= len(history):
        checkpoint(store, headgate.at_path(place).log, at)

    replays_agree(spark, headgate.at_path(place).log)


@pytest.mark.usefixtures("commits_are")
def test_a_line_may_have_several_actions_but_one_document_has_one(
    spark: SparkSession, tmp_path: Path
) -> None:
    store = locate(str(tmp_path))
    put_commits(store, 0, (PROTOCOL, metadata(), added("a"), added("b")))
    together = b" ".join(codec.encode((action,)).strip() for action in (removed("a"), added('}{"}{"x":')))
    mixed = codec.encode((added("c"),)).strip()[:-1] + b"," + codec.encode((removed("b"),)).strip()[1:]
    store.put(file_names.published_path(Version(1)), together + codec.encode((added("d"),)) + mixed)

    found = replays_agree(spark, headgate.at_path(tmp_path).log)

    assert [row["path"] for row in found] == ["b", "c", "d", '}{"}{"x":']


def test_a_missing_sidecar_and_a_damaged_one_are_named(spark: SparkSession, tmp_path: Path) -> None:
    store = locate(str(tmp_path))
    CHECKPOINTS["v2 parquet"](store)
    log = headgate.at_path(tmp_path).log
    store.put(file_names.SIDECAR_FOLDER + "two.parquet", b"PAR1 not really PAR1")
    with pytest.raises(CorruptLog, match=r"version 10 cannot be replayed.*two\.parquet"):
        cluster_replay.candidates(spark, log, Version(10))

    store.delete(file_names.SIDECAR_FOLDER + "two.parquet")

    with pytest.raises(CorruptLog, match=r"version 10 cannot be replayed.*two\.parquet"):
        cluster_replay.totals(spark, log, Version(10))


def test_a_damaged_commit_is_refused_whoever_reads_it(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = locate(str(tmp_path))
    CHECKPOINTS["classic"](store)
    put_commits(store, 11, (added("x"),))
    log = headgate.at_path(tmp_path).log
    log.snapshot()
    content = store.read(file_names.published_path(Version(11)))
    store.put(file_names.published_path(Version(11)), content[:-9])

    for bound in (cluster_replay.SHIPPED_BYTES, -1):
        monkeypatch.setattr(cluster_replay, "SHIPPED_BYTES", bound)
        with pytest.raises(CorruptLog, match="version 11"):
            cluster_replay.totals(spark, log, Version(11))
