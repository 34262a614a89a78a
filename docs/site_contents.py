"""Which pages are there? The list on the first page of the docs, from the navigation of the site."""

from collections.abc import Iterator
from typing import Any

import yaml

from docs.site_hooks import PLACES, ROOT, navigation, notebook_text


class _Loader(yaml.SafeLoader):
    """Reads mkdocs.yml and makes none of the objects that it names."""


_Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda *_: None)


def contents() -> Iterator[str]:
    """The sections of the site, and a line for each page."""
    entries = yaml.load((ROOT / "mkdocs.yml").read_text(), _Loader)["nav"]
    yield from _lines(navigation(entries)[1:], 2)


def _lines(entries: list[Any], depth: int) -> Iterator[str]:
    """Pages first, so that none of them seems to belong to a section that it does not."""
    pages = [entry for entry in entries if isinstance(entry, str)]
    yield from map(_line, pages)
    yield from [""] if pages else []
    for entry in entries:
        if not isinstance(entry, str):
            ((title, inside),) = entry.items()
            yield f"{'#' * depth} {title}"
            yield ""
            yield from _lines(inside if isinstance(inside, list) else [inside], depth + 1)


def _line(page: str) -> str:
    path = PLACES.get(page, f"docs/{page}")
    if page.startswith("notebooks/"):
        path = f"docs/{page}".replace(".md", ".ipynb")
    is_notebook = path.endswith(".ipynb")
    text = notebook_text(ROOT / path).lstrip() if is_notebook else (ROOT / path).read_text()
    title = text.partition("\n")[0].removeprefix("# ")
    return f"* [{title}]({path.removeprefix('docs/') if path.startswith('docs/') else f'../{path}'})"


PARTS = {"contents": contents}
"""The generated parts of the pages, by the names of their marks."""
