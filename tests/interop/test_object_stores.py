"""Tables on an S3 server, shared with delta-rs: they race for versions by the same rule as we do."""

import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import deltalake
import pyarrow as pa
import pytest

from headgate.protocol.actions import Version
from headgate.protocol.log import file_names
from headgate.storage.local import LocalStore
from headgate.table.opened_table import OpenedTable
from tests.support import duck, s3, tables

pytestmark = pytest.mark.interop

COMMITS = 6


@pytest.fixture(scope="module")
def server_url() -> Iterator[str]:
    with s3.server() as url:
        yield url


def test_what_a_proof_may_leave_behind_disturbs_nobody(tmp_path: Path) -> None:
    store = LocalStore(str(tmp_path))
    tables.create_filesystem(store)
    table = tables.open_filesystem(str(tmp_path))
    table.commit(
        tables.append_change(tables.parquet_file(str(tmp_path), "a.parquet", [1, 2])), base=table.snapshot()
    )
    store.put_if_absent(f"{file_names.PROBE_FOLDER}{uuid.uuid4()}", b"first")

    assert deltalake.DeltaTable(tmp_path).version() == 1
    with duck.connect() as connection:
        assert connection.sql(f"SELECT count(*) FROM delta_scan('{tmp_path}')").fetchall() == [(2,)]
    assert tables.open_filesystem(str(tmp_path)).snapshot().version == 1


def test_delta_rs_and_headgate_race_on_s3_and_lose_nothing(server_url: str) -> None:
    name = s3.make_bucket(server_url)
    store = s3.connect(server_url, name, place=name)
    tables.create_filesystem(store)
    options = {
        "AWS_ENDPOINT_URL": server_url, "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s",
    }  # fmt: skip
    rows = pa.table({"id": pa.array([1], pa.int64()), "writer": pa.array(["theirs"])})

    def theirs() -> None:
        for _ in range(COMMITS):
            deltalake.write_deltalake(f"s3://{name}", rows, mode="append", storage_options=options)

    def ours(table: OpenedTable) -> list[Version]:
        return [
            table.commit(tables.append_change(tables.named_file(f"ours-{n}")), base=table.newest_known())
            for n in range(COMMITS)
        ]

    with ThreadPoolExecutor(2) as pool:
        waiting = pool.submit(theirs)
        told = pool.submit(ours, tables.open_filesystem("s3:", store=store)).result()
        waiting.result()

    newest = tables.open_filesystem("s3:", store=store).snapshot()
    paths = newest.files.columns["path"].to_pylist()
    assert newest.version == 2 * COMMITS
    assert len(set(paths)) == 2 * COMMITS
    assert {path for path in paths if path.startswith("ours-")} == {f"ours-{n}" for n in range(COMMITS)}
    assert told == sorted(set(told))
    assert deltalake.DeltaTable(f"s3://{name}", storage_options=options).version() == 2 * COMMITS
