"""What a worker may do: what is permitted unasked, for as long as it is the only one at work."""

from dataclasses import dataclass

from headgate.catalog.ports.leases import Horizon
from headgate.catalog.ports.maintenance import Maintenance, Permission
from headgate.protocol.actions import EpochMillis, Version
from headgate.table.maintenance.lease_handle import Lease
from headgate.table.upkeep.permissions import CatalogGuard


@dataclass(frozen=True, slots=True)
class WorkerGuard:
    """The guard of the catalog, behind a lease on the work: once that is lost, everything is refused.

    So what a worker began before it lost the lease ends in nothing when it asks again, as it does before it
    commits or deletes.
    """

    guard: CatalogGuard
    lease: Lease

    def check(self, kind: Maintenance, operation: str) -> Permission:
        self.lease.check()
        return self.guard.check(kind, operation)

    def now_ms(self) -> int:
        return self.guard.now_ms()

    def horizon(self) -> Horizon:
        return self.guard.horizon()

    def give_up(self, *, before: Version | None = None, moment: EpochMillis | None = None) -> Horizon:
        self.lease.check()
        return self.guard.give_up(before=before, moment=moment)
