"""Reading a table: what log and catalog say together, and what is refused rather than guessed."""

from pathlib import Path

import pytest

from headgate.catalog.ports.commits import TableId
from headgate.errors import CorruptLog, InvalidRequest, TableNotFound
from headgate.protocol.actions import CommitInfo, EpochMillis, TxnId, Version
from headgate.protocol.log import codec, file_names
from headgate.settings import Settings
from headgate.storage.locate import locate
from tests.support.commits import PROTOCOL, metadata
from tests.support.faulty_store import DictStore, FaultyStore, RecordingWire
from tests.support.simulated_catalog import SimulatedCatalog
from tests.support.tables import append_change, named_file, open_filesystem, open_managed
from tests.support.versions import INLINE, STAGED, managed, paths, write_checkpoint

EITHER = pytest.mark.parametrize("settings", [STAGED, INLINE], ids=["staged", "inline"])


@pytest.mark.parametrize("asked", [{}, {"version": 0}, {"timestamp": EpochMillis(1)}], ids=str)
def test_a_managed_table_is_never_read_without_its_catalog(tmp_path: Path, asked: dict[str, int]) -> None:
    """S020"""
    table = managed(tmp_path, 2, published=1)

    with pytest.raises(InvalidRequest, match="managed by a catalog") as caught:
        open_filesystem(table.location).snapshot(**asked)  # type: ignore[arg-type]

    assert caught.value.code == "DELTA_PATH_BASED_ACCESS_TO_CATALOG_MANAGED_TABLE_BLOCKED"


@pytest.mark.parametrize("version", [None, 0])
def test_a_catalog_for_a_table_that_is_not_managed_is_refused(version: int | None) -> None:
    """S021"""
    store, catalog, table_id = DictStore(), SimulatedCatalog(), TableId("t")
    info = CommitInfo(in_commit_timestamp=EpochMillis(5), txn_id=TxnId("zero"))
    store.put(file_names.published_path(Version(0)), codec.encode((info, PROTOCOL, metadata())))
    catalog.add_table(table_id, store)

    with pytest.raises(CorruptLog, match="protocol does not say so"):
        open_managed(catalog, table_id, "memory", store=store).snapshot(version=version)


def test_a_commit_missing_after_the_known_version_is_an_error_by_name(tmp_path: Path) -> None:
    """S017: for a handle that knows an older version, too."""
    table = managed(tmp_path, 3, published=3)
    behind = table.opened()
    behind.snapshot()
    table.opened().commit(append_change(named_file("4")), base=table.opened().snapshot())
    table.opened().publish()
    (Path(table.location) / file_names.published_path(Version(4))).unlink()

    with pytest.raises(CorruptLog, match="version 4 is missing"):
        behind.snapshot()


def test_a_handle_older_than_the_cleaned_up_part_starts_again_from_the_checkpoint(tmp_path: Path) -> None:
    """R5: what follows the known version may be gone behind a checkpoint."""
    table = managed(tmp_path, 1, published=1)
    behind = table.opened()
    behind.snapshot()
    ahead = table.opened()
    for name in ("2", "3", "4"):
        ahead.commit(append_change(named_file(name)), base=ahead.newest_known())
    ahead.publish()
    write_checkpoint(table.location, ahead, 3)
    for version in range(3):
        (Path(table.location) / file_names.published_path(Version(version))).unlink()

    assert paths(behind) == ["1", "2", "3", "4"]


def test_the_latest_version_needs_one_look_at_the_last_checkpoint(tmp_path: Path) -> None:
    """S025"""
    table = managed(tmp_path, 4, published=3)
    write_checkpoint(table.location, table.opened(), 2)
    wire = RecordingWire()
    opened = table.opened(store=FaultyStore(locate(table.location), wire))

    assert paths(opened) == ["1", "2", "3", "4"]

    assert wire.calls.count(f"read {file_names.LAST_CHECKPOINT}") == 1
    assert wire.calls.count(f"list {file_names.LOG_FOLDER}") == 1
    commits = [call for call in wire.calls if call.endswith(".json") and ".checkpoint." not in call]
    assert commits == [f"read {file_names.published_path(Version(3))}"]


@EITHER
def test_what_the_last_commit_says_of_itself_comes_from_the_catalogs_copy(
    tmp_path: Path, settings: Settings
) -> None:
    """S028, S049"""
    table = managed(tmp_path, 3, published=2, settings=settings)
    (held,) = table.catalog.tail(table.table_id).commits

    opened = table.opened()
    state = opened.snapshot().state

    assert not (Path(table.location) / file_names.published_path(Version(3))).exists()
    assert state.info is not None
    assert (state.version, state.info.txn_id) == (held.version, held.txn_id)
    assert state.in_commit_timestamp == held.in_commit_timestamp
    assert opened.history(limit=1)[0].timestamp == held.in_commit_timestamp


@pytest.mark.parametrize("asked", [{}, {"version": 0}, {"timestamp": EpochMillis(1)}], ids=str)
def test_a_table_the_catalog_does_not_know_is_not_found(tmp_path: Path, asked: dict[str, int]) -> None:
    """S042"""
    table = managed(tmp_path, 1, published=1)
    nobody = open_managed(table.catalog, TableId("nobody"), table.location)

    with pytest.raises(TableNotFound):
        nobody.snapshot(**asked)  # type: ignore[arg-type]
    assert not nobody.exists()


def test_a_ratified_commit_whose_staged_file_is_gone_is_an_error(tmp_path: Path) -> None:
    """S172: never a wrong version, nor a shorter history."""
    table = managed(tmp_path, 3, settings=STAGED)
    knowing = table.opened()
    middle = knowing.history()[1]
    (lost,) = (Path(table.location) / file_names.STAGED_FOLDER).glob(f"{2:020d}.*")
    assert knowing.snapshot(timestamp=middle.timestamp).version == 2

    lost.unlink()

    for read in (
        table.opened().snapshot,
        lambda: knowing.snapshot(version=2),
        lambda: knowing.snapshot(timestamp=middle.timestamp),
        knowing.history,
        knowing.publish,
    ):
        with pytest.raises(CorruptLog, match="version 2 is ratified"):
            read()


@pytest.mark.parametrize("checksum", [None, "no JSON at all"], ids=["missing", "damaged"])
def test_nothing_depends_on_checksums(tmp_path: Path, checksum: str | None) -> None:
    """S186"""
    table = managed(tmp_path, 3, published=2)
    log = Path(table.location) / file_names.LOG_FOLDER
    if checksum is not None:
        for version in range(4):
            (log / f"{version:020d}.crc").write_text(checksum)
    opened = table.opened()

    assert [len(paths(opened, version)) for version in range(4)] == [0, 1, 2, 3]
    assert [entry.version for entry in opened.history()] == [3, 2, 1, 0]
    assert opened.commit(append_change(named_file("4")), base=opened.snapshot()) == 4
    assert opened.publish() == 4
    assert bool(list(log.glob("*.crc"))) is (checksum is not None)
