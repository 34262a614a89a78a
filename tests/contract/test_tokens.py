"""Tokens: kept by a digest, good for so much and so long, and taken back with what was made by them."""

from pathlib import Path

import pytest

from headgate.catalog.access.token_service import MAX_TOKENS_PER_PRINCIPAL
from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.access import (
    FULL_SCOPE,
    MAX_TOKEN_TTL_MS,
    CreatedToken,
    CredentialKind,
    ScopedPrincipal,
    TokenScope,
    secret_digest,
)
from headgate.catalog.targets import DATABASE_FILE
from headgate.errors import InvalidRequest, NotAllowed, NotAuthenticated
from headgate.redaction import redact
from tests.support.catalogs import a_catalog
from tests.support.world import StillWorld

CATALOGS = ("sqlite", "postgresql")
"""Whose a secret is, is asked behind a server alone."""
HOUR = 3_600_000
READ_ONLY = TokenScope(read_only=True)


def acting_by(catalog: Catalog, created: CreatedToken) -> Catalog:
    """The catalog, for who shows this token."""
    found = catalog.tokens.authenticate(created.secret)
    return catalog.acting_as(ScopedPrincipal(found.principal, found.scope, token_id=found.token_id))


def test_a_token_is_known_by_its_secret_until_it_is_taken_back(catalog: Catalog) -> None:
    scope = TokenScope(read_only=True, schema="Sales")
    made = catalog.tokens.create("ana", ttl_ms=HOUR, scope=scope, label="laptop")

    found = catalog.tokens.authenticate(made.secret)

    assert found == made.token
    assert (found.principal, found.scope, found.label) == ("ana", TokenScope(True, "sales"), "laptop")
    assert catalog.tokens.tokens() == (found,)
    assert catalog.tokens.revoke(found.token_id)
    assert not catalog.tokens.revoke(found.token_id)
    with pytest.raises(NotAuthenticated):
        catalog.tokens.authenticate(made.secret)


def test_a_token_ends(tmp_path: Path) -> None:
    world = StillWorld()
    with a_catalog("sqlite", tmp_path) as catalog:
        catalog._world = world
        made = catalog.tokens.create("ana", ttl_ms=HOUR)
        world.now += HOUR - 1
        assert catalog.tokens.authenticate(made.secret) == made.token

        world.now += 1

        with pytest.raises(NotAuthenticated):
            catalog.tokens.authenticate(made.secret)
        assert catalog.tokens.tokens() == ()


def test_t15_what_is_kept_is_no_secret_and_what_is_shown_neither(tmp_path: Path) -> None:
    with a_catalog("sqlite", tmp_path) as catalog:
        made = catalog.tokens.create("ana", ttl_ms=HOUR)
        catalog.tokens.create("ana", ttl_ms=HOUR, kind=CredentialKind.CLIENT)
        shown = repr(made) + str(made) + repr(catalog.tokens.tokens())
    kept = b"".join(path.read_bytes() for path in tmp_path.glob(f"{DATABASE_FILE}*"))

    assert secret_digest(made.secret).encode() in kept
    assert made.secret.encode() not in kept
    assert made.secret not in shown
    assert made.secret not in redact(f"something went wrong with {made.secret}")
    assert len(made.secret) >= 43  # 256 bits


def test_two_secrets_are_never_the_same(catalog: Catalog) -> None:
    assert len({catalog.tokens.create("ana", ttl_ms=HOUR).secret for _ in range(5)}) == 5


@pytest.mark.parametrize("ttl_ms", [0, -1, MAX_TOKEN_TTL_MS + 1])
def test_a_token_is_for_some_time(catalog: Catalog, ttl_ms: int) -> None:
    with pytest.raises(InvalidRequest, match="at most"):
        catalog.tokens.create("ana", ttl_ms=ttl_ms)


@pytest.mark.parametrize(
    ("principal", "scope"), [("external", FULL_SCOPE), ("group:x", FULL_SCOPE), ("owner", READ_ONLY)]
)
def test_some_have_no_token(catalog: Catalog, principal: str, scope: TokenScope) -> None:
    with pytest.raises(InvalidRequest):
        catalog.tokens.create(principal, ttl_ms=HOUR, scope=scope)


def test_others_make_tokens_for_themselves_alone_and_see_their_own(catalog: Catalog) -> None:
    theirs = catalog.tokens.create("bob", ttl_ms=HOUR)
    ana = catalog.acting_as("ana").tokens

    mine = ana.create("ana", ttl_ms=HOUR)

    with pytest.raises(NotAllowed, match="for itself alone"):
        ana.create("bob", ttl_ms=HOUR)
    with pytest.raises(NotAllowed, match="for itself alone"):
        ana.create("owner", ttl_ms=HOUR)
    assert ana.tokens() == (mine.token,)
    assert not ana.revoke(theirs.token.token_id)
    assert catalog.tokens.authenticate(theirs.secret) == theirs.token


def test_a_token_makes_none_that_is_good_for_more_or_longer(catalog: Catalog) -> None:
    first = catalog.tokens.create("ana", ttl_ms=HOUR, scope=TokenScope(schema="sales"))
    ana = acting_by(catalog, first).tokens

    for wider in (FULL_SCOPE, READ_ONLY, TokenScope(schema="other")):
        with pytest.raises(NotAllowed, match="good for more"):
            ana.create("ana", ttl_ms=HOUR, scope=wider)
    made = ana.create("ana", ttl_ms=HOUR * 9, scope=TokenScope(read_only=True, schema="sales"))

    assert made.token.expires_ms == first.token.expires_ms
    assert made.token.parent_id == first.token.token_id


def test_what_was_made_by_a_token_goes_with_it(catalog: Catalog) -> None:
    first = catalog.tokens.create("ana", ttl_ms=HOUR)
    second = acting_by(catalog, first).tokens.create("ana", ttl_ms=HOUR)
    third = acting_by(catalog, second).tokens.create("ana", ttl_ms=HOUR)
    late = acting_by(catalog, third)

    catalog.tokens.revoke(first.token.token_id)

    for made in (first, second, third):
        with pytest.raises(NotAuthenticated):
            catalog.tokens.authenticate(made.secret)
    with pytest.raises(NotAuthenticated):
        late.tokens.create("ana", ttl_ms=HOUR)


def test_who_has_a_token_for_little_does_not_take_the_others_away(catalog: Catalog) -> None:
    full = catalog.tokens.create("ana", ttl_ms=HOUR)
    little = catalog.tokens.create("ana", ttl_ms=HOUR, scope=READ_ONLY)
    ana = acting_by(catalog, little).tokens

    assert not ana.revoke(full.token.token_id)
    assert ana.revoke(little.token.token_id)


def test_a_client_gets_tokens_that_end_soon_and_with_it(catalog: Catalog) -> None:
    client = catalog.tokens.create("etl", ttl_ms=HOUR, scope=READ_ONLY, kind=CredentialKind.CLIENT)
    with pytest.raises(NotAuthenticated):  # its secret is for exchanging alone
        catalog.tokens.authenticate(client.secret)

    made = catalog.tokens.exchange(client.token.token_id, client.secret, ttl_ms=60_000)

    found = catalog.tokens.authenticate(made.secret)
    assert (found.kind, found.principal, found.scope) == (CredentialKind.ACCESS, "etl", READ_ONLY)
    assert found.expires_ms == found.created_ms + 60_000
    assert catalog.tokens.tokens() == (client.token,)
    catalog.tokens.revoke(client.token.token_id)
    with pytest.raises(NotAuthenticated):
        catalog.tokens.authenticate(made.secret)


def test_only_a_client_is_exchanged_and_only_by_its_own_id(catalog: Catalog) -> None:
    client = catalog.tokens.create("etl", ttl_ms=HOUR, kind=CredentialKind.CLIENT)
    other = catalog.tokens.create("other", ttl_ms=HOUR, kind=CredentialKind.CLIENT)
    token = catalog.tokens.create("ana", ttl_ms=HOUR)

    for client_id, secret in (
        (client.token.token_id, other.secret),
        (client.token.token_id, ""),
        ("", client.secret),
        (token.token.token_id, token.secret),
    ):
        with pytest.raises(NotAuthenticated):
            catalog.tokens.exchange(client_id, secret, ttl_ms=60_000)
    with pytest.raises(InvalidRequest, match="make a client"):
        catalog.tokens.create("ana", ttl_ms=HOUR, kind=CredentialKind.ACCESS)


def test_t10_nobody_has_any_number_of_tokens(tmp_path: Path) -> None:
    with a_catalog("sqlite", tmp_path) as catalog:
        ana = catalog.acting_as("ana").tokens
        for _ in range(MAX_TOKENS_PER_PRINCIPAL):
            ana.create("ana", ttl_ms=HOUR)

        with pytest.raises(NotAllowed, match="nobody has more"):
            ana.create("ana", ttl_ms=HOUR)
