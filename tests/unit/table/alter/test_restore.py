"""Making an older version the latest again, through every route a commit can take."""

from collections.abc import Sequence

import msgspec
import pytest

from headgate.errors import ConcurrentWrite, InvalidRequest, VersionNotFound
from headgate.protocol import property_values
from headgate.protocol.actions import Action, AddFile, EpochMillis, RemoveFile
from headgate.protocol.domains import lifecycle
from headgate.protocol.log.timestamps import ENABLEMENT_VERSION
from headgate.table.alter import restore, set_properties
from headgate.table.opened_table import OpenedTable
from headgate.table.transaction import Change, Operation
from tests.support.altered import adds, configuration, ids, named, new, operations, write
from tests.support.attempts import added
from tests.support.routes import COORDINATED, ROUTES, Place, coordinate, create, open_table

each_route = pytest.mark.parametrize("route", (*ROUTES, COORDINATED))


def made(route: str, *words: str) -> tuple[Place, OpenedTable]:
    """A table, at version 1 if a coordinator has it and at 0 if not."""
    if route != COORDINATED:
        return new(route, *words)
    place = create(words, managed=False)
    return place, coordinate(place)


def file(place: Place, path: str) -> AddFile:
    """A data file that is really there."""
    place.store.put(path, b"rows")
    return added(path, {})


def removal(add: AddFile) -> RemoveFile:
    return RemoveFile(path=add.path, data_change=True, deletion_vector=add.deletion_vector, size=add.size)


def live(table: OpenedTable, version: int | None = None) -> Sequence[str]:
    return sorted(table.snapshot(version=version).files.columns["path"].to_pylist())


@each_route
def test_files_go_and_come_back(route: str) -> None:
    place, table = made(route)
    first = file(place, "a")
    then = write(table, first, file(place, "b"))
    write(table, removal(first), file(place, "c"))

    done = restore.restore(table, version=then)

    assert done.version == then + 2
    assert live(table) == live(open_table(place, route)) == ["a", "b"]
    assert live(table, then + 1) == ["b", "c"]
    assert {key: done.metrics[key] for key in ("numRemovedFiles", "numRestoredFiles")} == {
        "numRemovedFiles": 1,
        "numRestoredFiles": 1,
    }
    assert done.metrics["numOfFilesAfterRestore"] == 2
    assert operations(table)[-1] == "RESTORE"
    assert [add.path for add in adds(table, done.version) if add.data_change] == ["a"]
    assert "numRestoredFiles" in done._repr_html_()


@each_route
def test_a_restored_version_can_be_restored_from(route: str) -> None:
    place, table = made(route)
    one = write(table, file(place, "a"))
    two = write(table, file(place, "b"))

    restore.restore(table, version=one)
    restore.restore(table, version=two)

    assert live(table) == ["a", "b"]


def test_the_latest_version_is_what_it_is() -> None:
    place, table = made("filesystem")
    latest = write(table, file(place, "a"))

    assert restore.restore(table, version=latest).version == latest
    assert table.snapshot().version == latest


@each_route
def test_whoever_commits_meanwhile_wins(route: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """S258: there is one attempt, even if the other only appends."""
    place, table = made(route)
    then = write(table, file(place, "a"))
    write(table, file(place, "b"))
    other, commit = open_table(place, route), table.commit

    def late(change: Change, **base: object) -> object:
        write(other, file(place, "theirs"))
        return commit(change, **base)  # type: ignore[arg-type]

    monkeypatch.setattr(table, "commit", late)
    with pytest.raises(ConcurrentWrite, match="run it again"):
        restore.restore(table, version=then)

    assert live(open_table(place, route)) == ["a", "b", "theirs"]


def test_a_file_that_is_gone_cannot_come_back() -> None:
    place, table = made("filesystem")
    first = file(place, "a%20b")
    place.store.put("a b", b"rows")
    then = write(table, first)
    write(table, removal(first))
    latest = table.snapshot().version

    restore.restore(table, version=then)
    write(table, removal(first))
    place.store.delete("a b")

    with pytest.raises(InvalidRequest, match=r"1 of its files are gone, a%20b among them"):
        restore.restore(table, version=then)
    assert table.snapshot().version == latest + 2


def test_many_files_are_looked_for_by_one_listing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(restore, "_LISTING_THRESHOLD", 2)
    place, table = made("filesystem")
    files = [file(place, name) for name in "abc"]
    then = write(table, *files)
    write(table, *map(removal, files))

    restore.restore(table, version=then)
    assert live(table) == ["a", "b", "c"]
    write(table, *map(removal, files))
    place.store.delete("b")
    with pytest.raises(InvalidRequest, match="1 of its files are gone, b among them"):
        restore.restore(table, version=then)


@pytest.mark.parametrize("asked", [{}, {"version": 1, "timestamp": 5}])
def test_one_of_version_and_moment_is_asked_for(asked: dict[str, int]) -> None:
    _, table = made("filesystem")

    with pytest.raises(InvalidRequest, match="one of the two"):
        restore.restore(table, **asked)  # type: ignore[arg-type]


@pytest.mark.parametrize("version", [-1, 1])
def test_a_version_that_is_not_there_cannot_be_restored(version: int) -> None:
    _, table = made("filesystem")

    with pytest.raises(VersionNotFound) as refused:
        restore.restore(table, version=version)

    assert refused.value.code == "DELTA_CANNOT_RESTORE_TABLE_VERSION"


@pytest.mark.parametrize(("moment", "code"), [(0, "EARLIER"), (10**15, "GREATER")])
def test_a_moment_without_a_version_cannot_be_restored(moment: int, code: str) -> None:
    _, table = made("filesystem")

    with pytest.raises(VersionNotFound) as refused:
        restore.restore(table, timestamp=EpochMillis(moment))

    assert refused.value.code == f"DELTA_CANNOT_RESTORE_TIMESTAMP_{code}"


def test_rows_of_an_append_only_table_stay() -> None:
    place, table = made("filesystem")
    then = write(table, file(place, "a"))
    set_properties.set_properties(table, {"delta.appendOnly": "true"})
    only = write(table, file(place, "b"))

    with pytest.raises(InvalidRequest, match="append-only"):
        restore.restore(table, version=then)
    assert table.snapshot().version == only


@each_route
def test_properties_come_back_and_features_stay(route: str) -> None:
    _, table = made(route)
    set_properties.set_properties(table, {"team": "sales"})
    then = table.snapshot()
    set_properties.set_properties(table, {"team": "nobody", "delta.enableDeletionVectors": "true"})

    restore.restore(table, version=then.version)

    assert configuration(table) == dict(then.state.metadata.configuration)
    assert "deletionVectors" in named(table)
    assert table.snapshot().state.metadata.id == then.state.metadata.id


@pytest.mark.parametrize("route", ["inline", "staged"])
def test_a_managed_table_keeps_its_timestamps(route: str) -> None:
    place, table = made(route)
    then = write(table, file(place, "a"))
    write(table, file(place, "b"))

    restore.restore(table, version=then)

    assert table.snapshot().state.protocol.is_catalog_managed
    assert configuration(table)["delta.enableInCommitTimestamps"] == "true"
    stamps = [entry.info.in_commit_timestamp for entry in table.history()]
    assert stamps == sorted(set(stamps), reverse=True)  # type: ignore[type-var]


def test_restoring_timestamps_says_since_when() -> None:
    """S166"""
    place, table = made("filesystem")
    set_properties.set_properties(table, {"delta.enableInCommitTimestamps": "true"})
    then = write(table, file(place, "a"))
    set_properties.set_properties(table, {"delta.enableInCommitTimestamps": "false"})
    assert ENABLEMENT_VERSION not in configuration(table)

    done = restore.restore(table, version=then)

    assert configuration(table)[ENABLEMENT_VERSION] == str(done.version)


@pytest.mark.parametrize(
    ("then", "since", "after"),
    [
        ([("id",)], [("p",)], (("id",),)),
        ([("id",)], [], (("id",),)),
        (None, [("p",)], ()),
    ],
)
def test_of_the_domains_only_clustering_comes_back(
    then: list[tuple[str]] | None, since: list[tuple[str]], after: tuple[tuple[str]]
) -> None:
    """S207: none then is an empty list now, because the protocol may demand the domain."""
    _, table = made("filesystem", "feature:domainMetadata")
    if then is not None:
        write(table, lifecycle.clustering_domain(then))
    version = table.snapshot().version
    user: Action = msgspec.structs.replace(
        lifecycle.clustering_domain(()), domain="acme.mark", configuration="7"
    )
    write(table, lifecycle.clustering_domain(since), user)

    restore.restore(table, version=version)

    domains = table.snapshot().state.domains
    assert lifecycle.clustering_columns(domains) == after
    assert domains["acme.mark"].configuration == "7"


def test_rows_keep_their_ids() -> None:
    place, table = made("filesystem", "tracked")
    first = file(place, "a")
    then = write(table, first)
    given = adds(table, then)[0]
    write(table, removal(first), file(place, "b"))

    restore.restore(table, version=then)

    assert ids(table) == [given.base_row_id]
    later = write(table, file(place, "c"))
    assert adds(table, later)[0].base_row_id == 2 * 10


def test_ids_of_columns_are_not_given_twice() -> None:
    _, table = made("filesystem")
    highest = msgspec.structs.replace(
        table.snapshot().state.metadata, configuration={property_values.MAX_COLUMN_ID: "3"}
    )
    table.commit(Change(Operation("TEST"), (highest,)), base=table.snapshot())
    raised = msgspec.structs.replace(
        highest, configuration={property_values.MAX_COLUMN_ID: "9"}, description="later"
    )
    table.commit(Change(Operation("TEST"), (raised,)), base=table.snapshot())

    restore.restore(table, version=1)

    assert configuration(table)[property_values.MAX_COLUMN_ID] == "9"
    assert table.snapshot().state.metadata.description is None
