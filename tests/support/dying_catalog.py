"""A server whose process dies right after its catalog ratified something, before anybody is told.

python -m tests.support.dying_catalog <database> <warehouse or folder> <method that kills>
"""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from headgate.catalog.embedded import open_catalog
from tests.support import postgresql
from tests.support.http_server import serving


class DyingCatalog:
    """The catalog that it wraps, until one of its methods has done its work."""

    def __init__(self, inner: Any, deadly: str) -> None:
        self._inner = inner
        self._deadly = deadly

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        return self._dying(found) if name == self._deadly else found

    def acting_as(self, principal: str, **options: Any) -> "DyingCatalog":
        return DyingCatalog(self._inner.acting_as(principal, **options), self._deadly)

    @staticmethod
    def _dying(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> None:
            method(*arguments, **options)
            os.kill(os.getpid(), signal.SIGKILL)

        return call


def main(url: str, folder: str, deadly: str) -> None:
    if url == "sqlite":
        catalog = open_catalog(Path(folder))
    else:
        catalog = postgresql.open_shared_catalog(url, warehouse=folder, settings=postgresql.SMALL)
    wrapped: Any = DyingCatalog(catalog, deadly)
    with serving(wrapped, name="unity") as address:
        print(address, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
