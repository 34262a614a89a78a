"""Who is asking? Decided once a request, before its handler runs, and handed to it as ``caller``."""

import asyncio
from dataclasses import dataclass
from typing import Protocol, cast

from litestar import Request
from litestar.datastructures import State
from litestar.di import NamedDependency
from typing_extensions import override

from headgate.catalog.ports.access import FULL_SCOPE, OWNER, Principal, ScopedPrincipal, TokenScope
from headgate.server.lakes import ServedLakes
from headgate.server.operations.parts import Operations
from headgate.server.request_record import current_request


@dataclass(frozen=True, slots=True)
class Caller:
    """One who asks, as authenticated; what it may do the catalog decides."""

    principal: Principal
    """With what its credentials limit it to, if they do: ``catalog_for`` passes that on to the catalog."""
    lake: str | None = None
    """The only lake that its credentials are good for; None for all."""

    @property
    def scope(self) -> TokenScope:
        """How much of what the principal may do its credentials are good for."""
        return self.principal.scope if isinstance(self.principal, ScopedPrincipal) else FULL_SCOPE

    @property
    def token_id(self) -> str | None:
        """The token of the catalog that was shown, if it was one."""
        return self.principal.token_id if isinstance(self.principal, ScopedPrincipal) else None


class Authenticator(Protocol):
    """Tells who is behind the credentials of a request; safe to share between threads."""

    def authenticate(self, authorization: str | None) -> Caller:
        """The caller that presents this ``Authorization`` header; ``NotAuthenticated`` if nobody can tell."""
        ...

    def recall(self, authorization: str | None) -> Caller | None:  # noqa: ARG002
        """The same without asking anybody, if it was found out a moment ago; None if it was not."""
        return None

    def forget_validations(self) -> None:
        """Ask anew of every token, because one was taken back."""
        return


class NoAuthentication(Authenticator):
    """Everybody is the owner: for servers that only the own machine reaches, and that say so."""

    @override
    def authenticate(self, authorization: str | None) -> Caller:
        return Caller(OWNER)

    @override
    def recall(self, authorization: str | None) -> Caller | None:
        return self.authenticate(authorization)


async def identify(authenticator: Authenticator, authorization: str | None, operations: Operations) -> Caller:
    """The caller that presents this ``Authorization`` header; it takes one of its places until the answer."""
    record = current_request()
    if record is not None and isinstance(record.caller, Caller):
        return record.caller
    caller = authenticator.recall(authorization)
    if caller is None:
        caller = await asyncio.to_thread(authenticator.authenticate, authorization)
    if record is not None:
        record.caller, record.principal = caller, caller.principal
        record.ending.append(operations.requests.take(caller.principal))
    return caller


async def provide_caller(request: Request[object, object, State], state: State) -> Caller:
    """The one who asks; handlers ask for it as ``caller``."""
    shown = request.headers.get("authorization")
    caller = await identify(cast("Authenticator", state.authenticator), shown, state.operations)
    request.state.caller = caller
    return caller


def provide_lakes(caller: NamedDependency[Caller], state: State) -> ServedLakes:
    """The lakes that there are for whoever asks; asked for by handlers as ``lakes``."""
    return visible_lakes(state.lakes, caller)


def visible_lakes(lakes: ServedLakes, caller: Caller) -> ServedLakes:
    """Those of the lakes that the caller's credentials are good for."""
    return lakes if caller.lake is None else lakes.only(caller.lake)
