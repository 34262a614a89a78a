"""How does somebody sign in at an issuer's own page? The browser goes there, and comes back with a code.

    began = sign_in.begin("https://lake.example.com/console/sign-in/issuer/back", "/console/lakes/main")
    began.address                                   # the page of the issuer
    sign_in.finish(began.pending, state, code)      # an ID token, good for what a bearer token is good for

OpenID Connect's authorization code with PKCE: what comes back is worth something only to whoever began, and
the token goes from the issuer to this server, never through an address.
"""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

import msgspec
import urllib3
from joserfc import jws
from joserfc.errors import JoseError

from headgate.catalog.ports.access import invalid_token_error
from headgate.errors import CatalogUnavailable, InvalidRequest
from headgate.server import small_answers
from headgate.server.auth.issuer_keys import DISCOVERY, Fetch, fetch_document
from headgate.server.trusted_issuers import TrustedIssuer, check_address

_TIMEOUT = urllib3.Timeout(connect=5, read=10)
_SECRET_BYTES = 32

Post = Callable[[str, Mapping[str, str]], bytes]


class PendingSignIn(msgspec.Struct, frozen=True):
    """A sign-in that has begun; whoever brings it back with the issuer's answer is who began it."""

    issuer: str
    state: str
    nonce: str
    verifier: str
    redirect_uri: str
    following: str
    expires_ms: int


@dataclass(frozen=True, slots=True)
class BegunSignIn:
    """Where the browser goes, and what it must bring back."""

    address: str
    pending: PendingSignIn


def post_form(url: str, fields: Mapping[str, str]) -> bytes:
    """The answer to a form, if it is small, soon there, and no redirection to another place."""
    return small_answers.ask_issuer(url, _TIMEOUT, small_answers.form_body(fields))


@dataclass(frozen=True, slots=True)
class IssuerSignIn:
    """Signs people in at one issuer."""

    trusted: TrustedIssuer
    fetch: Fetch = fetch_document
    post: Post = post_form
    _endpoints: dict[str, str] = field(default_factory=dict)
    """Where the issuer says to go, heard once; asked anew after it did not answer there."""

    @property
    def host(self) -> str:
        """What the issuer is called on the page where one signs in."""
        return urlsplit(self.trusted.issuer).hostname or self.trusted.issuer

    def begin(self, redirect_uri: str, following: str, expires_ms: int) -> BegunSignIn:
        """Send somebody to the issuer's page."""
        state, nonce, verifier = (secrets.token_urlsafe(_SECRET_BYTES) for _ in range(3))
        asked = {
            "response_type": "code",
            "client_id": self.trusted.client_id or "",
            "redirect_uri": redirect_uri,
            "scope": "openid",
            "state": state,
            "nonce": nonce,
            "code_challenge": _challenge(verifier),
            "code_challenge_method": "S256",
        }
        page = self._endpoint("authorization_endpoint")
        address = f"{page}{'&' if '?' in page else '?'}{urlencode(asked)}"
        pending = PendingSignIn(
            self.trusted.issuer, state, nonce, verifier, redirect_uri, following, expires_ms
        )
        return BegunSignIn(address, pending)

    def finish(self, pending: PendingSignIn, state: str, code: str) -> str:
        """The ID token for a code; ``NotAuthenticated`` if the answer is not to what was begun.

        Its signature, audience and times are for the authenticator to look at, as those of any token.
        """
        if not hmac.compare_digest(pending.state.encode(), state.encode()) or not code:
            raise invalid_token_error()
        fields = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": pending.redirect_uri,
            "client_id": self.trusted.client_id or "",
            "code_verifier": pending.verifier,
        }
        try:
            answer = msgspec.json.decode(self.post(self._endpoint("token_endpoint"), fields))
        except (urllib3.exceptions.HTTPError, msgspec.DecodeError) as exc:
            self._endpoints.clear()
            raise self._unavailable_error() from exc
        token = answer.get("id_token") if isinstance(answer, dict) else None
        if not isinstance(token, str) or not hmac.compare_digest(_nonce(token), pending.nonce.encode()):
            raise invalid_token_error()
        return token

    def _endpoint(self, name: str) -> str:
        if name not in self._endpoints:
            self._endpoints[name] = self._ask_for_endpoint(name)
        return self._endpoints[name]

    def _ask_for_endpoint(self, name: str) -> str:
        try:
            content = self.fetch(check_address(self.trusted.issuer.rstrip("/") + DISCOVERY))
            about = msgspec.json.decode(content)
            if not isinstance(about, dict) or about.get("issuer") != self.trusted.issuer:
                raise ValueError("the issuer calls itself otherwise")
            return check_address(str(about.get(name)))
        except (urllib3.exceptions.HTTPError, msgspec.DecodeError, InvalidRequest, ValueError) as exc:
            raise self._unavailable_error() from exc

    def _unavailable_error(self) -> CatalogUnavailable:
        return CatalogUnavailable(
            f"the issuer {self.trusted.issuer!r} does not answer as one does at the moment: try again soon, "
            "or sign in with a token"
        )


def issuer_sign_ins(issuers: tuple[TrustedIssuer, ...]) -> tuple[IssuerSignIn, ...]:
    """Those of the issuers at whose pages one can sign in."""
    return tuple(IssuerSignIn(each) for each in issuers if each.client_id is not None)


def _challenge(verifier: str) -> str:
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def _nonce(token: str) -> bytes:
    """What a token says it answers to; its signature is looked at elsewhere."""
    try:
        said: Any = msgspec.json.decode(jws.extract_compact(token.encode("ascii")).payload)
    except (JoseError, ValueError) as exc:
        raise invalid_token_error() from exc
    found = said.get("nonce") if isinstance(said, dict) else None
    return found.encode() if isinstance(found, str) else b""
