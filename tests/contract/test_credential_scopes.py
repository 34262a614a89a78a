"""Credentials: what they vouch for counts, and what they are not good for nobody does by them."""

import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.access import ScopedPrincipal, TokenScope
from headgate.catalog.ports.commits import Ratified
from headgate.catalog.ports.directory import StagingTable
from headgate.errors import CommitRefused, NotAllowed, SchemaNotFound, TableNotFound
from headgate.protocol.actions import Version
from tests.contract.conftest import ORDERS
from tests.support.proposals import fresh
from tests.support.tables import create_managed

CATALOGS = ("sqlite", "postgresql")
GROUP = "group:analysts"


def test_groups_that_an_issuer_vouches_for_count_too(catalog: Catalog, table: StagingTable) -> None:
    catalog.granting.grant("append", "sales", GROUP)
    ana = catalog.acting_as(ScopedPrincipal("ana", groups=[GROUP]))

    assert ana.propose(fresh(table.table_id, 1, "t1")) == Ratified(Version(1))
    assert ana.commits(table.table_id)[0].principal == "ana"
    assert [grant.principal for grant in ana.granting.grants()] == [GROUP]
    with pytest.raises(TableNotFound):
        catalog.acting_as("ana").resolve(ORDERS)


SCOPES = {
    "read only": TokenScope(read_only=True),
    "another schema": TokenScope(schema="other"),
    "this schema": TokenScope(schema="sales"),
}


@pytest.mark.parametrize("scope", SCOPES)
def test_credentials_are_good_for_no_more_than_their_scope(catalog: Catalog, scope: str) -> None:
    """Even of who owns the table, and may do everything in the lake by grants."""
    for schema in ("sales", "other"):
        catalog.create_schema(schema)
    catalog.granting.grant("create", None, "ana")
    catalog.granting.grant("manage grants", None, "ana")
    ana = catalog.acting_as(ScopedPrincipal("ana", SCOPES[scope]))
    made = create_managed(catalog.acting_as("ana"), ORDERS)

    sees, changes = scope != "another schema", scope == "this schema"
    assert (ana.tables() != ()) is sees
    attempts = (
        lambda: ana.propose(fresh(made.table_id, 1, "t1")),
        lambda: ana.granting.grant("read", "sales.orders", "bob"),
        lambda: ana.stage(type(ORDERS)("sales", "more")),
        lambda: ana.drop(ORDERS),
    )
    for attempt in attempts:
        if changes:
            attempt()
        else:
            with pytest.raises((NotAllowed, CommitRefused, TableNotFound, SchemaNotFound)):
                attempt()
    for beyond in (lambda: ana.granting.grant("read", None, "bob"), lambda: ana.create_schema("new")):
        with pytest.raises(NotAllowed):
            beyond()
