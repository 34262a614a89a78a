"""Several changes of one table as one: what is left of them, and what cannot be one version."""

from collections.abc import Sequence

import msgspec
import pytest

from headgate.errors import UnsupportedFeature
from headgate.protocol.actions import (
    Action,
    AddCdcFile,
    AddFile,
    AppTransaction,
    DeletionVector,
    DomainMetadata,
    Metadata,
    Protocol,
    RemoveFile,
)
from headgate.protocol.log import replay
from headgate.protocol.predicates import tree
from headgate.protocol.transaction.attempt import ReadSet
from headgate.table.multi import combine
from headgate.table.read.live_files import LiveFiles
from headgate.table.read.snapshot import Snapshot
from headgate.table.transaction import Change, Operation, Transaction, begin
from tests.support import commits
from tests.support.world import StillWorld

FEATURES = ("domainMetadata", "deletionVectors", "changeDataFeed", "rowTracking", "inCommitTimestamp")
TRACKED = Protocol(
    min_reader_version=3,
    min_writer_version=7,
    reader_features=("deletionVectors",),
    writer_features=FEATURES,
)
PLAIN = msgspec.structs.replace(TRACKED, writer_features=tuple(set(FEATURES) - {"rowTracking"}))
_ON = {"delta_enableInCommitTimestamps": "true", "delta_enableDeletionVectors": "true"}
STATS = '{"numRecords":3,"tightBounds":false}'


def table(*live: Action, protocol: Protocol = PLAIN, **properties: str) -> Snapshot:
    """A table at version 4 with these files."""
    first = commits.commit(4, protocol, commits.metadata(**_ON, **properties), *live, timestamp=1)
    return Snapshot(replay.initial_state(first), LiveFiles().after(first))


def tracked(*live: Action) -> Snapshot:
    """The same, with ids for its rows."""
    return table(*live, protocol=TRACKED, delta_enableRowTracking="true")


def add(path: str, vector: str | None = None, **others: object) -> AddFile:
    dv = None if vector is None else DeletionVector(
        storage_type="u", path_or_inline_dv=vector, size_in_bytes=1, cardinality=1
    )  # fmt: skip
    return msgspec.structs.replace(commits.add(path, stats=STATS), deletion_vector=dv, **others)  # type: ignore[arg-type]


def gone(path: str, vector: str | None = None) -> RemoveFile:
    return msgspec.structs.replace(commits.remove(path), deletion_vector=add(path, vector).deletion_vector)


def quietly_gone(path: str, vector: str | None = None) -> RemoveFile:
    """As OPTIMIZE removes a file, whose rows are in another one."""
    return msgspec.structs.replace(gone(path, vector), data_change=False)


def collected(base: Snapshot, *changes: Change) -> list[Transaction]:
    """The changes, each decided from what the one before it left."""
    made: list[Transaction] = []
    for change in changes:
        made.append(begin(base.state, change, world=StillWorld()))
        base = base.after([made[-1].commit])
    return made


def of(*actions: Action, name: str = "WRITE", reads: ReadSet | None = None, **metrics: str) -> Change:
    return Change(Operation(name, metrics=metrics), actions, reads or ReadSet())


def combined(base: Snapshot, *changes: Change, reads: ReadSet | None = None) -> Change:
    return combine.combine_changes(base, collected(base, *changes), reads or ReadSet())


def named(actions: Sequence[Action]) -> set[str]:
    found = set()
    for action in actions:
        if isinstance(action, (AddFile, RemoveFile)):
            dv = action.deletion_vector
            sign = "+" if isinstance(action, AddFile) else "-"
            found.add(f"{sign}{action.path}" + (f"/{dv.path_or_inline_dv}" if dv else ""))
    return found


@pytest.mark.parametrize(
    ("live", "changes", "left"),
    [
        ((), [of(add("a")), of(gone("a"))], set()),
        ((), [of(add("a"), add("b")), of(gone("a"), add("c"))], {"+b", "+c"}),
        ((add("a"),), [of(gone("a"), add("a", "v1"))], {"-a", "+a/v1"}),
        ((add("a"),), [of(gone("a"), add("a", "v1")), of(gone("a", "v1"), add("a", "v2"))], {"-a", "+a/v2"}),
        ((add("a"),), [of(gone("a"), add("a", "v1")), of(gone("a", "v1"))], {"-a"}),
        ((add("a"),), [of(gone("a")), of(add("a"))], set()),
        ((add("a"),), [of(add("a", data_change=False)), of(gone("a"))], {"-a"}),
        ((), [of(add("a")), of(gone("a")), of(add("a"))], {"+a"}),
        ((add("a"),), [of(gone("a")), of(add("b")), of(gone("b"), add("c"))], {"-a", "+c"}),
    ],
)
def test_only_what_became_of_the_files_is_left(
    live: tuple[AddFile, ...], changes: list[Change], left: set[str]
) -> None:
    base = table(*live)

    one = combined(base, *changes)

    assert named(one.actions) == left
    together = base.after([txn.commit for txn in collected(base, *changes)])
    alone = base.after([begin(base.state, one, world=StillWorld()).commit])
    assert _rows(alone) == _rows(together)


def _rows(found: Snapshot) -> list[tuple[str, object]]:
    files = found.files.columns.select(["path", "deletion_vector"]).to_pylist()
    return sorted((row["path"], str(row["deletion_vector"])) for row in files)


def test_the_last_word_counts_of_everything_else() -> None:
    base = table()
    metadata = base.state.metadata
    once = msgspec.structs.replace(metadata, description="once")
    twice = msgspec.structs.replace(once, name="twice")

    x1, x2, y = (AppTransaction(app_id=app, version=at) for app, at in (("x", 1), ("x", 2), ("y", 1)))
    d1, d2 = (DomainMetadata(domain="d", configuration=each, removed=False) for each in "12")

    one = combined(base, of(once, x1, d1), of(twice, x2, y), of(d2))

    assert sorted(map(repr, one.actions)) == sorted(map(repr, (twice, x2, y, d2)))
    assert one.operation.name == "WRITE"


def test_what_was_read_is_united_with_what_was_scanned() -> None:
    one = combined(
        table(),
        of(add("a"), reads=ReadSet(files=frozenset({"x"}), app_ids=frozenset({"app"}))),
        of(add("b"), reads=ReadSet(predicates=(tree.Always(),))),
        reads=ReadSet(files=frozenset({"y"}), domains=True),
    )

    assert one.reads == ReadSet(
        predicates=(tree.Always(),),
        files=frozenset({"x", "y"}),
        app_ids=frozenset({"app"}),
        domains=True,
    )


def test_different_operations_are_told_by_their_names_and_counts_are_added() -> None:
    one = combined(table(), of(add("a"), numFiles="1"), of(add("b"), name="MERGE", numFiles="2"))

    assert one.operation.name == "TRANSACTION"
    assert one.operation.parameters == {"operations": '["WRITE","MERGE"]'}
    assert one.operation.metrics == {"numFiles": "3"}


def test_row_ids_are_given_as_if_there_had_been_one_change() -> None:
    base = table(protocol=TRACKED)

    one = combined(base, of(add("a")), of(add("b")), of(add("c")))

    assert all(action.base_row_id is None for action in one.actions if isinstance(action, AddFile))
    assert not [action for action in one.actions if isinstance(action, DomainMetadata)]
    final = begin(base.state, one, world=StillWorld()).commit
    assert [(each.base_row_id, each.default_row_commit_version) for each in final.adds] == [
        (0, 5), (3, 5), (6, 5),
    ]  # fmt: skip


def test_files_that_were_there_keep_their_row_ids() -> None:
    known = add("a", base_row_id=7, default_row_commit_version=2)
    mark = DomainMetadata(domain="delta.rowTracking", configuration='{"rowIdHighWaterMark":9}', removed=False)
    base = table(known, mark, protocol=TRACKED)
    hidden = msgspec.structs.replace(known, deletion_vector=add("a", "v1").deletion_vector)

    one = combined(base, of(gone("a"), hidden), of(add("b")))

    final = begin(base.state, one, world=StillWorld()).commit
    assert {each.path: (each.base_row_id, each.default_row_commit_version) for each in final.adds} == {
        "a": (7, 2), "b": (10, 5),
    }  # fmt: skip


CDC = AddCdcFile(path="c", partition_values={}, size=1)


@pytest.mark.parametrize(
    ("base", "changes", "says"),
    [
        (table(), [of(add("a")), of(add("b"), CDC)], "enableChangeDataFeed"),
        (table(), [of(add("b"), CDC), of(gone("b"))], "enableChangeDataFeed"),
        (
            tracked(),
            [of(add("a")), of(gone("a"), add("b"))],
            "enableRowTracking",
        ),
        (table(), [of(add("a")), of(name="ROW TRACKING BACKFILL")], "must be the only change"),
        (table(), [of(name="REPLACE TABLE"), of(add("a"))], "must be the only change"),
        (table(), [of(add("a")), of(quietly_gone("a"), add("b", data_change=False))], "laid out anew"),
        (
            table(add("a")),
            [of(gone("a"), add("a", "v")), of(quietly_gone("a", "v"), add("b", data_change=False))],
            "laid out anew",
        ),
    ],
)
def test_what_one_version_could_not_tell_is_refused(base: Snapshot, changes: list[Change], says: str) -> None:
    with pytest.raises(UnsupportedFeature, match=says) as caught:
        combined(base, *changes)

    assert caught.value.code == "HEADGATE_CHANGES_CANNOT_BE_COMBINED"


@pytest.mark.parametrize(
    ("base", "changes"),
    [
        (table(), [of(add("b"), CDC)]),
        (table(), [of(add("b"), CDC), of(AppTransaction(app_id="x", version=1))]),
        (tracked(add("x")), [of(add("a")), of(gone("x"), add("b"))]),
        (tracked(), [of(add("a")), of(gone("a"))]),
        (table(add("x")), [of(add("a")), of(quietly_gone("x"), add("b", data_change=False))]),
        (table(add("x")), [of(quietly_gone("x"), add("b", data_change=False)), of(gone("b"), add("c"))]),
    ],
)  # fmt: skip
def test_what_one_version_can_tell_is_not_refused(base: Snapshot, changes: list[Change]) -> None:
    assert combined(base, *changes).actions is not None


def test_a_lone_change_stays_what_it_is() -> None:
    base = table(add("x"))
    metadata: Metadata = msgspec.structs.replace(base.state.metadata, name="n")
    change = Change(Operation("SET", {"a": "1"}), (metadata,), ReadSet(whole_table=True), skip_if_empty=True)

    one = combined(base, change)

    assert (one.operation, one.reads, one.actions) == (change.operation, change.reads, change.actions)
    assert one.skip_if_empty
