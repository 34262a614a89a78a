"""The tokens of a lake: made, listed and taken back."""

import msgspec
from litestar import delete, get, post
from litestar.datastructures import State
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody

from headgate.catalog.ports.access import CredentialKind, StoredToken, TokenScope
from headgate.server.caller import Caller
from headgate.server.lakes import ServedLakes

_DEFAULT_SECONDS = 90 * 24 * 60 * 60


class TokenRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What kind of token is asked for; for oneself, unless a principal is named."""

    principal: str | None = None
    ttl_seconds: int = _DEFAULT_SECONDS
    read_only: bool = False
    schema: str | None = None
    label: str = ""
    client: bool = False


class TokenAnswer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A token without its secret, which is told only to the one who has just made it."""

    token_id: str
    kind: str
    principal: str
    read_only: bool
    schema: str | None
    label: str
    created_by: str
    created_ms: int
    expires_ms: int
    secret: str | None = None


class TokenList(msgspec.Struct, frozen=True):
    """The tokens that have not ended."""

    tokens: tuple[TokenAnswer, ...]


def _described(token: StoredToken, secret: str | None = None) -> TokenAnswer:
    return TokenAnswer(
        token_id=token.token_id,
        kind=token.kind.value,
        principal=str(token.principal),
        read_only=token.scope.read_only,
        schema=token.scope.schema,
        label=token.label,
        created_by=str(token.created_by),
        created_ms=token.created_ms,
        expires_ms=token.expires_ms,
        secret=secret,
    )


@post("/lakes/{lake:str}/tokens", status_code=201, sync_to_thread=True)
def create_token(
    lake: FromPath[str],
    data: JSONBody[TokenRequest],
    caller: NamedDependency[Caller],
    lakes: NamedDependency[ServedLakes],
) -> TokenAnswer:
    """Make a token, or a client; its secret is told here and never again."""
    made = (
        lakes.find(lake)
        .catalog_for(caller.principal)
        .tokens.create(
            str(caller.principal) if data.principal is None else data.principal,
            ttl_ms=data.ttl_seconds * 1000,
            scope=TokenScope(data.read_only, data.schema),
            label=data.label,
            kind=CredentialKind.CLIENT if data.client else CredentialKind.TOKEN,
        )
    )
    return _described(made.token, made.secret)


@get("/lakes/{lake:str}/tokens", status_code=200, sync_to_thread=True)
def list_tokens(
    lake: FromPath[str], caller: NamedDependency[Caller], lakes: NamedDependency[ServedLakes]
) -> TokenList:
    """The tokens that have not ended: all of them, for the owner, or one's own."""
    found = lakes.find(lake).catalog_for(caller.principal).tokens.tokens()
    return TokenList(tuple(map(_described, found)))


@delete("/lakes/{lake:str}/tokens/{token_id:str}", status_code=200, sync_to_thread=True)
def revoke_token(
    lake: FromPath[str],
    token_id: FromPath[str],
    caller: NamedDependency[Caller],
    lakes: NamedDependency[ServedLakes],
    state: State,
) -> dict[str, bool]:
    """Take a token back, with those made by means of it; whether there was one, of one's own."""
    revoked = lakes.find(lake).catalog_for(caller.principal).tokens.revoke(token_id)
    state.authenticator.forget_validations()
    return {"revoked": revoked}


@get("/me", status_code=200, sync_to_thread=False)
def who_am_i(caller: NamedDependency[Caller]) -> dict[str, object]:
    """By which name, and for how much, the credentials of this request are good."""
    return {
        "principal": str(caller.principal),
        "lake": caller.lake,
        "read_only": caller.scope.read_only,
        "schema": caller.scope.schema,
    }
