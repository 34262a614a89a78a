"""What the catalog tells of its latest commits, told wrongly."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from headgate.catalog.ports.commits import (
    CommitCatalog,
    Lost,
    Outcome,
    Proposal,
    Ratified,
    RatifiedCommit,
    TableId,
    Tail,
    Unknown,
)
from headgate.errors import CorruptLog
from headgate.protocol.actions import CommitInfo, TxnId, Version
from headgate.protocol.log import codec, file_names
from headgate.storage.locate import locate
from headgate.storage.store import Store
from headgate.table.opened_table import OpenedTable
from tests.support.commits import add
from tests.support.faulty_store import FaultyStore, RecordingWire
from tests.support.proposals import stamp
from tests.support.versions import Managed, managed, paths


@dataclass
class Garbled:
    """A catalog that tells its tail wrongly."""

    catalog: CommitCatalog
    garble: Callable[[Tail], Tail]

    def propose(self, proposal: Proposal) -> Ratified | Lost[RatifiedCommit] | Unknown:
        return self.catalog.propose(proposal)

    def outcome_of(
        self, table_id: TableId, txn_id: TxnId, target: Version, *, any_version: bool = False
    ) -> Outcome[RatifiedCommit]:
        return self.catalog.outcome_of(table_id, txn_id, target, any_version=any_version)

    def tail(self, table_id: TableId) -> Tail:
        return self.garble(self.catalog.tail(table_id))

    def mark_published(self, table_id: TableId, version: Version) -> None:
        self.catalog.mark_published(table_id, version)


def garbled(table: Managed, garble: Callable[[Tail], Tail], *, store: Store | None = None) -> OpenedTable:
    return table.opened(through=lambda catalog: Garbled(catalog, garble), store=store)


def without(version: int) -> Callable[[Tail], Tail]:
    def garble(tail: Tail) -> Tail:
        return replace(tail, commits=tuple(held for held in tail.commits if held.version != version))

    return garble


def without_any(tail: Tail) -> Tail:
    return replace(tail, commits=())


def backwards(tail: Tail) -> Tail:
    return replace(tail, commits=tail.commits[::-1])


def test_the_order_of_the_catalogs_answer_does_not_matter_to_readers(tmp_path: Path) -> None:
    """S022"""
    table = managed(tmp_path, 4, published=1)

    assert paths(garbled(table, backwards)) == paths(table.opened()) == ["1", "2", "3", "4"]


def test_publishing_is_in_order_whatever_the_order_of_the_catalogs_answer(tmp_path: Path) -> None:
    """S022: I3"""
    table = managed(tmp_path, 3)
    wire = RecordingWire()
    store = FaultyStore(locate(table.location), wire)

    assert garbled(table, backwards, store=store).publish() == 3

    assert [call for call in wire.calls if call.startswith("put_if_absent")] == [
        f"put_if_absent {file_names.published_path(Version(version))}" for version in (1, 2, 3)
    ]
    assert table.catalog.tail(table.table_id).published == 3


@pytest.mark.parametrize("version", [None, 1])
def test_a_catalogs_answer_with_a_gap_is_refused(tmp_path: Path, version: int | None) -> None:
    """S022: even where a published file could fill it."""
    table = managed(tmp_path, 4)
    stray = Path(table.location) / file_names.published_path(Version(3))
    stray.write_bytes(codec.encode((CommitInfo(), add("stray"))))

    with pytest.raises(CorruptLog, match="version 3") as caught:
        garbled(table, without(3)).snapshot(version=version)

    assert caught.value.code == "DELTA_VERSIONS_NOT_CONTIGUOUS"


@pytest.mark.parametrize("version", [None, 1])
def test_a_catalogs_answer_that_ends_before_its_latest_version_is_refused(
    tmp_path: Path, version: int | None
) -> None:
    """S023"""
    table = managed(tmp_path, 4)

    with pytest.raises(CorruptLog, match="version 4"):
        garbled(table, without(4)).snapshot(version=version)


def test_a_catalogs_answer_that_ends_beyond_its_latest_version_is_refused(tmp_path: Path) -> None:
    """S023"""
    table = managed(tmp_path, 4)

    with pytest.raises(CorruptLog, match="version 4"):
        garbled(table, lambda tail: replace(tail, latest=Version(3))).snapshot()


def test_a_catalogs_answer_that_is_empty_is_believed_only_if_all_is_published(tmp_path: Path) -> None:
    """S024, S090: files that somebody put there are not what was ratified."""
    table = managed(tmp_path, 2)
    for version in (1, 2):
        stray = Path(table.location) / file_names.published_path(Version(version))
        stray.write_bytes(codec.encode((CommitInfo(in_commit_timestamp=stamp(version)), add("stray"))))

    with pytest.raises(CorruptLog, match="version 2"):
        garbled(table, without_any).snapshot()


def test_time_travel_needs_not_what_the_catalog_holds_beyond_it(tmp_path: Path) -> None:
    """S023"""
    table = managed(tmp_path, 4)

    assert paths(table.opened(), 2) == ["1", "2"]


@pytest.mark.parametrize("garble", [without(2), without(4), without_any])
def test_a_catalogs_answer_that_is_not_whole_publishes_nothing(
    tmp_path: Path, garble: Callable[[Tail], Tail]
) -> None:
    """S090"""
    table = managed(tmp_path, 4)

    with pytest.raises(CorruptLog):
        garbled(table, garble).publish()

    assert not (Path(table.location) / file_names.published_path(Version(1))).exists()
    assert table.catalog.tail(table.table_id).published == 0
    assert table.opened().publish() == 4
