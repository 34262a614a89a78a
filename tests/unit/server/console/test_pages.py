"""Every page is answered with its headers and loads nothing from elsewhere; text stays text (T11)."""

import json
import re
from html import unescape
from importlib import resources
from pathlib import Path

import msgspec
import pytest

import headgate
from headgate.catalog.ports.directory import TableName
from headgate.server.console.rendering import PACKAGE, foreign
from headgate.server.console.security_headers import SECURITY_HEADERS
from tests.support.console_client import ConsoleClient
from tests.support.console_lakes import MARKUP, ConsoleServer
from tests.support.tables import named_file
from tests.unit.server.console.conftest import Visitor
from tests.unit.server.console.test_authorisation import LAKE_PAGES, TABLE_PAGES

LAKE = "/console/lakes/main"
TABLE = f"{LAKE}/tables/sales.orders"
HOSTILE = "/console/lakes/hostile"
PARTS = ("/rows", "/files", "/maintenance", "/check")
STATIC = resources.files(PACKAGE).joinpath("static")
RAW = re.compile(r"<script>alert|<img src=x|<b>bold|<i>domain|onerror=alert\(1\)>\"'`[^&]", re.IGNORECASE)


@pytest.mark.parametrize(
    "path", [*(LAKE + page for page in LAKE_PAGES), *(TABLE + page for page in TABLE_PAGES)]
)
def test_every_page_is_answered_with_its_headers(visitor: Visitor, path: str) -> None:
    answer = visitor("owner").get(path)

    assert answer.status == 200
    assert dict(SECURITY_HEADERS).items() <= answer.headers.items()
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["content-type"].startswith("text/html")


@pytest.mark.parametrize(
    ("path", "status"),
    [("/console/nowhere", 404), (f"{LAKE}/tables/a.b", 404), (f"{TABLE}/versions/99", 404),
     (f"{TABLE}/compare?older=x", 400), ("/console/sign-in", 200), ("/console/static/nothing.js", 404),
     (f"{LAKE}/grants?table=nonsense", 400)],
)  # fmt: skip
def test_pages_of_errors_have_the_headers_too(visitor: Visitor, path: str, status: int) -> None:
    answer = visitor("owner").get(path)

    assert answer.status == status
    assert dict(SECURITY_HEADERS).items() <= answer.headers.items()
    assert answer.headers["content-type"].startswith("text/html")


def test_a_page_has_no_script_or_style_of_its_own_and_names_no_other_host(visitor: Visitor) -> None:
    owner = visitor("owner")
    for path in (*(LAKE + page for page in LAKE_PAGES), *(TABLE + page for page in TABLE_PAGES)):
        text = owner.get(path).body.decode()
        assert not re.findall(r"<script(?![^>]*src=\"/console/static/)", text)
        assert not re.findall(r"<style|\sstyle=|\son[a-z]+=|javascript:", text)
        assert not re.findall(r"(?:src|href|action|hx-get)=\"(?!/|#|\")", text)


def test_scripts_are_small_and_bring_their_licences() -> None:
    files = {each.name: each.read_bytes() for each in STATIC.iterdir()}

    assert sum(len(content) for name, content in files.items() if name.endswith(".js")) < 150_000
    assert {"htmx.LICENSE.txt", "uplot.LICENSE.txt"} <= files.keys()
    assert not [name for name, content in files.items() if b"sourceMappingURL" in content]


def test_a_static_file_may_be_kept_and_its_type_is_told(console: ConsoleServer) -> None:
    client = ConsoleClient(console.url)
    for name, kind in (
        ("console.css", "text/css"),
        ("console.js", "text/javascript"),
        ("icon.svg", "image/svg+xml"),
    ):
        answer = client.get(f"/console/static/{name}")
        assert answer.status == 200 and answer.headers["content-type"].startswith(kind)
        assert (
            "immutable" in answer.headers["cache-control"]
            and answer.headers["x-content-type-options"] == "nosniff"
        )


@pytest.mark.parametrize("name", ["..%2f__init__.py", "%2e%2e/router.py", "..%5crouter.py", "templates"])
def test_no_other_file_is_served(console: ConsoleServer, name: str) -> None:
    answer = ConsoleClient(console.url).get(f"/console/static/{name}")

    assert answer.status in (303, 404)


def test_text_of_others_is_text(visitor: Visitor) -> None:
    owner, table = visitor("owner"), f"{HOSTILE}/tables/hostile.marked"
    pages = [owner.get(HOSTILE + page) for page in LAKE_PAGES]
    pages += [owner.get(table + page) for page in (*TABLE_PAGES, "/versions/2", "/versions/3")]
    pages += [owner.part(table + page) for page in PARTS]

    texts = [answer.body.decode() for answer in pages if answer.status == 200]
    assert len(texts) == len(pages)
    for text in texts:
        assert not RAW.search(text)
        assert "\u202e" not in text and "\u2066" not in text
        assert "49" not in re.findall(r"`(\d+)&", text)
    assert sum("&lt;script&gt;alert(" in text for text in texts) > 5


def test_what_a_visitor_asks_for_is_text_too(visitor: Visitor) -> None:
    answer = visitor("owner").get(f"{LAKE}/tables?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E")

    assert answer.status == 200
    assert b"<script>alert" not in answer.body


def test_signs_that_cannot_be_seen_are_spelled_out() -> None:
    shown = str(foreign(MARKUP))

    assert "⟨U+202E⟩gpj.exe⟨U+2066⟩" in shown
    assert shown.startswith("<bdi>&lt;script&gt;")
    assert str(foreign("x" * 5, 3)) == "<bdi>xxx</bdi>… (5 characters)"


def test_a_write_is_confirmed_before_it_is_done(console: ConsoleServer, visitor: Visitor) -> None:
    owner = visitor("owner")
    form = {"operation": "grant", "privilege": "append", "on": "sales", "principal": "frank"}

    asked = owner.get(owner.post(f"{LAKE}/grants", form).headers["location"])
    assert asked.status == 200 and b"Grant a privilege?" in asked.body
    assert not any(grant.principal == "frank" for grant in console.catalog.granting.grants())

    assert owner.post(f"{LAKE}/grants", {**form, "confirmed": "yes"}).status == 303
    assert any(grant.principal == "frank" for grant in console.catalog.granting.grants())
    assert owner.post(f"{LAKE}/grants", {**form, "operation": "revoke", "confirmed": "yes"}).status == 303
    assert not any(grant.principal == "frank" for grant in console.catalog.granting.grants())


def test_what_is_due_is_done_without_spark(console: ConsoleServer, visitor: Visitor) -> None:
    owner, path = visitor("owner"), f"{LAKE}/tables/sales.stock/maintenance"

    assert owner.post(path, {"operation": "run", "confirmed": "yes"}).status == 303
    assert owner.part(path).status == 200


def test_a_table_that_is_whole_is_said_to_be(visitor: Visitor) -> None:
    assert b"Nothing is wrong" in visitor("owner").part(f"{TABLE}/check").body


def test_a_version_shows_what_was_ratified_with_it(visitor: Visitor) -> None:
    owner = visitor("owner")

    text = owner.get(f"{TABLE}/versions/8").body.decode()
    assert "Ratified together with" in text and "/tables/sales.stock/versions/2" in text
    assert "/tables/sales.stock/versions/2" in owner.get(f"{LAKE}/transactions").body.decode()


def test_a_member_of_a_transaction_that_is_hidden_is_not_named(visitor: Visitor) -> None:
    text = visitor("carol").get(f"{LAKE}/tables/sales.stock/versions/2").body.decode()

    assert "a table that is not shown to you" in text
    assert "sales.orders" not in text


def test_a_comparison_names_what_changed(visitor: Visitor) -> None:
    text = visitor("owner").get(f"{TABLE}/compare?older=6&newer=7").body.decode()

    assert ">note<" in text and "added" in text


def test_refusals_tell_who_which_rule_and_what_to_do(visitor: Visitor) -> None:
    text = visitor("owner").get(f"{LAKE}/conflicts").body.decode()

    assert "privileges" in text and "bob" in text and "What to do:" in text


def tried(client: ConsoleClient, **fields: str) -> str:
    answer = client.post(f"{LAKE}/rules", {"table": "sales.stock", **fields})
    assert answer.status == 200, answer.body.decode()
    return answer.body.decode()


def test_a_commit_is_tried_on_the_rules_and_none_is_made(console: ConsoleServer, visitor: Visitor) -> None:
    owner, add = visitor("owner"), json.dumps({"add": msgspec.to_builtins(named_file("a.parquet"))})
    entry = console.catalog.resolve(TableName("sales", "stock"))
    latest, events = console.catalog.tail(entry.table_id).latest, console.catalog.events.newest()

    assert "It would be ratified" in tried(owner, actions=add)
    assert "privileges" in tried(owner, actions=add, who="bob")
    assert "DELTA_TABLE_NOT_FOUND" in tried(owner, actions=add, who="nobody")
    assert "refused" in tried(owner, actions="no json <b>at</b> all")
    assert (console.catalog.tail(entry.table_id).latest, console.catalog.events.newest()) == (latest, events)


def test_lines_are_numbered_as_they_were_pasted(visitor: Visitor) -> None:
    owner, add = visitor("owner"), json.dumps({"add": msgspec.to_builtins(named_file("a.parquet"))})
    info = json.dumps({"commitInfo": {"operation": "WRITE"}})

    assert "(line 2, " in tried(owner, actions=f"{add}\nno json")
    assert "(line 4, " in tried(owner, actions=f"\n{info}\n\nno json")
    assert "(line 1, " in tried(owner, actions="no json")


def test_events_are_of_a_kind_that_there_is(visitor: Visitor) -> None:
    owner = visitor("owner")

    refused = owner.get(f"{LAKE}/events?kind=nonsense")
    assert refused.status == 400 and "is no kind of event" in refused.body.decode()
    text = owner.get(f"{LAKE}/events?kind=refusal").body.decode()
    assert "<bdi>bob</bdi>" in text and "Schemas, grants, groups and tokens are no events" in text


def test_what_a_server_counts_says_since_when(visitor: Visitor) -> None:
    text = visitor("owner").get(LAKE).body.decode()

    assert "Refused since this server started" in text and "Races lost since this server started" in text
    assert re.search(r'<time datetime="\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"', text)


def test_a_version_names_its_writers_transaction_and_its_group(visitor: Visitor) -> None:
    owner = visitor("owner")
    text = owner.get(f"{TABLE}/versions/8").body.decode()
    group = re.findall(rf'href="{LAKE}/transactions#(group-[^"]+)"', text)

    assert "<dt>Transaction id of the writer</dt>" in text and len(group) == 1
    assert f'id="{group[0]}"' in owner.get(f"{LAKE}/transactions").body.decode()
    assert "none: it adds and removes no files" in owner.get(f"{TABLE}/versions/7").body.decode()


def test_the_foot_of_a_page_speaks_of_what_is_on_it(visitor: Visitor) -> None:
    owner = visitor("owner")

    assert "the commits of these lakes" in owner.get("/").body.decode()
    assert "the commits of this lake" in owner.get(LAKE).body.decode()


def test_a_version_can_be_tried_again_as_somebody_else(visitor: Visitor) -> None:
    owner = visitor("owner")
    page = owner.get(f"{LAKE}/rules?table=sales.stock&version=1").body.decode()
    text = unescape(page.partition("<textarea")[2].partition(">")[2].partition("</textarea>")[0])

    assert '"add"' in text
    assert "It would be ratified" in tried(owner, actions=text, who="carol")
    assert "privileges" in tried(owner, actions=text, who="bob")


def test_only_the_owner_tries_on_behalf_of_others(visitor: Visitor) -> None:
    bob, fields = visitor("bob"), {"table": "sales.stock", "actions": "{}", "who": "owner"}

    assert bob.post(f"{LAKE}/rules", fields).status == 403
    assert bob.post(f"{LAKE}/rules", {**fields, "who": "bob", "table": "people.customers"}).status == 404
    assert bob.post(f"{LAKE}/rules", {**fields, "actions": "x" * 70_000}).status == 413


def test_the_rules_of_a_table_are_shown(console: ConsoleServer, visitor: Visitor) -> None:
    console.catalog.granting.set_rule("max_commit_files", 700, "sales.stock")
    try:
        text = visitor("owner").get(f"{LAKE}/rules?table=sales.stock").body.decode()
    finally:
        console.catalog.granting.set_rule("max_commit_files", None, "sales.stock")

    assert "max_commit_files" in text and "700" in text


def test_a_clustered_table_shows_how_well_it_is(console: ConsoleServer, visitor: Visitor) -> None:
    with headgate.connect(Path(console.catalog.warehouse).parent) as lake:
        table = lake.create_table("sales.clustered", "id BIGINT, day DATE", cluster_by=["id"])
        for first in (1, 4, 10):
            table.append([{"id": first, "day": None}, {"id": first + 5, "day": None}])
    text = visitor("owner").part(f"{LAKE}/tables/sales.clustered/files").body.decode()

    assert "Files by their clustering depth on id" in text
    assert "On average 1.3" in text
