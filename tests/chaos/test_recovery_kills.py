"""A recovery killed at every step, and two at once: whoever comes next finds or makes a whole lake."""

import os
import random
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import headgate
from headgate.catalog.database.engine import Database
from headgate.catalog.ports.directory_copy import COPY_PATH
from headgate.errors import CatalogLost
from tests.chaos.counts import AT_A_POINT, LONG
from tests.chaos.zygote import Zygote
from tests.support import lost
from tests.support.lost import LosableLake

CASES = ("sqlite-lost", "sqlite-older", "sqlite-bare", "postgresql-lost", "postgresql-older")
"""The database is gone, was put back from a backup, or is gone with the copy of its directory."""
AT_ONCE = AT_A_POINT * 4 if LONG else 1
EVERY = {"sqlite": 1, "postgresql": 1} if LONG else {"sqlite": 4, "postgresql": 11}
"""Which of the steps are played: of many recoveries, all."""
_STAGED = headgate.Settings(publish=headgate.Publish.ON_DEMAND, inline_limit_bytes=0)


@dataclass(frozen=True, slots=True)
class Scene:
    """A lake without its database, or with an older one, which can be set up again and again."""

    lake: LosableLake
    kept: Path
    backup: Path | None
    files: dict[str, list[str]]
    """Of each table, what was published, and what the backup has."""
    dropped: list[str]
    every: int
    """The steps between two that are played."""

    def set_up(self) -> None:
        shutil.rmtree(self.lake.folder)
        shutil.copytree(self.kept, self.lake.folder)
        if self.backup is not None:
            self.lake.restore(self.backup)
        else:
            self.lake.lose()

    def judge(self) -> None:
        """The lake is whole, or refused until it is recovered; then nothing published is missing."""
        try:
            self._check()
        except CatalogLost:
            self.lake.recover()
            self._check()
        assert not self.lake.recover().changed

    def _check(self) -> None:
        with self.lake.connect() as found:
            assert {str(entry.name) for entry in found.tables()} == self.files.keys()
            assert [str(entry.name) for entry in found.dropped()] == self.dropped
            for name, files in self.files.items():
                table = lost.opened(found, name)
                assert lost.files(table) == files
                version = table.snapshot().version
                assert lost.append(table, "after") == version + 1
                assert table.publish() == version + 1
            for report in found.check():
                assert report.is_clean, report.findings


@pytest.fixture(scope="module")
def zygotes() -> Iterator[tuple[Zygote, Zygote]]:
    with closing(Zygote(_warm_up)) as one, closing(Zygote(_warm_up)) as other:
        yield one, other


@pytest.fixture(params=CASES, scope="module")
def scene(request: pytest.FixtureRequest, zygotes: object) -> Iterator[Scene]:
    """In memory where there is some, since a kill is no power cut."""
    kind, _, loss = request.param.partition("-")
    memory = Path("/dev/shm")
    with (
        tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder,
        lost.a_lake(kind, Path(folder) / "lake") as lake,
    ):
        yield _filled(lake, Path(folder), loss, EVERY[kind])


def test_a_recovery_killed_at_any_step_is_finished_by_the_next(
    scene: Scene, zygotes: tuple[Zygote, Zygote]
) -> None:
    killed, step = 0, 1
    for _ in range(AT_A_POINT):
        while True:
            scene.set_up()
            code = zygotes[0].run(_recover, scene.lake, step)
            if code == 0:
                break
            assert code == -signal.SIGKILL
            killed += 1
            scene.judge()
            step += scene.every
        step = 1

    scene.judge()
    assert killed >= 12 // scene.every


def test_two_recoveries_at_once_make_one_lake(scene: Scene, zygotes: tuple[Zygote, Zygote]) -> None:
    for _ in range(AT_ONCE):
        scene.set_up()

        for zygote in zygotes:
            zygote.start(_recover, scene.lake, 0)

        assert [zygote.wait() for zygote in zygotes] == [0, 0]
        scene.judge()


def test_a_recovery_killed_beside_another_harms_neither(scene: Scene, zygotes: tuple[Zygote, Zygote]) -> None:
    chance = random.Random(7)
    for _ in range(AT_ONCE):
        scene.set_up()

        doomed = zygotes[0].start(_recover, scene.lake, 0)
        zygotes[1].start(_recover, scene.lake, 0)
        time.sleep(chance.uniform(0, 0.1))
        os.kill(doomed, signal.SIGKILL)

        assert zygotes[0].wait() in (0, -signal.SIGKILL)
        assert zygotes[1].wait() == 0
        scene.judge()


def _filled(lake: LosableLake, folder: Path, loss: str, every: int) -> Scene:
    backup = folder / "backup" if loss == "older" else None
    with lake.connect() as found:
        for name in ("a.one", "a.dropped", "b.tree"):
            lost.create_table(found._catalog, name)
            table = lost.opened(found, name)
            lost.append(table, "x")
            table.publish()
        if backup is not None:
            lost.append(lost.opened(found, "b.tree"), "backed-up")
            lake.back_up(backup)
        lost.create_table(found._catalog, "b.new")
        found.drop_table("a.dropped")
        found.rename("b.tree", "b.three")
        for name in ("a.one", "b.three", "b.new"):
            table = lost.opened(found, name)
            lost.append(table, "y", "z")
            table.publish()
        lost.append(lost.opened(found, "a.one"), "inline")
        lost.append(lost.opened(found, "a.one", _STAGED), "staged")
    more = ["backed-up"] if backup is not None else []
    three = "b.tree" if loss == "bare" else "b.three"
    files = {"a.one": ["x", "y", "z"], three: [*more, "x", "y", "z"], "b.new": ["y", "z"]}
    if loss == "bare":  # names that were given later, and drops, are in the copy alone
        (lake.warehouse / COPY_PATH).unlink()
        files["a.dropped"] = ["x"]
    shutil.copytree(lake.folder, folder / "kept")
    return Scene(lake, folder / "kept", backup, files, [] if loss == "bare" else ["a.dropped"], every)


def _warm_up() -> None:
    with tempfile.TemporaryDirectory() as folder:
        lake = LosableLake(Path(folder) / "lake")
        with lake.connect() as found:
            lost.create_table(found._catalog, "a.one")
            lost.append(lost.opened(found, "a.one"), "x")
        lake.lose()
        lake.recover()


def _recover(lake: LosableLake, step: int) -> None:
    """Recover the lake, and die at this step: before or after a transaction, or a file gets its name."""
    left = iter(range(step - 1))

    def at_a_step() -> None:
        if step and next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(work: Callable[..., Any]) -> Callable[..., Any]:
        def done(*asked: Any, **how: Any) -> Any:
            at_a_step()
            answer = work(*asked, **how)
            at_a_step()
            return answer

        return done

    Database._commit = around(Database._commit)  # type: ignore[method-assign]
    os.replace = around(os.replace)
    lake.recover()
