"""Tables are found by words, a page at a time, by who may see them; groups by their commits."""

from pathlib import Path

import headgate
from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.access import Principal, ScopedPrincipal, TokenScope
from headgate.catalog.ports.directory import TableName, TableSearch
from headgate.catalog.ports.groups import GroupRecords
from headgate.protocol.actions import Version
from tests.support.catalogs import a_catalog
from tests.support.tables import create_managed

NAMES = ("a_orders", "b_orders", "c_stock", "d_100x")


def names_found(
    catalog: TableSearch, words: str = "", offset: int = 0, limit: int = 10
) -> tuple[list[str], int]:
    found, total = catalog.search_tables(words, offset=offset, limit=limit)
    return [each.name.table for each in found], total


def test_words_and_pages_narrow_what_is_found(tmp_path: Path) -> None:
    with a_catalog("sqlite", tmp_path) as catalog:
        for name in NAMES:
            create_managed(catalog, TableName("sales", name))

        assert names_found(catalog) == (list(NAMES), 4)
        assert names_found(catalog, "ORDERS sales") == (["a_orders", "b_orders"], 2)
        assert names_found(catalog, "", 1, 2) == (["b_orders", "c_stock"], 4)
        assert names_found(catalog, "", 9) == ([], 4)
        assert names_found(catalog, "100%") == names_found(catalog, "d.100") == ([], 0)
        entries, _ = catalog.search_tables("stock", offset=0, limit=1)
        assert entries == (catalog.resolve(TableName("sales", "c_stock")),)


def test_only_those_are_found_and_counted_that_one_may_see(tmp_path: Path) -> None:
    with a_catalog("sqlite", tmp_path) as catalog:
        for schema in ("sales", "people"):
            for name in NAMES:
                create_managed(catalog, TableName(schema, name))
        granting = catalog.granting
        granting.grant("READ", "sales.a_orders", "bob")
        granting.grant("CREATE", "people", "bob")
        granting.grant("APPEND", "people", "group:hr")
        granting.add_member("hr", "carol")
        granting.grant("MAINTAIN", None, "dora")

        assert names_found(catalog.acting_as("nobody")) == ([], 0)
        assert names_found(catalog.acting_as("bob")) == (["a_orders"], 1)
        assert names_found(catalog.acting_as("carol"), "people") == (list(NAMES), 4)
        assert names_found(catalog.acting_as("carol"), "sales") == ([], 0)
        assert names_found(catalog.acting_as("dora"))[1] == 8
        limited = Principal(ScopedPrincipal("dora", TokenScope(schema="sales")))
        assert names_found(catalog.acting_as(limited))[1] == 4
        for who in ("nobody", "bob", "carol", "dora", limited):
            acting = catalog.acting_as(who)
            assert acting.search_tables("", offset=0, limit=100) == (acting.tables(), len(acting.tables()))


def test_a_group_is_told_to_who_sees_one_of_its_commits(tmp_path: Path) -> None:
    with headgate.connect(tmp_path) as lake:
        lake.create_schema("s")
        for name in ("s.a", "s.b", "s.c"):
            lake.create_table(name, "id INT")
        with lake.transaction() as tx:
            for name in ("s.a", "s.b"):
                tx.table(name).append([{"id": 1}])
        lake.table("s.c").append([{"id": 1}])
        lake.grant("READ", on="s.a", to="bob")

    catalog = open_catalog(tmp_path)
    ids = {str(entry.name): entry.table_id for entry in catalog.tables()}
    commits = [(table_id, Version(1)) for table_id in ids.values()]
    groups = catalog.groups_with(commits)

    assert isinstance(catalog, GroupRecords) and isinstance(catalog, TableSearch)
    assert [sorted(member.table_id for member in group.members) for group in groups] == [
        sorted((ids["s.a"], ids["s.b"]))
    ]
    assert [member.version for member in groups[0].members] == [1, 1]
    assert catalog.acting_as("bob").groups_with(commits) == groups
    assert (
        catalog.acting_as("bob").groups_with(commits[1:])
        == catalog.acting_as("eve").groups_with(commits)
        == ()
    )
    assert catalog.groups_with([(ids["s.a"], Version(0))]) == ()
    catalog.close()
