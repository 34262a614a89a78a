"""Who shows this ``Authorization`` header? Whoever one of the three kinds of tokens stands for.

What was found out is remembered for a few seconds at most, so a token that is taken back is good for no
longer than that, and not even that where it was taken back through this process.
"""

import hmac
import threading
from dataclasses import dataclass, field

from headgate.catalog.ports.access import (
    OWNER,
    Principal,
    ScopedPrincipal,
    invalid_token_error,
    secret_digest,
)
from headgate.clock import World
from headgate.errors import InvalidRequest, NotAuthenticated
from headgate.server.auth.oidc import TokenVerifier
from headgate.server.caller import Caller
from headgate.server.lakes import ServedLakes

REMEMBERED_MS = 2_000
LONGEST_REMEMBERED_MS = 5_000
_MOST_REMEMBERED = 10_000
_LONGEST_TOKEN = 16 * 1024
_TOKEN_MARKS = ("hgt_", "hga_")


@dataclass(frozen=True, slots=True)
class _Remembered:
    caller: Caller
    until_ms: int


@dataclass(slots=True)
class CredentialAuthenticator:
    """The ``Authenticator`` of a server that others reach too; safe to share between threads."""

    lakes: ServedLakes
    world: World
    admin_digest: str | None = None
    """``secret_digest`` of the admin's token; None if there is none."""
    issuers: TokenVerifier | None = None
    remembered_ms: int = REMEMBERED_MS
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _known: dict[str, _Remembered] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 0 <= self.remembered_ms <= LONGEST_REMEMBERED_MS:
            raise InvalidRequest(
                f"tokens are remembered for {LONGEST_REMEMBERED_MS} milliseconds at most: for that long one "
                "is good after it was taken back"
            )

    def authenticate(self, authorization: str | None) -> Caller:
        """The caller that presents this header; ``NotAuthenticated`` if nobody can tell."""
        if (recalled := self.recall(authorization)) is not None:
            return recalled
        token, now = bearer_token(authorization), self.world.now_ms()
        digest = secret_digest(token)
        caller, expires_ms = self._look_up(token, digest)
        self._remember(digest, _Remembered(caller, min(now + self.remembered_ms, expires_ms)))
        return caller

    def recall(self, authorization: str | None) -> Caller | None:
        """The same without asking anybody, if it was found out a moment ago; None if it was not."""
        known = self._known.get(secret_digest(bearer_token(authorization)))
        return known.caller if known is not None and self.world.now_ms() < known.until_ms else None

    def forget_validations(self) -> None:
        """Ask anew of every token, because one was taken back."""
        with self._lock:
            self._known.clear()

    def _remember(self, digest: str, found: _Remembered) -> None:
        with self._lock:
            if len(self._known) >= _MOST_REMEMBERED:
                self._known.clear()
            self._known[digest] = found

    def _look_up(self, token: str, digest: str) -> tuple[Caller, int]:
        if self.admin_digest is not None and hmac.compare_digest(digest, self.admin_digest):
            return Caller(OWNER), self.world.now_ms() + self.remembered_ms
        if token.startswith(_TOKEN_MARKS):
            return self._of_a_lake(token)
        if self.issuers is not None and token.count(".") == 2:
            found = self.issuers.verify(token)
            return Caller(Principal(found.principal)), found.expires_ms
        raise invalid_token_error()

    def _of_a_lake(self, token: str) -> tuple[Caller, int]:
        for lake in self.lakes:
            try:
                found = lake.catalog.tokens.authenticate(token)
            except NotAuthenticated:
                continue
            principal = ScopedPrincipal(found.principal, found.scope, token_id=found.token_id)
            return Caller(Principal(principal), lake.name), found.expires_ms
        raise invalid_token_error()


def bearer_token(authorization: str | None) -> str:
    """The token of an ``Authorization`` header; ``NotAuthenticated`` if it has none."""
    scheme, _, token = (authorization or "").strip().partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token:
        raise NotAuthenticated(
            "this server must know who asks: send a token with the header Authorization: Bearer …"
        )
    if len(token) > _LONGEST_TOKEN or not token.isascii():
        raise invalid_token_error()
    return token
