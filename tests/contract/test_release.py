"""A table leaves the catalog: one commit decides, and nobody who comes late can decide otherwise."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from typing_extensions import Buffer

from headgate.catalog.catalog import Catalog
from headgate.catalog.handover.release import Releases
from headgate.catalog.ports.commits import InlineCommit, Open, Proposal, Ratified, TableId
from headgate.catalog.ports.handover import Transfer
from headgate.errors import AccessDenied, ConcurrentWrite, HeadgateError, InvalidRequest, TableNotFound
from headgate.protocol.actions import Version
from headgate.protocol.log import file_names
from headgate.protocol.log.timestamps import ENABLEMENT_TIMESTAMP, ENABLEMENT_VERSION
from headgate.storage.local import LocalStore
from headgate.storage.locate import locate
from headgate.table.alter import adoption, restore
from tests.support import adopted, duck, tables
from tests.support.adopted import NAME
from tests.support.catalogs import DATABASE_KINDS
from tests.support.proposals import stamp
from tests.support.waiting import PATIENCE_SECONDS

CATALOGS = DATABASE_KINDS


@pytest.fixture
def catalog(catalog: Catalog) -> Catalog:
    return adopted.ready(catalog)


def test_a_released_table_belongs_to_whoever_can_write_to_it(catalog: Catalog, tmp_path: Path) -> None:
    """All is published; deltalake and DuckDB read it, deltalake writes it, and the name is free."""
    folder = tmp_path / "t"
    adopted.ordinary(folder)
    entry = adopted.adopt(catalog, folder)
    table = adopted.managed(catalog, entry)
    for row in range(2):
        adopted.append(table, f"managed-{row}.parquet")

    assert adopted.release(catalog, entry, keep_timestamps=False) == 6

    rows = pa.table({"id": pa.array([99], pa.int64()), "writer": ["deltalake"]})
    write_deltalake(str(folder), rows, mode="append")
    assert DeltaTable(str(folder)).version() == 7
    with duck.connect() as connection:
        found = connection.sql(f"SELECT id FROM delta_scan('{folder}')").fetchall()
    assert sorted(found) == [(0,), (1,), (7,), (7,), (99,)]
    ordinary = tables.open_filesystem(str(folder))
    assert adopted.append(ordinary, "after.parquet") == 8
    assert [found.version for found in ordinary.history()] == [8, 7, 6, 5, 4, 3, 2, 1, 0]
    tables.create_managed(catalog, NAME)


def test_timestamps_stay_on_unless_they_are_to_go(here: Catalog, tmp_path: Path) -> None:
    """I6: what a version's time is does not change, and nothing is left of the catalog."""
    folder = tmp_path / "t"
    adopted.ordinary(folder)
    entry = adopted.adopt(here, folder)
    table = adopted.managed(here, entry)
    adopted.append(table, "managed.parquet")
    before = {found.version: found.timestamp for found in table.history()}
    provenance = table.snapshot().state.metadata.configuration
    adopted.release(here, entry)

    ordinary = tables.open_filesystem(str(folder))
    state = ordinary.snapshot().state
    assert state.protocol.reader_features is None
    assert set(state.protocol.writer_features or ()) == {"appendOnly", "invariants", "inCommitTimestamp"}
    assert "io.unitycatalog.tableId" not in state.metadata.configuration
    assert {found.version: found.timestamp for found in ordinary.history()[1:]} == before
    assert DeltaTable(str(folder)).to_pyarrow_table().num_rows == 3
    again = adopted.managed(here, adopted.adopt(here, folder))
    configuration = again.snapshot().state.metadata.configuration
    for key in (ENABLEMENT_VERSION, ENABLEMENT_TIMESTAMP):
        assert configuration[key] == provenance[key]


def test_versions_from_the_time_with_the_catalog_are_read_and_restored_afterwards(
    here: Catalog, tmp_path: Path
) -> None:
    """While the catalog has the table, nobody reads any of its versions by its path."""
    folder = tmp_path / "t"
    adopted.ordinary(folder)
    entry = adopted.adopt(here, folder)
    table = adopted.managed(here, entry)
    then = adopted.append(table, "managed.parquet")
    adopted.append(table, "later.parquet")
    table.publish()
    with pytest.raises(InvalidRequest, match="open it by name"):
        tables.open_filesystem(str(folder)).snapshot(version=then)
    adopted.release(here, entry)

    ordinary = tables.open_filesystem(str(folder))

    paths = ["before-0.parquet", "before-1.parquet", "managed.parquet"]
    assert sorted(ordinary.snapshot(version=then).files.columns["path"].to_pylist()) == paths
    restored = restore.restore(ordinary, version=then).version
    latest = tables.open_filesystem(str(folder)).snapshot()
    assert (latest.version, sorted(latest.files.columns["path"].to_pylist())) == (restored, paths)
    assert latest.state.protocol.reader_features is None
    assert DeltaTable(str(folder)).to_pyarrow_table().num_rows == 3


def test_a_table_made_by_the_catalog_is_released_and_adopted_again(catalog: Catalog, tmp_path: Path) -> None:
    """C3, I8: its timestamps are on from version 0, and stay so without a word about since when."""
    staging = tables.create_managed(catalog)
    first = adopted.managed(catalog, catalog.resolve(NAME))
    adopted.append(first, "1.parquet")
    for round_ in range(2):
        adopted.release(catalog, catalog.resolve(NAME))
        ordinary = tables.open_filesystem(staging.location)
        adopted.append(ordinary, f"ordinary-{round_}.parquet")
        table = adopted.managed(catalog, adopted.adopt(catalog, staging.location))
        adopted.append(table, f"managed-{round_}.parquet")

    assert len(adopted.files(table)) == 5
    assert ENABLEMENT_VERSION not in table.snapshot().state.metadata.configuration
    with pytest.raises(TableNotFound, match=r"was given back by its catalog with version 2 .*at_path"):
        first.snapshot()
    with pytest.raises(TableNotFound, match="at_path"):
        adopted.append(first, "stray.parquet")


def proposal(table_id: str, version: int, txn_id: str) -> Proposal:
    info = f'{{"inCommitTimestamp":{stamp(version)},"txnId":"{txn_id}","operation":"x"}}'
    content = f'{{"commitInfo":{info}}}\n'
    return Proposal(table_id, Version(version), txn_id, InlineCommit(content.encode()))  # type: ignore[arg-type]


def test_while_a_table_leaves_nothing_is_ratified_and_nothing_is_forgotten(
    catalog: Catalog, tmp_path: Path
) -> None:
    """The answer says to try again; who asks for what was ratified before is told so."""
    adopted.ordinary(tmp_path / "t")
    entry = adopted.adopt(catalog, tmp_path / "t")
    assert catalog.propose(proposal(entry.table_id, 4, "before")) == Ratified(Version(4))
    frozen = catalog.releases.freeze(entry.table_id, "ann")
    table = adopted.managed(catalog, entry)

    with pytest.raises(HeadgateError) as refused:
        adopted.append(table, "meanwhile.parquet")
    assert refused.value.code == "HEADGATE_TABLE_FROZEN"
    assert catalog.propose(proposal(entry.table_id, 4, "before")) == Ratified(Version(4))
    assert catalog.outcome_of(entry.table_id, "x", Version(5)) == Open()  # type: ignore[arg-type]
    assert table.snapshot().version == frozen.base == 4
    with pytest.raises(HeadgateError) as busy:
        adopted.release(catalog, entry, proposer="bob")
    assert busy.value.code == "HEADGATE_TABLE_FROZEN"
    assert adopted.release(catalog, entry) == 5


def test_who_freezes_a_table_and_dies_does_not_keep_it(catalog: Catalog, tmp_path: Path) -> None:
    adopted.ordinary(tmp_path / "t")
    entry = adopted.adopt(catalog, tmp_path / "t")
    frozen = catalog.releases.freeze(entry.table_id, "ann")

    assert adopted.append(adopted.managed(adopted.later(catalog), entry), "after.parquet") == 4
    with pytest.raises(ConcurrentWrite, match="took too long"):
        catalog.releases.begin_release(frozen)
    assert catalog.adoptions.under_way() == ()


def test_who_comes_back_late_cannot_take_the_table_away(catalog: Catalog, tmp_path: Path) -> None:
    """Before anything else is ratified, an empty commit takes the version that was to be the last."""
    folder = tmp_path / "t"
    adopted.ordinary(folder)
    entry = adopted.adopt(catalog, folder)
    table = adopted.managed(catalog, entry)
    frozen = catalog.releases.freeze(entry.table_id, "ann")
    catalog.releases.begin_release(frozen)
    state = table.snapshot().state
    last = adoption._release_commit(adopted.registry(catalog), state, frozen, keep_timestamps=True)

    others = adopted.managed(adopted.later(catalog), entry)
    assert adopted.append(others, "others.parquet") == 5
    with pytest.raises(HeadgateError):
        locate(str(folder)).put_if_absent(file_names.published_path(frozen.target), last)
    assert [found.info.operation for found in others.history(limit=2)] == ["WRITE", "RELEASE WITHDRAWN"]
    assert others.publish() == 5
    assert adopted.release(catalog, entry) == 6
    assert len(adopted.files(tables.open_filesystem(str(folder)))) == 3


@pytest.mark.parametrize("how", ["read", "append", "pin", "resume", "release"])
def test_who_dies_after_the_last_commit_has_given_the_table_back(
    catalog: Catalog, tmp_path: Path, how: str
) -> None:
    folder = tmp_path / "t"
    adopted.ordinary(folder)
    entry = adopted.adopt(catalog, folder)
    table = adopted.managed(catalog, entry)
    frozen = catalog.releases.freeze(entry.table_id, "ann")
    catalog.releases.begin_release(frozen)
    last = adoption._release_commit(
        adopted.registry(catalog), table.snapshot().state, frozen, keep_timestamps=False
    )
    locate(str(folder)).put_if_absent(file_names.published_path(frozen.target), last)
    rows = pa.table({"id": pa.array([99], pa.int64()), "writer": ["deltalake"]})
    write_deltalake(str(folder), rows, mode="append")

    if how == "resume":
        assert adoption.resume_transfers(adopted.registry(catalog, "bob")) == {"test.t": "released"}
    elif how == "release":
        assert adopted.release(catalog, entry) == 4
    else:
        with pytest.raises(TableNotFound, match="there is no table" if how == "pin" else "at_path"):
            {
                "read": table.snapshot,
                "append": lambda: adopted.append(table, "stray.parquet"),
                "pin": lambda: catalog.pin([NAME]),
            }[how]()
    with pytest.raises(TableNotFound):
        catalog.resolve(NAME)
    assert len(adopted.files(tables.open_filesystem(str(folder)))) == 3


def test_a_release_that_cannot_publish_leaves_the_table_where_it_is(here: Catalog, tmp_path: Path) -> None:
    adopted.ordinary(tmp_path / "t")
    entry = adopted.adopt(here, tmp_path / "t")
    table = adopted.managed(here, entry)
    adopted.append(table, "managed.parquet")
    stray = tmp_path / "t" / file_names.published_path(Version(4))
    stray.write_text("{}\n")

    with pytest.raises(HeadgateError):
        adopted.release(here, entry)
    assert here.adoptions.under_way() == ()
    stray.unlink()
    assert adopted.append(table, "after.parquet") == 5
    assert adopted.release(here, entry) == 6


def test_writers_and_a_release_at_once_lose_and_double_nothing(catalog: Catalog, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    adopted.ordinary(folder)
    entry = adopted.adopt(catalog, folder)
    told: list[str] = []
    begun = threading.Event()

    def write(writer: int) -> None:
        table = adopted.managed(catalog, entry)
        for number in range(500):
            try:
                adopted.append(table, f"{writer}-{number}.parquet")
            except TableNotFound:
                return
            told.append(f"{writer}-{number}.parquet")
            if len(told) > 8:
                begun.set()
        raise AssertionError("the release never came")

    with ThreadPoolExecutor(3) as pool:
        writers = [pool.submit(write, number) for number in range(3)]
        assert begun.wait(PATIENCE_SECONDS)
        adopted.release(catalog, entry)
        for writer in writers:
            writer.result(PATIENCE_SECONDS)

    ordinary = tables.open_filesystem(str(folder))
    assert adopted.files(ordinary) == sorted(["before-0.parquet", "before-1.parquet", *told])
    txn_ids = [found.info.txn_id for found in ordinary.history()]
    assert len(set(txn_ids)) == len(txn_ids) == ordinary.snapshot().version + 1


def test_a_release_that_is_refused_at_its_last_step_keeps_nobody_waiting(
    catalog: Catalog, tmp_path: Path
) -> None:
    """The table stays, and takes commits again at once; a commit after the first look is published too."""
    adopted.ordinary(tmp_path / "t")
    entry = adopted.adopt(catalog, tmp_path / "t")

    class Denied(LocalStore):
        def put_if_absent(self, path: str, data: Buffer) -> None:
            if path == file_names.published_path(Version(5)):
                raise AccessDenied("not here", path=path, operation="put")
            super().put_if_absent(path, data)

    table = tables.open_managed(catalog, entry.table_id, entry.location, store=Denied(entry.location))
    registry = adopted.registry(catalog)
    freeze, others = registry.releases.freeze, adopted.managed(catalog, entry)

    class Meanwhile(Releases):
        def freeze(self, table_id: TableId, proposer: str) -> Transfer:
            adopted.append(others, "meanwhile.parquet")
            return freeze(table_id, proposer)

    late = replace(registry, releases=Meanwhile(catalog.releases._handover))
    with pytest.raises(AccessDenied):
        adoption.release(late, table, entry.table_id, keep_timestamps=True)

    assert catalog.adoptions.under_way() == ()
    assert adopted.append(others, "after.parquet") == 6
    assert (tmp_path / "t" / file_names.published_path(Version(4))).exists()
    assert [found.info.operation for found in others.history(limit=2)] == ["WRITE", "RELEASE WITHDRAWN"]
