"""Publishing after a commit: soon, now or on demand, and never to the commit's harm."""

from pathlib import Path

import pytest

from headgate.catalog.embedded import open_catalog
from headgate.errors import CorruptLog
from headgate.protocol import names
from headgate.protocol.actions import Version
from headgate.settings import Publish, Settings
from headgate.storage.locate import locate
from headgate.table import publish
from tests.support.tables import append_change, create_managed, named_file, open_managed


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
    first = {version: store.head(names.published(version)) for version in ratified}
    assert table.publish() == 3

    assert {version: store.read(names.published(version)) for version in ratified} == ratified
    assert {version: store.head(names.published(version)) for version in ratified} == first
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

    staged = list((Path(staging.location) / names.STAGED).iterdir())
    assert len(staged) == 1
    assert staged[0].read_bytes() == (Path(staging.location) / names.published(Version(1))).read_bytes()


def test_a_stray_published_file_is_an_incident_and_never_overwritten(tmp_path: Path) -> None:
    """T6: readers keep seeing what was ratified."""
    catalog = open_catalog(tmp_path)
    staging = create_managed(catalog)
    table = open_managed(catalog, staging.table_id, staging.location)
    table.commit(append_change(named_file("ours")), base=table.newest_known())
    stray = Path(staging.location) / names.published(Version(1))
    stray.write_bytes(b'{"add":{}}\n')

    with pytest.raises(CorruptLog, match="differs from the ratified version 1"):
        publish.publish(locate(staging.location), catalog, staging.table_id)

    assert stray.read_bytes() == b'{"add":{}}\n'
    fresh = open_managed(catalog, staging.table_id, staging.location)
    assert fresh.snapshot().files.columns["path"].to_pylist() == ["ours"]


def test_a_commit_succeeds_although_publishing_fails(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    catalog = open_catalog(tmp_path)
    staging = create_managed(catalog)
    (Path(staging.location) / names.published(Version(1))).write_bytes(b"stray")
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
