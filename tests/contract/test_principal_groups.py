"""Groups: what is granted to one holds for its members, as long as they are."""

import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.access import Group, Principal
from headgate.catalog.ports.commits import Ratified
from headgate.catalog.ports.directory import StagingTable
from headgate.errors import InvalidRequest, NotAllowed, TableNotFound
from headgate.protocol.actions import Version
from tests.contract.conftest import ORDERS
from tests.support.proposals import fresh

GROUP = "group:analysts"


@pytest.mark.parametrize("on", ["sales.orders", "sales", None])
def test_what_a_group_may_its_members_may_while_they_are(
    catalog: Catalog, table: StagingTable, on: str | None
) -> None:
    catalog.granting.grant("append", on, GROUP)
    ana = catalog.acting_as("ana")
    with pytest.raises(TableNotFound):
        ana.resolve(ORDERS)

    assert catalog.granting.add_member("analysts", "ana")
    assert not catalog.granting.add_member(GROUP, "ana")
    assert ana.resolve(ORDERS).table_id == table.table_id
    assert ana.propose(fresh(table.table_id, 1, "t1")) == Ratified(Version(1))
    with pytest.raises(TableNotFound):
        catalog.acting_as("bob").resolve(ORDERS)

    assert catalog.granting.remove_member("analysts", "ana")
    assert not catalog.granting.remove_member("analysts", "ana")
    with pytest.raises(TableNotFound):
        ana.tail(table.table_id)


def test_groups_are_told_to_who_manages_grants_and_ones_own_to_oneself(catalog: Catalog) -> None:
    for member in ("ana", "bob"):
        catalog.granting.add_member("analysts", member)
    catalog.granting.add_member("admins", "bob")
    catalog.granting.grant("manage grants", None, "group:admins")
    everything = (Group("group:admins", (Principal("bob"),)), Group(GROUP, _names("ana", "bob")))

    assert catalog.granting.groups() == everything
    assert catalog.acting_as("bob").granting.groups() == everything
    assert catalog.acting_as("ana").granting.groups() == (Group(GROUP, _names("ana")),)
    assert catalog.acting_as("eve").granting.groups() == ()


def _names(*names: str) -> tuple[Principal, ...]:
    return tuple(map(Principal, names))


def test_grants_of_ones_groups_are_told(catalog: Catalog, table: StagingTable) -> None:
    catalog.granting.grant("read", "sales", GROUP)
    catalog.granting.grant("read", "sales", "group:others")
    catalog.granting.add_member("analysts", "ana")

    assert [grant.principal for grant in catalog.acting_as("ana").granting.grants()] == [GROUP]


@pytest.mark.parametrize(
    ("group", "member"),
    [
        ("", "ana"),
        ("group:group:x", "ana"),
        ("x\ny", "ana"),
        ("g", "group:x"),
        ("g", "owner"),
        ("g", "external"),
    ],
)
def test_what_is_no_group_or_no_member_is_refused(catalog: Catalog, group: str, member: str) -> None:
    with pytest.raises(InvalidRequest):
        catalog.granting.add_member(group, member)

    assert catalog.granting.groups() == ()


def test_nobody_acts_as_a_group(catalog: Catalog) -> None:
    with pytest.raises(InvalidRequest, match="is a group"):
        catalog.acting_as(GROUP)


def test_only_who_manages_grants_of_the_lake_changes_groups(catalog: Catalog, table: StagingTable) -> None:
    catalog.granting.grant("manage grants", "sales", "ana")
    ana = catalog.acting_as("ana").granting

    for call in (ana.add_member, ana.remove_member):
        with pytest.raises(NotAllowed, match="MANAGE GRANTS"):
            call("analysts", "ana")
