"""An OpenID Connect issuer at whose page people sign in: it answers with codes, and gives tokens for them."""

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from tests.support.issuers import Issuer

CLIENT_ID = "headgate-console"


@dataclass
class CodeIssuer:
    """Everybody who comes to its page is ``person``."""

    url: str = ""
    person: str = "carol"
    claims: dict[str, Any] = field(default_factory=dict)
    """Claims of the tokens to come that are other than they should be."""
    keys: Issuer = field(default_factory=Issuer)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def about(self) -> dict[str, str]:
        pages = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys"}
        return {"issuer": self.url, **{name: f"{self.url}/{page}" for name, page in pages.items()}}

    def authorize(self, asked: dict[str, str]) -> str:
        """Where the browser goes back to, with a code."""
        code = secrets.token_urlsafe(8)
        self.codes[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def token(self, sent: dict[str, str]) -> dict[str, str] | None:
        """The answer for a code, to who can say what began it; once."""
        asked = self.codes.pop(sent.get("code", ""), None)
        proof = base64.urlsafe_b64encode(hashlib.sha256(sent.get("code_verifier", "").encode()).digest())
        if asked is None or proof.rstrip(b"=").decode() != asked["code_challenge"]:
            return None
        if sent["redirect_uri"] != asked["redirect_uri"] or sent["client_id"] != CLIENT_ID:
            return None
        now = int(time.time())
        said = {"iss": self.url, "aud": CLIENT_ID, "sub": self.person, "nonce": asked["nonce"], "iat": now}
        return {"id_token": self.keys.token(**{**said, "exp": now + 300, **self.claims})}


@contextmanager
def code_issuer(host: str = "127.0.0.1") -> Iterator[CodeIssuer]:
    """Such an issuer on this machine, by this name of it, until the block ends."""
    issuer = CodeIssuer()

    class Pages(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if parts.path == "/authorize":
                self.send_response(303)
                self.send_header("Location", issuer.authorize(dict(parse_qsl(parts.query))))
                self.end_headers()
            elif parts.path == "/keys":
                self._answer(200, issuer.keys.jwks())
            else:
                self._answer(200, json.dumps(issuer.about()).encode())

        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers["Content-Length"])).decode()
            answer = issuer.token(dict(parse_qsl(sent)))
            self._answer(400 if answer is None else 200, json.dumps(answer or {}).encode())

        def _answer(self, status: int, content: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Nothing is told."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        issuer.url = f"http://{host}:{server.server_address[1]}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield issuer
        finally:
            server.shutdown()
