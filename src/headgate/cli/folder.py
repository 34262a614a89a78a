"""Opening a lake that is there already; a command that only looks must not make one."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from headgate.catalog import targets
from headgate.catalog.ports.catalog import LakeCatalog
from headgate.catalog.targets import DATABASE_FILE, CatalogTarget
from headgate.clock import SystemWorld
from headgate.errors import InvalidRequest
from headgate.lake import lake_recovery
from headgate.lake.lake import Lake
from headgate.plugins import catalogs
from headgate.settings import Settings
from headgate.storage import locate


@dataclass(frozen=True, slots=True)
class OpenedLake:
    """A lake, and the catalog behind it for what only the catalog knows."""

    lake: Lake
    catalog: LakeCatalog
    place: str = ""
    """Where it is, for people: without a password."""


@contextmanager
def open_lake(place: str) -> Iterator[OpenedLake]:
    """The lake in a folder or database, or behind a server, closed afterwards."""
    is_remote = targets.is_http(place)
    if locate.is_local(place):
        place = locate.local_path(place)
        _require_lake(Path(place))
    token = os.environ.get(targets.TOKEN_VARIABLE) if is_remote else None
    catalog = catalogs.open_catalog(CatalogTarget(place, token=token))
    try:
        if not is_remote:  # where the server sees to that
            lake_recovery.require_intact(catalog, place)
    except BaseException:
        catalog.close()
        raise
    with Lake(catalog, settings=Settings(), world=SystemWorld()) as lake:
        yield OpenedLake(lake, catalog, targets.without_password(place))


def _require_lake(folder: Path) -> None:
    if not (folder / DATABASE_FILE).is_file():
        lake_recovery.require_database(folder)
        what = "is not a lake" if folder.exists() else "does not exist"
        raise InvalidRequest(
            f"the folder {str(folder)!r} {what}: name another with --lake DIR, make one in Python with "
            f"headgate.connect({str(folder)!r}), or see one built with headgate demo",
            code="HEADGATE_LAKE_NOT_FOUND",
        )
