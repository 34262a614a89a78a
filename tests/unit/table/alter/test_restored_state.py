"""RESTORE, seen from the log: which files come back and how, and what it says of itself."""

from dataclasses import replace
from pathlib import Path
from uuid import UUID

import msgspec
import pytest

from headgate.errors import InvalidRequest
from headgate.protocol import property_values, protocol_upgrade
from headgate.protocol.actions import Action, Metadata, Protocol, RemoveFile
from headgate.protocol.log import deletion_vectors
from headgate.protocol.log.deletion_vectors import DeletedRows
from headgate.protocol.log.replay import State
from headgate.protocol.property_values import PROTECTED_BEFORE, ROW_COMMIT_VERSION_COLUMN, ROW_ID_COLUMN
from headgate.table.alter import clone, restore, set_properties
from headgate.table.location import NewTableLocation
from headgate.table.read.live_files import adds_as_table
from tests.support.altered import adds, configuration, ids, named, write
from tests.support.attempts import added
from tests.support.attempts import table as state_of
from tests.unit.table.alter.test_restore import each_route, file, live, made, removal

TRACKED = {"delta.enableRowTracking": "true"}
SUSPENDED = "set:delta.rowTrackingSuspended=true"


def test_a_file_comes_back_with_the_rows_it_had() -> None:
    """The same path with another deletion vector is another file."""
    place, table = made("filesystem", "feature:deletionVectors", "set:delta.enableDeletionVectors=true")
    first = file(place, "a")
    then = write(table, first)
    vector = deletion_vectors.encode_inline(DeletedRows.from_rows([1]))
    hidden = msgspec.structs.replace(first, deletion_vector=vector)
    write(table, RemoveFile(path="a", data_change=True), hidden)

    done = restore.restore(table, version=then)

    (back,) = adds(table, done.version)
    assert (back.path, back.deletion_vector, back.data_change) == ("a", None, True)
    assert live(table) == ["a"]
    assert done.metrics["numRemovedFiles"] == done.metrics["numRestoredFiles"] == 1


@each_route
def test_a_file_comes_back_without_the_rows_it_had_lost_whatever_the_table_allows_then(route: str) -> None:
    """Its deletion vector is not new, so the table need not permit new ones, nor are bounds made wide."""
    place, table = made(route, "feature:deletionVectors", "set:delta.enableDeletionVectors=true")
    first = file(place, "a")
    hidden = msgspec.structs.replace(
        first, deletion_vector=deletion_vectors.encode_inline(DeletedRows.from_rows([1]))
    )
    write(table, hidden)
    exact = msgspec.structs.replace(hidden, stats='{"numRecords":3}', data_change=False)
    write(table, exact)
    then = set_properties.set_properties(table, {"delta.enableDeletionVectors": "false"})
    write(table, removal(exact))

    done = restore.restore(table, version=then)

    assert [add.deletion_vector for add in adds(table, done.version)] == [hidden.deletion_vector]


def test_what_comes_back_are_rows_even_if_they_were_only_rearranged() -> None:
    place, table = made("filesystem")
    first = file(place, "a")
    then = write(table, msgspec.structs.replace(first, data_change=False))
    write(table, removal(first))

    done = restore.restore(table, version=then)

    assert [add.data_change for add in adds(table, done.version)] == [True]


def test_the_history_tells_what_was_asked_for_and_what_it_took() -> None:
    place, table = made("filesystem")
    first = msgspec.structs.replace(file(place, "a"), size=10)
    then = write(table, first)
    write(table, removal(first), msgspec.structs.replace(file(place, "b"), size=5))

    done = restore.restore(table, version=then)

    info = table.history()[0].info
    assert info.operation_parameters == {"version": str(then)}
    assert done.metrics == {
        "tableSizeAfterRestore": 10, "numOfFilesAfterRestore": 1, "numRemovedFiles": 1,
        "numRestoredFiles": 1, "removedFilesSize": 5, "restoredFilesSize": 10,
    }  # fmt: skip


def test_only_rows_that_would_go_are_in_the_way_of_an_append_only_table() -> None:
    place, table = made("filesystem")
    then = write(table, file(place, "a"))
    set_properties.set_properties(table, {"delta.appendOnly": "true"})
    assert restore.restore(table, version=then).version == 3
    assert "delta.appendOnly" not in configuration(table)

    set_properties.set_properties(table, {"delta.appendOnly": "true"})
    write(table, file(place, "b"))
    with pytest.raises(InvalidRequest) as caught:
        restore.restore(table, version=then)
    assert caught.value.code == "DELTA_CANNOT_MODIFY_APPEND_ONLY"


def test_features_that_the_version_had_come_back_with_it() -> None:
    place, table = made("filesystem", "feature:deletionVectors")
    then = write(table, file(place, "a"))
    dropped = protocol_upgrade.without_feature(table.snapshot().state.protocol, "deletionVectors")
    write(table, dropped)
    assert "deletionVectors" not in named(table)

    restore.restore(table, version=then)

    assert "deletionVectors" in named(table)


def stated(now: State, then: State) -> list[Action]:
    """What a RESTORE says besides files."""
    return list(
        restore._state_actions(now, then, *restore._plan_protocol_and_metadata(now, then, lambda: "new"))
    )


def test_a_managed_table_stays_one_whatever_the_version_was() -> None:
    """A version from before it was adopted says nothing of timestamps, nor of the catalog."""
    then = state_of()
    now = replace(
        state_of(["stamped"]),
        protocol=protocol_upgrade.with_features(then.protocol, ("catalogManaged", "inCommitTimestamp")),
    )
    kept = {"io.unitycatalog.tableId": "t", **now.metadata.configuration}
    now = replace(now, metadata=msgspec.structs.replace(now.metadata, configuration=kept, id="another"))

    back = stated(now, then)
    assert [type(action) for action in back if isinstance(action, Protocol)] == []
    assert all(found.configuration == kept for found in back if isinstance(found, Metadata))
    assert all(found.id == "another" for found in back if isinstance(found, Metadata))

    forth = [found for found in stated(then, now) if isinstance(found, Protocol)]
    assert all(not found.is_catalog_managed for found in forth)


@pytest.mark.parametrize("managed", [True, False])
def test_what_only_a_managed_table_needed_does_not_come_back(managed: bool) -> None:
    now, needed = state_of(), ("vacuumProtocolCheck", "deletionVectors")
    owned = ("catalogManaged", "inCommitTimestamp") if managed else ()
    then = replace(now, protocol=protocol_upgrade.with_features(now.protocol, (*needed, *owned)))

    (back,) = (found for found in stated(now, then) if isinstance(found, Protocol))

    assert back.has("deletionVectors")
    assert back.has("vacuumProtocolCheck") is not managed


def test_a_moment_will_do_for_a_version() -> None:
    place, table = made("inline")
    write(table, file(place, "a"))
    at = table.history()[0].info.in_commit_timestamp
    assert at is not None
    write(table, file(place, "b"))

    restore.restore(table, timestamp=at)

    assert live(table) == ["a"]
    assert table.history()[0].info.operation_parameters == {"timestamp": str(at)}


def test_files_that_come_back_are_no_blind_append() -> None:
    """What was read is the whole table, so no catalog may give it another version."""
    place, table = made("filesystem")
    first = file(place, "a")
    then = write(table, first)
    write(table, removal(first))

    restore.restore(table, version=then)

    assert table.history()[0].info.is_blind_append is False
    place.store.delete("a")
    write(table, removal(first))
    with pytest.raises(InvalidRequest) as caught:
        restore.restore(table, version=then)
    assert caught.value.code == "DELTA_CANNOT_RESTORE_TABLE_VERSION"


@pytest.mark.parametrize(("now", "then", "after"), [("3", "2", "3"), ("9", "10", "10"), (None, "2", "2")])
def test_columns_that_come_back_bring_the_highest_id_along(now: str | None, then: str, after: str) -> None:
    """Who replaced the table by one without ids may have forgotten it."""
    found = [
        replace(state, metadata=msgspec.structs.replace(state.metadata, configuration=configuration))
        for state, configuration in (
            (state_of(), {} if now is None else {property_values.MAX_COLUMN_ID: now}),
            (state_of(), {property_values.MAX_COLUMN_ID: then}),
        )
    ]

    assert restore._restored_metadata(*found).configuration == {property_values.MAX_COLUMN_ID: after}


def test_rows_keep_the_columns_that_have_their_ids() -> None:
    """Files of today name these columns, and so must the table."""
    then, now = state_of(), state_of(["tracked"])
    kept = {ROW_ID_COLUMN: "_row-id-col-1", ROW_COMMIT_VERSION_COLUMN: "_row-commit-version-col-1"}
    now = replace(now, metadata=msgspec.structs.replace(now.metadata, configuration=kept))

    after = restore._restored_metadata(now, then)

    assert after.configuration == kept


@each_route
def test_versions_without_a_dropped_feature_stay_protected(route: str) -> None:
    """The version that comes back knows nothing of the protection, and the log is the same."""
    _, table = made(route, "feature:deletionVectors")
    then = table.snapshot().version
    set_properties.drop_feature(table, "deletionVectors")
    protected = configuration(table)[PROTECTED_BEFORE]

    restore.restore(table, version=then)

    assert named(table) >= {"deletionVectors", "checkpointProtection"}
    assert configuration(table)[PROTECTED_BEFORE] == protected


@each_route
def test_rows_are_tracked_again_after_that_was_given_up(route: str) -> None:
    """Those of files that are still there too, and the columns for their ids are others than before."""
    place, table = made(route)
    set_properties.set_properties(table, TRACKED)
    write(table, file(place, "a"), file(place, "b"))
    then = write(table, file(place, "c"))
    names = {name: configuration(table)[name] for name in (ROW_ID_COLUMN, ROW_COMMIT_VERSION_COLUMN)}
    set_properties.drop_feature(table, "rowTracking")
    write(table, removal(added("c", {})), file(place, "since"))

    done = restore.restore(table, version=then)

    assert live(table) == ["a", "b", "c"]
    assert set(ids(table)) == {0, 10, 20}
    assert {add.path: add.data_change for add in adds(table, done.version)} == {
        "a": False, "b": False, "c": True
    }  # fmt: skip
    assert configuration(table).keys() > names.keys()
    assert not names.items() & configuration(table).items()


@each_route
def test_an_id_that_was_given_again_is_not_brought_back(route: str) -> None:
    """Ids begin from zero when rows are tracked anew."""
    place, table = made(route)
    set_properties.set_properties(table, TRACKED)
    write(table, file(place, "a"))
    then = write(table, file(place, "b"))
    set_properties.drop_feature(table, "rowTracking")
    write(table, removal(added("a", {})))
    set_properties.set_properties(table, TRACKED)
    assert ids(table) == [0]

    done = restore.restore(table, version=then)

    assert live(table) == ["a", "b"]
    assert set(ids(table)) == {0, 10}
    assert [add.default_row_commit_version for add in adds(table, done.version)] == [done.version]


def test_files_get_no_ids_while_none_are_given() -> None:
    place, table = made("filesystem", "feature:rowTracking", "feature:domainMetadata", SUSPENDED)
    then = write(table, file(place, "a"))
    write(table, file(place, "b"))

    done = restore.restore(table, version=then)

    assert live(table) == ["a"]
    assert adds(table, done.version) == ()


def test_what_a_file_needs_is_named_as_in_the_log() -> None:
    """The name of a vector's file is no URL, unless the log gives all of it."""
    near = deletion_vectors.encode_file([DeletedRows.from_rows([1])], UUID(int=7), prefix="a b")[1][0]
    far = msgspec.structs.replace(near, storage_type="p", path_or_inline_dv="s3://b/a%20b.bin")
    within = deletion_vectors.encode_inline(DeletedRows.from_rows([1]))
    files = [
        msgspec.structs.replace(added(name, {}), deletion_vector=vector)
        for name, vector in (("x%20y", near), ("f", far), ("i", within), ("n", None))
    ]

    assert restore.object_paths(adds_as_table(files)) == {
        *("x%20y", "f", "i", "n", "s3://b/a%20b.bin"),
        "a%20b/deletion_vector_00000000-0000-0000-0000-000000000007.bin",
    }


@pytest.mark.parametrize("many", [1, 1_000])
def test_deletion_vectors_must_be_there_too(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file whose vector changed is live, and its older vector may have been vacuumed."""
    monkeypatch.setattr(restore, "_LISTING_THRESHOLD", many)
    place, table = made("filesystem", "feature:deletionVectors", "set:delta.enableDeletionVectors=true")
    vector = deletion_vectors.with_file_id(
        deletion_vectors.encode_inline(DeletedRows.from_rows([1])), UUID(int=7)
    )
    hidden = msgspec.structs.replace(file(place, "a"), deletion_vector=vector)
    then = write(table, hidden)
    write(table, removal(hidden), added("a", {}))

    with pytest.raises(InvalidRequest) as caught:
        restore.restore(table, version=then)
    assert caught.value.fields["missing"] == ("deletion_vector_00000000-0000-0000-0000-000000000007.bin",)
    source = clone.CloneSource("t", table, table.snapshot(version=then))
    with pytest.raises(InvalidRequest, match="deletion_vector_0000"):  # nor can it be cloned
        clone.first_commit(
            NewTableLocation("/clone", place.store, table.world), source, clone.CloneOptions(shallow=True)
        )

    place.store.put("deletion_vector_00000000-0000-0000-0000-000000000007.bin", b"rows")
    restore.restore(table, version=then)


def test_files_that_lie_elsewhere_are_looked_for_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the table is listed instead: what a clone shares is not among its own files."""
    monkeypatch.setattr(restore, "_LISTING_THRESHOLD", 1)
    (tmp_path / "a.parquet").write_bytes(b"rows")
    _, table = made("filesystem")
    shared = added(f"file://{tmp_path}/a.parquet", {})
    then = write(table, shared)
    write(table, removal(shared))

    restore.restore(table, version=then)

    assert live(table) == [shared.path]
