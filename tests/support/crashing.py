"""Where a writer can be killed: the numbered points of the commit path, and the means to die there.

Production code knows nothing of this. The points are reached through a store and a catalog that
wrap the real ones, through the events of the catalog's database engine, and through the few
calls of ``os`` that a local store writes files with.

``python -m tests.support.crashing`` writes the table of points into the reference page.
"""

import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, event
from typing_extensions import Buffer, override

from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.commits import (
    Lost,
    Outcome,
    Proposal,
    Ratified,
    RatifiedCommit,
    TableId,
    Tail,
    Unknown,
)
from headgate.catalog.ports.directory import StagingTable, TableEntry, TableName
from headgate.catalog.ports.groups import GroupLost, GroupProposal, GroupRatified
from headgate.protocol.actions import TxnId, Version
from headgate.protocol.log import file_names
from tests.support.delegating_store import DelegatingStore
from tests.support.transaction_ends import after_transactions

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "crash-points.md"
_BEGIN, _END = "<!-- generated: crash-points -->", "<!-- end -->"


class Route(Enum):
    """What the killed writer was doing."""

    INLINE = "inline"
    OPEN = "open version"
    STAGED = "staged"
    GROUP = "group"
    SHARED = "shared log"
    PUBLISH = "publish"
    FILESYSTEM = "filesystem"
    CREATE = "create"


@dataclass(frozen=True, slots=True)
class Point:
    """A moment of the commit path."""

    name: str
    description: str
    routes: tuple[Route, ...]
    lands: tuple[Route, ...] = ()
    """The routes on which the writer's transaction has happened by now; on the others it never will."""


MANAGED = (Route.INLINE, Route.OPEN, Route.STAGED)
DECIDED = (*MANAGED, Route.GROUP)
"""By the catalog's database."""
PUBLISHED = (*MANAGED, Route.PUBLISH)
COMMIT = (*MANAGED, Route.FILESYSTEM)
FILES = (*COMMIT, Route.PUBLISH)
STAGED, FILESYSTEM, CREATE = (Route.STAGED,), (Route.FILESYSTEM,), (Route.CREATE,)
SHARED = (Route.SHARED,)
"""Decided in the table's log, by who creates the file first; the catalog writes it down afterwards."""
WRITTEN, PROPOSED, LOGGED = (*COMMIT, *SHARED), (*DECIDED, *SHARED), (*FILES, *SHARED)

POINTS: tuple[Point, ...] = (
    Point("data-file-written", "The data file is written, nothing is proposed.", WRITTEN),
    Point("before-staging", "The commit is about to be staged.", STAGED),
    Point("staged-file-half-written", "Half of the staged file is written, under a hidden name.", STAGED),
    Point("staged-file-nameless", "The staged file is whole and synced, but still hidden.", STAGED),
    Point("staged", "The staged file is there, nothing is proposed.", STAGED),
    Point("before-propose", "The proposal is about to leave.", PROPOSED),
    Point("ratify-half-written", "The catalog's transaction has written its first row.", PROPOSED, SHARED),
    Point("ratify-before-commit", "The catalog's transaction is done but for its commit.", PROPOSED, SHARED),
    Point(
        "ratify-after-commit", "The catalog's database has committed, nobody was told.", PROPOSED, PROPOSED
    ),
    Point("ratified", "The writer knows the answer, nothing is published.", PROPOSED, PROPOSED),
    Point("before-log-file", "The first `<v>.json` is about to be written.", LOGGED, PUBLISHED),
    Point("log-file-half-written", "Half of `<v>.json` is written, under a hidden name.", LOGGED, PUBLISHED),
    Point("log-file-nameless", "`<v>.json` is whole and synced, but still hidden.", LOGGED, PUBLISHED),
    Point("log-file-linked", "`<v>.json` is there; its hidden name and the sync remain.", LOGGED, LOGGED),
    Point("log-file-written", "The first `<v>.json` is written, its put has returned.", LOGGED, LOGGED),
    Point(
        "between-two-versions", "One version is published, the next one is about to be.", PUBLISHED, PUBLISHED
    ),
    Point(
        "before-mark-published", "Every version is published, the catalog was not told.", PUBLISHED, PUBLISHED
    ),
    Point("mark-before-commit", "The catalog is about to record what is published.", PUBLISHED, PUBLISHED),
    Point("mark-after-commit", "The catalog has recorded what is published.", PUBLISHED, PUBLISHED),
    Point("committed", "The commit has returned to its caller.", WRITTEN, WRITTEN),
    Point("stage-before-commit", "The catalog is about to reserve a place for a new table.", CREATE),
    Point("place-reserved", "The place is reserved, nothing is in it.", CREATE),
    Point("version-0-half-written", "Half of version 0 is written, under a hidden name.", CREATE),
    Point("version-0-linked", "Version 0 is there; its hidden name and the sync remain.", CREATE),
    Point("version-0-written", "Version 0 is written, the table has no name.", CREATE),
    Point("register-before-commit", "The catalog is about to give the table its name.", CREATE),
    Point("register-after-commit", "The table has its name, nobody was told.", CREATE, CREATE),
    Point("created", "The creator knows that the table exists.", CREATE, CREATE),
)


class Crash:
    """Kills this process, as ``kill -9`` would, when the chosen point is reached for the first time."""

    def __init__(self, point: str) -> None:
        self._point = point

    def at(self, point: str) -> None:
        """The process is at ``point``; if it is the chosen one, this does not return."""
        if point == self._point:
            os.kill(os.getpid(), signal.SIGKILL)

    def at_files(self, kind: str) -> None:
        """From here on, die inside a local store's write of a file of this kind."""
        write, link, replace = os.write, os.link, os.replace

        def half(file: int, data: Any) -> int:
            if self._point == f"{kind}-half-written":
                write(file, data[: len(data) // 2])
                self.at(f"{kind}-half-written")
            return write(file, data)

        def placing(place: Callable[..., None]) -> Callable[..., None]:
            def placed(source: str, target: str) -> None:
                self.at(f"{kind}-nameless")
                place(source, target)
                self.at(f"{kind}-linked")

            return placed

        os.write, os.link, os.replace = half, placing(link), placing(replace)

    def at_transactions(self, catalog: Catalog, kind: Callable[[], str]) -> None:
        """Die before or after the database commit of what the catalog is doing, which ``kind`` tells."""
        engine = catalog._database._engine
        changed: list[str] = []

        @event.listens_for(engine, "after_cursor_execute")
        def executed(_connection: object, _cursor: object, statement: str, *_: object) -> None:
            if statement.startswith(("INSERT", "UPDATE")):
                changed.append(kind())
                self.at(f"{kind()}-half-written")

        @event.listens_for(engine, "commit")
        def before(_connection: Connection) -> None:
            for done in changed:
                self.at(f"{done}-before-commit")

        def after() -> None:
            while changed:
                self.at(f"{changed.pop()}-after-commit")

        after_transactions(catalog, after)


class CrashingStore(DelegatingStore):
    """A local store whose user may die before, inside and after each write of the log."""

    def __init__(self, inner: Any, crash: Crash) -> None:
        super().__init__(inner)
        self._crash = crash
        self._local = inner
        self._log_files = 0

    @override
    def put(self, path: str, data: Buffer) -> None:
        if not path.startswith(file_names.STAGED_FOLDER):
            return super().put(path, data)
        self._crash.at("before-staging")
        self._crash.at_files("staged-file")
        super().put(path, data)
        return self._crash.at("staged")

    @override
    def put_if_absent(self, path: str, data: Buffer) -> None:
        kind = "version-0" if path == file_names.published_path(Version(0)) else "log-file"
        self._crash.at("before-log-file" if self._log_files == 0 else "between-two-versions")
        self._crash.at_files(kind)
        super().put_if_absent(path, data)
        self._crash.at(f"{kind}-written")
        self._log_files += 1

    def put_in_order(self, objects: Sequence[tuple[str, bytes]]) -> None:
        """As a local store does it, in two parts, so that there is a moment between two versions."""
        for part in filter(None, (objects[:1], objects[1:])):
            self._crash.at("before-log-file" if self._log_files == 0 else "between-two-versions")
            self._crash.at_files("log-file")
            self._local.put_in_order(part)
            self._crash.at("log-file-written")
            self._log_files += len(part)


class CrashingCatalog:
    """A catalog whose user may die before, inside and after each call that changes something."""

    def __init__(self, inner: Catalog, crash: Crash) -> None:
        self._inner = inner
        self._crash = crash
        self._doing = "nothing"
        crash.at_transactions(inner, lambda: self._doing)

    def propose(self, proposal: Proposal) -> Ratified | Lost[RatifiedCommit] | Unknown:
        self._crash.at("before-propose")
        self._doing = "ratify"
        outcome = self._inner.propose(proposal)
        if isinstance(outcome, Ratified):
            self._crash.at("ratified")
        return outcome

    def propose_group(self, group: GroupProposal) -> GroupRatified | GroupLost[RatifiedCommit] | Unknown:
        self._crash.at("before-propose")
        self._doing = "ratify"
        outcome = self._inner.propose_group(group)
        if isinstance(outcome, GroupRatified):
            self._crash.at("ratified")
        return outcome

    def outcome_of(
        self, table_id: TableId, txn_id: TxnId, target: Version, *, any_version: bool = False
    ) -> Outcome[RatifiedCommit]:
        return self._inner.outcome_of(table_id, txn_id, target, any_version=any_version)

    def tail(self, table_id: TableId) -> Tail:
        return self._inner.tail(table_id)

    def mark_published(self, table_id: TableId, version: Version) -> None:
        self._crash.at("before-mark-published")
        self._doing = "mark"
        self._inner.mark_published(table_id, version)

    def create_schema(self, schema: str) -> bool:
        return self._inner.create_schema(schema)

    def schemas(self) -> tuple[str, ...]:
        return self._inner.schemas()

    def drop_schema(self, schema: str) -> bool:
        return self._inner.drop_schema(schema)

    def stage(self, name: TableName) -> StagingTable:
        self._doing = "stage"
        staging = self._inner.stage(name)
        self._crash.at("place-reserved")
        return staging

    def register(self, staging: StagingTable, name: TableName) -> TableEntry:
        self._doing = "register"
        entry = self._inner.register(staging, name)
        self._crash.at("created")
        return entry

    def resolve(self, name: TableName) -> TableEntry:
        return self._inner.resolve(name)

    def tables(self, schema: str | None = None) -> tuple[TableEntry, ...]:
        return self._inner.tables(schema)

    def drop(self, name: TableName) -> TableEntry:
        return self._inner.drop(name)


def page_table() -> str:
    """The points as the reference page shows them, one row a point, one column a route."""
    lines = [
        "| no. | point | killed when | " + " | ".join(route.value for route in Route) + " |",
        "|---|---|---|" + "---|" * len(Route),
    ]
    for number, point in enumerate(POINTS, 1):
        fates = " | ".join(_fate(point, route) for route in Route)
        lines.append(f"| {number} | `{point.name}` | {point.description} | {fates} |")
    return "\n".join(lines)


def page_with_table(page: str) -> str:
    """The page with its generated part brought up to date."""
    before, _, rest = page.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    return f"{before}{_BEGIN}\n{page_table()}\n{_END}{after}"


def _fate(point: Point, route: Route) -> str:
    if route not in point.routes:
        return "–"
    return "yes" if route in point.lands else "no"


if __name__ == "__main__":
    PAGE.write_text(page_with_table(PAGE.read_text()))
