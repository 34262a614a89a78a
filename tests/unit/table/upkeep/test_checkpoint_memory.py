"""A checkpoint is written in much less memory than what is in it takes."""

from pathlib import Path

import pyarrow as pa
import pytest

from benchmarks import fresh
from benchmarks.open_checkpoint import write_checkpoint
from headgate.table.upkeep import checkpoint_parquet, checkpoint_rows
from tests.support import tables

FILES = 200_000


@pytest.mark.slow
def test_a_checkpoint_of_many_files_flows_through(tmp_path: Path) -> None:
    location = str(tmp_path / "table")
    write_checkpoint(location, FILES)
    table = tables.open_filesystem(location)
    table.commit(tables.append_change(tables.named_file("one more")), base=table.newest_known())

    peak = fresh.call(checkpoint, location).answer

    files = tables.open_filesystem(location).snapshot().files.columns
    assert files.num_rows == FILES + 1
    assert peak < files.nbytes / 3


def checkpoint(location: str) -> int:
    """Write one in small pieces; the most that Arrow needed at a time."""
    checkpoint_parquet._GROUP_ROWS = checkpoint_rows._BATCH = 8 * 1024
    tables.open_filesystem(location).checkpoint()
    return int(pa.default_memory_pool().max_memory())
