"""Checkpoints that Headgate writes, read by others: nothing they see changes, and nothing else is needed."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headgate.errors import CorruptLog, UnsupportedFeature
from headgate.protocol.actions import Action, AddFile, EpochMillis, Metadata, RemoveFile, Version
from headgate.protocol.log import codec, file_names
from headgate.storage.locate import locate
from headgate.table.opened_table import OpenedTable
from tests.support import corpora, duck
from tests.support.checkpointed import protocol, published
from tests.support.commits import metadata
from tests.support.corpora import Corpus
from tests.support.tables import open_filesystem, parquet_file

pytestmark = pytest.mark.interop

COLUMNS = (
    '{"type":"struct","fields":[{"name":"id","type":"long","nullable":true,"metadata":{}},'
    '{"name":"writer","type":"string","nullable":true,"metadata":{}}]}'
)
FORMS = st.fixed_dictionaries(
    {
        "delta_checkpointPolicy": st.sampled_from(["classic", "v2"]),
        "delta_checkpoint_writeStatsAsStruct": st.sampled_from(["true", "false"]),
        "delta_checkpoint_writeStatsAsJson": st.sampled_from(["true", "false"]),
    }
)
IDS = st.lists(st.integers(0, 50), min_size=1, max_size=3)
STEPS = st.one_of(
    st.tuples(st.just("append"), IDS),
    st.tuples(st.just("replace one"), IDS),
    st.tuples(st.just("form"), FORMS),
    st.tuples(st.just("checkpoint"), st.none()),
    st.tuples(st.just("compaction"), st.none()),
)


def table(folder: str, described: Metadata) -> OpenedTable:
    first = (protocol(reader=("v2Checkpoint",)), described)
    published(locate(folder), first)
    return open_filesystem(folder)


def described(**properties: str) -> Metadata:
    return metadata(schema=COLUMNS, **properties)


def data_file(folder: str, name: str, ids: Sequence[int]) -> AddFile:
    add = parquet_file(folder, name, list(ids))
    low, high = min(ids), max(ids)
    stats = {
        "numRecords": len(ids),
        "minValues": {"id": low},
        "maxValues": {"id": high},
        "nullCount": {"id": 0},
    }
    return msgspec.structs.replace(add, stats=msgspec.json.encode(stats).decode())


def play(folder: str, steps: Sequence[tuple[str, Any]]) -> list[int]:
    """Make the history, without the checkpoints' help; the rows it ends with."""
    opened, live = table(folder, described()), dict[str, Sequence[int]]()
    version = 0
    for number, (step, what) in enumerate(steps):
        actions: list[Action] = []
        match step:
            case "append" | "replace one":
                if step == "replace one" and live:
                    gone = min(live)
                    del live[gone]
                    moment = EpochMillis(opened.world.now_ms())
                    actions.append(RemoveFile(path=gone, data_change=True, deletion_timestamp=moment))
                name = f"{number:03d}.parquet"
                live[name] = what
                actions.append(data_file(folder, name, what))
            case "form":
                actions.append(described(**what))
            case "checkpoint":
                open_filesystem(folder).checkpoint()
            case "compaction" if version > 1:
                open_filesystem(folder).compact_log(version - 1, version)
        if actions:
            published(opened.store, actions)
            version += 1
    return sorted(row for ids in live.values() for row in ids)


def read(found: DeltaTable) -> list[int]:
    """The rows of the files it names; its own reader refuses tables that may have v2 checkpoints."""
    return sorted(row for uri in found.file_uris() for row in pq.read_table(uri)["id"].to_pylist())


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(STEPS, min_size=3, max_size=9))
def test_we_deltalake_and_duckdb_see_the_rows_of_a_plain_model(steps: Sequence[tuple[str, Any]]) -> None:
    with TemporaryDirectory() as folder:
        rows = play(folder, [*steps, ("checkpoint", None)])
        latest = open_filesystem(folder).snapshot().version
        for version in range(latest):  # so that nobody can read anything but the checkpoint
            locate(folder).delete(file_names.published_path(Version(version)))

        ours = open_filesystem(folder).snapshot().files.columns["path"].to_pylist()
        theirs = DeltaTable(folder)

        assert sorted(Path(uri).name for uri in theirs.file_uris()) == sorted(ours)
        assert read(theirs) == rows
        with duck.connect() as connection:
            found = connection.execute(f"SELECT id FROM delta_scan('{folder}')").fetchall()
        assert sorted(row[0] for row in found) == rows


@pytest.mark.parametrize("policy", ["classic", "v2"])
def test_others_skip_files_by_the_statistics_of_our_checkpoints(tmp_path: Path, policy: str) -> None:
    folder = str(tmp_path / "table")
    opened = table(
        folder, described(delta_checkpointPolicy=policy, delta_checkpoint_writeStatsAsStruct="true")
    )
    published(opened.store, [data_file(folder, f"{n}.parquet", [n]) for n in range(4)])

    opened.checkpoint()

    locate(folder).delete(file_names.published_path(Version(0)))
    theirs = DeltaTable(folder)
    assert [Path(uri).name for uri in theirs.file_uris(file_pruning_predicate="id = 2")] == ["2.parquet"]
    least = pa.table(theirs.get_add_actions(flatten=True))["min.id"].to_pylist()
    assert sorted(least) == [0, 1, 2, 3]


def test_deltalake_goes_on_from_our_checkpoint(tmp_path: Path) -> None:
    folder = str(tmp_path / "table")
    opened = table(folder, described())
    published(opened.store, [data_file(folder, "1.parquet", [1])])
    opened.checkpoint()
    opened.store.delete(file_names.published_path(Version(0)))

    theirs = DeltaTable(folder)
    theirs.create_checkpoint()
    published(opened.store, [data_file(folder, "2.parquet", [2])])

    assert open_filesystem(folder).checkpoint() == 2
    assert codec.decode(Version(2), opened.store.read(file_names.published_path(Version(2)))).adds
    assert read(DeltaTable(folder)) == [1, 2]


SMALL = [table for table in corpora.tables() if table.path not in corpora.REFUSED and not table.replay.err]


@corpora.needs_corpora
@pytest.mark.parametrize("foreign", SMALL[::5], ids=lambda foreign: foreign.path)
def test_a_checkpoint_of_somebody_elses_table_changes_nothing(tmp_path: Path, foreign: Corpus) -> None:
    log = tmp_path / "t" / "_delta_log"
    shutil.copytree(Path(foreign.location, "_delta_log"), log)
    opened = open_filesystem(str(log.parent))
    before = opened.snapshot()
    expected = corpora.file_digest(before.files.columns)
    for file in log.glob(f"{before.version:020d}.checkpoint*"):
        file.unlink()
    try:
        opened.checkpoint()
    except UnsupportedFeature as exc:
        pytest.skip(f"refused: {exc.message}")
    except CorruptLog:
        pytest.skip("its only checkpoint was that of the latest version")

    for version in range(before.version):
        (log.parent / file_names.published_path(Version(version))).unlink(missing_ok=True)
    after = open_filesystem(str(log.parent)).snapshot()
    assert (after.state.protocol, after.state.metadata) == (before.state.protocol, before.state.metadata)
    assert after.state.domains == before.state.domains
    assert corpora.file_digest(after.files.columns) == expected
