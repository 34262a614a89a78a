"""How does a server run? As one process with threads, or as several on one PostgreSQL database.

    start:  open the lakes → take up what was left unpublished → listen → say where
    stop:   SIGTERM or SIGINT → not ready, nothing new is taken → requests in flight end → publish → close

Killed at any moment it has lost nothing: what was ratified is in the database, and what was not published is
taken up by the next start.
"""

import asyncio
import errno
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import uvloop
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server
from litestar import Litestar

from headgate.catalog.ports.catalog import LakeCatalog
from headgate.catalog.ports.serving import CountsConnections
from headgate.errors import InvalidRequest
from headgate.server.app import ServerParts, create_app
from headgate.server.caller import Authenticator
from headgate.server.console.session import new_key
from headgate.server.credentials import CredentialVendor, read_stores
from headgate.server.delta_api import DeltaApiSettings
from headgate.server.exposure import has_tls
from headgate.server.lakes import ServedLake, ServedLakes
from headgate.server.operations.metered_catalog import meter
from headgate.server.operations.metrics import LakeGauges
from headgate.server.operations.parts import Operations, make_operations
from headgate.server.publisher import Publisher
from headgate.server.settings import LakeSettings, ServerSettings
from headgate.server.webhooks.dispatcher import WebhookDispatcher
from headgate.settings import Settings
from headgate.table.commit.background import PostCommitScheduler

_LOG = logging.getLogger(__name__)
_BACKLOG = 1_024
_PARENT_SECONDS = 1.0

OpenCatalog = Callable[[LakeSettings], LakeCatalog]


@dataclass(frozen=True, slots=True)
class ServerPlan:
    """Everything that one process of a server needs; a process that is started gets it whole."""

    settings: ServerSettings
    open_catalog: OpenCatalog
    make_authenticator: Callable[[ServerSettings, ServedLakes], Authenticator]
    console_key: bytes = field(default_factory=new_key, repr=False)


@contextmanager
def opened_parts(plan: ServerPlan) -> Iterator[ServerParts]:
    """The lakes of a server with their publishers and webhooks at work, all closed in order afterwards."""
    operations, stores = make_operations(plan.settings), read_stores(plan.settings.stores)
    with ExitStack() as stack:
        lakes = tuple(
            stack.enter_context(_served_lake(each, plan, operations)) for each in plan.settings.lakes
        )
        by_name = {lake.name: lake for lake in lakes}
        hooks = tuple(
            WebhookDispatcher(
                hook,
                by_name[hook.lake],
                operations.metrics.webhook_called,
                private=plan.settings.private_webhooks,
                seconds=plan.settings.events_seconds,
            )
            for hook in plan.settings.webhooks
        )
        for hook in hooks:
            stack.callback(hook.close)
            hook.start()
        served = ServedLakes(lakes)
        authenticator = plan.make_authenticator(plan.settings, served)
        yield ServerParts(
            served,
            authenticator,
            delta_api=DeltaApiSettings(strict=plan.settings.strict),
            credentials=CredentialVendor(stores),
            operations=operations,
            webhooks=hooks,
            console_key=plan.console_key,
        )


@contextmanager
def _served_lake(place: LakeSettings, plan: ServerPlan, operations: Operations) -> Iterator[ServedLake]:
    catalog = plan.open_catalog(place)
    with ExitStack() as stack:
        stack.callback(catalog.close)
        stack.callback(catalog.copies.write_if_changed)
        settings = Settings()
        after_commit = PostCommitScheduler(settings, catalog.copies.write_if_due)
        stack.callback(after_commit.close)
        lake = ServedLake(place.name, meter(place.name, catalog, operations.metrics), after_commit, settings)
        publisher = Publisher(lake, seconds=plan.settings.publish_seconds)
        stack.callback(publisher.close)
        operations.metrics.watch_lake(
            place.name, LakeGauges(publisher.unpublished, publisher.lag_seconds, _connections(catalog))
        )
        publisher.start()
        yield lake


def _connections(catalog: LakeCatalog) -> Callable[[], float]:
    if isinstance(catalog, CountsConnections):
        return catalog.connections_in_use
    return lambda: 0.0


def serve_until_stopped(plan: ServerPlan, tell: Callable[[str], None]) -> None:
    """Serve in this process until it gets SIGTERM or SIGINT; ``tell`` where, once it listens."""
    settings = replace(plan.settings, port=plan.settings.port or free_port(plan.settings.host))
    require_free_port(settings)
    with opened_parts(replace(plan, settings=settings)) as parts:
        _run(_serve(create_app(parts), parts.operations, lambda: tell(address(settings))))


def serve_worker(plan: ServerPlan) -> None:
    """Serve in one process of several, which listen on the same port, for as long as there is the first."""
    _end_with_parent()
    with opened_parts(plan) as parts:
        _run(_serve(create_app(parts), parts.operations, lambda: None))


def _run(serving: Coroutine[Any, Any, None]) -> None:
    """Run a server on an event loop that takes a fraction of the time of Python's own."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serving)


async def _serve(app: Litestar, operations: Operations, listening: Callable[[], None]) -> None:
    settings, stop, loop = operations.settings, asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    server = _granian(app, settings)
    serving = loop.create_task(server.serve())
    await _until_listening(settings, serving)
    listening()
    stopped = loop.create_task(stop.wait())
    await asyncio.wait((serving, stopped), return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    operations.drain.begin()
    if not await operations.drain.wait_until_empty(settings.drain_seconds):
        _LOG.warning("%s requests had no answer when the server stopped", operations.drain.in_flight)
    operations.access.write()
    server.stop()  # type: ignore[no-untyped-call]
    await serving


def _granian(app: Litestar, settings: ServerSettings) -> Server:
    return Server(
        app,
        address=settings.host,
        port=settings.port,
        interface=Interfaces.ASGI,
        http=HTTPModes.auto,
        websockets=False,
        backlog=_BACKLOG,
        http1_settings=HTTP1Settings(
            header_read_timeout=int(settings.body_seconds * 1000),
            max_buffer_size=max(8_192, settings.header_bytes * 2),
        ),
        log_enabled=False,
        ssl_cert=None if settings.tls_certificate is None else Path(settings.tls_certificate),
        ssl_key=None if settings.tls_key is None else Path(settings.tls_key),
    )


async def _until_listening(settings: ServerSettings, serving: "asyncio.Task[None]") -> None:
    """Wait until a connection is taken; the error of the server if it ends before."""
    while True:
        if serving.done():
            await serving
            raise InvalidRequest("the server ended before it listened: its log says why")
        try:
            _, writer = await asyncio.open_connection(reachable_host(settings.host), settings.port)
        except ConnectionRefusedError:
            await asyncio.sleep(0.005)
            continue
        writer.close()
        return


def is_listening(settings: ServerSettings) -> bool:
    """Whether somebody takes connections there."""
    try:
        socket.create_connection((reachable_host(settings.host), settings.port)).close()
    except ConnectionRefusedError:
        return False
    return True


def reachable_host(host: str) -> str:
    """An address under which the own machine reaches what listens on this one."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)


def address(settings: ServerSettings) -> str:
    """Where the server is, as a URL."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"{'https' if has_tls(settings) else 'http'}://{host}:{settings.port}"


def free_port(host: str) -> int:
    """A port that nobody listens on at the moment."""
    with _bound(host, 0) as probe:
        return cast("int", probe.getsockname()[1])


def require_free_port(settings: ServerSettings) -> None:
    """Refuse a port that somebody listens on: several processes may share one, and two servers must not."""
    try:
        _bound(settings.host, settings.port).close()
    except OSError as exc:
        if exc.errno not in (errno.EADDRINUSE, errno.EADDRNOTAVAIL, errno.EACCES):
            raise
        raise InvalidRequest(
            f"the server cannot listen on {settings.host} port {settings.port}: {exc.strerror}. "
            "Stop what listens "
            "there, or choose another with --host and --port"
        ) from exc


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    probe = socket.socket(family, socket.SOCK_STREAM)
    try:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((host, port))
    except BaseException:
        probe.close()
        raise
    return probe


def _end_with_parent() -> None:
    """Stop when the process that started this one is gone, however it went."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            threading.Event().wait(_PARENT_SECONDS)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="headgate-parent", daemon=True).start()
