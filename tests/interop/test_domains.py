"""Metadata domains that Headgate wrote, before other engines; and what their checkpoints keep of them."""

from pathlib import Path

import deltalake
import pyarrow.parquet as pq
import pytest

from headgate.protocol.domains import Remove, Set
from headgate.storage.locate import locate
from tests.support import duck, tables

pytestmark = pytest.mark.interop


@pytest.fixture
def location(tmp_path: Path) -> str:
    """A table that was (1, 2) until its first domain, with two rows."""
    path = str(tmp_path)
    tables.create_filesystem(locate(path))
    table = tables.open_filesystem(path)
    table.change_domains([Set("acme.a", "1"), Set("acme.b", '{"offset": 2}')])
    table.change_domains([Remove("acme.a"), Set("acme.c", "3")])
    table.commit(
        tables.append_change(tables.parquet_file(path, "x.parquet", [1, 2])), base=table.newest_known()
    )
    return path


def test_other_engines_read_the_table_and_see_its_protocol(location: str) -> None:
    theirs = deltalake.DeltaTable(location)

    assert theirs.version() == 3
    assert (theirs.protocol().min_reader_version, theirs.protocol().min_writer_version) == (1, 7)
    assert set(theirs.protocol().writer_features or ()) == {"appendOnly", "domainMetadata", "invariants"}
    with duck.connect() as connection:
        assert connection.sql(f"SELECT count(*) FROM delta_scan('{location}')").fetchall() == [(2,)]


def test_s190_s191_s192_a_checkpoint_of_another_engine_keeps_the_live_domains(location: str) -> None:
    """S179: and only those."""
    deltalake.DeltaTable(location).create_checkpoint()
    (checkpoint,) = Path(location, "_delta_log").glob("*.checkpoint.parquet")
    for file in Path(location, "_delta_log").glob("*.json"):
        file.unlink()

    kept = [row for row in pq.read_table(checkpoint)["domainMetadata"].to_pylist() if row]

    assert {row["domain"] for row in kept} == {"acme.b", "acme.c"}
    assert tables.open_filesystem(location).domains(version=3) == {"acme.b": '{"offset": 2}', "acme.c": "3"}
