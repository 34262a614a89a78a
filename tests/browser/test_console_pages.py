"""Every page in a real browser: nothing fails or takes long, nothing is asked of others, all can use it."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import headgate
from headgate.catalog.ports.directory import TableName
from headgate.server.console.file_figures import FileFigures, FileFiguresCache
from headgate.server.operations.metered_catalog import meter
from tests.browser.conftest import (
    HOSTILE_TABLES,
    IS_LARGE,
    MANY_FILES,
    MANY_TABLES,
    MANY_VERSIONS,
    Opened,
    assert_soon,
)
from tests.support.browser import assert_whole
from tests.support.console_lakes import ConsoleServer
from tests.support.console_walk import addresses
from tests.support.proposals import inline
from tests.support.tables import create_managed

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "images" / "console"
TAKES_PICTURES = "HEADGATE_TESTS_WRITE_SCREENSHOTS" in os.environ

SHOWN = (
    ("lake", "main", ""),
    ("table", "main", "/tables/sales.orders"),
    ("files", "main", "/tables/sales.orders/files"),
    ("versions", "main", "/tables/sales.orders/versions"),
    ("version", "main", "/tables/sales.orders/versions/7"),
    ("conflicts", "main", "/conflicts"),
)
"""The pages whose pictures are in the docs, in light and dark."""
LISTS = (
    "",
    "/tables",
    "/events",
    "/conflicts",
    "/grants",
    "/rules",
    "/tables/sales.orders",
    "/tables/sales.orders/files",
    "/tables/sales.orders/maintenance",
    "/tables/sales.orders/versions/7",
)
"""Pages with lists of what is in a lake, in a table, in a version; no other table on them is cut."""


def test_every_page_works_and_is_accessible(console: ConsoleServer, signed_in: Opened) -> None:
    watched, found = signed_in(), {}
    for path in ("/", *addresses("main", "sales.orders")):
        watched.visit(console.url + path)
        assert_whole(watched, path)
        found[path] = watched.violations()

    assert {path: wrong for path, wrong in found.items() if wrong} == {}
    assert watched.problems == []
    assert_soon(console, watched.page)
    watched.page.close()


def test_the_main_pages_are_accessible_in_the_dark(console: ConsoleServer, signed_in: Opened) -> None:
    watched, found = signed_in(scheme="dark"), {}
    for name, lake, path in SHOWN:
        watched.visit(f"{console.url}/console/lakes/{lake}{path}")
        found[name] = watched.violations()

    assert {path: wrong for path, wrong in found.items() if wrong} == {}
    assert watched.problems == []
    watched.page.close()


def test_pages_fit_on_a_phone(console: ConsoleServer, signed_in: Opened) -> None:
    watched = signed_in(width=390)
    for path in addresses("main", "sales.orders"):
        watched.visit(console.url + path)
        assert_whole(watched, path)

    assert watched.problems == []
    watched.page.close()


def test_lists_of_a_phone_need_no_scrolling(console: ConsoleServer, signed_in: Opened) -> None:
    """Each row stands in lines below each other, where on a wide window it is one of a table."""
    narrow, wide = signed_in(width=390), signed_in()
    for path in LISTS:
        page = narrow.visit(f"{console.url}/console/lakes/main{path}")
        folded = page.locator(".scroll:has(> table):visible")
        assert folded.count() > 0, path
        assert folded.evaluate_all("found => found.every(each => each.scrollWidth <= each.clientWidth)"), path
        assert narrow.violations() == []
    page = wide.visit(f"{console.url}/console/lakes/main/events")
    assert (
        page.locator("table.folds tbody tr").first.evaluate("e => getComputedStyle(e).display") == "table-row"
    )

    assert narrow.problems == wide.problems == []
    narrow.page.close()
    wide.page.close()


@pytest.mark.parametrize("width", [390, 1180])
def test_what_a_field_is_for_can_be_read_in_it(console: ConsoleServer, signed_in: Opened, width: int) -> None:
    watched, cut = signed_in(width=width), list[str]()
    for path in ("/grants", "/rules", "/adopt"):
        page = watched.visit(f"{console.url}/console/lakes/main{path}")
        cut += page.locator("input[placeholder]").evaluate_all(
            "found => found.filter(e => { e.value = e.placeholder; return e.scrollWidth > e.clientWidth })"
            ".map(e => e.placeholder)"
        )

    assert cut == []
    watched.page.close()


@pytest.mark.parametrize("table", HOSTILE_TABLES)
def test_text_of_others_does_nothing_in_a_browser(
    console: ConsoleServer, signed_in: Opened, table: str
) -> None:
    watched, found = signed_in(), {}
    for path in addresses("hostile", table):
        page = watched.visit(console.url + path)
        assert_whole(watched, path)
        assert page.locator("img[src=x], main b, main i, main script").count() == 0, path
        assert page.evaluate("() => [...document.scripts].every(s => s.src.startsWith(location.origin))")
        found[path] = watched.violations()
    watched.visit(f"{console.url}/console/lakes/hostile/tables/{table}")

    assert watched.page.get_by_text("<script>alert('x')</script>").count() > 0
    assert watched.page.get_by_text("⟨U+202E⟩").count() > 0
    assert {path: wrong for path, wrong in found.items() if wrong} == {}
    assert watched.problems == []
    assert_soon(console, watched.page)
    watched.page.close()


def test_very_many_files_are_turned_page_by_page(console: ConsoleServer, signed_in: Opened) -> None:
    watched = signed_in()
    address = f"{console.url}/console/lakes/hostile/tables/hostile.files/files"
    page = watched.visit(address)
    if IS_LARGE and page.get_by_role("button", name="Read it").count():
        page.get_by_role("button", name="Read it").click()
    page.get_by_text(f"{MANY_FILES + 1:,}", exact=True).first.wait_for()
    first = page.locator("#files tbody th").last.inner_text()

    page.get_by_role("link", name="Next").click()
    page.get_by_text("Page 2 of").wait_for()
    assert page.url == f"{address}?number=2"
    assert page.locator("#files tbody th").last.inner_text() != first
    assert page.locator("#files canvas").count() == 3, "sizes, partitions, deleted rows"
    watched.visit(page.url)
    page.get_by_text("Page 2 of").wait_for()

    assert watched.problems == [] and watched.violations() == []
    assert_soon(console, page)
    page.close()


def test_files_that_take_a_while_come_by_themselves(
    console: ConsoleServer, signed_in: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, looks = FileFiguresCache.figures, list[int | None]()

    def late(cache: FileFiguresCache, table_id: Any, found: Any, wanted: int | None = None) -> FileFigures:
        looks.append(wanted)
        told = whole(cache, table_id, found, wanted)
        return replace(told, files=None) if len(looks) < 3 else told

    monkeypatch.setattr(FileFiguresCache, "figures", late)
    watched = signed_in()
    page = watched.visit(f"{console.url}/console/lakes/main/tables/sales.stock/files")

    page.get_by_text("Files at version").wait_for()
    assert looks[0] is None and None not in looks[1:]
    assert page.locator("#files").get_by_text("Reading the list").count() == 0
    assert watched.problems == []
    page.close()


def test_very_many_versions_are_turned_page_by_page(console: ConsoleServer, signed_in: Opened) -> None:
    watched, latest = signed_in(width=390), MANY_VERSIONS + 1
    page = watched.visit(f"{console.url}/console/lakes/hostile/tables/hostile.versions/versions")
    assert page.get_by_role("link", name=f"Version {latest}", exact=True).count() >= 1

    page.get_by_role("link", name="Older").click()
    page.get_by_role("link", name=f"Version {latest - 25}", exact=True).first.click()
    page.get_by_role("heading", name=f"Version {latest - 25}: WRITE").wait_for()
    watched.visit(f"{console.url}/console/lakes/hostile/tables/hostile.versions/versions/{latest // 2}")

    assert_whole(watched, page.url)
    assert watched.problems == [] and watched.violations() == []
    assert_soon(console, page)
    page.close()


def test_a_script_that_gets_in_is_not_run(console: ConsoleServer, signed_in: Opened) -> None:
    watched = signed_in()
    page = watched.visit(f"{console.url}/console/lakes/main")

    ran = page.evaluate(
        """async () => {
            const put = document.createElement('div');
            put.innerHTML = '<img src=x onerror="window.ran = 1">';
            document.body.append(put);
            const script = document.createElement('script');
            script.textContent = 'window.ran = 2';
            document.body.append(script);
            await new Promise(done => setTimeout(done, 200));
            return window.ran ?? 0;
        }"""
    )

    assert ran == 0
    page.close()


def test_names_are_searched_while_one_types(console: ConsoleServer, signed_in: Opened) -> None:
    watched = signed_in()
    page = watched.visit(f"{console.url}/console/lakes/hostile")
    count = MANY_TABLES + len(HOSTILE_TABLES)
    assert page.get_by_text(f"{count:,} tables").count() == 1

    page.get_by_label("Name has").press_sequentially("t_00077")
    page.get_by_role("link", name="hostile.t_000771").wait_for()

    assert page.locator("#tables tbody tr").count() == 10
    page.get_by_label("Name has").fill("")
    page.get_by_role("link", name="Next").first.wait_for()
    page.get_by_role("link", name="Next").click()
    page.get_by_text(f"page 2 of {-(-count // 40)}").wait_for()
    assert watched.problems == []
    assert_soon(console, page)
    page.close()


def test_a_lake_is_followed_while_one_looks(
    console: ConsoleServer, signed_in: Opened, tmp_path_factory: pytest.TempPathFactory
) -> None:
    watched = signed_in()
    page = watched.visit(f"{console.url}/console/lakes/main")
    before = page.locator("#activity .feed li").first.inner_text()
    folder = Path(console.catalog.warehouse).parent

    with headgate.connect(folder) as lake:
        version = lake.table("sales.stock").append([{"sku": "live", "n": 1}])

    page.locator("#activity .feed").get_by_role("link", name=str(version), exact=True).first.wait_for()
    assert page.locator("#activity .feed li").first.inner_text() != before
    assert page.locator("#activity canvas").count() == 1
    assert watched.problems == []
    page.close()


def test_the_keyboard_reaches_everything(console: ConsoleServer, signed_in: Opened) -> None:
    watched = signed_in()
    page = watched.visit(f"{console.url}/console/lakes/main/tables/sales.orders")

    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("() => document.activeElement.id") == "content"
    page.keyboard.press("/")
    assert page.evaluate("() => document.activeElement.id") == "search"
    page.keyboard.type("stock")
    page.keyboard.press("Enter")
    page.wait_for_url("**/tables?q=stock")
    assert page.get_by_role("link", name="sales.stock").count() >= 1
    outline = page.get_by_role("link", name="Events").evaluate(
        "e => { e.focus(); return getComputedStyle(e).outlineStyle }"
    )
    assert outline == "solid"
    page.close()


def test_a_page_prints_without_what_is_only_for_the_screen(console: ConsoleServer, signed_in: Opened) -> None:
    watched = signed_in()
    page = watched.visit(f"{console.url}/console/lakes/main/tables/sales.orders/versions")
    page.emulate_media(media="print")

    assert not page.locator("nav.side").is_visible() and not page.locator("header.top").is_visible()
    assert page.locator("ol.timeline").is_visible()
    page.close()


def test_a_write_is_confirmed_in_the_browser_and_then_done(console: ConsoleServer, signed_in: Opened) -> None:
    watched = signed_in()
    page = watched.visit(f"{console.url}/console/lakes/main/grants")
    page.get_by_label("Privilege", exact=True).select_option("READ")
    page.get_by_label("On a schema").fill("sales.stock")
    page.get_by_label("To a principal").fill("grace")
    page.get_by_role("button", name="Go on").click()
    page.get_by_role("heading", name="Grant a privilege?").wait_for()
    assert watched.violations() == []

    page.get_by_role("button", name="Grant it").click()
    page.get_by_text("The privilege was granted.").wait_for()
    assert page.url.endswith("/grants"), "what was done is not said again to who loads the page anew"
    page.go_back()
    page.get_by_role("heading", name="Grant a privilege?").wait_for()
    page.go_forward()
    assert page.get_by_text("The privilege was granted.").count() == 0
    page.get_by_role("button", name="Take back READ on sales.stock from grace").click()
    page.get_by_role("button", name="Take it back").click()
    page.get_by_role("heading", name="Grants", exact=True).wait_for()

    assert page.get_by_text("grace").count() == 0
    assert watched.problems == []
    page.close()


def test_a_commit_is_tried_in_the_browser_and_none_is_made(console: ConsoleServer, signed_in: Opened) -> None:
    watched = signed_in(width=390)
    page = watched.visit(f"{console.url}/console/lakes/main/tables/sales.stock/versions/1")
    page.get_by_role("link", name="Try these actions as a new commit").click()
    page.get_by_label("On behalf of").fill("bob")
    page.get_by_role("button", name="Try it").click()
    page.get_by_role("heading", name="privileges").wait_for()
    assert watched.violations() == []

    page.get_by_label("On behalf of").fill("carol")
    page.get_by_role("button", name="Try it").click()
    page.get_by_text("It would be ratified").wait_for()

    assert_whole(watched, page.url)
    assert watched.problems == [] and watched.violations() == []
    page.close()


def test_a_lost_race_is_explained_in_the_browser(console: ConsoleServer, signed_in: Opened) -> None:
    table_id = create_managed(console.catalog, TableName("sales", "raced")).table_id
    metered = meter("main", console.catalog, console.operations.metrics)
    for txn_id in ("winner", "loser"):
        metered.propose(inline(table_id, 1, txn_id))
    watched = signed_in(width=390)
    page = watched.visit(f"{console.url}/console/lakes/main/conflicts")
    page.get_by_role("link", name="Why").first.click()

    page.get_by_role("heading", name="What it wanted").wait_for()
    assert page.get_by_text("may be followed").count() == 1
    assert_whole(watched, page.url)
    assert watched.problems == [] and watched.violations() == []
    page.close()


def test_a_check_is_started_by_hand_and_tells_its_findings(console: ConsoleServer, signed_in: Opened) -> None:
    watched = signed_in()
    page = watched.visit(f"{console.url}/console/lakes/main/tables/sales.orders/check")
    page.get_by_role("button", name="Check it").click()

    page.get_by_text("Nothing is wrong").wait_for()
    assert watched.problems == [] and watched.violations() == []
    page.close()


@pytest.mark.skipif(
    not TAKES_PICTURES, reason="HEADGATE_TESTS_WRITE_SCREENSHOTS is not set: pictures stay as they are"
)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pictures_of_the_main_pages_are_in_the_docs(
    console: ConsoleServer, signed_in: Opened, scheme: str
) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    watched = signed_in(scheme=scheme)
    for name, lake, path in SHOWN:
        page = watched.visit(f"{console.url}/console/lakes/{lake}{path}")
        page.screenshot(path=PICTURES / f"{name}-{scheme}.png")
    assert watched.problems == []
    watched.page.close()
