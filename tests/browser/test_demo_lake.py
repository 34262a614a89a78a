"""The lake that ``headgate demo`` leaves, page by page in a real browser: light, dark and on a phone."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import Opened, assert_soon, visitors
from tests.conftest import JAVA
from tests.support.browser import assert_whole
from tests.support.console_lakes import ConsoleServer, console_server
from tests.support.console_walk import LAKE_PAGES, TABLE_PAGES, addresses

pytestmark = pytest.mark.spark
TABLE = "bronze.orders"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConsoleServer]:
    """A server of the lake that the command made, as its reader would have it."""
    folder = tmp_path_factory.mktemp("demo") / "lake"
    java = {"JAVA_HOME": JAVA.read_text().strip()} if JAVA.exists() else {}
    command = [Path(sys.executable).with_name("headgate"), "demo", "--rows", "1000", "--lake", folder]
    ran = subprocess.run(
        command, cwd=folder.parent, env={**java, **os.environ}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    with console_server({"main": folder}) as server:
        yield server
        print(server.times.told())


@pytest.fixture(scope="module")
def visited(demo: ConsoleServer, browser: Browser) -> Iterator[Opened]:
    with visitors(demo, browser) as opened:
        yield opened


@pytest.mark.parametrize(
    "looks", [{}, {"scheme": "dark"}, {"width": 390}], ids=["light", "dark", "on a phone"]
)
def test_every_page_of_the_demo_works_and_is_accessible(
    demo: ConsoleServer, visited: Opened, looks: dict[str, Any]
) -> None:
    watched, found = visited(**looks), {}
    for path in addresses("main", TABLE):
        watched.visit(demo.url + path)
        assert_whole(watched, path)
        found[path] = watched.violations()

    assert len(found) == len(LAKE_PAGES) + len(TABLE_PAGES)
    assert {path: wrong for path, wrong in found.items() if wrong} == {}
    assert watched.problems == []
    assert_soon(demo, watched.page)
    watched.page.close()


def test_every_table_of_the_demo_can_be_looked_at(demo: ConsoleServer, visited: Opened) -> None:
    watched, tables = visited(), [str(entry.name) for entry in demo.catalog.tables()]
    for table in tables:
        for page in ("", "/rows", "/files", "/versions", "/versions/0", "/maintenance"):
            path = f"/console/lakes/main/tables/{table}{page}"
            watched.visit(demo.url + path)
            assert_whole(watched, path)

    assert len(tables) >= 5 and TABLE in tables
    assert watched.problems == []
    assert_soon(demo, watched.page)
    watched.page.close()
