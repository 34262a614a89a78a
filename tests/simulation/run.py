"""One seed: a table, its writers, readers and publisher, their misfortunes, and the verdict.

Nothing here is a model of the product: the commit loop, the committers, loading and publishing
are the real ones. Only time, chance, the store and (for most seeds) the catalog's database are not.
"""

import random
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise

from headgate.catalog.api import CommitCatalog, TableId, TableName
from headgate.catalog.embedded import open_catalog
from headgate.catalog.service import Catalog
from headgate.errors import ObjectNotFound
from headgate.protocol import names
from headgate.protocol.actions import Version
from headgate.settings import Publish, Settings
from headgate.storage.api import Store
from headgate.table import create
from headgate.table.create import Definition
from headgate.table.opened import OpenedTable
from tests.simulation.actors import End, Publisher, Reader, Records, Run, Stranger, Writer
from tests.simulation.faults import EVERY_FAULT, Fault, FaultPlan, FaultyWire, Step
from tests.simulation.ledger import Ledger, ObservedCatalog, ObservedStore, Violation
from tests.support.faulty_store import DictStore, FaultyStore, PerfectWire, Wire
from tests.support.simulated_catalog import RemoteCatalog, SimulatedCatalog
from tests.support.tables import SCHEMA, append_change, named_file, open_filesystem, open_managed
from tests.support.turnstile import NoProgress, Turnstile
from tests.support.world import LogicalClock, SimulatedWorld

ROUTES = ("filesystem", "inline", "inline", "staged")


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
        self.route = ROUTES[seed % len(ROUTES)]
        self._turnstile = Turnstile(chance("schedule"))
        self._plan = FaultPlan(chance("faults"), faults)
        clock = LogicalClock(jump=self._plan.clock_jump_ms)
        self._world = SimulatedWorld(chance("world"), clock, pause=self._turnstile.pause)
        self._files = DictStore()
        self._managed = self.route != "filesystem"
        self._store = ObservedStore(self._files, self.ledger, managed=self._managed)
        create.write_version_0(self._files, Definition(SCHEMA), managed=self._managed, world=self._world)
        self.ledger.ratified(0, self._files.read(names.published(Version(0))))
        self._table_id, catalog = self._catalog(seed)
        self._watched = ObservedCatalog(catalog, self._files, self.ledger)
        self._settings = Settings(
            inline_limit_bytes=0 if self.route == "staged" else 1 << 20,
            max_attempts=setup.choice((2, 50)),
            max_unanswered=setup.choice((1, 2, 4)),
            publish=setup.choice((Publish.NOW, Publish.ON_DEMAND, Publish.ON_DEMAND)),
        )
        self._actors = self._cast(setup, chance)

    def play(self) -> None:
        self._turnstile.run(self._actors)
        self._turnstile.drain()
        self._check_versions()
        self._check_verdicts()
        self._check_order_of_effects()
        self._check_sights()
        if self._managed:
            self._watched.check_readable(self._table_id)
        self._check_survivor()

    def _cast(
        self, setup: random.Random, chance: Callable[[str], random.Random]
    ) -> dict[str, Callable[[], None]]:
        wire = FaultyWire(self._turnstile, self._plan, self.trace)
        far = partial(self._open, wire)
        actors: dict[str, Callable[[], None]] = {}
        for number in range(setup.randint(3, 5)):
            name = f"writer{number}"
            writer = Writer(
                name, far, self._files, chance=chance(name), plan=self._plan, records=self.records
            )
            actors[name] = writer.act
        for number in range(setup.randint(1, 2)):
            name = f"reader{number}"
            reader = Reader(far, self.ledger, self.records, chance=chance(name), rounds=setup.randint(2, 5))
            actors[name] = reader.act
        rounds, pauses = setup.randint(1, 4), setup.randint(1, 30)
        stray = self._plan.plants_a_stray_file()
        if self._managed:
            actors["publisher"] = Publisher(far, self.ledger, rounds=rounds).act
        if self._managed and stray:
            stranger = Stranger(self._files, self.ledger, pause=self._turnstile.pause, pauses=pauses)
            actors["stranger"] = stranger.act
        return actors

    def _open(self, wire: Wire) -> OpenedTable:
        store = FaultyStore(self._store, wire)
        if not self._managed:
            return open_filesystem("", store=store, settings=self._settings, world=self._world)
        catalog = RemoteCatalog(self._watched, wire)
        return open_managed(
            catalog, self._table_id, "", store=store, settings=self._settings, world=self._world
        )

    def _catalog(self, seed: int) -> tuple[TableId, CommitCatalog]:
        if self._managed and seed % 9 == 1:
            return _embedded_table(self._files, f"t{seed}")
        catalog = SimulatedCatalog()
        if self._managed:
            catalog.add_table(TableId("t"), self._files)
        return TableId("t"), catalog

    def _check_versions(self) -> None:
        entries = self.ledger.entries
        stamps = [entry.info.get("inCommitTimestamp") for entry in entries]
        if self._managed and not all(old < new for old, new in pairwise(stamps)):
            raise Violation("I8", f"the in-commit timestamps are {stamps}")
        missing = False
        for entry in entries:
            try:
                published = self._files.read(names.published(Version(entry.version)))
            except ObjectNotFound:
                missing = True
                continue
            if entry.version == self.ledger.stray:
                missing = True
                continue
            if missing:
                raise Violation("I3", f"version {entry.version} is published, one before it is not")
            if published != entry.content:
                raise Violation("I3", f"version {entry.version} is published as something else")

    def _check_verdicts(self) -> None:
        found: dict[str, list[int]] = {}
        for entry in self.ledger.entries:
            if entry.operation_id is not None:
                found.setdefault(entry.operation_id, []).append(entry.version)
        runs: dict[str, list[Run]] = {}
        for done in self.records.runs:
            runs.setdefault(done.operation_id, []).append(done)
        for operation_id, tries in runs.items():
            versions = found.get(operation_id, [])
            if len(versions) > 1:
                raise Violation("I9", f"{operation_id} is in the log more than once, as {versions}")
            ends = {done.end for done in tries}
            if End.SUCCESS in ends:
                claimed = {done.version for done in tries if done.end is End.SUCCESS} - {None}
                if not versions or claimed - set(versions):
                    raise Violation("I9", f"{operation_id} was reported as {claimed}, the log has {versions}")
            elif versions and (End.CONFLICT in ends or ends == {End.UNAVAILABLE}):
                raise Violation("I10", f"{operation_id} was reported as failed, but is version {versions[0]}")
        self._check_data_files()

    def _check_data_files(self) -> None:
        there = {meta.path for meta in self._files.list_from("")}
        gone = self.ledger.live_at(self.ledger.latest) - there
        if gone:
            raise Violation("I7", f"{sorted(gone)} are live and were deleted")

    def _check_order_of_effects(self) -> None:
        added: set[str] = set()
        for entry in self.ledger.entries:
            before = self.ledger.live_at(entry.version - 1)
            twice = set(entry.adds) & added
            if twice:
                raise Violation("I9", f"version {entry.version} adds {sorted(twice)} again")
            if not set(entry.removes) <= before:
                raise Violation("I11", f"version {entry.version} removes files that are not live")
            if entry.info.get("operation") == "OVERWRITE" and set(entry.removes) != before:
                raise Violation("I11", f"version {entry.version} overwrites a table that it did not read")
            added.update(entry.adds)

    def _check_sights(self) -> None:
        for sight in self.records.sights:
            if sight.version > self.ledger.latest:
                raise Violation("I6", f"somebody saw version {sight.version}, which does not exist")
            entry = self.ledger.entries[sight.version]
            truth = sorted(self.ledger.live_at(sight.version)), entry.info.get("inCommitTimestamp")
            if (sorted(sight.files), sight.timestamp) != truth:
                raise Violation("I6", f"somebody saw {sight}, but version {sight.version} is {truth}")

    def _check_survivor(self) -> None:
        """Whatever happened, a newcomer can read everything and commit."""
        table = self._open(PerfectWire())
        base = table.snapshot()
        self.records.see(base)
        version = table.commit(append_change(named_file("survivor.parquet")), base=base)
        if version != base.version + 1 or self.ledger.latest != version:
            raise Violation("I9", f"the survivor's commit after {base.version} became {version}")
        self.records.see(self._open(PerfectWire()).snapshot())
        if self._managed and self.ledger.stray is None:
            table.publish()
            self._watched.check_readable(self._table_id)
        self._check_versions()
        self._check_sights()


def _chance(seed: int, purpose: str) -> random.Random:
    return random.Random(f"{seed}/{purpose}")


_WAREHOUSES: dict[str, Store] = {}
_FOLDER = tempfile.TemporaryDirectory(prefix="simulation-")


@cache
def _embedded() -> Catalog:
    catalog = open_catalog(_FOLDER.name, files=_WAREHOUSES.__getitem__)
    catalog.create_schema("sim")
    return catalog


def _embedded_table(files: Store, name: str) -> tuple[TableId, Catalog]:
    """A table of its own, in a SQLite catalog that all seeds of this process share."""
    catalog = _embedded()
    unique = TableName("sim", f"{name}_{len(_WAREHOUSES)}")
    staging = catalog.stage(unique)
    _WAREHOUSES[staging.location] = files
    catalog.register(staging, unique)
    return staging.table_id, catalog
