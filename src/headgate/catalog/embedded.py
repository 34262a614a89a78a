"""A catalog in this process: one SQLite file and a warehouse folder."""

from pathlib import Path

from headgate.catalog.database import open_sqlite
from headgate.catalog.service import Catalog
from headgate.clock import SystemWorld, World
from headgate.storage.locate import Locate, locate

DATABASE = "catalog.sqlite"
WAREHOUSE = "warehouse"


def open_catalog(folder: str | Path, *, files: Locate = locate, world: World | None = None) -> Catalog:
    """The catalog of a lake folder, made if it does not exist; the folder may be moved as a whole."""
    root = Path(folder).expanduser().absolute()
    (root / WAREHOUSE).mkdir(parents=True, exist_ok=True)
    return Catalog(
        open_sqlite(root / DATABASE),
        warehouse=str(root / WAREHOUSE),
        locate=files,
        world=world or SystemWorld(),
    )
