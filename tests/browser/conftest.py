"""One server over two lakes, and one browser, for all tests that look at the console."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext

from tests.support.browser import WatchedPage, chromium, new_context
from tests.support.console_lakes import (
    ConsoleServer,
    build_hostile_lake,
    build_small_lake,
    console_server,
    multiply_tables,
)

Opened = Callable[..., WatchedPage]
MANY_TABLES = 1_000


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="package")
def console(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConsoleServer]:
    folder = tmp_path_factory.mktemp("console")
    build_small_lake(folder / "main")
    build_hostile_lake(folder / "hostile")
    multiply_tables(folder / "hostile", MANY_TABLES)
    with console_server({"main": folder / "main", "hostile": folder / "hostile"}) as server:
        yield server


@pytest.fixture(scope="package")
def signed_in(console: ConsoleServer, browser: Browser) -> Iterator[Opened]:
    """A page of somebody who signed in, in a context of that person, of a colour scheme and a width."""
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
            page.wait_for_url("**/console/lakes/**" if name != "owner" else f"{console.url}/")
            page.close()
        return WatchedPage(contexts[key].new_page(), console.url.removeprefix("http://"))

    yield opened
    for context in contexts.values():
        context.close()
