"""A catalog in this process: over one SQLite file and a warehouse folder, or over a PostgreSQL database."""

from pathlib import Path

from headgate.catalog.catalog import Catalog
from headgate.catalog.database import shared_clock
from headgate.catalog.database.engine import open_sqlite
from headgate.catalog.database.postgresql import open_postgresql
from headgate.catalog.decision import DEFAULT_LIMITS, UnpublishedLimits
from headgate.catalog.directory import warehouse as warehouses
from headgate.catalog.ports.catalog import LakeCatalog
from headgate.catalog.targets import DATABASE_FILE, WAREHOUSE_FOLDER, CatalogTarget
from headgate.clock import SystemWorld, World
from headgate.errors import DatabaseUnusable
from headgate.settings import DatabaseSettings, Settings
from headgate.storage.locate import Locate, locate


def open_folder(target: CatalogTarget) -> LakeCatalog:
    """The catalog of a lake in a folder, made if there is none."""
    return open_catalog(target.place, limits=_limits(target.settings))


def open_server(target: CatalogTarget) -> LakeCatalog:
    """The catalog in a PostgreSQL database; with a warehouse it is made if there is none."""
    return open_shared_catalog(
        target.place,
        warehouse=target.warehouse,
        settings=target.settings.database,
        limits=_limits(target.settings),
    )


def _limits(settings: Settings) -> UnpublishedLimits:
    return UnpublishedLimits(settings.unpublished_commits, settings.unpublished_bytes)


def open_catalog(
    folder: str | Path,
    *,
    files: Locate = locate,
    world: World | None = None,
    limits: UnpublishedLimits = DEFAULT_LIMITS,
) -> Catalog:
    """The catalog of a lake folder, made if it does not exist; the folder may be moved as a whole.

    A ``world`` that is given is one whose time all who share the catalog agree on.
    """
    root = Path(folder).expanduser().absolute()
    path = root / DATABASE_FILE
    try:
        (root / WAREHOUSE_FOLDER).mkdir(parents=True, exist_ok=True)
        database = open_sqlite(path)
        world = world or shared_clock.from_file_system(path, SystemWorld())
    except OSError as exc:
        raise DatabaseUnusable(
            f"there cannot be a lake in {root}: {exc.strerror} ({exc.filename}). Choose a folder in which "
            "this user may write, or one to be made",
            path=str(root),
        ) from exc
    return Catalog(database, warehouse=str(root / WAREHOUSE_FOLDER), locate=files, world=world, limits=limits)


def open_shared_catalog(
    url: str,
    *,
    warehouse: str | None = None,
    settings: DatabaseSettings | None = None,
    files: Locate = locate,
    world: World | None = None,
    limits: UnpublishedLimits = DEFAULT_LIMITS,
) -> Catalog:
    """The catalog in a PostgreSQL database; with a ``warehouse`` it is made if there is none."""
    database = open_postgresql(url, settings or DatabaseSettings(), create=warehouse is not None)
    try:
        place = warehouses.resolve_warehouse(database, warehouse)
    except BaseException:
        database.close()
        raise
    world = world or shared_clock.from_server(database, SystemWorld())
    return Catalog(database, warehouse=place, locate=files, world=world, limits=limits)
