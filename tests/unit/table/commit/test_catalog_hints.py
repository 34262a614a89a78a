"""The route of a managed table that its catalog serves: what an opening told, and what others published."""

from pathlib import Path

import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.serving import LogHints
from headgate.clock import SystemWorld
from headgate.errors import TooManyUnpublished
from headgate.protocol.actions import Version
from headgate.protocol.log import file_names
from headgate.protocol.log.file_names import LogFile, LogFileKind
from headgate.storage.locate import locate
from headgate.table.commit import catalog_managed
from headgate.table.commit.catalog_hints import CatalogHints
from headgate.table.commit.catalog_managed import ManagedCommitter
from tests.support import versions
from tests.support.faulty_store import RecordingWire
from tests.support.proposals import publish
from tests.support.simulated_catalog import RemoteCatalog
from tests.support.tables import NAME

CHECKPOINT = LogFile(LogFileKind.CHECKPOINT, Version(1), file_names.classic_checkpoint_path(Version(1)), 10)


class Place:
    """A table of two versions, neither of them published, with the calls to its catalog."""

    def __init__(self, folder: Path, *, serves: bool) -> None:
        self.found = versions.managed(folder, 2)
        assert isinstance(self.found.catalog, Catalog)
        self.catalog: Catalog = self.found.catalog
        self.wire = RecordingWire()
        loaded = self.catalog.load(NAME)
        served = CatalogHints(self.catalog, self.found.table_id, loaded=loaded, fresh_seconds=600)
        self.committer = ManagedCommitter(
            locate(self.found.location), RemoteCatalog(self.catalog, self.wire), self.found.table_id,
            world=SystemWorld(), inline_limit_bytes=1_000, served=served if serves else None,
        )  # fmt: skip


def test_what_the_opening_told_serves_the_first_look_and_only_that(tmp_path: Path) -> None:
    place = Place(tmp_path, serves=True)

    first = place.committer.frontier()
    asked = list(place.wire.calls)
    second = place.committer.frontier()

    assert asked == []
    assert place.wire.calls == ["tail"]
    for frontier in (first, second):
        assert (frontier.latest, sorted(frontier.unpublished)) == (2, [1, 2])
        assert frontier.latest_timestamp == frontier.unpublished[Version(2)].in_commit_timestamp
        assert [file.version for file in frontier.expected or ()] == [0]
        assert frontier.version_at is not None
        assert frontier.version_at(frontier.unpublished[Version(1)].in_commit_timestamp) == 1


def test_a_catalog_that_serves_nothing_is_asked_and_expects_nothing(tmp_path: Path) -> None:
    place = Place(tmp_path, serves=False)

    frontier = place.committer.frontier()

    assert place.wire.calls == ["tail"]
    assert frontier == catalog_managed.frontier_from_tail(place.catalog.tail(place.found.table_id))
    assert (frontier.expected, frontier.version_at) == (None, None)


@pytest.mark.parametrize(("serves", "reached"), [(True, 3), (False, 2)])
def test_who_publishes_finds_the_next_version_of_others(tmp_path: Path, serves: bool, reached: int) -> None:
    """K8"""
    place = Place(tmp_path, serves=serves)
    publish(locate(place.found.location), 3, "foreign")

    assert place.committer.publish() == reached


@pytest.mark.parametrize("serves", [True, False])
def test_who_publishes_without_others_says_how_far(tmp_path: Path, serves: bool) -> None:
    assert Place(tmp_path, serves=serves).committer.publish() == 2


@pytest.mark.parametrize(("serves", "noted"), [(True, (CHECKPOINT,)), (False, ())])
def test_a_checkpoint_is_made_known_to_a_catalog_that_serves(
    tmp_path: Path, serves: bool, noted: tuple[LogFile, ...]
) -> None:
    place = Place(tmp_path, serves=serves)

    place.committer.note_log(LogHints((CHECKPOINT,)))

    assert open_catalog(tmp_path).load(NAME).hints.checkpoint == noted


@pytest.mark.parametrize("full", range(5))
def test_room_is_made_three_times_and_then_it_is_given_up(full: int) -> None:
    """K7"""
    done: list[str] = []

    def propose() -> str:
        done.append("propose")
        if done.count("propose") <= full:
            raise TooManyUnpublished("others were faster")
        return "ratified"

    if full > 3:
        with pytest.raises(TooManyUnpublished):
            catalog_managed.publish_and_retry(propose, lambda: done.append("publish"))
    else:
        assert catalog_managed.publish_and_retry(propose, lambda: done.append("publish")) == "ratified"
    assert done == ["propose", *["publish", "propose"] * min(full, 3)]
