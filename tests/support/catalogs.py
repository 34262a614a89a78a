"""The same catalog over each database it knows, behind HTTP, and another one, for who can work with any."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from headgate.catalog.catalog import Catalog
from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.catalog import LakeCatalog
from tests.support import postgresql
from tests.support.minimal_catalog import MinimalCatalog
from tests.support.shared_server import behind_http, both_handles

HTTP = "http-"
SLOWEST = "http-postgresql"
EVERYWHERE = "HEADGATE_TESTS_EVERYWHERE"
"""The variable with which every suite is asked of the slowest too: ``make contracts``."""
_SLOWEST_TOO = (SLOWEST,) if os.environ.get(EVERYWHERE) else ()
DATABASE_KINDS = ("sqlite", "postgresql", "http-sqlite", *_SLOWEST_TOO)
"""Those that keep everything in a database, from inside or through a server."""
KINDS = ("sqlite", "postgresql", "minimal", "http-sqlite", *_SLOWEST_TOO)
ALL_KINDS = (*(kind for kind in KINDS if kind != SLOWEST), SLOWEST)
"""With the slowest always, for the suites that matter most."""


@contextmanager
def a_catalog(kind: str, folder: Path) -> Iterator[Catalog]:
    """A new catalog over ``sqlite`` or ``postgresql``, its warehouse below the folder; or behind HTTP."""
    if kind.startswith(HTTP):
        with a_catalog(kind.removeprefix(HTTP), folder) as behind, both_handles(behind) as catalog:
            yield catalog
    elif kind == "sqlite":
        with closing(open_catalog(folder)) as catalog:
            yield catalog
    else:
        with postgresql.server().lake(folder / "warehouse") as catalog:
            yield catalog


@contextmanager
def any_catalog(kind: str, folder: Path) -> Iterator[LakeCatalog]:
    """A new catalog of one of the ``ALL_KINDS``, by its ports alone."""
    if kind == "minimal":
        yield MinimalCatalog(str(folder / "warehouse"))
        return
    with a_catalog(kind.removeprefix(HTTP), folder) as catalog:
        if kind.startswith(HTTP):
            with behind_http(catalog) as client:
                yield client
        else:
            yield catalog
