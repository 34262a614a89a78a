"""Who is signed in? A cookie that nobody else can read or make; forms of others are refused (T18)."""

import secrets
from pathlib import Path

import pytest

from headgate.server.console.session import SESSION_SECONDS, ConsoleSession, SessionSeal, new_key, new_session
from headgate.server.settings import ServerSettings
from tests.support.catalogs import a_catalog
from tests.support.console_client import ConsoleClient
from tests.support.console_lakes import ADMIN, ConsoleServer
from tests.support.operated_server import operated
from tests.unit.server.console.conftest import Visitor

GRANTS = "/console/lakes/main/grants"
GRANT = {
    "operation": "grant",
    "privilege": "READ",
    "on": "sales.orders",
    "principal": "eve",
    "confirmed": "yes",
}


def granted(console: ConsoleServer, principal: str) -> bool:
    return any(grant.principal == principal for grant in console.catalog.granting.grants())


def test_a_session_is_opened_by_the_key_that_sealed_it_and_by_no_other() -> None:
    ours, theirs = (SessionSeal(new_key(), ServerSettings()) for _ in range(2))
    session = new_session(1_000, "a-token")
    cookies = {ours.cookie_name: ours.cookie(session).value or ""}

    assert ours.open(cookies, 2_000) == session
    assert theirs.open(cookies, 2_000) is None
    assert ours.open({ours.cookie_name: cookies[ours.cookie_name][:-4] + "AAAA"}, 2_000) is None
    assert ours.open({ours.cookie_name: "nonsense"}, 2_000) is None


def test_a_session_ends_by_itself() -> None:
    seal = SessionSeal(new_key(), ServerSettings())
    cookies = {seal.cookie_name: seal.cookie(new_session(0, "a-token")).value or ""}

    assert seal.open(cookies, SESSION_SECONDS * 1000 - 1) is not None
    assert seal.open(cookies, SESSION_SECONDS * 1000) is None


def test_neither_a_cookie_nor_a_log_shows_the_token() -> None:
    seal, token = SessionSeal(new_key(), ServerSettings()), secrets.token_hex(16)
    session = ConsoleSession("proof", 1, token)

    assert token not in (seal.cookie(session).value or "")
    assert token not in repr(session) and "proof" not in repr(session)


@pytest.mark.parametrize("settings", [{"behind_proxy": True}, {"tls_certificate": "c", "tls_key": "k"}])
def test_under_tls_the_cookie_is_secure_and_bound_to_the_host(settings: dict[str, object]) -> None:
    cookie = SessionSeal(new_key(), ServerSettings(**settings)).cookie(new_session(0))  # type: ignore[arg-type]

    assert cookie.secure and cookie.httponly and cookie.samesite == "strict" and cookie.path == "/"
    assert cookie.key.startswith("__Host-")


def test_the_cookie_of_a_server_is_http_only_and_strict(console: ConsoleServer) -> None:
    answer = ConsoleClient(console.url).sign_in(ADMIN)

    assert answer.status == 303
    flags = {part.strip().lower() for part in answer.headers["set-cookie"].split(";")}
    assert {"httponly", "samesite=strict", "path=/"} <= flags
    assert ADMIN not in answer.headers["set-cookie"] and ADMIN not in answer.headers["location"]


def test_who_has_no_session_is_sent_to_sign_in_and_then_back(console: ConsoleServer) -> None:
    client = ConsoleClient(console.url)

    asked = client.get("/console/lakes/main/events")
    assert (
        asked.status == 303
        and asked.headers["location"] == "/console/sign-in?next=/console/lakes/main/events"
    )
    assert (
        client.sign_in(ADMIN, "/console/lakes/main/events").headers["location"]
        == "/console/lakes/main/events"
    )


def test_who_signs_in_comes_back_with_what_was_asked(console: ConsoleServer) -> None:
    client, path = ConsoleClient(console.url), "/console/lakes/main/tables?q=a//b&number=1"

    asked = client.get(path).headers["location"]
    assert asked == "/console/sign-in?next=/console/lakes/main/tables%3Fq%3Da//b%26number%3D1"
    assert "has ended" not in client.get(asked).body.decode()
    assert client.sign_in(ADMIN, path).headers["location"] == path


def test_who_had_a_session_is_told_that_it_ended(console: ConsoleServer) -> None:
    client = ConsoleClient(console.url, {"headgate_console": "of-a-server-that-was-here-before"})

    asked = client.get("/console/lakes/main/events").headers["location"]

    assert asked == "/console/sign-in?next=/console/lakes/main/events&ended=yes"
    assert "Your session has ended" in client.get(asked).body.decode()


@pytest.mark.parametrize(
    "elsewhere",
    ["https://evil.example/", "//evil.example/console/", "/console//evil.example", "/\\evil.example"],
)
def test_signing_in_leads_nowhere_else(console: ConsoleServer, elsewhere: str) -> None:
    assert ConsoleClient(console.url).sign_in(ADMIN, elsewhere).headers["location"] == "/"


def test_an_unknown_token_begins_no_session(console: ConsoleServer) -> None:
    client = ConsoleClient(console.url)

    assert client.sign_in("hg_nonsense").status == 401
    assert client.get("/console/lakes/main").status == 303


def test_a_token_that_is_taken_back_ends_its_sessions(console: ConsoleServer) -> None:
    made = console.catalog.tokens.create("dora", ttl_ms=60_000)
    client = ConsoleClient(console.url)
    client.sign_in(made.secret)
    assert client.get("/console/lakes/main").status == 200

    owner = ConsoleClient(console.url)
    path = f"/api/headgate/v1/lakes/main/tokens/{made.token.token_id}"
    owner._ask("DELETE", path, None, {"authorization": f"Bearer {ADMIN}"})

    assert client.get("/console/lakes/main").status == 303


def test_who_signs_out_has_no_session_left(visitor: Visitor) -> None:
    client = visitor("bob")

    assert client.post("/console/sign-out", {}).status == 303
    assert client.get("/console/lakes/main").status == 303


def test_a_form_without_the_token_of_the_session_does_nothing(
    console: ConsoleServer, visitor: Visitor
) -> None:
    client = visitor("owner")

    assert client.post(GRANTS, GRANT, csrf="").status == 403
    assert client.post(GRANTS, GRANT, csrf=visitor("owner").csrf).status == 403
    assert not granted(console, "eve")


def test_a_form_from_another_site_does_nothing_even_with_the_token(
    console: ConsoleServer, visitor: Visitor
) -> None:
    client = visitor("owner")

    assert client.post(GRANTS, GRANT, {"sec-fetch-site": "cross-site"}).status == 403
    assert client.post(GRANTS, GRANT, {"sec-fetch-site": "same-site"}).status == 403
    assert not granted(console, "eve")


def test_every_form_is_checked(console: ConsoleServer, visitor: Visitor) -> None:
    client, table = visitor("owner"), "/console/lakes/main/tables/sales.stock"
    forms = (
        GRANTS,
        f"{table}/maintenance",
        f"{table}/check",
        f"{table}/release",
        "/console/lakes/main/adopt",
    )

    assert [client.post(path, GRANT, csrf="wrong").status for path in (*forms, "/console/sign-out")] == [
        403
    ] * 6


def test_without_accounts_the_console_is_the_owners_and_forms_are_checked_all_the_same(
    tmp_path: Path,
) -> None:
    with a_catalog("sqlite", tmp_path) as catalog, operated(catalog) as server:
        client = ConsoleClient(server.url)
        assert client.get("/").status == 303
        assert client.get(GRANTS).status == 200

        assert client.post(GRANTS, GRANT, csrf="wrong").status == 403
        assert client.post(GRANTS, {**GRANT, "on": ""}).status == 303
        assert [str(grant.principal) for grant in catalog.granting.grants()] == ["eve"]


def test_without_accounts_no_name_but_the_machines_own_reaches_the_console(tmp_path: Path) -> None:
    with a_catalog("sqlite", tmp_path) as catalog, operated(catalog) as server:
        client = ConsoleClient(server.url)

        assert client.get(GRANTS, {"host": "rebound.example"}).status == 303
        assert client.get(GRANTS, {"host": "localhost:1"}).status == 200
