"""Is the catalog's database the one that its tables belong to? And if not: rebuilding it from them."""

import logging
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from headgate.catalog.ports import directory_copy
from headgate.catalog.ports.catalog import LakeCatalog
from headgate.catalog.ports.directory_copy import CopiedTable
from headgate.catalog.targets import (
    DATABASE_FILE,
    WAREHOUSE_FOLDER,
    CatalogTarget,
    is_postgresql,
    without_password,
)
from headgate.errors import CatalogLost, HeadgateError, InvalidRequest, StorageError
from headgate.plugins import catalogs
from headgate.settings import DatabaseSettings, Settings
from headgate.storage import location_spelling, locations, make_folder
from headgate.storage.locate import locate
from headgate.storage.location_spelling import is_local, local_path
from headgate.storage.store import Store
from headgate.table.maintenance import log_survey, recovery
from headgate.table.maintenance.recovery import RecoveryReport, RecoverySources

CATALOG_BEHIND = "HEADGATE_CATALOG_BEHIND"
_MAX_TABLES_NAMED = 5
_LOG = logging.getLogger(__name__)


def recover(
    target: str | Path,
    *,
    warehouse: str | Path | None = None,
    tables: Iterable[str | Path] = (),
    dry_run: bool = False,
    database: DatabaseSettings | None = None,
) -> RecoveryReport:
    """Rebuild the catalog of a lake whose database is lost, or older than its tables, from their logs.

    The ``target`` is what ``connect`` takes, and so is the ``warehouse``, which a new database must be
    told. ``tables`` are places of adopted ones that lie elsewhere. All that was published comes back, with
    its names; what was not is in the answer, which with ``dry_run`` is all that happens. What a database
    has is kept, and so is every file of a table. It may be interrupted, and run again.

        report = headgate.recover("lake", dry_run=True)
    """
    place = str(target)
    if is_postgresql(place):
        return _recover_shared(place, warehouse, tables, database, dry_run=dry_run)
    if not is_local(place) or warehouse is not None:
        raise InvalidRequest(
            "a lake is a folder, which has its warehouse, or a PostgreSQL database, postgresql://…, with a "
            "warehouse: name one of the two"
        )
    folder = Path(local_path(place))
    if not (folder / WAREHOUSE_FOLDER).is_dir():
        raise InvalidRequest(
            f"there is nothing to recover in {str(folder)!r}: a lake's folder has its tables in "
            f"{WAREHOUSE_FOLDER!r}, and there is none",
            code="HEADGATE_LAKE_NOT_FOUND",
        )
    if dry_run and not _has_database(folder):
        return recovery.rebuild_catalog(
            RecoverySources(str(folder / WAREHOUSE_FOLDER), locate), _locations(tables), dry_run=True
        )
    with closing(catalogs.open_catalog(CatalogTarget(str(folder)))) as catalog:
        return recover_catalog(catalog, tables, dry_run=dry_run)


def recover_catalog(
    catalog: LakeCatalog, tables: Iterable[str | Path] = (), *, dry_run: bool = False
) -> RecoveryReport:
    """The same for a catalog that is open."""
    accept = catalog.accept_version
    ground = RecoverySources(
        catalog.warehouse,
        locate,
        catalog.recoveries,
        catalog.copies,
        accept,
        schemas=frozenset(catalog.schemas()),
    )
    return recovery.rebuild_catalog(ground, _locations(tables), dry_run=dry_run)


def require_database(folder: str | Path) -> None:
    """Refuse to make a database beside tables of one that is lost."""
    root = Path(folder).expanduser().absolute()
    if (root / WAREHOUSE_FOLDER).is_dir() and not _has_database(root):
        _require_empty(
            str(root / WAREHOUSE_FOLDER), f"the folder {str(root)!r} has no {DATABASE_FILE}", repr(str(root))
        )


def require_intact(catalog: LakeCatalog, target: str) -> None:
    """Refuse a database that is new, or older, where its tables are not.

    What this costs does not depend on how many tables there are.
    """
    called = repr(without_password(target))
    if catalog.copies.is_new():
        _require_empty(catalog.warehouse, "the catalog's database is empty", called)
        return
    try:
        recovering, lost = catalog.copies.find_lost_tables()
        lost = tuple(found for found in lost if log_survey.log_exists(_table_store(catalog, found)))
        ahead = catalog.ahead()
    except StorageError as exc:  # whoever may not look there is not kept from anything else
        _LOG.debug("whether the catalog is the one of its tables was not seen: %s", exc)
        return
    if recovering or lost:
        raise _catalog_behind(catalog, lost, called)
    if ahead:
        _LOG.warning(
            "versions of %s are published that the catalog does not know: its database may have been "
            "restored from a backup; headgate.recover(%s) takes them in, with whatever else is later",
            ", ".join(ahead),
            called,
        )


def _require_empty(warehouse: str, why: str, target: str) -> None:
    found = _find_managed_table(warehouse)
    if found is None:
        return
    raise CatalogLost(
        f"{why}, but {warehouse!r} has tables of a catalog, {found!r} among them: the database is lost, or "
        f"this is another lake. Put the database back from a backup, or rebuild it from the tables with "
        f"headgate.recover({target}) or headgate recover; for a new lake choose another place",
        location=found,
    )  # fmt: skip


def _find_managed_table(warehouse: str) -> str | None:
    """A table in the warehouse that a catalog manages."""
    files = locate(warehouse)
    copy = directory_copy.read_copy(files)
    if copy is not None and copy.tables:
        return copy.tables[0].name
    for name in make_folder.folder_names(files):
        place = f"{warehouse}/{name}"
        try:
            if log_survey.survey_log(locate(place), place).state.protocol.is_catalog_managed:
                return place
        except HeadgateError:
            continue
    return None


def _catalog_behind(catalog: LakeCatalog, lost: tuple[CopiedTable, ...], target: str) -> CatalogLost:
    known = {str(table_id): table.latest for table_id, table in catalog.recoveries.known_tables().items()}
    facts = [
        f"{found.name} had version {found.latest}, and "
        + (f"has {known[found.table_id]}" if found.table_id in known else "is not known")
        for found in lost[:_MAX_TABLES_NAMED]
    ]
    more = f", and {len(lost) - _MAX_TABLES_NAMED} more" if len(lost) > _MAX_TABLES_NAMED else ""
    what = "; ".join(facts) + more if facts else "a recovery has begun and not ended"
    return CatalogLost(
        f"the catalog's database is older than its tables: {what}. Was a backup restored? Put a later one "
        f"back, or have what was published since taken in, and the rest named, with "
        f"headgate.recover({target}) or headgate recover",
        code=CATALOG_BEHIND, tables=[found.name for found in lost],
    )  # fmt: skip


def _table_store(catalog: LakeCatalog, found: CopiedTable) -> Store:
    return locate(locations.absolute_location(found.location, catalog.warehouse))


def _recover_shared(
    url: str,
    warehouse: str | Path | None,
    tables: Iterable[str | Path],
    settings: DatabaseSettings | None,
    *,
    dry_run: bool,
) -> RecoveryReport:
    named = None if warehouse is None else str(warehouse)
    try:
        used = Settings(database=settings or DatabaseSettings())
        catalog = catalogs.open_catalog(CatalogTarget(url, None if dry_run else named, used))
    except InvalidRequest as exc:
        if not dry_run or named is None or exc.code != "HEADGATE_LAKE_NOT_FOUND":
            raise
        return recovery.rebuild_catalog(
            RecoverySources(location_spelling.without_slash(named), locate), _locations(tables), dry_run=True
        )
    with closing(catalog):
        return recover_catalog(catalog, tables, dry_run=dry_run)


def _locations(tables: Iterable[str | Path]) -> list[str]:
    return [locations.canonical(str(place)) for place in tables]


def _has_database(folder: Path) -> bool:
    path = folder / DATABASE_FILE
    return path.is_file() and path.stat().st_size > 0
