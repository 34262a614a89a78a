"""How do the parts of a lake reach its tables? Through one value: the catalog, and how tables are opened.

A table is opened by its entry in the catalog, and held by its user as a ``Table``:

    entry = context.resolve("sales.orders")
    context.open_table(entry).snapshot()    the log, for work that needs no Spark
    context.handle(entry).read()            what a user holds
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from headgate.catalog.ports.catalog import LakeCatalog
from headgate.catalog.ports.directory import StagingTable, TableEntry, TableName, parse_name
from headgate.catalog.ports.serving import LoadedTable
from headgate.catalog.table_stores import open_store
from headgate.clock import World
from headgate.lake.table import Table
from headgate.plugins import domain_handlers
from headgate.protocol.log import file_names
from headgate.settings import Settings
from headgate.spark.streaming.micro_batch import Destination
from headgate.storage import make_folder
from headgate.storage.store import Store
from headgate.table.catalog_table import CatalogTables
from headgate.table.commit.background import PostCommitScheduler
from headgate.table.commit.catalog_managed import ManagedCommitter
from headgate.table.event_follower import EventFollower
from headgate.table.opened_table import OpenedTable

DestinationFinder = Callable[[str, Mapping[str, str] | None], Destination]
"""Finds, in whatever process, where streams go to by a name; with properties the table may be made."""


@dataclass(frozen=True, slots=True)
class LakeContext:
    """What the parts of a lake share; safe to share between threads."""

    catalog: LakeCatalog
    settings: Settings
    world: World
    after_commit: PostCommitScheduler
    find_destination: DestinationFinder | None
    """None if another process cannot connect to this lake."""
    follower: EventFollower
    """Follows the events of the catalog, for streams."""

    def resolve(self, name: str) -> TableEntry:
        """The table that a user calls so."""
        return self.catalog.resolve(parse_name(name))

    def open(
        self, entry: TableEntry, loaded: LoadedTable | None = None
    ) -> tuple[ManagedCommitter, OpenedTable]:
        """A table and what commits to it, with what the catalog told when it was loaded."""
        tables = CatalogTables(
            self.catalog, self.settings, self.world, self.after_commit, domain_handlers.registered,
            self.follower,
        )  # fmt: skip
        return tables.open(entry, loaded)

    def open_table(self, entry: TableEntry) -> OpenedTable:
        """A table, for work that needs no Spark."""
        return self.open(entry)[1]

    def handle(self, entry: TableEntry, loaded: LoadedTable | None = None) -> Table:
        """A table as its user holds it."""
        name, (_, opened) = str(entry.name), self.open(entry, loaded)
        return Table(name, opened, Destination(name, lambda: opened, again=self.destination_again(name)))

    def destination_again(
        self, name: str, properties: Mapping[str, str] | None = None
    ) -> Callable[[], Destination] | None:
        """What finds the destination of this name from another process, to which it can be sent."""
        return None if self.find_destination is None else partial(self.find_destination, name, properties)

    def reserve(self, name: TableName) -> StagingTable:
        """A place for a table to be, with the folder where other clients put what they stage (S124)."""
        staging = self.catalog.stage(name)
        make_folder.make_folder(staging.location, file_names.STAGED_FOLDER)
        return staging

    def staging_store(self, staging: StagingTable) -> Store:
        """The files of a table that is being made."""
        return open_store(self.catalog, staging.table_id, staging.location)
