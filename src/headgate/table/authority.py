"""Who decides a table's commits, and may its files be maintained without asking them?

Only whoever decides knows which versions exist. A version that is ratified and not published is in no
listing, so whoever looks at the log alone takes files that it needs for waste. All maintenance passes here
first.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

from headgate.catalog.ports.maintenance import Maintenance
from headgate.errors import CatalogUnavailable, CorruptLog, HeadgateError, InvalidRequest, UserError
from headgate.protocol.actions import Metadata, Protocol
from headgate.protocol.features import coordinated_commits


class Decider(Enum):
    """Who decides, and whether this process can ask them."""

    FILE_SYSTEM = "the file system"
    COORDINATOR = "its coordinator"
    MISSING_COORDINATOR = "a coordinator that is not registered here"
    DISPENSABLE_COORDINATOR = "a coordinator that need not answer, as Settings(read_published=True) says"
    CATALOG = "its catalog"
    MISSING_CATALOG = "a catalog, and it was opened by its path"
    TRANSACTION = "a transaction over several tables"


UNANSWERED_ERRORS = (CatalogUnavailable, InvalidRequest, CorruptLog)
"""What a coordinator raises that is away, that lost what it knew of a table, or that lost some of it."""
REACHABLE_DECIDERS = frozenset({Decider.FILE_SYSTEM, Decider.COORDINATOR, Decider.CATALOG})
"""Those whose answer a snapshot has; whether a catalog also has to permit it is its own business."""


@dataclass(frozen=True, slots=True)
class AuthorityRule:
    """One row: a kind of maintenance, and why it cannot be done without asking the one that decides."""

    kind: Maintenance
    because: str
    in_transactions: bool = False
    """Whether a transaction over several tables may do it, which ends in a commit of its own."""


_RATIFIED = "what it says of a version must be what was ratified"
RULES: tuple[AuthorityRule, ...] = (
    AuthorityRule(Maintenance.CHECKPOINT, _RATIFIED),
    AuthorityRule(Maintenance.LOG_COMPACTION, _RATIFIED),
    AuthorityRule(Maintenance.CHECKSUM, _RATIFIED),
    AuthorityRule(Maintenance.REPAIR, "what it writes anew must be what was ratified"),
    AuthorityRule(Maintenance.MANIFESTS, "they list the files of the latest version"),
    AuthorityRule(Maintenance.DATA_REORGANISATION, "it ends in a commit", in_transactions=True),
    AuthorityRule(Maintenance.DATA_CLEANUP, "a version that is not published yet may need what would go"),
    AuthorityRule(Maintenance.METADATA_CLEANUP, "a version that is not published yet may need what would go"),
)
_BY_KIND: Mapping[Maintenance, AuthorityRule] = MappingProxyType({rule.kind: rule for rule in RULES})


def allows_maintenance(kind: Maintenance, decider: Decider) -> bool:
    """Whether a table of such a decider may be maintained so, as far as this process is concerned."""
    return decider in REACHABLE_DECIDERS or (
        decider is Decider.TRANSACTION and _BY_KIND[kind].in_transactions
    )


def require_reachable_decider(
    kind: Maintenance, operation: str, decider: Decider, metadata: Metadata
) -> None:
    """Refuse an operation that has to ask somebody who cannot be asked here."""
    if not allows_maintenance(kind, decider):
        raise _refusal(_BY_KIND[kind], operation, decider, metadata)


def _refusal(rule: AuthorityRule, operation: str, decider: Decider, metadata: Metadata) -> UserError:
    named = coordinated_commits.coordinator_of(metadata)
    if decider is Decider.MISSING_COORDINATOR and named is not None:
        return coordinated_commits.unreachable_coordinator_error(named, operation, because=rule.because)
    if decider is Decider.DISPENSABLE_COORDINATOR:
        return InvalidRequest(
            f"the table's commits are decided by {decider.value}, so {operation} is refused "
            f"({rule.because}): open the table without that setting",
            code="DELTA_UNSUPPORTED_WRITES_WITHOUT_COORDINATOR", operation=operation,
        )  # fmt: skip
    if decider is Decider.TRANSACTION:
        return InvalidRequest(
            f"inside a transaction over several tables {operation} is not possible: do it before or after"
        )
    return InvalidRequest(
        f"the table's commits are decided by {decider.value}, so {operation} is refused ({rule.because}): "
        "open it by name, headgate.connect(…).table('schema.table')",
        code="DELTA_PATH_BASED_ACCESS_TO_CATALOG_MANAGED_TABLE_BLOCKED", operation=operation,
    )  # fmt: skip


def wrong_decider_error(location: str, protocol: Protocol) -> HeadgateError:
    """What to say of a table whose protocol names another decider than the one that was asked."""
    if protocol.is_catalog_managed:
        return InvalidRequest(
            f"the table at {location!r} is managed by a catalog, which alone knows its versions: "
            "open it by name, headgate.connect(…).table('schema.table')",
            code="DELTA_PATH_BASED_ACCESS_TO_CATALOG_MANAGED_TABLE_BLOCKED",
        )
    return CorruptLog(
        f"the catalog manages the table at {location!r}, but its protocol does not say so",
        code="DELTA_STATE_RECOVER_ERROR",
    )
