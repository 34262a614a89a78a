"""Who may let a table name files of another, on either database: the catalog's part in a shallow clone."""

import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.directory import StagingTable, TableName
from headgate.catalog.store import commit_rules
from headgate.catalog.validation import path_containment
from headgate.errors import NotAllowed, TableNotFound
from tests.support.tables import create_managed

SOURCE, TARGET = TableName("s", "source"), TableName("s", "target")


def places(catalog: Catalog, table: StagingTable) -> set[str]:
    with catalog._database.reading() as db:
        return set(commit_rules.load_file_sources(db, table.table_id))


def test_a_clone_may_name_what_its_source_is_and_may_name_itself(catalog: Catalog) -> None:
    source = create_managed(catalog, SOURCE)
    catalog.granting.allow_files(str(SOURCE), "/original")
    target = catalog.stage(TARGET)

    for _ in range(2):  # a repeat changes nothing
        catalog.granting.allow_clone_of(target.table_id, SOURCE)

    assert places(catalog, target) == {source.location, "/original"}
    catalog.granting.allow_clone_locations(target.table_id, ["s3://bucket/t", "/a b"])
    assert places(catalog, target) == {source.location, "/original", "s3://bucket/t", "/a b"}


@pytest.mark.parametrize(
    ("granted", "staged_by", "refused", "elsewhere"),
    [
        ((), "owner", TableNotFound, TableNotFound),
        ((("READ", "s"), ("CREATE", "s")), "owner", TableNotFound, TableNotFound),
        ((("CREATE", "s"),), "ada", TableNotFound, NotAllowed),
        ((("READ", "s.source"), ("CREATE", "s")), "ada", None, NotAllowed),
        ((("READ", "s.source"),), None, TableNotFound, TableNotFound),
        ((("CHANGE DATA", "s.target"),), None, TableNotFound, NotAllowed),
        ((("READ", "s.source"), ("APPEND", "s.target"), ("CREATE", "s")), None, NotAllowed, NotAllowed),
        ((("READ", "s.source"), ("CHANGE DATA", "s.target")), None, None, NotAllowed),
    ],
    ids=str,
)
def test_it_takes_reading_the_one_and_writing_the_other(
    catalog: Catalog,
    granted: tuple[tuple[str, str], ...],
    staged_by: str | None,
    refused: type[Exception] | None,
    elsewhere: type[Exception],
) -> None:
    """T14: what is hidden, also a place that somebody else reserved, is as if it were not there."""
    create_managed(catalog, SOURCE)
    existing = None if staged_by else create_managed(catalog, TARGET)
    for privilege, on in granted:
        catalog.granting.grant(privilege, on, "ada")
    target = existing or catalog.acting_as(str(staged_by)).stage(TARGET)
    ada = catalog.acting_as("ada").granting

    if refused is None:
        ada.allow_clone_of(target.table_id, SOURCE)
    else:
        with pytest.raises(refused):
            ada.allow_clone_of(target.table_id, SOURCE)
    with pytest.raises(elsewhere):  # no table stands for what is there
        ada.allow_clone_locations(target.table_id, ["/etc"])

    assert "/etc" not in places(catalog, target)
    assert bool(places(catalog, target)) == (refused is None)


def test_a_place_that_was_reserved_is_filled_by_who_may_still_make_tables(catalog: Catalog) -> None:
    create_managed(catalog, SOURCE)
    for privilege, on in (("READ", "s.source"), ("CREATE", "s")):
        catalog.granting.grant(privilege, on, "ada")
    ada = catalog.acting_as("ada")
    target = ada.stage(TARGET)
    catalog.granting.revoke("CREATE", "s", "ada")

    with pytest.raises(NotAllowed):
        ada.granting.allow_clone_of(target.table_id, SOURCE)

    assert places(catalog, target) == set()


@pytest.mark.parametrize(
    ("path", "source", "granted"),
    [
        ("file:///a%20b/x", "/a b", True),
        ("file:/a%20b/x", "/a b", True),
        ("/a%20b/x", "/a b", True),
        ("file:///a%2520b/x", "/a%20b", True),
        ("file:///a%20b/x", "/a%20b", False),
        ("s3://b/a%20b/x", "s3://b/a%20b", True),
        ("s3a://b/t/x", "s3://b/t", True),
        ("s3://b/t/x", "s3a://b/t", True),
        ("s3://b/tt/x", "s3://b/t", False),
        ("file:///x/y", "file:///x", True),
        ("gs://b/t/x", "s3://b/t", False),
    ],
)
def test_places_are_compared_however_they_are_spelled(path: str, source: str, granted: bool) -> None:
    assert path_containment.is_below_source(path, [source]) is granted


def test_what_a_table_may_name_goes_with_the_table(catalog: Catalog) -> None:
    create_managed(catalog, SOURCE)
    target = create_managed(catalog, TARGET)
    catalog.granting.allow_clone_of(target.table_id, SOURCE)
    catalog.drop(TARGET)

    catalog.disposal.condemn(target.table_id)
    catalog.disposal.forget(target.table_id)

    assert places(catalog, target) == set()
