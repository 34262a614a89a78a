"""Which server, which catalog and which API is meant by an address."""

import pytest

from headgate.catalog.targets import CatalogTarget
from headgate.catalog.unity.opening import parse_address
from headgate.errors import CatalogUnavailable, InvalidRequest
from headgate.plugins import catalogs

CANARY = "canary-token"


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("uc+http://h:8080/unity", ("http://h:8080", "unity")),
        ("uc+https://h/my%20cat/", ("https://h", "my cat")),
    ],
)
def test_an_address_names_a_server_and_a_catalog(place: str, expected: tuple[str, str]) -> None:
    assert parse_address(place) == expected


@pytest.mark.parametrize(
    "place",
    [
        "uc+http://h", "uc+http://h/", "uc+http://h/a/b", "uc+ftp://h/a", "uc+http:///a",
        f"uc+http://u:{CANARY}@h/a", f"uc+http://h/a?token={CANARY}",
    ],
)  # fmt: skip
def test_other_addresses_are_refused_without_repeating_what_may_be_a_secret(place: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        parse_address(place)

    assert CANARY not in str(refused.value)


def test_a_token_is_not_sent_in_the_clear_nor_shown() -> None:
    target = CatalogTarget("uc+http://lakes.example/main", token=CANARY)

    with pytest.raises(InvalidRequest, match="https") as refused:
        catalogs.open_catalog(target)

    assert CANARY not in f"{refused.value} {target!r}"


def test_a_server_that_is_away_says_so() -> None:
    with pytest.raises(CatalogUnavailable, match="nothing was changed") as away:
        catalogs.open_catalog(CatalogTarget("uc+http://127.0.0.1:1/main", token=CANARY))

    assert CANARY not in f"{away.value} {away.value!r}"


def test_a_warehouse_is_the_servers_business() -> None:
    with pytest.raises(InvalidRequest, match="leave warehouse out"):
        catalogs.open_catalog(CatalogTarget("uc+http://127.0.0.1:1/main", warehouse="/x"))
