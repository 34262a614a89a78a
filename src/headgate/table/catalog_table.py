"""How is a table of a catalog opened? By its entry, with the committer that proposes to the catalog."""

from collections.abc import Callable
from dataclasses import dataclass

from headgate.catalog.ports.catalog import LakeCatalog
from headgate.catalog.ports.directory import TableEntry
from headgate.catalog.ports.serving import LoadedTable
from headgate.catalog.table_stores import open_store
from headgate.clock import World
from headgate.protocol.domains.rules import Handlers
from headgate.settings import Settings
from headgate.table.commit.background import PostCommitScheduler
from headgate.table.commit.catalog_hints import CatalogHints
from headgate.table.commit.catalog_managed import ManagedCommitter
from headgate.table.event_follower import EventFollower
from headgate.table.location import CatalogIdentity
from headgate.table.opened_table import OpenedTable
from headgate.table.upkeep.permissions import CatalogGuard


@dataclass(frozen=True, slots=True)
class CatalogTables:
    """Opens the tables of one catalog; safe to share between threads."""

    catalog: LakeCatalog
    settings: Settings
    world: World
    after_commit: PostCommitScheduler
    handlers: Callable[[], Handlers]
    follower: EventFollower | None = None
    """Follows the events of the catalog for those who wait for commits."""

    def open(
        self, entry: TableEntry, loaded: LoadedTable | None = None
    ) -> tuple[ManagedCommitter, OpenedTable]:
        """A table and what commits to it, with what the catalog told when it was loaded."""
        catalog, settings = self.catalog, self.settings
        store = open_store(catalog, entry.table_id, entry.location)
        committer = ManagedCommitter(
            store,
            catalog,
            entry.table_id,
            world=self.world,
            inline_limit_bytes=settings.inline_limit_bytes,
            served=CatalogHints(
                catalog, entry.table_id, loaded=loaded, fresh_seconds=settings.opening_seconds
            ),
        )
        opened = OpenedTable(
            entry.location,
            store,
            committer,
            after_commit=self.after_commit,
            settings=settings,
            world=self.world,
            handlers=self.handlers,
            guard=CatalogGuard(catalog.permissions, catalog.leases, entry.table_id),
            member=CatalogIdentity(entry.table_id, events=self.follower),
        )
        return committer, opened
