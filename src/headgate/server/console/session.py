"""Who is signed in? A sealed cookie says so: only the server can read the token that is in it.

    headgate_console=eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..…    HttpOnly; SameSite=Strict; Path=/

Nothing of a session is in an address, in a page or in the browser's storage, but for the CSRF token, which
is in every form that changes something. The token is asked about at every request, so one that is taken
back ends the session; all sessions end with the server, which makes a key of its own when it starts.
"""

import secrets
from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

import msgspec
from joserfc import jwe
from joserfc.errors import JoseError
from joserfc.jwk import OctKey
from litestar.datastructures import Cookie
from typing_extensions import override

from headgate.errors import InvalidRequest
from headgate.server.auth.code_flow import PendingSignIn
from headgate.server.exposure import has_tls
from headgate.server.settings import ServerSettings

COOKIE = "headgate_console"
"""What the cookie of a session is called, after a prefix under TLS."""
SESSION_SECONDS = 12 * 60 * 60
PENDING_SECONDS = 10 * 60
"""How long one may take at the page of an issuer."""
_HEADER = {"alg": "dir", "enc": "A256GCM"}
_LONGEST_COOKIE = 3_800
_KEY_BYTES = 32
_Sealed = TypeVar("_Sealed", bound=msgspec.Struct)


class ConsoleSession(msgspec.Struct, frozen=True):
    """Somebody's visit: with which token, if one was needed, and what proves that a form is ours."""

    csrf: str
    expires_ms: int
    token: str | None = None

    @override
    def __repr__(self) -> str:
        """Without its secrets: this is what logs and tracebacks show."""
        return f"ConsoleSession(expires_ms={self.expires_ms})"


def new_key() -> bytes:
    """A key for the sessions of one server, shared by its processes."""
    return secrets.token_bytes(_KEY_BYTES)


def new_session(now_ms: int, token: str | None = None) -> ConsoleSession:
    """A session that begins now."""
    return ConsoleSession(secrets.token_urlsafe(32), now_ms + SESSION_SECONDS * 1000, token)


class SessionSeal:
    """Turns sessions into cookies and back; safe to share between threads."""

    def __init__(self, key: bytes, settings: ServerSettings) -> None:
        self._key = OctKey.import_key(key)
        self.is_secure = has_tls(settings) or settings.behind_proxy
        self.cookie_name = f"__Host-{COOKIE}" if self.is_secure else COOKIE
        self.pending_name = f"{self.cookie_name}_sign_in"

    def cookie(self, session: ConsoleSession) -> Cookie:
        """The cookie of a session; ``InvalidRequest`` if its token is too long for one."""
        sealed = self._sealed(session)
        if len(sealed) > _LONGEST_COOKIE:
            raise InvalidRequest(
                "this token is too long for a session of the console: sign in with a token of the lake, "
                "which headgate token create makes"
            )
        return self._cookie(sealed, SESSION_SECONDS)

    def ending_cookie(self) -> Cookie:
        """The cookie that ends a session."""
        return self._cookie("", 0)

    def open(self, cookies: Mapping[str, str], now_ms: int) -> ConsoleSession | None:
        """The session that the cookies of a request have; None if there is none, or none any more."""
        session = self._opened(cookies.get(self.cookie_name, ""), ConsoleSession)
        return session if session is not None and now_ms < session.expires_ms else None

    def pending_cookie(self, pending: PendingSignIn) -> Cookie:
        """The cookie of a sign-in that goes on at another site, and so comes back with what that sends."""
        return self._pending_cookie(self._sealed(pending), PENDING_SECONDS)

    def ending_pending_cookie(self) -> Cookie:
        """The cookie that ends it."""
        return self._pending_cookie("", 0)

    def open_pending(self, cookies: Mapping[str, str], now_ms: int) -> PendingSignIn | None:
        """The sign-in that was begun; None if there is none, or it took too long."""
        pending = self._opened(cookies.get(self.pending_name, ""), PendingSignIn)
        return pending if pending is not None and now_ms < pending.expires_ms else None

    def _sealed(self, value: msgspec.Struct) -> str:
        return jwe.encrypt_compact(dict(_HEADER), msgspec.json.encode(value), self._key)

    def _opened(self, sealed: str, kind: type[_Sealed]) -> _Sealed | None:
        if not sealed or len(sealed) > _LONGEST_COOKIE:
            return None
        try:
            opened = jwe.decrypt_compact(sealed, self._key).plaintext or b""
            return msgspec.json.decode(opened, type=kind)
        except (JoseError, ValueError):  # forged, cut off, or of a server that was here before
            return None

    def _pending_cookie(self, value: str, seconds: int) -> Cookie:
        cookie = self._cookie(value, seconds)
        return replace(cookie, key=self.pending_name, samesite="lax")

    def _cookie(self, value: str, seconds: int) -> Cookie:
        return Cookie(
            key=self.cookie_name,
            value=value,
            path="/",
            max_age=seconds,
            httponly=True,
            samesite="strict",
            secure=self.is_secure,
        )
