"""The site is whole: it builds without a warning, every link leads somewhere, and it needs no other host."""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import pytest
from typing_extensions import override

from docs import site_hooks
from tests.support.browser import chromium, new_context, serious_violations

ROOT = Path(__file__).parents[2]
PICTURES = sorted((ROOT / "docs" / "images").rglob("*.svg"))
MAIN_PAGES = (
    "index.html",
    "tutorial/first-table.html",
    "how-to/sql.html",
    "how-to/console.html",
    "reference/errors.html",
    "explanation/comparison.html",
    "architecture.html",
    "changelog.html",
)
"""Some of each kind: prose, tables, code in several languages, pictures."""
_IN_CSS = re.compile(r"(?:@import\s+|url\(\s*)['\"]?((?:https?:)?//[^'\")\s]+)")
_LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href", "object": "data"}
_CANONICAL = {"canonical", "alternate", "next", "prev"}


@dataclass
class SitePage(HTMLParser):
    """What a page links to, what it loads, and the anchors that it has."""

    text: str
    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    diagrams: int = 0

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.text)

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        self.anchors |= {said[name] for name in ("id", "name") if name in said}
        if tag == "a" and said.get("href"):
            self.links.append(said["href"])
        if tag in _LOADS and not _CANONICAL & set(said.get("rel", "").split()):
            self.loads.append(said.get(_LOADS[tag], ""))
        self.loads += [part.split()[0] for part in said.get("srcset", "").split(",") if part.strip()]
        self.diagrams += "mermaid" in said.get("class", "").split()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built in strict mode: a warning fails it."""
    place = tmp_path_factory.mktemp("site")
    ran = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(place)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    return place


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, SitePage]:
    """Every page of the site."""
    return {path: SitePage(path.read_text()) for path in sorted(site.rglob("*.html"))}


def test_every_link_of_the_site_leads_somewhere(site: Path, pages: dict[Path, SitePage]) -> None:
    dead = [
        f"{path.relative_to(site)}: {link}"
        for path, page in pages.items()
        if path.name != "404.html"  # its links begin at the root of a host
        for link in page.links
        if not urlsplit(link).scheme and not _leads_somewhere(path, link, pages)
    ]

    assert dead == []
    assert sum(len(page.links) for page in pages.values()) > 1_000


def _leads_somewhere(path: Path, link: str, pages: dict[Path, SitePage]) -> bool:
    parts = urlsplit(link)
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not parts.fragment or target not in pages:
        return target.is_file()
    return unquote(parts.fragment) in pages[target].anchors


def test_no_page_of_the_site_loads_anything_from_another_host(
    site: Path, pages: dict[Path, SitePage]
) -> None:
    loaded = [(path, url) for path, page in pages.items() for url in page.loads if url]
    strange = [(path.name, url) for path, url in loaded if urlsplit(url).netloc]
    missing = [
        (path.name, url)
        for path, url in loaded
        if path.name != "404.html" and not (path.parent / unquote(urlsplit(url).path)).is_file()
    ]
    in_css = {
        path.name: found for path in site.rglob("*.css") if (found := _IN_CSS.findall(path.read_text()))
    }

    assert (strange, missing, in_css) == ([], [], {})
    assert not any(page.diagrams for page in pages.values()), "the theme fetches what draws them"


def test_every_page_of_the_docs_is_on_the_site_and_in_its_navigation(
    site: Path, pages: dict[Path, SitePage]
) -> None:
    written = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    found = {path.relative_to(site) for path in pages}
    listed = {
        (site / urlsplit(link).path).resolve().relative_to(site.resolve())
        for link in pages[site / "index.html"].links
        if not urlsplit(link).scheme
    }

    assert written <= found
    assert found - listed - {Path("404.html")} == set()


def test_the_site_opens_from_a_disk_and_is_searched_there_without_asking_anybody(site: Path) -> None:
    problems: list[str] = []
    with chromium() as browser:
        page = new_context(browser).new_page()
        page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda asked: None if _is_local(asked.url) else problems.append(asked.url))

        page.goto((site / "reference" / "errors.html").as_uri())
        page.keyboard.press("s")
        page.keyboard.type("crash points")
        page.wait_for_selector(".md-search-result__item")
        found = page.inner_text(".md-search-result__list")

    assert "Crash points" in found
    assert problems == []


def test_pages_of_schemas_are_not_found_before_those_for_people(site: Path) -> None:
    listed = json.loads((site / "search" / "search_index.json").read_text())["docs"]
    places = {each["location"].partition("#")[0] for each in listed}

    assert "how-to/adopt-and-release.html" in places and len(places) > 50
    assert not {page.replace(".md", ".html") for page in site_hooks.NOT_SEARCHED} & places
    assert all((ROOT / "docs" / page).exists() for page in site_hooks.NOT_SEARCHED)


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)], ids=["screen", "phone"])
def test_the_main_pages_of_the_site_are_accessible(
    site: Path, scheme: Literal["light", "dark"], width: int
) -> None:
    found: dict[str, list[str]] = {}
    with chromium() as browser:
        size = {"width": width, "height": 900}
        page = new_context(browser, color_scheme=scheme, viewport=size).new_page()
        for name in MAIN_PAGES:
            page.goto((site / name).as_uri())
            found[name] = serious_violations(page)
        page.keyboard.press("s")
        page.keyboard.type("commit")
        page.wait_for_selector(".md-search-result__item")
        found["the search"] = serious_violations(page)

    assert {place: wrong for place, wrong in found.items() if wrong} == {}


def _is_local(url: str) -> bool:
    return urlsplit(url).scheme in ("file", "data", "about", "blob")


def test_a_notebook_is_a_page_with_its_code_and_what_it_printed(tmp_path: Path) -> None:
    notebook = tmp_path / "a-day.ipynb"
    printed = [{"text": ["3\n"]}, {"data": {"text/plain": ["4"]}}]
    cells = [
        {"cell_type": "markdown", "source": ["# A day\n", "of orders"]},
        {"cell_type": "code", "source": ["1 + 2"], "outputs": printed},
    ]
    notebook.write_text(json.dumps({"cells": cells}))

    assert site_hooks.notebook_text(notebook) == (
        "# A day\nof orders\n\n```python\n1 + 2\n```\n\n```text\n3\n4\n```\n\n"
        "[Download this notebook](a-day.ipynb)\n"
    )


def test_a_pattern_of_the_navigation_stands_for_the_rest_of_a_folder() -> None:
    entries = [
        {"How": ["how-to/serve.md", "how-to/no-such-page.md", {"Rest": "how-to/s*"}]},
        {"None": "no/*"},
    ]

    ((section),) = site_hooks.navigation(entries)

    assert section["How"][:2] == [
        "how-to/serve.md",
        "how-to/no-such-page.md",
    ]  # of which the strict build tells
    assert set(section["How"][2]["Rest"]) >= {"how-to/sql.md", "how-to/streaming.md"}
    assert "how-to/serve.md" not in section["How"][2]["Rest"]


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_a_drawing_says_in_words_what_it_shows_and_is_drawn_for_dark_pages_too(picture: Path) -> None:
    text = picture.read_text()
    drawing = ElementTree.fromstring(text)
    links = [value for each in drawing.iter() for name, value in each.attrib.items() if name.endswith("href")]

    assert drawing.get("role") == "img"
    assert drawing.find("{http://www.w3.org/2000/svg}title") is not None or drawing.get("aria-label")
    assert "prefers-color-scheme: dark" in text or "<text" not in text
    assert links == []


@pytest.mark.parametrize(
    ("written", "link", "css"),
    [
        ("<a href='b.html#x'>", False, False),
        ("<a href='a.html#there'></a><p id=there>", True, False),
        ("<a href='#gone'>", False, False),
        ("<img src='https://example.com/a.png'>", True, True),
    ],
    ids=["no page", "an anchor", "no anchor", "another host"],
)
def test_a_dead_link_and_another_host_are_seen(tmp_path: Path, written: str, link: bool, css: bool) -> None:
    path = tmp_path / "a.html"
    path.write_text(written)
    page = SitePage(written)

    assert all(_leads_somewhere(path, each, {path: page}) for each in page.links) is link
    assert any(urlsplit(each).netloc for each in page.loads) is css
