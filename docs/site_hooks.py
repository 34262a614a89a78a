"""How do pages that are written for a repository become a site? MkDocs asks these functions while it builds.

The same page is read in the repository and on the site, so it links as files lie in the repository. Pages
outside of docs/ are taken in (``TAKEN_IN``), links follow them, and a link to a file that is no page becomes
its words. Notebooks become pages. In the navigation of mkdocs.yml ``how-to/*`` stands for the pages of a
folder that it does not name.
"""

import json
import posixpath
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
TAKEN_IN = {
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/README.md": "benchmarks/index.md",
    "benchmarks/NOTES.md": "benchmarks/notes.md",
    "tests/mutation/survivors.md": "tests/survivors.md",
    "tests/simulation/mutants.md": "tests/mutants.md",
}
"""Pages outside of docs/, and where they are on the site."""

PLACES = {site: repository for repository, site in TAKEN_IN.items()}
"""The same, the other way round."""
NOT_SEARCHED = frozenset({"reference/command-line-json.md"})
"""Pages of schemas: they have every word of the others, and would be found before them."""
_DIALOG = 'data-md-component="search" role="dialog"'
_FENCE = re.compile(r"^\s*(```+|~~~+)")
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?:|mailto:|#)([^)#\s]*)(#[^)\s]*)?\)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Have the patterns of the navigation stand for pages."""
    config.nav = navigation(config.nav)
    return config


def navigation(entries: list[Any]) -> list[Any]:
    """The navigation of mkdocs.yml, with pages in the place of patterns."""
    there = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    there |= {_notebook_page(path) for path in _notebooks()} | set(TAKEN_IN.values())
    return _navigation(entries, there, set(_named(entries)))


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Take in the pages outside of docs/, and the notebooks as pages."""
    for repository, site in TAKEN_IN.items():
        files.append(File.generated(config, site, abs_src_path=str(ROOT / repository)))
    for path in _notebooks():
        files.append(File.generated(config, _notebook_page(path), content=notebook_text(path)))
    return files


def on_page_markdown(markdown: str, page: Page, files: Files, **_: object) -> str:
    """Have links lead where pages are on the site, and leave out of the search what only gets in its way."""
    uri = page.file.src_uri
    if uri in NOT_SEARCHED:
        page.meta["search"] = {"exclude": True}
    pages = {file.src_uri for file in files}
    lines = (
        line if in_code else _LINK.sub(lambda found: _link(found, uri, pages), line)
        for line, in_code in _lines(markdown)
    )
    return "\n".join(lines)


def on_post_page(output: str, **_: object) -> str:
    """Give the dialog of the search the name that the theme leaves out, for those who cannot see it."""
    return output.replace(_DIALOG, f'{_DIALOG} aria-label="Search"', 1)


def _lines(markdown: str) -> Iterator[tuple[str, bool]]:
    """The lines of a page, and whether they are code."""
    fence = ""
    for line in markdown.splitlines():
        found = _FENCE.match(line)
        yield line, bool(found or fence)
        if found and not fence:
            fence = found[1]
        elif fence and line.strip() == fence:
            fence = ""


def _link(found: re.Match[str], uri: str, pages: set[str]) -> str:
    words, target, anchor = found[1], found[2], found[3] or ""
    here = PLACES.get(uri, f"docs/{uri}")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(here), target))
    site = "index.md" if path == "README.md" else TAKEN_IN.get(path, path.removeprefix("docs/"))
    if site in pages:
        return f"[{words}]({posixpath.relpath(site, posixpath.dirname(uri) or '.')}{anchor})"
    return words if (ROOT / path).exists() else found[0]


def _navigation(entries: list[Any], there: set[str], named: set[str]) -> list[Any]:
    """The entries with pages in the place of patterns; what has none is left out with its title."""
    kept: list[Any] = []
    for entry in entries:
        if isinstance(entry, str):
            kept += _pages(entry, there, named)
            continue
        ((title, inside),) = entry.items()
        inner = _pages(inside, there, named) if isinstance(inside, str) else _navigation(inside, there, named)
        if inner:
            kept.append({title: inner[0] if isinstance(inside, str) and "*" not in inside else inner})
    return kept


def _pages(pattern: str, there: set[str], named: set[str]) -> list[str]:
    if "*" in pattern:
        return sorted(page for page in there - named if fnmatch(page, pattern))
    return [pattern]


def _named(entries: list[Any]) -> Iterator[str]:
    for entry in entries:
        if isinstance(entry, str):
            yield entry
        else:
            (inside,) = entry.values()
            yield from _named([inside] if isinstance(inside, str) else inside)


def _notebooks() -> list[Path]:
    return sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def _notebook_page(path: Path) -> str:
    return f"notebooks/{path.stem}.md"


def notebook_text(path: Path) -> str:
    """A notebook as a page: its text, its code, and what the code printed when it was last run."""
    parts = []
    for cell in json.loads(path.read_text())["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        printed = "".join(_printed(output) for output in cell.get("outputs", ()))
        if printed.strip():
            parts.append(f"```text\n{printed.rstrip()}\n```")
    download = f"[Download this notebook]({path.name})"
    return "\n\n".join([*parts, download]) + "\n"


def _printed(output: dict[str, Any]) -> str:
    return "".join(output.get("text") or output.get("data", {}).get("text/plain") or ())
