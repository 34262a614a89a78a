"""Two commits about rows of one file: whose vectors are united, and what the file becomes."""

from dataclasses import replace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.errors import ConcurrentDeleteDelete, ConcurrentDeleteRead
from headgate.protocol.actions import AddFile, Commit, RemoveFile, commit_from_actions
from headgate.protocol.conflicts import rebase
from headgate.protocol.log import deletion_vectors
from headgate.protocol.log.deletion_vectors import DeletedRows
from headgate.protocol.log.replay import State
from headgate.protocol.transaction.attempt import Attempt
from tests.support.attempts import BASE, InlineRows, added, side, table

ENABLED = "set:delta.enableDeletionVectors=true"
ROWS = st.frozensets(st.integers(0, 9), min_size=1, max_size=5)


def hides(name: str, rows: frozenset[int] | set[int], state: State, path: str = "a") -> Attempt:
    return side(name, [f"hides:{path}={','.join(map(str, rows))}", "finds-none"], state).attempt


def commit(attempt: Attempt) -> Commit:
    return commit_from_actions(attempt.target, attempt.actions)


def hidden(file: AddFile | RemoveFile) -> frozenset[int]:
    vector = file.deletion_vector
    return frozenset() if vector is None else frozenset(deletion_vectors.parse_inline(vector).rows)


@given(ours=ROWS, theirs=ROWS)
def test_both_deletes_land_exactly_if_they_share_no_row(ours: frozenset[int], theirs: frozenset[int]) -> None:
    state = table([ENABLED])
    loser, winner = hides("ours", ours, state), commit(hides("theirs", theirs, state))

    if ours & theirs:
        with pytest.raises(ConcurrentDeleteDelete):
            rebase.rebase(loser, [winner])
        return
    writes = rebase.rebase(loser, [winner]).writes

    (remove,) = writes.removes
    assert hidden(remove) == theirs  # the file as the winner left it
    assert [hidden(add) for add in writes.adds] == ([ours | theirs] if len(ours | theirs) < 10 else [])


def test_a_file_of_which_the_two_leave_no_row_is_removed() -> None:
    state = table([ENABLED])
    loser = hides("ours", set(range(5)), state)
    winner = commit(hides("theirs", set(range(5, 10)), state))

    writes = rebase.rebase(loser, [winner]).writes

    assert writes.adds == ()
    assert [hidden(remove) for remove in writes.removes] == [frozenset(range(5, 10))]


class _Larger(InlineRows):
    """Files have a row more than their statistics say, or nobody knows how many."""

    def __init__(self, count: int | None) -> None:
        super().__init__(selects=False)
        self._count = count

    def counted(self, file: AddFile) -> int | None:
        return self._count


@pytest.mark.parametrize("count", [11, None])
def test_a_file_that_has_more_rows_than_its_statistics_say_is_kept(count: int | None) -> None:
    state = table([ENABLED])
    loser = hides("ours", set(range(5)), state)
    assert loser.rows is not None
    loser = replace(loser, rows=replace(loser.rows, access=_Larger(count)))
    winner = commit(hides("theirs", set(range(5, 10)), state))

    writes = rebase.rebase(loser, [winner]).writes

    assert [hidden(add) for add in writes.adds] == [frozenset(range(10))]


class _Unread(InlineRows):
    """No file can be opened."""

    def __init__(self) -> None:
        super().__init__(selects=False)

    def counted(self, file: AddFile) -> int | None:
        raise AssertionError(f"{file.path} is opened")


def test_a_file_that_keeps_rows_by_its_statistics_is_not_opened_to_count_them() -> None:
    state = table([ENABLED])
    loser = hides("ours", {1, 2}, state)
    assert loser.rows is not None
    loser = replace(loser, rows=replace(loser.rows, access=_Unread()))
    winner = commit(hides("theirs", {3}, state))

    writes = rebase.rebase(loser, [winner]).writes

    assert [hidden(add) for add in writes.adds] == [frozenset({1, 2, 3})]


def test_three_winners_are_united_one_after_the_other() -> None:
    """S256"""
    state = table([ENABLED])
    attempt, winners = hides("ours", {0}, state), []
    for number, rows in enumerate(({1}, {2, 3}, {4})):
        others = hides(f"theirs-{number}", rows, state)
        for winner in winners:
            others = rebase.rebase(others, [winner])
        winners.append(commit(others))

    done = rebase.rebase(attempt, winners)

    assert done.target == BASE + 4
    assert [hidden(add) for add in done.writes.adds] == [frozenset({0, 1, 2, 3, 4})]
    assert [hidden(remove) for remove in done.writes.removes] == [frozenset({1, 2, 3, 4})]


def test_the_second_winner_of_a_file_may_still_be_in_the_way() -> None:
    state = table([ENABLED])
    first = commit(hides("first", {1}, state))
    second = commit(rebase.rebase(hides("second", {2}, state), [first]))

    with pytest.raises(ConcurrentDeleteDelete, match="a row of a"):
        rebase.rebase(hides("ours", {2, 5}, state), [first, second])


def test_rows_that_come_back_are_rows_that_are_added() -> None:
    """A RESTORE gives a file an older vector: what it shows again we have never seen."""
    state = table([ENABLED])
    ours = hides("ours", {1}, state)
    restored = commit_from_actions(
        ours.target,
        [
            RemoveFile(
                path="a",
                data_change=True,
                deletion_vector=deletion_vectors.encode_inline(DeletedRows.from_rows([2, 3])),
            ),
            msgspec.structs.replace(
                added("a", {}), deletion_vector=deletion_vectors.encode_inline(DeletedRows.from_rows([2]))
            ),
        ],
    )

    with pytest.raises(ConcurrentDeleteRead):
        rebase.rebase(ours, [restored])


def test_what_the_winner_said_of_the_file_stays() -> None:
    """S264: its row ids and whatever it wrote beside its vector."""
    state = table([ENABLED, "tracked"])
    loser, winner = (
        replace(attempt, actions=tuple(map(_numbered, attempt.actions)))
        for attempt in (hides("ours", {1}, state), hides("theirs", {2}, state))
    )
    theirs = [
        msgspec.structs.replace(action, tags={"by": "them"}) if isinstance(action, AddFile) else action
        for action in winner.actions
    ]

    (add,) = rebase.rebase(loser, [commit_from_actions(winner.target, theirs)]).writes.adds

    assert (add.tags, add.base_row_id, add.default_row_commit_version) == ({"by": "them"}, 0, 3)


def _numbered(action: object) -> object:
    if isinstance(action, (AddFile, RemoveFile)):
        return msgspec.structs.replace(action, base_row_id=0, default_row_commit_version=3)
    return action


def test_a_change_that_cannot_say_its_rows_loses_the_whole_file() -> None:
    state = table([ENABLED])
    loser = replace(hides("ours", {1}, state), rows=None)

    with pytest.raises(Exception, match="CONCURRENT"):
        rebase.rebase(loser, [commit(hides("theirs", {2}, state))])


def test_a_file_that_we_only_looked_into_may_lose_any_row() -> None:
    state = table([ENABLED])
    loser = hides("ours", {1}, state, path="b")

    done = rebase.rebase(loser, [commit(hides("theirs", {1}, state, path="a"))])

    assert [add.path for add in done.writes.adds] == ["b"]
