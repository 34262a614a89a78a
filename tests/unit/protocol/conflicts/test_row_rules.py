"""What a lost race asks before it looks at rows, and of whom: partitions, files that both touch, domains."""

from dataclasses import replace

import msgspec
import pytest

from headgate.errors import ConcurrentAppend, ConcurrentDeleteDelete, ConcurrentDeleteRead
from headgate.protocol.actions import AddFile, Commit, CommitInfo, RemoveFile, commit_from_actions
from headgate.protocol.conflicts import rebase
from headgate.protocol.log import deletion_vectors
from headgate.protocol.log.deletion_vectors import DeletedRows
from headgate.protocol.log.replay import State
from headgate.protocol.transaction.attempt import ROW_ID_BACKFILL, Attempt, ReadSet
from headgate.protocol.transaction.isolation import IsolationLevel
from tests.support.attempts import BASE, added, side, table

ENABLED = "set:delta.enableDeletionVectors=true"


def showing_again(path: str, state: State) -> Commit:
    """What a RESTORE commits: the file hides fewer rows than before."""
    return commit_from_actions(
        side("theirs", ["append"], state).attempt.target,
        [
            RemoveFile(
                path=path,
                data_change=True,
                deletion_vector=deletion_vectors.encode_inline(DeletedRows.from_rows([2, 3])),
            ),
            msgspec.structs.replace(
                added(path, {}), deletion_vector=deletion_vectors.encode_inline(DeletedRows.from_rows([2]))
            ),
        ],
    )


def in_partition(attempt: Attempt, value: str) -> Attempt:
    """The same change of files of a partition."""
    moved = tuple(
        msgspec.structs.replace(action, partition_values={"p": value})
        if isinstance(action, AddFile)
        else action
        for action in attempt.actions
    )
    return replace(attempt, actions=moved)


def test_rows_that_come_back_in_a_file_we_do_not_touch_are_rows_we_would_have_read() -> None:
    state = table([ENABLED])
    ours = side("ours", ["reads:id = 1", "hides:a=1"], state).attempt

    with pytest.raises(ConcurrentAppend):
        rebase.rebase(ours, [showing_again("b", state)])


def test_of_a_file_that_both_touch_the_later_rule_speaks() -> None:
    """It names the file that changed, and does not say that one was added."""
    state = table([ENABLED])
    ours = side("ours", ["reads:id = 1", "hides:a=1"], state).attempt

    with pytest.raises(ConcurrentDeleteRead):
        rebase.rebase(ours, [showing_again("a", state)])


@pytest.mark.parametrize(
    ("finds", "value", "refused"),
    [([], "1", True), ([], "2", False), (["finds-none"], "1", False), (["finds-none"], "2", False)],
)
def test_rows_are_searched_for_only_in_partitions_that_were_read(
    finds: list[str], value: str, refused: bool
) -> None:
    state = table(["partitioned:p", ENABLED])
    ours = in_partition(side("ours", ["reads:p = 1 AND id = 1", "hides:a=1", *finds], state).attempt, "1")
    winner = side("theirs", [f"append:p={value}"], state).as_winner()

    if refused:
        with pytest.raises(ConcurrentAppend):
            rebase.rebase(ours, [winner])
    else:
        assert rebase.rebase(ours, [winner]).target == BASE + 2


def test_who_looked_up_no_domain_is_not_concerned_by_any() -> None:
    state = table(["feature:domainMetadata"])
    ours = replace(side("ours", ["append"], state).attempt, reads=ReadSet(whole_table=True))

    moved = rebase.rebase(ours, [side("theirs", ["domain:a=1"], state).as_winner()])

    assert moved.target == BASE + 2


@pytest.mark.parametrize("words", [[], ["set:delta.isolationLevel=WriteSerializable"]])
def test_a_strict_attempt_is_serializable_whatever_the_table_says(words: list[str]) -> None:
    """Other tables may be written from what it read."""
    ours = side("ours", ["reads-all", "rearrange:a"], table(words)).attempt
    assert ours.isolation is not IsolationLevel.SERIALIZABLE

    assert replace(ours, is_strict=True).isolation is IsolationLevel.SERIALIZABLE


def vector_of(file: AddFile | RemoveFile) -> frozenset[int]:
    found = file.deletion_vector
    return frozenset() if found is None else frozenset(deletion_vectors.parse_inline(found).rows)


def test_only_the_file_that_both_changed_is_told_anew() -> None:
    """Whatever else the change does stays as it is."""
    state = table([ENABLED])
    ours = side("ours", ["hides:a=1", "hides:b=1", "append", "app:loader=1", "finds-none"], state).attempt
    winner = commit_from_actions(
        ours.target, side("theirs", ["hides:a=2", "finds-none"], state).attempt.actions
    )

    writes = rebase.rebase(ours, [winner]).writes

    assert {file.path: vector_of(file) for file in writes.removes} == {"a": {2}, "b": set()}
    added_files = {file.path: vector_of(file) for file in writes.adds}
    assert (added_files.pop("a"), added_files.pop("b")) == ({1, 2}, {1})
    assert list(added_files.values()) == [frozenset()]
    assert [txn.app_id for txn in writes.txns] == ["loader"]


def test_united_vectors_change_data_whatever_the_winner_says_of_its_own() -> None:
    state = table([ENABLED])
    ours = side("ours", ["hides:a=1", "finds-none"], state).attempt
    quiet = tuple(
        msgspec.structs.replace(action, data_change=False)
        if isinstance(action, AddFile | RemoveFile)
        else action
        for action in side("theirs", ["hides:a=2", "finds-none"], state).attempt.actions
    )

    (add,) = rebase.rebase(ours, [commit_from_actions(ours.target, quiet)]).writes.adds

    assert (vector_of(add), add.data_change) == ({1, 2}, True)


def test_a_domain_that_was_looked_up_and_written_is_its_handlers_matter() -> None:
    state = table(["feature:domainMetadata"])
    ours = side(
        "ours", ["reads-domains", "domain:n=1"], state, handlers={"n": lambda _before, _theirs, mine: mine}
    ).attempt

    moved = rebase.rebase(ours, [side("theirs", ["domain:n=2"], state).as_winner()])

    assert [(found.domain, found.configuration) for found in moved.writes.domains] == [("n", "1")]


OURS, THEIRS = "a%26b/c", "a&b/c"
"""One file, as two clients spell its path."""


def test_a_row_that_both_hid_is_one_however_the_file_is_spelled() -> None:
    state = table([ENABLED])
    ours = side("ours", [f"hides:{OURS}=1", "finds-none"], state).attempt

    with pytest.raises(ConcurrentDeleteDelete, match="changed or deleted by both"):
        rebase.rebase(ours, [side("theirs", [f"hides:{THEIRS}=1"], state).as_winner()])


@pytest.mark.parametrize(("one", "other"), [(OURS, THEIRS), (THEIRS, OURS)])
def test_rows_that_both_hid_are_united_however_the_file_is_spelled(one: str, other: str) -> None:
    state = table([ENABLED])
    ours = side("ours", [f"hides:{one}=1", "finds-none"], state).attempt
    winner = commit_from_actions(ours.target, side("theirs", [f"hides:{other}=2"], state).attempt.actions)

    writes = rebase.rebase(ours, [winner]).writes

    assert [(file.path, vector_of(file)) for file in writes.removes] == [(one, {2})]
    assert [(file.path, vector_of(file)) for file in writes.adds] == [(one, {1, 2})]


def test_ids_that_a_winner_gave_are_taken_over_however_the_file_is_spelled() -> None:
    state = table(["tracked"])
    ours = side("ours", [f"delete:{OURS}"], state).attempt
    given = msgspec.structs.replace(added(THEIRS, {}), base_row_id=40, default_row_commit_version=8)
    info = CommitInfo(operation=ROW_ID_BACKFILL)

    writes = rebase.rebase(ours, [commit_from_actions(ours.target, [info, given])]).writes

    assert [remove.base_row_id for remove in writes.removes] == [40]
