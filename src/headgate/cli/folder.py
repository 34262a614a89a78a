"""Opening a lake that is there already; a command that only looks must not make one."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headgate.cli import configuration
from headgate.cli.configuration import LakeChoice
from headgate.cli.deferred import deferred_module
from headgate.clock import SystemWorld
from headgate.errors import InvalidRequest, SchemaNotFound
from headgate.settings import Settings

if TYPE_CHECKING:
    from headgate.catalog import targets
    from headgate.catalog.ports.catalog import LakeCatalog
    from headgate.cli import arrow_start
    from headgate.lake import lake as lakes
    from headgate.lake import lake_recovery
    from headgate.plugins import catalogs
    from headgate.storage import location_spelling
else:
    arrow_start = deferred_module("headgate.cli.arrow_start")
    targets = deferred_module("headgate.catalog.targets")
    lakes = deferred_module("headgate.lake.lake")
    lake_recovery = deferred_module("headgate.lake.lake_recovery")
    catalogs = deferred_module("headgate.plugins.catalogs")
    location_spelling = deferred_module("headgate.storage.location_spelling")


@dataclass(frozen=True, slots=True)
class OpenedLake:
    """A lake, and the catalog behind it for what only the catalog knows."""

    lake: "lakes.Lake"
    catalog: "LakeCatalog"
    place: str = ""
    """Where it is, for people: without a password."""


@contextmanager
def open_lake(named: str | None = None) -> Iterator[OpenedLake]:
    """The lake in a folder or database, or behind a server, closed afterwards.

    The one that is named, else the one of the configuration.
    """
    arrow_start.start_without_pandas()
    around = configuration.current_surroundings()
    choice = configuration.choose_lake(named, around)
    place, token = choice.place, configuration.find_token(choice, around)
    is_remote = targets.is_http(place)
    if location_spelling.is_local(place):
        place = location_spelling.local_path(place)
        _require_lake(Path(place), choice)
    secret = None if token is None else token.secret
    catalog = catalogs.open_catalog(targets.CatalogTarget(place, token=secret))
    try:
        if not is_remote:  # where the server sees to that
            lake_recovery.require_intact(catalog, place)
    except BaseException:
        catalog.close()
        raise
    with lakes.Lake(catalog, settings=Settings(), world=SystemWorld()) as lake:
        yield OpenedLake(lake, catalog, targets.without_password(place))


def require_schema(opened: OpenedLake, schema: str) -> None:
    """Refuse a schema that is not there, of which a list would be as empty as of one without tables."""
    if schema.lower() not in opened.lake.schemas():
        raise SchemaNotFound(f"there is no schema {schema!r} in {opened.place}", name=schema)


def choose_database(named: str | None, command: str) -> str:
    """The place of the lake for a command that works on its database, and refuses one behind a server."""
    place = configuration.choose_lake(named, configuration.current_surroundings()).place
    if targets.is_http(place):
        raise needs_database(command, place)
    return place


def needs_database(command: str, place: str) -> InvalidRequest:
    """The error of a command that does not work through a server."""
    return InvalidRequest(
        f"headgate {command} works on the database of a lake, and {place} is a server: run it with --lake "
        "where the folder or the postgresql:// address of the lake can be reached",
        code="HEADGATE_NEEDS_DATABASE",
    )


def _require_lake(folder: Path, choice: LakeChoice) -> None:
    if not (folder / targets.DATABASE_FILE).is_file():
        lake_recovery.require_database(folder)
        what = "is not a lake" if folder.exists() else "does not exist"
        said = "" if choice.file is None else f", which {str(choice.file)!r} names,"
        raise InvalidRequest(
            f"the folder {str(folder)!r}{said} {what}: name another with --lake DIR, make one with headgate "
            f"server run {shlex.quote(str(folder))} --create, which serves it too, or in Python with "
            f"headgate.connect({str(folder)!r}), or see one built with headgate demo",
            code="HEADGATE_LAKE_NOT_FOUND",
        )


def group_records(catalog: Any) -> Any:
    """What tells which commits were ratified together, of a catalog that does; else None."""
    return catalog if hasattr(catalog, "groups_with") else None
