"""Who takes a table in, or gives it back, and is killed at any point leaves a table that is somebody's."""

import signal
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.embedded import open_catalog, open_shared_catalog
from headgate.catalog.ports.directory import TableName
from headgate.clock import SystemWorld
from headgate.errors import TableNotFound
from headgate.protocol.actions import Version
from headgate.protocol.log import codec, file_names
from headgate.storage import locations
from headgate.storage.locate import locate
from headgate.table.alter import adoption
from headgate.table.opened_table import OpenedTable
from tests.chaos.counts import AT_A_POINT, LONG
from tests.chaos.zygote import Zygote
from tests.support import adopted, postgresql, tables
from tests.support.crashing import Crash
from tests.support.handover_crashing import POINTS, DecisiveStore, Doomed, Point, Way, page_table

AN_HOUR = 60 * 60 * 1000
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "adopt-and-release.md"


@dataclass(frozen=True, slots=True)
class Place:
    """A lake, in a folder or on a server, and room for tables beside it."""

    folder: str
    url: str | None

    def open(self, *, ahead_ms: int = 0) -> Catalog:
        world = _Ahead(ahead_ms)
        if self.url is None:
            return open_catalog(f"{self.folder}/lake", world=world)
        warehouse = f"{self.folder}/warehouse"
        return open_shared_catalog(self.url, warehouse=warehouse, settings=postgresql.SMALL, world=world)


class _Ahead(SystemWorld):
    def __init__(self, ahead_ms: int) -> None:
        self._ahead_ms = ahead_ms

    def now_ms(self) -> int:
        return super().now_ms() + self._ahead_ms


@dataclass(frozen=True, slots=True)
class Errand:
    """What the doomed one does, and where it dies."""

    place: Place
    table: str
    point: str
    way: Way

    @property
    def name(self) -> TableName:
        return TableName("test", self.table)

    @property
    def folder(self) -> str:
        return f"{self.place.folder}/{self.table}"


CASES = [
    pytest.param(kind, point, id=f"{kind}-{point.way.value}-{point.name}")
    for kind in ("sqlite", "postgresql")
    for point in POINTS
    if kind == "sqlite" or "-commit" in point.name or LONG  # what has no part in it does not depend on it
]


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    with closing(Zygote(_warm_up)) as found:
        yield found


def _warm_up() -> None:
    """A table comes and goes, in a lake that is gone when the first round begins."""
    with tempfile.TemporaryDirectory() as folder:
        place = _made(Place(folder, None))
        for way in Way:
            errand = Errand(place, f"t_{way.value}", "", way)
            _prepare(errand)
            _run(errand)


@pytest.fixture(scope="module")
def place(request: pytest.FixtureRequest, zygote: Zygote) -> Iterator[Place]:
    """One lake for all; in memory where there is some, since a kill is no power cut."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        if request.param == "sqlite":
            yield _made(Place(folder, None))
        else:
            server = postgresql.server()
            with server.database() as name:
                yield _made(Place(folder, server.url(name)))


def _made(place: Place) -> Place:
    with closing(place.open()) as catalog:
        catalog.create_schema("test")
        adopted.welcome(catalog)
    return place


@pytest.mark.parametrize(("place", "point"), CASES, indirect=["place"], scope="module")
def test_who_is_killed_leaves_a_table_that_is_somebodys(place: Place, point: Point, zygote: Zygote) -> None:
    for number in range(AT_A_POINT):
        errand = Errand(place, f"t_{uuid.uuid4().hex}", point.name, point.way)
        version = _prepare(errand)

        assert zygote.run(_run, errand) == -signal.SIGKILL, f"{point.name} was not reached"

        happened = _operation(errand, version + 1) in (adoption.ADOPT, adoption.RELEASE)
        assert happened == point.happened
        # By who was killed, at once; or by somebody who knows nothing of it, later.
        again = (number + POINTS.index(point)) % 2 == 0
        with closing(place.open(ahead_ms=0 if again else AN_HOUR)) as survivor:
            go_on = _after_adopting if point.way is Way.ADOPT else _after_releasing
            go_on(errand, survivor, happened=happened, again=again)


def test_the_page_lists_every_point() -> None:
    assert page_table() in PAGE.read_text(), "run: python -m tests.support.handover_crashing"


def _prepare(errand: Errand) -> int:
    """The table before: an ordinary one, or one of the catalog's with two commits that are not published."""
    adopted.ordinary(errand.folder)
    if errand.way is Way.ADOPT:
        return 2
    with closing(errand.place.open()) as catalog:
        table = adopted.managed(catalog, adopted.adopt(catalog, errand.folder, errand.name))
        return [adopted.append(table, f"managed-{number}.parquet") for number in range(2)][-1]


def _run(errand: Errand) -> None:
    crash = Crash(errand.point)
    doomed = Doomed(errand.place.open(), crash, "ann")
    path = locations.canonical(errand.folder)
    if errand.way is Way.ADOPT:
        store: Any = DecisiveStore(locate(path), crash, file_names.published_path(Version(3)), "take-over")
        adoption.adopt(doomed.registry, store, path, errand.name)
        return
    entry = doomed.resolve(errand.name)
    store = DecisiveStore(locate(path), crash, file_names.published_path(Version(6)), "hand-over")
    table = tables.open_managed(doomed, entry.table_id, entry.location, store=store)  # type: ignore[arg-type]
    adoption.release(doomed.registry, table, entry.table_id, keep_timestamps=True)


def _operation(errand: Errand, version: int) -> str | None:
    path = Path(errand.folder) / file_names.published_path(Version(version))
    if not path.exists():
        return None
    info = codec.decode(Version(version), path.read_bytes()).info
    return info.operation if info is not None else None


def _after_adopting(errand: Errand, survivor: Catalog, *, happened: bool, again: bool) -> None:
    if not happened:
        with pytest.raises(TableNotFound):
            survivor.resolve(errand.name)
        adopted.adopt(survivor, errand.folder, errand.name, proposer="ann" if again else "bob")
    table = adopted.managed(survivor, survivor.resolve(errand.name))
    assert adopted.append(table, "after.parquet") == 4
    assert table.publish() == 4
    _check(table, 4, ["after", "before-0", "before-1"])


def _after_releasing(errand: Errand, survivor: Catalog, *, happened: bool, again: bool) -> None:
    files = ["after", "before-0", "before-1", "managed-0", "managed-1"]
    if not happened:
        entry = survivor.resolve(errand.name)
        if not again:
            adopted.append(adopted.managed(survivor, entry), "kept.parquet")
            files.append("kept")
        adopted.release(survivor, entry)
    else:
        if not again:
            adoption.resume_transfers(adopted.registry(survivor, "bob"))
        with pytest.raises(TableNotFound):
            adopted.managed(survivor, survivor.resolve(errand.name)).snapshot()
    with pytest.raises(TableNotFound):
        survivor.resolve(errand.name)
    ordinary = tables.open_filesystem(errand.folder)
    _check(ordinary, adopted.append(ordinary, "after.parquet"), files)


def _check(table: OpenedTable, latest: int, files: list[str]) -> None:
    """Nothing is lost, nothing is there twice, and every file is there."""
    live = adopted.files(table)
    assert live == sorted(f"{file}.parquet" for file in files)
    assert all((Path(table.location) / file).exists() for file in live)
    history = table.history()
    assert [found.version for found in history] == list(range(latest, -1, -1))
    assert len({found.info.txn_id for found in history}) == latest + 1
