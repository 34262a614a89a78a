"""The threats that a browser meets in the console (T11, T14, T18): each attack fails, and its guard is why.

As in ``tests/contract/test_threats.py`` an attack says whether it succeeded, and a guard is taken away by a
test. The server runs in this process, which so meets the browser without its guard.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cache, partial
from typing import Any
from unittest.mock import patch
from urllib.parse import quote

import pytest
from litestar.datastructures import Cookie
from markupsafe import Markup
from playwright.sync_api import Browser, Page
from sqlalchemy import true

from headgate.catalog.ports.access import Principal, Privilege
from headgate.catalog.store import grant_store
from headgate.server.console import rendering, security_headers, visit
from headgate.server.console.session import SESSION_SECONDS, SessionSeal
from tests.browser.conftest import Opened
from tests.browser.test_console_security import another_site, forged_form, granted
from tests.support.browser import new_context
from tests.support.console_lakes import ConsoleServer

HOSTILE = "/console/lakes/hostile/tables/hostile.marked"
GRANTS = "/console/lakes/main/grants"
_BREAKS_OUT = """'><img src=x>"><img src=x>"""
_PUT_IN_A_SCRIPT = """async () => {
    const script = document.createElement('script');
    script.textContent = 'window.ran = 1';
    document.body.append(script);
    await new Promise(done => setTimeout(done, 100));
    return window.ran ?? 0;
}"""


@dataclass(frozen=True)
class Scene:
    """A console, and people who look at it."""

    console: ConsoleServer
    signed_in: Opened
    browser: Browser

    def visit(self, path: str, name: str = "owner") -> Page:
        page = self.signed_in(name).page
        page.goto(self.console.url + path)
        return page


@pytest.fixture
def scene(console: ConsoleServer, signed_in: Opened, browser: Browser) -> Iterator[Scene]:
    yield Scene(console, signed_in, browser)
    for grant in console.catalog.granting.grants():
        if grant.principal == "mallory":
            console.catalog.granting.revoke(Privilege.DROP, "sales.orders", Principal("mallory"))


def t11_text_of_others_is_markup(scene: Scene) -> bool:
    page = scene.visit(HOSTILE)
    return page.locator("main img[src=x]").count() > 0


def t11_a_name_that_turns_the_text_around_it(scene: Scene) -> bool:
    return "\u202e" in scene.visit(HOSTILE).locator("main").inner_text()


def t11_a_script_that_got_in_runs(scene: Scene) -> bool:
    return bool(scene.visit("/console/lakes/main").evaluate(_PUT_IN_A_SCRIPT))


def t11_words_that_were_searched_are_markup(scene: Scene) -> bool:
    page = scene.visit(f"/console/lakes/main/tables?q={quote(_BREAKS_OUT)}")
    return page.locator("img[src=x]").count() > 0


def t14_the_page_of_a_table_that_is_hidden(scene: Scene) -> bool:
    """The same page for a table that is hidden and one that is not there, but for the id of the request."""
    told = {
        scene.visit(f"/console/lakes/main/tables/people.{name}", "carol")
        .locator("main")
        .inner_text()
        .rpartition("request")[0]
        .replace(name, "*")
        for name in ("customers", "nothing_at_all")
    }
    return len(told) > 1


def t14_the_search_finds_what_is_hidden(scene: Scene) -> bool:
    page = scene.visit("/console/lakes/main/tables?q=customers", "carol")
    return page.get_by_text("people.customers").count() > 0


def t14_events_tell_of_what_is_hidden(scene: Scene) -> bool:
    page = scene.visit("/console/lakes/main/events", "carol")
    return page.get_by_text("people.customers").count() > 0


def t14_a_transaction_names_a_table_that_is_hidden(scene: Scene) -> bool:
    page = scene.visit("/console/lakes/main/transactions", "carol")
    assert page.get_by_text("sales.stock").count() > 0
    return page.get_by_text("sales.orders").count() > 0


def t18_a_form_of_another_port_of_the_host(scene: Scene) -> bool:
    page = scene.signed_in().page
    with another_site(forged_form(scene.console)) as port:
        page.goto(f"http://127.0.0.1:{port}/")
        page.wait_for_url(f"{scene.console.url}/**")
    return granted(scene.console)


def t18_a_page_that_shows_the_console_as_its_own(scene: Scene) -> bool:
    page = scene.signed_in().page
    with another_site(f'<iframe src="{scene.console.url}{GRANTS}"></iframe>') as port:
        page.goto(f"http://127.0.0.1:{port}/")
        page.wait_for_load_state("networkidle")
        shown = [frame for frame in page.frames[1:] if frame.url.startswith(scene.console.url)]
        return any(frame.locator("h1").count() for frame in shown)


def t18_a_script_that_reads_the_session(scene: Scene) -> bool:
    context = new_context(scene.browser)
    page = context.new_page()
    page.goto(f"{scene.console.url}/console/sign-in")
    found = page.evaluate("() => document.cookie")
    context.close()
    return "headgate_console" in found


Guard = Callable[[], AbstractContextManager[Any]]


def _readable(seal: SessionSeal, value: str, seconds: int) -> Cookie:
    del seconds
    return Cookie(key=seal.cookie_name, value=value, path="/", max_age=SESSION_SECONDS, samesite="strict")


_NO_HEADERS: Guard = lambda: patch.object(security_headers, "SECURITY_HEADERS", ())  # noqa: E731 — rows
_NOTHING_HIDDEN: Guard = lambda: patch.object(  # noqa: E731
    grant_store, "visible_tables", lambda _, __, table_ids: frozenset(table_ids)
)


@contextmanager
def _everything_is_seen() -> Iterator[None]:
    """Both of its guards: what the database is asked for, and the rule that has the last word."""
    with patch.object(grant_store, "may_be_seen", lambda _: true()), _NOTHING_HIDDEN():
        yield


THREATS: dict[Callable[[Scene], bool], Guard] = {
    t11_text_of_others_is_markup: lambda: patch.dict(
        rendering._environment().filters, {"foreign": lambda text, *_: Markup(text)}
    ),
    t11_a_name_that_turns_the_text_around_it: lambda: patch.object(rendering, "_visible", lambda sign: sign),
    t11_a_script_that_got_in_runs: _NO_HEADERS,
    t11_words_that_were_searched_are_markup: lambda: patch.object(
        rendering, "_environment", cache(partial(rendering._environment().overlay, autoescape=False))
    ),
    t14_the_page_of_a_table_that_is_hidden: _NOTHING_HIDDEN,
    t14_events_tell_of_what_is_hidden: _everything_is_seen,
    t14_a_transaction_names_a_table_that_is_hidden: _everything_is_seen,
    t14_the_search_finds_what_is_hidden: _everything_is_seen,
    t18_a_form_of_another_port_of_the_host: lambda: patch.object(visit, "require_own_form", lambda *_: None),
    t18_a_page_that_shows_the_console_as_its_own: _NO_HEADERS,
    t18_a_script_that_reads_the_session: lambda: patch.object(SessionSeal, "_cookie", _readable),
}


@pytest.mark.parametrize("attack", THREATS, ids=lambda attack: attack.__name__)
def test_the_attack_fails_in_a_browser(scene: Scene, attack: Callable[[Scene], bool]) -> None:
    assert not attack(scene)


@pytest.mark.parametrize("attack", THREATS, ids=lambda attack: attack.__name__)
def test_each_guard_is_needed_in_a_browser(scene: Scene, attack: Callable[[Scene], bool]) -> None:
    with THREATS[attack]():
        assert attack(scene)
