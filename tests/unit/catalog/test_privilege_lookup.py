"""A catalog tells beforehand what somebody may do: what it lets them do, and nothing of what is hidden."""

from pathlib import Path

import pytest

from headgate.catalog.ports.access import (
    Principal,
    Privilege,
    PrivilegeLookup,
)
from headgate.catalog.ports.directory import TableName
from headgate.errors import NotAllowed
from headgate.storage.credentials import StorageOperation
from tests.support.catalogs import a_catalog
from tests.support.tables import create_managed


def test_what_is_told_is_what_may_be_done(tmp_path: Path) -> None:
    with a_catalog("sqlite", tmp_path) as catalog:
        assert isinstance(catalog, PrivilegeLookup)
        seen, hidden = (create_managed(catalog, TableName("sales", name)).table_id for name in "ab")
        catalog.granting.grant(Privilege.CHANGE_DATA, "sales.a", Principal("bob"))
        catalog.granting.grant(Privilege.CREATE, None, Principal("bob"))
        bob = catalog.acting_as("bob")
        assert isinstance(bob, PrivilegeLookup)

        assert catalog.held_privileges() == catalog.held_privileges(seen) == frozenset(Privilege)
        changes = {Privilege.CHANGE_DATA, Privilege.APPEND, Privilege.READ}
        assert bob.held_privileges(seen) == changes | {Privilege.CREATE}
        assert bob.held_privileges() == {Privilege.CREATE}
        assert Privilege.READ not in bob.held_privileges(hidden)


def test_who_may_not_write_files_is_told_of_which_table_and_what_it_takes(tmp_path: Path) -> None:
    with a_catalog("sqlite", tmp_path) as catalog:
        table_id = create_managed(catalog, TableName("sales", "orders")).table_id
        catalog.granting.grant(Privilege.READ, "sales.orders", Principal("bob"))

        with pytest.raises(
            NotAllowed, match=r"the files of sales\.orders and not write .* MAINTAIN to tend it"
        ):
            catalog.acting_as("bob").credentials(table_id, StorageOperation.READ_WRITE)
