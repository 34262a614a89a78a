"""A real server with settings of a test's choice: its address, its parts, and what asks it."""

import http.client
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from headgate.catalog.ports.access import Principal
from headgate.catalog.ports.catalog import LakeCatalog
from headgate.errors import NotAuthenticated
from headgate.server.app import ServerParts, create_app
from headgate.server.caller import Authenticator, Caller, NoAuthentication
from headgate.server.lakes import ServedLake, ServedLakes
from headgate.server.operations.metered_catalog import meter
from headgate.server.operations.parts import Operations, make_operations
from headgate.server.settings import ServerSettings
from headgate.settings import Settings
from headgate.table.commit.background import PostCommitScheduler
from tests.support.http_server import running
from tests.support.waiting import PATIENCE_SECONDS


@dataclass
class NamedTokens(Authenticator):
    """Whoever says ``Bearer name`` is of that name, unless it was struck off."""

    gone: set[str] = field(default_factory=set)

    def authenticate(self, authorization: str | None) -> Caller:
        name = (authorization or "").removeprefix("Bearer ")
        if not name or name in self.gone:
            raise NotAuthenticated("no valid token was sent")
        return Caller(Principal(name))


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes
    cookies: tuple[str, ...] = ()
    """Every cookie that it sets, where ``headers`` have the last one alone."""

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class OperatedServer:
    url: str
    operations: Operations
    lake: ServedLake

    @property
    def port(self) -> int:
        return urlsplit(self.url).port or 0

    def ask(
        self,
        path: str,
        *,
        method: str = "GET",
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        return ask(self.port, path, method=method, body=body, headers=headers)


def ask(
    port: int,
    path: str,
    *,
    method: str = "GET",
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """One request on a connection of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
    try:
        connection.request(method, path, body=body, headers=dict(headers or {}))
        got = connection.getresponse()
        found = {name.lower(): value for name, value in got.getheaders()}
        cookies = tuple(value for name, value in got.getheaders() if name.lower() == "set-cookie")
        return Answer(got.status, found, got.read(), cookies)
    finally:
        connection.close()


def served(catalog: LakeCatalog, operations: Operations, name: str = "main") -> ServedLake:
    settings = Settings()
    after_commit = PostCommitScheduler(settings, catalog.copies.write_if_due)
    return ServedLake(name, meter(name, catalog, operations.metrics), after_commit, settings)


@contextmanager
def operated(
    catalog: LakeCatalog,
    *,
    authenticator: Authenticator | None = None,
    routes: tuple[Any, ...] = (),
    **settings: Any,
) -> Iterator[OperatedServer]:
    """A server of this catalog under these settings, with more routes if need be, until the block ends."""
    operations = make_operations(ServerSettings(**settings))
    lake = served(catalog, operations)
    app = create_app(
        ServerParts(ServedLakes((lake,)), authenticator or NoAuthentication(), operations=operations)
    )
    for route in routes:
        app.register(route)
    with running(app) as url:
        yield OperatedServer(url, operations, lake)
        operations.drain.begin()
