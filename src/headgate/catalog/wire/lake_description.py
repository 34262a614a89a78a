"""What does a client learn of a lake when it connects? Where it is, for whom it acts, and the limits."""

import msgspec

API_VERSION = "1"
BASE_PATH = "/api/headgate/v1"

ACTING_AS = "Headgate-Acting-As"
"""The header by which the owner of a lake acts for somebody else; percent-encoded."""
CALL_ID = "Headgate-Call"
"""The header with a client's own id of a call, which comes back with the answer: no other is taken for it."""

MAX_REQUEST_BYTES = 32 * 1024 * 1024
"""Larger than the largest commit that a catalog takes inline, in base64."""


class WireLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What a server takes at once."""

    request_bytes: int = MAX_REQUEST_BYTES


class LakeDescription(msgspec.Struct, frozen=True, kw_only=True):
    """A lake, as the server tells it to one caller."""

    name: str
    warehouse: str
    principal: str
    """On whose behalf the caller acts there."""
    api_version: str = API_VERSION
    limits: WireLimits = WireLimits()


class ServedNames(msgspec.Struct, frozen=True, kw_only=True):
    """The lakes that a server serves."""

    lakes: tuple[str, ...]


def is_call_id(named: str) -> bool:
    """Whether this can be the id of a call, and nothing that does harm in a header or a log."""
    return 0 < len(named) <= 64 and named.isascii() and named.isalnum()
