"""When may a commit say that it was made? The rules of in-commit timestamps, as rows.

All later commits must come after it, so one that is far ahead would make time stand still for the table.
"""

from collections.abc import Callable
from dataclasses import dataclass

from headgate.catalog.validation.content_rules import MALFORMED
from headgate.errors import InvalidRequest
from headgate.protocol.actions import EpochMillis
from headgate.protocol.log import timestamps

_MAX_CLOCK_MS = 253_370_764_799_999
"""The end of the year 9998; only what must follow a later one is later, so that no commit is the last."""


@dataclass(frozen=True, slots=True)
class ProposedTimestamp:
    """A proposed timestamp, that of the latest commit, and the catalog's time, if anybody asks for it."""

    proposed: EpochMillis
    latest: EpochMillis
    now_ms: int | None


@dataclass(frozen=True, slots=True)
class TimestampRule:
    """One row: why a timestamp is refused, or None; and what must hold, for people."""

    name: str
    breach: Callable[[ProposedTimestamp], str | None]
    says: str
    code: str = MALFORMED


def _beyond_any_clock(stamped: ProposedTimestamp) -> str | None:
    if stamped.proposed <= max(_MAX_CLOCK_MS, stamped.latest + 1):
        return None
    return f"inCommitTimestamp {stamped.proposed} is of no clock, and soon no commit could come after it"


def _not_after_the_latest(stamped: ProposedTimestamp) -> str | None:
    if stamped.proposed > stamped.latest:
        return None
    latest = f"{stamped.latest}, that of the latest commit"
    return f"inCommitTimestamp {stamped.proposed} does not come after {latest}"


def _ahead_of_catalog(stamped: ProposedTimestamp) -> str | None:
    now = stamped.now_ms
    if now is None or not timestamps.is_too_far_ahead(stamped.proposed, now, stamped.latest):
        return None
    return (
        f"inCommitTimestamp {stamped.proposed} is {timestamps.format_duration(stamped.proposed - now)} ahead "
        "of the catalog's clock, and all later versions would have to follow it; nothing was committed: set "
        "the clock of the machine that commits"
    )


RULES: tuple[TimestampRule, ...] = (
    TimestampRule(
        "timestamps-of-a-clock", _beyond_any_clock, "an in-commit timestamp is before the year 9999",
    ),
    TimestampRule(
        "timestamps-increase", _not_after_the_latest, "an in-commit timestamp comes after the latest one",
    ),
    TimestampRule(
        "timestamps-not-ahead", _ahead_of_catalog,
        "an in-commit timestamp is at most a day ahead of the catalog's clock, unless it is the first "
        "millisecond after the latest one",
    ),
)  # fmt: skip


def check_timestamp(stamped: ProposedTimestamp) -> None:
    """Refuse a timestamp, by the first rule that objects."""
    for rule in RULES:
        if why := rule.breach(stamped):
            raise InvalidRequest(why, code=rule.code, rule=rule.name)
