"""What does a Unity Catalog server not have, and what does this client do about it?

Where nothing can go wrong without it, nothing is done: copies of the directory, hints of checkpoints. Where
a promise could not be kept, it is refused, and the error says what is missing: leases, transactions over
several tables, grants of ours.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NoReturn

from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory_copy import CopiedTable
from headgate.catalog.ports.leases import HeldLease, Horizon
from headgate.catalog.ports.maintenance import ALWAYS_PERMITTED, Maintenance, Permission
from headgate.errors import NotAllowed, UnsupportedFeature
from headgate.protocol.actions import EpochMillis, Version
from headgate.protocol.features.rearrangement import Thresholds

NOT_OFFERED = "HEADGATE_NOT_OFFERED"
_ALLOWED_BY = {
    Maintenance.DATA_REORGANISATION: "DATA_REORGANIZATION",
    Maintenance.DATA_CLEANUP: "DATA_CLEANUP",
    Maintenance.METADATA_CLEANUP: "METADATA_CLEANUP",
}
"""What the server calls each kind in ``allowed-maintenance-operations``."""


def refuse(what: str, instead: str) -> NoReturn:
    """The error for what such a server does not have, and what to do instead."""
    raise UnsupportedFeature(
        f"{what}: a Unity Catalog server does not offer that; {instead}", code=NOT_OFFERED, operation=what
    )


class NotOffered:
    """A part of a lake's catalog that such a server does not have: every call of it is refused."""

    def __init__(self, what: str, instead: str) -> None:
        self._what, self._instead = what, instead

    def __getattr__(self, name: str) -> Callable[..., NoReturn]:
        if name.startswith("__"):
            raise AttributeError(name)

        def refused(*_: object, **__: object) -> NoReturn:
            refuse(f"{self._what} ({name})", self._instead)

        return refused


class NoDirectoryCopies:
    """The port ``DirectoryCopying``: the server keeps its own directory, and nothing is copied."""

    def write_if_due(self) -> None: ...

    def write_if_changed(self) -> None: ...

    def write_now(self, *, forgotten: Iterable[TableId] = (), recovered: bool = False) -> None: ...

    def find_lost_tables(self) -> tuple[bool, tuple[CopiedTable, ...]]:
        return False, ()

    def is_new(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class ServersPermissions:
    """The port ``MaintenancePermissions``: what the server allows of each table, and nothing else."""

    allowed: Callable[[TableId], frozenset[str]]

    def for_background_work(self) -> "ServersPermissions":
        return self

    def check(self, table_id: TableId, kind: Maintenance, operation: str) -> Permission:
        if kind in ALWAYS_PERMITTED:
            return Permission.ALWAYS
        if _ALLOWED_BY[kind] not in self.allowed(table_id):
            raise NotAllowed(
                f"{operation} is {kind.value} of a table that its Unity Catalog server manages, and the "
                f"server does not list {_ALLOWED_BY[kind]} among its allowed-maintenance-operations: leave "
                "it to the server, or ask who runs it",
                code="DELTA_UNSUPPORTED_CATALOG_MANAGED_TABLE_OPERATION",
                operation=operation,
                kind=kind.value,
            )
        return Permission.CATALOG

    def permitted_kinds(self, table_id: TableId) -> frozenset[Maintenance]:
        found = self.allowed(table_id)
        return ALWAYS_PERMITTED | {kind for kind, name in _ALLOWED_BY.items() if name in found}

    def thresholds(self, table_id: TableId) -> Thresholds | None:  # noqa: ARG002
        return None

    def permit(self, table_id: TableId, kind: Maintenance, thresholds: Thresholds | None = None) -> bool:  # noqa: ARG002
        refuse(f"permitting {kind.value}", "its operator decides what clients may maintain")

    def forbid(self, table_id: TableId, kind: Maintenance) -> bool:  # noqa: ARG002
        refuse(f"forbidding {kind.value}", "its operator decides what clients may maintain")


@dataclass(frozen=True, slots=True)
class NoLeases:
    """The port ``TableLeases`` where nobody can hold any: files are kept by retention alone."""

    clock_ms: Callable[[], int]

    def on_version(
        self,
        table_id: TableId,  # noqa: ARG002
        version: Version | None,  # noqa: ARG002
        *,
        holder: str,  # noqa: ARG002
        ttl_ms: int,  # noqa: ARG002
    ) -> HeldLease:
        refuse("a lease on a version", "set delta.deletedFileRetentionDuration long enough for your readers")

    def on_work(self, subject: str, *, holder: str, ttl_ms: int) -> HeldLease | None:  # noqa: ARG002
        refuse("a lease on work, as a worker takes it", "run maintenance from one place of your own")

    def renew(self, held: HeldLease, *, ttl_ms: int) -> HeldLease:  # noqa: ARG002
        refuse("a lease", "nobody can have been given one")

    def check(self, held: HeldLease) -> None:  # noqa: ARG002
        refuse("a lease", "nobody can have been given one")

    def release(self, held: HeldLease) -> None:
        """There are none."""

    def horizon(self, table_id: TableId) -> Horizon:  # noqa: ARG002
        return Horizon(None, None)

    def give_up(
        self,
        table_id: TableId,  # noqa: ARG002
        *,
        before: Version | None = None,
        moment: EpochMillis | None = None,
    ) -> Horizon:
        return Horizon(before, moment)

    def vacuumed(self, table_id: TableId) -> EpochMillis:  # noqa: ARG002
        return EpochMillis(0)

    def now_ms(self) -> int:
        """The earlier of the server's clock and one's own: too early keeps something longer."""
        return self.clock_ms()

    def live(self, subject: str | None = None) -> tuple[HeldLease, ...]:  # noqa: ARG002
        return ()

    def sweep(self) -> int:
        return 0
