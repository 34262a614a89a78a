"""Publishing after a commit: soon, now or on demand, and never to the commit's harm."""

import subprocess
import sys
from pathlib import Path

import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.commits import TableId, Tail
from headgate.errors import CatalogUnavailable, CorruptLog, StorageUnavailable
from headgate.progress import reporting
from headgate.protocol.actions import Version
from headgate.protocol.log import file_names
from headgate.settings import Publish, Settings
from headgate.storage.locate import locate
from headgate.table.alter import set_properties
from headgate.table.commit import post_commit, publish
from tests.support.altered import new
from tests.support.faulty_store import FaultyStore, RecordingWire
from tests.support.simulated_catalog import RemoteCatalog
from tests.support.tables import NAME, append_change, create_managed, named_file, open_managed
from tests.support.versions import INLINE, STAGED, managed, paths
from tests.support.waiting import until
from tests.unit.catalog.ratification.test_catalog_commits import Cut
from tests.unit.progress.test_reporting import NotedBar, Notes


def test_published_files_are_the_ratified_bytes_in_order_and_stay_untouched(tmp_path: Path) -> None:
    """S088, S089, S097"""
    catalog = open_catalog(tmp_path)
    staging = create_managed(catalog)
    table = open_managed(catalog, staging.table_id, staging.location)
    for number in range(3):
        table.commit(append_change(named_file(f"{number}")), base=table.newest_known())
    ratified = {commit.version: commit.where.content for commit in catalog.tail(staging.table_id).commits}
    store = locate(staging.location)

    assert table.publish() == 3
    first = {version: store.head(file_names.published_path(version)) for version in ratified}
    assert table.publish() == 3

    assert {version: store.read(file_names.published_path(version)) for version in ratified} == ratified
    assert {version: store.head(file_names.published_path(version)) for version in ratified} == first
    tail = catalog.tail(staging.table_id)
    assert (tail.latest, tail.published, tail.commits) == (3, 3, ())


def test_staged_files_are_kept_when_published(tmp_path: Path) -> None:
    catalog = open_catalog(tmp_path)
    staging = create_managed(catalog)
    table = open_managed(
        catalog, staging.table_id, staging.location,
        settings=Settings(inline_limit_bytes=0, publish=Publish.NOW),
    )  # fmt: skip

    table.commit(append_change(named_file("a")), base=table.newest_known())

    staged = list((Path(staging.location) / file_names.STAGED_FOLDER).iterdir())
    assert len(staged) == 1
    assert (
        staged[0].read_bytes()
        == (Path(staging.location) / file_names.published_path(Version(1))).read_bytes()
    )


def test_a_stray_published_file_is_an_incident_and_never_overwritten(tmp_path: Path) -> None:
    """T6: readers keep seeing what was ratified."""
    catalog = open_catalog(tmp_path)
    staging = create_managed(catalog)
    table = open_managed(catalog, staging.table_id, staging.location)
    table.commit(append_change(named_file("ours")), base=table.newest_known())
    stray = Path(staging.location) / file_names.published_path(Version(1))
    stray.write_bytes(b'{"add":{}}\n')

    with pytest.raises(CorruptLog, match="differs from the ratified version 1") as caught:
        publish.publish(locate(staging.location), catalog, staging.table_id)

    assert caught.value.code == "DELTA_TXN_LOG_FAILED_INTEGRITY"
    assert stray.read_bytes() == b'{"add":{}}\n'
    fresh = open_managed(catalog, staging.table_id, staging.location)
    assert fresh.snapshot().files.columns["path"].to_pylist() == ["ours"]


def test_a_commit_succeeds_although_publishing_fails(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    catalog = open_catalog(tmp_path)
    staging = create_managed(catalog)
    (Path(staging.location) / file_names.published_path(Version(1))).write_bytes(b"stray")
    table = open_managed(catalog, staging.table_id, staging.location, settings=Settings(publish=Publish.NOW))

    version = table.commit(append_change(named_file("a")), base=table.newest_known())

    assert version == 1
    assert "could not be published yet" in caplog.text


def test_in_the_background_everything_is_published_by_the_time_of_closing(tmp_path: Path) -> None:
    catalog = open_catalog(tmp_path)
    staging = create_managed(catalog)
    table = open_managed(catalog, staging.table_id, staging.location, settings=Settings(publish_batch=8))

    for number in range(50):
        table.commit(append_change(named_file(f"{number}")), base=table.newest_known())
    table.close()

    assert catalog.tail(staging.table_id).published == 50


# --- publishing by itself

BOTH = pytest.mark.parametrize("settings", [INLINE, STAGED], ids=["inline", "staged"])


@pytest.mark.parametrize("versions", [0, 3])
@BOTH
def test_with_nothing_to_publish_nothing_is_written(
    tmp_path: Path, settings: Settings, versions: int
) -> None:
    """S091, S098: right after it was made, and once everything is published."""
    found, wire = managed(tmp_path, versions, published=versions, settings=settings), RecordingWire()
    table = found.opened(store=FaultyStore(locate(found.location), wire))
    before = table.snapshot()

    assert table.publish() == versions

    assert not [call for call in wire.calls if call.startswith(("put", "delete"))]
    assert table.snapshot() == before


def test_publishing_an_ordinary_table_only_says_its_latest_version() -> None:
    """S091"""
    place, table = new("filesystem")
    table.commit(append_change(named_file("a")), base=table.snapshot())
    before = table.snapshot(), list(place.store.list_from(""))

    assert table.publish() == 1

    assert (table.snapshot(), list(place.store.list_from(""))) == before


@BOTH
def test_a_version_that_cannot_be_written_is_named_and_none_after_it_is_tried(
    tmp_path: Path, settings: Settings
) -> None:
    """S092, I3"""
    found, wire = (
        managed(tmp_path, 4, settings=settings),
        Cut(f"put_if_absent {file_names.published_path(Version(3))}"),
    )
    table = found.opened(store=FaultyStore(locate(found.location), wire))

    with pytest.raises(StorageUnavailable, match=r"00003\.json"):
        table.publish()

    there = [
        (Path(found.location) / file_names.published_path(Version(version))).exists() for version in range(5)
    ]
    assert there == [True, True, True, False, False]
    assert paths(found.opened()) == ["1", "2", "3", "4"]
    wire.mended = True
    assert table.publish() == 4
    assert found.catalog.tail(found.table_id).published == 4


@BOTH
def test_what_is_published_but_not_reported_stays_with_the_catalog_until_somebody_reports_it(
    tmp_path: Path, settings: Settings
) -> None:
    """S095: Headgate reports as it publishes, so the two part only if the report fails."""
    found, wire = managed(tmp_path, 3, settings=settings), Cut("mark_published")
    table = found.opened(through=lambda catalog: RemoteCatalog(catalog, wire))
    held = found.catalog.tail(found.table_id)

    with pytest.raises(CatalogUnavailable):
        table.publish()

    assert (Path(found.location) / file_names.published_path(Version(3))).exists()
    assert found.catalog.tail(found.table_id) == held
    assert paths(found.opened()) == ["1", "2", "3"]
    table.commit(append_change(named_file("4")), base=table.snapshot())
    wire.mended = True
    assert table.publish() == 4
    assert found.catalog.tail(found.table_id).commits == ()


@BOTH
def test_publishing_changes_nothing_that_a_reader_sees(tmp_path: Path, settings: Settings) -> None:
    """S099"""
    found = managed(tmp_path, 2, settings=settings)
    table = open_managed(found.catalog, found.table_id, found.location, settings=settings)
    set_properties.set_properties(table, {"delta.enableRowTracking": "true", "team": "sales"})
    before, moments = table.snapshot(), [entry.timestamp for entry in table.history()]

    table.publish()

    for reader in (table, found.opened()):
        after = reader.snapshot()
        assert after.state == before.state
        assert after.files.columns.equals(before.files.columns)
        assert [entry.timestamp for entry in reader.history()] == moments
    assert before.state.domains


def test_the_publisher_keeps_up_with_a_writer_that_never_pauses(tmp_path: Path) -> None:
    """How far it is behind does not grow with what was committed."""
    catalog = open_catalog(tmp_path)
    staging = create_managed(catalog)
    table = open_managed(catalog, staging.table_id, staging.location, settings=Settings(checkpoints=False))
    behind: list[int] = []

    for number in range(1_200):
        table.commit(append_change(named_file(f"{number}")), base=table.newest_known())
        if number % 50 == 49:
            tail = catalog.tail(staging.table_id)
            behind.append(tail.latest - tail.published)
    table.close()

    assert sorted(behind)[len(behind) // 2] < 500, behind
    assert catalog.tail(staging.table_id).published == 1_200


def test_what_could_not_be_published_is_tried_again_without_another_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(post_commit, "RETRY_SECONDS", 0.05)
    catalog = open_catalog(tmp_path)
    staging = create_managed(catalog)
    wire = Cut(f"put_if_absent {file_names.published_path(Version(2))}")
    store = FaultyStore(locate(staging.location), wire)
    settings = Settings(publish_quiet_seconds=0.01)
    table = open_managed(catalog, staging.table_id, staging.location, settings=settings, store=store)
    for number in range(3):
        table.commit(append_change(named_file(f"{number}")), base=table.newest_known())
    until((Path(staging.location) / file_names.published_path(Version(1))).exists)
    assert not (Path(staging.location) / file_names.published_path(Version(2))).exists()

    wire.mended = True

    until(lambda: catalog.tail(staging.table_id).published == 3)
    table.close()


_PROGRAM = """
import sys
from pathlib import Path
from headgate.catalog.embedded import open_catalog
from headgate.settings import Settings
from tests.support.tables import append_change, create_managed, named_file, open_managed

catalog = open_catalog(Path(sys.argv[1]))
staging = create_managed(catalog)
settings = Settings(publish_quiet_seconds=60, inline_limit_bytes=int(sys.argv[2]))
table = open_managed(catalog, staging.table_id, staging.location, settings=settings)
for number in range(12):
    table.commit(append_change(named_file(str(number))), base=table.newest_known())
"""


def test_a_program_that_ends_without_closing_anything_publishes_first(tmp_path: Path) -> None:
    """When it ends, Python starts no more threads in pools."""
    program = [sys.executable, "-c", _PROGRAM, str(tmp_path), "0"]

    ran = subprocess.run(program, capture_output=True, text=True, check=False)

    assert (ran.returncode, ran.stderr) == (0, "")
    catalog = open_catalog(tmp_path)
    assert catalog.tail(catalog.resolve(NAME).table_id).published == 12
    catalog.close()


def test_many_versions_are_published_in_batches_and_those_before_a_failure_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publish, "_AT_ONCE", 4)
    found = managed(tmp_path, 10)
    (Path(found.location) / file_names.published_path(Version(7))).write_bytes(b"stray")

    progress = Notes()
    with pytest.raises(CorruptLog, match="version 7"), reporting.reporting_to(progress):
        found.opened().publish()

    assert found.catalog.tail(found.table_id).published == 6
    assert progress.bars == [NotedBar("publish versions", 10, done=4, closed=True)]


def test_in_the_background_the_catalog_is_asked_once_what_is_to_be_published(tmp_path: Path) -> None:
    catalog, asked = open_catalog(tmp_path), list[TableId]()
    staging = create_managed(catalog)
    table = open_managed(catalog, staging.table_id, staging.location)
    version = table.commit(append_change(named_file("a")), base=table.newest_known())

    def tail(table_id: TableId) -> Tail:
        asked.append(table_id)
        return Catalog.tail(catalog, table_id)

    catalog.tail = tail  # type: ignore[method-assign]
    table._keeper.keep(version, interval=10, urgent=False, due=False)

    assert asked == [staging.table_id]
    assert Catalog.tail(catalog, staging.table_id).published == 1
