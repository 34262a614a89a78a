"""How is an ordinary Delta table made at a path as a statement says it: CREATE, REPLACE or a clone?

``at_path`` declares a table, whether or not it is there; these do what they are called, or refuse to:

    create_at_path("/data/orders", definition)      TableExists, if there is one
    replace_at_path("/data/orders", definition)     TableNotFound, if there is none
    clone_to_path(orders, "/data/copy")             a table like another
"""

from collections.abc import Mapping
from datetime import datetime

from headgate.errors import TableExists
from headgate.lake.path_table import open_path, table_at_path
from headgate.lake.table import Table
from headgate.plugins import coordinators
from headgate.settings import Settings
from headgate.spark.calls import moments
from headgate.spark.calls.user_calls import user_call
from headgate.spark.write import replace_table as replacing
from headgate.spark.write.replace_table import TableReplacement
from headgate.table.alter import clone as cloned
from headgate.table.alter import coordination
from headgate.table.alter.clone import CloneOptions, CloneSource
from headgate.table.alter.create import TableDefinition
from headgate.table.location import NewTableLocation
from headgate.table.read import table_not_found


@user_call
def create_at_path(location: str, definition: TableDefinition, *, if_not_exists: bool = False) -> Table:
    """Make an empty table at a path; one that is there is refused, or with ``if_not_exists`` stays."""
    opened = open_path(location, Settings())
    if not (if_not_exists and opened.exists()):
        if opened.exists():
            raise _exists_error(opened.location)
        coordination.create_table(opened, definition, coordinators.find_coordinator)
    return table_at_path(opened)


@user_call
def replace_at_path(location: str, definition: TableDefinition, *, or_create: bool = False) -> Table:
    """Put another table in place of the one at a path, in one commit; with ``or_create`` it need not be."""
    opened = open_path(location, Settings())
    if opened.exists():
        replacing.replace_table(opened, TableReplacement(definition, or_create=or_create))
    elif or_create:
        coordination.create_table(opened, definition, coordinators.find_coordinator)
    else:
        raise table_not_found.no_table_at(opened.location)
    return table_at_path(opened)


@user_call
def clone_to_path(  # noqa: PLR0913 — those of Delta's statement
    source: Table,
    location: str,
    *,
    shallow: bool = False,
    version: int | None = None,
    timestamp: datetime | str | None = None,
    replace: bool = False,
    properties: Mapping[str, str] | None = None,
) -> Table:
    """Make an ordinary table at a path what another table is; the arguments are those of ``Lake.clone``."""
    target = open_path(location, Settings())
    moment = None if timestamp is None else moments.to_epoch_millis(timestamp)
    snapshot = source.log.snapshot(version=version, timestamp=moment)
    cloning = CloneSource(source.name, source.log, snapshot)
    wish = CloneOptions(shallow=shallow, properties=properties or {}, required=None)
    if target.exists():
        if not replace:
            raise _exists_error(target.location)
        cloned.replace_with_clone(target, cloning, wish)
    else:
        site = NewTableLocation(target.location, target.store, target.world)
        cloned.create_clone_at_path(site, cloning, wish)
    return table_at_path(target)


def _exists_error(location: str) -> TableExists:
    return TableExists(
        f"there is a Delta table at {location!r} already: choose another place, or replace it", name=location
    )
