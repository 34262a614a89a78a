"""How is an operation of the ports answered over HTTP? Each at a route of its own, all in the same way."""

from collections.abc import Callable
from urllib.parse import unquote

from litestar import Request, Response, post
from litestar.datastructures import State
from litestar.di import NamedDependency
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath, RawBody

from headgate.catalog.ports.access import OWNER, AccessTokens, acting_principal
from headgate.catalog.ports.serving import ReaderCatalog
from headgate.catalog.wire.lake_description import ACTING_AS, CALL_ID, MAX_REQUEST_BYTES, is_call_id
from headgate.catalog.wire.operation_codec import OperationCodec, codec_for
from headgate.catalog.wire.operations import OPERATIONS, PortOperation, Repeat
from headgate.errors import NotAllowed
from headgate.server.audit import CHANGES_NOTHING
from headgate.server.caller import Caller
from headgate.server.credentials import CredentialVendor, vend_by_id
from headgate.server.lakes import ServedLake, ServedLakes
from headgate.server.routes.own import authority, directory_copies
from headgate.server.routes.own.authority import Asked

OwnRequest = Request[object, object, State]


def acting_caller(request: OwnRequest, caller: Caller) -> str:
    """On whose behalf a request is answered: the caller's, unless the owner acts for somebody else."""
    named = request.headers.get(ACTING_AS)
    principal = None if named is None else acting_principal(unquote(named))
    if principal is None or principal == caller.principal:
        return caller.principal  # with what its token is limited to, which the bare name is not
    if caller.principal != OWNER:
        raise NotAllowed(
            f"only the owner of the lake acts for others, and {caller.principal!r} is not: connect without "
            "naming a principal",
            operation="act for another principal",
        )
    return principal


def call_headers(request: OwnRequest) -> dict[str, str]:
    """By what the client knows that this is the answer to its call, and to no other."""
    named = request.headers.get(CALL_ID, "")
    return {CALL_ID: named} if is_call_id(named) else {}


def _handler(operation: PortOperation) -> HTTPRouteHandler:
    codec = codec_for(operation)

    def handle(
        lake: FromPath[str],
        body: RawBody,
        request: OwnRequest,
        caller: NamedDependency[Caller],
        lakes: NamedDependency[ServedLakes],
    ) -> Response[bytes]:
        served = lakes.find(lake)
        principal = acting_caller(request, caller)
        content = _answer(codec, served, principal, body, request.app.state.credential_vendor)
        if operation.method is AccessTokens.revoke:
            request.app.state.authenticator.forget_validations()
        return Response(content, media_type="application/json", headers=call_headers(request))

    handle.__doc__ = operation.method.__doc__
    return _route(operation)(handle)


def _route(operation: PortOperation) -> Callable[[Callable[..., Response[bytes]]], HTTPRouteHandler]:
    return post(
        f"/lakes/{{lake:str}}/{operation.path}",
        status_code=200,
        sync_to_thread=True,
        operation_id=operation.path.replace("/", "_"),
        summary=operation.summary,
        tags=[operation.part.folder],
        request_max_body_size=MAX_REQUEST_BYTES,
        opt={CHANGES_NOTHING: operation.repeat is Repeat.READ},
    )


def _answer(
    codec: OperationCodec, lake: ServedLake, principal: str, body: bytes, vendor: CredentialVendor
) -> bytes:
    asked = Asked(codec.operation, lake.catalog_for(principal), codec.decode_arguments(body))
    forgotten = directory_copies.about_to_be_forgotten(asked)
    found = authority.answer(asked)
    if asked.operation.method is ReaderCatalog.credentials:  # the catalog has authorised; the server mints
        found = vend_by_id(vendor, asked.catalog, asked.arguments["table_id"], asked.arguments["operation"])
    directory_copies.keep_copy(lake.catalog.copies, asked.operation.copy, forgotten)
    return codec.encode_result(found)


HANDLERS = [_handler(operation) for operation in OPERATIONS]
