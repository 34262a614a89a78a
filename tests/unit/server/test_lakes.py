"""Which catalog is asked on behalf of whom? One for each credential, kept as long as few others come."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from headgate.catalog.ports.access import ScopedPrincipal, TokenScope
from headgate.catalog.ports.directory import TableName
from headgate.errors import NotAllowed
from headgate.server import lakes
from headgate.server.lakes import ServedLake
from headgate.settings import Settings
from headgate.table.commit.background import PostCommitScheduler
from tests.support.catalogs import a_catalog


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[ServedLake]:
    with a_catalog("sqlite", tmp_path) as catalog:
        catalog.create_schema("sales")
        yield ServedLake("main", catalog, PostCommitScheduler(Settings(), catalog.copies.write_if_due))


def test_who_asks_again_is_asked_for_with_the_same_catalog(lake: ServedLake) -> None:
    assert lake.catalog_for("ana") is lake.catalog_for("ana")
    assert lake.catalog_for("ana") is not lake.catalog_for("bob")
    assert lake.catalog_for("bob").principal == "bob"


@pytest.mark.parametrize(
    "other",
    [
        "ana",
        ScopedPrincipal("ana", TokenScope(read_only=True), token_id="one"),
        ScopedPrincipal("ana", TokenScope(schema="sales"), token_id="one"),
        ScopedPrincipal("ana", groups=("group:admins",), token_id="one"),
        ScopedPrincipal("ana", token_id="two"),
    ],
    ids=("a bare name", "read only", "one schema", "a group", "another token"),
)
def test_credentials_of_one_principal_are_not_mixed_up(lake: ServedLake, other: str) -> None:
    one = ScopedPrincipal("ana", token_id="one")

    assert one == other, "a scoped principal is its name"
    assert lake.catalog_for(one) is not lake.catalog_for(other)


def test_a_narrow_token_gains_nothing_by_a_wide_one_of_the_same_principal(lake: ServedLake) -> None:
    lake.catalog.granting.grant("create", "sales", "ana")
    wide = ScopedPrincipal("ana", token_id="one")
    narrow = ScopedPrincipal("ana", TokenScope(read_only=True), token_id="two")

    lake.catalog_for(wide).stage(TableName("sales", "a"))
    with pytest.raises(NotAllowed):
        lake.catalog_for(narrow).stage(TableName("sales", "b"))


def test_catalogs_of_very_many_are_not_kept(lake: ServedLake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lakes, "_MOST_ACTING", 3)
    for number in range(10):
        assert lake.catalog_for(f"p{number}").principal == f"p{number}"

    assert len(lake._acting) <= 3
