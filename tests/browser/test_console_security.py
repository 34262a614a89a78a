"""A session in a real browser: no script reads it, no other site uses it, nothing hidden is told apart."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser

import headgate
from headgate.server.trusted_issuers import TrustedIssuer
from tests.browser.conftest import Opened
from tests.support.browser import new_context
from tests.support.code_issuer import CLIENT_ID, code_issuer
from tests.support.console_lakes import ConsoleServer, console_server

GRANT = {
    "operation": "grant",
    "privilege": "DROP",
    "on": "sales.orders",
    "principal": "mallory",
    "confirmed": "yes",
}


def granted(console: ConsoleServer) -> bool:
    return any(grant.principal == "mallory" for grant in console.catalog.granting.grants())


@contextmanager
def another_site(page: str) -> Iterator[int]:
    """The port of a server with one page, which is another origin than the console's."""

    class OnePage(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *_: object) -> None:
            """Nothing is written down."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), OnePage) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()


def forged_form(console: ConsoleServer) -> str:
    fields = "".join(f'<input name="{name}" value="{value}">' for name, value in GRANT.items())
    action = f"{console.url}/console/lakes/main/grants"
    return f'<form id="f" method="post" action="{action}">{fields}</form><script>f.submit()</script>'


def test_no_script_and_no_address_has_the_token(console: ConsoleServer, signed_in: Opened) -> None:
    watched = signed_in()
    page = watched.visit(f"{console.url}/console/lakes/main/grants")
    token = console.tokens["owner"]

    assert page.evaluate("() => document.cookie") == ""
    assert page.evaluate("() => localStorage.length + sessionStorage.length") == 0
    assert page.evaluate("async () => (await indexedDB.databases()).length") == 0
    assert token not in page.url and token not in page.content()
    cookie = next(each for each in page.context.cookies() if each["name"] == "headgate_console")
    assert cookie["httpOnly"] and cookie["sameSite"] == "Strict" and token not in cookie["value"]
    page.close()


def test_a_form_on_another_port_of_the_same_host_does_nothing(
    console: ConsoleServer, signed_in: Opened
) -> None:
    """Ports are no part of a site: the cookie comes along, and only the token of the form tells it apart."""
    page = signed_in().page
    with another_site(forged_form(console)) as port:
        page.goto(f"http://127.0.0.1:{port}/")
        page.get_by_text("was not sent from a page of this session").wait_for()

    assert not granted(console)
    page.close()


def test_a_form_on_another_site_has_no_session_at_all(console: ConsoleServer, signed_in: Opened) -> None:
    page = signed_in().page
    with another_site(forged_form(console)) as port:
        page.goto(f"http://localhost:{port}/")
        page.get_by_label("Token").wait_for()

    assert not granted(console)
    page.close()


def test_no_page_shows_the_console_in_a_frame(console: ConsoleServer, signed_in: Opened) -> None:
    page = signed_in().page
    with another_site(f'<iframe src="{console.url}/console/lakes/main/grants"></iframe>') as port:
        page.goto(f"http://127.0.0.1:{port}/")
        page.wait_for_load_state("networkidle")
        shown = [frame for frame in page.frames[1:] if frame.url.startswith(console.url)]
        assert not any(frame.locator("h1").count() for frame in shown)
    page.close()


def test_hidden_and_absent_look_the_same(console: ConsoleServer, signed_in: Opened) -> None:
    page, texts = signed_in("carol").page, []
    for name in ("people.customers", "people.nothing_at_all"):
        answer = page.goto(f"{console.url}/console/lakes/main/tables/{name}")
        assert answer is not None and answer.status == 404
        texts.append(page.locator("main").inner_text().rpartition("request")[0])

    assert texts[0] == texts[1] != ""
    page.goto(f"{console.url}/console/lakes/main/tables?q=customers")
    assert page.get_by_text("0 tables").count() == 1
    page.close()


def test_who_signs_out_is_out(console: ConsoleServer, browser: Browser) -> None:
    context = new_context(browser)
    page = context.new_page()
    page.goto(f"{console.url}/console/lakes/main/events")
    page.get_by_label("Token").fill(console.tokens["bob"])
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", name="Events").wait_for()

    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("Token").wait_for()
    page.go_back()
    page.reload()

    assert page.get_by_label("Token").count() == 1
    assert context.cookies() == [] or all(
        not each["value"] or "console" in each["name"] for each in context.cookies()
    )
    context.close()


def test_somebody_signs_in_at_the_page_of_an_issuer(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Out to another site and back, which the session's own cookie is not sent with."""
    folder = tmp_path_factory.mktemp("issued") / "main"
    with headgate.connect(folder) as lake:
        lake.create_schema("s")
        lake.create_table("s.t", "id INT")
        lake.grant("READ", on="s.t", to="carol")
    with code_issuer(host="localhost") as issuer:
        trusted = TrustedIssuer(issuer=issuer.url, audiences=(CLIENT_ID,), client_id=CLIENT_ID)
        with console_server({"main": folder}, (trusted,)) as server:
            context = new_context(browser)
            page = context.new_page()
            page.goto(f"{server.url}/console/lakes/main/events")
            page.get_by_role("link", name="Sign in with localhost").click()
            page.get_by_role("heading", name="Events").wait_for()

            assert page.url == f"{server.url}/console/lakes/main/events"
            assert page.get_by_text("carol").count() == 1
            cookies = {each["name"]: each for each in context.cookies(server.url)}
            assert cookies.keys() == {"headgate_console"}
            assert cookies["headgate_console"]["sameSite"] == "Strict"
            context.close()
