"""Opening a lake that is there already; a command that only looks must not make one."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from headgate.catalog.ports.commits import CommitCatalog
from headgate.catalog.targets import DATABASE_FILE, CatalogTarget, is_postgresql
from headgate.clock import SystemWorld
from headgate.errors import InvalidRequest
from headgate.lake import lake_recovery
from headgate.lake.lake import Lake
from headgate.plugins import catalogs
from headgate.settings import Settings


@dataclass(frozen=True, slots=True)
class OpenedLake:
    """A lake, and the catalog behind it for what only the catalog knows."""

    lake: Lake
    catalog: CommitCatalog


@contextmanager
def open_lake(place: str) -> Iterator[OpenedLake]:
    """The lake in a folder or database, closed afterwards."""
    if not is_postgresql(place):
        _require_lake(Path(place))
    catalog = catalogs.open_catalog(CatalogTarget(place))
    try:
        lake_recovery.require_intact(catalog, place)
    except BaseException:
        catalog.close()
        raise
    with Lake(catalog, settings=Settings(), world=SystemWorld()) as lake:
        yield OpenedLake(lake, catalog)


def _require_lake(folder: Path) -> None:
    if not (folder / DATABASE_FILE).is_file():
        lake_recovery.require_database(folder)
        what = "is not a lake" if folder.exists() else "does not exist"
        raise InvalidRequest(
            f"the folder {str(folder)!r} {what}: name another with --lake DIR, make one in Python with "
            f"headgate.connect({str(folder)!r}), or see one built with headgate demo",
            code="HEADGATE_LAKE_NOT_FOUND",
        )
