"""A real HTTP server on a free port of this machine, over lakes that a test has."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from granian.server.embed import Server

from headgate.catalog.ports.access import Principal
from headgate.catalog.ports.catalog import LakeCatalog
from headgate.server.app import ServerParts, create_app
from headgate.server.caller import Authenticator, Caller, NoAuthentication
from headgate.server.delta_api import DeltaApiSettings
from headgate.server.lakes import ServedLake, ServedLakes
from headgate.settings import Settings
from headgate.table.commit.background import PostCommitScheduler
from tests.support.waiting import PATIENCE_SECONDS


class EverybodyIs(Authenticator):
    """Takes everybody for one principal."""

    def __init__(self, principal: str) -> None:
        self._principal = principal

    def authenticate(self, authorization: str | None) -> Caller:
        return Caller(Principal(self._principal))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def serving(
    catalog: LakeCatalog,
    *,
    name: str = "main",
    authenticator: Authenticator | None = None,
    delta_api: DeltaApiSettings | None = None,
) -> Iterator[str]:
    """The address of a server of this catalog, in a thread of this process, until the block ends."""
    settings = Settings()
    after_commit = PostCommitScheduler(settings, catalog.copies.write_if_due)
    lake = ServedLake(name, catalog, after_commit, settings)
    app = create_app(
        ServerParts(
            ServedLakes((lake,)),
            authenticator or NoAuthentication(),
            delta_api=delta_api or DeltaApiSettings(),
        )
    )
    with running(app) as url:
        yield url


@contextmanager
def running(app: object) -> Iterator[str]:
    """The address of an application's server."""
    port = free_port()
    server = Server(app, port=port, interface="asgi", log_enabled=False)  # type: ignore[arg-type]
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=lambda: loop.run_until_complete(server.serve()), daemon=True)
    thread.start()
    _await_port(port)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        loop.call_soon_threadsafe(server.stop)
        thread.join(timeout=PATIENCE_SECONDS)


def _await_port(port: int) -> None:
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS).close()
        except ConnectionRefusedError:
            continue
        return
