"""What a catalog tells readers, on both databases: all at once, and true; counted where cost was promised."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.decision import UnpublishedLimits
from headgate.catalog.ports.commits import Lost, Open, Ratified
from headgate.catalog.ports.directory import StagingTable, TableName
from headgate.catalog.ports.serving import LogHints
from headgate.clock import SystemWorld
from headgate.errors import CorruptLog, TooManyUnpublished, VersionNotFound
from headgate.lake.lake import Lake
from headgate.protocol.actions import (
    Action,
    AppTransaction,
    CommitInfo,
    DomainMetadata,
    EpochMillis,
    TxnId,
    Version,
)
from headgate.protocol.domains.handlers import union
from headgate.protocol.domains.rules import SetDomain
from headgate.protocol.log import codec, file_names
from headgate.settings import Publish, Settings
from headgate.storage.locate import locate
from headgate.table import catalog_table
from headgate.table.commit.catalog_hints import CatalogHints
from headgate.table.commit.catalog_managed import publish_and_retry
from headgate.table.opened_table import OpenedTable
from tests.contract.conftest import ORDERS
from tests.support.faulty_store import FaultyStore, RecordingWire
from tests.support.proposals import content, inline, publish, stamp
from tests.support.tables import append_change, create_managed, named_file, open_managed

ON_DEMAND = Settings(publish=Publish.ON_DEMAND, opening_seconds=60)


def domain(name: str, configuration: str, *, removed: bool = False) -> DomainMetadata:
    return DomainMetadata(domain=name, configuration=configuration, removed=removed)


def propose(catalog: Catalog, table: StagingTable, version: int, *actions: Action) -> None:
    info = CommitInfo(in_commit_timestamp=stamp(version), txn_id=TxnId(f"txn {version}"))
    data = codec.encode((info, *actions))
    assert catalog.propose(inline(table.table_id, version, f"txn {version}", data=data)) == Ratified(
        Version(version)
    )


# --- domains and application transactions


def test_domains_and_applications_are_told_as_the_latest_version_has_them(
    catalog: Catalog, table: StagingTable
) -> None:
    """S073, K12: sets and tombstones, both in one commit."""
    propose(catalog, table, 1, domain("a", "1"), domain("b", "1"), AppTransaction(app_id="s", version=1))
    propose(catalog, table, 2, domain("a", "", removed=True), domain("b", "2"), domain("c", "nul \0"))
    propose(
        catalog, table, 3, AppTransaction(app_id="s", version=9), AppTransaction(app_id="t", version=2**62)
    )
    propose(catalog, table, 4, named_file("x"))

    told = catalog.tail(table.table_id).description
    state = open_managed(catalog, table.table_id, table.location).snapshot().state

    assert told is not None
    assert told.domains == state.domains
    assert told.txns == state.txns
    assert {name: action.configuration for name, action in state.domains.items()} == {"b": "2", "c": "nul \0"}
    assert {name: action.version for name, action in state.txns.items()} == {"s": 9, "t": 2**62}


def test_a_refused_commit_leaves_no_trace_in_what_is_told(catalog: Catalog, table: StagingTable) -> None:
    propose(catalog, table, 1, domain("a", "1"))
    info = CommitInfo(in_commit_timestamp=stamp(1), txn_id=TxnId("late"))

    lost = catalog.propose(
        inline(table.table_id, 1, "late", data=codec.encode((info, domain("a", "2"), domain("b", "2"))))
    )

    assert isinstance(lost, Lost)
    told = catalog.tail(table.table_id).description
    assert told is not None
    assert told.domains == {"a": domain("a", "1")}


def test_what_a_handler_made_of_two_domains_is_what_is_told(catalog: Catalog, table: StagingTable) -> None:
    """S073"""
    first, second = (
        open_managed(catalog, table.table_id, table.location, handlers=lambda: {"acme.tags": union})
        for _ in range(2)
    )
    first.change_domains([SetDomain("acme.tags", '["a"]')])
    base = first.snapshot().version
    first.change_domains([SetDomain("acme.tags", '["a","b"]')], since=base)

    second.change_domains([SetDomain("acme.tags", '["a","c"]')], since=base)

    told = catalog.tail(table.table_id).description
    assert told is not None
    assert told.domains == second.snapshot().state.domains
    assert all(tag in told.domains["acme.tags"].configuration for tag in "abc")


# --- limits on what waits to be published


def limited(catalog: Catalog, **limits: int) -> Catalog:
    """The same catalog, with less patience."""
    return Catalog(
        catalog._database,
        warehouse=catalog.warehouse,
        locate=locate,
        world=SystemWorld(),
        limits=UnpublishedLimits(**limits),
    )


@pytest.mark.parametrize("limits", [{"commits": 2}, {"bytes": 2 * len(content(1, "1"))}])
def test_beyond_its_limit_the_catalog_wants_commits_published_first(
    catalog: Catalog, table: StagingTable, limits: dict[str, int]
) -> None:
    """K7"""
    strict = limited(catalog, **limits)
    for version in (1, 2):
        strict.propose(inline(table.table_id, version, f"{version}"))

    with pytest.raises(TooManyUnpublished, match=r"the limit is .*table\.publish\(\).*unpublished_commits"):
        strict.propose(inline(table.table_id, 3, "3"))
    assert strict.propose(inline(table.table_id, 2, "2")) == Ratified(Version(2))
    assert isinstance(strict.propose(inline(table.table_id, 2, "late")), Lost)
    assert strict.outcome_of(table.table_id, TxnId("3"), Version(3)) == Open()
    publish(locate(table.location), 1, "1")
    strict.mark_published(table.table_id, Version(1))

    assert strict.propose(inline(table.table_id, 3, "3")) == Ratified(Version(3))
    assert strict.tail(table.table_id).latest == 3


def test_a_client_makes_room_and_commits(catalog: Catalog, table: StagingTable) -> None:
    """S076: it publishes all, and the same commit succeeds."""
    strict = limited(catalog, commits=10)
    opened = open_managed(strict, table.table_id, table.location)

    for number in range(25):
        opened.commit(append_change(named_file(f"{number}")), base=opened.newest_known())

    tail = catalog.tail(table.table_id)
    assert tail.latest == 25
    assert tail.latest - tail.published <= 10
    assert len(opened.snapshot().files.columns) == 25


def test_a_group_makes_room_and_commits(catalog: Catalog, table: StagingTable) -> None:
    """S076, for several tables at once"""
    create_managed(catalog, TableName("sales", "stock"))
    lake = Lake(limited(catalog, commits=2), settings=ON_DEMAND, world=SystemWorld())

    for number in range(5):
        with lake.transaction(["sales.orders", "sales.stock"]) as tx:
            for name in ("sales.orders", "sales.stock"):
                opened = tx.table(name).log
                opened.commit(append_change(named_file(f"{number}")), base=opened.snapshot())

    assert [lake.table(f"sales.{name}").version() for name in ("orders", "stock")] == [5, 5]
    tail = catalog.tail(table.table_id)
    assert tail.latest - tail.published <= 2


def test_who_makes_room_in_vain_gives_up(catalog: Catalog) -> None:
    """K7: bounded, because the client of others loops for ever."""
    asked, made = [], []

    def full() -> None:
        asked.append(1)
        raise TooManyUnpublished("others were faster")

    with pytest.raises(TooManyUnpublished):
        publish_and_retry(full, lambda: made.append(1))

    assert (len(asked), len(made)) == (4, 3)


def test_who_cannot_make_room_is_told_why_and_nothing_is_committed(
    catalog: Catalog, table: StagingTable
) -> None:
    """K7: bounded, with the reason that publishing gave."""
    strict = limited(catalog, commits=1)
    opened = open_managed(strict, table.table_id, table.location)
    opened.commit(append_change(named_file("1")), base=opened.newest_known())
    (Path(table.location) / file_names.published_path(Version(1))).write_bytes(b"stray")

    with pytest.raises(CorruptLog, match="differs from the ratified version 1"):
        opened.commit(append_change(named_file("2")), base=opened.newest_known())

    assert catalog.tail(table.table_id).latest == 1


# --- opening in one call


class Counted:
    """A catalog whose calls are counted."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._catalog, name)
        if not callable(found):
            return found

        def counted(*args: Any, **named: Any) -> Any:
            self.calls.append(name)
            return found(*args, **named)

        return counted


@dataclass
class Watched:
    """A lake of which every call to the catalog and to the store is written down."""

    lake: Lake
    catalog: Counted
    wire: RecordingWire

    def since(self) -> tuple[list[str], list[str]]:
        """The calls since the last time, to the catalog and to the store."""
        seen = self.catalog.calls[:], [call.split()[0] for call in self.wire.calls]
        self.catalog.calls.clear()
        self.wire.calls.clear()
        return seen


@pytest.fixture
def watched(catalog: Catalog, table: StagingTable, monkeypatch: pytest.MonkeyPatch) -> Watched:
    wire, counted = RecordingWire(), Counted(catalog)

    def recorded(_catalog: object, _table_id: str, location: str) -> FaultyStore:
        return FaultyStore(locate(location), wire)

    monkeypatch.setattr(catalog_table, "open_store", recorded)
    return Watched(Lake(counted, settings=ON_DEMAND, world=SystemWorld()), counted, wire)  # type: ignore[arg-type]


def append(opened: OpenedTable, *paths: str) -> None:
    for path in paths:
        opened.commit(append_change(named_file(path)), base=opened.newest_known())


def test_opening_and_appending_reads_nothing_of_the_log(watched: Watched) -> None:
    append(watched.lake.table("sales.orders").log, *"abc")
    watched.lake.table("sales.orders").publish()
    watched.since()

    append(watched.lake.table("sales.orders").log, "d")

    assert watched.since()[1] == []
    found = watched.lake.table("sales.orders").log.snapshot()
    assert found.files.columns["path"].to_pylist() == [*"abcd"]


def test_who_appended_without_reading_reads_all_there_is(watched: Watched) -> None:
    append(watched.lake.table("sales.orders").log, *"ab")
    table = watched.lake.table("sales.orders").log

    append(table, *"cd")

    assert table.loaded_snapshot is None, "nothing was loaded for that"
    assert table.newest_known().files.columns["path"].to_pylist() == [*"abcd"]
    assert table.snapshot().files.columns["path"].to_pylist() == [*"abcd"]


def test_what_another_process_committed_is_what_the_next_handle_appends_to(
    catalog: Catalog, table: StagingTable
) -> None:
    other = open_managed(catalog, table.table_id, table.location)
    lake = Lake(catalog, settings=Settings(publish=Publish.ON_DEMAND, opening_seconds=0), world=SystemWorld())
    append(lake.table("sales.orders").log, "a")

    opened = lake.table("sales.orders").log
    other.change_domains([SetDomain("acme.mark", "1")])

    assert opened.newest_known().version == 2
    assert opened.newest_known().state.domains["acme.mark"].configuration == "1"


def test_opening_and_reading_is_one_call_and_no_listing(watched: Watched) -> None:
    append(watched.lake.table("sales.orders").log, *"abc")
    watched.lake.table("sales.orders").publish()
    append(watched.lake.table("sales.orders").log, *"de")
    watched.since()

    found = watched.lake.table("sales.orders").log.snapshot()

    calls, files = watched.since()
    assert calls == ["load"]
    assert set(files) == {"read"}
    assert len(files) == 4
    assert sorted(found.files.columns["path"].to_pylist()) == [*"abcde"]


def test_opening_and_describing_is_one_call_and_touches_no_file(watched: Watched) -> None:
    append(watched.lake.table("sales.orders").log, *"abc")
    watched.since()

    found = watched.lake.table("sales.orders").log.describe()

    assert watched.since() == (["load"], [])
    assert found.version == 3


def test_domains_are_known_from_the_opening(watched: Watched) -> None:
    """S073"""
    watched.lake.table("sales.orders").set_domain("acme.owner", "sales")
    watched.since()

    assert watched.lake.table("sales.orders").domains() == {"acme.owner": "sales"}

    assert watched.since() == (["load"], [])


def test_a_commit_is_one_call(watched: Watched) -> None:
    opened = watched.lake.table("sales.orders").log
    opened.snapshot()
    watched.since()

    append(opened, "a")
    assert watched.since() == (["propose"], [])
    append(opened, "b")
    assert watched.since() == (["propose"], [])


def test_with_a_checkpoint_that_is_known_only_what_follows_it_is_read(
    catalog: Catalog, watched: Watched
) -> None:
    opened = watched.lake.table("sales.orders").log
    append(opened, *(f"{number:03}" for number in range(90)))
    opened.checkpoint()
    append(opened, "after")
    opened.publish()
    append(opened, "not published")
    watched.since()

    found = watched.lake.table("sales.orders").log.snapshot()

    calls, files = watched.since()
    assert calls == ["load"]
    assert "list" not in files
    assert len(files) < 8
    assert len(found.files.columns["path"]) == 92
    known = catalog.load(ORDERS).hints
    assert (known.checkpoint[0].version, known.checksum) == (90, 90)


def test_a_checkpoint_that_is_gone_is_only_a_hint(watched: Watched, table: StagingTable) -> None:
    opened = watched.lake.table("sales.orders").log
    append(opened, *"abc")
    opened.checkpoint()
    for path in (Path(table.location) / file_names.LOG_FOLDER).glob("*.checkpoint.*"):
        path.unlink()
    watched.since()

    found = watched.lake.table("sales.orders").log.snapshot()

    assert sorted(found.files.columns["path"].to_pylist()) == [*"abc"]
    assert watched.since()[1].count("list") >= 1


def test_a_log_that_was_cleaned_up_is_listed(watched: Watched, catalog: Catalog, table: StagingTable) -> None:
    opened = watched.lake.table("sales.orders").log
    append(opened, *"abc")
    opened.checkpoint()
    (Path(table.location) / file_names.published_path(Version(0))).unlink()
    with catalog._database.writing() as db:
        db.exec_driver_sql("DELETE FROM log_hints")

    found = watched.lake.table("sales.orders").log.snapshot()

    assert sorted(found.files.columns["path"].to_pylist()) == [*"abc"]


def test_what_was_written_since_the_opening_is_seen(catalog: Catalog, table: StagingTable) -> None:
    """I6: through the same catalog at once, however fresh the opening is."""
    lake = Lake(catalog, settings=ON_DEMAND, world=SystemWorld())
    one, other = lake.table("sales.orders"), lake.table("sales.orders")

    append(other.log, "a")

    assert one.version() == 1


def test_an_opening_serves_once_and_for_a_moment(catalog: Catalog, table: StagingTable) -> None:
    now = [0.0]

    def opened(fresh: float) -> CatalogHints:
        loaded = catalog.load(ORDERS)
        return CatalogHints(catalog, table.table_id, loaded=loaded, fresh_seconds=fresh, clock=lambda: now[0])

    first, second = opened(1.0), opened(1.0)

    assert first.take_opening_tail() is not None
    assert first.take_opening_tail() is None
    now[0] = 1.5
    assert second.take_opening_tail() is None


def test_a_checkpoint_beyond_the_latest_version_is_no_hint(catalog: Catalog, table: StagingTable) -> None:
    """R3"""
    file = file_names.LogFile(
        file_names.LogFileKind.CHECKPOINT, Version(7), file_names.classic_checkpoint_path(Version(7)), 10
    )
    catalog.note_log(table.table_id, LogHints((file,), Version(7)))
    loaded = catalog.load(ORDERS)
    served = CatalogHints(catalog, table.table_id, loaded=replace(loaded, hints=LogHints((file,))))

    assert loaded.hints == LogHints()
    assert [item.version for item in served.expected(loaded.tail) or ()] == [0]


@pytest.mark.parametrize(
    "path",
    [
        "../elsewhere/00000000000000000000.checkpoint.parquet",
        "_delta_log/../00000000000000000000.checkpoint.parquet",
        "_delta_log/00000000000000000001.checkpoint.parquet",
        "_delta_log/00000000000000000000.json",
        "part-0.parquet",
    ],
)
def test_a_file_that_is_no_checkpoint_of_that_version_is_no_hint(
    catalog: Catalog, table: StagingTable, path: str
) -> None:
    """Readers open the file that is named, so a name must not lead them elsewhere."""
    file = file_names.LogFile(file_names.LogFileKind.CHECKPOINT, Version(0), path, 10)

    catalog.note_log(table.table_id, LogHints((file,)))

    assert catalog.load(ORDERS).hints == LogHints()


def test_who_may_only_read_tells_of_no_checkpoint(catalog: Catalog, table: StagingTable) -> None:
    path = file_names.classic_checkpoint_path(Version(0))
    file = file_names.LogFile(file_names.LogFileKind.CHECKPOINT, Version(0), path, 10)
    catalog.granting.grant("READ", on=str(ORDERS), to="ada")

    catalog.acting_as("ada").note_log(table.table_id, LogHints((file,), Version(0)))
    assert catalog.load(ORDERS).hints == LogHints()

    catalog.note_log(table.table_id, LogHints((file,), Version(0)))
    assert catalog.load(ORDERS).hints.checkpoint == (file,)


def test_everything_loaded_belongs_together(catalog: Catalog, table: StagingTable) -> None:
    propose(catalog, table, 1, domain("a", "1"))

    loaded = catalog.load(TableName("SALES", "Orders"))

    assert loaded.entry == catalog.resolve(ORDERS)
    assert loaded.tail == catalog.tail(table.table_id)
    assert loaded.tail.description == catalog.tail(table.table_id).description


# --- moments and history


def test_a_moment_means_the_same_version_by_index_and_by_log(watched: Watched, catalog: Catalog) -> None:
    """S034, S035, S036: and nothing of the log is read for it."""
    opened = watched.lake.table("sales.orders").log
    append(opened, *"abcde")
    stamps = [record.in_commit_timestamp for record in catalog.commits(catalog.resolve(ORDERS).table_id)]
    by_log = open_managed(catalog, catalog.resolve(ORDERS).table_id, opened.location)
    opened.publish()
    watched.since()

    between = [*(at + 1 for at in stamps[1:]), *(at - 1 for at in stamps[:-1])]
    for moment in map(EpochMillis, [*stamps, *between]):
        assert opened.snapshot(timestamp=moment).version == by_log.snapshot(timestamp=moment).version
    calls, _ = watched.since()
    assert calls.count("version_at") == 16
    for moment in (stamps[0] + 1, stamps[-1] - 1):
        messages = []
        for each in (opened, by_log):
            with pytest.raises(VersionNotFound) as caught:
                each.snapshot(timestamp=EpochMillis(moment))
            messages.append(str(caught.value))
        assert messages[0] == messages[1]


def test_a_moment_before_what_is_left_of_the_log_is_refused_as_ever(
    watched: Watched, catalog: Catalog, table: StagingTable
) -> None:
    opened = watched.lake.table("sales.orders").log
    append(opened, *"abc")
    opened.checkpoint()
    stamps = {record.version: record.in_commit_timestamp for record in catalog.commits(table.table_id)}
    for version in (0, 1):
        (Path(table.location) / file_names.published_path(Version(version))).unlink()

    fresh = watched.lake.table("sales.orders").log
    with pytest.raises(VersionNotFound):
        fresh.snapshot(timestamp=stamps[Version(1)])
    assert fresh.snapshot(timestamp=stamps[Version(3)]).version == 3


def test_history_by_the_catalogs_books(watched: Watched) -> None:
    opened = watched.lake.table("sales.orders").log
    append(opened, *"abcde")
    opened.publish()
    watched.since()

    found = watched.lake.commits("sales.orders")

    assert watched.since()[1] == []
    assert [record.version for record in found] == [5, 4, 3, 2, 1, 0]
    told = {entry.version: entry for entry in opened.history()}
    for record in found:
        assert record.txn_id == told[record.version].info.txn_id
        assert record.in_commit_timestamp == told[record.version].timestamp
        path = Path(opened.location) / file_names.published_path(record.version)
        assert record.size == path.stat().st_size
    assert [record.version for record in watched.lake.commits("sales.orders", before=4, limit=2)] == [3, 2]
