"""What changes with the table while a transaction runs: its route, its timestamps, its row ids."""

import msgspec
import pytest

from headgate.catalog.ports.commits import Open, Ratified, TableId
from headgate.errors import InvalidRequest
from headgate.protocol import protocol_upgrade
from headgate.protocol.actions import Action, CommitInfo, EpochMillis, Metadata, TxnId, Version
from headgate.protocol.log import codec, file_names
from headgate.protocol.log.timestamps import ENABLEMENT_TIMESTAMP, ENABLEMENT_VERSION
from headgate.table import transaction
from headgate.table.commit.catalog_managed import ManagedCommitter
from headgate.table.opened_table import OpenedTable
from headgate.table.transaction import Change, Operation
from tests.support.attempts import added
from tests.support.routes import ROUTES, Place, create, open_table

BLOCKED = "DELTA_PATH_BASED_ACCESS_TO_CATALOG_MANAGED_TABLE_BLOCKED"
MANAGED = ("catalogManaged", "vacuumProtocolCheck", "inCommitTimestamp")


def change(*actions: Action, name: str = "WRITE") -> Change:
    return Change(Operation(name), actions)


def set_property(table: OpenedTable, key: str, value: str) -> Metadata:
    metadata = table.snapshot().state.metadata
    return msgspec.structs.replace(metadata, configuration={**metadata.configuration, key: value})


def take_over(place: Place) -> None:
    """Somebody else puts the table under a catalog, as version 1."""
    table = open_table(place, "filesystem")
    protocol = protocol_upgrade.with_features(table.snapshot().state.protocol, MANAGED)
    metadata = set_property(table, "delta.enableInCommitTimestamps", "true")
    info = CommitInfo(in_commit_timestamp=EpochMillis(99_000), txn_id=TxnId("u"), operation="UPGRADE")
    place.store.put(file_names.published_path(Version(1)), codec.encode((info, protocol, metadata)))


def test_a_commit_by_path_does_not_follow_a_table_into_a_catalog() -> None:
    """S084, W9, W11: the route is asked for anew after the race is lost."""
    place = create((), managed=False)
    table = open_table(place, "filesystem")
    base = table.snapshot()
    take_over(place)

    with pytest.raises(InvalidRequest, match="open the table by name") as caught:
        table.commit(change(added("a", {})), base=base)

    assert caught.value.code == BLOCKED
    assert not [found for found in place.store.list_from(file_names.LOG_FOLDER) if "002.json" in found.path]


def test_a_commit_by_path_cannot_put_a_table_under_a_catalog() -> None:
    """S084, W9"""
    place = create(("feature:inCommitTimestamp", "set:delta.enableInCommitTimestamps=true"), managed=False)
    table = open_table(place, "filesystem")
    base = table.snapshot()

    with pytest.raises(InvalidRequest) as caught:
        table.commit(change(protocol_upgrade.with_features(base.state.protocol, MANAGED)), base=base)

    assert caught.value.code == BLOCKED


@pytest.mark.parametrize("route", ["inline", "staged"])
def test_a_commit_through_the_catalog_cannot_take_the_table_out_of_it(route: str) -> None:
    table = open_table(create((), managed=True), route)
    base = table.snapshot()
    protocol = base.state.protocol
    bare = msgspec.structs.replace(
        protocol,
        reader_features=(),
        writer_features=tuple(name for name in protocol.writer_features or () if name != "catalogManaged"),
    )

    with pytest.raises(InvalidRequest) as caught:
        table.commit(change(bare), base=base)

    assert caught.value.code == "DELTA_UNSUPPORTED_CATALOG_MANAGED_TABLE_OPERATION"


@pytest.mark.parametrize("route", ["inline", "staged"])
def test_a_managed_table_keeps_its_timestamps(route: str) -> None:
    """S055: refused before the catalog is asked."""
    table = open_table(create((), managed=True), route)

    with pytest.raises(InvalidRequest) as caught:
        table.commit(
            change(set_property(table, "delta.enableInCommitTimestamps", "false")), base=table.snapshot()
        )

    assert caught.value.code == "DELTA_CANNOT_MODIFY_CATALOG_MANAGED_DEPENDENCIES"


@pytest.mark.parametrize("losses", [0, 1, 2])
def test_timestamps_enabled_on_a_table_of_files_start_after_the_files(losses: int) -> None:
    """S155, S158, I8: files written by a clock far ahead of ours."""
    place = create(("feature:inCommitTimestamp",), managed=False)
    table, other = open_table(place, "filesystem"), open_table(place, "filesystem")
    place.store._moment = 50_000_000
    other.commit(change(added("first", {})), base=other.snapshot())
    base = table.snapshot()
    for number in range(losses):
        other.commit(change(added(f"{number}", {})), base=other.snapshot())

    version = table.commit(
        change(set_property(table, "delta.enableInCommitTimestamps", "true"), name="SET"), base=base
    )

    state = open_table(place, "filesystem").snapshot().state
    before = place.store.head(file_names.published_path(Version(version - 1))).modified_ms
    assert version == 2 + losses
    assert state.in_commit_timestamp is not None
    assert state.in_commit_timestamp > before >= 50_000_000
    assert state.metadata.configuration[ENABLEMENT_VERSION] == str(version)
    assert state.metadata.configuration[ENABLEMENT_TIMESTAMP] == str(state.in_commit_timestamp)


@pytest.mark.parametrize("route", ROUTES)
def test_row_ids_are_never_given_twice(route: str) -> None:
    """S263: an append whose version the catalog could choose does not leave it open where rows have ids."""
    place = create(("tracked",), managed=route != "filesystem")
    tables = [open_table(place, route) for _ in range(3)]
    bases = [table.snapshot() for table in tables]

    for number, (table, base) in enumerate(zip(tables, bases, strict=True)):
        table.commit(change(added(f"{number}", {})), base=base)

    files = open_table(place, route).snapshot().files.columns
    assert files["base_row_id"].to_pylist() == [0, 10, 20]
    assert files["default_row_commit_version"].to_pylist() == [1, 2, 3]


@pytest.mark.parametrize("left", [{"delta.enableInCommitTimestamps": "false"}, {}], ids=["false", "unsaid"])
def test_a_replaced_table_without_timestamps_does_not_say_since_when(left: dict[str, str]) -> None:
    """S165: by the commit that a REPLACE makes, which brings properties of its own."""
    table = open_table(create(("feature:inCommitTimestamp",), managed=False), "filesystem")
    enabling = set_property(table, "delta.enableInCommitTimestamps", "true")
    table.commit(change(enabling), base=table.snapshot())
    stamped = table.snapshot().state
    assert stamped.metadata.configuration[ENABLEMENT_VERSION] == "1"
    kept = {key: stamped.metadata.configuration[key] for key in (ENABLEMENT_VERSION, ENABLEMENT_TIMESTAMP)}

    for said in ({}, kept):  # whatever the writer copied of it
        anew = msgspec.structs.replace(stamped.metadata, configuration={**left, **said})
        table.commit(change(anew, name="REPLACE TABLE"), base=table.snapshot())

        after = table.snapshot().state
        assert after.metadata.configuration == left
        assert after.info is not None
        assert after.info.in_commit_timestamp is None


def test_timestamps_that_come_back_say_since_when_anew() -> None:
    """S166: by the commit that a RESTORE makes, which has the metadata of the older version."""
    place = create(("feature:inCommitTimestamp",), managed=False)
    table = open_table(place, "filesystem")
    enabling = set_property(table, "delta.enableInCommitTimestamps", "true")
    table.commit(change(enabling), base=table.snapshot())
    older = table.snapshot().state.metadata
    table.commit(
        change(set_property(table, "delta.enableInCommitTimestamps", "false")), base=table.snapshot()
    )

    table.commit(change(older, name="RESTORE"), base=table.snapshot())

    for reader in (table, open_table(place, "filesystem")):
        restored = reader.snapshot().state
        assert restored.info is not None
        moment = restored.info.in_commit_timestamp
        assert moment is not None
        assert restored.metadata.configuration[ENABLEMENT_VERSION] == "3"
        assert restored.metadata.configuration[ENABLEMENT_TIMESTAMP] == str(moment)
        assert reader.snapshot(timestamp=moment).version == 3
        assert reader.snapshot(timestamp=EpochMillis(moment - 1)).version == 2


@pytest.mark.parametrize(("words", "is_open"), [((), True), (("tracked",), False)])
def test_a_version_is_left_open_only_where_rows_have_no_ids(words: tuple[str, ...], is_open: bool) -> None:
    place = create(words, managed=True)
    state = open_table(place, "inline").snapshot().state

    for add in (added("a", {}), added("empty", {}, records=0)):
        txn = transaction.begin(state, change(add), world=place.world)
        assert txn.leaves_version_open is is_open


def test_an_inline_append_takes_whatever_version_comes_next() -> None:
    """It is no loser while it is not ratified, and needs no second proposal."""
    place = create((), managed=True)
    state = open_table(place, "inline").snapshot().state
    early, late = (transaction.begin(state, change(added(name, {})), world=place.world) for name in "ab")
    committer = ManagedCommitter(
        place.store, place.catalog, TableId("t"), world=place.world, inline_limit_bytes=1 << 20
    )

    assert committer.propose(early) == Ratified(Version(1))
    assert committer.outcome_of(late) == Open()
    assert committer.propose(late) == Ratified(Version(2))


@pytest.mark.parametrize(("spare", "staged"), [(0, 0), (-1, 1)])
def test_a_commit_is_inline_up_to_the_limit(spare: int, staged: int) -> None:
    """By its actions alone: what it says of itself may be longer at the next attempt."""
    place = create((), managed=True)
    state = open_table(place, "inline").snapshot().state
    txn = transaction.begin(state, change(added("a", {})), world=place.world)
    limit = len(txn.content.split(b"\n", 1)[1]) + spare
    committer = ManagedCommitter(
        place.store, place.catalog, TableId("t"), world=place.world, inline_limit_bytes=limit
    )

    assert committer.propose(txn) == Ratified(Version(1))
    assert len(list(place.store.list_from(file_names.STAGED_FOLDER))) == staged


@pytest.mark.parametrize("route", ROUTES)
def test_what_has_nothing_to_say_makes_no_version(route: str) -> None:
    """S259"""
    table = open_table(create((), managed=route != "filesystem"), route)
    base = table.snapshot()

    assert table.commit(Change(Operation("DELETE"), (), skip_if_empty=True), base=base) == 0
    assert table.snapshot().version == 0
    assert table.commit(Change(Operation("WRITE"), ()), base=base) == 1


def test_after_a_refusal_the_next_operation_starts_from_what_is_there() -> None:
    place = create((), managed=False)
    table, other = open_table(place, "filesystem"), open_table(place, "filesystem")
    base = table.snapshot()
    other.commit(change(set_property(other, "acme", "1"), name="SET"), base=other.snapshot())
    with pytest.raises(Exception, match="acme"):
        table.commit(change(added("a", {})), base=base)

    assert table.commit(change(added("a", {})), base=table.newest_known()) == 2
