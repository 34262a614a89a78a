"""Publishing when a ratified commit cannot be read: what came before it counts, and somebody is told."""

from pathlib import Path

import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.commits import StagedCommit
from headgate.catalog.ports.events import EventKind
from headgate.errors import CorruptLog, StorageUnavailable
from headgate.protocol.actions import Version
from headgate.protocol.log import file_names
from headgate.storage.locate import locate
from headgate.table.commit import publish
from tests.support.distant import DistantStore
from tests.support.faulty_store import FaultyStore, RecordingWire
from tests.support.simulated_catalog import RemoteCatalog
from tests.support.versions import STAGED, Managed, managed
from tests.unit.catalog.ratification.test_catalog_commits import Cut


def staged(found: Managed, version: int) -> str:
    """The path of the staged file of a version."""
    commit = next(
        commit for commit in found.catalog.tail(found.table_id).commits if commit.version == version
    )
    assert isinstance(commit.where, StagedCommit)
    return commit.where.path


def published(found: Managed) -> list[int]:
    return [
        at for at in range(1, 4) if (Path(found.location) / file_names.published_path(Version(at))).exists()
    ]


@pytest.mark.parametrize("content", [None, b"something else"])
def test_a_staged_file_that_is_not_what_was_ratified_is_an_incident(
    tmp_path: Path, content: bytes | None
) -> None:
    """I3, T5: nothing takes its place, and what came before it is published."""
    found = managed(tmp_path, 3, settings=STAGED)
    damaged = Path(found.location) / staged(found, 2)
    damaged.unlink() if content is None else damaged.write_bytes(content)

    with pytest.raises(CorruptLog) as caught:
        publish.publish(locate(found.location), found.catalog, found.table_id)

    assert caught.value.fields["version"] == 2
    assert published(found) == [1]
    assert found.catalog.tail(found.table_id).published == 1
    assert isinstance(found.catalog, Catalog)
    incidents = [event for event in found.catalog.events.after(0) if event.kind is EventKind.INCIDENT]
    assert [event.version for event in incidents] == [2]


def test_a_staged_file_that_cannot_be_reached_is_no_incident(tmp_path: Path) -> None:
    found, calls = managed(tmp_path, 3, settings=STAGED), RecordingWire()
    store = FaultyStore(locate(found.location), Cut(f"read {staged(found, 3)}"))

    with pytest.raises(StorageUnavailable):
        publish.publish(store, RemoteCatalog(found.catalog, calls), found.table_id)

    assert published(found) == [1, 2]
    assert [call for call in calls.calls if "mark_published" in call] == ["mark_published 2"]


def test_from_a_distant_store_commits_are_published_in_order_too(tmp_path: Path) -> None:
    found = managed(tmp_path, 3, settings=STAGED)

    last = publish.publish(DistantStore(locate(found.location), at_once=2), found.catalog, found.table_id)

    assert last == 3
    assert published(found) == [1, 2, 3]
    assert found.catalog.tail(found.table_id).published == 3
