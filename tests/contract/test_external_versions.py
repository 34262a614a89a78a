"""A version that was published without the catalog is reviewed like any other, as of somebody unknown."""

import msgspec
import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.commits import Lost, Ratified
from headgate.catalog.ports.directory import StagingTable
from headgate.catalog.ports.events import Event, EventKind
from headgate.catalog.ports.groups import GroupId, GroupProposal
from headgate.catalog.ports.policies import Refusal, Review
from headgate.errors import InvalidRequest, NotAllowed
from headgate.protocol.actions import Action, CommitInfo, EpochMillis, RemoveFile, TxnId, Version
from headgate.protocol.log import codec, file_names
from headgate.storage.locate import locate
from tests.contract.conftest import ORDERS
from tests.support.proposals import altered, inline, publish, stamp
from tests.support.shared_server import inside
from tests.support.tables import named_file, open_managed

REMOVAL = RemoveFile(path="a.parquet", data_change=True)


def plant(table: StagingTable, *actions: Action, txn_id: str = "planted", ahead_ms: int = 0) -> None:
    """Write the file of version 1, and tell nobody."""
    info = CommitInfo(in_commit_timestamp=EpochMillis(stamp(1) + ahead_ms), txn_id=TxnId(txn_id))
    locate(table.location).put_if_absent(
        file_names.published_path(Version(1)), codec.encode((info, *actions))
    )


def incidents(catalog: Catalog) -> list[Event]:
    return [event for event in catalog.events.after(0) if event.kind is EventKind.INCIDENT]


def refusal(catalog: Catalog, table: StagingTable) -> str:
    """Why nothing can be committed; readers have what they had."""
    with pytest.raises(NotAllowed) as caught:
        catalog.propose(inline(table.table_id, 1, "ours"))
    assert caught.value.code == "HEADGATE_EXTERNAL_VERSION"
    assert catalog.tail(table.table_id).latest == 0
    return caught.value.message


@pytest.fixture
def governed(catalog: Catalog, table: StagingTable) -> Catalog:
    """A lake in which somebody may only append."""
    catalog.granting.grant("append", str(ORDERS), "eve")
    return catalog


def test_in_a_lake_of_its_owner_alone_it_is_taken_in_recorded_and_told(
    catalog: Catalog, table: StagingTable
) -> None:
    """K8: as after a backup of the catalog was restored."""
    plant(table, REMOVAL)

    assert isinstance(catalog.propose(inline(table.table_id, 1, "ours")), Lost)

    assert catalog.commits(table.table_id)[0].principal == "external"
    (told,) = incidents(catalog)
    assert (told.version, told.txn_id, told.details["principal"]) == (1, "planted", "external")


def test_what_breaks_a_rule_of_the_table_is_in_the_way_until_it_is_set_aside(
    catalog: Catalog, table: StagingTable
) -> None:
    plant(table, msgspec.structs.replace(altered(locate(table.location)), id="of another table"))

    assert "same-table" in refusal(catalog, table)
    assert "same-table" in refusal(catalog, table)
    assert [event.details["by"] for event in incidents(catalog)] == ["same-table"]
    with pytest.raises(NotAllowed, match="same-table"):
        catalog.accept_version(ORDERS, Version(1))

    place = catalog.set_aside_version(ORDERS, Version(1))

    assert b"planted" in locate(table.location).read(place)
    assert catalog.propose(inline(table.table_id, 1, "ours")) == Ratified(Version(1))
    assert open_managed(catalog, table.table_id, table.location).publish() == 1


def test_the_rules_of_commits_and_the_policies_of_the_program_hold_for_it(
    catalog: Catalog, table: StagingTable
) -> None:
    plant(table, altered(locate(table.location), acme="1"))

    class Stubborn:
        def review(self, review: Review) -> Refusal | None:
            return review.refuse("never") if review.principal == "external" else None

    assert "stubborn" in refusal(
        inside(catalog).acting_as("owner", policies=lambda: {"stubborn": Stubborn()}), table
    )
    catalog.granting.set_rule("freeze_metadata", "true", str(ORDERS))
    assert "freeze_metadata" in refusal(catalog, table)


def test_a_file_of_a_far_day_does_not_take_the_time_of_the_table_with_it(
    catalog: Catalog, table: StagingTable
) -> None:
    plant(table, REMOVAL, ahead_ms=20 * 365 * 24 * 3_600_000)

    assert "ahead of the catalog's clock" in refusal(catalog, table)


def test_in_a_lake_with_others_somebody_unknown_has_no_privileges(
    governed: Catalog, table: StagingTable
) -> None:
    """Who may only append can write to the log, and would so do everything."""
    plant(table, REMOVAL)

    assert "CHANGE DATA" in refusal(governed, table)
    with pytest.raises(NotAllowed, match="CHANGE DATA"):
        governed.propose_group(GroupProposal(GroupId("g"), (inline(table.table_id, 1, "ours"),)))
    for decide in (governed.acting_as("eve").accept_version, governed.acting_as("eve").set_aside_version):
        with pytest.raises(NotAllowed, match="MANAGE GRANTS"):
            decide(ORDERS, Version(1))
    assert governed.tail(table.table_id).latest == 0


def test_the_owner_accepts_it(governed: Catalog, table: StagingTable) -> None:
    plant(table, REMOVAL)
    refusal(governed, table)

    assert governed.accept_version(ORDERS, Version(1)) == 1

    assert governed.propose(inline(table.table_id, 2, "ours")) == Ratified(Version(2))
    assert governed.commits(table.table_id)[1].principal == "external"
    assert incidents(governed)[-1].details["accepted_by"] == "owner"


def test_what_is_granted_to_somebody_unknown_heals_by_itself(governed: Catalog, table: StagingTable) -> None:
    governed.granting.grant("change data", None, "external")
    plant(table, REMOVAL)

    assert isinstance(governed.propose(inline(table.table_id, 1, "ours")), Lost)
    with pytest.raises(InvalidRequest, match="nobody connects as that"):
        governed.acting_as("external")


def test_on_a_shared_log_anybody_may_publish_what_the_rules_allow(
    governed: Catalog, table: StagingTable
) -> None:
    governed.share_log(ORDERS)
    plant(table, REMOVAL)
    assert governed.tail(table.table_id).latest == 1
    assert incidents(governed) == []

    other = msgspec.structs.replace(altered(locate(table.location)), id="of another table")
    info = CommitInfo(in_commit_timestamp=stamp(2), txn_id=TxnId("planted too"))
    locate(table.location).put_if_absent(file_names.published_path(Version(2)), codec.encode((info, other)))

    with pytest.raises(NotAllowed, match="same-table"):
        governed.propose(inline(table.table_id, 2, "ours"))
    assert governed.tail(table.table_id).latest == 1
    assert len(incidents(governed)) == 1


def test_a_planted_file_with_the_txn_id_of_a_proposal_is_not_taken_for_it(
    governed: Catalog, table: StagingTable
) -> None:
    """A staged commit can be read by whoever may read the log."""
    governed.share_log(ORDERS)
    plant(table, named_file("evil"), txn_id="ours")

    governed.propose(inline(table.table_id, 1, "ours"))

    assert governed.commits(table.table_id)[0].principal == "external"


def test_what_is_a_version_is_not_set_aside(catalog: Catalog, table: StagingTable) -> None:
    catalog.propose(inline(table.table_id, 1, "ours"))
    publish(locate(table.location), 1, "ours")

    for version in (0, 1):
        with pytest.raises(InvalidRequest, match="it stays"):
            catalog.set_aside_version(ORDERS, Version(version))
    with pytest.raises(InvalidRequest, match="nothing is in the way"):
        catalog.set_aside_version(ORDERS, Version(2))


def test_a_transaction_that_is_ratified_is_told_so_whatever_is_in_the_way(
    governed: Catalog, table: StagingTable
) -> None:
    """I9"""
    governed.propose(inline(table.table_id, 1, "ours"))
    info = CommitInfo(in_commit_timestamp=stamp(2), txn_id=TxnId("planted"))
    locate(table.location).put_if_absent(file_names.published_path(Version(2)), codec.encode((info, REMOVAL)))

    assert governed.propose(inline(table.table_id, 1, "ours")) == Ratified(Version(1))
