"""Who gets a token, and for how much? Making tokens, looking them up and taking them back, as use cases.

The lake's owner makes them for everybody. Anybody else makes some for itself; whoever does so by means of a
token gets no more by the new one than by that, nor for longer, and loses it together with that.
"""

import secrets
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from headgate.catalog.database.engine import Database
from headgate.catalog.ports.access import (
    FULL_SCOPE,
    MAX_TOKEN_TTL_MS,
    OWNER,
    CreatedToken,
    CredentialKind,
    Principal,
    ScopedPrincipal,
    StoredToken,
    TokenScope,
    acting_principal,
    invalid_token_error,
    secret_digest,
)
from headgate.catalog.ports.directory import checked_name
from headgate.catalog.store import commit_store, grant_store, token_store
from headgate.clock import World
from headgate.errors import InvalidRequest, NotAllowed
from headgate.protocol.actions import EpochMillis

MAX_TOKENS_PER_PRINCIPAL = 200
MAX_ACCESS_TOKENS_PER_CLIENT = 1_000
_SECRET_BYTES = 32
_LONGEST_LABEL = 255
PREFIXES = {CredentialKind.TOKEN: "hgt_", CredentialKind.CLIENT: "hgs_", CredentialKind.ACCESS: "hga_"}
"""By which people, and those who look for leaked secrets, know one."""


@dataclass(frozen=True, slots=True)
class TokenService:
    """The port ``AccessTokens`` over one database, on behalf of one principal."""

    database: Database
    world: World
    principal: Principal

    def create(
        self,
        principal: str,
        *,
        ttl_ms: int,
        scope: TokenScope = FULL_SCOPE,
        label: str = "",
        kind: CredentialKind = CredentialKind.TOKEN,
    ) -> CreatedToken:
        """A new token, or client, of a principal, for a time."""
        whom = acting_principal(principal)
        if kind is CredentialKind.ACCESS:
            raise InvalidRequest("access tokens are what clients get for their secret: make a client")
        _check_label(label)
        wanted = self._wanted(whom, scope)
        with self.database.writing() as db:
            commit_store.lock_names(db)  # else what is taken back meanwhile could leave something behind
            now = self.world.now_ms()
            parent = self._parent(db, now)
            if token_store.count_live(db, now, principal=str(whom)) >= MAX_TOKENS_PER_PRINCIPAL:
                raise _too_many_error(whom, MAX_TOKENS_PER_PRINCIPAL)
            until = _expiry(now, ttl_ms)
            if parent is not None:
                until = min(until, parent.expires_ms)
            made = StoredToken(
                self.world.uuid(), kind, Principal(str(whom)), wanted, label, Principal(str(self.principal)),
                EpochMillis(now), until, None if parent is None else parent.token_id,
            )  # fmt: skip
            return self._keep(db, made)

    def exchange(self, client_id: str, secret: str, *, ttl_ms: int) -> CreatedToken:
        """A token that ends soon, for a client; ``NotAuthenticated`` if it is none."""
        self._check_owner()
        with self.database.writing() as db:
            commit_store.lock_names(db)
            now = self.world.now_ms()
            client = token_store.find_by_digest(db, secret_digest(secret), now)
            if client is None or client.kind is not CredentialKind.CLIENT or client.token_id != client_id:
                raise invalid_token_error()
            if token_store.count_live(db, now, parent_id=client_id) >= MAX_ACCESS_TOKENS_PER_CLIENT:
                raise _too_many_error(client.principal, MAX_ACCESS_TOKENS_PER_CLIENT)
            until = min(_expiry(now, ttl_ms), client.expires_ms)
            made = replace(
                client, token_id=self.world.uuid(), kind=CredentialKind.ACCESS, created_ms=EpochMillis(now),
                expires_ms=until, parent_id=client_id, created_by=client.principal,
            )  # fmt: skip
            return self._keep(db, made)

    def authenticate(self, secret: str) -> StoredToken:
        """The token with this secret; ``NotAuthenticated`` if there is none."""
        self._check_owner()
        with self.database.reading() as db:
            found = token_store.find_by_digest(db, secret_digest(secret), self.world.now_ms())
        if found is None or found.kind is CredentialKind.CLIENT:
            raise invalid_token_error()
        return found

    def tokens(self) -> tuple[StoredToken, ...]:
        """What was given out and has not ended, for the lake's owner; else one's own."""
        mine = None if self.principal == OWNER else self.principal
        with self.database.reading() as db:
            found = token_store.live_tokens(db, mine, self.world.now_ms())
        return tuple(token for token in found if token.kind is not CredentialKind.ACCESS)

    def revoke(self, token_id: str) -> bool:
        """Take a token back, with all that were made by means of it; whether there was one, of one's own."""
        with self.database.writing() as db:
            commit_store.lock_names(db)
            found = token_store.find_by_id(db, token_id)
            if found is None or self.principal not in (OWNER, found.principal):
                return False
            if not grant_store.credential_scope(self.principal).contains(found.scope):
                return False  # whoever found a token that is good for little cannot take the others away
            token_store.delete_with_descendants(db, token_id)
        return True

    def _wanted(self, whom: Principal, scope: TokenScope) -> TokenScope:
        """The scope of a new token, after asking whether it is this principal's to give."""
        schema = None if scope.schema is None else checked_name(scope.schema)
        wanted = replace(scope, schema=schema)
        ScopedPrincipal(whom, wanted)  # which nobody who owns the lake can be, unless it is all of it
        if self.principal not in (OWNER, whom):
            raise NotAllowed(
                f"{self.principal} may make tokens for itself alone: those of others the lake's owner makes",
                operation="create token",
            )
        if not grant_store.credential_scope(self.principal).contains(wanted):
            raise NotAllowed(
                "a token cannot make another that is good for more than itself: ask for as little, or less",
                operation="create token",
            )
        return wanted

    def _parent(self, db: Connection, now: int) -> StoredToken | None:
        """The token by means of which this principal acts, if it is by one."""
        shown = self.principal.token_id if isinstance(self.principal, ScopedPrincipal) else None
        if shown is None:
            return None
        parent = token_store.find_by_id(db, shown)
        if parent is None or parent.expires_ms <= now:
            raise invalid_token_error()
        return parent

    def _keep(self, db: Connection, made: StoredToken) -> CreatedToken:
        secret = PREFIXES[made.kind] + secrets.token_urlsafe(_SECRET_BYTES)
        token_store.delete_expired(db, made.created_ms)
        token_store.insert_token(db, made, secret_digest(secret))
        return CreatedToken(made, secret)

    def _check_owner(self) -> None:
        if self.principal != OWNER:
            raise NotAllowed("only a server asks whose a secret is, on behalf of the lake's owner")


def _expiry(now: int, ttl_ms: int) -> EpochMillis:
    if not 0 < ttl_ms <= MAX_TOKEN_TTL_MS:
        days = MAX_TOKEN_TTL_MS // (24 * 60 * 60 * 1000)
        raise InvalidRequest(f"a token is for some time, and for {days} days at most: ask for another time")
    return EpochMillis(now + ttl_ms)


def _check_label(label: str) -> None:
    if len(label) > _LONGEST_LABEL or not (label.isprintable() or not label):
        raise InvalidRequest(f"the label of a token has at most {_LONGEST_LABEL} printable characters")


def _too_many_error(principal: Principal, limit: int) -> NotAllowed:
    return NotAllowed(
        f"{principal} has {limit} tokens that have not ended, and nobody has more: take some back first",
        code="HEADGATE_TOO_MANY_TOKENS", principal=str(principal), limit=limit,
    )  # fmt: skip
