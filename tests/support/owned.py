"""Tables of a coordinator: opened by path, with owners that tests can watch and disturb."""

import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import msgspec

from headgate.catalog.coordinator.database_ledger import open_ledger
from headgate.catalog.coordinator.ledger import MemoryLedger
from headgate.catalog.coordinator.ledger_coordinator import LedgerCoordinator
from headgate.catalog.ports.commits import Lost, RatifiedCommit, StagedCommit, TableState, Unknown
from headgate.catalog.ports.coordinator import (
    CommitCoordinator,
    CoordinatedProposal,
    CoordinatedTable,
    GetCommitsResponse,
)
from headgate.catalog.ports.ledger import Ledger
from headgate.catalog.rest.opening import open_coordinator_ledger
from headgate.clock import SystemWorld, World
from headgate.errors import CatalogUnavailable
from headgate.protocol import protocol_upgrade
from headgate.protocol.actions import EpochMillis, TxnId, Version
from headgate.protocol.features.coordinated_commits import CURRENT, REQUIRED_FEATURES, FeatureNaming
from headgate.protocol.log import codec, file_names
from headgate.settings import Settings
from headgate.storage.store import Store
from headgate.table.alter import coordination
from headgate.table.commit.background import PostCommitScheduler
from headgate.table.commit.by_path import PathCommitter
from headgate.table.opened_table import OpenedTable
from tests.support import commits, postgresql, proposals
from tests.support.faulty_store import DictStore, PerfectWire, Wire
from tests.support.routes import CountingWorld
from tests.support.tables import ON_DEMAND, append_change, create_filesystem, named_file

NAME = "one"
CONF = {"endpoint": "here"}
LOCATION = "memory:/table"
PLAIN = TableState(
    protocol_upgrade.with_features(commits.PROTOCOL, (CURRENT.feature, *REQUIRED_FEATURES)),
    commits.metadata(delta_enableInCommitTimestamps="true"),
)
OWNED = TableState(PLAIN.protocol, commits.metadata(**{CURRENT.coordinator.replace(".", "_"): NAME}))
Answer = TypeVar("Answer")


def owner(kind: str, place: Path | str, *, batch: int = 1, world: World | None = None) -> LedgerCoordinator:
    """An owner of either kind; all but the one in memory are opened anew at each call."""
    ledger: Ledger = MemoryLedger()
    if kind.startswith("http"):
        ledger = open_coordinator_ledger(str(place))
    elif kind != "memory":
        ledger = open_ledger(place, postgresql.SMALL)
    return LedgerCoordinator(ledger, batch, world or SystemWorld())


def propose(
    owner: CommitCoordinator, table: CoordinatedTable, version: int, txn_id: str, *, after: TableState = OWNED
) -> RatifiedCommit | Lost[RatifiedCommit] | Unknown:
    """Stage a commit and ask the owner for it."""
    name = uuid.uuid5(uuid.NAMESPACE_OID, txn_id)
    staged = StagedCommit(file_names.staged_file_name(Version(version), str(name)))
    table.store.put(staged.path, proposals.content(version, txn_id))
    stamp = EpochMillis(proposals.stamp(version))
    return owner.commit(
        table, CoordinatedProposal(Version(version), TxnId(txn_id), stamp, staged, before=OWNED, after=after)
    )


class WatchedOwner:
    """Another owner at the far end of a wire; remembers what it was asked."""

    def __init__(self, owner: CommitCoordinator, wire: Wire | None = None) -> None:
        self.inner = owner
        self.asked: list[str] = []
        self.told: list[Mapping[str, str]] = []
        self._wire = wire or PerfectWire()

    def register(self, location: str, current: Version | None, told: TableState) -> Mapping[str, str]:
        return self._call("register", lambda: self.inner.register(location, current, told))

    def commit(
        self, table: CoordinatedTable, proposal: CoordinatedProposal
    ) -> RatifiedCommit | Lost[RatifiedCommit] | Unknown:
        self.told.append(table.conf)
        self.asked.append(f"commit {proposal.version}")

        def unanswered(untouched: bool) -> Unknown:
            if untouched:
                raise CatalogUnavailable("the owner could not be reached")
            return Unknown("no answer")

        return self._wire.call(
            f"commit {proposal.version}",
            lambda: self.inner.commit(table, proposal),
            unanswered=unanswered,
            writes=True,
        )

    def get_commits(
        self, table: CoordinatedTable, *, start: Version | None = None, end: Version | None = None
    ) -> GetCommitsResponse:
        self.told.append(table.conf)
        return self._call("get_commits", lambda: self.inner.get_commits(table, start=start, end=end))

    def backfill_to(self, table: CoordinatedTable, version: Version) -> None:
        self.told.append(table.conf)
        self._call("backfill_to", lambda: self.inner.backfill_to(table, version))

    def count(self, name: str) -> int:
        """How often it was asked that."""
        return sum(asked.split()[0] == name for asked in self.asked)

    def _call(self, name: str, perform: Callable[[], Answer]) -> Answer:
        self.asked.append(name)

        def unanswered(untouched: bool) -> Answer:
            raise CatalogUnavailable(f"{name}: no answer")

        return self._wire.call(name, perform, unanswered=unanswered, writes=name != "get_commits")


@dataclass
class Place:
    """Where a table is: its files in memory, the clock, and the owners that are registered."""

    store: Store = field(default_factory=DictStore)
    world: World = field(default_factory=CountingWorld)
    owners: dict[str, CommitCoordinator] = field(default_factory=dict)
    location: str = LOCATION

    def find(self, name: str, conf: Mapping[str, str]) -> CommitCoordinator | None:
        """The registered owner of that name."""
        return self.owners.get(name)

    def opened(
        self,
        *,
        store: Store | None = None,
        owners: Mapping[str, CommitCoordinator] | None = None,
        settings: Settings = ON_DEMAND,
    ) -> OpenedTable:
        """The table, with a memory of its own."""
        chosen = store or self.store
        find = self.find if owners is None else lambda name, conf: owners.get(name)
        return OpenedTable(
            self.location,
            chosen,
            PathCommitter(self.location, chosen, find, world=self.world, settings=settings),
            after_commit=PostCommitScheduler(settings),
            settings=settings,
            world=self.world,
        )

    def published(self) -> list[int]:
        """The versions that are published."""
        found = (file_names.parse(meta.path) for meta in self.store.list_from(file_names.LOG_FOLDER))
        return [
            file.version
            for file in found
            if file is not None and file.kind is file_names.LogFileKind.PUBLISHED
        ]

    def staged(self) -> list[int]:
        """The versions of the files in the staging folder."""
        files = (
            meta.path.removeprefix(file_names.STAGED_FOLDER)
            for meta in self.store.list_from(file_names.STAGED_FOLDER)
        )
        return [version for version in map(file_names.staged_version, files) if version is not None]


def ordinary(versions: int = 0, *, batch: int = 1) -> tuple[Place, WatchedOwner]:
    """An ordinary table of so many appends, and an owner in memory that is registered as NAME."""
    place = Place()
    watched = WatchedOwner(LedgerCoordinator(MemoryLedger(), batch, place.world))
    place.owners[NAME] = watched
    create_filesystem(place.store, world=place.world)
    append(place.opened(), range(1, versions + 1))
    return place, watched


def coordinated(versions: int = 0, *, batch: int = 1) -> tuple[Place, WatchedOwner]:
    """A table that its owner got at version 1, with so many appends after that."""
    place, watched = ordinary(batch=batch)
    table = place.opened()
    assert coordination.coordinate(table, place.find, NAME, CONF) == 1
    append(table, range(2, versions + 2))
    return place, watched


def rename(place: Place, naming: FeatureNaming) -> None:
    """Have version 1, which gave the table to its owner, say so by the names of another time."""
    first = place.opened().snapshot(version=1).state
    said = dict(zip(CURRENT.properties, naming.properties, strict=True))
    configuration = {said.get(key, key): value for key, value in first.metadata.configuration.items()}
    writers = tuple(
        naming.feature if name == CURRENT.feature else name for name in first.protocol.writer_features or ()
    )
    assert first.info is not None
    renamed = (
        first.info,
        msgspec.structs.replace(first.protocol, writer_features=writers),
        msgspec.structs.replace(first.metadata, configuration=configuration),
    )
    place.store.put(file_names.published_path(Version(1)), codec.encode(renamed))


def append(table: OpenedTable, files: Iterable[object]) -> list[int]:
    """One append of one file each; the versions."""
    return [table.commit(append_change(named_file(str(file))), base=table.newest_known()) for file in files]
