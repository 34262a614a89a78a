"""What stands between a table and whoever maintains it: what is permitted, and what is still needed."""

from dataclasses import dataclass
from typing import Protocol

from headgate.catalog.ports import maintenance
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.leases import Horizon, LeaseHorizon
from headgate.catalog.ports.maintenance import (
    ALWAYS_PERMITTED,
    Maintenance,
    MaintenancePermissions,
    Permission,
)
from headgate.clock import World
from headgate.protocol.actions import EpochMillis, Version
from headgate.protocol.log import file_names
from headgate.storage import store_time
from headgate.storage.store import Store
from headgate.table.committer import Committer
from headgate.table.read.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class PermittedSnapshot:
    """A table that may be maintained, as it is now, and by whose word."""

    snapshot: Snapshot
    permission: Permission


class MaintenanceGuard(Protocol):
    """Asked before each maintenance of one table."""

    def check(self, kind: Maintenance, operation: str) -> Permission:
        """By whose word that kind of maintenance is permitted (U8); ``NotAllowed`` names the operation."""
        ...

    def now_ms(self) -> int:
        """The time by which is decided what is old: never that of the process alone, which may be ahead."""
        ...

    def horizon(self) -> Horizon:
        """What somebody still needs, and must not be deleted."""
        ...

    def give_up(self, *, before: Version | None = None, moment: EpochMillis | None = None) -> Horizon:
        """To be called before anything is deleted: nobody may begin to need it from here on.

        ``before`` are versions of the log, ``moment`` is for files that were removed, or written and never
        committed, before it. Only what the answer says may be deleted, which can be less than was asked.
        """
        ...


@dataclass(frozen=True, slots=True)
class CatalogGuard:
    """The word of the catalog that manages the table."""

    permissions: MaintenancePermissions
    leases: LeaseHorizon
    table_id: TableId

    def check(self, kind: Maintenance, operation: str) -> Permission:
        return self.permissions.check(self.table_id, kind, operation)

    def now_ms(self) -> int:
        return self.leases.now_ms()

    def horizon(self) -> Horizon:
        return self.leases.horizon(self.table_id)

    def give_up(self, *, before: Version | None = None, moment: EpochMillis | None = None) -> Horizon:
        return self.leases.give_up(self.table_id, before=before, moment=moment)


@dataclass(frozen=True, slots=True)
class PathGuard:
    """Permits all maintenance of an ordinary table; of a catalog-managed one only what is always permitted.

    Such a table was opened by its path, so there is no catalog to ask.
    """

    committer: Committer
    store: Store
    world: World

    def check(self, kind: Maintenance, operation: str) -> Permission:
        if kind not in ALWAYS_PERMITTED and self.committer.frontier().managed:
            raise maintenance.not_permitted_error(kind, operation)
        return Permission.ALWAYS

    def now_ms(self) -> int:
        """The earlier of the two clocks: too early keeps something longer, too late deletes it."""
        return min(self.world.now_ms(), store_time.now_ms(self.store, file_names.CLOCK_FILE))

    def horizon(self) -> Horizon:
        return Horizon(None, None)

    def give_up(self, *, before: Version | None = None, moment: EpochMillis | None = None) -> Horizon:
        return Horizon(before, moment)
