"""Tokens of issuers: what is wrong with one is found, whatever it is, and keys are asked for seldom."""

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from joserfc.jwk import RSAKey

from headgate.errors import CatalogUnavailable, InvalidRequest, NotAuthenticated
from headgate.server.auth import issuer_keys
from headgate.server.auth.issuer_keys import fetch_document
from headgate.server.auth.oidc import TokenVerifier
from tests.support.issuers import ISSUER, NOW, Issuer, published, trusted
from tests.support.world import StillWorld


@pytest.fixture(scope="module")
def issuer() -> Issuer:
    return Issuer()


def verifier(issuer: Issuer, world: StillWorld | None = None, /, **changes: Any) -> TokenVerifier:
    return TokenVerifier((trusted(**changes),), world or StillWorld(NOW * 1000), issuer.fetch)


@pytest.mark.parametrize(("kid", "alg"), [("rsa", "RS256"), ("ec", "ES256")])
def test_a_good_token_says_who_it_is_and_until_when(issuer: Issuer, kid: str, alg: str) -> None:
    found = verifier(issuer).verify(issuer.token(kid=kid, alg=alg))

    assert (found.principal, found.expires_ms) == ("ana", (NOW + 300) * 1000)
    assert found.principal.groups == frozenset()


def _unsigned(issuer: Issuer) -> str:
    _, body, _ = issuer.token().split(".")
    header = json.dumps({"alg": "none", "kid": "rsa"}).encode()
    return f"{base64.urlsafe_b64encode(header).rstrip(b'=').decode()}.{body}."


def _altered(issuer: Issuer) -> str:
    head, _, signature = issuer.token().split(".")
    _, body, _ = issuer.token(sub="eve").split(".")
    return f"{head}.{body}.{signature}"


BAD: dict[str, Callable[[Issuer], str]] = {
    "no signature": _unsigned,
    "the public key as a secret": lambda i: i.forged(),
    "another body": _altered,
    "another's key": lambda i: i.token(key=RSAKey.generate_key(2048, {"kid": "rsa"})),
    "a key nobody knows": lambda i: i.token(kid="x", key=RSAKey.generate_key(2048, {"kid": "x"})),
    "an algorithm that is not allowed": lambda i: i.token(alg="RS512"),
    "another issuer": lambda i: i.token(iss="https://evil.example.com"),
    "the issuer with a slash": lambda i: i.token(iss="https://id.example.com/realms/a/"),
    "no issuer": lambda i: i.token(iss=None),
    "another audience": lambda i: i.token(aud="others"),
    "other audiences": lambda i: i.token(aud=["others", "more"]),
    "no audience": lambda i: i.token(aud=None),
    "ended": lambda i: i.token(exp=NOW - 61),
    "no end": lambda i: i.token(exp=None),
    "an end far away": lambda i: i.token(exp=NOW + 48 * 3600),
    "an end that is no number": lambda i: i.token(exp="tomorrow"),
    "an end that is true": lambda i: i.token(exp=True),
    "not yet": lambda i: i.token(nbf=NOW + 61),
    "nobody": lambda i: i.token(sub=None),
    "an empty name": lambda i: i.token(sub=""),
    "a number": lambda i: i.token(sub=7),
    "the owner": lambda i: i.token(sub="owner"),
    "external": lambda i: i.token(sub="external"),
    "a group": lambda i: i.token(sub="group:admins"),
    "two lines": lambda i: i.token(sub="ana\nroot"),
    "no token": lambda _: "a.b.c",
    "nothing": lambda _: "..",
    "not ascii": lambda _: "ä.ö.ü",
    "groups that are no list": lambda i: i.token(groups="admins"),
    "too many groups": lambda i: i.token(groups=[f"g{n}" for n in range(201)]),
}


@pytest.mark.parametrize("what", BAD)
def test_t8_a_bad_token_is_refused_without_a_word_why(issuer: Issuer, what: str) -> None:
    token = BAD[what](issuer)

    with pytest.raises(NotAuthenticated) as caught:
        verifier(issuer, groups_claim="groups").verify(token)

    assert token not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    assert "are not known, have ended or were taken back" in caught.value.message


def test_clocks_may_differ_by_a_minute(issuer: Issuer) -> None:
    for claims in ({"exp": NOW - 59}, {"nbf": NOW + 60}, {"exp": NOW + 24 * 3600}):
        assert verifier(issuer).verify(issuer.token(**claims)).principal == "ana"


def test_one_audience_of_several_is_enough(issuer: Issuer) -> None:
    assert verifier(issuer).verify(issuer.token(aud=["others", "headgate"])).principal == "ana"


def test_name_and_groups_are_read_from_the_claims_that_are_configured(issuer: Issuer) -> None:
    reads = verifier(issuer, principal_claim="email", principal_prefix="corp/", groups_claim="roles")

    found = reads.verify(issuer.token(email="ana@example.com", roles=["analysts", 7]))

    assert found.principal == "corp/ana@example.com"
    assert found.principal.groups == {"group:analysts"}


@pytest.mark.parametrize(
    "changes",
    [
        {"audiences": ()},
        {"audiences": ("",)},
        {"issuer": ""},
        {"algorithms": ("none",)},
        {"algorithms": ("HS256",)},
    ],
)
def test_an_issuer_that_would_let_anybody_in_is_not_configured(
    issuer: Issuer, changes: dict[str, Any]
) -> None:
    with pytest.raises(InvalidRequest):
        verifier(issuer, **changes)


def test_keys_are_asked_for_once_and_anew_when_they_are_old() -> None:
    issuer, world = Issuer(), StillWorld(NOW * 1000)
    reads = verifier(issuer, world, jwks_url="https://id.example.com/keys")
    for _ in range(3):
        reads.verify(issuer.token())
    assert issuer.asked == 1

    world.now += issuer_keys.MAX_AGE_MS
    reads.verify(issuer.token(exp=NOW + 1200))

    assert issuer.asked == 2


def test_however_many_keys_are_made_up_the_issuer_is_asked_seldom() -> None:
    issuer, world = Issuer(), StillWorld(NOW * 1000)
    reads = verifier(issuer, world, jwks_url="https://id.example.com/keys")
    key = RSAKey.generate_key(2048, {"kid": "x"})
    for number in range(5):
        with pytest.raises(NotAuthenticated):
            reads.verify(issuer.token(kid=f"x{number}", key=key))
    assert issuer.asked == 1

    issuer.add("new", RSAKey.generate_key(2048, {"kid": "new"}))
    world.now += issuer_keys.MIN_INTERVAL_MS

    assert reads.verify(issuer.token(kid="new")).principal == "ana"
    assert issuer.asked == 2


def test_a_key_that_was_taken_back_is_good_for_minutes_at_most() -> None:
    issuer, world = Issuer(), StillWorld(NOW * 1000)
    reads = verifier(issuer, world)
    token = issuer.token(exp=NOW + 1200)
    reads.verify(token)
    del issuer.keys["rsa"]

    world.now += issuer_keys.MAX_AGE_MS

    with pytest.raises(NotAuthenticated):
        reads.verify(token)


def test_an_issuer_that_is_not_there_is_no_wrong_token() -> None:
    issuer, world = Issuer(), StillWorld(NOW * 1000)

    def fails(_: str) -> bytes:
        raise ValueError("not now")

    reads = TokenVerifier((trusted(),), world, fails)
    for _ in range(2):
        with pytest.raises(CatalogUnavailable, match="try again"):
            reads.verify(issuer.token())


def test_keys_that_are_known_outlive_a_short_absence_of_their_issuer() -> None:
    issuer, world, there = Issuer(), StillWorld(NOW * 1000), [True]

    def fetch(url: str) -> bytes:
        if not there[0]:
            raise ValueError("not now")
        return issuer.fetch(url)

    reads = TokenVerifier((trusted(),), world, fetch)
    reads.verify(issuer.token())
    there[0] = False
    world.now += issuer_keys.MIN_INTERVAL_MS
    with pytest.raises(NotAuthenticated):
        reads.verify(issuer.token(kid="x", key=issuer.keys["rsa"]))
    assert reads.verify(issuer.token()).principal == "ana"

    world.now += issuer_keys.MAX_AGE_MS
    with pytest.raises(CatalogUnavailable):
        reads.verify(issuer.token(exp=NOW + 1200))


def test_keys_come_from_a_real_server(issuer: Issuer) -> None:
    with published(issuer) as url:
        reads = TokenVerifier((trusted(jwks_url=f"{url}/keys"),), StillWorld(NOW * 1000))
        assert reads.verify(issuer.token()).principal == "ana"
        for path in ("/large", "/moved"):
            with pytest.raises(Exception, match="status"):
                fetch_document(url + path)
    reads = TokenVerifier((trusted(jwks_url=f"{url}/keys"),), StillWorld(NOW * 1000))
    with pytest.raises(CatalogUnavailable):
        reads.verify(issuer.token())


@pytest.mark.parametrize(
    "url", ["http://id.example.com/keys", "file:///etc/passwd", "ftp://x", "http://10.0.0.1/k"]
)
def test_keys_come_by_no_way_on_which_others_may_change_them(issuer: Issuer, url: str) -> None:
    with pytest.raises(InvalidRequest, match="https"):
        verifier(issuer, jwks_url=url)
    with pytest.raises(InvalidRequest, match="https"):
        verifier(issuer, issuer=url)


def test_an_issuer_that_sends_us_elsewhere_for_its_keys_is_not_followed(issuer: Issuer) -> None:
    for said in (
        {"issuer": "https://evil", "jwks_uri": "https://evil/keys"},
        {"issuer": ISSUER, "jwks_uri": "ftp://x"},
    ):
        reads = TokenVerifier(
            (trusted(),), StillWorld(NOW * 1000), lambda _, said=said: json.dumps(said).encode()
        )
        with pytest.raises(CatalogUnavailable):
            reads.verify(issuer.token())
