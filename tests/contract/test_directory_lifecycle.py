"""Names given, changed, taken away and given back, and tables that go for good; on both databases."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text

from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.commits import Ratified, TableId
from headgate.catalog.ports.directory import StagingTable, TableEntry, TableName
from headgate.clock import SystemWorld
from headgate.errors import (
    HeadgateError,
    NotAllowed,
    SchemaNotFound,
    StorageUnavailable,
    TableExists,
    TableNotFound,
)
from headgate.protocol.actions import Version
from headgate.protocol.log import file_names
from headgate.storage.local import LocalStore
from headgate.storage.locate import locate
from headgate.table.alter import create
from headgate.table.alter.create import TableDefinition
from headgate.table.maintenance.purge import delete_table_files, purge
from tests.support.proposals import inline, publish
from tests.support.tables import SCHEMA, create_managed

NAME, OTHER = TableName("sales", "orders"), TableName("archive", "old_orders")


@pytest.fixture
def catalog(catalog: Catalog) -> Catalog:
    catalog.create_schema("archive")
    return catalog


def test_a_renamed_table_is_the_same_table(catalog: Catalog) -> None:
    staging = create_managed(catalog, NAME)
    before = catalog.resolve(NAME)

    renamed = catalog.rename(NAME, OTHER)

    assert (renamed.table_id, renamed.location) == (staging.table_id, staging.location)
    assert catalog.resolve(OTHER) == renamed
    assert renamed.etag > before.etag
    with pytest.raises(TableNotFound):
        catalog.resolve(NAME)
    assert catalog.propose(inline(staging.table_id, 1, "a")) == Ratified(Version(1))
    assert create_managed(catalog, NAME).table_id != staging.table_id


def test_a_rename_needs_a_table_a_schema_and_a_free_name(catalog: Catalog) -> None:
    create_managed(catalog, NAME)
    create_managed(catalog, OTHER)

    with pytest.raises(TableExists):
        catalog.rename(NAME, OTHER)
    with pytest.raises(SchemaNotFound):
        catalog.rename(NAME, TableName("nowhere", "orders"))
    with pytest.raises(TableNotFound):
        catalog.rename(TableName("sales", "nothing"), TableName("sales", "something"))
    assert catalog.rename(NAME, NAME) == catalog.resolve(NAME)
    assert [str(entry.name) for entry in catalog.tables()] == ["archive.old_orders", "sales.orders"]


def test_of_four_who_rename_to_one_name_one_does(catalog: Catalog) -> None:
    sources = [TableName("sales", f"t{number}") for number in range(4)]
    for source in sources:
        create_managed(catalog, source)

    ends = _at_once(lambda number: catalog.rename(sources[number], OTHER))

    assert sorted(isinstance(end, TableExists) for end in ends) == [False, True, True, True]
    assert len(catalog.tables()) == 4
    assert len(catalog.tables("archive")) == 1


def test_what_is_dropped_can_be_had_back_with_every_version(catalog: Catalog) -> None:
    staging = create_managed(catalog, NAME)
    catalog.propose(inline(staging.table_id, 1, "a"))
    live = catalog.resolve(NAME)

    catalog.drop(NAME)
    (dropped,) = catalog.dropped()
    restored = catalog.undrop(NAME)

    assert dropped.table_id == staging.table_id
    assert dropped.dropped_ms is not None
    assert live.etag < dropped.etag < restored.etag
    assert restored.dropped_ms is None
    assert catalog.dropped() == ()
    assert catalog.tail(staging.table_id).latest == 1
    assert catalog.propose(inline(staging.table_id, 2, "b")) == Ratified(Version(2))


def test_the_last_one_dropped_comes_back_unless_another_is_asked_for(catalog: Catalog) -> None:
    ids = []
    for _ in range(3):
        ids.append(create_managed(catalog, NAME).table_id)
        catalog.drop(NAME)
        SystemWorld().sleep(0.002)

    assert [entry.table_id for entry in catalog.dropped("sales")] == ids[::-1]
    assert catalog.undrop(NAME).table_id == ids[2]
    with pytest.raises(TableExists):
        catalog.undrop(NAME)
    assert catalog.undrop(NAME, table_id=ids[0], to=OTHER).table_id == ids[0]
    with pytest.raises(TableNotFound):
        catalog.undrop(NAME, table_id=ids[0])
    assert catalog.dropped("archive") == ()


def test_a_name_is_either_given_back_or_given_anew(catalog: Catalog) -> None:
    create_managed(catalog, NAME)
    catalog.drop(NAME)
    staged = [_written(catalog.stage(NAME)) for _ in range(2)]

    ends = _at_once(
        lambda number: catalog.undrop(NAME) if number % 2 else catalog.register(staged[number // 2], NAME)
    )

    assert [isinstance(end, TableEntry) for end in ends].count(True) == 1
    assert len(catalog.tables()) == 1


def test_a_drop_and_a_commit_at_once_leave_either_order(catalog: Catalog) -> None:
    staging = create_managed(catalog, NAME)

    ends = _at_once(
        lambda number: (
            catalog.drop(NAME)
            if number == 0
            else catalog.propose(inline(staging.table_id, 1, f"writer {number}"))
        )
    )
    catalog.undrop(NAME)

    won = [end for end in ends[1:] if isinstance(end, Ratified)]
    assert catalog.tail(staging.table_id).latest == len(won) <= 1
    assert all(isinstance(end, TableNotFound) for end in ends[1:]) or won


def test_etags_grow_with_every_change_that_can_be_seen(catalog: Catalog) -> None:
    staging = create_managed(catalog, NAME)
    seen = [catalog.resolve(NAME).etag]

    catalog.propose(inline(staging.table_id, 1, "a"))
    seen.append(catalog.resolve(NAME).etag)
    assert catalog.resolve(NAME).etag == seen[-1]
    publish(locate(staging.location), 1, "a")
    catalog.mark_published(staging.table_id, Version(1))
    seen.append(catalog.resolve(NAME).etag)
    seen.append(catalog.rename(NAME, OTHER).etag)
    catalog.drop(OTHER)
    seen.append(catalog.dropped()[0].etag)
    seen.append(catalog.undrop(OTHER).etag)

    assert seen == sorted(set(seen))


def test_only_what_was_dropped_is_purged_and_then_nothing_is_left(catalog: Catalog) -> None:
    staging = create_managed(catalog, NAME)
    catalog.propose(inline(staging.table_id, 1, "a"))
    files = locate(staging.location)
    with pytest.raises(NotAllowed, match="drop it first"):
        catalog.disposal.condemn(staging.table_id)
    catalog.drop(NAME)

    assert catalog.disposal.condemn(staging.table_id).location == staging.location
    assert catalog.dropped() == ()
    with pytest.raises(TableNotFound):
        catalog.undrop(NAME)
    assert [item.table_id for item in catalog.disposal.abandoned()] == [staging.table_id]
    assert delete_table_files(files) == 1
    catalog.disposal.forget(staging.table_id)
    catalog.disposal.forget(staging.table_id)

    assert list(files.list_from("")) == []
    assert catalog.disposal.abandoned() == ()
    assert _rows(catalog, staging.table_id) == 0
    with pytest.raises(TableNotFound):
        catalog.disposal.condemn(staging.table_id)
    assert create_managed(catalog, NAME).table_id != staging.table_id


def test_files_that_shall_stay_must_be_a_whole_table(catalog: Catalog) -> None:
    """I4: a version that only the catalog has must not go with its rows."""
    staging = create_managed(catalog, NAME)
    catalog.propose(inline(staging.table_id, 1, "a"))
    catalog.drop(NAME)

    with pytest.raises(NotAllowed, match="only in the catalog"):
        catalog.disposal.forget_keeping_files(staging.table_id)
    catalog.undrop(NAME)
    publish(locate(staging.location), 1, "a")
    catalog.mark_published(staging.table_id, Version(1))
    catalog.drop(NAME)
    catalog.disposal.forget_keeping_files(staging.table_id)

    assert _rows(catalog, staging.table_id) == 0
    assert len(list(locate(staging.location).list_from(file_names.LOG_FOLDER))) == 2


def test_who_may_not_drop_may_not_purge_rename_undrop_or_share(catalog: Catalog) -> None:
    """T8: each of these takes a privilege, and who may not even read does not see the table."""
    staging = create_managed(catalog, NAME)
    reader, stranger = catalog.acting_as("reader"), catalog.acting_as("stranger")
    catalog.granting.grant("READ", "sales.orders", "reader")

    for call in (
        lambda: reader.rename(NAME, OTHER),
        lambda: reader.drop(NAME),
        lambda: reader.share_log(NAME),
    ):
        with pytest.raises(NotAllowed):
            call()
    with pytest.raises(TableNotFound):
        stranger.load(NAME)
    catalog.drop(NAME)
    for call in (lambda: reader.undrop(NAME), lambda: purge(reader, NAME, None, files=locate)):
        with pytest.raises(NotAllowed):
            call()
    with pytest.raises(TableNotFound):
        purge(stranger, NAME, None, files=locate)

    assert catalog.undrop(NAME).table_id == staging.table_id


def test_a_purge_that_was_interrupted_is_finished_by_the_same_call(catalog: Catalog) -> None:
    """Nor does it need anybody's worker; a table of that name that was dropped since is another purge."""
    staging = create_managed(catalog, NAME)
    catalog.drop(NAME)

    class Failing(LocalStore):
        def delete(self, path: str) -> None:
            raise StorageUnavailable("the disk is away", path=path, operation="delete")

    with pytest.raises(StorageUnavailable):
        purge(catalog, NAME, None, files=Failing)
    with pytest.raises(TableNotFound):
        purge(catalog, NAME, None, files=None)
    with pytest.raises(TableNotFound):  # who may not drop it does not hear of it
        purge(catalog.acting_as("stranger"), NAME, None, files=locate)
    later = create_managed(catalog, NAME)
    catalog.drop(NAME)
    purge(catalog, NAME, None, files=locate)
    assert list(locate(later.location).list_from("")) == []
    assert list(locate(staging.location).list_from("")) != []

    purge(catalog, NAME, None, files=locate)

    assert list(locate(staging.location).list_from("")) == []
    assert _rows(catalog, staging.table_id) == 0
    with pytest.raises(TableNotFound):
        purge(catalog, NAME, None, files=locate)


def test_a_purge_can_be_objected_to(catalog: Catalog) -> None:
    staging = create_managed(catalog, NAME)
    catalog.drop(NAME)
    reasons: list[str | None] = ["somebody reads it until noon"]
    catalog.disposal.add_objection(lambda _db, _table_id: reasons[0])

    with pytest.raises(NotAllowed, match="until noon"):
        catalog.disposal.condemn(staging.table_id)
    reasons[0] = None
    catalog.disposal.condemn(staging.table_id)


def test_a_reserved_place_expires(catalog: Catalog) -> None:
    catalog.create_schema("sales")
    staging = _written(catalog.stage(NAME))
    with pytest.raises(NotAllowed, match="still in use"):
        catalog.disposal.condemn(staging.table_id)
    assert catalog.disposal.abandoned() == ()
    _expire(catalog, staging.table_id)

    with pytest.raises(TableNotFound, match="its time is over"):
        catalog.register(staging, NAME)
    assert catalog.disposal.abandoned() == (staging,)
    catalog.disposal.condemn(staging.table_id)
    catalog.disposal.forget(staging.table_id)

    assert catalog.disposal.abandoned() == ()
    assert catalog.tables() == ()


def test_a_table_that_was_registered_in_time_stays(catalog: Catalog) -> None:
    staging = create_managed(catalog, NAME)
    _expire(catalog, staging.table_id)

    assert catalog.register(staging, NAME) == catalog.resolve(NAME)
    assert catalog.disposal.abandoned() == ()
    with pytest.raises(NotAllowed):
        catalog.disposal.condemn(staging.table_id)


def _written(staging: StagingTable) -> StagingTable:
    create.write_version_0(
        locate(staging.location), TableDefinition(SCHEMA), managed=True, world=SystemWorld()
    )
    return staging


def _at_once(act) -> list[object]:  # type: ignore[no-untyped-def]
    barrier = threading.Barrier(4)

    def run(number: int) -> object:
        barrier.wait()
        try:
            return act(number)
        except HeadgateError as exc:
            return exc

    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(run, range(4)))


def _expire(catalog: Catalog, table_id: TableId) -> None:
    with catalog._database.writing() as db:
        db.execute(text("UPDATE tables SET expires_ms = 1 WHERE table_id = :id"), {"id": table_id})


def _rows(catalog: Catalog, table_id: TableId) -> int:
    count = 0
    with catalog._database.reading() as db:
        for name in ("tables", "commits", "table_domains", "app_transactions", "log_hints"):
            count += db.scalar(text(f"SELECT count(*) FROM {name} WHERE table_id = :id"), {"id": table_id})
    return count
