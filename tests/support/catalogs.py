"""The same catalog over each database it knows, and another one, for who can work with any."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from headgate.catalog.catalog import Catalog
from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.catalog import LakeCatalog
from tests.support import postgresql
from tests.support.minimal_catalog import MinimalCatalog

KINDS = ("sqlite", "postgresql", "minimal")


@contextmanager
def a_catalog(kind: str, folder: Path) -> Iterator[Catalog]:
    """A new catalog over ``sqlite`` or ``postgresql``, with its warehouse below the folder."""
    if kind == "sqlite":
        with closing(open_catalog(folder)) as catalog:
            yield catalog
    else:
        with postgresql.server().lake(folder / "warehouse") as catalog:
            yield catalog


@contextmanager
def any_catalog(kind: str, folder: Path) -> Iterator[LakeCatalog]:
    """A new catalog of one of the ``KINDS``, by its ports alone."""
    if kind == "minimal":
        yield MinimalCatalog(str(folder / "warehouse"))
        return
    with a_catalog(kind, folder) as catalog:
        yield catalog
