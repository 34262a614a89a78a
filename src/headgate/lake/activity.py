"""What a lake offers to those who follow and tend it: events, leases, permissions and the worker."""

import getpass
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from headgate.catalog.ports import maintenance
from headgate.catalog.ports.access import OWNER
from headgate.catalog.ports.catalog import LakeCatalog
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import TableEntry, parse_name
from headgate.catalog.ports.events import ALL_EVENT_KINDS, Event, EventKind
from headgate.catalog.ports.maintenance import Maintenance
from headgate.clock import World
from headgate.deferred import deferred
from headgate.errors import InvalidRequest
from headgate.protocol.actions import Version
from headgate.protocol.features import rearrangement
from headgate.protocol.features.rearrangement import Thresholds
from headgate.table.opened_table import OpenedTable

if TYPE_CHECKING:
    from headgate.lake.listener import Listener
    from headgate.spark.optimize.spark_rearranger import SparkRearranger
    from headgate.table.maintenance.lease_handle import Lease
    from headgate.table.maintenance.maintenance_tasks import WorkerPolicy
    from headgate.table.maintenance.worker import Worker
else:
    Listener = deferred("headgate.lake.listener", "Listener")
    SparkRearranger = deferred("headgate.spark.optimize.spark_rearranger", "SparkRearranger")
    Lease = deferred("headgate.table.maintenance.lease_handle", "Lease")
    WorkerPolicy = deferred("headgate.table.maintenance.maintenance_tasks", "WorkerPolicy")
    Worker = deferred("headgate.table.maintenance.worker", "Worker")

_MINUTE = timedelta(minutes=1)


class LakeActivity:
    """The part of a lake that is about what happens in it."""

    def __init__(
        self, catalog: LakeCatalog, world: World, open_table: Callable[[TableEntry], OpenedTable]
    ) -> None:
        self._catalog = catalog
        self._world = world
        self._open_table = open_table
        self._listeners: list[Listener] = []

    def events(self, *, after: int = 0, limit: int = 1_000) -> tuple[Event, ...]:
        """What happened after the event with that ``cursor``, the oldest first; 0 is before everything.

        The events of a table come in the order of its versions, and none is ever left out. They are kept for
        some time (the worker forgets old ones); a cursor from before that is refused.

            for event in lake.events(after=0):
                print(event.cursor, event.kind)
        """
        return self._catalog.events.after(after, limit=limit)

    def listen(
        self,
        callback: Callable[[Event], None],
        *,
        kinds: Iterable[str | EventKind] | None = None,
        after: int | None = None,
        name: str | None = None,
        every: float = 0.5,
    ) -> Listener:
        """Have ``callback`` called for each event from now on, in order, on a thread of its own.

        At least once: should it raise, it is called again with the same event, and no commit waits for it.
        With a ``name`` the lake remembers how far it came, and a listener of that name goes on from there;
        else say ``after`` which cursor to begin. ``kinds`` are such as ``"commit"``; the listener looks
        ``every`` so many seconds.

            listener = lake.listen(print, kinds=["commit"])
            listener.close()
        """
        wanted = ALL_EVENT_KINDS if kinds is None else frozenset(_kind(kind) for kind in kinds)
        listener = Listener(self._catalog.events, callback, kinds=wanted, after=after, name=name, every=every)
        self._listeners.append(listener)
        return listener

    def lease(self, table: str, *, version: int | None = None, ttl: timedelta = _MINUTE) -> Lease:
        """Have a version of a table kept while you read it: clean-up and VACUUM delete nothing it needs.

        Without a ``version`` the files are kept that you write from now on and have not committed yet. To be
        used in a ``with`` statement. It is renewed in the background; should the process die, it ends after
        ``ttl``. Before relying on it after a pause, ``check()`` it.

            with lake.lease("sales.orders", version=1):
                orders.to_arrow(version=1)
        """
        millis = ttl // timedelta(milliseconds=1)
        wanted = None if version is None else Version(version)
        leases, principal = self._catalog.leases, self._catalog.principal
        holder = f"{OWNER} {getpass.getuser()}" if principal == OWNER else principal
        held = leases.on_version(self._table_id(table), wanted, holder=holder, ttl_ms=millis)
        return Lease(leases, held, ttl_ms=millis)

    def permit(self, table: str, kind: str, *, thresholds: Thresholds | None = None) -> None:
        """Permit a kind of maintenance of a table: data reorganisation, data cleanup or metadata cleanup.

        Nothing of the kind is permitted unless it is said here, but to the table's owner; checkpoints, log
        compactions and checksums always are. It is an order to workers too: they do it when it is due. For
        data reorganisation the ``thresholds`` say when that is, in place of those of the worker.

            lake.permit("sales.orders", "data cleanup")
        """
        self._catalog.permissions.permit(self._table_id(table), maintenance.parse_kind(kind), thresholds)

    def forbid(self, table: str, kind: str) -> None:
        """Take a permission back; what is under way ends in nothing if it asks again, as OPTIMIZE does.

        lake.forbid("sales.orders", "data cleanup")
        """
        self._catalog.permissions.forbid(self._table_id(table), maintenance.parse_kind(kind))

    def permissions(self, table: str) -> tuple[str, ...]:
        """Which kinds of maintenance may be done with a table.

        kinds = lake.permissions("sales.orders")
        """
        allowed = self._catalog.permissions.permitted_kinds(self._table_id(table))
        return tuple(kind.value for kind in Maintenance if kind in allowed)

    def thresholds(self, table: str) -> Thresholds | None:
        """From where on a worker rearranges the files of a table; None: as the worker's policy says.

        assert lake.thresholds("sales.orders") is None
        """
        return self._catalog.permissions.thresholds(self._table_id(table))

    def accept_version(self, table: str, version: int) -> int:
        """Make what others published without the catalog, up to this version, versions on your own behalf.

        Where the catalog refuses them from somebody unknown, as after a backup of it was restored, nothing
        is committed until this is done, or they are set aside. They are reviewed as if you proposed them.
        The latest version then.

            lake.accept_version("sales.shared", 7)  # published by others, and seen as an incident
        """
        return self._catalog.accept_version(parse_name(table), Version(version))

    def set_aside_version(self, table: str, version: int) -> str:
        """Move a file away that is in the place of a version and is none; its path from then on.

        lake.set_aside_version("sales.shared", 7)  # its file is renamed, not deleted
        """
        return self._catalog.set_aside_version(parse_name(table), Version(version))

    def worker(
        self,
        policy: WorkerPolicy | None = None,
        *,
        spark: SparkSession | Callable[[], SparkSession] | None = None,
    ) -> Worker:
        """A worker, which does what is due for the tables: ``run_once()`` now, or ``run()`` again and again.

        With ``spark``, a session or what gives one when it is needed, also what takes rows: OPTIMIZE,
        clustering and purging of deleted rows, of tables that permit data reorganisation.

            lake.worker().run_once(dry_run=True)
        """
        if policy is not None and policy.rearrange is not None:
            rearrangement.check_thresholds(policy.rearrange)
        holder = f"worker {self._world.uuid()}"
        session = spark if callable(spark) or spark is None else lambda: spark
        rearranger = None if session is None else SparkRearranger(session)
        return Worker(
            self._catalog, self._open_table, self._world, holder, policy or WorkerPolicy(), rearranger
        )

    def stop_listening(self) -> None:
        """Close every listener."""
        while self._listeners:
            self._listeners.pop().close()

    def _table_id(self, table: str) -> TableId:
        return self._catalog.resolve(parse_name(table)).table_id


def _kind(kind: str | EventKind) -> EventKind:
    try:
        return EventKind(kind)
    except ValueError as exc:
        known = ", ".join(repr(one.value) for one in EventKind)
        raise InvalidRequest(f"{kind!r} is no kind of event: there is {known}") from exc
