"""What does a table's property say? Their names, what holds where one is absent, and how a flag is read.

A property is text in the metadata, such as ``{"delta.appendOnly": "true"}``. A flag ignores case, and
whatever is not true is false, as Delta has it. Which values a user may set is in
``metadata/table_properties.py``, which has a row for each of these names.
"""

from collections.abc import Mapping
from types import MappingProxyType

from headgate.protocol.actions import Metadata

APPEND_ONLY = "delta.appendOnly"
CHANGE_DATA_FEED = "delta.enableChangeDataFeed"
CHECKPOINT_INTERVAL = "delta.checkpointInterval"
CHECKPOINT_POLICY = "delta.checkpointPolicy"
COLUMN_MAPPING_MODE = "delta.columnMapping.mode"
COMPRESSION = "delta.parquet.compression.codec"
COORDINATOR = "delta.coordinatedCommits.commitCoordinator-preview"
DELETED_FILE_RETENTION = "delta.deletedFileRetentionDuration"
DELETION_VECTORS = "delta.enableDeletionVectors"
EXPIRED_LOG_CLEANUP = "delta.enableExpiredLogCleanup"
ICEBERG_COMPAT_V1 = "delta.enableIcebergCompatV1"
ICEBERG_COMPAT_V2 = "delta.enableIcebergCompatV2"
ICEBERG_COMPAT_V3 = "delta.enableIcebergCompatV3"
IN_COMMIT_TIMESTAMPS = "delta.enableInCommitTimestamps"
ISOLATION_LEVEL = "delta.isolationLevel"
LOG_RETENTION = "delta.logRetentionDuration"
MATERIALIZED_PARTITION_COLUMNS = "delta.enableMaterializePartitionColumnsFeature"
MAX_COLUMN_ID = "delta.columnMapping.maxColumnId"
OPTIMIZE_WRITE = "delta.autoOptimize.optimizeWrite"
PROTECTED_BEFORE = "delta.requireCheckpointProtectionBeforeVersion"
ROW_COMMIT_VERSION_COLUMN = "delta.rowTracking.materializedRowCommitVersionColumnName"
ROW_ID_COLUMN = "delta.rowTracking.materializedRowIdColumnName"
ROW_TRACKING = "delta.enableRowTracking"
ROW_TRACKING_SUSPENDED = "delta.rowTrackingSuspended"
STATS_AS_JSON = "delta.checkpoint.writeStatsAsJson"
STATS_AS_STRUCT = "delta.checkpoint.writeStatsAsStruct"
STATS_COLUMNS = "delta.dataSkippingStatsColumns"
STATS_COLUMN_COUNT = "delta.dataSkippingNumIndexedCols"
TRANSACTION_RETENTION = "delta.setTransactionRetentionDuration"
TRUNCATED_HISTORY_RETENTION = "delta.dropFeatureTruncateHistory.retentionDuration"
TYPE_WIDENING = "delta.enableTypeWidening"
VARIANT_SHREDDING = "delta.enableVariantShredding"

DEFAULTS: Mapping[str, str] = MappingProxyType(
    {
        APPEND_ONLY: "false",
        CHANGE_DATA_FEED: "false",
        CHECKPOINT_INTERVAL: "10",
        CHECKPOINT_POLICY: "classic",
        COLUMN_MAPPING_MODE: "none",
        COMPRESSION: "zstd",
        DELETED_FILE_RETENTION: "interval 1 week",
        DELETION_VECTORS: "false",
        EXPIRED_LOG_CLEANUP: "true",
        ICEBERG_COMPAT_V1: "false",
        ICEBERG_COMPAT_V2: "false",
        IN_COMMIT_TIMESTAMPS: "false",
        ISOLATION_LEVEL: "Serializable",
        LOG_RETENTION: "interval 30 days",
        MAX_COLUMN_ID: "0",
        PROTECTED_BEFORE: "0",
        ROW_TRACKING: "false",
        ROW_TRACKING_SUSPENDED: "false",
        STATS_AS_JSON: "true",
        STATS_AS_STRUCT: "false",
        STATS_COLUMN_COUNT: "32",
        TRUNCATED_HISTORY_RETENTION: "interval 24 hours",
        TYPE_WIDENING: "false",
        VARIANT_SHREDDING: "false",
        "delta.checkpointRetentionDuration": "interval 2 days",
        "delta.compatibility.symlinkFormatManifest.enabled": "false",
        "delta.enableFullRetentionRollback": "true",
        "delta.randomPrefixLength": "2",
        "delta.randomizeFilePrefixes": "false",
    }
)
"""What holds where a table does not state a property; those that are not here have no default."""


def text(metadata: Metadata, name: str) -> str:
    """What a property says, or its default; empty if it has none."""
    return metadata.configuration.get(name, DEFAULTS.get(name, ""))


def flag(metadata: Metadata, name: str) -> bool:
    """Whether a property is true, stated or by its default."""
    return is_true(text(metadata, name))


def whole_number(metadata: Metadata, name: str) -> int:
    """The number that a property is, stated or by its default."""
    return int(text(metadata, name))


def is_switched_off(configuration: Mapping[str, str], name: str) -> bool:
    """Whether a flag is stated, and not as true; what is left out is not switched off."""
    return name in configuration and not is_true(configuration[name])


def is_true(value: object) -> bool:
    """Whether a value of a property, a tag or a setting of Spark says true, in any case."""
    return str(value).lower() == "true"
