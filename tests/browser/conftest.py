"""One server over two lakes, and one browser, for all tests that look at the console.

With HEADGATE_TESTS_CONSOLE_SCALE one lake has 10,000 tables, 100,000 versions and a million files.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.support.browser import WatchedPage, chromium, new_context
from tests.support.console_lakes import (
    ConsoleServer,
    build_hostile_lake,
    build_small_lake,
    console_server,
)
from tests.support.large_lakes import multiply_files, multiply_tables, multiply_versions

Opened = Callable[..., WatchedPage]
IS_LARGE = "HEADGATE_TESTS_CONSOLE_SCALE" in os.environ
MANY_TABLES, MANY_VERSIONS, MANY_FILES = (10_000, 100_000, 1_000_000) if IS_LARGE else (1_000, 100, 300)
HOSTILE_TABLES = ("hostile.marked", "hostile.versions", "hostile.files")
_ASKED_AGAIN = 3


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="package")
def console(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConsoleServer]:
    folder = tmp_path_factory.mktemp("console")
    build_small_lake(folder / "main")
    build_hostile_lake(folder / "hostile")
    multiply_files(folder / "hostile", "hostile.files", MANY_FILES)
    multiply_versions(folder / "hostile", "hostile.versions", MANY_VERSIONS)
    multiply_tables(folder / "hostile", MANY_TABLES)
    with console_server({"main": folder / "main", "hostile": folder / "hostile"}) as server:
        yield server
        print(server.times.told())


def assert_soon(console: ConsoleServer, page: Page) -> None:
    """Nothing that was asked for takes the server long; what did at first is asked for again."""
    for _ in range(_ASKED_AGAIN):
        for asked in console.times.slow():
            part = {"hx-request": "true", "hx-request-type": "partial"}
            page.request.get(console.url + asked.path, headers=part if asked.is_part else {})
    assert console.times.slow() == [], console.times.told()


@pytest.fixture(scope="package")
def signed_in(console: ConsoleServer, browser: Browser) -> Iterator[Opened]:
    """A page of somebody who signed in, in a context of that person, of a colour scheme and a width."""
    with visitors(console, browser) as opened:
        yield opened


@contextmanager
def visitors(console: ConsoleServer, browser: Browser) -> Iterator[Opened]:
    """Opens pages for people by their names, in a context for each colour scheme and width."""
    contexts: dict[tuple[object, ...], BrowserContext] = {}

    def opened(name: str = "owner", *, scheme: str = "light", width: int = 1180) -> WatchedPage:
        key = (name, scheme, width)
        if key not in contexts:
            contexts[key] = new_context(
                browser,
                viewport={"width": width, "height": 860},
                color_scheme="dark" if scheme == "dark" else "light",
            )
            page = contexts[key].new_page()
            page.goto(f"{console.url}/console/sign-in")
            page.get_by_label("Token").fill(console.tokens[name])
            page.get_by_role("button", name="Sign in").click()
            page.wait_for_url(lambda url: not url.endswith("/sign-in"))
            page.close()
        return WatchedPage(contexts[key].new_page(), console.url.removeprefix("http://"))

    try:
        yield opened
    finally:
        for context in contexts.values():
            context.close()
