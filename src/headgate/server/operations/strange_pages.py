"""Is it a page in somebody's browser that asks, on behalf of a stranger who wrote it?

A server that asks nobody who they are trusts its machine, and a browser on that machine runs what any site
sends it. Such a page can post to ``127.0.0.1``, and by a name that its author resolves to ``127.0.0.1`` it
could also read the answers. Browsers say from where a page is, and by which name they ask: both must be ours.
"""

from collections.abc import Mapping
from urllib.parse import urlsplit

from headgate.errors import NotAllowed
from headgate.server.exposure import is_loopback
from headgate.server.settings import ServerSettings


def require_own_page(headers: Mapping[str, str], settings: ServerSettings) -> None:
    """Refuse pages of others, where callers are not asked who they are; programs send no ``Origin``."""
    if settings.auth:
        return
    host, origin = headers.get("host", ""), headers.get("origin")
    if not is_loopback(urlsplit(f"//{host}").hostname or ""):
        raise _refusal(f"it is asked for by the name {host[:100]!r}")
    if origin is not None and urlsplit(origin).netloc != host:
        raise _refusal(f"a page of {origin[:100]!r} asks")


def _refusal(why: str) -> NotAllowed:
    return NotAllowed(
        f"this server knows no callers, so it answers only programs of this machine, and {why}: ask as "
        "localhost, or let the server ask for tokens",
        operation="ask without a token",
        code="HEADGATE_STRANGE_PAGE",
    )
