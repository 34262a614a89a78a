"""The entry: a lake of tables behind one catalog.

A ``Lake`` is made of parts, each in a module of its own, and offers their calls as its own. What is here
opens tables, one or several at one moment, and the lake itself.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, SparkSession
from typing_extensions import override

from headgate.calls import summary
from headgate.calls.delegation import delegate
from headgate.calls.faces import load_face
from headgate.catalog.ports.catalog import GathersWrites, LakeCatalog
from headgate.catalog.ports.directory import TableEntry, parse_name
from headgate.catalog.targets import TOKEN_VARIABLE, CatalogTarget, is_http, without_password
from headgate.clock import SystemWorld, World
from headgate.deferred import deferred
from headgate.errors import HeadgateError, InvalidRequest, TableNotFound
from headgate.lake import lake_recovery
from headgate.lake.access import LakeAccess
from headgate.lake.activity import LakeActivity
from headgate.lake.adopt import ExternalNames, TableAdoption
from headgate.lake.clone import TableCloning
from headgate.lake.context import LakeContext
from headgate.lake.create import TableCreation
from headgate.lake.directory import LakeDirectory
from headgate.lake.table import Table
from headgate.plugins import catalogs
from headgate.progress import reporting
from headgate.settings import Settings
from headgate.spark.calls.user_calls import user_call, user_calls
from headgate.spark.streaming.micro_batch import Destination
from headgate.storage.location_spelling import is_local, local_path
from headgate.table.commit.background import PostCommitScheduler
from headgate.table.event_follower import EventFollower

if TYPE_CHECKING:
    from headgate.lake.pinned import OpenTableCache, TransactionAccess
    from headgate.lake.summaries import lake_summary
    from headgate.lake.transaction import LakeSnapshot, LakeTransaction
    from headgate.plugins import policies
    from headgate.table.integrity.check import IntegrityReport
else:
    OpenTableCache, TransactionAccess = deferred(
        "headgate.lake.pinned", "OpenTableCache", "TransactionAccess"
    )
    lake_summary = deferred("headgate.lake.summaries", "lake_summary")
    LakeSnapshot, LakeTransaction = deferred("headgate.lake.transaction", "LakeSnapshot", "LakeTransaction")
    policies = deferred("headgate.plugins", "policies")
    IntegrityReport = deferred("headgate.table.integrity.check", "IntegrityReport")


@dataclass(frozen=True, slots=True)
class LakeAddress:
    """How to connect to a lake that is there, from this process or another."""

    target: str = field(repr=False)  # it may have a password
    settings: Settings
    principal: str | None
    token: str | None = field(default=None, repr=False)


def _creation(lake: "Lake") -> TableCreation:
    return lake._creation


def _cloning(lake: "Lake") -> TableCloning:
    return lake._cloning


def _adoption(lake: "Lake") -> TableAdoption:
    return lake._adoption


def _external(lake: "Lake") -> ExternalNames:
    return lake._external


def _directory(lake: "Lake") -> LakeDirectory:
    return lake._directory


def _activity(lake: "Lake") -> LakeActivity:
    return lake._activity


def _access(lake: "Lake") -> LakeAccess:
    return lake._access


@user_calls
class Lake:
    """Tables by name, owned by a catalog that ratifies their commits; safe to share between threads."""

    def __init__(
        self, catalog: LakeCatalog, *, settings: Settings, world: World, address: LakeAddress | None = None
    ) -> None:
        again = None if address is None else partial(_destination, address)
        gathering = catalog.gathering if isinstance(catalog, GathersWrites) else nullcontext
        after_commit = PostCommitScheduler(settings, catalog.copies.write_if_due, gathering)
        follower = EventFollower(catalog.events, every=settings.events_seconds)
        context = LakeContext(catalog, settings, world, after_commit, again, follower)
        self._catalog = catalog
        self.address = address
        """How another process connects to it; None if none can."""
        self._context = context
        self._access = LakeAccess(catalog.granting, catalog.tokens)
        self._activity = LakeActivity(catalog, world, context.open_table)
        self._directory = LakeDirectory(catalog, context.open_table)
        self._creation = TableCreation(context)
        self._cloning = TableCloning(context, self._activity)
        self._adoption = TableAdoption(context)
        self._external = ExternalNames(context)

    def table(self, name: str) -> Table:
        """The table of that name, ``schema.table``; an ordinary one is opened by its path.

        orders = lake.table("sales.orders")
        """
        try:
            loaded = self._catalog.load(parse_name(name))
        except TableNotFound as missing:
            return self._external.open(name, missing)
        return self._context.handle(loaded.entry, loaded)

    def transaction(self, tables: Iterable[str] = (), *, isolation: str = "serializable") -> LakeTransaction:
        """Begin a transaction over any tables of the lake: ``with lake.transaction() as tx:``.

        What is done through ``tx.table(…)`` is committed at the end of the block, all of it at once or,
        after an error, nothing. Tables named here are seen as they are at this very moment, others as
        they are when they are first asked for. It commits only if what was read is still true by then;
        with ``isolation="snapshot"`` that is not asked of tables which are only read.

            with lake.transaction() as tx:
                tx.table("sales.orders").append([{"id": 7}])
                tx.table("sales.stock").append([{"sku": "b"}])
        """
        return LakeTransaction(self._transaction_access, tables, isolation)

    def snapshot(self, tables: Iterable[str]) -> LakeSnapshot:
        """Several tables as they are at this one moment, for reading: of each transaction all or nothing.

        seen = lake.snapshot(["sales.orders", "sales.stock"])
        rows = seen.table("sales.orders").to_arrow()
        """
        return LakeSnapshot(self._transaction_access, tables)

    def check(
        self, table: str | None = None, *, repair: bool = False, data: bool = True
    ) -> tuple[IntegrityReport, ...]:
        """Whether a table, or every table, is whole: what was looked at and found, a report each.

        Looks at the log, the catalog's rows, checkpoints, checksums and, unless told not to, at data
        files. With ``repair`` what can be derived from the rest is written anew; nothing else changes.

            assert all(report.is_clean for report in lake.check())
        """
        entries = self._catalog.tables() if table is None else (self._context.resolve(table),)
        with reporting.tracked("check tables", entries) as each:
            return tuple(self._check(entry, repair=repair, data=data) for entry in each)

    def _check(self, entry: TableEntry, *, repair: bool, data: bool) -> IntegrityReport:
        books = self._catalog.books(entry.table_id)
        return self._context.open_table(entry).check(str(entry.name), keeper=books, data=data, repair=repair)

    def register(self, spark: SparkSession, name: str = "main") -> None:
        """Have a Spark session know the lake: its tables by name, as in ``spark.sql("… FROM sales.orders")``.

        So do ``spark.table``, ``df.writeTo``, ``df.write.saveAsTable``, ``insertInto`` and
        ``DeltaTable.forName``. A table is called ``sales.orders``, or ``main.sales.orders`` where Spark has a
        schema ``sales`` too; all other names are Spark's. Sessions that Spark clones later, as for
        ``foreachBatch``, know the lake as well.

            lake.register(spark)
        """
        load_face("register")(spark, self, name)
        load_face("patch_spark_methods")(spark)

    def sql(
        self,
        text: str,
        args: Mapping[str, Any] | Sequence[Any] | None = None,
        spark: SparkSession | None = None,
        **frames: Any,
    ) -> DataFrame:
        """Run a statement of SQL in which ``sales.orders`` is a table of the lake; what it answers.

        All that is no table of the lake is Spark's. ``args`` are the values of ``:name`` or ``?``, and
        ``frames`` DataFrames that the text has in braces, both as in ``spark.sql``.

            lake.sql("SELECT * FROM sales.orders WHERE id = :id", {"id": 7}, spark=spark).show()
        """
        found: DataFrame = load_face("run_sql")(self, text, args, frames, spark)
        return found

    def unregister(self, spark: SparkSession) -> None:
        """Have a Spark session know the lake no longer.

        lake.unregister(spark)
        """
        load_face("unregister")(spark, self)

    create_table = delegate(_creation, TableCreation.create_table)
    write = delegate(_creation, TableCreation.write)
    write_stream = delegate(_creation, TableCreation.write_stream)
    replace_table = delegate(_creation, TableCreation.replace_table)

    clone = delegate(_cloning, TableCloning.clone)

    adopt = delegate(_adoption, TableAdoption.adopt)
    convert = delegate(_adoption, TableAdoption.convert)
    release = delegate(_adoption, TableAdoption.release)
    resume_adoptions = delegate(_adoption, TableAdoption.resume_adoptions)

    register_external = delegate(_external, ExternalNames.register_external)
    external_tables = delegate(_external, ExternalNames.external_tables)
    forget_external = delegate(_external, ExternalNames.forget_external)
    is_managed = delegate(_external, ExternalNames.is_managed)

    create_schema = delegate(_directory, LakeDirectory.create_schema)
    schemas = delegate(_directory, LakeDirectory.schemas)
    drop_schema = delegate(_directory, LakeDirectory.drop_schema)
    table_exists = delegate(_directory, LakeDirectory.table_exists)
    tables = delegate(_directory, LakeDirectory.tables)
    drop_table = delegate(_directory, LakeDirectory.drop_table)
    rename = delegate(_directory, LakeDirectory.rename)
    dropped = delegate(_directory, LakeDirectory.dropped)
    undrop = delegate(_directory, LakeDirectory.undrop)
    purge = delegate(_directory, LakeDirectory.purge)
    share_log = delegate(_directory, LakeDirectory.share_log)
    recover = delegate(_directory, LakeDirectory.recover)
    commits = delegate(_directory, LakeDirectory.commits)

    events = delegate(_activity, LakeActivity.events)
    listen = delegate(_activity, LakeActivity.listen)
    lease = delegate(_activity, LakeActivity.lease)
    permit = delegate(_activity, LakeActivity.permit)
    forbid = delegate(_activity, LakeActivity.forbid)
    permissions = delegate(_activity, LakeActivity.permissions)
    thresholds = delegate(_activity, LakeActivity.thresholds)
    accept_version = delegate(_activity, LakeActivity.accept_version)
    set_aside_version = delegate(_activity, LakeActivity.set_aside_version)
    worker = delegate(_activity, LakeActivity.worker)

    grant = delegate(_access, LakeAccess.grant)
    revoke = delegate(_access, LakeAccess.revoke)
    grants = delegate(_access, LakeAccess.grants)
    add_member = delegate(_access, LakeAccess.add_member)
    remove_member = delegate(_access, LakeAccess.remove_member)
    groups = delegate(_access, LakeAccess.groups)
    create_token = delegate(_access, LakeAccess.create_token)
    tokens = delegate(_access, LakeAccess.tokens)
    revoke_token = delegate(_access, LakeAccess.revoke_token)
    limit_unpublished = delegate(_access, LakeAccess.limit_unpublished)
    set_rule = delegate(_access, LakeAccess.set_rule)
    allow_files = delegate(_access, LakeAccess.allow_files)
    add_foreign_key = delegate(_access, LakeAccess.add_foreign_key)
    drop_foreign_key = delegate(_access, LakeAccess.drop_foreign_key)
    foreign_keys = delegate(_access, LakeAccess.foreign_keys)

    def close(self) -> None:
        """Publish what still waits and let go of the catalog.

        lake.close()
        """
        self._activity.stop_listening()
        self._context.follower.close()
        self._context.after_commit.close()
        self._catalog.copies.write_if_changed()
        self._catalog.close()

    def __getitem__(self, name: str) -> Table:
        """The table of that name, as ``table`` gives it."""
        return self.table(name)

    def __contains__(self, name: object) -> bool:
        """Whether there is a table of that name that you may see; what is no such name is in no lake."""
        try:
            return isinstance(name, str) and self._directory.table_exists(name)
        except InvalidRequest:
            return False

    def __iter__(self) -> Iterator[str]:
        """The names of the tables that you may see."""
        return iter(sorted(str(entry.name) for entry in self._catalog.tables()))

    def _ipython_key_completions_(self) -> list[str]:
        """What a notebook offers behind ``lake["``; nothing if the catalog does not answer."""
        try:
            return list(self)
        except HeadgateError:
            return []

    @override
    def __repr__(self) -> str:
        address = self.address
        return summary.one_line(
            "Lake", self._place(), principal=None if address is None else address.principal
        )

    def _repr_html_(self) -> str:
        return summary.html_or_line(
            lambda: lake_summary.summarize_lake(self._place(), self._catalog), repr(self)
        )

    def _place(self) -> str:
        """Where the lake is, for people."""
        return self._catalog.warehouse if self.address is None else without_password(self.address.target)

    def __enter__(self) -> "Lake":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @cached_property
    def _transaction_access(self) -> TransactionAccess:
        catalog, context = self._catalog, self._context
        return TransactionAccess(
            catalog, catalog.resolve_all, catalog.pin, parse_name, OpenTableCache(context.open),
            self._creation.stage, context.settings, context.world, catalog.granting.allow_clone_of,
        )  # fmt: skip


@user_call
def connect(
    target: str | Path,
    *,
    warehouse: str | Path | None = None,
    settings: Settings | None = None,
    principal: str | None = None,
    token: str | None = None,
) -> Lake:
    """Open a lake: in a folder, in a PostgreSQL database for many machines, or behind a server.

    A folder, made if there is none, has one SQLite file and a warehouse. The tables of a database,
    ``postgresql://…``, are in the ``warehouse``, a folder or bucket URL that the first to connect must name.
    Everything is done on behalf of the ``principal``, who may do what was granted; without one, of the owner,
    who may do all. Behind a server, ``https://host/lake``, it is done on behalf of whoever the ``token`` is
    of, by default the one in ``HEADGATE_TOKEN``; only its owner may name another principal.
    ``CatalogLost`` if the database of tables that are there is gone, or older: see ``headgate.recover``.

        lake = headgate.connect("lake")
    """
    settings = settings or Settings()
    place = str(target)
    if is_local(place):
        place = local_path(place)
    if is_http(place):
        token = token or os.environ.get(TOKEN_VARIABLE)
    address = LakeAddress(place, settings, principal, token)
    if is_local(place):
        if warehouse is not None:
            raise InvalidRequest("a lake in a folder has its warehouse there too: leave warehouse out")
        lake_recovery.require_database(place)
    named = None if warehouse is None else str(warehouse)
    catalog = catalogs.open_catalog(CatalogTarget(place, named, settings, token))
    try:
        if not is_http(place):  # where the server sees to that
            lake_recovery.require_intact(catalog, place)
    except BaseException:
        catalog.close()
        raise
    catalog = catalog.acting_as(principal or catalog.principal, policies=policies.registered)
    return Lake(catalog, settings=settings, world=SystemWorld(), address=address)


@cache
def lake_at(address: LakeAddress) -> Lake:
    """The lake of a process that works for a query of another; it is open as long as that runs."""
    return connect(
        address.target, settings=address.settings, principal=address.principal, token=address.token
    )


def _destination(address: LakeAddress, name: str, properties: Mapping[str, str] | None) -> Destination:
    return lake_at(address)._creation.destination(name, properties)
