"""Live files as columns."""

from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.protocol.actions import Commit, DeletionVector
from headgate.table.read.live_files import LiveFiles
from tests.support.commits import add, commit, remove

NAMES = st.sampled_from("abcdefgh")


def paths(files: LiveFiles) -> list[str]:
    return files.columns["path"].to_pylist()


def test_a_removed_file_is_gone_and_an_added_one_is_there() -> None:
    files = LiveFiles().after(commit(0, add("a"), add("b"))).after(commit(1, remove("a"), add("c")))

    assert paths(files) == ["b", "c"]


def test_an_older_state_is_untouched_by_later_commits() -> None:
    older = LiveFiles().after(commit(0, add("a")))
    newer = older.after(commit(1, remove("a")))

    assert paths(newer) == []
    assert paths(older) == ["a"]


def test_a_file_added_again_is_one_file_with_its_newest_facts() -> None:
    files = (
        LiveFiles()
        .after(commit(0, add("a", '{"numRecords":1}')))
        .after(commit(1, add("a", '{"numRecords":2}')))
    )

    assert files.columns["stats"].to_pylist() == ['{"numRecords":2}']


def test_a_file_with_another_deletion_vector_is_another_file() -> None:
    vector = DeletionVector(storage_type="u", path_or_inline_dv="x", offset=1, size_in_bytes=3, cardinality=2)
    with_vector = add("a").__class__(
        path="a", partition_values={}, size=1, modification_time=add("a").modification_time,
        data_change=True, deletion_vector=vector,
    )  # fmt: skip
    files = LiveFiles().after(commit(0, add("a"))).after(commit(1, with_vector))
    assert files.columns.num_rows == 2

    assert paths(files.after(commit(2, remove("a")))) == ["a"]


@settings(deadline=None)
@given(st.lists(st.tuples(st.sets(NAMES), st.sets(NAMES)), max_size=12), st.sets(st.integers(0, 12)))
def test_replay_equals_the_obvious_model_wherever_it_is_looked_at(
    history: list[tuple[set[str], set[str]]], looked_at: set[int]
) -> None:
    files, model = LiveFiles(), set[str]()
    for version, (removed, added) in enumerate(history):
        step: Commit = commit(
            version, *map(remove, sorted(removed - added)), *(add(name) for name in sorted(added))
        )
        files, model = files.after(step), (model - removed) | added
        if version in looked_at:
            assert set(paths(files)) == model

    assert set(paths(files)) == model
    assert files.columns.num_rows == len(model)


def test_a_long_chain_of_commits_is_replayed_without_recursion() -> None:
    files = LiveFiles()
    for version in range(5_000):
        files = files.after(commit(version, add(f"{version}")))

    assert files.columns.num_rows == 5_000
