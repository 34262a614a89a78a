"""The moment after a transaction of the catalog's database, for tests that do something at it."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection

from headgate.catalog.catalog import Catalog


def after_transactions(catalog: Catalog, act: Callable[[], None]) -> None:
    """Have something be done in the thread of each transaction that ended, before anybody is told of it."""
    connections: Any = catalog._database._connections
    lent = connections.lent

    @contextmanager
    def watched(options: Mapping[str, Any]) -> Iterator[Connection]:
        try:
            with lent(options) as connection:
                yield connection
        finally:
            act()

    connections.lent = watched
