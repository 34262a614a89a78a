"""A lake for a worker to tend, whose time can be moved into the future."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from headgate.catalog.catalog import Catalog
from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.directory import TableEntry, TableName
from headgate.clock import SystemWorld
from headgate.protocol.log import file_names
from headgate.settings import Publish, Settings
from headgate.storage.locate import locate
from headgate.storage.store import Store
from headgate.table.maintenance.maintenance_tasks import WorkerPolicy
from headgate.table.maintenance.rearranger import Rearranger
from headgate.table.maintenance.worker import Worker
from headgate.table.opened_table import OpenedTable
from headgate.table.upkeep.permissions import CatalogGuard
from tests.support.tables import NAME, append_change, named_file, open_managed

DAY_MS = 24 * 60 * 60 * 1000
STAGED = Settings(publish=Publish.ON_DEMAND, inline_limit_bytes=0)


class MovableWorld(SystemWorld):
    """The machine's, some days later."""

    days = 0

    def now_ms(self) -> int:
        return super().now_ms() + self.days * DAY_MS


@dataclass
class Place:
    """A catalog in a folder, whose world can be moved into the future."""

    catalog: Catalog
    world: MovableWorld
    through: Callable[[Store], Store] = field(default=lambda store: store)

    def open(self, entry: TableEntry) -> OpenedTable:
        store = self.through(locate(entry.location))
        opened = open_managed(
            self.catalog, entry.table_id, entry.location, store=store, settings=STAGED, world=self.world
        )
        opened.guard = CatalogGuard(self.catalog.permissions, self.catalog.leases, entry.table_id)
        return opened

    def table(self, name: TableName = NAME) -> OpenedTable:
        return self.open(self.catalog.resolve(name))

    def unasked(self) -> OpenedTable:
        """The table as a worker has it."""
        opened, table_id = self.table(), self.catalog.resolve(NAME).table_id
        opened.guard = CatalogGuard(
            self.catalog.permissions.for_background_work(), self.catalog.leases, table_id
        )
        return opened

    def worker(
        self,
        policy: WorkerPolicy | None = None,
        *,
        holder: str = "worker",
        rearranger: Rearranger | None = None,
    ) -> Worker:
        policy = policy or WorkerPolicy(compact=4)
        return Worker(self.catalog, self.open, self.world, holder, policy, rearranger)

    def append(self, count: int, name: TableName = NAME) -> None:
        table = self.table(name)
        for _ in range(count):
            base = table.snapshot()
            table.commit(append_change(named_file(f"{base.version + 1}")), base=base)

    def log(self, name: TableName = NAME) -> list[str]:
        store = locate(self.catalog.resolve(name).location)
        return [
            meta.path.removeprefix(file_names.LOG_FOLDER) for meta in store.list_from(file_names.LOG_FOLDER)
        ]

    def rows(self, name: TableName = NAME) -> list[int]:
        return sorted(map(int, self.table(name).snapshot().files.columns["path"].to_pylist()))


@contextmanager
def opened(folder: Path) -> Iterator[Place]:
    world = MovableWorld()
    with closing(open_catalog(folder, world=world)) as catalog:
        yield Place(catalog, world)
