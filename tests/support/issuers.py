"""An OpenID Connect issuer by hand: its keys, its tokens, and a server here that publishes them."""

import base64
import hmac
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

from headgate.server.trusted_issuers import TrustedIssuer
from tests.support.waiting import PATIENCE_SECONDS

ISSUER, AUDIENCE = "https://id.example.com/realms/a", "headgate"
NOW = 1_800_000_000


@dataclass
class Issuer:
    """Signs tokens with keys that it makes."""

    keys: dict[str, Any] = field(default_factory=dict)
    asked: int = 0

    def __post_init__(self) -> None:
        self.add("rsa", RSAKey.generate_key(2048, {"kid": "rsa"}))
        self.add("ec", ECKey.generate_key("P-256", {"kid": "ec"}))

    def add(self, kid: str, key: Any) -> None:
        self.keys[kid] = key

    def jwks(self) -> bytes:
        return json.dumps({"keys": [key.as_dict(private=False) for key in self.keys.values()]}).encode()

    def fetch(self, url: str) -> bytes:
        self.asked += 1
        if url.endswith("openid-configuration"):
            return json.dumps({"issuer": ISSUER, "jwks_uri": f"{ISSUER}/keys"}).encode()
        return self.jwks()

    def token(self, *, kid: str = "rsa", alg: str = "RS256", key: Any = None, **claims: Any) -> str:
        """A good token, but for what is said otherwise; a claim that is None is left out."""
        said = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ana", "exp": NOW + 300, "iat": NOW, **claims}
        header = {"alg": alg, "kid": kid}
        kept = {name: value for name, value in said.items() if value is not None}
        return jwt.encode(header, kept, key or self.keys[kid], algorithms=[alg])

    def forged(self) -> str:
        """A token signed with the public key of the issuer, as if that were a shared secret."""
        _, body, _ = self.token().split(".")
        header = json.dumps({"alg": "HS256", "kid": "rsa"}).encode()
        signed = f"{_base64(header)}.{body}"
        public = self.keys["rsa"].as_pem(private=False)
        return f"{signed}.{_base64(hmac.digest(public, signed.encode(), 'sha256'))}"


def _base64(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def trusted(**changes: Any) -> TrustedIssuer:
    return TrustedIssuer(**{"issuer": ISSUER, "audiences": (AUDIENCE,), **changes})


@contextmanager
def published(issuer: Issuer) -> Iterator[str]:
    """The address of the issuer's keys, on this machine, until the block ends."""

    class Keys(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/moved":
                self.send_response(302)
                self.send_header("Location", "/keys")
                self.end_headers()
                return
            content = b"x" * 600_000 if self.path == "/large" else issuer.fetch(self.path)
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Nothing is told."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Keys)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=PATIENCE_SECONDS)
