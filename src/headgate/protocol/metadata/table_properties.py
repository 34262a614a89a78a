"""Which ``delta.*`` properties a table can have, what they may be set to, and by whom.

One row per property. What others put into a log under names that are not here is kept; setting such
a name is refused, because a spelling mistake would otherwise be obeyed by nobody.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from headgate.errors import InvalidRequest
from headgate.protocol import property_values
from headgate.protocol.log import in_commit_timestamps, log_retention
from headgate.protocol.log.timestamps import ENABLEMENT_TIMESTAMP, ENABLEMENT_VERSION
from headgate.protocol.transaction.isolation import IsolationLevel
from headgate.spelling import did_you_mean

PREFIX, FEATURE_PREFIX, CONSTRAINT_PREFIX = "delta.", "delta.feature.", "delta.constraints."
MIN_READER, MIN_WRITER = "delta.minReaderVersion", "delta.minWriterVersion"
TIMESTAMP_PROPERTIES = in_commit_timestamps.PROPERTIES
"""The properties of in-commit timestamps."""


class Setter(Enum):
    """Those who may give a property its value."""

    USER = "you"
    CLIENT = "the client"
    ELSEWHERE = "not in this version"
    """It asks more of a table than a change of its properties, and Headgate cannot do the rest."""


@dataclass(frozen=True, slots=True)
class ValueFormat:
    """What the values of a property look like."""

    means: str
    accepts: Callable[[str], bool]


def _is_whole(text: str, *, least: int) -> bool:
    try:
        return int(text) >= least
    except ValueError:
        return False


def _is_interval(text: str) -> bool:
    try:
        return log_retention.interval_ms(text) >= 0
    except InvalidRequest:
        return False


def _is_size(text: str) -> bool:
    number = text.lower().rstrip("b").rstrip("kmgtp")
    return number.isdecimal() and int(number) > 0


def _one_of(*values: str) -> ValueFormat:
    lower = {value.lower() for value in values}
    return ValueFormat(" or ".join(f"`{value}`" for value in values), lambda text: text.lower() in lower)


FLAG = _one_of("true", "false")
INTERVAL = ValueFormat(
    "an interval of weeks, days or smaller units, such as `interval 30 days`", _is_interval
)
COUNT = ValueFormat("a whole number from 1", lambda text: _is_whole(text, least=1))
COLUMNS = ValueFormat("a whole number from 0, or -1 for all", lambda text: _is_whole(text, least=-1))
SIZE = ValueFormat("a size in bytes, such as `104857600` or `100mb`", _is_size)
CODEC = _one_of("uncompressed", "snappy", "gzip", "lz4_raw", "zstd")
TEXT = ValueFormat("text", lambda _: True)


@dataclass(frozen=True, slots=True)
class Property:
    """One row."""

    name: str
    kind: ValueFormat
    setter: Setter = Setter.USER
    brings: str | None = None
    """The feature that a table with this property, set to other than its default, needs."""
    obeyed: bool = True
    """Whether Headgate acts on it, or merely keeps it for others."""

    @property
    def default(self) -> str | None:
        """What holds where a table does not state it."""
        return property_values.DEFAULTS.get(self.name)


PROPERTIES: tuple[Property, ...] = (
    Property(property_values.APPEND_ONLY, FLAG, brings="appendOnly"),
    Property("delta.autoOptimize", FLAG, obeyed=False),
    Property("delta.autoOptimize.autoCompact", _one_of("true", "false", "auto"), obeyed=False),
    Property(property_values.OPTIMIZE_WRITE, FLAG),
    Property(property_values.STATS_AS_JSON, FLAG),
    Property(property_values.STATS_AS_STRUCT, FLAG),
    Property(property_values.CHECKPOINT_INTERVAL, COUNT),
    Property(property_values.CHECKPOINT_POLICY, _one_of("classic", "v2"), brings="v2Checkpoint"),
    Property("delta.checkpointRetentionDuration", INTERVAL, obeyed=False),
    Property(property_values.MAX_COLUMN_ID, COLUMNS, Setter.CLIENT),
    Property(property_values.COLUMN_MAPPING_MODE, _one_of("none", "id", "name"), brings="columnMapping"),
    Property("delta.compatibility.symlinkFormatManifest.enabled", FLAG, Setter.ELSEWHERE),
    Property(
        property_values.COORDINATOR,
        TEXT,
        Setter.CLIENT,
        brings="coordinatedCommits-preview",
    ),
    Property("delta.coordinatedCommits.commitCoordinatorConf-preview", TEXT, Setter.CLIENT),
    Property("delta.coordinatedCommits.tableConf-preview", TEXT, Setter.CLIENT),
    Property(property_values.STATS_COLUMN_COUNT, COLUMNS),
    Property(property_values.STATS_COLUMNS, TEXT),
    Property(property_values.DELETED_FILE_RETENTION, INTERVAL),
    Property(property_values.TRUNCATED_HISTORY_RETENTION, INTERVAL),
    Property(property_values.CHANGE_DATA_FEED, FLAG, brings="changeDataFeed"),
    Property(property_values.DELETION_VECTORS, FLAG, brings="deletionVectors"),
    Property(property_values.EXPIRED_LOG_CLEANUP, FLAG),
    Property("delta.enableFullRetentionRollback", FLAG, obeyed=False),
    Property(property_values.ICEBERG_COMPAT_V1, FLAG, brings="icebergCompatV1"),
    Property(property_values.ICEBERG_COMPAT_V2, FLAG, brings="icebergCompatV2"),
    Property(property_values.IN_COMMIT_TIMESTAMPS, FLAG, brings="inCommitTimestamp"),
    Property(property_values.ROW_TRACKING, FLAG, brings="rowTracking"),
    Property(property_values.TYPE_WIDENING, FLAG, brings="typeWidening"),
    Property(property_values.VARIANT_SHREDDING, FLAG, brings="variantShredding"),
    Property(ENABLEMENT_TIMESTAMP, COUNT, Setter.CLIENT),
    Property(ENABLEMENT_VERSION, COUNT, Setter.CLIENT),
    Property(property_values.ISOLATION_LEVEL, _one_of(IsolationLevel.SERIALIZABLE)),
    Property(property_values.LOG_RETENTION, INTERVAL),
    Property(property_values.COMPRESSION, CODEC),
    Property("delta.randomizeFilePrefixes", FLAG, obeyed=False),
    Property("delta.randomPrefixLength", COUNT, obeyed=False),
    Property(property_values.PROTECTED_BEFORE, COLUMNS, Setter.CLIENT),
    Property(property_values.ROW_COMMIT_VERSION_COLUMN, TEXT, Setter.CLIENT),
    Property(property_values.ROW_ID_COLUMN, TEXT, Setter.CLIENT),
    Property(property_values.ROW_TRACKING_SUSPENDED, FLAG),
    Property(property_values.TRANSACTION_RETENTION, INTERVAL),
    Property("delta.targetFileSize", SIZE),
    Property("delta.tuneFileSizesForRewrites", FLAG, obeyed=False),
    Property("delta.universalFormat.enabledFormats", TEXT, Setter.ELSEWHERE),
)
_BY_NAME = {row.name.lower(): row for row in PROPERTIES}


def find_property(name: str) -> Property | None:
    """The row of a property, whose name is looked up ignoring case."""
    return _BY_NAME.get(name.lower())


def stored_name(name: str, present: Mapping[str, str]) -> str:
    """The name under which a property is in the log, or would be: Delta's ignore case, others do not."""
    if not name.lower().startswith(PREFIX):
        return name
    row = find_property(name)
    return row.name if row else next((key for key in present if key.lower() == name.lower()), name)


def check_property(name: str, value: str) -> Property:
    """The row of a property that a user sets, after checking that it can be, to this value."""
    row = find_property(name)
    if name.lower().startswith(CONSTRAINT_PREFIX):
        raise InvalidRequest(
            f"the property {name!r} is a constraint, which the rows that are there must be checked against: "
            "use table.add_constraint(name, expression)",
            code="DELTA_ADD_CONSTRAINTS",
        )
    if row is None:
        near = did_you_mean(
            name[len(PREFIX) :], (known.name[len(PREFIX) :] for known in PROPERTIES), prefix=PREFIX
        )
        raise InvalidRequest(
            f"there is no property {name!r}:{near} correct the name, or choose one that does not begin with "
            f"{PREFIX!r}",
            code="DELTA_UNKNOWN_CONFIGURATION",
        )
    if row.setter is Setter.CLIENT:
        raise InvalidRequest(
            f"the property {row.name} is kept by the client and cannot be set or unset: leave it out",
            code="DELTA_CANNOT_MODIFY_TABLE_PROPERTY",
        )
    if not row.kind.accepts(value):
        raise InvalidRequest(
            f"the property {row.name} cannot be {value!r}: it must be {row.kind.means.replace('`', '')}",
            code="DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED",
        )
    if row.setter is Setter.ELSEWHERE and value.lower() != row.default:
        raise InvalidRequest(
            f"the property {row.name} asks for what this version of Headgate cannot do, so it is not set",
            code="DELTA_CANNOT_MODIFY_TABLE_PROPERTY",
        )
    return row
