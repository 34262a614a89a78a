"""By which token is somebody known? Tokens that a catalog gives out, keeps a digest of, and takes back.

A token is a secret of 256 random bits, shown once, when it is made. A client is an id and such a secret,
which are exchanged for tokens that end soon. What is kept cannot be turned back into a secret.
"""

import hashlib
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from typing_extensions import override

from headgate.catalog.ports.access.principals import FULL_SCOPE, Principal, TokenScope
from headgate.errors import NotAuthenticated
from headgate.protocol.actions import EpochMillis

MAX_TOKEN_TTL_MS = 366 * 24 * 60 * 60 * 1000


class CredentialKind(Enum):
    """What a secret is good for."""

    TOKEN = "token"
    """To be shown with every request."""
    CLIENT = "client"
    """To be exchanged, together with its id, for tokens that end soon."""
    ACCESS = "access"
    """Such a token: shown with every request, by a client."""


@dataclass(frozen=True, slots=True)
class StoredToken:
    """A token as the catalog keeps it, without its secret."""

    token_id: str
    kind: CredentialKind
    principal: Principal
    scope: TokenScope
    label: str
    created_by: Principal
    created_ms: EpochMillis
    expires_ms: EpochMillis
    parent_id: str | None = None
    """The token or client with which it was made, and with which it goes."""


@dataclass(frozen=True, slots=True)
class CreatedToken:
    """A new token, and its secret, which nobody can ask for again."""

    token: StoredToken
    secret: str

    @override
    def __repr__(self) -> str:
        """Without the secret: this is what logs and tracebacks show."""
        return f"CreatedToken({self.token!r}, secret=***)"


def secret_digest(secret: str) -> str:
    """What is kept of a secret: 256 random bits cannot be guessed, so nothing slower is needed."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def invalid_token_error() -> NotAuthenticated:
    """The error for whatever is no token, or none any more: which of the two it is nobody is told."""
    return NotAuthenticated(
        "the credentials of this request are not known, have ended or were taken back: ask the owner of the "
        "lake for a token, which headgate token create makes"
    )


class AccessTokens(Protocol):
    """The tokens of one catalog; the lake's owner makes them for everybody, others for themselves."""

    def create(
        self,
        principal: str,
        *,
        ttl_ms: int,
        scope: TokenScope = FULL_SCOPE,
        label: str = "",
        kind: CredentialKind = CredentialKind.TOKEN,
    ) -> CreatedToken:
        """A new token, or client, of a principal, for a time.

        Whoever makes one for itself by means of a token gets none that is good for more, or for longer.
        """
        ...

    def exchange(self, client_id: str, secret: str, *, ttl_ms: int) -> CreatedToken:
        """A token that ends soon, for a client; ``NotAuthenticated`` if it is none. For the lake's owner."""
        ...

    def authenticate(self, secret: str) -> StoredToken:
        """The token with this secret; ``NotAuthenticated`` if there is none. For the lake's owner."""
        ...

    def tokens(self) -> tuple[StoredToken, ...]:
        """What was given out and has not ended, for the lake's owner; else one's own."""
        ...

    def revoke(self, token_id: str) -> bool:
        """Take a token back, with all that were made by means of it; whether there was one, of one's own."""
        ...
