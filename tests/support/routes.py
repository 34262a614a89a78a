"""Tables of any shape in memory, opened by each of the routes a commit can take."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from headgate.catalog.coordinator.ledger import MemoryLedger
from headgate.catalog.coordinator.ledger_coordinator import LedgerCoordinator
from headgate.catalog.ports.commits import TableId
from headgate.protocol import protocol_upgrade
from headgate.protocol.actions import CommitInfo, EpochMillis, Protocol, TxnId, Version
from headgate.protocol.log import codec, file_names
from headgate.table.alter import coordination
from headgate.table.commit.background import PostCommitScheduler
from headgate.table.commit.by_path import PathCommitter
from headgate.table.commit.catalog_managed import ManagedCommitter
from headgate.table.commit.filesystem import FilesystemCommitter
from headgate.table.committer import Committer
from headgate.table.opened_table import OpenedTable
from tests.support import attempts
from tests.support.faulty_store import DictStore
from tests.support.simulated_catalog import SimulatedCatalog
from tests.support.tables import ON_DEMAND

ROUTES = ("filesystem", "inline", "staged")
COORDINATED = "coordinated"
_ID = TableId("t")
_OWNER, _LOCATION = "one", "memory:"


class CountingWorld:
    """Time and ids that count up."""

    def __init__(self) -> None:
        self._count = 0

    def now_ms(self) -> int:
        self._count += 1
        return 10_000 + self._count

    def sleep(self, seconds: float) -> None:
        pass

    def uuid(self) -> str:
        return f"00000000-0000-4000-8000-{self.now_ms():012d}"

    def jitter(self) -> float:
        return 0.5


@dataclass(frozen=True)
class Place:
    """Where a table is: its files, and the catalog that may manage it."""

    store: DictStore = field(default_factory=DictStore)
    catalog: SimulatedCatalog = field(default_factory=SimulatedCatalog)
    world: CountingWorld = field(default_factory=CountingWorld)
    owner: LedgerCoordinator = field(default_factory=lambda: LedgerCoordinator(MemoryLedger(), 3))

    def find(self, name: str, conf: Mapping[str, str]) -> LedgerCoordinator | None:
        """The coordinator of that name: there is one, which publishes every third version."""
        return self.owner if (name, conf) == (_OWNER, {}) else None


def create(words: Sequence[str], *, managed: bool) -> Place:
    """A new table as the words of ``attempts.table`` have it."""
    state, place = attempts.table([*words, "stamped"] if managed else words), Place()
    protocol: Protocol = state.protocol
    if managed:
        protocol = protocol_upgrade.with_features(protocol, ("catalogManaged", "vacuumProtocolCheck"))
    info = CommitInfo(in_commit_timestamp=EpochMillis(1), txn_id=TxnId("create"), operation="CREATE TABLE")
    place.store.put(file_names.published_path(Version(0)), codec.encode((info, protocol, state.metadata)))
    if managed:
        place.catalog.add_table(_ID, place.store)
    return place


def open_table(place: Place, route: str) -> OpenedTable:
    """The table, with a memory of its own."""
    committer: Committer = FilesystemCommitter(place.store)
    if route == COORDINATED:
        committer = PathCommitter(_LOCATION, place.store, place.find, world=place.world)
    elif route != "filesystem":
        limit = 0 if route == "staged" else 1 << 20
        committer = ManagedCommitter(
            place.store, place.catalog, _ID, world=place.world, inline_limit_bytes=limit
        )
    return OpenedTable(
        _LOCATION,
        place.store,
        committer,
        after_commit=PostCommitScheduler(ON_DEMAND),
        settings=ON_DEMAND,
        world=place.world,
    )


def coordinate(place: Place) -> OpenedTable:
    """Give an ordinary table to the coordinator, and open it as one of its tables."""
    table = open_table(place, COORDINATED)
    coordination.coordinate(table, place.find, _OWNER, {})
    return table
