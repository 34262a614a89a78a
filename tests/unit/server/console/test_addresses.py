"""What somebody may type: every address is answered by a page, and what is wrong with it is said."""

import pytest

from headgate.server.console.security_headers import SECURITY_HEADERS
from tests.support.console_client import ConsoleClient
from tests.support.console_lakes import ConsoleServer
from tests.unit.server.console.conftest import Visitor

LAKE = "/console/lakes/main"
TABLE = f"{LAKE}/tables/sales.orders"
FAR = 999_999_999_999_999_999_999
NUMBERS = (
    f"{LAKE}/events?before=",
    f"{LAKE}/conflicts?before=",
    f"{LAKE}/transactions?before=",
    f"{LAKE}/tables?number=",
    f"{LAKE}?number=",
    f"{LAKE}/grants?number=",
    f"{TABLE}/versions?before=",
    f"{TABLE}/files?number=",
    f"{TABLE}/files?version=",
    f"{TABLE}/compare?newer=",
    f"{LAKE}/rules?table=sales.orders&version=",
)
NOWHERE = (
    f"{LAKE}/nope",
    f"{TABLE}/nope",
    f"{TABLE}/versions/abc",
    f"{LAKE}/tables/sales%2Forders",
    "/console/nowhere",
    "/console/lakes/main/tables/sales.orders/versions/1/2",
)


@pytest.mark.parametrize("number", [FAR, -FAR, -1, "abc", "9" * 5_000], ids=lambda each: str(each)[:8])
@pytest.mark.parametrize("address", NUMBERS)
def test_a_number_that_there_cannot_be_is_said_to_be_one(
    visitor: Visitor, address: str, number: int | str
) -> None:
    answer = visitor("owner").get(f"{address}{number}")
    text = answer.body.decode()

    assert answer.status == 400, text
    asked = address.rstrip("=").replace("&", "?").rpartition("?")[2]
    assert f"In this address {asked} is no whole number that there can be" in text
    assert "Validation failed" not in text and "int" not in text


@pytest.mark.parametrize("number", [2**53 // 1000 - 1, 10**9])
@pytest.mark.parametrize("address", NUMBERS[:8])
def test_a_number_beyond_the_end_gives_the_nearest_page(visitor: Visitor, address: str, number: int) -> None:
    assert visitor("owner").get(f"{address}{number}").status == 200


@pytest.mark.parametrize("version", [FAR, 99, -5])
def test_a_version_that_is_not_there_is_said_not_to_be(visitor: Visitor, version: int) -> None:
    answer = visitor("owner").get(f"{TABLE}/versions/{version}")

    assert answer.status == 404
    assert f"there is no version {version} of sales.orders: its latest is 8" in answer.body.decode()
    assert "list of tables" not in answer.body.decode()


@pytest.mark.parametrize("path", NOWHERE)
def test_an_address_of_nothing_is_answered_by_a_page(visitor: Visitor, path: str) -> None:
    answer = visitor("owner").get(path)

    assert answer.status == 404
    assert answer.headers["content-type"].startswith("text/html")
    assert "The console has no page at this address" in answer.body.decode()
    assert dict(SECURITY_HEADERS).items() <= answer.headers.items()
    assert answer.headers["cache-control"] == "no-store"


def test_a_lake_that_is_not_there_is_no_table(visitor: Visitor) -> None:
    text = visitor("owner").get("/console/lakes/nope").body.decode()

    assert "No lake of this name" in text and "list of tables" not in text


@pytest.mark.parametrize("path", ["/console", "/console/", "/console/lakes", "/console/lakes/"])
def test_a_shortened_address_leads_to_the_beginning(console: ConsoleServer, path: str) -> None:
    answer = ConsoleClient(console.url).get(path)

    assert (answer.status, answer.headers["location"]) == (303, "/")


def test_a_browser_finds_the_icon_by_itself(console: ConsoleServer) -> None:
    client = ConsoleClient(console.url)

    icon = client.get(client.get("/favicon.ico").headers["location"])
    assert icon.status == 200 and icon.headers["content-type"].startswith("image/svg+xml")


def test_what_is_wrong_with_a_form_is_said(visitor: Visitor) -> None:
    grant = {"operation": "grant", "privilege": "READ", "principal": "eve", "confirmed": "yes"}
    adopt = {"location": "/nowhere/at/all", "name": "sales.adopted", "confirmed": "yes"}
    owner, bob = visitor("owner"), visitor("bob")

    assert "there is no schema" in owner.post(f"{LAKE}/grants", {**grant, "on": "nope"}).body.decode()
    assert "/nowhere/at/all" in owner.post(f"{LAKE}/adopt", adopt).body.decode()
    for page in (owner.post(f"{LAKE}/grants", {**grant, "on": "nope"}), owner.post(f"{LAKE}/adopt", adopt)):
        assert page.status == 404 and b"list of tables" not in page.body
    hidden, absent = (
        bob.post(f"{LAKE}/grants", {**grant, "on": f"people.{name}"})
        for name in ("customers", "nothing_at_all")
    )
    assert hidden.status == absent.status == 404
    assert told(hidden.body, "customers") == told(absent.body, "nothing_at_all")
    schemas = [bob.post(f"{LAKE}/grants", {**grant, "on": name}) for name in ("people", "nobody")]
    assert told(schemas[0].body, "people") == told(schemas[1].body, "nobody")


def told(body: bytes, name: str) -> str:
    """What a page of an error says, but for the name and the id of its request."""
    return body.decode().replace(name, "*").rpartition("request")[0]


def test_a_deed_that_is_not_known_is_not_done(console: ConsoleServer, visitor: Visitor) -> None:
    before, owner = console.catalog.granting.grants(), visitor("owner")
    form = {"privilege": "READ", "on": "sales.orders", "principal": "eve", "confirmed": "yes"}

    for operation in ({"operation": "nonsense"}, {"operation": ""}, {}):
        assert owner.post(f"{LAKE}/grants", {**form, **operation}).status == 400
        assert (
            owner.post(
                f"{TABLE}/maintenance", {"kind": "data cleanup", "confirmed": "yes", **operation}
            ).status
            == 400
        )
    assert console.catalog.granting.grants() == before
