"""The console shows what the API shows: it asks as the caller, and what is hidden is not there (T14)."""

import re

import pytest

from headgate.catalog.ports.access import Principal, Privilege
from tests.support.console_client import ConsoleClient, signed_in
from tests.support.console_lakes import ConsoleServer
from tests.support.console_walk import LAKE_PAGES, TABLE_PAGES
from tests.unit.server.console.conftest import Visitor

LAKE = "/console/lakes/main"
RUN = "Do what is due without Spark"


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
        "operation": "grant",
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
        ("/maintenance", {"operation": "permit", "kind": "metadata cleanup"}),
        ("/maintenance", {"operation": "run"}),
        ("/check", {}),
        ("/release", {}),
    ],
)
def test_who_may_read_may_not_tend_or_release(
    console: ConsoleServer, visitor: Visitor, page: str, form: dict[str, str]
) -> None:
    entry = next(each for each in console.catalog.tables() if str(each.name) == "sales.orders")
    permitted = console.catalog.permissions.permitted_kinds(entry.table_id)

    answer = visitor("bob").post(f"{LAKE}/tables/sales.orders{page}", {**form, "confirmed": "yes"})

    assert answer.status == 403, answer.body.decode()
    assert console.catalog.permissions.permitted_kinds(entry.table_id) == permitted
    assert console.catalog.resolve_id(entry.table_id) == entry


def test_only_the_owner_adopts_with_the_rights_of_the_server(visitor: Visitor) -> None:
    form = {"location": "/etc", "name": "sales.etc", "confirmed": "yes"}

    assert visitor("carol").post(f"{LAKE}/adopt", form).status == 403


def test_the_stream_of_a_lake_is_for_who_is_known(console: ConsoleServer) -> None:
    assert ConsoleClient(console.url).get(f"{LAKE}/live").status == 303


def test_somebody_without_grants_sees_an_empty_lake(visitor: Visitor) -> None:
    answer = visitor("nobody").get(LAKE)

    assert answer.status == 200
    assert b"There is no table here that you may see" in answer.body


def forms(client: ConsoleClient, path: str) -> set[str]:
    """What the forms of a page do, but for signing out."""
    text = client.get(path).body.decode().partition("<main")[2]
    return set(re.findall(r'<button[^>]*type="submit">([^<]+)', text)) - {"Explain", "Find", "Try it", "Show"}


@pytest.mark.parametrize(
    ("page", "offered", "privilege"),
    [
        ("/tables/sales.orders/release", {"Go on"}, "DROP"),
        (
            "/tables/sales.orders/maintenance",
            {"Do what is due without Spark", "Permit", "Forbid"},
            "MAINTAIN",
        ),
        ("/grants", {"Take back", "Go on"}, "MANAGE GRANTS"),
        ("/adopt", {"Go on"}, "owner"),
    ],
)
def test_nothing_is_offered_that_the_server_would_refuse(
    visitor: Visitor, page: str, offered: set[str], privilege: str
) -> None:
    owner, bob = visitor("owner"), visitor("bob")

    assert forms(owner, LAKE + page) == offered
    assert forms(bob, LAKE + page) == set()
    assert privilege in bob.get(LAKE + page).body.decode()


def test_what_somebody_may_do_with_one_table_is_offered_there(
    console: ConsoleServer, visitor: Visitor
) -> None:
    given = [
        (each, "sales.stock", Principal("dan")) for each in (Privilege.MANAGE_GRANTS, Privilege.MAINTAIN)
    ]
    for each in given:
        console.catalog.granting.grant(*each)
    try:
        dan = signed_in(console.url, console.catalog.tokens.create("dan", ttl_ms=60_000).secret)
        assert forms(dan, f"{LAKE}/grants?table=sales.stock") == {"Take back", "Go on"}
        assert forms(dan, f"{LAKE}/tables/sales.stock/maintenance") >= {RUN}
        assert forms(dan, f"{LAKE}/tables/sales.stock/release") == set()
    finally:
        for each in given:
            console.catalog.granting.revoke(*each)


def test_a_refusal_names_the_table_and_the_privilege(visitor: Visitor) -> None:
    form = {"operation": "run", "confirmed": "yes"}
    text = visitor("bob").post(f"{LAKE}/tables/sales.orders/maintenance", form).body.decode()

    assert "the files of sales.orders" in text and "MAINTAIN to tend it" in text


def test_beyond_the_last_page_of_tables_is_the_last_one(visitor: Visitor) -> None:
    owner = visitor("owner")

    for path in (f"{LAKE}/tables?number=2", f"{LAKE}?number=99"):
        assert "sales.orders" in owner.get(path).body.decode()
    assert "There is no table of such a name" in owner.get(f"{LAKE}/tables?q=%00").body.decode()
