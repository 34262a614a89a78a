"""``headgate serve`` in a process that is killed at a point of its work, chosen while it runs.

The command is the real one. What it opens is wrapped before it starts: the catalog, the local files it
publishes to, and the application whose answers it sends.
"""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from litestar.types import ASGIApp, Message, Receive, Scope, Send
from sqlalchemy import event

from headgate.catalog.catalog import Catalog
from headgate.cli.main import app
from headgate.plugins import catalogs
from headgate.server import run
from headgate.storage.local import LocalStore
from tests.support.crashing import POINTS, Crash, Point, Route
from tests.support.transaction_ends import after_transactions

_TOLD = (Route.INLINE, Route.OPEN, Route.STAGED, Route.GROUP, Route.SHARED)
ANSWER_POINTS = (
    Point("answer-ready", "The answer is about to leave the server.", _TOLD, _TOLD),
    Point("answer-half-sent", "Half of the answer has left the server.", _TOLD, _TOLD),
    Point("answer-sent", "The answer has left the server.", _TOLD, _TOLD),
)
_BY_CLIENTS = frozenset(
    ("data-file-written", "before-staging", "staged-file-half-written", "staged-file-nameless", "staged",
     "committed", "version-0-half-written", "version-0-linked", "version-0-written")
)  # fmt: skip
"""Passed by the client alone."""
_BY_PUBLISHER = frozenset(point.name for point in POINTS if Route.PUBLISH in point.routes)
_INSIDE_A_FILE = frozenset(("log-file-half-written", "log-file-nameless", "log-file-linked"))
ROUTES = (Route.INLINE, Route.OPEN, Route.STAGED, Route.GROUP, Route.SHARED, Route.PUBLISH, Route.CREATE)


def points_of(route: Route) -> tuple[Point, ...]:
    """The points that a server passes for clients on this route; it publishes on a thread of its own."""
    return tuple(
        point
        for point in (*POINTS, *ANSWER_POINTS)
        if route in point.routes
        and point.name not in _BY_CLIENTS
        and (route in (Route.PUBLISH, Route.SHARED) or point.name not in _BY_PUBLISHER)
    )


class ArmedCrash(Crash):
    """Kills this process at the point that a file names at the moment, if there is one."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._writing = 0

    @property
    def _point(self) -> str:  # type: ignore[override]
        try:
            named = self._file.read_text()
        except FileNotFoundError:
            return ""
        return "" if named in _INSIDE_A_FILE and not self._writing else named

    def is_armed(self, point: str) -> bool:
        """Whether this is where it shall die."""
        return self._point == point

    @contextmanager
    def writing(self) -> Iterator[None]:
        """In here files of the log are written, and no others."""
        self._writing += 1
        try:
            yield
        finally:
            self._writing -= 1


def serve_until_killed(arguments: Sequence[str], armed: str, log: str) -> None:
    """Serve in this process, up to its death at the point that the file ``armed`` comes to name."""
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(file, 1)
    os.dup2(file, 2)
    _doom(ArmedCrash(Path(armed)))
    app(args=["serve", *arguments])


def _doom(crash: ArmedCrash) -> None:
    open_catalog, create_app = catalogs.open_catalog, run.create_app

    def opened(target: Any) -> Any:
        catalog = open_catalog(target)
        assert isinstance(catalog, Catalog)
        doing = _Doing()
        _die_in_transactions(catalog, crash, doing)
        return _DoomedCatalog(catalog, crash, doing)

    def created(parts: Any) -> Any:
        application = create_app(parts)
        application.asgi_handler = _DoomedAnswers(application.asgi_handler, crash)
        return application

    catalogs.open_catalog, run.create_app = opened, created
    _die_in_files(crash)


class _Doing(threading.local):
    """What the thread is about, and what it has changed in the transaction that it is in."""

    what = "nothing"

    def __init__(self) -> None:
        self.changed: list[str] = []


def _die_in_transactions(catalog: Catalog, crash: Crash, doing: _Doing) -> None:
    engine = catalog._database._engine

    @event.listens_for(engine, "after_cursor_execute")
    def executed(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if statement.startswith(("INSERT", "UPDATE")):
            doing.changed.append(doing.what)
            crash.at(f"{doing.what}-half-written")

    @event.listens_for(engine, "commit")
    def before(_connection: object) -> None:
        for done in doing.changed:
            crash.at(f"{done}-before-commit")

    def after() -> None:
        while doing.changed:
            crash.at(f"{doing.changed.pop()}-after-commit")

    after_transactions(catalog, after)


def _die_in_files(crash: ArmedCrash) -> None:
    """Die before, inside and after the writing of ``<v>.json``, whoever in this process writes it."""
    put, put_in_order = LocalStore.put_if_absent, LocalStore.put_in_order
    crash.at_files("log-file")
    before: list[str] = []

    def writing(path: str, write: Callable[[], None]) -> None:
        crash.at("before-log-file")
        if crash.is_armed("between-two-versions"):
            if before:
                crash.at("between-two-versions")
            before.append(path)
        with crash.writing():
            write()
        crash.at("log-file-written")

    def one(store: LocalStore, path: str, data: Any) -> None:
        if path.startswith("_delta_log/") and path.endswith(".json"):
            writing(path, lambda: put(store, path, data))
        else:
            put(store, path, data)

    def many(store: LocalStore, objects: Sequence[tuple[str, Any]]) -> None:
        for part in filter(None, (objects[:1], objects[1:])):
            writing(part[0][0], partial(put_in_order, store, part))

    LocalStore.put_if_absent = one  # type: ignore[method-assign]
    LocalStore.put_in_order = many  # type: ignore[method-assign]


class _DoomedCatalog:
    """A catalog whose server may die before, inside and after each call that changes something."""

    _CALLS: ClassVar = {
        "propose": ("before-propose", "ratify", "ratified"),
        "propose_group": ("before-propose", "ratify", "ratified"),
        "mark_published": ("before-mark-published", "mark", ""),
        "stage": ("", "stage", "place-reserved"),
        "register": ("", "register", "created"),
    }

    def __init__(self, inner: Any, crash: Crash, doing: _Doing) -> None:
        self._inner, self._crash, self._doing = inner, crash, doing

    def acting_as(self, principal: str, **options: Any) -> "_DoomedCatalog":
        return _DoomedCatalog(self._inner.acting_as(principal, **options), self._crash, self._doing)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        return self._dying(found, *self._CALLS[name]) if name in self._CALLS else found

    def _dying(self, method: Callable[..., Any], before: str, doing: str, after: str) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            self._crash.at(before or "nowhere")
            self._doing.what = doing
            try:
                answer = method(*arguments, **options)
            finally:
                self._doing.what = "nothing"
            self._crash.at(after or "nowhere")
            return answer

        return call


@dataclass(frozen=True, slots=True)
class _DoomedAnswers:
    """An application that may die before, in and after the sending of what became of a proposal."""

    app: ASGIApp
    crash: Crash

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = str(scope.get("path", ""))
        doomed = path.endswith(("/propose", "/propose_group"))
        await self.app(scope, receive, self._sending(send) if doomed else send)

    def _sending(self, send: Send) -> Send:
        async def dying(message: Message) -> None:
            if message["type"] != "http.response.body":
                await send(message)
                return
            self.crash.at("answer-ready")
            half: Any = {**message, "body": message["body"][: len(message["body"]) // 2], "more_body": True}
            rest: Any = {**message, "body": message["body"][len(half["body"]) :]}
            await send(half)
            self.crash.at("answer-half-sent")
            await send(rest)
            self.crash.at("answer-sent")

        return dying
