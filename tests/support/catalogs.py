"""The same catalog over each database it knows."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from headgate.catalog.catalog import Catalog
from headgate.catalog.embedded import open_catalog
from tests.support import postgresql


@contextmanager
def a_catalog(kind: str, folder: Path) -> Iterator[Catalog]:
    """A new catalog over ``sqlite`` or ``postgresql``, with its warehouse below the folder."""
    if kind == "sqlite":
        with closing(open_catalog(folder)) as catalog:
            yield catalog
    else:
        with postgresql.server().lake(folder / "warehouse") as catalog:
            yield catalog
