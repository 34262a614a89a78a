"""How does a receiver know that a call is ours, and not an old one again? By a signature over time and body.

    Headgate-Signature: t=1763449200,v1=5257a8…

``v1`` is HMAC-SHA256 of the secret over ``<t>.<body>``. A receiver computes it, compares in constant time,
and refuses a ``t`` that is minutes off.
"""

import hashlib
import hmac

HEADER = "Headgate-Signature"
_TOLERANCE_SECONDS = 300


def sign(secret: bytes, body: bytes, *, seconds: int) -> str:
    """The header of a call made at this second."""
    return f"t={seconds},v1={_digest(secret, body, seconds)}"


def is_signed(header: str, secret: bytes, body: bytes, *, now: int) -> bool:
    """Whether a call was signed with this secret, a few minutes ago at most: what a receiver asks."""
    parts = dict(part.partition("=")[::2] for part in header.split(","))
    moment, signature = parts.get("t", ""), parts.get("v1", "")
    if not (moment.isascii() and moment.isdecimal()) or abs(now - int(moment[:12])) > _TOLERANCE_SECONDS:
        return False
    return hmac.compare_digest(signature.encode(), _digest(secret, body, int(moment)).encode())


def _digest(secret: bytes, body: bytes, seconds: int) -> str:
    return hmac.new(secret, b"%d.%b" % (seconds, body), hashlib.sha256).hexdigest()
