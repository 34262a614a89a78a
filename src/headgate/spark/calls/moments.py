"""Which moment does a user mean? A datetime or a text, as the log counts time.

Without a zone they mean what Spark means by them. A text is in the time zone of the session, as in Delta's
``TIMESTAMP AS OF``. A datetime is in the zone of this process, in which PySpark gives the timestamps of
rows: that of a row of the history is the moment of just that version.
"""

from datetime import UTC, datetime, timedelta

from pyspark.sql import SparkSession

from headgate.errors import InvalidRequest
from headgate.protocol.actions import EpochMillis
from headgate.protocol.predicates import literals

_ZONE = "spark.sql.session.timeZone"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def to_epoch_millis(moment: datetime | str, spark: SparkSession | None = None) -> EpochMillis:
    """A moment as the log counts it; of the active session, if none is given."""
    found = _parsed(moment, spark) if isinstance(moment, str) else moment
    # Python takes a datetime without a zone for one of this process.
    return EpochMillis((found.astimezone(UTC) - _EPOCH) // timedelta(milliseconds=1))


def _parsed(text: str, spark: SparkSession | None) -> datetime:
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError as exc:
        raise InvalidRequest(
            f"{text!r} is not a moment: write it like 2026-01-31T12:00:00Z", code="DELTA_TIMESTAMP_INVALID"
        ) from exc
    session = spark or SparkSession.getActiveSession()
    if parsed.tzinfo is not None or session is None:  # a new session would be in the zone of this process
        return parsed
    name = session.conf.get(_ZONE) or ""
    zone = literals.parse_time_zone(name)
    if zone is None:
        raise InvalidRequest(
            f"{text!r} has no time zone, and that of the session, {_ZONE}={name!r}, is not known to Python: "
            "write one behind it, as in 2026-01-31T12:00:00Z",
            code="DELTA_TIMESTAMP_INVALID",
        )
    return parsed.replace(tzinfo=zone)
