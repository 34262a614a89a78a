"""Every page of the console, and what is asked of each of them in a browser."""

from collections.abc import Iterator

from tests.support.browser import WatchedPage

LAKE_PAGES = (
    "",
    "/tables",
    "/events",
    "/conflicts",
    "/transactions",
    "/grants",
    "/rules",
    "/maintenance",
    "/adopt",
)
TABLE_PAGES = (
    "",
    "/rows",
    "/files",
    "/versions",
    "/versions/1",
    "/compare",
    "/maintenance",
    "/check",
    "/release",
)


def addresses(lake: str, table: str) -> Iterator[str]:
    """Every page of a lake with a table."""
    yield from (f"/console/lakes/{lake}{page}" for page in LAKE_PAGES)
    yield from (f"/console/lakes/{lake}/tables/{table}{page}" for page in TABLE_PAGES)


def assert_whole(watched: WatchedPage, path: str) -> None:
    """The page has a heading and its landmarks, and does not run out of the window."""
    page = watched.page
    assert page.locator("main h1, main h2").count() > 0, path
    assert page.locator("main").count() == page.locator("header.top").count() == 1, path
    wider = page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wider <= 0, f"{path} is wider than the window by {wider}"
