"""The console shows what the API shows: it asks as the caller, and what is hidden is not there (T14)."""

import re

import pytest

from tests.support.console_client import ConsoleClient
from tests.support.console_lakes import ConsoleServer
from tests.support.console_walk import LAKE_PAGES, TABLE_PAGES
from tests.unit.server.console.conftest import Visitor

LAKE = "/console/lakes/main"


def without_request(body: bytes) -> str:
    """A page but for the id of its request."""
    return re.sub(r"request [0-9a-f]{16}", "", body.decode())


@pytest.mark.parametrize("page", TABLE_PAGES)
def test_a_hidden_table_looks_like_one_that_is_not_there(visitor: Visitor, page: str) -> None:
    bob = visitor("bob")

    hidden, absent = (
        bob.get(f"{LAKE}/tables/people.{name}{page}") for name in ("customers", "nothing_at_all")
    )

    assert hidden.status == absent.status == 404
    assert without_request(hidden.body) == without_request(absent.body)
    assert visitor("owner").get(f"{LAKE}/tables/people.customers{page}").status == 200


@pytest.mark.parametrize("page", ("/rows", "/files", "/maintenance", "/check"))
def test_a_part_of_a_hidden_page_is_hidden_too(visitor: Visitor, page: str) -> None:
    bob = visitor("bob")

    hidden, absent = (
        bob.part(f"{LAKE}/tables/people.{name}{page}") for name in ("customers", "nothing_at_all")
    )

    assert hidden.status == absent.status == 404
    assert hidden.body == absent.body
    assert visitor("owner").part(f"{LAKE}/tables/people.customers{page}").status == 200


@pytest.mark.parametrize("page", (*LAKE_PAGES, "/activity", "/tables?q=customers"))
def test_no_page_of_the_lake_names_what_is_hidden(visitor: Visitor, page: str) -> None:
    secret = b"people.customers"
    mine = visitor("bob").get(LAKE + page)

    assert mine.status == 200
    assert secret not in mine.body
    if page in ("", "/tables", "/events"):
        assert secret in visitor("owner").get(LAKE + page).body


def test_a_lake_that_a_token_is_not_for_is_not_there(visitor: Visitor) -> None:
    assert visitor("bob").get("/console/lakes/hostile").status == 404
    assert visitor("bob").get("/console/lakes/nowhere").status == 404
    assert visitor("owner").get("/console/lakes/hostile").status == 200


def test_who_may_read_may_not_grant(console: ConsoleServer, visitor: Visitor) -> None:
    bob, before = visitor("bob"), console.catalog.granting.grants()
    form = {
        "deed": "grant",
        "privilege": "DROP",
        "on": "sales.orders",
        "principal": "bob",
        "confirmed": "yes",
    }

    assert bob.post(f"{LAKE}/grants", form).status == 403
    assert console.catalog.granting.grants() == before


@pytest.mark.parametrize(
    ("page", "form"),
    [
        ("/maintenance", {"deed": "permit", "kind": "metadata cleanup"}),
        ("/maintenance", {"deed": "run"}),
        ("/check", {}),
        ("/release", {}),
    ],
)
def test_who_may_read_may_not_tend_or_release(
    console: ConsoleServer, visitor: Visitor, page: str, form: dict[str, str]
) -> None:
    entry = next(each for each in console.catalog.tables() if str(each.name) == "sales.orders")
    permitted = console.catalog.permissions.of(entry.table_id)

    answer = visitor("bob").post(f"{LAKE}/tables/sales.orders{page}", {**form, "confirmed": "yes"})

    assert answer.status == 403, answer.body.decode()
    assert console.catalog.permissions.of(entry.table_id) == permitted
    assert console.catalog.resolve_id(entry.table_id) == entry


def test_only_the_owner_adopts_with_the_rights_of_the_server(visitor: Visitor) -> None:
    form = {"location": "/etc", "name": "sales.etc", "confirmed": "yes"}

    assert visitor("carol").post(f"{LAKE}/adopt", form).status == 403


def test_the_stream_of_a_lake_is_for_who_is_known(console: ConsoleServer) -> None:
    assert ConsoleClient(console.url).get(f"{LAKE}/live").status == 303


def test_somebody_without_grants_sees_an_empty_lake(visitor: Visitor) -> None:
    answer = visitor("nobody").get(LAKE)

    assert answer.status == 200
    assert b"There is no table yet" in answer.body
