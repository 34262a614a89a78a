"""What every coordinator owes: each sentence of the port ``CommitCoordinator``, asked of every owner."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from headgate.catalog.coordinator.ledger_coordinator import LedgerCoordinator
from headgate.catalog.ports import ledger
from headgate.catalog.ports.commits import Lost, RatifiedCommit, StagedCommit
from headgate.catalog.ports.coordinator import CoordinatedProposal, CoordinatedTable, GetCommitsResponse
from headgate.catalog.ports.ledger import Ledger
from headgate.errors import InvalidRequest, NotAllowed, Retry
from headgate.protocol.actions import TxnId, Version
from headgate.protocol.log import file_names
from tests.support import owned, postgresql
from tests.support.catalogs import a_catalog
from tests.support.faulty_store import DictStore
from tests.support.owned import OWNED, PLAIN, propose
from tests.support.proposals import content
from tests.support.shared_server import served

Build = Callable[..., LedgerCoordinator]


@pytest.fixture(params=["memory", "database", "postgresql", "http-sqlite", "http-postgresql", "page"])
def build(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Build]:
    with ExitStack() as stack:
        place: Path | str = tmp_path
        if request.param.startswith("http-"):
            behind = stack.enter_context(a_catalog(request.param.removeprefix("http-"), tmp_path / "lake"))
            place = stack.enter_context(served(behind))
        elif request.param == "postgresql":
            server = postgresql.server()
            place = server.url(stack.enter_context(server.database()))

        def built(batch: int = 100) -> LedgerCoordinator:
            if request.param == "page":
                return LedgerCoordinator(ledger_of_the_page(tmp_path / "decisions.sqlite"), batch)
            return owned.owner(request.param, place, batch=batch)

        yield built


def ledger_of_the_page(file: Path) -> Ledger:
    """The ledger that the page on coordinators has its reader write."""
    names: dict[str, Any] = {}
    page = Path(__file__).parents[2] / "docs" / "how-to" / "write-a-coordinator.md"
    exec(page.read_text().partition("```python\n")[2].partition("\n```")[0], names)
    found: Ledger = names["SqliteLedger"](str(file))
    return found


def registered(owner: LedgerCoordinator, *, current: int | None = None) -> CoordinatedTable:
    """A table that the owner took at that version."""
    version = None if current is None else Version(current)
    return CoordinatedTable("/tables/t", owner.register("/tables/t", version, PLAIN), DictStore())


def assert_ratified(owner: LedgerCoordinator, table: CoordinatedTable, *versions: int) -> None:
    for version in versions:
        found = propose(owner, table, version, f"txn-{version}")
        assert isinstance(found, RatifiedCommit)
        assert found.version == version


def published(table: CoordinatedTable) -> list[int]:
    found = (file_names.parse(meta.path) for meta in table.store.list_from(file_names.LOG_FOLDER))
    return [file.version for file in found if file is not None]


def held(found: GetCommitsResponse) -> list[int]:
    return [commit.version for commit in found.commits]


def test_nothing_is_ratified_at_first(build: Build) -> None:
    """S136, P4, C5: which is not version -1, nor 0."""
    owner = build()

    assert owner.get_commits(registered(owner)) == GetCommitsResponse((), None)


def test_version_0_is_not_the_owners(build: Build) -> None:
    """S050"""
    owner = build()

    with pytest.raises(InvalidRequest, match="file system") as caught:
        propose(owner, registered(owner), 0, "zero")

    assert caught.value.retry is Retry.NEVER


@pytest.mark.parametrize(("current", "first"), [(None, 1), (0, 2), (7, 9)])
def test_the_first_version_comes_after_the_one_that_names_the_owner(
    build: Build, current: int | None, first: int
) -> None:
    """S060, K11"""
    owner = build()
    table = registered(owner, current=current)
    wrong = {first - 1, first + 1} - {0}

    for version in sorted(wrong):
        with pytest.raises(InvalidRequest, match=f"next version is {first}") as caught:
            propose(owner, table, version, f"wrong-{version}")
        assert caught.value.retry is Retry.NEVER
    assert_ratified(owner, table, first)

    assert owner.get_commits(table).latest == first


def test_versions_are_ratified_in_order(build: Build) -> None:
    """S057"""
    owner = build()
    table = registered(owner)

    for version in range(1, 9):
        assert_ratified(owner, table, version)
        assert owner.get_commits(table).latest == version


def test_a_version_is_ratified_once(build: Build) -> None:
    """S058, K2: the loser is told who won."""
    owner = build()
    table = registered(owner)
    assert_ratified(owner, table, 1, 2, 3, 4, 5)

    for version in (4, 5):
        answer = propose(owner, table, version, "late")
        assert isinstance(answer, Lost)
        assert [winner.txn_id for winner in answer.winners] == [f"txn-{v}" for v in range(version, 6)]
    assert owner.get_commits(table).latest == 5


def test_a_gap_is_refused_for_good(build: Build) -> None:
    """S059"""
    owner = build()
    table = registered(owner)
    assert_ratified(owner, table, *range(1, 6))

    with pytest.raises(InvalidRequest, match="the next version is 6") as caught:
        propose(owner, table, 7, "early")

    assert caught.value.retry is Retry.NEVER
    assert owner.get_commits(table).latest == 5


@pytest.mark.parametrize("publish", [False, True])
def test_the_same_transaction_again_gets_the_same_answer(build: Build, publish: bool) -> None:
    """P13: also after its version is published and others came after it, and for another version."""
    owner = build()
    table = registered(owner)
    assert_ratified(owner, table, 1, 2, 3)
    if publish:
        owner.backfill_to(table, Version(3))

    for version in (2, 4):
        again = propose(owner, table, version, "txn-2")
        assert isinstance(again, RatifiedCommit)
        assert again.version == 2
        assert (again.where is None) is publish
    assert owner.get_commits(table).latest == 3


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (None, None, range(8, 16)), (9, None, range(9, 16)), (11, 14, range(11, 15)), (12, 12, [12]),
        (None, 14, range(8, 15)), (3, None, range(8, 16)), (None, 7, []), (16, None, []),
    ],
)  # fmt: skip
def test_commits_are_found_by_their_versions(
    build: Build, start: int | None, end: int | None, expected: list[int]
) -> None:
    """S061: versions up to 7 are published, so the log has them; the latest is always told."""
    owner = build()
    table = registered(owner)
    assert_ratified(owner, table, *range(1, 16))
    owner.backfill_to(table, Version(7))

    found = owner.get_commits(
        table,
        start=None if start is None else Version(start),
        end=None if end is None else Version(end),
    )

    assert held(found) == list(expected)
    assert found.latest == 15


def test_batches_of_two_are_published_together(build: Build) -> None:
    """S126"""
    owner = build(2)
    table = registered(owner)

    assert_ratified(owner, table, 1)
    assert published(table) == []
    second = propose(owner, table, 2, "txn-2")

    assert isinstance(second, RatifiedCommit)
    assert second.where is None
    assert published(table) == [1, 2]
    assert owner.get_commits(table) == GetCommitsResponse((), Version(2))


def test_batches_of_one_are_published_at_once(build: Build) -> None:
    """S126"""
    owner = build(1)
    table = registered(owner)

    for version in (1, 2, 3):
        found = propose(owner, table, version, f"txn-{version}")
        assert isinstance(found, RatifiedCommit)
        assert found.where is None
        assert published(table) == list(range(1, version + 1))


def test_publishing_copies_what_was_ratified_and_nothing_else(build: Build) -> None:
    """U2: a loser's file stays where it is, and what is there already stays as it is."""
    owner = build()
    table = registered(owner)
    assert_ratified(owner, table, 1, 2)
    propose(owner, table, 1, "loser")
    table.store.put_if_absent(file_names.published_path(Version(1)), content(1, "txn-1"))
    before = table.store.head(file_names.published_path(Version(1)))

    owner.backfill_to(table, Version(2))

    assert table.store.head(file_names.published_path(Version(1))) == before
    assert table.store.read(file_names.published_path(Version(2))) == content(2, "txn-2")


def test_publishing_beyond_the_latest_is_refused_and_repeating_it_is_not(build: Build) -> None:
    """S149, S078, K5"""
    owner = build()
    table = registered(owner)

    with pytest.raises(InvalidRequest, match="latest ratified version is None"):
        owner.backfill_to(table, Version(1))
    assert_ratified(owner, table, *range(1, 8))
    for version in (7, 7, 3):
        owner.backfill_to(table, Version(version))
    with pytest.raises(InvalidRequest, match="latest ratified version is 7"):
        owner.backfill_to(table, Version(9))

    assert published(table) == list(range(1, 8))


def test_the_latest_version_survives_publication_and_restart(build: Build) -> None:
    """S080"""
    owner = build()
    table = registered(owner)
    assert_ratified(owner, table, 1, 2)
    owner.backfill_to(table, Version(2))
    again = build() if "Database" in type(owner.ledger).__name__ else owner

    assert again.get_commits(table) == GetCommitsResponse((), Version(2))
    assert_ratified(again, table, 3)


def test_what_is_published_is_forgotten_but_for_a_window(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seed 004: at some point after backfill completes, the mapping for that commit is deleted."""
    monkeypatch.setattr(ledger, "REMEMBERED_COMMITS", 4)
    owner = build(1)
    table = registered(owner)
    assert_ratified(owner, table, *range(1, 9))

    kept = owner.ledger.commits(table.conf["tableId"], Version(0))
    again = propose(owner, table, 5, "txn-5")

    assert [commit.version for commit in kept] == [5, 6, 7, 8]
    assert isinstance(again, RatifiedCommit)
    assert isinstance(propose(owner, table, 4, "txn-4"), Lost)  # who asks finds it in the log
    assert owner.get_commits(table) == GetCommitsResponse((), Version(8))


def test_what_is_not_published_is_never_forgotten(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "REMEMBERED_COMMITS", 2)
    owner = build(1_000)
    table = registered(owner)
    assert_ratified(owner, table, *range(1, 9))

    owner.backfill_to(table, Version(3))

    assert held(owner.get_commits(table)) == [4, 5, 6, 7, 8]


def test_a_registration_that_came_to_nothing_is_forgotten(build: Build) -> None:
    """Seed 002: if somebody else gets there first, the owner forgets about the proposed change."""
    owner = build()
    for current in (4, 4, 5, 7):
        owner.register("/tables/t", Version(current), PLAIN)

    assert [record.first for record in owner.ledger.records("/tables/t")] == [9]


def test_a_table_that_was_taken_back_by_force_can_be_given_again(build: Build) -> None:
    """Versions beyond those it ratified, without its name, say that the table went past the owner."""
    owner = build()
    assert_ratified(owner, registered(owner), 1, 2)
    with pytest.raises(NotAllowed, match="registered already"):
        owner.register("/tables/t", Version(2), PLAIN)

    assert_ratified(owner, registered(owner, current=3), 5)


def test_another_place_or_an_unknown_table_is_refused(build: Build) -> None:
    """S150, W12"""
    owner = build()
    table = registered(owner)

    with pytest.raises(InvalidRequest, match="registered at"):
        propose(owner, replace(table, location="/tables/copy"), 1, "copied")
    with pytest.raises(InvalidRequest, match="no table"):
        propose(owner, replace(table, conf={}), 1, "unknown")
    for place in ("/tables/t/", "file:///tables/t"):  # the same, in other words
        assert owner.get_commits(replace(table, location=place)).latest is None


def test_a_record_of_a_later_release_is_left_alone(build: Build) -> None:
    """S150"""
    owner = build()
    table = registered(owner)
    known = owner.ledger.find(table.conf["tableId"])
    assert known is not None
    owner.ledger.open(replace(known.record, table_id="later", schema_version=2))

    with pytest.raises(InvalidRequest, match="schema version 2"):
        propose(owner, replace(table, conf={"tableId": "later"}), 1, "t")


def test_the_commit_that_releases_the_table_is_the_last(build: Build) -> None:
    """S150, S130: everything is published with it; who comes late learns who won."""
    owner = build()
    table = registered(owner)
    assert_ratified(owner, table, 1, 2)

    released = propose(owner, table, 3, "release", after=PLAIN)

    assert isinstance(released, RatifiedCommit)
    assert released.where is None
    assert published(table) == [1, 2, 3]
    assert isinstance(propose(owner, table, 3, "late"), Lost)
    with pytest.raises(NotAllowed, match="released") as caught:
        propose(owner, table, 4, "next")
    assert caught.value.retry is Retry.NEVER
    again = propose(owner, table, 3, "release", after=PLAIN)
    assert isinstance(again, RatifiedCommit)


def test_an_owned_table_is_not_registered_again(build: Build) -> None:
    """S151: unless nothing came of it, or it was released; an old copy of the log is noticed."""
    owner = build()
    owner.register("/tables/t", Version(4), PLAIN)
    with pytest.raises(InvalidRequest, match="later version"):
        owner.register("/tables/t", Version(3), PLAIN)
    table = registered(owner, current=4)
    assert_ratified(owner, table, 6)

    with pytest.raises(NotAllowed, match="registered already"):
        owner.register("/tables/t", Version(6), PLAIN)
    propose(owner, table, 7, "release", after=PLAIN)
    with pytest.raises(InvalidRequest, match="later version"):
        owner.register("/tables/t", Version(5), PLAIN)
    assert_ratified(owner, registered(owner, current=8), 10)


def test_a_registration_that_came_to_nothing_does_not_harm_the_one_that_counts(build: Build) -> None:
    """The promise of the first is in the table's log by now, though it has no commit yet."""
    owner = build()
    first = registered(owner, current=4)
    registered(owner, current=4)

    assert_ratified(owner, first, 6)


def test_a_new_table_at_an_old_place_is_another_table(build: Build) -> None:
    owner = build()
    assert_ratified(owner, registered(owner, current=4), 6)
    another = replace(PLAIN, metadata=msgspec.structs.replace(PLAIN.metadata, id="another"))

    assert owner.register("/tables/t", None, another)


def test_a_staged_file_of_another_version_is_refused(build: Build) -> None:
    """F3"""
    owner = build()
    table = registered(owner)
    found = propose(owner, table, 1, "t")
    assert isinstance(found, RatifiedCommit)

    assert isinstance(found.where, StagedCommit)
    stamp = found.in_commit_timestamp
    wrong = CoordinatedProposal(Version(2), TxnId("u"), stamp, found.where, before=OWNED, after=OWNED)

    with pytest.raises(InvalidRequest, match="not the name of a staged version"):
        owner.commit(table, wrong)


def test_owners_that_reach_the_same_place_are_equal(tmp_path: Path) -> None:
    """S139, P19"""
    same = owned.owner("database", tmp_path, batch=2)

    assert same == owned.owner("database", tmp_path, batch=3)
    assert same != owned.owner("database", tmp_path / "other")
    memory = owned.owner("memory", tmp_path)
    assert memory == replace(memory, batch=7)
    assert memory != owned.owner("memory", tmp_path)
