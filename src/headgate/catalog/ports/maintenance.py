"""May a table be maintained in this way? The kinds of maintenance, and the port that permits them.

Whoever maintains a catalog-managed table asks first, and this is the only list of kinds there is.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from headgate.catalog.ports.commits import TableId
from headgate.errors import InvalidRequest, NotAllowed
from headgate.protocol.features.rearrangement import Thresholds


class Permission(Enum):
    """By whose word a table may be maintained."""

    ALWAYS = "always"
    """It is part of keeping a log, or nobody manages the table."""
    CATALOG = "lake.permit"
    OWNER = "the owner's call"
    """Nothing was permitted beforehand: whoever asked for it owns the table."""


class Maintenance(Enum):
    """The kinds of maintenance."""

    CHECKPOINT = "checkpoint"
    LOG_COMPACTION = "log compaction"
    CHECKSUM = "checksum"
    REPAIR = "repair"
    """What a check found damaged is written anew from what is there."""
    MANIFESTS = "manifests"
    """GENERATE: lists of files for engines that cannot read the log."""
    DATA_REORGANISATION = "data reorganisation"
    """OPTIMIZE, Z-order, clustering, REORG: rows move to other files, none changes."""
    DATA_CLEANUP = "data cleanup"
    """VACUUM: files that no readable version needs are deleted."""
    METADATA_CLEANUP = "metadata cleanup"
    """Old versions are deleted from the log."""


@dataclass(frozen=True, slots=True)
class MaintenanceRule:
    """What holds for one kind unless the catalog says otherwise of a table."""

    kind: Maintenance
    operations: str
    """What asks for it."""
    always: bool


RULES: tuple[MaintenanceRule, ...] = (
    MaintenanceRule(Maintenance.CHECKPOINT, "checkpoints, of published versions", always=True),
    MaintenanceRule(Maintenance.LOG_COMPACTION, "log compaction files, of published versions", always=True),
    MaintenanceRule(Maintenance.CHECKSUM, "version checksum files", always=True),
    MaintenanceRule(Maintenance.REPAIR, "check with repair", always=True),
    MaintenanceRule(Maintenance.MANIFESTS, "GENERATE", always=True),
    MaintenanceRule(Maintenance.DATA_REORGANISATION, "OPTIMIZE, ZORDER, clustering, REORG", always=False),
    MaintenanceRule(Maintenance.DATA_CLEANUP, "VACUUM", always=False),
    MaintenanceRule(Maintenance.METADATA_CLEANUP, "log cleanup", always=False),
)

ALWAYS_PERMITTED = frozenset(rule.kind for rule in RULES if rule.always)

NEEDS_PERMISSION = frozenset(rule.kind for rule in RULES if not rule.always)


def parse_kind(name: str | Maintenance) -> Maintenance:
    """The kind of that name."""
    try:
        return Maintenance(name)
    except ValueError as exc:
        known = ", ".join(repr(kind.value) for kind in Maintenance if kind in NEEDS_PERMISSION)
        raise InvalidRequest(f"{name!r} is no kind of maintenance: choose one of {known}") from exc


def not_permitted_error(kind: Maintenance, operation: str) -> NotAllowed:
    """The error for what a catalog did not permit."""
    return NotAllowed(
        f"{operation} is {kind.value} of a catalog-managed table, which its catalog has not permitted: ask "
        f"its owner, who needs no permission, to do it, or those who run it for lake.permit(table, "
        f"{kind.value!r})",
        code="DELTA_UNSUPPORTED_CATALOG_MANAGED_TABLE_OPERATION", operation=operation, kind=kind.value,
    )  # fmt: skip


class MaintenancePermissions(Protocol):
    """What is permitted in one catalog, on behalf of one principal; denied by default.

    The owner of a table, or of the lake, permits by asking for it: what is denied is what others do, and what
    a worker does unasked.
    """

    def for_background_work(self) -> "MaintenancePermissions":
        """The same permissions without those of an owner's explicit call, as a worker needs them."""
        ...

    def check(self, table_id: TableId, kind: Maintenance, operation: str) -> Permission:
        """By whose word this principal may maintain the table so; ``NotAllowed`` names the operation."""
        ...

    def permitted_kinds(self, table_id: TableId) -> frozenset[Maintenance]:
        """What may be done with the table now."""
        ...

    def thresholds(self, table_id: TableId) -> Thresholds | None:
        """From where on the table's files are to be rearranged, if that was said of this table."""
        ...

    def permit(self, table_id: TableId, kind: Maintenance, thresholds: Thresholds | None = None) -> bool:
        """Permit a kind of maintenance, from some thresholds on; whether that is new."""
        ...

    def forbid(self, table_id: TableId, kind: Maintenance) -> bool:
        """Take a permission away; whether there was one. What is under way may ask once more, or not."""
        ...
