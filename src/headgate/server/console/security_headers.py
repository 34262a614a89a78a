"""What may a page of the console do? Load its own files and nothing else, whoever wrote its text (T11)."""

from litestar.enums import ScopeType
from litestar.middleware import ASGIMiddleware
from litestar.types import ASGIApp, Message, Receive, Scope, Send
from typing_extensions import override

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
SECURITY_HEADERS: tuple[tuple[str, str], ...] = (
    ("content-security-policy", CONTENT_SECURITY_POLICY),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
)
NOT_KEPT = "no-store"
_KEEPING = b"cache-control"


class SecurityHeaders(ASGIMiddleware):
    """Gives every answer of the console these headers; what does not say how long it is good is not kept."""

    scopes = (ScopeType.HTTP,)

    @override
    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [(name.lower(), value) for name, value in message.get("headers", ())]
                if not any(name == _KEEPING for name, _ in headers):
                    headers.append((_KEEPING, NOT_KEPT.encode()))
                message["headers"] = headers + [
                    (name.encode(), value.encode()) for name, value in SECURITY_HEADERS
                ]
            await send(message)

        await next_app(scope, receive, guarded)
