"""The files of a race: which of them are the same, however each side spells their paths."""

import pytest

from headgate.errors import ConcurrentDeleteRead
from headgate.protocol.actions import Commit
from headgate.protocol.conflicts import race, rebase
from headgate.protocol.conflicts.race import Race
from tests.support.attempts import BASE, side, table

OURS, THEIRS = "a%26b/c", "a&b/c"
"""One file, as two clients spell its path."""
VECTORS = table(["set:delta.enableDeletionVectors=true"])


def raced(words: list[str], winner: Commit) -> Race:
    ours = side("ours", words, VECTORS).attempt
    return race.race_against(ours, winner, race.changed_places(ours))


def lost_to(*words: str) -> Commit:
    return side("theirs", words, VECTORS).as_winner()


@pytest.mark.parametrize(
    "words",
    [
        [f"delete:{OURS}"],
        [f"again:{OURS}"],
        [f"hides:{OURS}=1"],
        [f"sees:{OURS}=1"],
    ],
    ids=["removed", "added", "rows hidden", "rows seen"],
)
def test_what_we_decide_about_has_our_path_in_the_race(words: list[str]) -> None:
    """Also where the winner touches other files, which keep theirs."""
    found = raced(words, lost_to(f"hides:{THEIRS}=2", "delete:x%20y", "append"))

    assert [file.path for file in found.winner.removes] == [OURS, "x%20y"]
    assert [file.path for file in found.winner.adds] == [OURS, "theirs-2.parquet"]


def test_only_the_path_is_another() -> None:
    winner = lost_to(f"hides:{THEIRS}=2")

    found = raced([f"delete:{OURS}"], winner)

    assert [file.deletion_vector for file in found.winner.adds] == [
        file.deletion_vector for file in winner.adds
    ]
    assert (found.winner.version, found.winner.info) == (winner.version, winner.info)
    assert found.after.version == BASE + 1


@pytest.mark.parametrize("winner", [lost_to("delete:a", "append"), lost_to("append")])
def test_a_winner_that_spells_as_we_do_is_left_as_it_is(winner: Commit) -> None:
    assert raced(["delete:a"], winner).winner is winner


@pytest.mark.parametrize(("row", "refused"), [(1, True), (2, False)])
def test_a_row_that_was_seen_is_one_however_the_file_is_spelled(row: int, *, refused: bool) -> None:
    ours = side("ours", ["reads:id = 1", f"sees:{OURS}=1", "append", "finds-none"], VECTORS).attempt
    winner = lost_to("append", f"hides:{THEIRS}={row}")

    if not refused:
        assert rebase.rebase(ours, [winner]).target == BASE + 2
        return
    with pytest.raises(ConcurrentDeleteRead, match="a row of a%26b/c"):
        rebase.rebase(ours, [winner])
