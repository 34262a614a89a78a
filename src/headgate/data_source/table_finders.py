"""Which table do the options of a data source mean, and how does another process find it?

A path has a slash or a colon in it; a name has neither:

    .load("/data/orders")  ·  .option("path", "s3://bucket/orders")      the table at a path
    .load("sales.orders")  ·  .option("table", "main.sales.orders")      a table of a lake that is registered
"""

from collections.abc import Callable, Mapping
from functools import partial

from headgate.errors import InvalidRequest, TableNotFound
from headgate.lake.lake import LakeAddress, lake_at
from headgate.lake.path_table import open_path
from headgate.lake.table import Table
from headgate.settings import Settings
from headgate.spark.session import vended_access
from headgate.storage import location_spelling
from headgate.storage.locate import locate
from headgate.storage.store import Store
from headgate.table.opened_table import OpenedTable

PATH, TABLE = "path", "table"
OWN_OPTIONS = (PATH, TABLE)
"""The options that say which table is meant."""
TableFinder = Callable[[], OpenedTable]
"""Opens the table, in whatever process; ``TableNotFound`` if there is none."""
Lakes = Mapping[str, LakeAddress]


def find_by_options(options: Mapping[str, str], lakes: Lakes) -> TableFinder:
    """How the table that options mean is found."""
    return partial(open_at_path, place) if (place := path_option(options)) else _by_name(options, lakes)


def path_option(options: Mapping[str, str]) -> str | None:
    """The path that options name, if they name one."""
    place = options.get(PATH)
    if place is None or TABLE in options or not ("/" in place or ":" in place):
        return None
    return location_spelling.absolute(place)


def table_name(options: Mapping[str, str], lakes: Lakes) -> tuple[LakeAddress, str]:
    """The lake and the name of a table in it that options mean."""
    name = options.get(TABLE) or options.get(PATH)
    if not name:
        raise InvalidRequest(
            "the data source needs a table: .load('/path/of/table'), or .load('schema.table') for one of a "
            "lake that lake.register(spark) made known"
        )
    if not lakes:
        raise InvalidRequest(
            f"{name!r} is a name, and this session knows no lake: call lake.register(spark) first, or give "
            "a path with a '/' in it"
        )
    lake, *rest = name.split(".")
    if len(rest) == 2:
        if lake.lower() not in lakes:
            raise TableNotFound(
                f"there is no lake {lake!r} in this session: there are {', '.join(sorted(lakes))}", name=name
            )
        return lakes[lake.lower()], ".".join(rest)
    return next(iter(lakes.values())), name


def open_at_path(place: str) -> OpenedTable:
    """The table at a path."""
    opened = open_path(place, Settings())
    if not opened.exists():
        raise TableNotFound(f"there is no Delta table at {place!r}", name=place)
    return opened


def table_of_lake(address: LakeAddress, name: str) -> Table:
    """A table by its name, in whatever process."""
    return lake_at(address).table(name)


def store_opener(table: OpenedTable, find: TableFinder) -> Callable[[], Store]:
    """How a task reaches the files of a table: by their place, or if a catalog vends access, by asking it."""
    vended_access.remember_store(table.location, table.store)
    if vended_access.access_options(table.location):
        return partial(_store_of, find)
    return partial(locate, table.location)


def _by_name(options: Mapping[str, str], lakes: Lakes) -> TableFinder:
    return partial(_open_in_lake, *table_name(options, lakes))


def _open_in_lake(address: LakeAddress, name: str) -> OpenedTable:
    return table_of_lake(address, name).log


def _store_of(find: TableFinder) -> Store:
    return find().store
