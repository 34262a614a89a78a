"""Is this token of an issuer that is trusted, for us, and still good? And who is it, then?

Nothing that a token says of itself is believed before its signature was: its header only chooses among the
keys of issuers that are configured, and among algorithms that take a key which is public.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from joserfc import jws, jwt
from joserfc.errors import JoseError

from headgate.catalog.ports.access import (
    OWNER,
    ScopedPrincipal,
    acting_principal,
    invalid_token_error,
    parse_group,
)
from headgate.clock import World
from headgate.errors import InvalidRequest
from headgate.server.auth.issuer_keys import Fetch, IssuerKeys, fetch_document
from headgate.server.trusted_issuers import TrustedIssuer, check_issuer

LEEWAY_SECONDS = 60
"""By how much clocks may differ."""
MAX_LIFETIME_SECONDS = 24 * 60 * 60
"""How much longer a token may be good for; one that never ends is refused (T8)."""
_MAX_GROUPS = 200


@dataclass(frozen=True, slots=True)
class VerifiedToken:
    """Who a token stands for, and until when."""

    principal: ScopedPrincipal
    expires_ms: int


class TokenVerifier:
    """Tells whose a token of an issuer is; safe to share between threads."""

    def __init__(
        self, issuers: tuple[TrustedIssuer, ...], world: World, fetch: Fetch = fetch_document
    ) -> None:
        for each in issuers:
            check_issuer(each)
        self._world = world
        self._issuers = {each.issuer: each for each in issuers}
        self._keys = {each.issuer: IssuerKeys(each.issuer, each.jwks_url, world, fetch) for each in issuers}

    def verify(self, token: str) -> VerifiedToken:
        """The principal that shows this token; ``NotAuthenticated`` if it is not good, for any reason."""
        try:
            return self._verified(token)
        except (JoseError, InvalidRequest, ValueError, TypeError, KeyError, RecursionError):
            # Without the cause, which may quote the token.
            raise invalid_token_error() from None

    def _verified(self, token: str) -> VerifiedToken:
        unproven = jws.extract_compact(token.encode("ascii"))
        claimed = msgspec.json.decode(unproven.payload, type=dict[str, Any])
        trusted = self._issuers[claimed["iss"]]
        key = self._keys[trusted.issuer].find_key(str(unproven.headers()["kid"]))
        if key is None:
            raise invalid_token_error()
        claims = jwt.decode(token, key, algorithms=list(trusted.algorithms)).claims
        return self._read(trusted, claims)

    def _read(self, trusted: TrustedIssuer, claims: Mapping[str, Any]) -> VerifiedToken:
        now = self._world.now_ms() / 1000
        audience = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
        expires, begins = _moment(claims["exp"]), _moment(claims.get("nbf", 0))
        is_good = (
            claims["iss"] == trusted.issuer
            and not set(trusted.audiences).isdisjoint(audience)
            and now < expires + LEEWAY_SECONDS
            and expires <= now + MAX_LIFETIME_SECONDS + LEEWAY_SECONDS
            and begins <= now + LEEWAY_SECONDS
        )
        if not is_good:
            raise invalid_token_error()
        return VerifiedToken(_principal(trusted, claims), int(expires * 1000))


def _principal(trusted: TrustedIssuer, claims: Mapping[str, Any]) -> ScopedPrincipal:
    said = claims[trusted.principal_claim]
    if not isinstance(said, str) or not said:
        raise invalid_token_error()
    name = acting_principal(trusted.principal_prefix + said)
    if name == OWNER:  # which no issuer makes anybody
        raise invalid_token_error()
    groups = claims.get(trusted.groups_claim, []) if trusted.groups_claim is not None else []
    return ScopedPrincipal(name, groups=_groups(groups))


def _groups(said: object) -> list[str]:
    if not isinstance(said, list) or len(said) > _MAX_GROUPS:
        raise invalid_token_error()
    return [str(parse_group(each)) for each in said if isinstance(each, str)]


def _moment(said: object) -> float:
    if isinstance(said, bool) or not isinstance(said, int | float):
        raise invalid_token_error()
    return float(said)
