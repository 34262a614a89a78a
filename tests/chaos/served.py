"""A kill round of a server: its process dies, the next one starts, and clients notice a pause at most.

Clients are made once and live through all servers. Each of their calls returns, with an answer that is
true: what was acknowledged is in the log at the version told, once, and nothing else is there twice.
"""

import multiprocessing
import shutil
import signal
import socket
import tempfile
import uuid
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.catalog import LakeCatalog
from headgate.catalog.ports.directory import TableEntry, TableName
from headgate.catalog.ports.groups import GroupRatified
from headgate.catalog.targets import CatalogTarget
from headgate.plugins import catalogs
from headgate.protocol.actions import TxnId, Version
from headgate.protocol.log import codec, file_names
from headgate.settings import HttpSettings, Publish, Settings
from tests.chaos import rounds, writer
from tests.chaos.rounds import Errand, Place
from tests.support import doomed_server, postgresql, tables
from tests.support.crashing import Point, Route
from tests.support.http_server import free_port
from tests.support.waiting import PATIENCE_SECONDS, until

PATIENT = Settings(http=HttpSettings(attempts=300))
"""Clients wait for the next server for minutes, against hangs only."""
OFTEN, NEVER = "0.05", "3600"
"""Seconds between two looks of the publisher, which also looks when it starts and when it stops."""
PUBLISHED_AT_ONCE = 3

_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(["tests.chaos.writer", "tests.support.doomed_server"])


@dataclass
class Instance:
    """A server at a port of its own, which is started again and again."""

    place: Place
    publish_seconds: str
    port: int = field(default_factory=free_port)
    _process: ForkServerProcess | None = None

    def start(self) -> None:
        """Return when it listens, or has failed to."""
        self._armed.unlink(missing_ok=True)
        folder = Path(self.place.folder)
        arguments = [
            self.place.url or self.place.folder,
            *("--port", str(self.port)),
            *("--admin-token-file", str(folder / "token")),
            *("--publish-seconds", self.publish_seconds),
            *(() if self.place.url is None else ("--warehouse", self.place.folder)),
        ]
        self._process = _PROCESSES.Process(
            target=doomed_server.serve_until_killed,
            args=(arguments, str(self._armed), str(folder / f"serve-{self.port}.log")),
        )
        self._process.start()
        until(lambda: self._listens() or not self.process.is_alive())

    @property
    def _armed(self) -> Path:
        return Path(self.place.folder) / f"dies-at-{self.port}"

    def arm(self, point: str) -> None:
        """Let it die when it comes to that point."""
        written = self._armed.with_suffix(".new")
        written.write_text(point)
        written.rename(self._armed)

    @property
    def process(self) -> ForkServerProcess:
        assert self._process is not None
        return self._process

    def await_death(self) -> None:
        """It kills itself."""
        self.process.join(PATIENCE_SECONDS)
        assert self.process.exitcode == -signal.SIGKILL, f"it did not die at its point: {self._log()}"

    def stop(self) -> None:
        """In good order."""
        self.process.terminate()
        self.process.join(PATIENCE_SECONDS)
        assert self.process.exitcode == 0, self._log()

    def kill(self) -> None:
        """At once, whatever it does."""
        self.process.kill()
        self.process.join(PATIENCE_SECONDS)

    def client(self) -> LakeCatalog:
        """A client for all servers that will be at this port."""
        token = (Path(self.place.folder) / "token").read_text().strip()
        target = CatalogTarget(f"http://127.0.0.1:{self.port}/main", settings=PATIENT, token=token)
        return catalogs.open_catalog(target)

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def _log(self) -> str:
        return (Path(self.place.folder) / f"serve-{self.port}.log").read_text()[-4_000:]


@contextmanager
def a_served_ward(database: str, *, instances: int = 1) -> Iterator["ServedWard"]:
    """A lake whose servers are killed; the survivor's own look at it does not go through them."""
    folder = tempfile.mkdtemp(prefix="headgate-served-")
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder)
        url = None
        if database == "postgresql":
            server = postgresql.server()
            url = server.url(stack.enter_context(server.database()))
        place = Place(folder, url)
        catalog = stack.enter_context(closing(place.open()))
        serving = [Instance(place, NEVER if number else OFTEN) for number in range(instances)]
        clients = [_first_client(instance, stack) for instance in serving]
        entries = tuple(rounds.new_table(catalog, number) for number in range(rounds.TABLES_OF_A_GROUP))
        shared = rounds.share_log(catalog, rounds.new_table(catalog, rounds.TABLES_OF_A_GROUP))
        yield ServedWard(place, catalog, serving, clients, entries, shared)


def _first_client(instance: Instance, stack: ExitStack) -> LakeCatalog:
    instance.start()
    stack.callback(instance.kill)
    return stack.enter_context(closing(instance.client()))


@dataclass
class ServedWard:
    """A lake with its servers and clients, the tables that all write to, and what clients were told."""

    place: Place
    catalog: Catalog
    instances: list[Instance]
    clients: list[LakeCatalog]
    entries: tuple[TableEntry, ...]
    shared: TableEntry
    told: dict[TxnId, tuple[TableEntry, Version]] = field(default_factory=dict)
    hits: Counter[str] = field(default_factory=Counter)

    def kill_at(self, route: Route, point: Point) -> None:
        """One round: the first server dies at this point, for a client on this route or of the others'."""
        doomed = self.instances[0]
        errand = self._errand(route, point)
        doomed.arm(point.name)  # everything is published: the server has nothing to do but what comes now
        with ThreadPoolExecutor(1) as client:
            done = client.submit(self._run, errand, self.clients[0])
            doomed.await_death()
            self._expect(errand, point)
            for other in self.clients[1:]:  # while that server is gone
                self.append(other, Route.OPEN, self.entries[0])
            doomed.start()
            done.result(PATIENCE_SECONDS)
        self.hits[f"{route.value}: {point.name}"] += 1
        self.judge()

    def judge(self) -> None:
        """All that was acknowledged is in the log once, where it was told; nothing is there twice."""
        for entry in (*self.entries, self.shared):
            found = self._logged(entry)
            assert len(set(found)) == len(found), "doubled"
            told = {txn: version for txn, (table, version) in self.told.items() if table == entry}
            assert {txn: found.index(txn) for txn in told if txn in found} == told, "lost"
            assert len(found) == len(told) + 1, "there is a commit that nobody was told of"

    def append(self, client: LakeCatalog, route: Route, entry: TableEntry) -> None:
        """A commit of a client, and what it is told."""
        txn_id = TxnId(str(uuid.uuid4()))
        self._append(client, route, entry, txn_id)

    def _errand(self, route: Route, point: Point) -> Errand:
        match route:
            case Route.GROUP:
                entries = self.entries
            case Route.SHARED:
                entries = (self.shared,)
            case _:
                entries = self.entries[:1]
        return Errand(self.place, route, point.name, TxnId(str(uuid.uuid4())), entries)

    def _run(self, errand: Errand, client: LakeCatalog) -> None:
        match errand.route:
            case Route.CREATE:
                self._create(client, errand.creation.name)
            case Route.GROUP:
                self._propose_group(client, errand)
            case Route.PUBLISH:
                for _ in range(PUBLISHED_AT_ONCE):
                    self.append(client, Route.OPEN, errand.entries[0])
            case route:
                self._append(client, route, errand.entries[0], errand.txn_id)

    def _append(self, client: LakeCatalog, route: Route, entry: TableEntry, txn_id: TxnId) -> None:
        limit = 0 if route is Route.STAGED else Settings().inline_limit_bytes
        settings = Settings(publish=Publish.ON_DEMAND, inline_limit_bytes=limit)
        table = tables.open_managed(client, entry.table_id, entry.location, settings=settings)
        add = tables.parquet_file(entry.location, f"{txn_id}.parquet", [1])
        version = table.commit(writer.change_of(route, add, txn_id), base=table.snapshot())
        self.told[txn_id] = entry, Version(version)

    def _propose_group(self, client: LakeCatalog, errand: Errand) -> None:
        group = rounds.group_proposal(errand, client, staged=False)
        outcome = client.propose_group(group)
        assert isinstance(outcome, GroupRatified), outcome
        for entry in errand.entries:
            self.told[errand.txn_of(entry)] = entry, dict(outcome.versions)[entry.table_id]

    def _create(self, client: LakeCatalog, name: TableName) -> None:
        staging = tables.create_managed(client, name)
        entry = self.catalog.resolve(name)
        assert entry.table_id == staging.table_id
        self.append(client, Route.INLINE, entry)
        assert self.told.popitem()[1] == (entry, 1)
        assert len(self._logged(entry)) == 2

    def _expect(self, errand: Errand, point: Point) -> None:
        """Whether it has happened when the server dies is what the list of points says."""
        lands = errand.route in point.lands
        if errand.route is Route.PUBLISH:
            return
        if errand.route is Route.CREATE:
            assert (errand.creation.name in [entry.name for entry in self.catalog.tables()]) == lands
            return
        for entry in errand.entries:
            rows = self.catalog.books(entry.table_id).read().rows
            if errand.route is not Route.SHARED:  # there the log says it, and the catalog hears of it later
                assert any(row.txn_id == errand.txn_of(entry) for row in rows) == lands

    def _logged(self, entry: TableEntry) -> list[str]:
        """The transaction of each version, read from the log's own files after everything is published."""
        table = tables.open_managed(self.catalog, entry.table_id, entry.location)
        latest = table.publish()
        report = table.check(str(entry.name), keeper=self.catalog.books(entry.table_id))
        assert report.is_clean, report.findings
        found = []
        for version in map(Version, range(latest + 1)):
            info = codec.decode(version, table.store.read(file_names.published_path(version))).info
            found.append((info.txn_id if info else None) or f"version {version}")
        return found
