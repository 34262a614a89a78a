"""A table that delta-rs checkpointed and whose log it cleaned up: read, and written to, by Headgate."""

import json
from pathlib import Path

import deltalake
import pyarrow as pa
import pytest

from headgate.errors import VersionNotFound
from headgate.table.read import checkpoint_reader
from tests.support import tables

pytestmark = pytest.mark.interop

# Logs are kept for no time at all, so that a cleanup removes everything behind the checkpoint.
SHORT = {"delta.logRetentionDuration": "interval 0 seconds", "delta.enableExpiredLogCleanup": "true"}


@pytest.fixture(params=["whole", "ranges"])
def location(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Eight appends of which one is deleted, a checkpoint, and two more appends."""
    if request.param == "ranges":
        monkeypatch.setattr(checkpoint_reader, "WHOLE_READ_BYTES", 0)
    path = str(tmp_path / "table")
    for number in range(8):
        _append(path, number)
    table = deltalake.DeltaTable(path)
    table.delete("id = 3")
    table.create_checkpoint()
    table.cleanup_metadata()
    for number in (8, 9):
        _append(path, number)
    return path


def _append(path: str, number: int) -> None:
    rows = pa.table({"id": pa.array([number], pa.int64()), "writer": pa.array(["delta-rs"])})
    deltalake.write_deltalake(path, rows, mode="append", configuration=SHORT)


def _theirs(path: str) -> list[tuple[str, int, str | None]]:
    found = pa.table(deltalake.DeltaTable(path).get_add_actions(flatten=True))
    return sorted(zip(*(found[name].to_pylist() for name in ("path", "size_bytes", "min.id")), strict=True))


def _ours(path: str) -> list[tuple[str, int]]:
    files = tables.open_filesystem(path).snapshot().files.without_stats
    return sorted(zip(files["path"].to_pylist(), files["size"].to_pylist(), strict=True))


def test_the_log_behind_the_checkpoint_is_gone(location: str) -> None:
    log = Path(location, "_delta_log")

    assert sorted(file.name for file in log.glob("*.json"))[0] > f"{7:020d}.json"
    assert list(log.glob("*.checkpoint.parquet"))
    with pytest.raises(VersionNotFound):
        tables.open_filesystem(location).snapshot(version=4)


def test_both_find_the_same_files(location: str) -> None:
    snapshot = tables.open_filesystem(location).snapshot()

    assert snapshot.version == deltalake.DeltaTable(location).version()
    assert _ours(location) == [(path, size) for path, size, _ in _theirs(location)]
    assert len(_ours(location)) == 9


def test_statistics_stay_with_their_files(location: str) -> None:
    files = tables.open_filesystem(location).snapshot().files
    _ = files.without_stats

    found = zip(files.columns["path"].to_pylist(), files.columns["stats"].to_pylist(), strict=True)

    least = {path: low for path, _, low in _theirs(location)}
    assert {path: json.loads(stats)["minValues"]["id"] for path, stats in found} == least


def test_delta_rs_finds_what_headgate_appended(location: str) -> None:
    table = tables.open_filesystem(location)
    file = tables.parquet_file(location, "ours.parquet", [77])

    version = table.commit(tables.append_change(file), base=table.snapshot())

    assert version == deltalake.DeltaTable(location).version()
    assert ("ours.parquet", file.size) in [(path, size) for path, size, _ in _theirs(location)]
    assert _ours(location) == [(path, size) for path, size, _ in _theirs(location)]
