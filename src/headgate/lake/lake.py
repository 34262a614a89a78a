"""The entry: a lake of tables behind one catalog."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from pathlib import Path
from types import TracebackType

from typing_extensions import override

from headgate.catalog.ports.access import OWNER
from headgate.catalog.ports.catalog import LakeCatalog
from headgate.catalog.ports.directory import TableEntry
from headgate.catalog.ports.serving import LoadedTable
from headgate.catalog.targets import CatalogTarget
from headgate.clock import SystemWorld, World
from headgate.errors import InvalidRequest
from headgate.lake import lake_recovery
from headgate.lake.access import LakeAccess
from headgate.lake.clone import TableCloning
from headgate.lake.directory import parse_name
from headgate.lake.path_table import at_path, open_path
from headgate.lake.pinned import OpenTableCache, TransactionAccess
from headgate.lake.table import Table
from headgate.lake.transaction import LakeSnapshot, LakeTransaction
from headgate.plugins import catalogs, domain_handlers, policies
from headgate.settings import Settings
from headgate.spark.calls.user_calls import user_call, user_calls
from headgate.spark.commands import convert as converting
from headgate.spark.session.schema import SchemaLike
from headgate.spark.streaming.micro_batch import Destination
from headgate.storage import locations
from headgate.storage.locate import is_local, local_path, locate
from headgate.table.alter import adoption
from headgate.table.alter.adoption import TransferServices
from headgate.table.commit.background import PostCommitScheduler
from headgate.table.commit.catalog_hints import CatalogHints
from headgate.table.commit.catalog_managed import ManagedCommitter
from headgate.table.integrity.check import IntegrityReport
from headgate.table.location import CatalogIdentity
from headgate.table.opened_table import OpenedTable
from headgate.table.upkeep.permissions import CatalogGuard


@dataclass(frozen=True, slots=True)
class LakeAddress:
    """How to connect to a lake that is there, from this process or another."""

    target: str = field(repr=False)  # it may have a password
    settings: Settings
    principal: str


@user_calls
class Lake(TableCloning, LakeAccess):
    """Tables by name, owned by a catalog that ratifies their commits; safe to share between threads."""

    def __init__(
        self, catalog: LakeCatalog, *, settings: Settings, world: World, address: LakeAddress | None = None
    ) -> None:
        super().__init__(catalog, world, lambda entry: self._opened(entry)[1])
        self._settings = settings
        self._address = address
        self._after_commit = PostCommitScheduler(settings, catalog.copies.soon)

    def table(self, name: str) -> Table:
        """The table of that name, ``schema.table``."""
        loaded = self._catalog.load(parse_name(name))
        return self._open(loaded.entry, loaded)

    def transaction(self, tables: Iterable[str] = (), *, isolation: str = "serializable") -> LakeTransaction:
        """Begin a transaction over any tables of the lake: ``with lake.transaction() as tx:``.

        What is done through ``tx.table(…)`` is committed at the end of the block, all of it at once or,
        after an error, nothing. Tables named here are seen as they are at this very moment, others as
        they are when they are first asked for. It commits only if what was read is still true by then;
        with ``isolation="snapshot"`` that is not asked of tables which are only read.
        """
        return LakeTransaction(self._access, tables, isolation)

    def snapshot(self, tables: Iterable[str]) -> LakeSnapshot:
        """Several tables as they are at this one moment, for reading: of each transaction all or nothing."""
        return LakeSnapshot(self._access, tables)

    def check(
        self, table: str | None = None, *, repair: bool = False, data: bool = True
    ) -> tuple[IntegrityReport, ...]:
        """Whether a table, or every table, is whole: what was looked at and found, a report each.

        Looks at the log, the catalog's rows, checkpoints, checksums and, unless told not to, at data
        files. With ``repair`` what can be derived from the rest is written anew; nothing else changes.
        """
        entries = self._catalog.tables() if table is None else (self._catalog.resolve(parse_name(table)),)
        return tuple(
            self._open(entry).log.check(
                str(entry.name), keeper=self._catalog.books(entry.table_id), data=data, repair=repair
            )
            for entry in entries
        )

    def adopt(
        self,
        location: str | Path,
        name: str,
        *,
        convert: bool = False,
        partition_schema: SchemaLike | None = None,
    ) -> Table:
        """Take an existing Delta table, wherever it is, into the lake by this name; its files stay there.

        From then on the catalog ratifies its commits, and clients that commit by creating files are refused.
        If somebody commits meanwhile: ``ConcurrentWrite``, and nothing happened. After a crash the same
        call again, or any use of the name, finishes it if the table has changed hands.
        With ``convert`` a folder of parquet files becomes a Delta table first, as ``headgate.convert`` does.
        """
        place, wanted = locations.canonical(str(location)), parse_name(name)
        if convert:
            adoption.check_claimable(self._registry(), locate(place), place, wanted)
            converting.convert(place, locate(place), partition_schema, world=self._world)
        adopted = adoption.adopt(self._registry(), locate(place), place, wanted)
        self._catalog.copies.now()  # which knows where it is, should the database be lost
        return self._open(self._catalog.resolve(adopted.name))

    def convert(
        self, location: str | Path, name: str, *, partition_schema: SchemaLike | None = None
    ) -> Table:
        """Make a folder of parquet files a table of the lake, without writing any file anew."""
        return self.adopt(location, name, convert=True, partition_schema=partition_schema)

    def release(self, name: str, *, keep_timestamps: bool = True) -> Table:
        """Give a table back: an ordinary Delta table again, at the same place; the table opened by its path.

        Everything is published, and the name is free. Whoever has it open is told where it is now. Its
        in-commit timestamps stay on, which some clients cannot write (deltalake is one): with
        ``keep_timestamps=False`` they go too, and the time of a version is that of its file.
        """
        entry = self._catalog.resolve(parse_name(name))
        opened = self._open(entry).log
        adoption.release(self._registry(), opened, entry.table_id, keep_timestamps=keep_timestamps)
        return at_path(entry.location, settings=self._settings)

    def resume_adoptions(self) -> Mapping[str, str]:
        """Finish or forget what a crash left of adoptions and releases; what became of each, by name.

        Nobody has to call this: whoever uses the name does the same for that table.
        """
        return adoption.resume_transfers(self._registry())

    def close(self) -> None:
        """Publish what still waits and let go of the catalog."""
        self._stop_listening()
        self._after_commit.close()
        self._catalog.copies.at_the_end()
        self._catalog.close()

    def __enter__(self) -> "Lake":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @override
    def _opened_at(self, location: str) -> OpenedTable:
        return open_path(location, self._settings)

    def _registry(self) -> TransferServices:
        catalog = self._catalog
        return TransferServices(catalog.adoptions, catalog.releases, catalog.principal, self._world)

    @cached_property
    def _access(self) -> TransactionAccess:
        catalog, opened = self._catalog, OpenTableCache(self._opened)
        return TransactionAccess(
            catalog, catalog.resolve_all, parse_name, opened, self._stage, self._settings, self._world,
            catalog.granting.let_clone,
        )  # fmt: skip

    def _open(self, entry: TableEntry, loaded: LoadedTable | None = None) -> Table:
        _, opened = self._opened(entry, loaded)
        return self._table(str(entry.name), opened)

    @override
    def _again(self, name: str, properties: Mapping[str, str] | None) -> Callable[[], Destination] | None:
        return None if self._address is None else partial(_destination, self._address, name, properties)

    def _opened(
        self, entry: TableEntry, loaded: LoadedTable | None = None
    ) -> tuple[ManagedCommitter, OpenedTable]:
        store = locate(entry.location)
        fresh = self._settings.opening_seconds
        committer = ManagedCommitter(
            store,
            self._catalog,
            entry.table_id,
            world=self._world,
            inline_limit_bytes=self._settings.inline_limit_bytes,
            served=CatalogHints(self._catalog, entry.table_id, loaded=loaded, fresh_seconds=fresh),
        )
        opened = OpenedTable(
            entry.location,
            store,
            committer,
            after_commit=self._after_commit,
            settings=self._settings,
            world=self._world,
            handlers=domain_handlers.registered,
            guard=CatalogGuard(self._catalog.permissions, self._catalog.leases, entry.table_id),
            member=CatalogIdentity(entry.table_id),
        )
        return committer, opened


@user_call
def connect(
    target: str | Path,
    *,
    warehouse: str | Path | None = None,
    settings: Settings | None = None,
    principal: str = OWNER,
) -> Lake:
    """Open a lake, made if it does not exist: in a folder, or in a PostgreSQL database for many machines.

    A folder has one SQLite file and a warehouse. The tables of a database, ``postgresql://…``, are in
    the ``warehouse``, a folder or bucket URL that the first to connect must name. Everything is done on
    behalf of the ``principal``, who may do what was granted; without one, of the owner, who may do all.
    ``CatalogLost`` if the database of tables that are there is gone, or older: see ``headgate.recover``.
    """
    settings = settings or Settings()
    place = str(target)
    if is_local(place):
        place = local_path(place)
    address = LakeAddress(place, settings, principal)
    if is_local(place):
        if warehouse is not None:
            raise InvalidRequest("a lake in a folder has its warehouse there too: leave warehouse out")
        lake_recovery.require_database(place)
    named = None if warehouse is None else str(warehouse)
    catalog = catalogs.open_catalog(CatalogTarget(place, named, settings))
    try:
        lake_recovery.require_intact(catalog, place)
    except BaseException:
        catalog.close()
        raise
    catalog = catalog.acting_as(principal, policies=policies.registered)
    return Lake(catalog, settings=settings, world=SystemWorld(), address=address)


@cache
def _lake_at(address: LakeAddress) -> Lake:
    """The lake of a process that only writes the batches of a stream; it is open as long as that runs."""
    return connect(address.target, settings=address.settings, principal=address.principal)


def _destination(address: LakeAddress, name: str, properties: Mapping[str, str] | None) -> Destination:
    return _lake_at(address)._destination(name, properties)
