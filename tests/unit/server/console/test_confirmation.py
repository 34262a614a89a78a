"""What changes something is asked about on a page of its own, done once, and then said to be done."""

import re
from html import unescape
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

import headgate
from headgate.catalog.ports.commits import Ratified
from headgate.catalog.ports.directory import TableName
from headgate.server.console.completed_actions import CompletedAction, done_sentence
from tests.support.console_client import ConsoleClient
from tests.support.console_lakes import ConsoleServer
from tests.support.proposals import inline
from tests.support.tables import create_managed
from tests.unit.server.console.conftest import Visitor

LAKE = "/console/lakes/main"
STOCK = f"{LAKE}/tables/sales.stock"
GRANT = {"operation": "grant", "privilege": "READ", "on": "sales.stock", "principal": "heidi"}
FORMS = (
    (f"{LAKE}/grants", GRANT),
    (f"{STOCK}/maintenance", {"operation": "run"}),
    (f"{STOCK}/maintenance", {"operation": "permit", "kind": "data cleanup"}),
    (f"{STOCK}/check", {}),
    (f"{STOCK}/release", {}),
    (f"{LAKE}/adopt", {"location": "/somewhere", "name": "sales.adopted"}),
)


def question(client: ConsoleClient, path: str, fields: dict[str, str]) -> str:
    """The address of the question that a form leads to."""
    answer = client.post(path, fields)
    assert answer.status == 303, answer.body.decode()
    return answer.headers["location"]


def confirm(client: ConsoleClient, path: str, fields: dict[str, str]) -> str:
    """Say yes on the page of the question; the address that leads on."""
    text = client.get(question(client, path, fields)).body.decode()
    found = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', text))
    action = re.findall(r'<form action="([^"]+)" method="post" class="row">', text)[0]
    answer = client.post(unescape(action), {name: unescape(value) for name, value in found.items()})
    assert answer.status == 303, answer.body.decode()
    return answer.headers["location"]


def granted(console: ConsoleServer) -> bool:
    return any(grant.principal == "heidi" for grant in console.catalog.granting.grants())


@pytest.mark.parametrize(
    ("path", "fields"), FORMS, ids=[path + fields.get("operation", "") for path, fields in FORMS]
)
def test_a_question_is_a_page_that_one_can_come_back_to(
    visitor: Visitor, path: str, fields: dict[str, str]
) -> None:
    owner = visitor("owner")
    address = question(owner, path, fields)

    pages = [owner.get(address) for _ in range(2)]

    assert [page.status for page in pages] == [200, 200]
    assert pages[0].body == pages[1].body and b'name="confirmed" value="yes"' in pages[0].body
    assert f'action="{path}"' in pages[0].body.decode()
    assert f'href="{path}">Leave it' in pages[0].body.decode()
    assert owner.csrf not in address


def test_what_was_done_is_said_on_the_page_that_follows(console: ConsoleServer, visitor: Visitor) -> None:
    owner = visitor("owner")

    onward = confirm(owner, f"{LAKE}/grants", GRANT)
    assert onward == f"{LAKE}/grants?done=granted" and granted(console)
    assert "The privilege was granted." in owner.get(onward).body.decode()

    onward = confirm(owner, f"{LAKE}/grants", {**GRANT, "operation": "revoke"})
    assert "The grant was taken back." in owner.get(onward).body.decode() and not granted(console)
    onward = confirm(owner, f"{LAKE}/grants", {**GRANT, "operation": "revoke"})
    assert "There was no such grant" in owner.get(onward).body.decode()


def test_maintenance_says_what_it_did(console: ConsoleServer, visitor: Visitor) -> None:
    owner, path = visitor("owner"), f"{LAKE}/tables/sales.unpublished/maintenance"
    made = create_managed(console.catalog, TableName("sales", "unpublished"))
    assert isinstance(console.catalog.propose(inline(made.table_id, 1, "unpublished")), Ratified)

    for fields, said in (
        ({"operation": "run"}, CompletedAction.TENDED),
        ({"operation": "run"}, CompletedAction.NOTHING_DUE),
        ({"operation": "permit", "kind": "metadata cleanup"}, CompletedAction.PERMITTED),
        ({"operation": "forbid", "kind": "metadata cleanup"}, CompletedAction.FORBIDDEN),
    ):
        onward = confirm(owner, path, fields)
        assert onward == f"{path}?done={said.value}"
        assert done_sentence(said.value) in owner.get(onward).body.decode()
    assert confirm(owner, f"{STOCK}/check", {}) == f"{STOCK}/check?done=repaired"


def test_a_table_that_comes_or_goes_is_said_to(console: ConsoleServer, visitor: Visitor) -> None:
    owner = visitor("owner")
    with headgate.connect(Path(console.catalog.warehouse).parent) as lake:
        place = lake.create_table("sales.moving", "id INT").location

    assert confirm(owner, f"{LAKE}/tables/sales.moving/release", {}) == f"{LAKE}/tables?done=released"
    onward = confirm(owner, f"{LAKE}/adopt", {"location": place, "name": "sales.moved"})
    assert onward == f"{LAKE}/tables/sales.moved?done=adopted"
    assert "The table was adopted" in owner.get(onward).body.decode()


def test_only_words_that_are_known_say_anything(visitor: Visitor) -> None:
    assert all(done_sentence(each.value) for each in CompletedAction)
    assert done_sentence("nonsense") == done_sentence("") == ""
    text = visitor("owner").get(f"{LAKE}/grants?done=%3Cb%3EPay%20mallory").body.decode()
    assert "mallory" not in text and 'class="notice good done"' not in text


def test_nobody_is_led_to_a_question_by_a_link_of_somebody_else(visitor: Visitor) -> None:
    owner, other = visitor("owner"), visitor("owner")
    address = question(other, f"{LAKE}/grants", GRANT)
    asked = dict(parse_qsl(urlsplit(address).query))

    for path in (
        address,
        f"{LAKE}/grants/confirm?operation=grant&privilege=READ&principal=mallory",
        question(owner, f"{LAKE}/grants", GRANT).replace("heidi", "mallory"),
        f"{LAKE}/grants/confirm?proof={asked['proof']}",
    ):
        answer = owner.get(path)
        assert answer.status == 403 and b"Grant it" not in answer.body


def test_a_place_with_a_secret_in_it_is_in_no_address(visitor: Visitor) -> None:
    fields = {"location": "s3://bucket/table?secret=abcdef0123456789", "name": "sales.adopted"}

    answer = visitor("owner").post(f"{LAKE}/adopt", fields)

    assert answer.status == 400 and "abcdef0123456789" not in answer.body.decode()
