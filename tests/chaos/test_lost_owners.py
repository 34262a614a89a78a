"""Writers are killed and their coordinator loses everything, at any moment: what was published stays.

What was acknowledged and not published is named by the forced release. ``make chaos`` plays many rounds.
"""

import multiprocessing
import os
import random
import shutil
from contextlib import suppress
from pathlib import Path

import pytest

from headgate.catalog.coordinator.database_ledger import open_ledger
from headgate.catalog.coordinator.ledger_coordinator import LedgerCoordinator
from headgate.errors import HeadgateError
from headgate.protocol.actions import Version
from headgate.protocol.features import coordinated_commits
from headgate.protocol.log import codec, file_names
from headgate.table.alter import coordination, forced_release
from tests.chaos.counts import EVERYWHERE_ELSE as ROUNDS
from tests.chaos.counts import LONG
from tests.linear.owner_worker import OWNER, Owned
from tests.linear.worker import Place
from tests.support import postgresql, tables
from tests.support.versions import paths
from tests.support.waiting import PATIENCE_SECONDS, until

SEED = os.environ.get("HEADGATE_CHAOS_SEED", str(random.randrange(10**9)) if LONG else "0")
WRITERS = 2
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(["tests.chaos.writer"])


def work(owned: Owned, location: str, name: str, told: str) -> None:
    """Append until killed, take the table back and give it again now and then; write down what was told."""
    chance, owner = random.Random(name), owned.owner()
    table = owned.opened(owner, location)
    with Path(told).open("ab", buffering=0) as file:
        for number in range(10**9):
            with suppress(HeadgateError):
                if chance.random() < 0.1:
                    coordination.uncoordinate(table)
                    coordination.coordinate(table, lambda *_: owner, OWNER, {})
            with suppress(HeadgateError):
                path = f"{name}-{number}"
                change = tables.append_change(tables.named_file(path))
                table.commit(change, base=table.snapshot())
                file.write(path.encode() + b"\n")


def play(database: str, folder: Path, chance: random.Random) -> int:
    """One round; how many acknowledged commits were only named in the end."""
    server = postgresql.server() if database == "postgresql" else None
    name = "" if server is None else f"lost_{chance.getrandbits(64):x}"
    if server is not None:
        server.execute(f"CREATE DATABASE {name}")
    owned = Owned(Place(str(folder / "lake"), None if server is None else server.url(name)))
    location, told = str(folder / "table"), [folder / f"told-{number}" for number in range(WRITERS)]
    owned.create(location)
    writers = [
        _PROCESSES.Process(target=work, args=(owned, location, f"w{number}", str(path)))
        for number, path in enumerate(told)
    ]
    for writer in writers:
        writer.start()
    enough = chance.randrange(2, 12)
    until(lambda: sum(_lines(path) for path in told) >= enough)
    for writer in writers:
        writer.kill()
        writer.join(PATIENCE_SECONDS)
    if server is None:
        shutil.rmtree(folder / "lake")
    else:
        server.execute(f"DROP DATABASE {name} WITH (FORCE)")
    return judge(Owned(Place(str(folder / "another"))), location, {
        line for path in told if path.exists() for line in path.read_text().splitlines()
    })  # fmt: skip


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def judge(empty: Owned, location: str, acknowledged: set[str]) -> int:
    """With an owner that knows nothing: all that was published is read, and the rest is named."""
    table = empty.opened(LedgerCoordinator(open_ledger(empty.place.folder)), location)
    ordinary = tables.open_filesystem(location)
    versions = [Version(number) for number in range(ordinary.snapshot().version + 1)]
    files = [
        codec.decode(version, table.store.read(file_names.published_path(version))) for version in versions
    ]
    published = {add.path for commit in files for add in commit.adds}
    named: set[str] = set()
    if (
        coordinated_commits.coordinator_of(ordinary.snapshot().state.metadata) is not None
    ):  # else it was just released
        done = forced_release.force_release(table, OWNER)
        staged = [codec.decode(Version(0), table.store.read(path)) for path in done.staged]
        named = {add.path for commit in staged for add in commit.adds}
    assert acknowledged <= published | named
    after = tables.open_filesystem(location)
    assert set(paths(after)) == published
    after.commit(tables.append_change(tables.named_file("after")), base=after.snapshot())
    assert set(paths(tables.open_filesystem(location))) == {*published, "after"}
    assert tables.open_filesystem(location).check("t", data=False).is_clean
    return len(acknowledged - published)


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_an_owner_that_loses_everything_takes_nothing_published_with_it(
    database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random(f"{SEED}-{database}")
    named = 0
    for number in range(ROUNDS):
        folder = tmp_path / str(number)
        folder.mkdir()
        named += play(database, folder, chance)
    if LONG:
        with capsys.disabled():
            print(f"\nowner lost, {database}: {ROUNDS} rounds, 0 published lost, {named} named, seed {SEED}")
