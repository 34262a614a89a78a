"""A kill round: a writer dies at a point of its way or at any moment, and the survivors look at what is left.

Each round takes a fork and a few milliseconds, so that thousands can be played. The table must then be
whole by ``headgate check``, the dead writer's transaction be there exactly if it got past the point where
that is decided, the catalog say so too, and running the operation again make it one commit.
"""

import os
import random
import shutil
import signal
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from headgate.catalog.catalog import Catalog
from headgate.catalog.database.engine import Database
from headgate.catalog.embedded import open_catalog, open_shared_catalog
from headgate.catalog.ports.catalog import LakeCatalog
from headgate.catalog.ports.commits import InlineCommit, Proposal, Ratified, StagedCommit
from headgate.catalog.ports.directory import TableEntry, TableName
from headgate.catalog.ports.groups import GroupId, GroupProposal, GroupRatified
from headgate.protocol.actions import AddFile, CommitInfo, EpochMillis, TxnId, Version
from headgate.protocol.log import codec, file_names
from headgate.settings import DatabaseSettings, Publish, Settings
from headgate.storage.locate import Locate, locate
from headgate.table.opened_table import OpenedTable
from tests.chaos import writer
from tests.chaos.creations import Creation
from tests.chaos.zygote import Zygote
from tests.support import postgresql, tables
from tests.support.crashing import POINTS, Crash, CrashingCatalog, CrashingStore, Point, Route

ROUTES = (Route.INLINE, Route.OPEN, Route.STAGED, Route.PUBLISH, Route.GROUP, Route.SHARED)
ROUNDS_OF_A_TABLE = 12
TABLES_OF_A_GROUP = 3
_LATER_MS = 3_600_000
_SMALL = DatabaseSettings(connections=2)


@dataclass(frozen=True, slots=True)
class Place:
    """Where the catalog is, for processes that open it anew."""

    folder: str
    url: str | None = None

    def open(self, files: Locate = locate) -> Catalog:
        if self.url is None:
            return open_catalog(self.folder, files=files)
        return open_shared_catalog(self.url, warehouse=self.folder, settings=_SMALL, files=files)


@dataclass(frozen=True, slots=True)
class Errand:
    """What a writer shall do to which tables, and where it shall die; nowhere, if the point has no name."""

    place: Place
    route: Route
    point: str
    txn_id: TxnId
    entries: tuple[TableEntry, ...]

    @property
    def data_file(self) -> str:
        return f"killed-{self.txn_id}.parquet"

    @property
    def creation(self) -> Creation:
        return Creation(TableName("chaos", f"n{self.txn_id.replace('-', '')}"))

    def txn_of(self, entry: TableEntry) -> TxnId:
        """No two tables have a transaction of the same id."""
        if self.route is not Route.GROUP:
            return self.txn_id
        return TxnId(f"{self.txn_id}-{self.entries.index(entry)}")


def cases(route: Route) -> list[Point]:
    """The points that this route passes."""
    return [point for point in POINTS if route in point.routes]


@contextmanager
def a_ward(database: str) -> Iterator["Ward"]:
    """A catalog to play rounds in; on a file system in memory where there is one."""
    memory = Path("/dev/shm")
    server = postgresql.server() if database == "postgresql" else None
    zygote = Zygote(_warm_up)
    folder = Path(tempfile.mkdtemp(prefix="headgate-chaos-", dir=memory if memory.is_dir() else None))
    try:
        if server is None:
            place = Place(str(folder))
            with closing(place.open()) as catalog:
                yield Ward(place, catalog, zygote)
        else:
            with server.database() as name:
                place = Place(str(folder), server.url(name))
                with closing(place.open()) as catalog:
                    yield Ward(place, catalog, zygote)
    finally:
        zygote.close()
        shutil.rmtree(folder)


def _warm_up() -> None:
    """One commit of each kind, in a lake that is gone when the first round begins."""
    with tempfile.TemporaryDirectory() as folder, closing(open_catalog(folder)) as catalog:
        entries = tuple(new_table(catalog, number) for number in range(TABLES_OF_A_GROUP))
        shared = (share_log(catalog, new_table(catalog, TABLES_OF_A_GROUP)),)
        for route in ROUTES:
            txn_id = TxnId(str(uuid.uuid4()))
            which = shared if route is Route.SHARED else entries
            _Round(Errand(Place(folder), route, "", txn_id, which), catalog).run()


@dataclass
class Ward:
    """The survivors' own connection, the tables of the moment, and how often each point was hit."""

    place: Place
    catalog: Catalog
    zygote: Zygote
    hits: Counter[str] = field(default_factory=Counter)
    rounds: int = 0
    _entries: tuple[TableEntry, ...] = ()
    _shared: tuple[TableEntry, ...] = ()

    def kill_at(self, route: Route, point: Point) -> None:
        """One round: a writer on this route dies at this point."""
        errand = self._errand(route, point.name)
        self._prepare(errand)
        code = self.zygote.run(perform, errand)
        assert code == -signal.SIGKILL, f"{route.value} did not reach {point.name}: {code}"
        self.hits[f"{route.value}: {point.name}"] += 1
        if route is Route.CREATE:
            errand.creation.judge(self.catalog, lands=route in point.lands)
            return
        self._judge(errand, lands=route in point.lands if route is not Route.PUBLISH else None)

    def kill_any_time(self, chance: random.Random) -> None:
        """One round: a writer on any route is killed whenever it happens."""
        route = chance.choice(ROUTES)
        errand = self._errand(route, "")
        self._prepare(errand)
        child = self.zygote.start(perform, errand)
        time.sleep(chance.uniform(0, 0.06))
        os.kill(child, signal.SIGKILL)  # it is not reaped before the zygote is asked to wait
        code = self.zygote.wait()
        assert code in (0, -signal.SIGKILL), f"{route.value} failed: {code}"
        self.hits["in time" if code else "too late"] += 1
        self._judge(errand, lands=True if code == 0 and route is not Route.PUBLISH else None)

    def _errand(self, route: Route, point: str) -> Errand:
        if self.rounds % ROUNDS_OF_A_TABLE == 0:
            count = TABLES_OF_A_GROUP
            self._entries = tuple(new_table(self.catalog, self.rounds + at) for at in range(count))
            self._shared = (share_log(self.catalog, new_table(self.catalog, self.rounds + count)),)
        self.rounds += 1
        match route:
            case Route.GROUP:
                entries = self._entries
            case Route.SHARED:
                entries = self._shared
            case _:
                entries = self._entries[:1]
        return Errand(self.place, route, point, TxnId(str(uuid.uuid4())), entries)

    def _prepare(self, errand: Errand) -> None:
        """Two commits that are not published, so that there is something to publish on the way."""
        if errand.route not in (Route.GROUP, Route.CREATE):
            for number in range(2):
                self._append(errand.entries[0], f"before-{number}-{errand.txn_id}")

    def _append(self, entry: TableEntry, name: str) -> Version:
        table = self._table(entry)
        add = tables.parquet_file(entry.location, f"{name}.parquet", [1])
        return table.commit(tables.append_change(add), base=table.newest_known())

    def _table(self, entry: TableEntry) -> OpenedTable:
        return tables.open_managed(self.catalog, entry.table_id, entry.location)

    def _judge(self, errand: Errand, *, lands: bool | None) -> None:
        """``lands`` says whether it must have happened; None that it may or may not have."""
        found = [self._versions(entry, errand.txn_of(entry)) for entry in errand.entries]
        assert all(len(versions) <= 1 for versions in found), "doubled"
        assert len({len(versions) for versions in found}) == 1, "torn"
        happened = bool(found[0])
        assert lands is None or happened == lands, "lost" if lands else "there, although it died before"
        self._ask_the_catalog(errand, happened, found)
        for entry in errand.entries:
            latest = self.catalog.tail(entry.table_id).latest
            assert self._append(entry, f"after-{errand.txn_id}") == latest + 1
        if errand.route is not Route.PUBLISH:
            again = _Round(errand, self.catalog)
            again.run()
            after = [self._versions(entry, errand.txn_of(entry)) for entry in errand.entries]
            assert all(len(versions) == 1 for versions in after), "repeated, and not one commit"
            assert not happened or after == found
        self._check(errand)

    def _ask_the_catalog(self, errand: Errand, happened: bool, found: list[list[Version]]) -> None:
        if errand.route is Route.PUBLISH:
            return
        if errand.route is Route.GROUP:
            group = group_proposal(errand, self.catalog, staged=False)
            outcome = self.catalog.outcome_of_group(group)
            told = dict(outcome.versions) if isinstance(outcome, GroupRatified) else {}
            truth = {
                entry.table_id: versions[0]
                for entry, versions in zip(errand.entries, found, strict=True)
                if versions
            }
            assert told == truth
            return
        single = self.catalog.outcome_of(errand.entries[0].table_id, errand.txn_id, Version(1))
        assert (single if isinstance(single, Ratified) else None) == (
            Ratified(found[0][0]) if happened else None
        )

    def _versions(self, entry: TableEntry, txn_id: TxnId) -> list[Version]:
        self.catalog.tail(entry.table_id)  # has it look in a log that others may write to
        rows = self.catalog.books(entry.table_id).read().rows
        return [row.version for row in rows if row.txn_id == txn_id]

    def _check(self, errand: Errand) -> None:
        """Whole before and after publishing; nothing of the dead is left that would trouble anybody."""
        for entry in errand.entries:
            for publishes in (False, True):
                if publishes:
                    assert self._table(entry).publish() == self.catalog.tail(entry.table_id).latest
                report = self._table(entry).check(str(entry.name), keeper=self.catalog.books(entry.table_id))
                assert report.is_clean, report.findings


def new_table(catalog: Catalog, number: int) -> TableEntry:
    name = TableName("chaos", f"t{number}_{uuid.uuid4().hex[:8]}")
    tables.create_managed(catalog, name)
    return catalog.resolve(name)


def share_log(catalog: Catalog, entry: TableEntry) -> TableEntry:
    return catalog.share_log(entry.name)


def perform(errand: Errand) -> None:
    """Run the errand in a process of its own, up to its death."""
    # The catalog was made by the parent: its schema is current, and looking takes longer than the round.
    Database.migrate = _nothing  # type: ignore[method-assign]
    crash = Crash(errand.point) if errand.point else None
    decides_in_log = crash is not None and errand.route is Route.SHARED
    files = partial(_crashing_store, crash) if decides_in_log else locate
    catalog = errand.place.open(files)
    if errand.route is Route.CREATE:
        errand.creation.run(catalog, crash or Crash(""))
    else:
        _Round(errand, catalog, crash).run()


def _crashing_store(crash: Crash, location: str) -> CrashingStore:
    return CrashingStore(locate(location), crash)


def _nothing(_database: Database, _prepare: Callable[..., None] | None = None) -> None:
    pass


@dataclass(frozen=True, slots=True)
class _Round:
    """The work itself, on the way of its route."""

    errand: Errand
    catalog: Catalog
    crash: Crash | None = None
    """How it dies; the means for that stay with the process, so a survivor must not have them."""

    def run(self) -> None:
        crash = self.crash or Crash("")
        crashing = CrashingCatalog(self.catalog, crash) if self.crash is not None else self.catalog
        if self.errand.route is Route.GROUP:
            outcome = crashing.propose_group(
                group_proposal(self.errand, self.catalog, staged=self._is_staged)
            )
            assert isinstance(outcome, GroupRatified), outcome
            return
        entry = self.errand.entries[0]
        stages = self.errand.route is Route.STAGED or (self.errand.route is Route.SHARED and self._is_staged)
        limit = 0 if stages else Settings().inline_limit_bytes
        table = tables.open_managed(
            crashing,
            entry.table_id,
            entry.location,
            store=_crashing_store(crash, entry.location) if self.crash is not None else None,
            settings=Settings(publish=Publish.NOW, inline_limit_bytes=limit, checkpoints=False),
        )
        if self.errand.route is Route.PUBLISH:
            table.publish()
            return
        base = table.snapshot()
        add = self._data_file(entry)
        crash.at("data-file-written")
        table.commit(writer.change_of(self.errand.route, add, self.errand.txn_id), base=base)
        crash.at("committed")

    @property
    def _is_staged(self) -> bool:
        return self.errand.txn_id[0] in "01234567"

    def _data_file(self, entry: TableEntry) -> AddFile:
        return tables.parquet_file(entry.location, self.errand.data_file, [1], writer="killed")


def group_proposal(errand: Errand, catalog: LakeCatalog, *, staged: bool) -> GroupProposal:
    """A commit to each table, all under one id; which of them, staged or not, changes nothing about that."""
    proposals = []
    for entry in errand.entries:
        target = Version(catalog.tail(entry.table_id).latest + 1)
        stamp = catalog.books(entry.table_id).read().latest_timestamp + _LATER_MS
        add = tables.parquet_file(entry.location, errand.data_file, [1], writer="killed")
        info = CommitInfo(in_commit_timestamp=EpochMillis(stamp), txn_id=errand.txn_of(entry))
        content = codec.encode((info, add))
        proposal = Proposal(entry.table_id, target, errand.txn_of(entry), InlineCommit(content))
        if staged:
            name = file_names.staged_file_name(target, str(uuid.uuid4()))
            locate(entry.location).put(file_names.STAGED_FOLDER + name, content)
            proposal = replace(proposal, content=StagedCommit(name))
        proposals.append(proposal)
    return GroupProposal(GroupId(str(errand.txn_id)), tuple(proposals))


def show(ward: Ward, database: str) -> str:
    """How often each point was hit."""
    lines = [f"{database}: {ward.rounds:,} rounds, 0 lost, 0 doubled, 0 torn, 0 unreadable"]
    return "\n".join([*lines, *(f"  {hits:6,}  {point}" for point, hits in sorted(ward.hits.items()))])
