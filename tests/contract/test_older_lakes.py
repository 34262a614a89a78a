"""Does a lake that an older release made go on with this one? Over each database, with what was in it."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.embedded import open_catalog
from headgate.errors import NotAllowed, TableNotFound
from headgate.protocol.actions import Version
from tests.support import postgresql
from tests.support.proposals import fresh
from tests.support.tables import NAME, create_managed

HOUR = 60 * 60 * 1000
BEFORE_CALLERS = (
    "DROP TABLE memberships",
    "DROP TABLE tokens",
    "DROP TABLE purged_tables",
    "ALTER TABLE leases DROP COLUMN principal",
    "UPDATE alembic_version SET version_num = '0010'",
)
"""What makes a database of the schema 0011 one of 0010, all other rows as they are."""

Opening = Callable[[], Catalog]


@pytest.fixture(params=["sqlite", "postgresql"])
def opening(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opening]:
    """Opens the same lake, as often as somebody asks."""
    if request.param == "sqlite":
        yield lambda: open_catalog(tmp_path)
        return
    server = postgresql.server()
    with server.database() as name:
        yield lambda: server.catalog(name, tmp_path)


def as_before_callers(catalog: Catalog) -> None:
    with catalog._database.writing() as db:
        for statement in BEFORE_CALLERS:
            db.exec_driver_sql(statement)


def test_a_lake_from_before_callers_were_told_apart_is_brought_up_to_date(opening: Opening) -> None:
    """Its grants, versions and leases stay, and there are groups, tokens and owned leases from now on."""
    with closing(opening()) as older:
        table_id = create_managed(older).table_id
        older.propose(fresh(table_id, 1, "first"))
        older.granting.grant("READ", str(NAME), "ada")
        held = older.acting_as("ada").leases.on_version(table_id, Version(0), holder="ada", ttl_ms=HOUR)
        as_before_callers(older)
        assert older._database.revision() == "0010"

    with closing(opening()) as catalog:
        ada, bob = catalog.acting_as("ada"), catalog.acting_as("bob")
        assert catalog._database.revision() == "0011"
        assert [record.version for record in ada.tail(table_id).commits] == [1]
        with pytest.raises(TableNotFound):
            bob.tail(table_id)
        assert ada.leases.renew(held, ttl_ms=HOUR).lease_id == held.lease_id
        assert catalog.leases.horizon(table_id).version == 0

        newer = ada.leases.on_version(table_id, Version(1), holder="ada", ttl_ms=HOUR)
        with pytest.raises(NotAllowed, match="has ended"):
            bob.leases.renew(newer, ttl_ms=HOUR)
        catalog.granting.add_member("readers", "bob")
        catalog.granting.grant("READ", str(NAME), "group:readers")
        assert bob.resolve(NAME).table_id == table_id
        secret = catalog.tokens.create("bob", ttl_ms=HOUR, label="first").secret
        assert secret.startswith("hgt_")
        catalog.leases.release(held)
        catalog.leases.release(newer)
        catalog.drop(NAME)
        catalog.disposal.condemn(table_id)
        catalog.disposal.forget(table_id)
        with pytest.raises(TableNotFound):
            catalog.tail(table_id)
