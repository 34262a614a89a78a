"""Row ids on the first attempt and after lost races."""

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import pytest

from headgate.errors import CorruptLog, InvalidRequest
from headgate.protocol import property_values
from headgate.protocol.actions import AddFile, Commit, DomainMetadata, RemoveFile, Version
from headgate.protocol.conflicts import rebase
from headgate.protocol.features import row_tracking
from headgate.protocol.log import replay
from headgate.protocol.log.replay import State
from headgate.protocol.transaction.attempt import ROW_ID_BACKFILL, ROW_ID_UNBACKFILL, Attempt
from tests.support.attempts import BASE, added, side, table, with_vector
from tests.support.tables import named_file

MARK = "delta.rowTracking"


def prepared(words: Sequence[str], state: State) -> Attempt:
    return rebase.prepare(side("ours", words, state).attempt)


def of_actions(state: State, *actions: AddFile, operation: str = "WRITE") -> Attempt:
    blank = side("ours", [f"operation:{operation}"], state).attempt
    return rebase.prepare(blank.with_actions(actions))


def winner(state: State, words: Sequence[str]) -> Commit:
    theirs = side("theirs", words, state)
    return replace(theirs, attempt=rebase.prepare(theirs.attempt)).as_winner()


def ids(attempt: Attempt) -> list[tuple[int | None, int | None]]:
    return [(add.base_row_id, add.default_row_commit_version) for add in attempt.writes.adds]


def mark(attempt: Attempt) -> int | None:
    found = [action for action in attempt.writes.domains if action.domain == MARK]
    return msgspec.json.decode(found[0].configuration)["rowIdHighWaterMark"] if found else None


def test_an_append_gives_ids_and_remembers_the_highest() -> None:
    ours = prepared(["append", "append"], table(["tracked"]))

    assert ids(ours) == [(0, BASE + 1), (10, BASE + 1)]
    assert mark(ours) == 19


def test_a_table_without_the_feature_gets_none() -> None:
    ours = prepared(["append"], table())

    assert ids(ours) == [(None, None)]
    assert ours.writes.domains == ()


@pytest.mark.parametrize("count", [1, 2, 3])
def test_concurrent_appends_have_disjoint_ids(count: int) -> None:
    """S263"""
    start = state = table(["tracked"])
    ours, lost = prepared(["append"], state), []
    for _ in range(count):
        lost.append(winner(state, ["append"]))
        state = replay.advance(state, lost[-1])

    moved = rebase.rebase(ours, lost)

    assert [commit.adds[0].base_row_id for commit in lost] == list(range(0, 10 * count, 10))
    assert ids(moved) == [(10 * count, BASE + 1 + count)]
    assert mark(moved) == 10 * count + 9
    assert row_tracking.high_water_mark(start) == row_tracking.NO_HIGH_WATER_MARK


@pytest.mark.parametrize("sides", [[["append"]], [["append"], ["append"]], [["delete:x"], ["append"]]])
def test_a_file_that_is_added_again_keeps_its_ids(sides: list[list[str]]) -> None:
    """S264"""
    state = replay.advance(table(["tracked"]), winner(table(["tracked"]), ["append"]))
    old = msgspec.structs.replace(added("old", {}), base_row_id=0, default_row_commit_version=3)
    ours, lost = of_actions(state, old, added("new", {})), []
    assert ids(ours) == [(0, 3), (10, BASE + 2)]
    now = state
    for words in sides:
        lost.append(winner(now, words))
        now = replay.advance(now, lost[-1])

    moved = rebase.rebase(ours, lost)

    grown = 10 * sum("append" in words for words in sides)
    assert ids(moved) == [(0, 3), (10 + grown, BASE + 2 + len(sides))]


def test_a_feature_that_comes_meanwhile_gives_ids_from_zero() -> None:
    """S265"""
    state = table()
    ours = prepared(["append"], state)

    moved = rebase.rebase(ours, [winner(state, ["feature:+rowTracking", "feature:+domainMetadata"])])

    assert ids(moved) == [(0, BASE + 2)]
    assert mark(moved) == 9


def test_a_feature_that_comes_with_files_gives_ids_after_theirs() -> None:
    """S265, S266"""
    state = table()
    ours = prepared(["append"], state)

    moved = rebase.rebase(
        ours, [winner(state, ["feature:+rowTracking", "feature:+domainMetadata", "append"])]
    )

    assert ids(moved) == [(10, BASE + 2)]
    assert mark(moved) == 19


def test_a_winner_without_files_leaves_the_ids_as_they_are() -> None:
    """S267"""
    state = table(["tracked"])
    ours = prepared(["append"], state)

    moved = rebase.rebase(ours, [winner(state, ["delete:x"])])

    assert ids(moved) == [(0, BASE + 2)]
    assert mark(moved) == 9


def test_a_commit_that_gives_no_ids_writes_no_mark() -> None:
    """P27"""
    state = table(["tracked"])
    ours = prepared(["delete:x"], state)

    assert rebase.rebase(ours, [winner(state, ["delete:y"])]).writes.domains == ()


def test_a_file_that_does_not_say_how_many_rows_it_has_is_refused() -> None:
    """S270"""
    with pytest.raises(InvalidRequest, match="numRecords") as caught:
        of_actions(table(["tracked"]), added("a", {}, records=None))

    assert caught.value.code == "DELTA_ROW_ID_ASSIGNMENT_WITHOUT_STATS"


def test_nobody_else_writes_the_mark() -> None:
    with pytest.raises(InvalidRequest, match=MARK) as caught:
        prepared(['domain:delta.rowTracking={"rowIdHighWaterMark":9}'], table(["tracked"]))

    assert caught.value.code == "DELTA_DOMAIN_METADATA_NOT_SUPPORTED"


def test_the_mark_can_be_removed_with_the_feature() -> None:
    ours = prepared([f"undomain:{MARK}"], table(["tracked"]))

    assert [(found.domain, found.removed) for found in ours.writes.domains] == [(MARK, True)]


def test_other_domains_are_written_beside_the_mark() -> None:
    ours = prepared(["append", "domain:acme=1"], table(["tracked"]))

    assert {found.domain for found in ours.writes.domains} == {MARK, "acme"}


def marked(configuration: str = '{"rowIdHighWaterMark":19}') -> State:
    """A table that has given ids already."""
    state = table(["tracked"])
    return replace(
        state, domains={MARK: DomainMetadata(domain=MARK, configuration=configuration, removed=False)}
    )


def test_a_mark_nobody_can_read_stops_every_writer() -> None:
    with pytest.raises(CorruptLog, match=MARK) as caught:
        prepared(["append"], marked("nineteen"))

    assert caught.value.code == "DELTA_STATE_RECOVER_ERROR"


@pytest.mark.parametrize(
    ("first", "committed", "expected"),
    [
        (None, None, (20, BASE + 1)),
        (None, 3, (20, 3)),
        (0, None, (0, BASE + 1)),
        (0, 3, (0, 3)),
        (19, 3, (19, 3)),
        (20, None, (20, BASE + 1)),
        (40, 3, (20, 3)),
    ],
    ids=["new", "dated", "numbered", "old", "the-last", "not-yet-given", "far-beyond"],
)
def test_what_a_file_brings_along_is_kept_where_it_was_given(
    first: int | None, committed: int | None, expected: tuple[int, int]
) -> None:
    add = msgspec.structs.replace(added("a", {}), base_row_id=first, default_row_commit_version=committed)

    assert ids(of_actions(marked(), add)) == [expected]


def test_a_version_that_was_lost_is_no_row_commit_version() -> None:
    state = marked()
    old = msgspec.structs.replace(added("a", {}), base_row_id=0)

    moved = rebase.rebase(of_actions(state, old), [winner(state, ["delete:x"])])

    assert ids(moved) == [(0, BASE + 2)]


def test_ids_that_the_winner_gave_to_the_same_file_are_kept_if_they_are_the_same() -> None:
    ours = side("ours", ["operation:WRITE"], marked()).attempt
    mine = msgspec.structs.replace(added("a", {}), base_row_id=30, default_row_commit_version=3)

    for theirs, expected in ((30, 30), (40, 20), (None, 20)):
        known = {"a": msgspec.structs.replace(added("a", {}), base_row_id=theirs)}
        given = row_tracking.assign_row_ids(
            ours.with_actions((mine,)), ours.follows, read_mark=19, lost=None, theirs=known
        )
        assert isinstance(given[0], AddFile)
        assert given[0].base_row_id == expected


def test_while_suspended_files_have_no_ids() -> None:
    state = table(["tracked", f"set:{property_values.ROW_TRACKING_SUSPENDED}=true"])
    old = msgspec.structs.replace(added("old", {}), base_row_id=0, default_row_commit_version=3)

    assert ids(of_actions(state, old, added("new", {}))) == [(None, None), (None, None)]
    with pytest.raises(InvalidRequest, match="contradict") as caught:
        prepared(["append", "set:delta.enableRowTracking=true"], state)
    assert caught.value.code == "DELTA_ROW_TRACKING_ILLEGAL_PROPERTY_COMBINATION"


def test_while_suspended_only_added_files_lose_their_ids() -> None:
    state = table(["tracked", f"set:{property_values.ROW_TRACKING_SUSPENDED}=true"])
    remove = RemoveFile(path="old", data_change=True, base_row_id=5)
    ours = side("ours", ["app:etl=1"], state).attempt
    actions = (*ours.actions, remove)

    assert rebase.prepare(ours.with_actions(actions)).actions == actions


def test_a_write_says_that_it_kept_no_ids_if_tracking_was_enabled_meanwhile() -> None:
    """S272"""
    state = table(["tracked"])

    moved = rebase.rebase(prepared(["append"], state), [winner(state, ["set:delta.enableRowTracking=true"])])

    assert moved.tags == {"delta.rowTracking.preserved": "false"}


# --- giving ids to files that are there


def test_a_backfill_that_loses_to_a_delete_does_not_bring_the_file_back() -> None:
    """S271"""
    state = table(["tracked"])
    ours = prepared([f"operation:{ROW_ID_BACKFILL}", "reads-file:a", "again:a", "again:b"], state)
    assert ids(ours) == [(0, BASE + 1), (10, BASE + 1)]

    moved = rebase.rebase(ours, [winner(state, ["reads-file:a", "delete:a"])])

    assert [add.path for add in moved.writes.adds] == ["b"]
    assert ids(moved) == [(0, BASE + 2)]


def test_a_backfill_that_loses_to_a_deletion_vector_leaves_the_file_to_it() -> None:
    """S271"""
    state = table(["tracked", "set:delta.enableDeletionVectors=true"])
    ours = prepared([f"operation:{ROW_ID_BACKFILL}", "reads-file:a", "again:a"], state)

    moved = rebase.rebase(ours, [winner(state, ["vector:a"])])

    assert moved.writes.adds == ()


def test_a_delete_that_loses_to_a_backfill_removes_the_file_with_its_new_ids() -> None:
    """S271"""
    state = table(["tracked"])
    given = winner(state, [f"operation:{ROW_ID_BACKFILL}", "again:a"])

    moved = rebase.rebase(prepared(["reads-file:a", "delete:a"], state), [given])

    (remove,) = moved.writes.removes
    assert (remove.base_row_id, remove.default_row_commit_version) == (0, BASE + 1)


@pytest.mark.parametrize("later", [0, 1])
def test_a_deletion_vector_that_loses_to_a_backfill_keeps_the_ids_it_gave(later: int) -> None:
    """S271: and keeps them behind one more winner."""
    state = table(["tracked", "set:delta.enableDeletionVectors=true"])
    given = winner(state, [f"operation:{ROW_ID_BACKFILL}", "again:a"])
    ours = prepared(["vector:a"], state)
    more = [winner(replay.advance(state, given), ["delete:x"])] * later

    moved = rebase.rebase(ours, [given, *more])

    (add,), (remove,) = moved.writes.adds, moved.writes.removes
    assert (add.base_row_id, add.default_row_commit_version) == (0, BASE + 1)
    assert (remove.base_row_id, remove.default_row_commit_version) == (0, BASE + 1)
    assert add.deletion_vector == with_vector(add, "ours").deletion_vector


def test_taking_ids_away_includes_the_files_of_winners() -> None:
    state = table(["tracked", f"set:{property_values.ROW_TRACKING_SUSPENDED}=true"])
    numbered = msgspec.structs.replace(
        added("late", {}), base_row_id=5, default_row_commit_version=Version(8)
    )
    theirs = side("theirs", [], state)
    late = replace(theirs, attempt=theirs.attempt.with_actions((numbered,))).as_winner()
    ours = prepared([f"operation:{ROW_ID_UNBACKFILL}", "again:a"], state)

    moved = rebase.rebase(ours, [late])

    assert [(add.path, add.base_row_id, add.data_change) for add in moved.writes.adds] == [
        ("a", None, False), ("late", None, False),
    ]  # fmt: skip


def test_only_the_files_of_a_backfill_get_its_ids() -> None:
    state = table(["tracked"])
    given = winner(state, [f"operation:{ROW_ID_BACKFILL}", "again:a"])
    again = winner(state, ["operation:REORG", "again:a"])
    ours = prepared(["app:etl=1", "delete:a", "delete:b"], state)

    after_backfill = rebase.rebase(ours, [given]).writes
    after_other = rebase.rebase(prepared(["rearrange:a"], state), [again]).writes

    assert [(remove.path, remove.base_row_id) for remove in after_backfill.removes] == [("a", 0), ("b", None)]
    assert [remove.base_row_id for remove in after_other.removes] == [None]
    assert [txn.app_id for txn in after_backfill.txns] == ["etl"]


@pytest.mark.parametrize("committed", [None, BASE + 1], ids=["not-dated", "dated-by-the-lost-attempt"])
def test_a_file_that_a_winner_added_without_ids_is_dated_by_us(committed: Version | None) -> None:
    state = marked()
    old = msgspec.structs.replace(added("a", {}), base_row_id=0, default_row_commit_version=committed)
    ours = side("ours", ["operation:WRITE"], state).attempt.with_actions((old,))

    moved = rebase.rebase(ours, [side("theirs", ["again:a"], state).as_winner()])

    assert ids(moved) == [(0, BASE + 2)]


def _file(first: int | None, rows: int | None) -> AddFile:
    stats = None if rows is None else f'{{"numRecords":{rows}}}'
    return msgspec.structs.replace(named_file("x"), base_row_id=first, stats=stats)


@pytest.mark.parametrize(
    ("files", "highest"),
    [
        ([], -1),
        ([(None, 7)], -1),
        ([(0, 0)], -1),
        ([(0, 5)], 4),
        ([(5, 0)], 4),
        ([(7, None)], 7),
        ([(10, 3), (2, 2), (None, 90)], 12),
    ],
)
def test_the_highest_row_id_is_that_of_the_last_row(
    files: list[tuple[int | None, int | None]], highest: int
) -> None:
    assert row_tracking.highest_row_id(_file(*file) for file in files) == highest


def test_row_ids_are_suspended_where_the_table_says_so() -> None:
    metadata = table().metadata

    assert not row_tracking.is_suspended(metadata)
    assert row_tracking.is_suspended(
        msgspec.structs.replace(metadata, configuration={property_values.ROW_TRACKING_SUSPENDED: "true"})
    )
