"""The application: every route of every API, over the lakes that are served."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from typing import Any

from litestar import Litestar, Request, Response
from litestar.datastructures import State
from litestar.di import Provide
from litestar.openapi.config import OpenAPIConfig

from headgate.server.audit import AuditMiddleware
from headgate.server.auth.code_flow import issuer_sign_ins
from headgate.server.caller import Authenticator, identify, provide_caller, provide_lakes
from headgate.server.console import error_pages
from headgate.server.console.router import ROUTER as CONSOLE
from headgate.server.console.session import SessionSeal, new_key
from headgate.server.console.visit import ConsoleParts
from headgate.server.credentials import CredentialVendor
from headgate.server.delta_api import DeltaApiSettings
from headgate.server.error_answers import answer_by_path
from headgate.server.lakes import ServedLakes
from headgate.server.openapi import CompletedDocument
from headgate.server.operations.layer import OperationsLayer
from headgate.server.operations.measured_commits import MeasuredCommits
from headgate.server.operations.parts import Operations, make_operations
from headgate.server.routes.access.router import CONTROL_ROUTER as CONTROL
from headgate.server.routes.access.router import ROUTER as ACCESS
from headgate.server.routes.delta.router import ROUTER as DELTA
from headgate.server.routes.events.router import ROUTER as EVENTS
from headgate.server.routes.operations.router import ROUTER as OPERATIONS
from headgate.server.routes.own.direct_operations import DirectOperations
from headgate.server.routes.own.operation_routes import OperationParts
from headgate.server.routes.own.router import ROUTER as OWN
from headgate.server.routes.unity.router import ROUTER as UNITY
from headgate.server.settings import ServerSettings
from headgate.server.webhooks.dispatcher import WebhookDispatcher


def _default_operations() -> Operations:
    return make_operations(ServerSettings())


@dataclass(frozen=True, slots=True)
class ServerParts:
    """What the routes of a server stand on."""

    lakes: ServedLakes
    authenticator: Authenticator
    delta_api: DeltaApiSettings = field(default_factory=DeltaApiSettings)
    credentials: CredentialVendor = field(default_factory=CredentialVendor)
    operations: Operations = field(default_factory=_default_operations)
    webhooks: tuple[WebhookDispatcher, ...] = ()
    console_key: bytes = field(default_factory=new_key, repr=False)
    """With which the sessions of the console are sealed; the same in all processes of a server."""


def create_app(parts: ServerParts) -> Litestar:
    """The application over these lakes; handlers ask for ``caller``, ``lakes``, ``operations``, ``state``."""
    operations = parts.operations
    own = OperationParts(parts.lakes, parts.authenticator, parts.credentials)
    app = Litestar(
        route_handlers=[DELTA, UNITY, OWN, ACCESS, CONTROL, EVENTS, OPERATIONS, CONSOLE],
        middleware=[AuditMiddleware()],
        state=State(
            {
                "lakes": parts.lakes,
                "authenticator": parts.authenticator,
                "delta_api": parts.delta_api,
                "credential_vendor": parts.credentials,
                "operation_parts": own,
                "commit_reports": MeasuredCommits(operations.metrics),
                "operations": operations,
                "webhooks": parts.webhooks,
                "console": ConsoleParts(
                    SessionSeal(parts.console_key, operations.settings),
                    issuer_sign_ins(operations.settings.issuers),
                ),
            }
        ),
        dependencies={
            "caller": Provide(provide_caller),
            "lakes": Provide(provide_lakes, sync_to_thread=False),
            "operations": Provide(lambda: operations, sync_to_thread=False),
        },
        exception_handlers={Exception: _answer_unrouted},
        on_startup=[_use_threads(operations.settings.threads)],
        openapi_config=OpenAPIConfig(
            title="Headgate",
            version=version("headgate"),
            path="/schema",
            render_plugins=[CompletedDocument()],
        ),
        request_max_body_size=operations.settings.body_bytes,
        logging_config=None,
    )
    app.asgi_handler = OperationsLayer(
        DirectOperations(app.asgi_handler, own, operations),
        operations.settings,
        operations.metrics,
        operations.drain,
        operations.access,
        partial(identify, parts.authenticator, operations=operations),
        operations.requests,
    )
    return app


def _answer_unrouted(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    """The answer to what no route saw: a page of the console, or the dialect of the API there."""
    is_page = error_pages.is_of_console(request.scope["path"])
    return (error_pages.answer_unrouted if is_page else answer_by_path)(request, error)


def _use_threads(count: int) -> Callable[[], None]:
    """Have requests worked on by so many threads; a processor or two would have too few by default."""

    def use() -> None:
        pool = ThreadPoolExecutor(count, thread_name_prefix="headgate-request")
        asyncio.get_running_loop().set_default_executor(pool)

    return use
