"""Where one who takes a table in, or gives it back, can be killed: the numbered points, and the means.

Like ``crashing``, which has the points of commits: production code knows nothing of this.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Any

from typing_extensions import Buffer, override

from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.handover import AdoptionStatus, ReleaseStatus
from headgate.clock import SystemWorld
from headgate.table.alter.adoption import TransferServices
from tests.support.crashing import Crash, CrashingStore


class Way(Enum):
    """In which direction the table goes."""

    ADOPT = "adopt"
    RELEASE = "release"


@dataclass(frozen=True, slots=True)
class Point:
    """A moment on the way."""

    name: str
    way: Way
    description: str
    happened: bool
    """Whether the table has changed hands by now; else it has not and, by itself, never will."""


def _points(way: Way, *rows: tuple[str, str, bool]) -> tuple[Point, ...]:
    return tuple(Point(name, way, description, happened) for name, description, happened in rows)


POINTS: tuple[Point, ...] = (
    *_points(
        Way.ADOPT,
        ("claim-before-commit", "The catalog is about to record its promise.", False),
        ("claim-after-commit", "The promise is recorded, nobody was told.", False),
        ("claimed", "The promise is known, nothing is written.", False),
        ("take-over-half-written", "Half of the decisive version is written, hidden.", False),
        ("take-over-nameless", "The decisive version is whole and synced, but still hidden.", False),
        ("take-over-linked", "The decisive version is there; its hidden name and the sync remain.", True),
        ("take-over-written", "The decisive version is written, the catalog was not told.", True),
        ("enter-before-commit", "The catalog is about to enter the table.", True),
        ("enter-after-commit", "The table is entered, nobody was told.", True),
        ("adopted", "The adopter knows that the table has come.", True),
    ),
    *_points(
        Way.RELEASE,
        ("before-log-file", "A version that waits is about to be published.", False),
        ("log-file-linked", "It is there; its hidden name and the sync remain.", False),
        ("between-two-versions", "One version is published, the next one is about to be.", False),
        ("before-mark-published", "All is published, the catalog was not told.", False),
        ("mark-before-commit", "The catalog is about to record what is published.", False),
        ("mark-after-commit", "The catalog has recorded what is published.", False),
        ("freeze-before-commit", "The catalog is about to stop ratifying.", False),
        ("freeze-after-commit", "Nothing is ratified, nobody was told.", False),
        ("frozen", "The releaser knows that nothing is ratified.", False),
        ("let-go-before-commit", "The catalog is about to agree.", False),
        ("let-go-after-commit", "The catalog has agreed, nobody was told.", False),
        ("let-go", "The releaser knows that the catalog has agreed.", False),
        ("hand-over-half-written", "Half of the decisive version is written, hidden.", False),
        ("hand-over-nameless", "The decisive version is whole and synced, but still hidden.", False),
        ("hand-over-linked", "The decisive version is there; its hidden name and the sync remain.", True),
        ("hand-over-written", "The decisive version is written, the catalog was not told.", True),
        ("leave-before-commit", "The catalog is about to record that the table has left.", True),
        ("leave-after-commit", "The table has left, nobody was told.", True),
        ("released", "The releaser knows that the table has left.", True),
    ),
)


class DecisiveStore(CrashingStore):
    """A store whose user may also die around the write of the version that decides."""

    def __init__(self, inner: Any, crash: Crash, decisive: str, kind: str) -> None:
        super().__init__(inner, crash)
        self._decisive = decisive
        self._kind = kind

    @override
    def put_if_absent(self, path: str, data: Buffer) -> None:
        if path != self._decisive:
            return super().put_if_absent(path, data)
        self._crash.at_files(self._kind)
        self._inner.put_if_absent(path, data)
        return self._crash.at(f"{self._kind}-written")


class _Steps:
    """One half of the catalog, whose user may die before, inside and after each step."""

    def __init__(self, inner: Any, crash: Crash, doing: list[str]) -> None:
        self._inner = inner
        self._crash = crash
        self._doing = doing

    def claim(self, *asked: Any) -> Any:
        return self._step("claim", "claim", "claimed", *asked)

    def freeze(self, *asked: Any) -> Any:
        return self._step("freeze", "freeze", "frozen", *asked)

    def begin_release(self, *asked: Any) -> Any:
        return self._step("begin_release", "let-go", "let-go", *asked)

    def settle(self, *asked: Any) -> Any:
        self._doing.append("enter" if hasattr(self._inner, "claim") else "leave")
        fate = self._inner.settle(*asked)
        if fate in (AdoptionStatus.ADOPTED, ReleaseStatus.RELEASED):
            self._crash.at(fate.name.lower())
        return fate

    def stay(self, *asked: Any) -> Any:
        return self._inner.stay(*asked)

    def find_departure(self, *asked: Any) -> Any:
        return self._inner.find_departure(*asked)

    def find_adopted(self, *asked: Any) -> Any:
        return self._inner.find_adopted(*asked)

    def _step(self, method: str, doing: str, point: str, *asked: Any) -> Any:
        self._doing.append(doing)
        answer = getattr(self._inner, method)(*asked)
        self._crash.at(point)
        return answer


class Doomed:
    """Who is killed: his catalog, as commits and as transfers see it."""

    def __init__(self, catalog: Catalog, crash: Crash, proposer: str) -> None:
        self._catalog = catalog
        self._crash = crash
        self._doing = ["nothing"]
        crash.at_transactions(catalog, lambda: self._doing[-1])
        adoptions: Any = _Steps(catalog.adoptions, crash, self._doing)
        releases: Any = _Steps(catalog.releases, crash, self._doing)
        self.registry = TransferServices(adoptions, releases, proposer, SystemWorld())

    def mark_published(self, *asked: Any) -> None:
        self._crash.at("before-mark-published")
        self._doing.append("mark")
        self._catalog.mark_published(*asked)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._catalog, name)


def page_table() -> str:
    """The points as the how-to page shows them."""
    lines = ["| no. | way | killed when | has the table changed hands? |", "|---|---|---|---|"]
    for number, point in enumerate(POINTS, 1):
        fate = "yes" if point.happened else "no"
        lines.append(f"| {number} | {point.way.value} | {point.description} | {fate} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(page_table())
