"""Random histories of one table, written by us and by deltalake in turns: every reader sees the same rows."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headgate.protocol.actions import EpochMillis, RemoveFile
from headgate.protocol.transaction.attempt import ReadSet
from headgate.storage.locate import locate
from headgate.table.opened_table import OpenedTable
from headgate.table.transaction import Change, Operation
from tests.support import duck
from tests.support.tables import append_change, create_filesystem, open_filesystem, parquet_file

pytestmark = pytest.mark.interop

IDS = st.lists(st.integers(0, 50), min_size=1, max_size=4)
STEPS = st.one_of(
    st.tuples(st.just("append"), IDS),
    st.tuples(st.just("overwrite"), IDS),
    st.tuples(st.just("their append"), IDS),
    st.tuples(st.just("their overwrite"), IDS),
    st.tuples(st.just("their delete"), IDS),
    st.tuples(st.just("their checkpoint"), st.just([])),
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(STEPS, min_size=1, max_size=7))
def test_every_version_has_the_same_rows_for_us_duckdb_and_a_plain_model(
    steps: Sequence[tuple[str, list[int]]],
) -> None:
    with TemporaryDirectory() as folder:
        versions = _play(folder, steps)
        fresh = open_filesystem(folder)
        with duck.connect() as connection:
            for version, expected in enumerate(versions):
                query = f"SELECT id FROM delta_scan('{folder}', version={version})"
                theirs = sorted(row[0] for row in connection.execute(query).fetchall())
                assert (_ours(fresh, version), theirs) == (sorted(expected), sorted(expected))


def _play(folder: str, steps: Sequence[tuple[str, list[int]]]) -> list[list[int]]:
    """Make the history; the rows each version should have."""
    create_filesystem(locate(folder))
    table, versions = open_filesystem(folder), [[]]
    for number, (step, ids) in enumerate(steps):
        rows = versions[-1]
        match step:
            case "append":
                add = parquet_file(folder, f"ours-{number}.parquet", ids)
                table.commit(append_change(add), base=table.snapshot())
                versions.append(rows + ids)
            case "overwrite":
                table.commit(_overwrite(table, folder, number, ids), base=table.snapshot())
                versions.append(ids)
            case "their append" | "their overwrite":
                mode: Any = step.removeprefix("their ")
                write_deltalake(folder, _frame(ids), mode=mode)
                versions.append(rows + ids if mode == "append" else ids)
            case "their delete":
                before = DeltaTable(folder).version()
                DeltaTable(folder).delete(f"id IN ({', '.join(map(str, ids))})")
                if DeltaTable(folder).version() > before:  # it commits nothing when nothing matches
                    versions.append([row for row in rows if row not in ids])
            case "their checkpoint":
                DeltaTable(folder).create_checkpoint()
    return versions


def _overwrite(table: OpenedTable, folder: str, number: int, ids: list[int]) -> Change:
    live = table.snapshot().files.columns["path"].to_pylist()
    removes = [RemoveFile(path=path, data_change=True, deletion_timestamp=EpochMillis(1)) for path in live]
    add = parquet_file(folder, f"ours-{number}.parquet", ids)
    return Change(Operation("WRITE", {"mode": "Overwrite"}), (*removes, add), ReadSet(whole_table=True))


def _frame(ids: list[int]) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int64()), "writer": pa.array(["theirs"] * len(ids), pa.string())})


def _ours(table: OpenedTable, version: int) -> list[int]:
    paths = table.snapshot(version=version).files.columns["path"].to_pylist()
    rows = (pq.read_table(Path(table.location) / path)["id"].to_pylist() for path in paths)
    return sorted(row for found in rows for row in found)
