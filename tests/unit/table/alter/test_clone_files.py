"""Which files a clone has: by which paths it names them, and which must be copied."""

from collections.abc import Iterator
from uuid import UUID

import msgspec
import pytest

from headgate.catalog.validation import path_containment
from headgate.protocol import file_key
from headgate.protocol.actions import AddFile, DeletionVector
from headgate.protocol.log import deletion_vectors
from headgate.protocol.log.deletion_vectors import DeletedRows, StoredVector
from headgate.table.alter import clone_files
from headgate.table.alter.clone_files import COPY_OF, CloneOrigin
from headgate.table.read import file_paths
from tests.support.tables import named_file

ORIGIN = CloneOrigin("source-id", "/source")
FILE_ID = UUID(int=7)


def ids() -> Iterator[UUID]:
    return (UUID(int=number) for number in range(100, 1_000))


def with_vector(add: AddFile, vector: DeletionVector) -> AddFile:
    return msgspec.structs.replace(add, deletion_vector=vector)


def stored(*, offset: int = 1) -> DeletionVector:
    found = deletion_vectors.encode_file([DeletedRows.from_rows([1, 2])], FILE_ID)[1][0]
    return msgspec.structs.replace(found, offset=offset)


@pytest.mark.parametrize(
    ("source", "path", "target", "expected"),
    [
        ("/source", "x/a.parquet", "/target", "file:/source/x/a.parquet"),
        ("/so urce%20ü", "a.parquet", "/target", "file:/so%20urce%2520ü/a.parquet"),
        ("/source", "p=a%2520b/x.parquet", "/target", "file:/source/p=a%2520b/x.parquet"),
        ("/source", "p=bare space/x", "/target", "file:/source/p=bare%20space/x"),
        ("/source", "file:/other/a%20b.parquet", "/target", "file:/other/a%20b.parquet"),
        ("/source", "/other/a%20b.parquet", "/target", "file:/other/a%20b.parquet"),
        ("/source", "file:///target/p=1/a%20b", "/target", "p=1/a%20b"),
        ("/source", "file:///targets/a", "/target", "file:/targets/a"),
        ("/t", "a", "/t/inside", "file:/t/a"),
        ("/a&(b)", "p=%26%3A%3F%E2%80%83/x", "/target", "file:/a&(b)/p=&:%3F%E2%80%83/x"),
        ("s3://bucket/source/", "p=a%20b/x", "/target", "s3://bucket/source/p=a%20b/x"),
        ("s3://bucket/sour%20ce", "x", "s3://bucket/target", "s3://bucket/sour%20ce/x"),
        ("s3://bucket/source", "s3a://bucket/target/x", "s3://bucket/target", "x"),
        ("s3://bucket/source", "s3a://other/x", "s3://bucket/target", "s3a://other/x"),
    ],
)
def test_a_file_is_named_by_where_it_is(source: str, path: str, target: str, expected: str) -> None:
    (add,) = clone_files.plan_shallow([named_file(path)], source, target).adds

    assert add.path == expected
    found = file_paths.locate_object(None, target, add.path)  # type: ignore[arg-type]  # only asked where it is
    original = file_paths.locate_object(None, source, path)  # type: ignore[arg-type]
    assert found[1].rpartition("/")[2] == original[1].rpartition("/")[2]


def test_a_shallow_clone_names_the_files_of_vectors_too() -> None:
    inline = deletion_vectors.encode_inline(DeletedRows.from_rows([3]))
    absolute = deletion_vectors.with_absolute_path(stored(), "file:///else/where.bin")
    adds = [
        with_vector(named_file(name), vector)
        for name, vector in zip("abc", (stored(), inline, absolute), strict=True)
    ]

    found = clone_files.plan_shallow(adds, "/sou rce", "/target").adds

    first = found[0].deletion_vector
    assert first is not None
    assert (first.storage_type, first.offset) == ("p", 1)
    assert first.path_or_inline_dv == f"file:/sou%20rce/deletion_vector_{FILE_ID}.bin"
    assert [add.deletion_vector for add in found[1:]] == [
        inline,
        deletion_vectors.with_absolute_path(absolute, "file:/else/where.bin"),
    ]
    assert all('"tightBounds":false' in (add.stats or "") for add in found)


def test_what_is_only_true_of_the_source_is_left_out() -> None:
    tags = {COPY_OF: "{}", "other": "kept"}
    add = msgspec.structs.replace(
        named_file("a"), tags=tags, base_row_id=4, default_row_commit_version=2, data_change=False
    )

    (found,) = clone_files.plan_shallow([add], "/source", "/target").adds

    assert (found.base_row_id, found.default_row_commit_version, found.data_change) == (None, None, True)
    assert found.tags == {"other": "kept"}


def test_copies_keep_their_names_and_partitions_and_never_meet() -> None:
    named = ("p=1/x.parquet", "old/p=1/x.parquet", "file:///e=f/else/p=1/q=2/y%20.parquet", "x.parquet")
    wanted = clone_files.plan_deep(map(named_file, named), ORIGIN, (), ids())

    folder = UUID(int=100)
    assert [each.to for each in wanted.copies] == [
        f"{folder}/p=1/x.parquet",
        f"{folder}/2/p=1/x.parquet",
        f"{folder}/p=1/q=2/y .parquet",
        f"{folder}/x.parquet",
    ]
    assert [each.path for each in wanted.copies] == list(named)
    assert [add.path for add in wanted.adds][2] == f"{folder}/p=1/q=2/y%20.parquet"


def test_a_file_of_vectors_is_copied_once_for_all_that_are_in_it() -> None:
    adds = [with_vector(named_file("a"), stored()), with_vector(named_file("b"), stored(offset=50))]

    wanted = clone_files.plan_deep(adds, ORIGIN, (), ids())

    (copied,) = [each for each in wanted.copies if each.size is None]
    assert copied.path == f"deletion_vector_{FILE_ID}.bin"
    for add, offset in zip(wanted.adds, (1, 50), strict=True):
        assert add.deletion_vector is not None
        assert deletion_vectors.vector_location(add.deletion_vector) == StoredVector(
            copied.to, offset, absolute=False
        )


def test_what_was_copied_before_is_not_copied_again() -> None:
    adds = [named_file("a"), with_vector(named_file("b"), stored())]
    first = clone_files.plan_deep(adds, ORIGIN, (), ids())

    again = clone_files.plan_deep([*adds, named_file("c")], ORIGIN, first.adds, ids())

    assert [each.path for each in again.copies] == ["c"]
    assert again.adds[:2] == first.adds
    assert clone_files.file_difference(again.adds, first.adds, tracks_rows=False).adds == again.adds[2:]


@pytest.mark.parametrize(
    "changed",
    [
        {"size": 2},
        {"path": "rewritten.parquet"},
        {"path": "file:///source/a"},
        {"tags": None},
        {"tags": {COPY_OF: "no json"}},
    ],
    ids=str,
)
def test_a_file_that_is_no_copy_any_more_is_copied(changed: dict[str, object]) -> None:
    (copy,) = clone_files.plan_deep([named_file("a")], ORIGIN, (), ids()).adds
    present = [msgspec.structs.replace(copy, **changed)]

    wanted = clone_files.plan_deep([named_file("a")], ORIGIN, present, ids())

    assert [each.path for each in wanted.copies] == ["a"]


def test_files_of_another_table_or_another_time_are_others() -> None:
    first = clone_files.plan_deep([named_file("a")], ORIGIN, (), ids()).adds
    later = msgspec.structs.replace(named_file("a"), modification_time=99)

    assert clone_files.plan_deep([named_file("a")], CloneOrigin("other", "/source"), first, ids()).copies
    assert clone_files.plan_deep([later], ORIGIN, first, ids()).copies


def test_a_vector_that_the_clone_changed_is_that_of_the_source_again() -> None:
    adds = [with_vector(named_file("a"), stored())]
    first = clone_files.plan_deep(adds, ORIGIN, (), ids())
    deleted = with_vector(first.adds[0], deletion_vectors.encode_inline(DeletedRows.from_rows([1, 2, 9])))

    again = clone_files.plan_deep(adds, ORIGIN, [deleted], ids())
    change = clone_files.file_difference(again.adds, [deleted], tracks_rows=False)

    assert [each.path for each in again.copies] == [f"deletion_vector_{FILE_ID}.bin"]
    assert [add.path for add in change.adds] == [first.adds[0].path]
    assert change.removed_keys == {file_key.file_key(deleted)}


def test_files_that_stay_keep_the_ids_of_their_rows() -> None:
    with_ids = msgspec.structs.replace(named_file("a"), base_row_id=4, default_row_commit_version=2)
    hidden = with_vector(named_file("a"), deletion_vectors.encode_inline(DeletedRows.from_rows([0])))

    assert clone_files.file_difference([named_file("a")], [with_ids], tracks_rows=True).adds == ()
    (added,) = clone_files.file_difference([hidden], [with_ids], tracks_rows=True).adds
    assert (added.base_row_id, added.default_row_commit_version) == (4, 2)
    unnumbered = clone_files.file_difference([named_file("a")], [named_file("a")], tracks_rows=True)
    assert (len(unnumbered.adds), unnumbered.removed_keys) == (1, frozenset())


def test_folders_of_files_from_elsewhere() -> None:
    paths = ("file:///x%20y/p=1/q=2/a", "/x%20y/b", "file:/z%2520/c", "s3://b/t%20u/p=%2F/c")

    assert set(clone_files.absolute_folders(paths)) == {"/x y", "/z%20", "s3://b/t%20u"}
    assert all(
        path_containment.is_below_source(path, list(clone_files.absolute_folders([path]))) for path in paths
    )
