"""A real Chromium, and pages that remember everything that went wrong on them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.support.system_packages import find_program
from tests.support.waiting import PATIENCE_SECONDS

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run",
)  # fmt: skip
AXE = Path(__file__).parent / "axe" / "axe.min.js"
SERIOUS = ("serious", "critical")


@dataclass
class WatchedPage:
    """A page, and what a good one has none of: errors, dialogs, requests to others, answers that failed."""

    page: Page
    host: str
    problems: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on(
            "console", lambda said: self._note(said.type in ("error", "warning"), "console", said.text)
        )
        self.page.on("pageerror", lambda error: self._note(True, "error", str(error)))
        self.page.on("dialog", self._dismiss)
        self.page.on(
            "request", lambda asked: self._note(urlsplit(asked.url).netloc != self.host, "request", asked.url)
        )
        self.page.on("response", lambda got: self._note(got.status >= 400, str(got.status), got.url))

    def visit(self, url: str) -> Page:
        """Open a page and wait until everything on it is there."""
        self.page.goto(url)
        self.settle()
        return self.page

    def settle(self) -> None:
        """Wait until what the page fetches by itself is there."""
        self.page.wait_for_function("() => !document.querySelector('.htmx-request')")
        self.page.wait_for_function(
            "() => ![...document.querySelectorAll('[hx-trigger=load]')].some(e => /…$/.test(e.innerText))"
        )

    def violations(self) -> list[str]:
        """What axe-core calls serious on the page as it is."""
        return serious_violations(self.page)

    def _note(self, is_wrong: bool, kind: str, text: str) -> None:
        if is_wrong:
            self.problems.append(f"{kind}: {text}")

    def _dismiss(self, dialog: Any) -> None:
        self.problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()


def serious_violations(page: Page) -> list[str]:
    """What axe-core calls serious on a page as it is."""
    page.evaluate(f"{AXE.read_text()};null")
    asked = "{resultTypes: ['violations'], iframes: false}"
    found: Any = page.evaluate(f"async () => ({{violations: (await axe.run(document, {asked})).violations}})")
    return [
        f"{each['id']}: {node['target']} {node['failureSummary']}"
        for each in found["violations"]
        if each["impact"] in SERIOUS
        for node in each["nodes"]
    ]


def assert_whole(watched: WatchedPage, path: str) -> None:
    """The page has a heading and its landmarks, and does not run out of the window."""
    page = watched.page
    assert page.locator("main h1, main h2").count() > 0, path
    assert page.locator("main").count() == page.locator("header.top").count() == 1, path
    wider = page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wider <= 0, f"{path} is wider than the window by {wider}"


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser, installed if it can be; the test is skipped, with the reason, if it cannot."""
    path = find_program("chromium", "chromium")
    if path is None:
        pytest.skip("there is no chromium here, and it cannot be installed: apt-get install chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=path, args=list(FLAGS), timeout=PATIENCE_SECONDS * 1000
        )
        try:
            yield browser
        finally:
            browser.close()


def new_context(browser: Browser, **options: Any) -> BrowserContext:
    """A context whose pages give up on a hang, not on a busy machine."""
    context = browser.new_context(**options)
    context.set_default_timeout(PATIENCE_SECONDS * 1000)
    return context
