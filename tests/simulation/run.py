"""One seed: a table, its writers, readers and publisher, their misfortunes, and the verdict.

Nothing here is a model of the product: the commit loop, the committers, loading and publishing
are the real ones. Only time, chance, the store and (for most seeds) the catalog's database are not.
"""

import os
import random
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from headgate.catalog.catalog import Catalog
from headgate.catalog.coordinator.ledger import MemoryLedger
from headgate.catalog.coordinator.ledger_coordinator import LedgerCoordinator
from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.commits import CommitCatalog, TableId
from headgate.catalog.ports.coordinator import FindCoordinator
from headgate.catalog.ports.directory import TableName
from headgate.protocol.actions import Action, Version
from headgate.protocol.log import file_names
from headgate.settings import Publish, Settings
from headgate.storage.store import Store
from headgate.table.alter import coordination
from headgate.table.commit.background import PostCommitScheduler
from headgate.table.commit.by_path import PathCommitter
from headgate.table.opened_table import OpenedTable
from headgate.table.transaction import Change, Operation
from tests.simulation import changes, history, verdicts
from tests.simulation.actors import End, Habits, Publisher, Reader, Records, Stranger, Upgrader, Writer
from tests.simulation.changes import Moment
from tests.simulation.claims import shown
from tests.simulation.faults import EVERY_FAULT, Fault, FaultPlan, FaultyWire, Step
from tests.simulation.ledger import Ledger, ObservedCatalog, ObservedStore, Violation
from tests.simulation.owners import OWNER, Mover, ObservedLedger, RemoteLedger
from tests.simulation.tables import APPENDED, HANDLERS, KINDS, version_0
from tests.support.faulty_store import DictStore, FaultyStore, PerfectWire, Wire
from tests.support.simulated_catalog import RemoteCatalog, SimulatedCatalog
from tests.support.tables import open_filesystem, open_managed
from tests.support.turnstile import NoProgress, Turnstile
from tests.support.world import LogicalClock, SimulatedWorld

ROUTES = ("filesystem", "inline", "coordinated", "open", "owned", "staged", "filesystem")
"""Coordinated tables change hands, owned ones stay with their owner; open ones mostly leave versions open."""
MANAGED = ("inline", "open", "staged")
_LOCATION = "memory:/table"
Actors = dict[str, Callable[[], None]]


class Failed(AssertionError):
    """A seed that broke an invariant, with everything that happened."""

    def __init__(self, seed: int, why: BaseException, trace: list[Step]) -> None:
        steps = "\n".join(
            f"  {number:4} {actor:10} {call:60.60} {how:24} {answer!r:.120}"
            for number, (actor, call, how, answer) in enumerate(trace)
        )
        super().__init__(f"seed {seed}: {why!r}\n{steps}\nseed {seed}: {why}")
        self.seed = seed
        self.why = why


@dataclass(frozen=True, slots=True)
class Report:
    """What a seed that kept every invariant did."""

    route: str
    versions: int
    steps: tuple[Step, ...]
    ends: Counter[End]


def run(seed: int, faults: frozenset[Fault] = EVERY_FAULT) -> Report:
    """Play one seed; ``Failed`` if an invariant does not hold."""
    scene = _Scene(seed, faults)
    try:
        scene.play()
    except (Violation, NoProgress) as exc:
        raise Failed(seed, exc, scene.trace) from exc
    except Exception as exc:  # what no actor expects is a finding too
        raise Failed(seed, exc, scene.trace) from exc
    ends = Counter(done.end for done in scene.records.runs)
    return Report(scene.route, scene.ledger.latest, tuple(scene.trace), ends)


class _Scene:
    def __init__(self, seed: int, faults: frozenset[Fault]) -> None:
        chance = partial(_chance, seed)
        setup = chance("setup")
        self.trace: list[Step] = []
        self.ledger, self.records = Ledger(), Records()
        self.route, self.kind = ROUTES[seed % len(ROUTES)], setup.choice(KINDS)
        if self.route == "open":
            self.kind = APPENDED
        self._plan = FaultPlan(chance("faults"), faults)
        self._turnstile = Turnstile(chance("turns"))
        clock = LogicalClock(jump=self._plan.clock_jump_ms)
        self._world = SimulatedWorld(chance("world"), clock, pause=self._turnstile.pause)
        self._files = DictStore()
        self._managed = self.route in MANAGED
        self._trusts_ids = self._managed or self.route == "owned"
        self._store = ObservedStore(self._files, self.ledger, now=lambda: clock.now_ms)
        interval = setup.choice(({}, {"delta.checkpointInterval": "3"}))
        content = version_0(self.kind, interval, managed=self._managed, world=self._world)
        self._store.put(file_names.published_path(Version(0)), content)
        self._embedded: Catalog | None = None
        self._table_id, catalog = self._catalog(seed)
        self._watched = ObservedCatalog(catalog, self._files, self.ledger)
        self._owned = ObservedLedger(MemoryLedger(), self._files, self.ledger)
        self._batch = setup.choice((1, 2, 5))
        self._settings = Settings(
            inline_limit_bytes=0 if self.route == "staged" else 1 << 20,
            max_attempts=setup.choice((1, 2, 50, 50)),
            max_unanswered=setup.choice((1, 1, 2, 4)),
            publish=setup.choice((Publish.NOW, Publish.ON_DEMAND, Publish.ON_DEMAND)),
        )
        self._chance, self._setup = chance, setup

    def play(self) -> None:
        self._begin(self._setup)
        self._turnstile.run(self._cast(self._setup, self._chance))
        self._turnstile.drain()
        self._check()
        verdicts.check_runs(self.ledger, self.records, trusts_ids=self._trusts_ids)
        verdicts.check_data_files(self.ledger, self._files)
        self._check_survivor()
        self._check()

    def _check(self) -> None:
        verdicts.check_published(self.ledger, self._files)
        history.check(self.ledger, self.records.claims, self.records.rows)
        verdicts.check_sights(self.ledger, self.records)
        if self._managed:
            self._watched.check_readable(self._table_id)

    def _begin(self, setup: random.Random) -> None:
        """A few files in every partition, and perhaps an owner."""
        table = self._open(PerfectWire())
        if self.route == "owned" or (self.route == "coordinated" and setup.random() < 0.6):
            coordination.coordinate(table, self._finder(PerfectWire()), OWNER, {})
        base = table.snapshot()
        adds: list[Action] = []
        for number in range(setup.randint(0, 6)):
            path = f"first-{number}.parquet"
            now = Moment(shown(base), base.state, self.records.rows, setup, path)
            decided = changes.append(now)
            self._files.put(path, b"rows")
            self.records.rows.of_file[path] = decided.rows
            adds += decided.actions
        if adds:
            table.commit(Change(Operation("WRITE"), tuple(adds)), base=base)

    def _cast(self, setup: random.Random, chance: Callable[[str], random.Random]) -> Actors:
        wire = FaultyWire(self._turnstile, self._plan, self.trace)
        far = partial(self._open, wire)
        habits = Habits(self.kind.favours, trusts_ids=self._trusts_ids)
        actors: Actors = {}
        for number in range(setup.randint(3, 5)):
            name = f"writer{number}"
            writer = Writer(
                name,
                far,
                self._files,
                chance=chance(name),
                plan=self._plan,
                records=self.records,
                habits=habits,
            )
            actors[name] = writer.act
        for number in range(setup.randint(1, 2)):
            name = f"reader{number}"
            reader = Reader(far, self.ledger, self.records, chance=chance(name), rounds=setup.randint(2, 5))
            actors[name] = reader.act
        rounds, pauses = setup.randint(1, 4), setup.randint(1, 30)
        stray, upgrades = self._plan.plants_a_stray_file(), setup.random() < 0.25
        pause = self._turnstile.pause
        if self.route != "filesystem":
            actors["publisher"] = Publisher(far, self.ledger, rounds=rounds).act
        if self._managed and stray:
            actors["stranger"] = Stranger(self._files, self.ledger, pause=pause, pauses=pauses).act
        if upgrades:
            upgrader = Upgrader(far, self.ledger, chance=chance("upgrader"), pause=pause, pauses=pauses)
            actors["upgrader"] = upgrader.act
        if self.route == "coordinated":
            find = self._finder(wire)
            for name in ("mover0", "mover1")[: setup.randint(1, 2)]:
                actors[name] = Mover(far, find, self.ledger, chance=chance(name), pause=pause).act
        return actors

    def _open(self, wire: Wire) -> OpenedTable:
        store = FaultyStore(self._store, wire)
        rest: Any = {"settings": self._settings, "world": self._world, "handlers": lambda: HANDLERS}
        if self._managed:
            catalog = RemoteCatalog(self._watched, wire)
            return open_managed(catalog, self._table_id, "", store=store, **rest)
        if self.route == "filesystem":
            return open_filesystem("", store=store, **rest)
        committer = PathCommitter(_LOCATION, store, self._finder(wire), world=self._world)
        return OpenedTable(
            _LOCATION, store, committer, after_commit=PostCommitScheduler(self._settings), **rest
        )

    def _finder(self, wire: Wire) -> FindCoordinator:
        owner = LedgerCoordinator(RemoteLedger(self._owned, wire), self._batch, self._world)
        return lambda name, conf: owner if name == OWNER else None

    def _catalog(self, seed: int) -> tuple[TableId, CommitCatalog]:
        if self._managed and seed % 9 == 1:
            table_id, self._embedded = _embedded_table(self._files, f"t{seed}")
            return table_id, self._embedded
        catalog = SimulatedCatalog()
        if self._managed:
            catalog.add_table(TableId("t"), self._files)
        return TableId("t"), catalog

    def _check_survivor(self) -> None:
        """Whatever happened, a newcomer can read everything and commit."""
        table = self._open(PerfectWire())
        base = table.snapshot()
        now = Moment(
            self.records.see(base), base.state, self.records.rows, _chance(0, ""), "survivor.parquet"
        )
        decided = changes.append(now)
        self.records.rows.of_file["survivor.parquet"] = decided.rows
        version = table.commit(Change(Operation("WRITE"), decided.actions), base=base)
        if version != base.version + 1 or self.ledger.latest != version:
            raise Violation("I9", f"the survivor's commit after {base.version} became {version}")
        self.records.see(self._open(PerfectWire()).snapshot())
        if self.ledger.stray is None:
            table.publish()
        self._check_at_rest()

    def _check_at_rest(self) -> None:
        """What ``headgate check`` says; a stranger's file is the only thing that may be wrong."""
        keeper = self._embedded.books(self._table_id) if self._embedded is not None else None
        report = self._open(PerfectWire()).check("simulated", keeper=keeper, data=False)
        allowed = set() if self.ledger.stray is None else {"published-differs", "publish-order"}
        for finding in report.errors:
            if finding.rule not in allowed:
                raise Violation(finding.invariant, f"{finding.rule}, {finding.where}: {finding.explanation}")


def _chance(seed: int, purpose: str) -> random.Random:
    return random.Random(f"{seed}/{purpose}")


_WAREHOUSES: dict[str, Store] = {}
_FOLDER = tempfile.TemporaryDirectory(prefix="simulation-")


@cache
def _embedded(process: int) -> Catalog:
    folder = os.path.join(_FOLDER.name, str(process))  # processes that were forked have the same folder
    os.mkdir(folder)
    catalog = open_catalog(folder, files=_WAREHOUSES.__getitem__)
    catalog.create_schema("sim")
    return catalog


def _embedded_table(files: Store, name: str) -> tuple[TableId, Catalog]:
    """A table of its own, in a SQLite catalog that all seeds of this process share."""
    catalog = _embedded(os.getpid())
    for entry in catalog.tables():  # of a seed before, whose txnIds may come again
        catalog.drop(entry.name)
        catalog.disposal.condemn(entry.table_id)
        catalog.disposal.forget(entry.table_id)
    unique = TableName("sim", f"{name}_{len(_WAREHOUSES)}")
    staging = catalog.stage(unique)
    _WAREHOUSES[staging.location] = files
    catalog.register(staging, unique)
    return staging.table_id, catalog
