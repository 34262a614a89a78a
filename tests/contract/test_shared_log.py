"""Versions that somebody published without telling the catalog (K8): taken in, lost to, never doubled."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.commits import InlineCommit, Lost, Open, Ratified, RatifiedCommit, Unknown
from headgate.catalog.ports.directory import StagingTable, TableName
from headgate.catalog.ports.groups import GroupId, GroupLost, GroupProposal
from headgate.clock import SystemWorld
from headgate.errors import CorruptLog, ObjectExists, SharedLog, StorageUnavailable
from headgate.lake.lake import Lake
from headgate.protocol.actions import AppTransaction, CommitInfo, DomainMetadata, TxnId, Version
from headgate.protocol.log import codec, file_names
from headgate.settings import Publish, Settings
from headgate.storage.locate import locate
from tests.contract.conftest import ORDERS
from tests.support.commits import MANAGED
from tests.support.faulty_store import FaultyStore, RecordingWire
from tests.support.proposals import content, inline, open_version, publish, staged, stamp
from tests.support.tables import append_change, create_managed, named_file, open_managed

DOMAIN = DomainMetadata(domain="a", configuration="1", removed=False)
ON_DEMAND = Settings(publish=Publish.ON_DEMAND)


def test_a_version_published_behind_the_catalogs_back_is_taken_in(
    catalog: Catalog, table: StagingTable
) -> None:
    """K8: the proposal of the same version loses to it, with its content, and the next one wins."""
    files = locate(table.location)
    publish(files, 1, "foreign")

    lost = catalog.propose(inline(table.table_id, 1, "ours"))

    assert lost == Lost((RatifiedCommit(Version(1), TxnId("foreign"), stamp(1), None),))
    tail = catalog.tail(table.table_id)
    assert (tail.latest, tail.published, tail.commits) == (1, 1, ())
    assert catalog.propose(inline(table.table_id, 2, "ours")) == Ratified(Version(2))
    assert catalog.propose(inline(table.table_id, 2, "foreign")) == Ratified(Version(1))
    assert files.read(file_names.published_path(Version(1))) == content(1, "foreign")


def test_a_blind_append_moves_on_past_versions_published_by_others(
    catalog: Catalog, table: StagingTable
) -> None:
    """K8"""
    for version in (1, 2, 3):
        publish(locate(table.location), version, f"foreign {version}")

    assert catalog.propose(open_version(table.table_id, 1, "ours")) == Ratified(Version(4))
    assert catalog.tail(table.table_id).published == 3


def test_an_unpublished_version_before_a_foreign_one_stays_readable(
    catalog: Catalog, table: StagingTable
) -> None:
    """K8, I4"""
    catalog.propose(inline(table.table_id, 1, "ours"))
    publish(locate(table.location), 2, "foreign")

    assert isinstance(catalog.propose(inline(table.table_id, 2, "late")), Lost)

    tail = catalog.tail(table.table_id)
    assert (tail.latest, tail.published) == (2, 0)
    assert [commit.where for commit in tail.commits] == [
        InlineCommit(content(1, "ours")),
        InlineCommit(content(2, "foreign")),
    ]
    assert open_managed(catalog, table.table_id, table.location).publish() == 2
    assert catalog.tail(table.table_id).published == 2


@pytest.mark.parametrize(
    "stray",
    [
        b"garbage",
        codec.encode((named_file("no commitInfo"),)),
        content(1, "too early", at=5),
        codec.encode(
            (
                CommitInfo(in_commit_timestamp=stamp(1), txn_id=TxnId("leaves")),
                MANAGED,
            )
        ).replace(b"catalogManaged", b"somethingElse"),
    ],
    ids=["garbage", "anonymous", "before the latest", "leaves the catalog"],
)
def test_a_stray_file_is_no_version_and_stops_nobody(
    catalog: Catalog, table: StagingTable, stray: bytes
) -> None:
    """T6: publishing tells of it; what was ratified is what readers get."""
    locate(table.location).put_if_absent(file_names.published_path(Version(1)), stray)

    assert catalog.propose(inline(table.table_id, 1, "ours")) == Ratified(Version(1))

    with pytest.raises(CorruptLog):
        open_managed(catalog, table.table_id, table.location).publish()
    assert [commit.txn_id for commit in catalog.tail(table.table_id).commits] == ["ours"]


def test_what_a_foreign_version_says_of_the_table_is_told(catalog: Catalog, table: StagingTable) -> None:
    """K8"""
    info = CommitInfo(in_commit_timestamp=stamp(1), txn_id=TxnId("foreign"))
    data = codec.encode((info, DOMAIN, AppTransaction(app_id="s", version=4)))
    locate(table.location).put_if_absent(file_names.published_path(Version(1)), data)

    assert catalog.import_external_versions(table.table_id) == 1

    told = catalog.tail(table.table_id).description
    assert told is not None
    assert told.domains == {"a": DOMAIN}
    assert told.txns == {"s": AppTransaction(app_id="s", version=4)}


def test_who_publishes_finds_what_others_published(catalog: Catalog, table: StagingTable) -> None:
    """K8: a reader must not miss it for ever."""
    publish(locate(table.location), 1, "foreign")
    lake = Lake(catalog, settings=ON_DEMAND, world=SystemWorld())

    assert lake.table("sales.orders").publish() == 1

    assert lake.table("sales.orders").version() == 1


# --- a log that others share


@pytest.fixture
def shared(catalog: Catalog, table: StagingTable) -> StagingTable:
    catalog.share_log(ORDERS)
    return table


def test_on_a_shared_log_ratified_is_published(catalog: Catalog, shared: StagingTable) -> None:
    """K8: creating the file is the decision."""
    files = locate(shared.location)

    assert catalog.propose(inline(shared.table_id, 1, "a")) == Ratified(Version(1))
    assert catalog.propose(staged(shared.table_id, 2, "b", files)) == Ratified(Version(2))
    assert catalog.propose(open_version(shared.table_id, 1, "c")) == Ratified(Version(3))
    assert catalog.propose(inline(shared.table_id, 1, "a")) == Ratified(Version(1))

    tail = catalog.tail(shared.table_id)
    assert (tail.latest, tail.published, tail.commits) == (3, 3, ())
    assert files.read(file_names.published_path(Version(1))) == content(1, "a")
    assert catalog.propose(inline(shared.table_id, 2, "late")) == Lost(
        tuple(RatifiedCommit(record.version, record.txn_id, record.in_commit_timestamp, None)
              for record in reversed(catalog.commits(shared.table_id, limit=2)))
    )  # fmt: skip


def test_readers_of_a_shared_log_see_a_version_as_soon_as_it_is_there(
    catalog: Catalog, shared: StagingTable
) -> None:
    """K8: without anybody having told the catalog."""
    publish(locate(shared.location), 1, "foreign")

    assert catalog.load(ORDERS).tail.latest == 1
    publish(locate(shared.location), 2, "foreign 2")
    assert catalog.tail(shared.table_id).latest == 2
    publish(locate(shared.location), 3, "foreign 3")
    assert isinstance(catalog.outcome_of(shared.table_id, TxnId("ours"), Version(3)), Lost)
    assert catalog.outcome_of(shared.table_id, TxnId("ours"), Version(4)) == Open()
    publish(locate(shared.location), 4, "foreign 4")
    assert catalog.pin([ORDERS]).tails[shared.table_id].latest == 4
    publish(locate(shared.location), 5, "foreign 5")
    assert catalog.tails([shared.table_id])[shared.table_id].latest == 5


def test_of_many_who_create_a_version_one_does_whoever_they_are(
    catalog: Catalog, shared: StagingTable
) -> None:
    """K8: half of them ask the catalog, half do not."""
    files, barrier = locate(shared.location), threading.Barrier(6)

    def race(number: int) -> bool:
        barrier.wait()
        if number % 2:
            return catalog.propose(inline(shared.table_id, 1, f"{number}")) == Ratified(Version(1))
        try:
            publish(files, 1, f"{number}")
        except ObjectExists:
            return False
        return True

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(race, range(6))) == 1
    assert catalog.tail(shared.table_id).latest == 1


def test_a_put_that_was_not_answered_is_found_again(catalog: Catalog, shared: StagingTable) -> None:
    """K8, I9: the file is there, the catalog does not know; the same proposal is that version."""
    publish(locate(shared.location), 1, "ours")

    assert catalog.outcome_of(shared.table_id, TxnId("ours"), Version(1)) == Ratified(Version(1))
    publish(locate(shared.location), 2, "ours too")
    assert catalog.propose(inline(shared.table_id, 2, "ours too")) == Ratified(Version(2))


def test_a_log_is_shared_only_once_all_of_it_is_published(catalog: Catalog, table: StagingTable) -> None:
    catalog.propose(inline(table.table_id, 1, "a"))
    lake = Lake(catalog, settings=ON_DEMAND, world=SystemWorld())

    with pytest.raises(Exception, match="not all versions"):
        catalog.share_log(ORDERS)
    lake.share_log("sales.orders")

    assert catalog.propose(inline(table.table_id, 2, "b")) == Ratified(Version(2))
    assert catalog.tail(table.table_id).published == 2


def test_a_shared_log_is_decided_by_itself(catalog: Catalog, shared: StagingTable) -> None:
    other = create_managed(catalog, TableName("sales", "stock"))
    proposals = tuple(inline(staging.table_id, 1, f"g {n}") for n, staging in enumerate((shared, other)))

    with pytest.raises(SharedLog, match="commit to it alone"):
        catalog.propose_group(GroupProposal(GroupId("g"), proposals))

    assert [catalog.tail(staging.table_id).latest for staging in (shared, other)] == [0, 0]


def test_a_group_loses_to_a_version_published_by_others(catalog: Catalog, table: StagingTable) -> None:
    other = create_managed(catalog, TableName("sales", "stock"))
    publish(locate(other.location), 1, "foreign")
    proposals = tuple(inline(staging.table_id, 1, f"g {n}") for n, staging in enumerate((table, other)))

    lost = catalog.propose_group(GroupProposal(GroupId("g"), proposals))

    assert isinstance(lost, GroupLost)
    assert [winner.txn_id for winner in lost.winners[other.table_id]] == ["foreign"]
    assert catalog.tail(table.table_id).latest == 0


# --- a store that fails


class Deaf:
    """Carries calls to a store; the answer to the next conditional put is lost, after or before it acts."""

    def __init__(self, *, acts: bool) -> None:
        self.acts: bool | None = acts

    def call(self, name, perform, *, unanswered, writes):  # type: ignore[no-untyped-def]
        if not name.startswith("put_if_absent") or self.acts is None:
            return perform()
        acts, self.acts = self.acts, None
        if acts:
            perform()
        raise StorageUnavailable("the connection was reset", path="", operation="put")


@pytest.mark.parametrize("acts", [True, False], ids=["after the put", "before the put"])
def test_a_put_without_an_answer_is_unknown_until_somebody_looks(
    catalog: Catalog, shared: StagingTable, acts: bool
) -> None:
    """I9, I10"""
    wire = Deaf(acts=acts)
    other = through(catalog, lambda location: FaultyStore(locate(location), wire))

    assert isinstance(other.propose(inline(shared.table_id, 1, "ours")), Unknown)

    expected = Ratified(Version(1)) if acts else Open()
    assert other.outcome_of(shared.table_id, TxnId("ours"), Version(1)) == expected
    assert other.propose(inline(shared.table_id, 1, "ours")) == Ratified(Version(1))
    assert catalog.tail(shared.table_id).latest == 1


def test_writers_on_a_shared_log_commit_through_the_loop(catalog: Catalog, shared: StagingTable) -> None:
    """The whole way, with a rival who never asks the catalog."""
    opened = open_managed(catalog, shared.table_id, shared.location)
    for number in range(4):
        opened.commit(append_change(named_file(f"ours {number}")), base=opened.newest_known())
        rival = opened.snapshot().version + 1
        info = CommitInfo(in_commit_timestamp=stamp(rival), txn_id=TxnId(f"rival {number}"))
        data = codec.encode((info, named_file(f"rival {number}")))
        locate(shared.location).put_if_absent(file_names.published_path(Version(rival)), data)

    found = opened.snapshot()

    assert found.version == 8
    assert len(found.files.columns) == 8


def test_in_a_bucket_only_the_first_commit_looks_at_the_log(catalog: Catalog, table: StagingTable) -> None:
    """A look would take longer than the commit; whoever publishes looks."""
    wire = RecordingWire()
    other = through(catalog, lambda location: FaultyStore(locate(location), wire))

    other.propose(inline(table.table_id, 1, "a"))
    assert wire.calls == [f"head {file_names.published_path(Version(1))}"]
    other.propose(inline(table.table_id, 2, "b"))
    assert len(wire.calls) == 1
    publish(locate(table.location), 1, "a")
    publish(locate(table.location), 2, "b")
    publish(locate(table.location), 3, "foreign")
    lake = Lake(other, settings=ON_DEMAND, world=SystemWorld())

    assert lake.table("sales.orders").publish() == 3


def test_in_a_bucket_what_was_published_before_the_first_commit_is_not_ratified_anew(
    catalog: Catalog, table: StagingTable
) -> None:
    """As after a backup of the database was restored."""
    other = through(catalog, lambda location: FaultyStore(locate(location), RecordingWire()))
    for version in (1, 2, 3):
        publish(locate(table.location), version, f"before-{version}")

    lost = other.propose(inline(table.table_id, 1, "after"))

    assert isinstance(lost, Lost)
    assert [winner.txn_id for winner in lost.winners] == ["before-1", "before-2", "before-3"]
    assert other.propose(inline(table.table_id, 4, "after")) == Ratified(Version(4))


def through(catalog: Catalog, files) -> Catalog:  # type: ignore[no-untyped-def]
    """The same catalog, whose files are reached in another way."""
    return Catalog(catalog._database, warehouse=catalog.warehouse, locate=files, world=SystemWorld())
