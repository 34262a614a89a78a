"""How is an operation of the ports answered over HTTP? Each at a route of its own, all in the same way.

The framework knows these routes, for its document and for whatever is asked of them in an unusual way. What
clients ask, ``direct_operations.py`` answers with the same parts.
"""

from collections.abc import Callable
from dataclasses import dataclass
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
from headgate.server.caller import Authenticator, Caller, visible_lakes
from headgate.server.credentials import CredentialVendor, vend_by_id
from headgate.server.lakes import ServedLake, ServedLakes
from headgate.server.routes.own import authority, directory_copies
from headgate.server.routes.own.authority import OperationRequest

OwnRequest = Request[object, object, State]


def acting_caller(request: OwnRequest, caller: Caller) -> str:
    """On whose behalf a request is answered: the caller's, unless the owner acts for somebody else."""
    return acting_principal_of(request.headers.get(ACTING_AS), caller)


def acting_principal_of(named: str | None, caller: Caller) -> str:
    """The same, by the header in which the owner names somebody else."""
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


@dataclass(frozen=True, slots=True)
class OperationParts:
    """What operations are answered with."""

    lakes: ServedLakes
    authenticator: Authenticator
    vendor: CredentialVendor

    def answer(
        self, codec: OperationCodec, lake: str, caller: Caller, acting_as: str | None, body: bytes
    ) -> bytes:
        """The body of the answer to a request for an operation."""
        served = visible_lakes(self.lakes, caller).find(lake)
        principal = acting_principal_of(acting_as, caller)
        content = _answer(codec, served, principal, body, self.vendor)
        if codec.operation.method is AccessTokens.revoke:
            self.authenticator.forget_validations()
        return content


def _handler(operation: PortOperation) -> HTTPRouteHandler:
    codec = codec_for(operation)

    def handle(
        lake: FromPath[str],
        body: RawBody,
        request: OwnRequest,
        caller: NamedDependency[Caller],
    ) -> Response[bytes]:
        parts: OperationParts = request.app.state.operation_parts
        content = parts.answer(codec, lake, caller, request.headers.get(ACTING_AS), body)
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
    request = OperationRequest(codec.operation, lake.catalog_for(principal), codec.decode_arguments(body))
    forgotten = directory_copies.about_to_be_forgotten(request)
    found = authority.answer(request)
    if request.operation.method is ReaderCatalog.credentials:  # the catalog has authorised; the server mints
        found = vend_by_id(
            vendor, request.catalog, request.arguments["table_id"], request.arguments["operation"]
        )
    directory_copies.keep_copy(lake.catalog.copies, request.operation.copy, forgotten)
    return codec.encode_result(found)


HANDLERS = [_handler(operation) for operation in OPERATIONS]
