"""With which keys does an issuer sign? As it publishes them, asked for now and then and never too often."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec
import urllib3
from joserfc.errors import JoseError
from joserfc.jwk import Key, KeySet

from headgate.clock import World
from headgate.errors import CatalogUnavailable, InvalidRequest
from headgate.server import small_answers
from headgate.server.trusted_issuers import check_address

MAX_AGE_MS = 10 * 60 * 1000
"""After which keys are asked for anew: one that an issuer took back is good for no longer."""
MIN_INTERVAL_MS = 30 * 1000
"""Between two requests, however many tokens name a key that nobody knows."""
_TIMEOUT = urllib3.Timeout(connect=5, read=5)
DISCOVERY = "/.well-known/openid-configuration"

_NO_KEYS = (
    urllib3.exceptions.HTTPError,
    msgspec.DecodeError,
    JoseError,
    InvalidRequest,
    ValueError,
    TypeError,
)

Fetch = Callable[[str], bytes]


def fetch_document(url: str) -> bytes:
    """What is at an address, if it is small, soon there, and no redirection to another place."""
    return small_answers.ask_issuer(url, _TIMEOUT)


@dataclass(slots=True)
class IssuerKeys:
    """The keys of one issuer; safe to share between threads."""

    issuer: str
    jwks_url: str | None
    world: World
    fetch: Fetch = fetch_document
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _keys: dict[str, Key] = field(default_factory=dict)
    _asked_ms: int | None = None
    _known_ms: int | None = None

    def find_key(self, key_id: str) -> Key | None:
        """The key of that id, asked for anew if it is not known, or was heard of too long ago."""
        with self._lock:
            now = self.world.now_ms()
            is_old = self._known_ms is None or now - self._known_ms >= MAX_AGE_MS
            may_ask = self._asked_ms is None or now - self._asked_ms >= MIN_INTERVAL_MS
            if (is_old or key_id not in self._keys) and may_ask:
                self._asked_ms = now
                self._refresh(now)
            elif is_old:
                raise self._unavailable_error()
            return self._keys.get(key_id)

    def _refresh(self, now: int) -> None:
        try:
            found = msgspec.json.decode(self.fetch(self._address()))
            self._keys = {key.kid: key for key in _signing_keys(found) if key.kid}
        except _NO_KEYS as exc:
            if self._known_ms is None or now - self._known_ms >= MAX_AGE_MS:
                raise self._unavailable_error() from exc
            return  # what is known is good for a while
        self._known_ms = now

    def _address(self) -> str:
        if self.jwks_url is not None:
            return check_address(self.jwks_url)
        about = msgspec.json.decode(self.fetch(check_address(self.issuer.rstrip("/") + DISCOVERY)))
        if not isinstance(about, dict) or about.get("issuer") != self.issuer:
            raise ValueError("the issuer calls itself otherwise")
        return check_address(str(about.get("jwks_uri")))

    def _unavailable_error(self) -> CatalogUnavailable:
        return CatalogUnavailable(
            f"the keys of the issuer {self.issuer!r} cannot be had at the moment, so nobody can tell whether "
            "its tokens are good: try again soon"
        )


def _signing_keys(found: Any) -> list[Key]:
    if not isinstance(found, dict) or not isinstance(found.get("keys"), list):
        raise TypeError("no key set")
    public = [
        key
        for key in found["keys"]
        if isinstance(key, dict) and key.get("kty") in ("RSA", "EC", "OKP") and key.get("use", "sig") == "sig"
    ]
    return list(KeySet.import_key_set({"keys": public}).keys)
