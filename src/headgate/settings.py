"""The few switches that do not belong to one table, with the defaults that suit most."""

from dataclasses import dataclass
from enum import Enum


class Publish(Enum):
    """When a ratified commit is copied to ``_delta_log``."""

    SOON = "soon"
    """In the background, moments after the commit; the default."""
    NOW = "now"
    """Before the commit returns."""
    ON_DEMAND = "on-demand"
    """Only when asked, by ``table.publish()`` or ``headgate publish``."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a lake commits and publishes."""

    inline_limit_bytes: int = 256 * 1024
    """Commits up to this size travel to the catalog inline; larger ones are staged as a file."""
    max_attempts: int = 10_000
    """How many lost races a transaction endures before it gives up."""
    max_unanswered: int = 10
    """How many consecutive proposals may stay without an answer before the outcome is called unknown."""
    publish: Publish = Publish.SOON
    publish_batch: int = 32
    """A background publisher starts at once when this many versions wait, else after a quiet moment."""
    publish_quiet_seconds: float = 0.2
