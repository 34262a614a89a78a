"""One txnId at two versions: nothing more is written, nothing is deleted, and success is not claimed."""

from dataclasses import replace

import msgspec
import pytest

from headgate.catalog.ports.commits import Lost, RatifiedCommit, StagedCommit, Unknown
from headgate.catalog.ports.coordinator import CoordinatedProposal, CoordinatedTable
from headgate.errors import CorruptLog
from headgate.protocol.actions import TxnId, Version
from headgate.protocol.log import codec, file_names
from headgate.storage.store import Store
from headgate.table.opened_table import OpenedTable
from tests.support.faulty_store import DictStore
from tests.support.owned import NAME, WatchedOwner, append, coordinated
from tests.support.tables import append_change, create_filesystem, named_file, open_filesystem
from tests.support.world import StillWorld

OURS = TxnId(StillWorld().uuid())


def _publish(store: Store, version: int, txn_id: str) -> None:
    """A version that somebody else publishes, under a txnId of their choice."""
    info = codec.decode_commit_info(Version(0), store.read(file_names.published_path(Version(0))))
    assert info is not None
    theirs = msgspec.structs.replace(info, txn_id=TxnId(txn_id), in_commit_timestamp=None)
    content = codec.encode((theirs, named_file(f"theirs-{version}")))
    store.put_if_absent(file_names.published_path(Version(version)), content)


def _paths(table: OpenedTable) -> list[str]:
    return sorted(table.snapshot().files.columns["path"].to_pylist())


@pytest.mark.parametrize("ours_at", [(2,), (1, 2), (3,), (2, 3)])
def test_by_path_a_later_winner_with_our_txn_id_is_reported(ours_at: tuple[int, ...]) -> None:
    store = DictStore()
    create_filesystem(store)
    table = open_filesystem("memory:", store=store, world=StillWorld())
    base = table.snapshot()
    for version in (1, 2, 3):
        _publish(store, version, OURS if version in ours_at else f"theirs-{version}")

    with pytest.raises(CorruptLog, match="has the txnId") as caught:
        table.commit(append_change(named_file("ours")), base=base)

    assert caught.value.fields["txn_id"] == OURS
    assert caught.value.fields["target"] == 1
    assert caught.value.fields["version"] in ours_at
    assert _paths(open_filesystem("memory:", store=store)) == ["theirs-1", "theirs-2", "theirs-3"]


def test_by_path_our_own_commit_whose_answer_was_lost_is_success_whatever_follows() -> None:
    store = DictStore()
    create_filesystem(store)
    table = open_filesystem("memory:", store=store, world=StillWorld())
    base = table.snapshot()
    _publish(store, 1, OURS)
    store.put(file_names.published_path(Version(2)), b"not a commit")

    assert table.commit(append_change(named_file("ours")), base=base) == 1


def test_an_earlier_run_under_a_txn_id_of_the_callers_is_the_version_it_became() -> None:
    store = DictStore()
    create_filesystem(store)
    table = open_filesystem("memory:", store=store)
    base = table.snapshot()
    _publish(store, 1, "theirs")
    _publish(store, 2, OURS)

    change = replace(append_change(named_file("ours")), txn_id=OURS)

    assert table.commit(change, base=base) == 2
    assert _paths(open_filesystem("memory:", store=store)) == ["theirs-1", "theirs-2"]


class Copying:
    """An owner that has our txnId at a version of somebody else's."""

    def __init__(self, inner: WatchedOwner) -> None:
        self._inner = inner
        self.register, self.get_commits = inner.register, inner.get_commits
        self.backfill_to = inner.backfill_to

    def commit(
        self, table: CoordinatedTable, proposal: CoordinatedProposal
    ) -> RatifiedCommit | Lost[RatifiedCommit] | Unknown:
        for version in (proposal.version, Version(proposal.version + 1)):
            staged = StagedCommit(
                file_names.staged_file_name(version, f"00000000-0000-4000-8000-{version:012d}")
            )
            txn_id = TxnId("first") if version == proposal.version else proposal.txn_id
            content = table.store.read(proposal.staged.path).replace(
                proposal.txn_id.encode(), txn_id.encode()
            )
            table.store.put(staged.path, content.replace(b'"ours"', f'"theirs-{version}"'.encode()))
            copied = replace(proposal, version=version, staged=staged, txn_id=txn_id)
            self._inner.commit(table, copied)
        return self._inner.commit(table, proposal)


@pytest.mark.parametrize("batch", [1, 100])
def test_through_an_owner_success_at_the_version_of_another_is_not_claimed(batch: int) -> None:
    place, watched = coordinated(batch=batch)
    table = place.opened(owners={NAME: Copying(watched)})
    base = table.snapshot()

    with pytest.raises(CorruptLog, match=r"version 3 has the txnId .*, and it was proposed as version 2"):
        table.commit(append_change(named_file("ours")), base=base)

    assert _paths(place.opened()) == ["theirs-2", "theirs-3"]
    assert append(place.opened(), ["x"]) == [4]


class Forgetting(Copying):
    """The same, with an owner that knows no txnIds: it only says that the version is taken."""

    def commit(
        self, table: CoordinatedTable, proposal: CoordinatedProposal
    ) -> RatifiedCommit | Lost[RatifiedCommit] | Unknown:
        super().commit(table, proposal)
        return Lost(())


def test_the_winners_of_an_owner_that_knows_no_txn_ids_are_looked_at_too() -> None:
    place, watched = coordinated(batch=100)
    table = place.opened(owners={NAME: Forgetting(watched)})
    base = table.snapshot()

    with pytest.raises(CorruptLog, match="version 3 has the txnId"):
        table.commit(append_change(named_file("ours")), base=base)
