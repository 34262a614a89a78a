"""What the properties of a table say about the upkeep of its log."""

import re
from dataclasses import dataclass

from headgate.errors import InvalidRequest
from headgate.protocol import property_values
from headgate.protocol.actions import Metadata, Protocol

V2_CHECKPOINT = "v2Checkpoint"
CHECKPOINT_PROTECTION = "checkpointProtection"

_DAY_MS = 24 * 60 * 60 * 1000
_UNITS = {
    "microsecond": 0.001,
    "millisecond": 1,
    "second": 1_000,
    "minute": 60_000,
    "hour": 3_600_000,
    "day": _DAY_MS,
    "week": 7 * _DAY_MS,
}
_LONGEST = 200
"""How many characters an interval or a number has at most."""
_PART = re.compile(r"(-?\d+)\s+([a-z]+?)s?(?:\s+|$)")
_CODECS = {"none": "none", "uncompressed": "none", "snappy": "snappy", "gzip": "gzip", "lz4_raw": "lz4"}


@dataclass(frozen=True, slots=True)
class LogSettings:
    """What a checkpoint has, and how long old things are kept."""

    v2_checkpoints: bool
    stats_as_json: bool
    stats_as_struct: bool
    tombstone_retention_ms: int
    txn_retention_ms: int | None
    log_retention_ms: int
    protected_before: int
    """Checkpoints below this version may be neither made nor removed one by one; 0 protects none."""
    compression: str


def log_settings(protocol: Protocol, metadata: Metadata) -> LogSettings:
    """What a table asks for; the defaults are those of the specification."""
    txn_retention = metadata.configuration.get(property_values.TRANSACTION_RETENTION)
    return LogSettings(
        v2_checkpoints=protocol.has(V2_CHECKPOINT)
        and property_values.text(metadata, property_values.CHECKPOINT_POLICY).lower() == "v2",
        stats_as_json=property_values.flag(metadata, property_values.STATS_AS_JSON),
        stats_as_struct=property_values.flag(metadata, property_values.STATS_AS_STRUCT),
        tombstone_retention_ms=_duration(metadata, property_values.DELETED_FILE_RETENTION),
        txn_retention_ms=None if txn_retention is None else interval_ms(txn_retention),
        log_retention_ms=_duration(metadata, property_values.LOG_RETENTION),
        protected_before=property_values.whole_number(metadata, property_values.PROTECTED_BEFORE)
        if protocol.has(CHECKPOINT_PROTECTION)
        else 0,
        compression=_CODECS.get(property_values.text(metadata, property_values.COMPRESSION).lower(), "zstd"),
    )


def checkpoint_interval(metadata: Metadata) -> int:
    """How many versions a checkpoint may be behind; a property that is no number is as good as none."""
    text = property_values.text(metadata, property_values.CHECKPOINT_INTERVAL)
    if len(text) <= _LONGEST and text.isdecimal() and int(text) > 0:
        return int(text)
    return int(property_values.DEFAULTS[property_values.CHECKPOINT_INTERVAL])


def interval_ms(interval: str) -> int:
    """How long an interval such as ``interval 30 days`` is; months and years, which vary, are refused."""
    text = interval.strip().lower().removeprefix("interval").strip()
    parts = list(_PART.finditer(text)) if len(text) <= _LONGEST else []
    if (
        "".join(part[0] for part in parts) != text
        or not parts
        or any(part[2] not in _UNITS for part in parts)
    ):
        raise InvalidRequest(
            f"{interval!r} is no interval of weeks, days or smaller units, such as 'interval 30 days': "
            "have the table's owner correct the property"
        )
    return int(sum(int(part[1]) * _UNITS[part[2]] for part in parts))


def _duration(metadata: Metadata, name: str) -> int:
    return interval_ms(property_values.text(metadata, name))
