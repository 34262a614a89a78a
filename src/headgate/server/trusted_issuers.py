"""Whose tokens are trusted besides those of the lakes? Issuers of OpenID Connect, each with what it is for.

For example, in the file of a server's settings::

    [[issuers]]
    issuer = "https://id.example.com/realms/data"
    audiences = ["headgate"]
    groups_claim = "groups"
"""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec

from headgate.errors import InvalidRequest

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Those whose keys check signatures and cannot make any: no HS256, and no ``none``."""
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


class TrustedIssuer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An issuer whose tokens are accepted, and how they are read."""

    issuer: str
    """Exactly as tokens have it in ``iss``."""
    audiences: tuple[str, ...]
    """Of which a token must name one in ``aud``."""
    jwks_url: str | None = None
    """Where its keys are; without it the issuer is asked."""
    principal_claim: str = "sub"
    principal_prefix: str = ""
    """Before every name: keeps apart those whom two issuers call the same."""
    groups_claim: str | None = None
    algorithms: tuple[str, ...] = ("RS256", "ES256")
    client_id: str | None = None
    """By which the console is known to it, if people sign in at its page; one of the audiences."""


def read_issuers(written: Sequence[Mapping[str, Any]]) -> tuple[TrustedIssuer, ...]:
    """The issuers of a file; refused if one would let in whoever likes to come."""
    try:
        found = tuple(msgspec.convert(dict(each), TrustedIssuer) for each in written)
    except (msgspec.ValidationError, TypeError, ValueError) as exc:
        raise InvalidRequest(f"each of [[issuers]] has an issuer, and a list of audiences: {exc}") from exc
    for each in found:
        check_issuer(each)
    if len({each.issuer for each in found}) < len(found):
        raise InvalidRequest("two of [[issuers]] are the same: name all audiences of an issuer at once")
    return found


def check_address(url: str) -> str:
    """An address from which keys may be had: nobody on the way can put others in their place."""
    parts = urlsplit(url)
    if parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        return url
    raise InvalidRequest(f"keys come by https alone, or from this machine, and not from {url!r}")


def check_issuer(trusted: TrustedIssuer) -> None:
    """Refuse an issuer whose tokens could be anybody's."""
    if not trusted.issuer or not trusted.audiences or not all(trusted.audiences):
        raise InvalidRequest(
            f"the issuer {trusted.issuer!r} needs a list of audiences: else tokens that it gives to others "
            "would be good here too"
        )
    check_address(trusted.jwks_url or trusted.issuer)
    if trusted.client_id is not None and trusted.client_id not in trusted.audiences:
        raise InvalidRequest(
            f"the client_id {trusted.client_id!r} is no audience of the issuer {trusted.issuer!r}: tokens of "
            "people who sign in at its page would be refused, so name it among the audiences"
        )
    if unsafe := set(trusted.algorithms) - set(ALGORITHMS):
        known = ", ".join(ALGORITHMS)
        raise InvalidRequest(f"{min(unsafe)} is no algorithm with a public key: use some of {known}")
